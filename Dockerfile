# PostgreSQL 15 with dp_cdp, from Debian's packages.  "make check-image" builds and tries it, by the commands of
# docs/howto/run-in-a-container.md; where no container engine runs, it takes the same steps in chroots.

FROM debian:bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential devscripts equivs
COPY . /src/dp_cdp
WORKDIR /src/dp_cdp
RUN mk-build-deps -i -r -t 'apt-get -y --no-install-recommends' debian/control && dpkg-buildpackage -b -us -uc

FROM debian:bookworm
COPY --from=build /src/postgresql-15-dp-cdp_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/postgresql-15-dp-cdp_*.deb && \
	rm -rf /tmp/*.deb /var/lib/apt/lists/* && \
	printf "%s\n" "shared_preload_libraries = 'dp_cdp'" "max_worker_processes = 16" >/etc/postgresql/15/main/conf.d/dp_cdp.conf
USER postgres
VOLUME /var/lib/postgresql /etc/postgresql
EXPOSE 5432
# on a socket, and for the container's own users; what follows the image's name in "docker run" are options of postgres
ENTRYPOINT ["/usr/lib/postgresql/15/bin/postgres", "-D", "/var/lib/postgresql/15/main", \
	"-c", "config_file=/etc/postgresql/15/main/postgresql.conf"]

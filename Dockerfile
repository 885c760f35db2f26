# PostgreSQL 15 with dp_cdp, from Debian's packages.  Nobody has built this
# image yet: "make check-package" takes the same steps in a chroot.

FROM debian:bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential devscripts equivs
COPY . /src
WORKDIR /src
RUN mk-build-deps -i -r -t 'apt-get -y --no-install-recommends' debian/control && dpkg-buildpackage -b -us -uc

FROM debian:bookworm
COPY --from=build /postgresql-15-dp-cdp_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/postgresql-15-dp-cdp_*.deb && \
	rm -rf /tmp/*.deb /var/lib/apt/lists/* && \
	echo "shared_preload_libraries = 'dp_cdp'" >/etc/postgresql/15/main/conf.d/dp_cdp.conf
USER postgres
VOLUME /var/lib/postgresql /etc/postgresql
# on a socket, and for the container's own users, until somebody sets more in /etc/postgresql
CMD ["/usr/lib/postgresql/15/bin/postgres", "-D", "/var/lib/postgresql/15/main", \
	"-c", "config_file=/etc/postgresql/15/main/postgresql.conf"]

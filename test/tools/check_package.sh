#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_package.sh
#	  Debian's package: built by dpkg-buildpackage in a chroot, read by lintian,
#	  which must find no error, installed with apt in a clean chroot that has
#	  nothing but Debian's minimum, and tried there: CREATE EXTENSION, a private
#	  query, the same after the package was put over that of the running server.
#
# DEB_BUILD_OPTIONS=noopt saves time.  Needs root, debootstrap and network, and takes longer than "make test" should,
# hence is no part of it; see chroots.sh.  The package stays in build/package.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec </dev/null
. "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

release=bookworm
base=$chroots/package-$release
out=$DP_BUILD/package
mkdir -p "$chroots" "$out"

# $1: what was done; stops where it failed
step()
{
	local rc=$?

	[[ $rc == 0 ]] || { tail -n 30 "$out/log" >&2; give_up "$1: failed; its output is in ${out#"$DP_TOP"/}/log"; }
	echo "ok - $1"
}

: >"$out/log"
minimal_chroot "$release" >>"$out/log" 2>&1
step "a chroot of $release"

# where it is built; kept, for compilers and all that they need are large
build=$base-build
if [[ ! -f $build/.complete ]]
then
	rm -rf "$build"
	cp -a "$base" "$build" && rm -f "$build/.complete" &&
		inside "$build" apt-get -q -y install build-essential debhelper libicu-dev fakeroot lintian \
			postgresql-server-dev-all >>"$out/log" 2>&1 && touch "$build/.complete"
	step "what a build depends on"
fi
rm -rf "$build/src"
copy_sources "$build" dp_cdp
inside "$build" env DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-}" bash -c 'cd /src/dp_cdp && pg_buildext checkcontrol && dpkg-buildpackage -b -us -uc -j'"$(nproc)" >>"$out/log" 2>&1
step "dpkg-buildpackage"
rm -f "$out"/*.deb
cp "$build"/src/*.deb "$out/"
deb=$(cd "$out" && ls postgresql-15-dp-cdp_*.deb)
inside "$build" bash -c 'cd /src && lintian --allow-root --fail-on error *.changes' >"$out/lintian.log" 2>&1
step "lintian finds no error ($(grep -c '^W:' "$out/lintian.log") warnings, in ${out#"$DP_TOP"/}/lintian.log)"

# where it is used
clean=$base-clean
rm -rf "$clean"
cp -a "$base" "$clean"
cp "$out/$deb" "$clean/tmp/"
inside "$clean" apt-get -q -y install "/tmp/$deb" >>"$out/log" 2>&1
step "apt-get install $deb"
inside "$clean" bash -ec '
	cat >/tmp/try.sql <<"EOC"
CREATE EXTENSION dp_cdp;
SELECT dp_cdp.library_version() || $$ $$ || extversion FROM pg_extension WHERE extname = $$dp_cdp$$;
CREATE ROLE ana;
CREATE TABLE visits (patient int, dept text);
INSERT INTO visits SELECT i, $$a$$ FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset($$clinic$$, rho => 5);
SELECT dp_cdp.protect_table($$visits$$, $$clinic$$, $$patient$$);
SELECT dp_cdp.set_budget($$clinic$$, $$ana$$, rho => 2);
SET SESSION AUTHORIZATION ana;
SET dp_cdp.rho = 0.5;
SELECT $$answered: $$ || (dp_count(*) BETWEEN 950 AND 1050)::text FROM visits;
EOC
	chmod a+r /tmp/try.sql
	as() { runuser -u postgres -- "$@"; }
	bin=/usr/lib/postgresql/15/bin
	as $bin/initdb -D /tmp/data -A trust --no-sync >/dev/null
	echo "shared_preload_libraries = dp_cdp" >>/tmp/data/postgresql.conf
	as $bin/pg_ctl -s -w -D /tmp/data -l /tmp/log -o "-c listen_addresses= -c unix_socket_directories=/tmp" start
	trap "as $bin/pg_ctl -s -m immediate -D /tmp/data stop" EXIT
	as psql -X -q -A -t -v ON_ERROR_STOP=1 -h /tmp -d postgres -f /tmp/try.sql
	# a package over that of a running server: the server goes on with the library it has, and is not restarted
	pid=$(head -n 1 /tmp/data/postmaster.pid)
	dpkg -i /tmp/postgresql-15-dp-cdp_*.deb >/dev/null
	[[ $pid == $(head -n 1 /tmp/data/postmaster.pid) ]] && kill -0 "$pid"
	as psql -X -q -A -t -v ON_ERROR_STOP=1 -h /tmp -d postgres <<"EOC"
SET SESSION AUTHORIZATION ana;
SET dp_cdp.rho = 0.5;
SELECT $$still answered: $$ || (dp_count(*) BETWEEN 950 AND 1050)::text FROM visits;
EOC
' >"$out/try.log" 2>&1
rc=$?
cat "$out/try.log" >>"$out/log"
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$DP_TOP/dp_cdp.control")
[[ $rc == 0 ]] && grep -qx "$version $version" "$out/try.log" && grep -qx 'answered: true' "$out/try.log" &&
	grep -qx 'still answered: true' "$out/try.log"
step "CREATE EXTENSION and a private query of version $version where it is installed"
rm -rf "$clean"

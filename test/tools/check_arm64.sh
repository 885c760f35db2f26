#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_arm64.sh
#	  The library and the programs of test/unit for arm64, compiled on this machine; the programs run in an emulator.
#
# A chroot of Debian has the cross compiler, and arm64's headers of PostgreSQL 15 as they are packaged.  A pg_config of its own tells
# of these.  Needs root, debootstrap and network; see chroots.sh.  Ends with the line "N passed, N failed".
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec </dev/null
. "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

release=bookworm
root=$chroots/arm64-$release
out=$DP_BUILD/arm64
passed=0
failed=0
mkdir -p "$out"
: >"$out/log"

# $1: what was done
tell()
{
	if [[ $? == 0 ]]
	then
		passed=$((passed + 1))
		echo "ok - $1"
	else
		failed=$((failed + 1))
		echo "not ok - $1; its output is in ${out#"$DP_TOP"/}/log"
		tail -n 20 "$out/log" >&2
	fi
}

if [[ ! -f $root/.complete ]]
then
	minimal_chroot "$release" >>"$out/log" 2>&1 || give_up "no chroot of $release; see ${out#"$DP_TOP"/}/log"
	rm -rf "$root"
	cp -a "$chroots/package-$release" "$root" && rm -f "$root/.complete"
	inside "$root" bash -ec '
		dpkg --add-architecture arm64
		apt-get -q update
		apt-get -q -y install make gcc libc6-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
		cd /var/tmp
		apt-get -q download postgresql-server-dev-15:arm64 libpq-dev:arm64 libpq5:arm64 libicu-dev:arm64 libicu72:arm64 postgresql-client-15:arm64
		for deb in *.deb; do dpkg -x "$deb" /arm64; done
		rm -f *.deb
		apt-get clean' >>"$out/log" 2>&1 && touch "$root/.complete" || give_up "no cross compiler; see ${out#"$DP_TOP"/}/log"
fi
cat >"$root/arm64/pg_config" <<'EOF'
#!/bin/sh
lib=/arm64/usr/lib/postgresql/15
case $1 in
--pgxs) echo $lib/lib/pgxs/src/makefiles/pgxs.mk ;;
--version) echo PostgreSQL 15 ;;
--includedir-server) echo /arm64/usr/include/postgresql/15/server ;;
--includedir | --pkgincludedir) echo /arm64/usr/include/postgresql ;;
--libdir | --pkglibdir) echo $lib/lib ;;
--sharedir) echo /arm64/usr/share/postgresql/15 ;;
--bindir) echo $lib/bin ;;
*) echo /arm64/none ;;
esac
EOF
chmod a+x "$root/arm64/pg_config"
copy_sources "$root" dp_cdp
inside "$root" bash -c 'cd /src/dp_cdp && make -j"$0" PG_CONFIG=/arm64/pg_config CC=aarch64-linux-gnu-gcc with_llvm=no COPT=-I/arm64/usr/include \
	LDFLAGS=-L/arm64/usr/lib/aarch64-linux-gnu' "$(nproc)" >>"$out/log" 2>&1
tell "the library compiles"
inside "$root" bash -c 'od -An -tx1 -j18 -N1 /src/dp_cdp/dp_cdp.so | grep -q b7' >>"$out/log" 2>&1
tell "it is one of arm64"
inside "$root" make -C /src/dp_cdp/test/unit foreign FOREIGN_CC=aarch64-linux-gnu-gcc FOREIGN_RUN=qemu-aarch64-static >"$out/unit.log" 2>&1
status=$?
cat "$out/unit.log" >>"$out/log"
[[ $status == 0 ]] && grep -qx "1\.\.$(grep -c '^ok ' "$out/unit.log")" "$out/unit.log"
tell "the programs of test/unit run in an emulator: $(grep -c '^ok ' "$out/unit.log") checks"
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]

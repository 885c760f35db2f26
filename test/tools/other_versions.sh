#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# other_versions.sh [version...]
#	  Builds and tests dp_cdp on other versions of PostgreSQL (17 and 18,
#	  unless told otherwise), each in a Debian release that ships it.
#
# Needs root, debootstrap and network, hence is not part of "make test".  The
# releases come from the mirror that apt uses on this machine, into chroots
# that are kept for the next time below $DP_VERSIONS_DIR, /var/tmp/dp_versions
# if not set; "rm -rf" gets rid of them.  Nothing is mounted when the script
# has ended.  ONLY works as for "make test".  Fails if a test fails or the
# compiler warns.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec </dev/null

versions=("$@")
[[ ${#versions[@]} -gt 0 ]] || versions=(17 18)
base=${DP_VERSIONS_DIR:-/var/tmp/dp_versions}
suites=${ONLY:-symbols unit regress isolation pgtap attacks t readme demo}

give_up()
{
	echo "other_versions.sh: $1" >&2
	exit 1
}

[[ $(id -u) == 0 ]] || give_up "run this as root: it needs chroot"
command -v debootstrap >/dev/null || give_up "debootstrap is missing; install the package of that name"

# Debian's release with that version
release_of()
{
	case $1 in
		15) echo bookworm ;;
		17) echo trixie ;;
		18) echo forky ;;
		*) return 1 ;;
	esac
}

mirror=$(apt-get indextargets --format '$(LABEL)|$(CREATED_BY)|$(REPO_URI)' 2>/dev/null |
		 awk -F'|' '$1 == "Debian" && $2 == "Packages" { print $3; exit }')
[[ -n $mirror ]] || give_up "apt knows no mirror of Debian here"

# $1: root of a chroot, then a command; with /proc, in a mount namespace of its own
inside()
{
	local root=$1

	shift
	unshare --mount bash -c 'mount -t proc proc "$0/proc" && exec chroot "$@"' "$root" "$root" \
		env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# $1: version, $2: root
make_chroot()
{
	local version=$1 root=$2 release script

	release=$(release_of "$version") || { echo "no Debian release with PostgreSQL $version is known here"; return 1; }
	# releases newer than debootstrap are made as the one that never ends is
	script=/usr/share/debootstrap/scripts/$release
	[[ -e $script ]] || script=/usr/share/debootstrap/scripts/sid
	rm -rf "$root"
	mkdir -p "$root"
	unshare --mount debootstrap --variant=minbase "$release" "$root" "$mirror" "$script" || return 1

	# the mirror may be a snapshot; proxies as outside; no cluster of the system's
	{
		echo 'Acquire::Check-Valid-Until "false";'
		echo 'APT::Install-Recommends "false";'
		apt-config dump --no-empty Acquire::http Acquire::https | grep -i proxy
	} >"$root/etc/apt/apt.conf.d/99dp_versions"
	mkdir -p "$root/etc/postgresql-common"
	echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.conf"

	# server-dev is unpacked, not installed: it depends on LLVM
	inside "$root" bash -ec '
		apt-get -q update
		apt-get -q -y install "postgresql-$0" "postgresql-$0-pgtap" gcc libc6-dev make binutils libicu-dev \
			libipc-run-perl python3
		cd /var/tmp
		apt-get -q download "postgresql-server-dev-$0" libpq-dev
		for deb in *.deb
		do
			dpkg -x "$deb" /
		done
		rm -f *.deb
		apt-get clean' "$version" || return 1
	touch "$root/.complete"
}

result=0
for version in "${versions[@]}"
do
	root=$base/$version
	log=$base/$version.log
	mkdir -p "$base"
	echo "--- PostgreSQL $version"
	if [[ ! -f $root/.complete ]] && ! make_chroot "$version" "$root" >"$log" 2>&1
	then
		tail -n 20 "$log"
		echo "no chroot for version $version could be made"
		result=1
		continue
	fi

	mkdir -p "$root/src/dp_cdp"
	find "$root/src/dp_cdp" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	tar -C "$DP_TOP" --exclude=./.git --exclude=./build --exclude=./tmp_check --exclude='*.o' --exclude='*.d' \
		--exclude='*.bc' --exclude='*.so' --no-same-owner -cf - . | tar -C "$root/src/dp_cdp" --no-same-owner -xf -

	inside "$root" env ONLY="$suites" TEST_TIMEOUT="${TEST_TIMEOUT:-900}" PGMAJOR="$version" \
		bash /src/dp_cdp/test/tools/run_tests.sh || result=1
	if grep -qi warning "$root/src/dp_cdp/build/test/build.log"
	then
		echo "the compiler warns"
		result=1
	fi
done
exit $result

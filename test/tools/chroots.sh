#-------------------------------------------------------------------------
#
# chroots.sh
#	  Debian releases with other versions of PostgreSQL (to be sourced by bash,
#	  after common.sh).
#
# Needs root, debootstrap and network.  The releases come from the mirror that
# apt uses on this machine, into chroots that are kept for the next time below
# $DP_VERSIONS_DIR, /var/tmp/dp_versions if not set; "rm -rf" gets rid of them.
# Nothing is mounted when a script has ended.
#
#-------------------------------------------------------------------------
chroots=${DP_VERSIONS_DIR:-/var/tmp/dp_versions}

give_up()
{
	echo "${0##*/}: $1" >&2
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

# $1: root; the mirror may be a snapshot; proxies as outside; no cluster of the system's
configure_apt()
{
	{
		echo 'Acquire::Check-Valid-Until "false";'
		echo 'APT::Install-Recommends "false";'
		apt-config dump --no-empty Acquire::http Acquire::https | grep -i proxy
	} >"$1/etc/apt/apt.conf.d/99dp_versions"
	mkdir -p "$1/etc/postgresql-common"
	echo 'create_main_cluster = false' >"$1/etc/postgresql-common/createcluster.conf"
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

	configure_apt "$root"
	inside "$root" apt-get -q update || return 1
	inside "$root" apt-get -q -y install "postgresql-$version-pgtap" gcc libc6-dev make binutils libicu-dev \
		libipc-run-perl python3 || return 1
	install_server "$root" "$version" || return 1
	touch "$root/.complete"
}

# $1: root, $2: version, of which the chroot's apt knows; server-dev is unpacked, not installed: it depends on LLVM
install_server()
{
	inside "$1" bash -ec '
		apt-get -q -y install "postgresql-$0"
		cd /var/tmp
		apt-get -q download "postgresql-server-dev-$0" libpq-dev
		for deb in *.deb
		do
			dpkg -x "$deb" /
		done
		rm -f *.deb
		apt-get clean' "$2"
}

# $1: version, $2: log; prints the chroot's root, after it was made where it was not there
chroot_of()
{
	local root=$chroots/$1

	mkdir -p "$chroots"
	if [[ ! -f $root/.complete ]] && ! make_chroot "$1" "$root" >"$2" 2>&1
	then
		tail -n 20 "$2" >&2
		echo "no chroot for version $1 could be made" >&2
		return 1
	fi
	echo "$root"
}

# $1: version, $2: root of a newer release: the older one's server beside its own
add_older_server()
{
	local release

	[[ ! -x $2/usr/lib/postgresql/$1/bin/pg_config ]] || return 0
	release=$(release_of "$1") || return 1
	echo "deb $mirror $release main" >"$2/etc/apt/sources.list.d/dp_$release.list"
	inside "$2" apt-get -q update && install_server "$2" "$1"
}

# $1: root, $2: directory in it below src/, which keeps its build/; the sources as they are here
copy_sources()
{
	local to=$1/src/$2

	mkdir -p "$to"
	find "$to" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	tar -C "$DP_TOP" --exclude=./.git --exclude=./build --exclude=./tmp_check --exclude='*.o' --exclude='*.d' \
		--exclude='*.bc' --exclude='*.so' --no-same-owner -cf - . | tar -C "$to" --no-same-owner -xf -
}

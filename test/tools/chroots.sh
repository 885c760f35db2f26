#-------------------------------------------------------------------------
#
# chroots.sh
#	  Releases of Debian and Ubuntu with other versions of PostgreSQL (to be
#	  sourced by bash, after common.sh).
#
# Needs root, debootstrap and network.  Debian's releases come from the mirror
# that apt uses on this machine, Ubuntu's from $UBUNTU_MIRROR, into chroots that
# are kept for the next time below $DP_VERSIONS_DIR, /var/tmp/dp_versions if not
# set; "rm -rf" gets rid of them.  Nothing is mounted when a script has ended.
# All that is fetched is checked by the distribution's signature.
#
#-------------------------------------------------------------------------
chroots=${DP_VERSIONS_DIR:-/var/tmp/dp_versions}
ubuntu_mirror=${UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}

give_up()
{
	echo "${0##*/}: $1" >&2
	exit 1
}

[[ $(id -u) == 0 ]] || give_up "run this as root: it needs chroot"
command -v debootstrap >/dev/null || give_up "debootstrap is missing; install the package of that name"

# the release with that version
release_of()
{
	case $1 in
		15) echo bookworm ;;
		16) echo noble ;;
		17) echo trixie ;;
		18) echo forky ;;
		19) echo sid ;;
		*) return 1 ;;
	esac
}

# whose release that is
distribution_of()
{
	case $1 in
		16) echo Ubuntu ;;
		*) echo Debian ;;
	esac
}

# what the version's package is of
archive_of()
{
	case $1 in
		19) echo experimental ;;
		*) release_of "$1" ;;
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

# Prints the file with Ubuntu's keys.  Where the machine has none, the package is
# of Debian's trixie, for older releases lack it; apt has checked it.
ubuntu_keys()
{
	local apt=$chroots/apt keys=usr/share/keyrings/ubuntu-archive-keyring.gpg
	local -a options

	[[ ! -f /$keys ]] || { echo "/$keys"; return; }
	if [[ ! -f $apt/keys/$keys ]]
	then
		rm -rf "$apt"
		mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$apt/sources.list"
		options=(-q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists"
				 -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
		(cd "$apt" && apt-get "${options[@]}" update && apt-get "${options[@]}" download ubuntu-keyring &&
			dpkg -x ubuntu-keyring_*.deb keys) >&2 || return 1
	fi
	echo "$apt/keys/$keys"
}

# $1: release of Debian; its minimum, as $chroots/package-$1, which is kept
minimal_chroot()
{
	local base=$chroots/package-$1

	[[ ! -f $base/.complete ]] || return 0
	rm -rf "$base"
	mkdir -p "$base"
	unshare --mount debootstrap --variant=minbase "$1" "$base" "$mirror" && configure_apt "$base" &&
		inside "$base" apt-get -q update && touch "$base/.complete"
}

# $1: version, $2: root; where apt finds the version's packages, beyond the release itself
add_sources()
{
	local list=$2/etc/apt/sources.list.d/dp_versions.list suite

	case $1 in
		16)
			for suite in noble-updates noble-security
			do
				echo "deb $ubuntu_mirror $suite main universe"
			done >"$list"
			;;
		19)
			echo "deb $mirror experimental main" >"$list"
			printf '%s\n' 'Package: src:postgresql-19' 'Pin: release a=experimental' 'Pin-Priority: 990' \
				>"$2/etc/apt/preferences.d/dp_versions"
			;;
	esac
}

# $1: version, $2: root
install_pgtap()
{
	if [[ $1 == 19 ]]
	then
		# There is no package for 19 yet.  That of 18 is SQL alone, which asks for the server's version.
		inside "$2" bash -ec '
			cd /var/tmp
			apt-get -q download postgresql-18-pgtap
			dpkg -x postgresql-18-pgtap_*.deb pgtap
			mkdir -p /usr/share/postgresql/19/extension
			cp -R pgtap/usr/share/postgresql/18/extension/pgtap* /usr/share/postgresql/19/extension/
			rm -rf pgtap postgresql-18-pgtap_*.deb'
	else
		inside "$2" apt-get -q -y install "postgresql-$1-pgtap"
	fi
}

# $1: version, $2: root
make_chroot()
{
	local version=$1 root=$2 release script from=$mirror keys
	local -a options=()

	release=$(release_of "$version") || { echo "no release with PostgreSQL $version is known here"; return 1; }
	if [[ $(distribution_of "$version") == Ubuntu ]]
	then
		from=$ubuntu_mirror
		keys=$(ubuntu_keys) || return 1
		options=(--keyring="$keys" --components=main,universe)
	fi
	# releases newer than debootstrap are made as the one that never ends is
	script=/usr/share/debootstrap/scripts/$release
	[[ $from != "$ubuntu_mirror" || -e $script ]] || script=/usr/share/debootstrap/scripts/gutsy
	[[ -e $script ]] || script=/usr/share/debootstrap/scripts/sid
	rm -rf "$root"
	mkdir -p "$root"
	unshare --mount debootstrap --variant=minbase ${options[@]+"${options[@]}"} "$release" "$root" "$from" "$script" || return 1

	configure_apt "$root"
	add_sources "$version" "$root"
	inside "$root" apt-get -q update || return 1
	inside "$root" apt-get -q -y install gcc libc6-dev make binutils libicu-dev libipc-run-perl python3 || return 1
	install_server "$root" "$version" && install_pgtap "$version" "$root" || return 1
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

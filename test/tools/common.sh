#-------------------------------------------------------------------------
#
# common.sh
#	  What the test, demo and bench scripts share (to be sourced by bash).
#
# Everything runs on a private copy of the PostgreSQL installation and on
# throw-away clusters that listen on a unix socket only: the system's
# installation and clusters are never touched.  initdb and the server refuse
# to run as root, so root runs them as user postgres.
#
#-------------------------------------------------------------------------

DP_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
DP_BUILD=$DP_TOP/build
if [[ $DP_TOP == *[[:space:]]* ]]
then
	echo "${0##*/}: make takes no paths with blanks; move \"$DP_TOP\" to one without" >&2
	exit 1
fi
umask 022

# Nothing of the caller's surroundings may change a result.
for dp_var in $(compgen -e PG) DESTDIR MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES LANG LANGUAGE \
			  $(compgen -e LC_) TZ PERL5OPT PYTHONPATH
do
	[[ $dp_var == PG_CONFIG || $dp_var == PGMAJOR || $dp_var == PG_SOURCE ]] || unset "$dp_var"
done
unset dp_var
export LC_ALL=C TZ=UTC

# major version: that of the sources PG_SOURCE, else PGMAJOR, else PG_CONFIG's, else the newest whose headers are
# there, else the newest installed, else what apt calls "postgresql", else 15
dp_pg_major()
{
	local m

	if [[ -n ${PG_SOURCE-} ]]
	then
		sed -n "s/^PACKAGE_VERSION='\([0-9]*\).*/\1/p" "$PG_SOURCE/configure"
	elif [[ -n ${PGMAJOR-} ]]
	then
		echo "$PGMAJOR"
	elif [[ -n ${PG_CONFIG-} ]] && m=$("$PG_CONFIG" --version 2>/dev/null)
	then
		echo "$m" | sed 's/[^0-9]*\([0-9]*\).*/\1/'
	else
		m=$(ls -d /usr/include/postgresql/*/server /usr/lib/postgresql/*/bin/postgres 2>/dev/null |
			awk -F/ '{ print ($3 == "include") "\t" $5 }' |
			sort -k1,1nr -k2,2nr | awk 'NR == 1 { print $2 }')
		[[ -n $m ]] || m=$(apt-cache depends postgresql 2>/dev/null |
						   sed -n 's/.*Depends: postgresql-\([0-9][0-9]*\)$/\1/p' | head -n 1)
		echo "${m:-15}"
	fi
}

# the installation to copy: PG_CONFIG if given, else Debian's of that version,
# else whatever is in the PATH; empty when there is none
dp_pg_config()
{
	local major

	if [[ -n ${PG_CONFIG-} ]]
	then
		command -v "$PG_CONFIG"
		return
	fi
	major=$(dp_pg_major)
	if [[ -x /usr/lib/postgresql/$major/bin/pg_config ]]
	then
		echo "/usr/lib/postgresql/$major/bin/pg_config"
	elif [[ ! -e /etc/debian_version ]]
	then
		command -v pg_config
	fi
}

# ---------------------------------------------------------------------------
# Who runs the server
# ---------------------------------------------------------------------------

if [[ $(id -u) == 0 ]]
then
	if id -u postgres >/dev/null 2>&1; then DP_OS_USER=postgres; else DP_OS_USER=nobody; fi
else
	DP_OS_USER=$(id -un)
fi

# run a command as the server's user
as_server()
{
	if [[ $(id -u) == 0 ]]
	then
		runuser -u "$DP_OS_USER" -- "$@"
	else
		"$@"
	fi
}

# give files to the server's user
give()
{
	[[ $(id -u) != 0 ]] || chown -R "$DP_OS_USER" "$@"
}

# A scratch directory of the server's user (nobody else may reach its sockets,
# because connections are trusted), with a name short enough for sockets; the
# caller removes it.  $1: what for, $2: where
dp_scratch()
{
	local dir

	dir=$(mktemp -d "${2:-/tmp}/dp_${1:-test}.XXXXXX") || return
	give "$dir"
	echo "$dir"
}

# ---------------------------------------------------------------------------
# The private copy of the server
# ---------------------------------------------------------------------------

# Makes (or refreshes) the copy below build/ and sets DP_TREE, DP_PG_CONFIG,
# DP_BIN, DP_LIB, DP_PGXS.  pg_config and the server find everything relative
# to where their own file is, so the copy needs no configuration.  With
# PG_SOURCE it is built of those sources, with assertions.  Where DP_BUILT is set,
# all this is in the environment, and the extension is in the copy.
dp_server_tree()
{
	local from dirs d state major

	[[ -z ${DP_BUILT-} ]] || return 0
	if [[ -n ${PG_SOURCE-} ]]
	then
		. "$DP_TOP/test/tools/assert_server.sh"
		dp_source_server
		return
	fi
	from=$(dp_pg_config)
	[[ -n $from ]] || { echo "no PostgreSQL found; see deps.sh" >&2; return 1; }
	major=$(dp_pg_major)
	DP_TREE=$DP_BUILD/server-$major
	dirs=$(for d in bindir pkglibdir sharedir includedir-server pkgincludedir
		   do
			   "$from" "--$d"
		   done | sort -u)
	mkdir -p "$DP_BUILD"
	exec 9>"$DP_BUILD/.lock"
	flock 9
	state=$(find $dirs -type f -printf '%p %s %T@\n' 2>/dev/null | sort | cksum)
	if [[ $(cat "$DP_TREE/.state" 2>/dev/null) != "$state" ]]
	then
		echo "copying PostgreSQL $major to ${DP_TREE#"$DP_TOP"/}"
		rm -rf "$DP_TREE" "$DP_TREE.new"
		for d in $dirs
		do
			[[ -d $d ]] || continue
			# a directory inside one that is copied already
			[[ ! -d $DP_TREE.new$d ]] || continue
			mkdir -p "$(dirname "$DP_TREE.new$d")"
			cp -R --preserve=timestamps,links -P "$d" "$(dirname "$DP_TREE.new$d")/" || return 1
		done
		echo "$state" >"$DP_TREE.new/.state"
		chmod -R a+rX,u+w "$DP_TREE.new"
		mv "$DP_TREE.new" "$DP_TREE"
	fi
	flock -u 9
	dp_use_tree "$DP_TREE" "$(readlink -f "$("$from" --bindir)")/pg_config"
}

# $1: root of an installation, $2: where pg_config is below it
dp_use_tree()
{
	DP_TREE=$1
	DP_PG_CONFIG=$1$2
	DP_BIN=$("$DP_PG_CONFIG" --bindir)
	DP_LIB=$("$DP_PG_CONFIG" --pkglibdir)
	DP_PGXS=$(dirname "$("$DP_PG_CONFIG" --pgxs)")/../..
}

# build the extension and install it into the copy; output to $1
dp_build()
{
	[[ -z ${DP_BUILT-} ]] || return 0
	(
		cd "$DP_TOP" && exec 9>"$DP_BUILD/.lock" && flock 9 &&
			make -s -j"$(nproc)" PG_CONFIG="$DP_PG_CONFIG" with_llvm=no 9>&- &&
			make -s install PG_CONFIG="$DP_PG_CONFIG" with_llvm=no 9>&-
	) >"$1" 2>&1
}

# A copy of the copy, with the extension, in directory $1.
dp_copy_tree()
{
	mkdir -p "$1" && chmod 755 "$1" &&
		cp -R --preserve=timestamps,links -P "$DP_TREE" "$1/" || return 1
	dp_use_tree "$1/${DP_TREE##*/}" "${DP_PG_CONFIG#"$DP_TREE"}"
}

# Use such a copy where the server's user may not read the checkout.
dp_readable_tree()
{
	as_server test -x "$DP_BIN/postgres" -a -r "$DP_LIB/plpgsql.so" 2>/dev/null || dp_copy_tree "$1"
}

# ---------------------------------------------------------------------------
# Throw-away clusters
# ---------------------------------------------------------------------------

# $1: directory to create the cluster in, $2...: configuration files to append
dp_initdb()
{
	local dir=$1

	shift
	mkdir -p "$dir"
	give "$dir"
	as_server env HOME="$dir" "$DP_BIN/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 \
		--no-locale --no-sync ${DP_INITDB_OPTIONS-} >"$dir/initdb.log" 2>&1 || { cat "$dir/initdb.log" >&2; return 1; }
	cat "$@" /dev/null | as_server tee -a "$dir/data/postgresql.conf" >/dev/null
}

# $1: a directory for a library that logs what becomes of every statement (test/golden/golden.c), and for the setting that loads it
dp_golden()
{
	"${CC:-cc}" -shared -fPIC -O1 -Wall -Werror -I"$("$DP_PG_CONFIG" --includedir-server)" -o "$1/golden.so" "$DP_TOP/test/golden/golden.c" &&
		echo "session_preload_libraries = '$1/golden'" >"$1/golden.conf"
}

# $1: the cluster's directory, which is also that of its socket
dp_start()
{
	local dir=$1

	(
		cd "$dir" &&
			as_server env HOME="$dir" "$DP_BIN/pg_ctl" -s -w -t 60 -D "$dir/data" -l "$dir/log" \
				-o "-c unix_socket_directories='$dir' -c listen_addresses='' -c port=5432" start 9>&- </dev/null
	) >"$dir/pg_ctl.log" 2>&1 || { cat "$dir/pg_ctl.log" >&2; tail -n 20 "$dir/log" >&2; return 1; }
}

# $1: the cluster's directory, $2: mode
dp_stop()
{
	[[ -f $1/data/postmaster.pid ]] || return 0
	(cd "$1" && as_server "$DP_BIN/pg_ctl" -s -w -D "$1/data" -m "${2:-fast}" stop) >/dev/null 2>&1
}

# psql at the cluster in $1 as superuser, without anybody's .psqlrc
dp_psql()
{
	local dir=$1

	shift
	(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGPORT=5432 PGUSER=postgres \
		"$DP_BIN/psql" -X -q -v ON_ERROR_STOP=1 "$@")
}

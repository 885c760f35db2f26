#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# deps.sh build|test|drivers|example|browser|board|pooler|dist|fuzz-sql|citus|all
#	  Install, on Debian and its kin, what building (or testing, or testing with
#	  client drivers, a browser or a pooler) still needs.
#
# Does nothing, quickly, when everything is there.  Otherwise it asks
# apt-get, as root or through sudo.  Without apt-get it only says what is
# missing, and fails if the extension cannot be built without it.  No package
# hosts are named here: apt's own configuration decides.
#
#-------------------------------------------------------------------------
set -u

what=${1:-all}
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# a server that is built of sources takes pgTAP, and what else there is, from the distribution's
from_source=${PG_SOURCE-}
unset PG_SOURCE

need=()				# Debian packages
essential=0			# is one of them needed to build at all?
updated=no

run=()
if [[ $(id -u) != 0 ]]
then
	run=(sudo)
	# nobody there to type a password
	[[ -t 2 ]] || run+=(-n)
fi
apt=("${run[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o DPkg::Lock::Timeout=600)

may_install()
{
	command -v apt-get >/dev/null && { [[ ${#run[@]} == 0 ]] || "${run[@]}" true 2>/dev/null; }
}

update()
{
	[[ $updated == no ]] && may_install || return 0
	"${apt[@]}" update -qq >/dev/null 2>&1 </dev/null
	updated=yes
}

# which version is the default here, apt may know only after an update
[[ -n $(dp_pg_config) ]] || update
major=$(dp_pg_major)

want()
{
	local p

	for p in "$@"
	do
		[[ " ${need[*]-} " == *" $p "* ]] || need+=("$p")
	done
}

# Compiler and server

if ! echo '#include <stdio.h>' | ${CC:-gcc} -E - >/dev/null 2>&1
then
	want gcc libc6-dev
	essential=1
fi
command -v make >/dev/null || { want make; essential=1; }

pg_config=$(dp_pg_config)
if [[ -z $pg_config || ! -x $("$pg_config" --bindir)/postgres ||
	  ! -f $("$pg_config" --includedir-server)/postgres.h ||
	  ! -f $("$pg_config" --pgxs) ]]
then
	want "postgresql-$major" "postgresql-server-dev-$major" libicu-dev
	essential=1
else
	# a header of the server needs ICU's, which the server's package does not bring
	if ! printf '#include "postgres.h"\n#include "utils/pg_locale.h"\n' |
		${CC:-gcc} -E -I"$("$pg_config" --includedir-server)" - >/dev/null 2>&1
	then
		want libicu-dev
		essential=1
	fi
	# headers of one minor version and a server of another do not mix
	server=$("$("$pg_config" --bindir)/postgres" --version)
	headers=$(sed -n 's/^#define PG_VERSION "\(.*\)"/\1/p' \
			  "$("$pg_config" --includedir-server)/pg_config.h" "$("$pg_config" --includedir)/pg_config.h" 2>/dev/null | head -n 1)
	if [[ -n $headers && $server != *" $headers"* ]]
	then
		want "postgresql-$major" "postgresql-client-$major" "postgresql-server-dev-$major"
		essential=1
	fi
fi

# Server with assertions

if [[ -n ${ASSERT-}${SANITIZE-}$from_source ]]
then
	command -v bison >/dev/null || want bison
	command -v flex >/dev/null || want flex
	command -v pkg-config >/dev/null || want pkg-config
	pkg-config --exists icu-uc 2>/dev/null || want libicu-dev
	pkg-config --exists libxml-2.0 2>/dev/null || want libxml2-dev
fi

# Tests

if [[ $what != build ]]
then
	command -v python3 >/dev/null || want python3
	perl -MTest::More -MIPC::Run -MTime::HiRes -e 1 2>/dev/null || want perl libipc-run-perl
	command -v nm >/dev/null || want binutils
	# counts instructions
	command -v valgrind >/dev/null || want valgrind
	[[ -n $pg_config && -f $("$pg_config" --sharedir)/extension/pgtap.control ]] ||
		want "postgresql-$major-pgtap"
fi

# Client drivers; the tests of those that cannot be installed are skipped

if [[ $what == drivers || $what == all ]]
then
	# Debian's modules are for Debian's Python
	/usr/bin/python3 -c 'import psycopg' 2>/dev/null || want python3 python3-psycopg
	/usr/bin/python3 -c 'import pyodbc' 2>/dev/null || want python3 python3-pyodbc
	command -v isql >/dev/null || want unixodbc
	grep -qs '^\[PostgreSQL Unicode\]' /etc/odbcinst.ini || want odbc-postgresql
	command -v javac >/dev/null || want default-jdk-headless
	[[ -f /usr/share/java/postgresql.jar ]] || want libpostgresql-jdbc-java
	if ! command -v node >/dev/null
	then
		want nodejs node-pg
	elif ! command -v npm >/dev/null && ! node -e 'require("pg"); require("pg-cursor")' >/dev/null 2>&1
	then
		want node-pg
	fi
fi

# What docs/examples import; without it they are not run

if [[ $what == example || $what == all ]]
then
	/usr/bin/python3 -c 'import matplotlib, pandas, psycopg' 2>/dev/null || want python3 python3-psycopg python3-pandas python3-matplotlib
fi

# Browser for pages, and what reads files for monitoring; without them they are read, not shown

if [[ $what == browser || $what == all ]]
then
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || want chromium
	python3 -c 'import yaml' 2>/dev/null || /usr/bin/python3 -c 'import yaml' 2>/dev/null || want python3 python3-yaml
fi

# What the picture of Grafana's board is made with; without it the picture stays as it is

if [[ $what == board ]]
then
	command -v node >/dev/null || want nodejs
	command -v npm >/dev/null || want npm
	command -v pngquant >/dev/null || want pngquant
fi

# Pooler of connections; without it its test is skipped

if [[ $what == pooler || $what == all ]]
then
	command -v pgbouncer >/dev/null || [[ -x /usr/sbin/pgbouncer ]] || want pgbouncer
fi

# Client of PGXN; without it the archive is not installed

if [[ $what == dist || $what == all ]]
then
	command -v pgxn >/dev/null || want pgxnclient
fi

# Generator of random queries

if [[ $what == fuzz-sql || $what == all ]]
then
	command -v sqlsmith >/dev/null || want sqlsmith
fi

# What Citus is built with

if [[ $what == citus ]]
then
	[[ -f /usr/include/gssapi/gssapi.h ]] || want libkrb5-dev
	[[ -f /usr/include/openssl/ssl.h ]] || want libssl-dev
	[[ -f /usr/include/postgresql/libpq-fe.h ]] || want libpq-dev
	[[ -f /usr/include/libxml2/libxml/tree.h ]] || want libxml2-dev
	# as the server has them, Citus' columns want their headers
	[[ -f /usr/include/zstd.h ]] || want libzstd-dev
	[[ -f /usr/include/lz4.h ]] || want liblz4-dev
fi

[[ ${#need[@]} -gt 0 ]] || exit 0

# Install

give_up()
{
	echo "deps.sh: missing: ${need[*]}" >&2
	echo "deps.sh: $1" >&2
	exit $essential
}

if ! command -v apt-get >/dev/null
then
	give_up "this machine has no apt-get; install the equivalent by hand"
elif ! may_install
then
	give_up "run this as root, once: apt-get install ${need[*]}"
fi

echo "installing ${need[*]}"
log=$(mktemp "${TMPDIR:-/tmp}/dp_deps.XXXXXX")
trap 'rm -f "$log"' EXIT
update
install()
{
	"${apt[@]}" install -y -qq --no-install-recommends "$@" >>"$log" 2>&1 </dev/null
}
if ! install "${need[@]}"
then
	# one package that this release of Debian lacks must not cost the others
	if [[ $what == drivers || $what == example || $what == browser || $what == board || $what == pooler || $what == dist ]]
	then
		missing=()
		for p in "${need[@]}"
		do
			install "$p" || missing+=("$p")
		done
		need=(${missing[@]+"${missing[@]}"})
		[[ ${#need[@]} -gt 0 ]] || exit 0
	fi
	tail -n 40 "$log" >&2
	give_up "apt-get could not install them (its output is above)"
fi

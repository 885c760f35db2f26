#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_symbols.sh dp_cdp.so dp_cdp_primary.so
#	  A library shares one name space with the server and every other
#	  library: all that it exports must bear its prefix.
#
#-------------------------------------------------------------------------
set -u

symbols=$(for library in "$@"; do nm -D --defined-only "$library" || exit 1; done) || exit 1
bad=$(awk '{ print $NF }' <<<"$symbols" |
	  grep -vE '^(dp_|Dp|_PG_init$|_PG_fini$|Pg_magic_func$|pg_finfo_dp_|_init$|_fini$|__bss_start$|_edata$|_end$)')
if [[ -n $bad ]]
then
	echo "exported without the prefix dp_:"
	sed 's/^/    /' <<<"$bad"
	exit 1
fi

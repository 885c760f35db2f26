#!/bin/sh
#-------------------------------------------------------------------------
#
# compose.sh install
#	  Prints the install script: all parts, in order.
#
# compose.sh update [FROM--TO]
#	  Prints the update script: what update/FROM--TO.sql does to tables and to
#	  objects whose form changes, the COMMENTs of parts that cannot be run again,
#	  and then the parts that can, whose objects become as they are in the
#	  install script.  Without versions, what all updates have.
#
# Parts are SQL, but for lines in which much that is the same is not written:
#
#	SAFE add(int2, int2) int2 add_int2 [STABLE] [SUPPORT like_support]
#		the function dp_cdp_internal.try_add, in C dp_try_add_int2; it is strict
#	[OR REPLACE] AGGREGATE dp_sum(integer) bigint
#		an aggregate of analysts and its result; the next line is its COMMENT
#	FOR integer = bigint; real = float
#		repeats the lines up to END, with each of these as $1, $2 and so on
#
#-------------------------------------------------------------------------
set -eu
cd "$(dirname "$0")"

# parts that create or replace, and never drop
again="03_administration.sql 05_ledger.sql 06_views.sql 09_check_data.sql 09_hardening.sql 10_report.sql 11_report_figures.sql 12_report_page.sql 12_report_promise.sql 13_reloads.sql 14_sums.sql 15_preview.sql 17_standbys.sql 18_clusters.sql 19_divergences.sql 20_privileges.sql"

# prints parts in SQL
parts()
{
	awk -v q="'" '
	function safe(line,    rest, word, n, i, volatility, support)
	{
		rest = substr(line, index(line, ")") + 2)
		n = split(rest, word, " ")
		volatility = "IMMUTABLE"
		for (i = 3; i <= n; i++)
			if (word[i] == "STABLE") volatility = "STABLE"
			else if (word[i] == "SUPPORT") support = "\n\tSUPPORT pg_catalog." word[i + 1]
		printf "CREATE FUNCTION dp_cdp_internal.try_%s RETURNS %s\n\tAS %sMODULE_PATHNAME%s, %sdp_try_%s%s LANGUAGE C %s STRICT PARALLEL SAFE%s;\n",
			substr(line, 1, index(line, ")")), word[1], q, q, q, word[2], q, volatility, support
	}
	function aggregate(replace, line)
	{
		name = substr(line, 1, index(line, ")"))
		printf "CREATE %sAGGREGATE @extschema@.%s (\n\tSFUNC = dp_cdp_internal.unreleased_step, STYPE = dp_cdp_internal.unreleased, INITCOND = %s%s,\n", replace, name, q, q
		printf "\tFINALFUNC = dp_cdp_internal.unreleased_%s, FINALFUNC_MODIFY = READ_WRITE, PARALLEL = UNSAFE\n);\nCOMMENT ON AGGREGATE @extschema@.%s IS\n",
			substr(line, length(name) + 2), name
	}
	function put(line)
	{
		if (name != "") { printf "\t%s%s%s;\n", q, substr(line, 2), q; name = "" }
		else if (sub(/^SAFE /, "", line)) safe(line)
		else if (sub(/^AGGREGATE /, "", line)) aggregate("", line)
		else if (sub(/^OR REPLACE AGGREGATE /, "", line)) aggregate("OR REPLACE ", line)
		else print line
	}
	/^FOR / { count = split(substr($0, 5), pairs, "; "); lines = 0; next }
	/^END$/ && count > 0 {
		for (i = 1; i <= count; i++) {
			n = split(pairs[i], pair, " = ")
			for (j = 1; j <= lines; j++) {
				line = body[j]
				for (k = 1; k <= n; k++) gsub("[$]" k, pair[k], line)
				put(line)
			}
		}
		count = 0; next
	}
	count > 0 { body[++lines] = $0; next }
	{ put($0) }' "$@"
}

# prints the COMMENTs of the other parts
comments()
{
	for part in [0-9]*.sql; do
		case " $again " in *" $part "*) ;; *) parts "$part" | awk '/^COMMENT ON/ { is_comment = 1 } is_comment; /;$/ { is_comment = 0 }' ;; esac
	done
}

case ${1-} in
	install) parts [0-9]*.sql ;;
	update) echo 'SET LOCAL search_path = pg_catalog, pg_temp;		-- as in the install script'; [ -z "${2-}" ] || parts "update/$2.sql"; comments; parts $again ;;
	*) echo "usage: compose.sh install | update [FROM--TO]" >&2; exit 2 ;;
esac

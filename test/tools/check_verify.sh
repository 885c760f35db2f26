#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_verify.sh
#	  Whether the last gate (src/guard/verify.c) holds where another fails.
#
# Builds the extension with mistakes in what the guard vets (test/verify/mutants.py),
# of which a session chooses one, into a copy of the server, and asks for each
# a query that makes use of it:
#
# - without a mistake, the gate has nothing to say of the query;
# - with the mistake, and without the gate, the query is answered, or fails at
#   a row: the mistake matters;
# - with the mistake, the gate stops the query.
#
# MUTANTS="limit;having" chooses.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
mutants=$DP_TOP/test/verify/mutants.py
exec </dev/null

# The library with all of these mistakes.
build_mutants()
{
	local f cflags
	local -a objects changed

	cflags="$("$DP_PG_CONFIG" --cflags) -O0 -w $("$DP_PG_CONFIG" --cppflags) -I$("$DP_PG_CONFIG" --includedir-server) -fPIC -Isrc"
	mapfile -t changed < <(python3 "$mutants" build "$DP_TOP" "$work/mutants" "${chosen[@]}")
	[[ ${#changed[@]} -gt 1 ]] || return 1
	mapfile -t objects < <(cd "$DP_TOP" && find src -name '*.c' -not -path 'src/primary/*' | sed 's/c$/o/' | sort)
	for f in "${changed[@]}"
	do
		objects=("${objects[@]/#${f%.c}.o/$work/mutants/${f%.c}.o}")
	done
	cd "$DP_TOP" && printf '%s\n' "${changed[@]%.c}" |
		xargs -P "$(nproc)" -I '{}' gcc $cflags -c "$work/mutants/{}.c" -o "$work/mutants/{}.o" &&
		gcc -shared -o "$DP_LIB/dp_cdp.so.new" "${objects[@]}" "$work/mutants/src/mutant.o" -lm && mv "$DP_LIB/dp_cdp.so.new" "$DP_LIB/dp_cdp.so"
}

IFS=';' read -r -a chosen <<<"${MUTANTS-}"
dp_server_tree || exit 1
if [[ -n ${ASSERT-} ]]
then
	. "$DP_TOP/test/tools/assert_server.sh"
	dp_assert_server || exit 1
fi
work=$(dp_scratch verify) || exit 1
log=$DP_BUILD/verify.log
trap 'dp_stop "$work/c" immediate; rm -rf "$work"' EXIT
dp_build "$log" || { tail -n 40 "$log"; exit 1; }
# a copy of links, where that can be: only the library is another
mkdir "$work/tree" && chmod 755 "$work/tree" && cp -Rl "$DP_TREE" "$work/tree/" 2>/dev/null &&
	dp_use_tree "$work/tree/${DP_TREE##*/}" "${DP_PG_CONFIG#"$DP_TREE"}" || dp_copy_tree "$work/tree" || exit 1
(build_mutants) >>"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
dp_initdb "$work/c" "$DP_TOP/test/tools/temp.conf" && dp_start "$work/c" || exit 1
dp_psql "$work/c" -d postgres >>"$log" 2>&1 <<'SQL' || { tail -n 20 "$log"; exit 1; }
CREATE EXTENSION dp_cdp;
CREATE EXTENSION citext;
CREATE ROLE boss LOGIN;
CREATE ROLE ana LOGIN;
CREATE SCHEMA ana AUTHORIZATION ana;
GRANT USAGE ON SCHEMA ana TO boss;
GRANT CREATE ON SCHEMA public TO boss;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO boss;
SET SESSION AUTHORIZATION boss;
CREATE TABLE ward (ward text PRIMARY KEY);
INSERT INTO ward VALUES ('heart'), ('bone');
CREATE TABLE visit (patient int NOT NULL, ward text, name text, note jsonb, tags text[]);
INSERT INTO visit SELECT i % 50, (ARRAY['heart', 'bone'])[1 + i % 2], 'a' || i, '{}' FROM generate_series(1, 200) i;
GRANT SELECT ON ward TO ana;
CREATE TABLE bill (bill int PRIMARY KEY, patient int NOT NULL);
INSERT INTO bill SELECT i, i % 50 FROM generate_series(1, 100) i;
CREATE TABLE item (bill int REFERENCES bill, price int NOT NULL);
INSERT INTO item SELECT 1 + i % 100, i FROM generate_series(1, 200) i;
CREATE TABLE login (email citext, n int);
INSERT INTO login SELECT 'person' || i % 100, i FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic');
SELECT dp_cdp.protect_table('visit', 'clinic', unit => 'patient');
SELECT dp_cdp.protect_table('bill', 'clinic', unit => 'patient');
SELECT dp_cdp.protect_table('item', 'clinic', through => 'bill');
SELECT dp_cdp.protect_table('login', 'clinic', unit => 'email');
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 1000);
SET SESSION AUTHORIZATION ana;
CREATE TABLE ana.own AS SELECT * FROM ward;
GRANT SELECT ON ana.own TO boss;
CREATE FUNCTION ana.f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 / ($1 - 42); END';
SQL

PATH=$DP_BIN:$PATH PGHOST=$work/c python3 "$mutants" run "${chosen[@]}"

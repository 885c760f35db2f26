#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_verify.sh
#	  Whether the last gate (src/guard/verify.c) holds where another fails.
#
# Builds the extension with one mistake after the other in what the guard vets
# (test/verify/mutants.py), into a copy of the server, and asks a query that
# makes use of it:
#
# - without a mistake, the gate has nothing to say of any of the queries;
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
dp_copy_tree "$work/tree" || exit 1
installed=$DP_LIB/dp_cdp.so

dp_initdb "$work/c" "$DP_TOP/test/tools/temp.conf" && dp_start "$work/c" || exit 1
dp_psql "$work/c" -d postgres >>"$log" 2>&1 <<'SQL' || { tail -n 20 "$log"; exit 1; }
CREATE EXTENSION dp_cdp;
CREATE ROLE boss LOGIN;
CREATE ROLE ana LOGIN;
CREATE SCHEMA ana AUTHORIZATION ana;
GRANT USAGE ON SCHEMA ana TO boss;
GRANT CREATE ON SCHEMA public TO boss;
GRANT EXECUTE ON FUNCTION dp_cdp.create_dataset TO boss;
SET SESSION AUTHORIZATION boss;
CREATE TABLE ward (ward text PRIMARY KEY);
INSERT INTO ward VALUES ('heart'), ('bone');
CREATE TABLE visit (patient int NOT NULL, ward text, name text, note jsonb);
INSERT INTO visit SELECT i % 50, (ARRAY['heart', 'bone'])[1 + i % 2], 'a' || i, '{}' FROM generate_series(1, 200) i;
GRANT SELECT ON ward TO ana;
CREATE TABLE bill (bill int PRIMARY KEY, patient int NOT NULL);
INSERT INTO bill SELECT i, i % 50 FROM generate_series(1, 100) i;
CREATE TABLE item (bill int REFERENCES bill, price int NOT NULL);
INSERT INTO item SELECT 1 + i % 100, i FROM generate_series(1, 200) i;
SELECT dp_cdp.create_dataset('clinic');
SELECT dp_cdp.protect_table('visit', 'clinic', unit => 'patient');
SELECT dp_cdp.protect_table('bill', 'clinic', unit => 'patient');
SELECT dp_cdp.protect_table('item', 'clinic', through => 'bill');
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 1000);
SET SESSION AUTHORIZATION ana;
CREATE TABLE ana.own AS SELECT * FROM ward;
GRANT SELECT ON ana.own TO boss;
CREATE FUNCTION ana.f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 / ($1 - 42); END';
SQL

cflags="$("$DP_PG_CONFIG" --cflags) -O0 -w $("$DP_PG_CONFIG" --cppflags) -I$("$DP_PG_CONFIG" --includedir-server)"

# the extension with some mutants
install_with()
{
	local m f dir
	local -a objects

	mapfile -t objects < <(cd "$DP_TOP" && find src -name '*.c' -not -path 'src/primary/*' | sed 's/c$/o/' | sort)
	for m in "$@"
	do
		dir=$work/mutants/${m// /_}
		if [[ ! -e $dir/changed ]]
		then
			mkdir -p "$dir"
			python3 "$mutants" apply "$m" "$DP_TOP" "$dir" >"$dir/changed" || exit 1
			while read -r f
			do
				(cd "$DP_TOP" && gcc $cflags -fPIC -Isrc -c "$dir/$f" -o "$dir/${f%.c}.o") >>"$log" 2>&1 || exit 1
			done <"$dir/changed"
		fi
		while read -r f
		do
			objects=("${objects[@]/#${f%.c}.o/$dir/${f%.c}.o}")
		done <"$dir/changed"
	done
	(cd "$DP_TOP" && gcc -shared -o "$work/dp_cdp.so" "${objects[@]}" -lm) >>"$log" 2>&1 || exit 1
	dp_stop "$work/c"
	cp "$work/dp_cdp.so" "$installed.new" && mv "$installed.new" "$installed"
	dp_start "$work/c" || exit 1
}

# what ana gets: the answer, or the error with its SQLSTATE
ask()
{
	(cd "$work/c" && python3 "$mutants" sql "$1" | as_server env HOME="$work/c" PGHOST="$work/c" PGPORT=5432 \
		"$DP_BIN/psql" -X -q -A -t -v VERBOSITY=verbose -U ana -d postgres -f - 2>&1)
}

failed=0
say()
{
	printf '%s %s\n' "$1" "$2"
	[[ $1 == ok ]] || { failed=1; printf '%s\n' "$3" | sed 's/^/    # /' | head -n 5; }
}

stops='ZC002: private query could not be verified'
if [[ -n ${MUTANTS-} ]]
then
	IFS=';' read -r -a chosen <<<"$MUTANTS"
else
	mapfile -t chosen < <(python3 "$mutants" list)
fi
for m in "${chosen[@]}"
do
	out=$(ask "$m")
	[[ $out != *"could not be verified"* ]] && say ok "as it is: $m" || say "not ok" "as it is: $m" "$out"
done
for m in "${chosen[@]}"
do
	install_with "$m" verify
	out=$(ask "$m")
	[[ $out == *"failed while it read"* || ($out != *ZC002* && $out != *"server closed"*) ]] && say ok "matters: $m" || say "not ok" "matters: $m" "$out"
	install_with "$m"
	out=$(ask "$m")
	[[ $out == *"$stops"* ]] && say ok "is stopped: $m ($(sed -n "s/.*verified: \(.*\);.*/\1/p" <<<"$out" | head -n 1))" || say "not ok" "is stopped: $m" "$out"
done
exit $failed

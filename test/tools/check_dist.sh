#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_dist.sh
#	  The archive for PGXN, of the files as they are here: two runs make the same
#	  bytes, META.json says what is so, docs/publishing.md lists the places that
#	  dist.sh warns of, and, with DP_TEST_ALL, "pgxn install" of the archive makes an
#	  installation that answers a private query.
#
# To be called by run_tests.sh, with DP_TREE, DP_BIN and DP_PG_CONFIG of the
# private server, of which it takes a copy.  Prints TAP.
#
#-------------------------------------------------------------------------
set -u
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

n=0
ok()
{
	local rc=$?

	n=$((n + 1))
	if [[ $rc == 0 ]]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
skip()
{
	n=$((n + 1))
	echo "ok $n - # skip $1"
}
finish()
{
	echo "1..$n"
	exit 0
}

if ! git -C "$DP_TOP" rev-parse -q --verify HEAD >/dev/null 2>&1
then
	skip 'the history of the repository is not here'
	finish
fi

dir=$(dp_scratch dist)
trap 'dp_stop "$dir/c" immediate; rm -rf "$dir"' EXIT

# what is changed, but not committed, is tested, too
revision=$(git -C "$DP_TOP" -c user.name=test -c user.email=test@localhost stash create)
revision=${revision:-HEAD}
version=$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$DP_TOP/dp_cdp.control")
zip=$dir/dp_cdp-$version.zip

bash "$DP_TOP/test/tools/dist.sh" "$revision" "$zip" >/dev/null 2>"$dir/warned" || { cat "$dir/warned"; false; }
ok 'an archive'
(cd / && umask 077 && TZ=Pacific/Auckland bash "$DP_TOP/test/tools/dist.sh" "$revision" "$dir/again.zip" >/dev/null 2>&1)
cmp "$zip" "$dir/again.zip"
ok 'a second run makes the same bytes'
python3 -m zipfile -e "$zip" "$dir/unpacked" && python3 "$DP_TOP/test/tools/check_meta.py" "$dir/unpacked/dp_cdp-$version"
ok 'META.json says what is in it'
python3 - "$dir/warned" "$dir/unpacked/dp_cdp-$version/docs/publishing.md" <<'EOC'
import re
import sys

warned, page = (open(name).read() for name in sys.argv[1:])
listed = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", page, re.M)
found = re.findall(r"^  ([^:\n]+):\d+:(.*)", warned, re.M)
for place in list(found):
    row = next((row for row in listed if row[0] == place[0] and row[1] in place[1]), None)
    if row:
        found.remove(place)
        listed.remove(row)
for what, places in ("not listed", found), ("not found", listed):
    for place in places:
        print("# %s: %s: %s" % (what, *place))
sys.exit(1 if found or listed else 0)
EOC
ok 'docs/publishing.md lists the addresses that are to be filled in, and no others'
[[ -z $(cd "$dir/unpacked" && find . -name '*.o' -o -name '*.so' -o -path '*/build/*') ]]
ok 'nothing built is in it'
silent=$(cd "$dir/unpacked/dp_cdp-$version" &&
	find src sql -name '*.[ch]' -o -name "dp_cdp*--$version.sql" | xargs grep -L '^ \* SPDX-License-Identifier: PostgreSQL$')
[[ -z $silent ]] || echo "# $silent"
[[ -z $silent ]]
ok 'each source and script names its licence'

# what follows builds all of it again
[[ -n ${DP_TEST_ALL-} ]] || finish
if ! command -v pgxn >/dev/null
then
	skip 'pgxn is not here (Debian: pgxnclient)'
	finish
fi

# optimization costs a minute and shows nothing here
dp_copy_tree "$dir/tree" || exit 1
find "$DP_TREE" -name 'dp_cdp*' -prune -exec rm -rf {} +
! compgen -G "$("$DP_PG_CONFIG" --pkglibdir)/dp_cdp*" >/dev/null
ok 'a server without it'
# where pgxn looks whether it may write
mkdir -p "$("$DP_PG_CONFIG" --libdir)"
(cd "$dir" && env HOME="$dir" MAKEFLAGS="-j$(nproc) -- with_llvm=no COPT=-O0" \
	pgxn install --nosudo --yes --pg_config="$DP_PG_CONFIG" "$zip") >"$dir/pgxn.log" 2>&1
ok 'pgxn install'
[[ -f $("$DP_PG_CONFIG" --pkglibdir)/dp_cdp.so ]] || tail -n 40 "$dir/pgxn.log"
diff -r "$DP_TOP/docs" "$("$DP_PG_CONFIG" --docdir)/extension/dp_cdp"
ok 'its documentation is installed, with the files that it names'

echo "shared_preload_libraries = 'dp_cdp'" >"$dir/conf"
dp_initdb "$dir/c" "$dir/conf" && dp_start "$dir/c"
ok 'a server with it'
answer=$(dp_psql "$dir/c" -A -t -d postgres <<'EOC'
CREATE EXTENSION dp_cdp;
SELECT dp_cdp.library_version() || ' ' || extversion FROM pg_extension WHERE extname = 'dp_cdp';
CREATE ROLE ana;
CREATE TABLE visits (patient int, dept text);
INSERT INTO visits SELECT i, 'a' FROM generate_series(1, 1000) i;
SELECT dp_cdp.create_dataset('clinic', rho => 5) \g /dev/null
SELECT dp_cdp.protect_table('visits', 'clinic', 'patient') \g /dev/null
SELECT dp_cdp.set_budget('clinic', 'ana', rho => 2) \g /dev/null
SET SESSION AUTHORIZATION ana;
SET dp_cdp.rho = 0.5;
SELECT dp_count(*) BETWEEN 950 AND 1050 FROM visits;
EOC
)
[[ $answer == "$version $version"$'\n't ]] || { echo "# $answer"; false; }
ok "library and script are of version $version, and a private query is answered"
make -s -C "$dir/unpacked/dp_cdp-$version" uninstall PG_CONFIG="$DP_PG_CONFIG" with_llvm=no &&
	[[ -z $(find "$DP_TREE" -name '*dp[_-]cdp*') ]]
ok 'make uninstall leaves nothing'
finish

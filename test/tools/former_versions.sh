#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# former_versions.sh
#	  Builds released versions of the extension for tests of updates.
#
# Prints a directory with a subdirectory for each version: its library, control
# file and scripts.  Prints nothing where the repository's history is not at
# hand, as in an unpacked archive.  To be called with DP_TREE and DP_PG_CONFIG
# of the server that they are for.
#
#-------------------------------------------------------------------------
set -eu

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# the last commit of each released version
released="0.1.0 36895a21975e639b8a3cf325b74f574496530f23"

out=$DP_TREE.former
while read -r version commit
do
	git rev-parse -q --verify "$commit^{commit}" >/dev/null 2>&1 || exit 0
	dir=$out/$version
	[[ $(cat "$dir/.complete" 2>/dev/null) != "$commit" ]] || continue
	rm -rf "$dir"
	mkdir -p "$dir/source"
	git archive "$commit" src sql Makefile dp_cdp.control | tar -x -C "$dir/source"
	make -s -C "$dir/source" -j"$(nproc)" PG_CONFIG="$DP_PG_CONFIG" with_llvm=no COPT=-O0 >"$dir/build.log" 2>&1 ||
		{ tail -n 20 "$dir/build.log" >&2; exit 1; }
	cp "$dir/source/dp_cdp.so" "$dir/source/dp_cdp.control" "$dir/source"/sql/dp_cdp--*.sql "$dir/"
	rm -rf "$dir/source"
	echo "$commit" >"$dir/.complete"
done <<<"$released"
echo "$out"

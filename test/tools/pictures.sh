#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# pictures.sh
#	  Draws docs/pictures again, from answers of a throw-away server, the report
#	  of the demo's registry, and its board.  The plot of docs/examples is its own.
#
# Noise is fresh each time, so numbers move.  Look at the pictures before they
# are committed: README.md and docs/ show them.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
. "$DP_TOP/test/tools/board.sh"

bash "$DP_TOP/test/tools/deps.sh" test || exit 1
dp_server_tree || exit 1
mkdir -p "$DP_BUILD"
dp_build "$DP_BUILD/pictures.log" || { tail -n 40 "$DP_BUILD/pictures.log"; exit 1; }

dir=$(dp_scratch pictures) || exit 1
trap 'dp_stop "$dir" immediate; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
dp_readable_tree "$dir/tree" || exit 1
dp_initdb "$dir" "$DP_TOP/test/demo/demo.conf" && dp_start "$dir" || exit 1

mkdir "$dir/drawn" && cp "$DP_TOP/docs/pictures/draw.py" "$dir/" && give "$dir/drawn" "$dir/draw.py" || exit 1
(cd "$dir" && as_server env HOME="$dir" PGHOST="$dir" PGUSER=postgres PATH="$DP_BIN:$PATH" PYTHONDONTWRITEBYTECODE=1 \
	python3 draw.py "$dir/drawn") || exit 1
cp "$dir"/drawn/*.svg "$DP_TOP/docs/pictures/"

# the report of the demo's registry, as a browser shows it
bash "$DP_TOP/test/tools/deps.sh" browser
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo 'no Chromium: report and board are not drawn'; exit 0; }
dp_psql "$dir" -d postgres -c 'CREATE DATABASE clinic' &&
	dp_psql "$dir" -d clinic -c 'SET client_min_messages = error' -c 'CREATE EXTENSION dp_cdp' -f - <"$DP_TOP/test/demo/history.sql" >"$DP_BUILD/pictures.log" 2>&1 &&
	dp_psql "$dir" -d clinic -At -c "SELECT dp_cdp.report('registry')" >"$DP_BUILD/report.html" || { tail -n 20 "$DP_BUILD/pictures.log"; exit 1; }
"$chromium" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,930 --user-data-dir="$dir/profile" \
	--screenshot="$DP_TOP/docs/pictures/report.png" "file://$DP_BUILD/report.html" >"$DP_BUILD/pictures.log" 2>&1 || { tail -n 20 "$DP_BUILD/pictures.log"; exit 1; }

draw_board "$dir" "$chromium" || exit 1
ls -l "$DP_TOP"/docs/pictures/*.svg "$DP_TOP"/docs/pictures/*.png

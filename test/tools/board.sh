#-------------------------------------------------------------------------
#
# board.sh
#	  Draws docs/pictures/board.png: the board of docs/monitoring (to be sourced
#	  by pictures.sh).
#
# Grafana's server is not needed.  Its components for panels are on npm, of which
# board/package-lock.json has versions and checksums; board/board.py asks what
# they show.  Prometheus is taken out of Debian's package, whose installation
# would start a server.  Where one of these cannot be had, the picture that is
# there stays.
#
#-------------------------------------------------------------------------

# Puts prometheus and promtool into the PATH.
find_prometheus()
{
	local at=$DP_BUILD/prometheus

	PATH=$PATH:$at/usr/bin
	! command -v prometheus >/dev/null || ! command -v promtool >/dev/null || return 0
	rm -rf "$at"
	mkdir -p "$at" && (cd "$at" && apt-get download -qq prometheus && dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb) >"$DP_BUILD/board.log" 2>&1
}

# Makes build/board, with all that the board's page is made of.
bundle_board()
{
	local from=$DP_TOP/test/tools/board at=$DP_BUILD/board

	mkdir -p "$at"
	if ! cmp -s "$from/package-lock.json" "$at/node_modules/.of"
	then
		cp "$from"/package*.json "$at/"
		npm ci --prefix "$at" --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=30000 &&
			cp "$from/package-lock.json" "$at/node_modules/.of" || return
	fi >"$DP_BUILD/board.log" 2>&1 </dev/null
	cp "$from"/board.jsx "$from"/board.html "$at/"
	(cd "$at" && node node_modules/esbuild/bin/esbuild board.jsx --bundle --minify --outfile=board.js --jsx=automatic --define:global=window \
		--define:process.env.NODE_ENV='"production"' --loader:.svg=text --loader:.woff=dataurl --loader:.woff2=dataurl --loader:.ttf=empty) \
		>"$DP_BUILD/board.log" 2>&1
}

# $1: directory of a cluster whose database "clinic" has the demo's registry, $2: Chromium
draw_board()
{
	local dir=$1 at=$DP_BUILD/board picture=$DP_TOP/docs/pictures/board.png python

	bash "$DP_TOP/test/tools/deps.sh" board
	for python in python3 /usr/bin/python3 ''
	do
		[[ -n $python ]] || { echo 'no PyYAML: the board is not drawn'; return 0; }
		! as_server "$python" -c 'import yaml' 2>/dev/null || break
	done
	command -v npm >/dev/null && command -v node >/dev/null || { echo 'no npm: the board is not drawn'; return 0; }
	find_prometheus || { echo 'no Prometheus: the board is not drawn'; return 0; }
	bundle_board || { tail -n 20 "$DP_BUILD/board.log"; echo 'no components of Grafana: the board is not drawn'; return 0; }

	mkdir "$dir/board" "$dir/board/bin" && cp "$DP_TOP/test/tools/board/board.py" "$DP_TOP"/docs/monitoring/* "$dir/board/" &&
		cp "$(command -v prometheus)" "$(command -v promtool)" "$dir/board/bin/" && give "$dir/board" || return
	(cd "$dir/board" && as_server env HOME="$dir" PGHOST="$dir" PGUSER=postgres PGDATABASE=clinic PATH="$dir/board/bin:$DP_BIN:$PATH" PYTHONDONTWRITEBYTECODE=1 \
		"$python" board.py . .) || return
	{ printf 'window.answers = '; cat "$dir/board/answers.json"; } >"$at/answers.js"
	# the page is laid out in turns, for which virtual time waits
	"$2" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1216,1110 --virtual-time-budget=10000 --user-data-dir="$dir/profile" \
		--screenshot="$picture" "file://$at/board.html" >"$DP_BUILD/board.log" 2>&1 || { tail -n 20 "$DP_BUILD/board.log"; return 1; }
	! command -v pngquant >/dev/null || pngquant --force --skip-if-larger --output "$picture" 128 "$picture"
}

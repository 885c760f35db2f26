#-------------------------------------------------------------------------
#
# assert_server.sh
#	  A PostgreSQL with assertions, in build/assert-NN (to be sourced by bash
#	  after common.sh).
#
# Debian's packages come without assertions, so the server is built from the
# source that check_core.sh fetches.  Its minor version may be another than
# that of the installed server.
#
#-------------------------------------------------------------------------

# Builds it, once, and makes it the server that is used from here on; a copy
# in directory $1 where the server's user may not read the checkout.
dp_assert_server()
{
	local core=$DP_BUILD/core major server source dir src
	local -a apt

	major=$(dp_pg_major)
	server=$("$DP_BIN/postgres" --version)
	dir=$DP_BUILD/assert-$major
	if [[ ! -x $dir/bin/postgres ]]
	then
		mkdir -p "$core"
		eval "$(sed -n '/^\(give_up\|private_apt\|find_source\)()/,/^}/p' "$DP_TOP/test/tools/check_core.sh")"
		src=$core/apt/postgresql-${major}_
		# the unpacked part alone is not enough
		compgen -G "$src*.orig.tar.*" >/dev/null || rm -f "$core/source-$major/.complete"
		find_source
		echo "building PostgreSQL $(cat "$source/.complete") with assertions in ${dir#"$DP_TOP"/} (some minutes)"
		src=$(ls "$src"*.orig.tar.* | grep -v '\.asc$' | head -n 1)
		rm -rf "$dir.src"
		mkdir -p "$dir.src" && tar -C "$dir.src" --strip-components=1 --no-same-owner -xf "$src" &&
			(
				cd "$dir.src" &&
					./configure -q --prefix="$dir" --enable-cassert --enable-debug --without-readline --without-zlib \
						$([[ $major -lt 16 ]] || echo --without-icu) CFLAGS='-O1 -g' &&
					make -s -j"$(nproc)" && make -s install
			) >"$core/assert-build.log" 2>&1 9>&- || { tail -n 20 "$core/assert-build.log" >&2; return 1; }
		rm -rf "$dir.src"
		chmod -R a+rX "$dir"
	fi
	if ! as_server test -x "$dir/bin/postgres"
	then
		mkdir -p "$1" && chmod 755 "$1" && cp -R "$dir/." "$1/" || return 1
		dir=$1
	fi
	DP_PG_CONFIG=$dir/bin/pg_config
	DP_BIN=$("$DP_PG_CONFIG" --bindir)
	DP_LIB=$("$DP_PG_CONFIG" --pkglibdir)
}

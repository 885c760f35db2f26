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

# How it is configured: as Debian's where that can be seen from SQL or in the
# tests, and no more.  A build with other flags is made anew.
assert_flags()
{
	echo --enable-cassert --enable-debug --enable-tap-tests --with-icu --with-libxml --without-readline --without-zlib
}

# Builds the server in $1 from the source of its version.
build_assert_server()
{
	local dir=$1 core=$DP_BUILD/core flags major server source src
	local -a apt

	major=$(dp_pg_major)
	server=$("$DP_BIN/postgres" --version)
	flags=$(assert_flags)
	[[ $(cat "$dir/.flags" 2>/dev/null) != "$flags" ]] || return 0
	mkdir -p "$core"
	eval "$(sed -n '/^\(give_up\|private_apt\|find_source\)()/,/^}/p' "$DP_TOP/test/tools/check_core.sh")"
	src=$core/apt/postgresql-${major}_
	# the unpacked part alone is not enough
	compgen -G "$src*.orig.tar.*" >/dev/null || rm -f "$core/source-$major/.complete"
	find_source
	echo "building PostgreSQL $(cat "$source/.complete") with assertions in ${dir#"$DP_TOP"/} (some minutes)"
	src=$(ls "$src"*.orig.tar.* | grep -v '\.asc$' | head -n 1)
	rm -rf "$dir" "$dir.src"
	mkdir -p "$dir.src" && tar -C "$dir.src" --strip-components=1 --no-same-owner -xf "$src" &&
		(
			cd "$dir.src" && ./configure -q --prefix="$dir" $flags CFLAGS='-O1 -g' &&
				make -s -j"$(nproc)" && make -s install &&
				make -s -C contrib -j"$(nproc)" && make -s -C contrib install
		) >"$core/assert-build.log" 2>&1 9>&- || { tail -n 20 "$core/assert-build.log" >&2; return 1; }
	rm -rf "$dir.src"
	echo "$flags" >"$dir/.flags"
}

# Builds it, once, and makes it the server that is used from here on.
dp_assert_server()
{
	local dir

	dir=$DP_BUILD/assert-$(dp_pg_major)
	build_assert_server "$dir" || return 1
	# pgTAP is no part of PostgreSQL; it has no library
	cp -R "$("$(dp_pg_config)" --sharedir)"/extension/pgtap* "$("$dir/bin/pg_config" --sharedir)/extension/" 2>/dev/null
	# of the tests' scripts, older minor versions of psql take data that follow a refused COPY for SQL
	cp -f "$("$(dp_pg_config)" --bindir)/psql" "$dir/bin/psql"
	chmod -R a+rX "$dir"
	dp_use_tree "$dir" /bin/pg_config
}

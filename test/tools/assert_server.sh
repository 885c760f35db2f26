#-------------------------------------------------------------------------
#
# assert_server.sh
#	  A PostgreSQL with assertions, in build/assert-NN (to be sourced by bash
#	  after common.sh).
#
# Debian's packages come without assertions, so the server is built from the
# source that check_core.sh fetches.  Its minor version may be another than
# that of the installed server.  Or it is built of a source tree that
# PG_SOURCE names, in build/source-NN: versions of which there is no package.
#
#-------------------------------------------------------------------------

# How it is configured: as Debian's where that can be seen from SQL or in the
# tests, and no more.  A build with other flags is made anew.
assert_flags()
{
	echo --enable-cassert --enable-debug --enable-tap-tests --with-icu --with-libxml --without-readline --without-zlib
}

# Tells whether the server in $1 was built, as it would be now; $2: a word for its sources
assert_server_is_built()
{
	[[ $(cat "$1/.flags" 2>/dev/null) == "$(assert_flags) $2" ]]
}

# Builds the server in $1 of the sources in $1.src, which it removes; $2: a word for them, $3: log
build_assert_server()
{
	local dir=$1 flags

	flags=$(assert_flags)
	echo "building PostgreSQL $2 with assertions in ${dir#"$DP_TOP"/} (some minutes)"
	rm -rf "$dir"
	(
		cd "$dir.src" && ./configure -q --prefix="$dir" $flags CFLAGS='-O1 -g' &&
			make -s -j"$(nproc)" && make -s install &&
			make -s -C contrib -j"$(nproc)" && make -s -C contrib install
	) >"$3" 2>&1 9>&- || { tail -n 20 "$3" >&2; return 1; }
	rm -rf "$dir.src"
	echo "$flags $2" >"$dir/.flags"
}

# Builds the server in $1 from the source package of its version.
build_packaged_server()
{
	local dir=$1 core=$DP_BUILD/core major server source src
	local -a apt

	major=$(dp_pg_major)
	server=$("$DP_BIN/postgres" --version)
	assert_server_is_built "$dir" package && return
	mkdir -p "$core"
	eval "$(sed -n '/^\(give_up\|private_apt\|find_source\)()/,/^}/p' "$DP_TOP/test/tools/check_core.sh")"
	src=$core/apt/postgresql-${major}_
	# the unpacked part alone is not enough
	compgen -G "$src*.orig.tar.*" >/dev/null || rm -f "$core/source-$major/.complete"
	find_source
	src=$(ls "$src"*.orig.tar.* | grep -v '\.asc$' | head -n 1)
	rm -rf "$dir.src"
	mkdir -p "$dir.src" && tar -C "$dir.src" --strip-components=1 --no-same-owner -xf "$src" &&
		build_assert_server "$dir" package "$core/assert-build.log"
}

# pgTAP is no part of PostgreSQL, and has no library: $1 gets that of a server in sharedir $2...
add_pgtap()
{
	local dir=$1 share

	shift
	for share in "$@"
	do
		[[ -f $share/extension/pgtap.control ]] || continue
		cp -R "$share"/extension/pgtap* "$("$dir/bin/pg_config" --sharedir)/extension/"
		return
	done
}

# Builds it, once, and makes it the server that is used from here on.
dp_assert_server()
{
	local dir

	# the sources that PG_SOURCE names were built with assertions
	[[ -z ${PG_SOURCE-}${DP_BUILT-} ]] || return 0
	dir=$DP_BUILD/assert-$(dp_pg_major)
	build_packaged_server "$dir" || return 1
	add_pgtap "$dir" "$("$(dp_pg_config)" --sharedir)"
	# of the tests' scripts, older minor versions of psql take data that follow a refused COPY for SQL
	cp -f "$("$(dp_pg_config)" --bindir)/psql" "$dir/bin/psql"
	chmod -R a+rX "$dir"
	dp_use_tree "$dir" /bin/pg_config
}

# Builds, once, the server of the sources that PG_SOURCE names, and makes it the one that is used.
dp_source_server()
{
	local dir version

	version=$(sed -n "s/^PACKAGE_VERSION='\(.*\)'/\1/p" "$PG_SOURCE/configure" 2>/dev/null)
	if [[ -z $version || ! -f $PG_SOURCE/src/test/regress/parallel_schedule ]]
	then
		echo "PG_SOURCE: \"$PG_SOURCE\" is no source tree of PostgreSQL" >&2
		return 1
	fi
	dir=$DP_BUILD/source-$(dp_pg_major)
	mkdir -p "$DP_BUILD"
	exec 9>"$DP_BUILD/.lock"
	flock 9
	if ! assert_server_is_built "$dir" "$version"
	then
		# in a copy, so that the sources stay as they are
		rm -rf "$dir.src"
		mkdir -p "$dir.src" && tar -C "$PG_SOURCE" --exclude=./.git --no-same-owner -cf - . |
			tar -C "$dir.src" --no-same-owner -xf - || return 1
		[[ ! -f $dir.src/src/Makefile.global ]] || make -s -C "$dir.src" distclean >/dev/null 2>&1
		build_assert_server "$dir" "$version" "$DP_BUILD/source-build.log" || return 1
	fi
	flock -u 9
	add_pgtap "$dir" /usr/share/postgresql/*
	chmod -R a+rX "$dir"
	dp_use_tree "$dir" /bin/pg_config
}

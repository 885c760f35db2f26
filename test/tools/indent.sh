#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# indent.sh [--check] [file...]
#	  PostgreSQL's C style by pg_bsd_indent.
#
# pg_bsd_indent has to be told which names are types: they are collected from
# the server's headers, the C library's and our own.  Comments that begin
# with a dash are boxes and stay as they are.
#
#-------------------------------------------------------------------------
set -u

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$DP_TOP" || exit 1
command -v pg_bsd_indent >/dev/null ||
	{ echo "indent.sh: install pg_bsd_indent first (Debian: pg-bsd-indent)" >&2; exit 1; }

check=no
[[ ${1-} != --check ]] || { check=yes; shift; }
[[ $# -gt 0 ]] || set -- $(find src -name '*.[ch]' | sort)

mkdir -p "$DP_BUILD"
types=$DP_BUILD/typedefs.list
pg_config=$(dp_pg_config)
{
	printf '%s\n' bool int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t \
		size_t ssize_t ptrdiff_t intptr_t uintptr_t FILE pid_t time_t off_t va_list sig_atomic_t \
		__int128 int128 uint128
	find ${pg_config:+"$("$pg_config" --includedir-server)"} src test -name '*.[ch]' -print0 |
		xargs -0 perl -0777 -ne '
			s{/\*.*?\*/}{}gs;
			s/^\s*#.*?[^\\]$//gm;
			s/__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)//g;
			print "$1\n" while /\btypedef\s+(?:struct|union|enum)\s*\w*\s*\{(?:[^{}]|\{[^{}]*\})*\}\s*(\w+)\s*;/g;
			print "$1\n" while /\btypedef\s+[^;{}()]*?(\w+)\s*(?:\[[^\]]*\]\s*)?;/g;
			print "$1\n" while /\btypedef\s+[^;{}()]*\(\s*\*\s*(\w+)\s*\)/g;'
} | sort -u >"$types"

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
rc=0
for f in "$@"
do
	# one that a commit has taken away
	[[ -f $f ]] || continue
	# hide boxes and hexadecimal doubles from the indenter
	perl -pe 's{^(\s*)/\*-+$}{$1/*---X_X}; s{^(\s*)/\* -+$}{$1/*---X_Y};
		s/\b0x([0-9A-Fa-f]+)p([-+]?)(\d+)/"X0x$1" . ($2 eq "-" ? "m" : $2 eq "+" ? "a" : "n") . $3/ge' \
		"$f" >"$work/in.c"
	if ! pg_bsd_indent -bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 -nfc1 -i4 -l79 \
		-lp -lpl -nip -npro -sac -tpg -ts4 -U"$types" <"$work/in.c" >"$work/out.c" 2>"$work/err" ||
		[[ -s $work/err ]]
	then
		echo "$f: left alone, pg_bsd_indent cannot read it (a literal of a struct?) $(head -n 3 "$work/err")" >&2
		rc=1
		continue
	fi
	perl -ne '
		BEGIN { @boxes = (); open(my $f, "<", shift @ARGV); while (<$f>) { push @boxes, $1 if m{^\s*(/\*(?: -+|-+))$} } }
		if (m{/\*---X_[XY]}) { my $b = shift @boxes; s{/\*---X_[XY]}{$b} }
		s/\bX0x([0-9A-Fa-f]+?)([man])(\d+)\b/"0x$1p" . { m => "-", a => "+", n => "" }->{$2} . $3/ge;
		# results that are pointers, and designators
		s/^([A-Za-z_]\S*)[ \t]+\*$/$1 */;
		s/,\.(?=[a-z_])/, ./g;
		print' "$f" "$work/out.c" >"$work/final.c"
	if ! cmp -s "$f" "$work/final.c"
	then
		if [[ $check == yes ]]
		then
			diff -u --label "$f" --label "$f (indented)" "$f" "$work/final.c"
			rc=1
		else
			cat "$work/final.c" >"$f"
			echo "$f"
		fi
	fi
done
exit $rc

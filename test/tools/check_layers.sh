#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_layers.sh
#	  Who may include whom in src/, and how long a file may be.
#
#	  guard -> policy, release		release -> ledger, noise, agg, policy
#	  api -> policy, ledger, math	ledger, noise, agg -> math
#	  math -> the C library alone
#
# compat.h, errors.h, guc.h, sizes.h and units.h belong to everybody but math.  What a layer
# may see through another it may include too (guard may name a type of math),
# but never upwards.  dp_cdp.c calls every layer's init function and may
# include any header.  A file of src/ or a table of the schema is not checked
# for what PostgreSQL headers it reads, except that math reads none.
#
#-------------------------------------------------------------------------
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

find src -name '*.c' -o -name '*.h' | sort | xargs awk -v max_lines="${MAX_LINES:-900}" '
# layer of a file below src/
function layer(path,	name)
{
	sub(/^src\//, "", path)
	if (path ~ /\//)
	{
		sub(/\/.*/, "", path)
		return path
	}
	name = path
	sub(/\.[ch]$/, "", name)
	if (name == "compat" || name == "errors" || name == "guc" || name == "sizes" || name == "units")
		return "common"
	return name
}

BEGIN {
	sees["math"] = "math"
	sees["noise"] = "noise math common"
	sees["ledger"] = "ledger math common"
	sees["agg"] = "agg math common"
	sees["policy"] = "policy math common"
	sees["common"] = "common math"
	sees["release"] = "release ledger noise agg policy math common"
	sees["guard"] = "guard policy release math common"
	sees["api"] = "api policy ledger math common"
}

FNR == 1 {
	if (file != "" && lines > max_lines)
		complain(file ": " lines " lines; split it (at most " max_lines ")")
	file = FILENAME
	own = layer(file)
	if (own != "dp_cdp" && !(own in sees))
		complain(file ": belongs to no layer")
}

{ lines = FNR }

function complain(what)
{
	print what
	bad = 1
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	name = $0
	sub(/^[^"]*"/, "", name)
	sub(/".*/, "", name)
	dir = file
	sub(/\/[^\/]*$/, "", dir)
	# as the compiler looks: beside the file, then below src/
	if ((getline line <(dir "/" name)) >= 0)
		found = dir "/" name
	else if ((getline line <("src/" name)) >= 0)
		found = "src/" name
	else
		found = ""
	close(dir "/" name)
	close("src/" name)
	if (found == "")
	{
		if (own == "math")
			complain(file ":" FNR ": math must do without \"" name "\"")
		next
	}
	while (sub(/[^\/]+\/\.\.\//, "", found))
		;
	other = layer(found)
	if (own != "dp_cdp" && index(" " sees[own] " ", " " other " ") == 0)
		complain(file ":" FNR ": " own " must not include \"" name "\" of " other)
	next
}

/^[ \t]*#[ \t]*include[ \t]*</ && own == "math" {
	if ($0 !~ /<(alloca|assert|ctype|errno|float|inttypes|limits|math|stdbool|stddef|stdint|stdio|stdlib|string)\.h>/)
		complain(file ":" FNR ": math may include the C library alone")
}

END {
	if (file != "" && lines > max_lines)
		complain(file ": " lines " lines; split it (at most " max_lines ")")
	exit bad
}
'

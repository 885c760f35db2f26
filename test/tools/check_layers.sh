#!/usr/bin/env bash
#-------------------------------------------------------------------------
#
# check_layers.sh
#	  Who may include whom in src/, and how long a file may be.
#
#	  guard -> safe, policy, release	release -> ledger, agg, policy
#	  admin -> policy, ledger, calc	ledger, agg, policy -> base
#	  calc, base -> math			math -> the C library alone
#	  safe -> base
#
# calc/ is the C library's and math's too, but for sql_*.c, which hand its
# functions to SQL.  What a layer may see through another it may include too
# (guard may name a type of math), but never upwards.  dp_cdp.c calls every
# layer's init function and may include any header.  A file of src/ or a table
# of the schema is not checked for what PostgreSQL headers it reads, except
# that math and calc read none.
#
#-------------------------------------------------------------------------
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

find src -name '*.c' -o -name '*.h' | sort | xargs awk -v max_lines="${MAX_LINES:-900}" '
# layer of a file below src/
function layer(path)
{
	sub(/^src\//, "", path)
	if (path ~ /^calc\/sql/)
		return "sql"
	if (path ~ /\//)
		sub(/\/.*/, "", path)
	else
		sub(/\.[ch]$/, "", path)
	return path
}

BEGIN {
	sees["math"] = "math"
	sees["calc"] = "calc math"
	sees["sql"] = "sql calc math base"
	sees["base"] = "base math"
	sees["safe"] = "safe base"
	sees["ledger"] = "ledger base math"
	sees["agg"] = "agg base math"
	sees["policy"] = "policy base math"
	sees["release"] = "release ledger agg policy base math"
	sees["guard"] = "guard safe policy release base math"
	sees["admin"] = "admin policy ledger calc base math"
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

# the layers that need no server
function bare(name)
{
	return name == "math" || name == "calc"
}

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
		if (bare(own))
			complain(file ":" FNR ": " own " must do without \"" name "\"")
		next
	}
	while (sub(/[^\/]+\/\.\.\//, "", found))
		;
	other = layer(found)
	if (own != "dp_cdp" && index(" " sees[own] " ", " " other " ") == 0)
		complain(file ":" FNR ": " own " must not include \"" name "\" of " other)
	next
}

/^[ \t]*#[ \t]*include[ \t]*</ && bare(own) {
	if ($0 !~ /<(alloca|assert|ctype|errno|float|inttypes|limits|math|stdbool|stddef|stdint|stdio|stdlib|string)\.h>/)
		complain(file ":" FNR ": " own " may include the C library alone")
}

END {
	if (file != "" && lines > max_lines)
		complain(file ": " lines " lines; split it (at most " max_lines ")")
	exit bad
}
'

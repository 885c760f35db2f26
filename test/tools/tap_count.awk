#-------------------------------------------------------------------------
#
# tap_count.awk
#	  Counts what a TAP program reported: prints "passed failed skipped".
#
# -v rc=N is its exit code.  A plan that was not kept, a bail-out, a nonzero
# exit that no failed test explains, and a program that tested nothing each
# count as one failure.
#
#-------------------------------------------------------------------------
/^[ \t]*[0-9]+ passed, [0-9]+ failed/	{ summed = 1; sp += $1; sf += $3; if ($6 == "skipped") ss += $5 }
/^ok([ \t]|$)/				{ if (toupper($0) ~ /# *SKIP/) skipped++; else passed++; seen++ }
/^not ok([ \t]|$)/			{ if (toupper($0) ~ /# *TODO/) skipped++; else failed++; seen++ }
/^1\.\.[0-9]+/				{ plan = substr($1, 4) + 0; planned = 1
							  if (plan == 0) { skipped++; none = 1 } }
/^Bail out!/				{ failed++; bailed = 1 }
END {
	if (!seen && summed)
	{
		passed = sp; failed = sf; skipped = ss; seen = sp + sf + ss
	}
	if (planned && !none && plan != seen && !bailed && !summed)
		failed++
	else if (rc != 0 && !failed)
		failed++
	else if (!seen && !none && !failed)
		failed++
	print passed + 0, failed + 0, skipped + 0
}

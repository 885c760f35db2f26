#!/usr/bin/env python3
"""What the guard makes of every statement of the suites pgtap and attacks.

`make golden` runs both with a library that logs it (test/golden/golden.c), and writes a file for each of theirs below test/golden/.
A statement has a line, and one for each of its releases: the keys, whether they are known, and how many there are; blocks of time;
of each aggregate its sensitivity, bounds and limits; and the statement of the file that was the first to ask the same
question, if another was.  A statement that is refused has the refusal, and after it come the statements that this writes out,
with what becomes of them: `golden.py dead` prints those that are refused in turn, and fails if there are any.  `golden.py remedies`
does so with logs of random queries (REMEDIES=1 make fuzz-sql).  `git diff test/golden` then shows what a change of the guard makes
better or worse: prices, noise, budgets and what follows from noise are left out.  Some tests fail meanwhile, as they count what
planning does.
"""
import collections
import json
import os
import re
import sys
import zlib

ENTRY = re.compile(r"LOG:  golden (released|refused|remedy): (.*?)\001(.*)\n")
# with the process, in the log of several sessions
OF_PROCESS = re.compile(r"\[(\d+)\] .*?LOG:  golden (refused|remedy): (.*?)\001(.*)\n")
# a role without a budget is told of that next, and a policy that is damaged is not the analyst's to mend
LIVE = r"answered$|ZC001 .*has no privacy budget|ZC004 .* is damaged"
# what is random in a test's own text
RANDOM = re.compile(r"\b(pg_temp_\d+|pg_toast_\d+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\S*)")
# characters of a statement
MOST = 300
SHOWN = ("Sensitivity", "Row Lower", "Row Upper", "Total Lower", "Total Upper", "Max Groups", "Max Rows", "Limits", "Selects Keys")


def releases(node):
    """The releases of a plan."""
    if node.get("Custom Plan Provider") == "DpRelease":
        yield node
    for below in node.get("Plans", []):
        yield from releases(below)


def aggregate(column, is_found):
    """What is known of an aggregate; without what follows from a limit that noise has chosen."""
    shown = {k: column[k] for k in SHOWN if k in column and not (is_found and k == "Sensitivity")}
    if not shown.get("Selects Keys"):
        shown.pop("Selects Keys", None)
    return f"{column['Aggregate']}: " + ", ".join(f"{k.lower()} {v:.6g}" if isinstance(v, float) else f"{k.lower()} {v}" for k, v in shown.items())


def lines_of(node, statement, asked):
    """The lines of a release; asked: by which statement each question was asked first."""
    known = node.get("Groups Known")
    groups = node.get("Groups") or []
    line = "  by " + ", ".join(groups) if groups else "  in all"
    if groups:
        line += f": {node['Plan Rows']} known" if known else ": selected"
    if "Block From" in node:
        line += f"; blocks {node['Block From']} to {node.get('Block To')}"
    yield line
    for first in sorted({asked.setdefault(question, statement) for question in node.get("Fingerprints", [])} - {statement}):
        yield "  asked by " + first
    is_found = any(column["Aggregate"].startswith(("limit of", "limits of")) for column in node.get("Releases", []))
    for column in node.get("Releases", []):
        yield "    " + aggregate(column, is_found)


def golden(log):
    """The lines of a server's log, each statement once for each thing that became of it."""
    asked = {}
    seen = collections.OrderedDict()
    for what, text, result in ENTRY.findall(log):
        statement = RANDOM.sub("?", " ".join(text.split()))
        if len(statement) > MOST:
            statement = f"{statement[:MOST]} ... {zlib.crc32(statement.encode()):08x}"
        if what == "remedy":
            found = ["  remedy: " + RANDOM.sub("?", result)]
        elif what == "refused":
            found = ["  refused: " + RANDOM.sub("?", result)]
        else:
            found = [line for node in releases(json.loads(result)[0]["Plan"]) for line in lines_of(node, statement, asked)]
        seen["\n".join([statement] + found) + "\n"] = True
    return "".join(seen)


def main(logs, out):
    """Writes a file for each log, and removes those of files that are gone."""
    written = set()
    for suite in ("pgtap", "attacks"):
        for name in sorted(os.listdir(os.path.join(logs, suite))):
            if not name.endswith(".server.log"):
                continue
            with open(os.path.join(logs, suite, name), encoding="utf-8", errors="replace") as f:
                text = golden(f.read())
            path = os.path.join(out, suite, name.replace(".sql.server.log", ".txt"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if text:
                written.add(path)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
    for folder, _, names in os.walk(out):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".txt") and path not in written and not os.environ.get("ONLY"):
                os.remove(path)
    print(f"{len(written)} files in {out}: git diff shows what has changed")


def dead(out):
    """Prints which statements refusals write out that are refused; returns how many."""
    ends = re.compile(rf"^(.*)\n  remedy: (?!{LIVE})(.*)$", re.M)
    n = 0
    for folder, _, names in os.walk(out):
        for name in sorted(names):
            if name.endswith(".txt"):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    for statement, result in ends.findall(f.read()):
                        print(f"{os.path.relpath(os.path.join(folder, name), out)}: {statement}\n  {result}")
                        n += 1
    return n


def remedies(logs):
    """Prints of one of each kind of refused remedies: what was asked, the refusal, the remedy and its refusal; returns how many kinds."""
    typed = collections.Counter()
    kinds = {}
    for name in logs:
        refused = {}
        with open(name, encoding="utf-8", errors="replace") as f:
            for process, what, statement, result in OF_PROCESS.findall(f.read()):
                if what == "refused":
                    refused[process] = (statement, result)
                else:
                    typed[re.match(LIVE, result) is not None] += 1
                    if not re.match(LIVE, result):
                        # names and numbers are random
                        kinds.setdefault(tuple(re.sub(r'"[^"]*"|\'[^\']*\'|[\w.]*\d[\w.]*', "?", text) for text in (refused[process][1], result)),
                                         (*refused[process], statement, result))
    for asked, why, remedy, result in kinds.values():
        print(f"{asked}\n  refused: {why}\n  remedy: {remedy}\n  refused: {result}")
    print(f"remedies: {typed[True]} answered, {typed[False]} refused, of {len(kinds)} kinds")
    return len(kinds) + (not typed)


if __name__ == "__main__":
    if sys.argv[1] == "dead":
        sys.exit(dead(sys.argv[2]) > 0)
    if sys.argv[1] == "remedies":
        sys.exit(remedies(sys.argv[2:]) > 0)
    main(sys.argv[1], sys.argv[2])

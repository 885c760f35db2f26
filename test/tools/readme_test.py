#!/usr/bin/env python3
"""Runs the SQL examples of a part of the documentation, of which PARTS names the pages.

README.md is pasted into one psql of a superuser, in a database of its own: what a reader sees, and nothing else.
So is each page of docs/howto and docs/explain, after the blocks of docs/howto/README.md, which make its tables,
and docs/analyst.md and each page of docs/analyst after those of docs/analyst/README.md.
A ```text block holds what the ```sql block before it prints, but for the names of commands, such as CREATE TABLE.  A ```sql block
that none follows prints nothing else.  Columns are noisy that a comment before it names:

    <!-- noisy: visits, mean -->

The other examples of docs/ run in the part "order", in one database.  Their order is ORDER below: docs/start.md makes the extension, the
roles and the tables; docs/tools.md protects the rest and gives budgets; then
comes what is looked up.  Each begins by saying what it goes on from.  A document of docs/ itself that has SQL and is not in the list fails.

There, too, a superuser begins, and a block itself says where another role goes on (SET SESSION AUTHORIZATION).
Before a block may stand an HTML comment:

    <!-- expect: ZC001 -->           it must stop with this error

Each block is a psql session of its own, of the role of the blocks before, and with as many digits as the page has set.  PGHOST, PGPORT and PGDATABASE say
where; PGUSER must be a superuser.  At the end of the part "order" every function, view and
setting that the documentation names must exist in the database.  Prints TAP.

usage: readme_test.py PART [PAGE...]
       readme_test.py commands PAGE [HOST=DIRECTORY:PORT...]
       readme_test.py python PAGE

With pages, these alone are run, and those before them in ORDER.  "commands" runs what a page shows as ```sh, where HOST is
the server at that socket, and "python" what it shows as ```python.
"""
import glob
import itertools
import os
import re
import subprocess
import sys


ORDER = ["docs/start.md", "docs/tools.md", "docs/calculators.md", "docs/reference/views.md", "docs/reference/README.md", "docs/performance.md"]

# the pages of each part; but for those of "order", each page has a database of its own
PARTS = {"first": ["README.md"],
         "analyst": ["docs/analyst.md"] + sorted(glob.glob("docs/analyst/*.md")),
         "explain": sorted(glob.glob("docs/explain/*.md")),
         "howto_a_to_f": sorted(glob.glob("docs/howto/[!g-z]*.md")),
         "howto_g_to_q": sorted(glob.glob("docs/howto/[g-q]*.md")),
         "howto_r_to_z": sorted(glob.glob("docs/howto/[r-z]*.md")),
         "order": ORDER}


def tables_of(page):
    """The page that makes a page's tables, or None."""
    if page == "README.md" or page.endswith("/README.md"):
        return None
    return "docs/analyst/README.md" if page.startswith("docs/analyst") else "docs/howto/README.md"


NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"


SUPERUSER = os.environ.get("PGUSER", "postgres")


# what a server has by default, and the servers of tests have not: check_setup() warns of it
DEFAULTS = "ALTER SYSTEM SET fsync = on; ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();"


def psql(sql, *options):
    env = dict(os.environ, PGUSER=SUPERUSER, PGAPPNAME="readme")
    run = subprocess.run(
        ["psql", "-X", "-q", *options],
        input=sql, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        check=False)
    return run.returncode, run.stdout


# what psql says of a statement without rows
TAG = r"(SET|RESET|(GRANT|REVOKE)( ROLE)?|BEGIN|COMMIT|ROLLBACK|(CREATE|ALTER|DROP) [A-Z ]+|SELECT \d+|INSERT 0 \d+|DELETE \d+)"


def shown(text, language="sql"):
    """(line number, directive, text, output or None, noisy columns) of each block of a language that a reader sees."""
    fences = list(re.finditer(r"(?:^<!-- (noisy|expect): (.*?) -->\n)?^```(\w+)\n(.*?)^```$", text, flags=re.S | re.M))
    for fence, after in itertools.zip_longest(fences, fences[1:]):
        if fence.group(3) == language:
            follows = after and after.group(3) == "text"
            yield (text.count("\n", 0, fence.start()) + 1, (fence.group(1), fence.group(2)), fence.group(4),
                   after.group(4) if follows else None, re.split(r",\s*", after.group(2) or "") if follows else [])


def cells(output, noisy):
    """The lines of an output as lists of cells, without what differs by width; noisy cells are numbers."""
    result, heading = [], []
    for line in output.split("\n"):
        row = [cell.strip() for cell in re.sub(r"^psql:\S+ ", "", line).split("|")]
        if re.fullmatch(r"-+(\+-+)*", line.strip()):
            heading = result[-1]
        elif line.strip() and not re.fullmatch(TAG, line.strip()) and line.strip() != "^":
            result.append([float(cell) if heading[i:i + 1] and heading[i] in noisy and re.fullmatch(NUMBER, cell) else cell
                           for i, cell in enumerate(row)])
    return result


def alike(one, other):
    """Whether two cells are the same; noise, of a standard deviation of 125 at most, is never as much as this allows (7 of these)."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1000 + 0.1 * abs(other)
    return one == other


def compared(name, expected, output, noisy, result):
    """Compares what a page prints with what is printed here."""
    there, here = cells(expected, noisy), cells(output, noisy)
    differ = [pair for pair in itertools.zip_longest(there, here, fillvalue=[])
              if len(pair[0]) != len(pair[1]) or not all(map(alike, *pair))]
    result(not differ, f"{name}: prints what stands there", f"there and here: {differ[:5]}")


def pasted(page, text, tables, result):
    """Pastes what is shown into one session of a database of its own, with what a server has by default."""
    examples = list(shown(text))
    psql(DEFAULTS + "CREATE DATABASE pasted")
    # the audit has notes of refusals a moment later, where the machine is busy
    script = "".join("\\! sleep 2\n" * ("dp_cdp.audit" in sql) + f"\\echo @@\n{sql}" for _, _, sql, _, _ in examples)
    run = subprocess.run(["psql", "-X", "-d", "pasted"], input=tables + script, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    # the next page makes roles of the same names; the ledger's worker leaves at once, else in a second
    psql("ALTER SYSTEM RESET ALL; ALTER SYSTEM SET dp_cdp.worker_idle_timeout = '10ms'; SELECT pg_reload_conf(); DROP DATABASE pasted;\n"
         "ALTER SYSTEM RESET ALL; SELECT pg_reload_conf();\n"
         "SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE oid >= 16384 \\gexec")
    outputs = run.stdout.split("@@\n")[1:]
    result(len(outputs) == len(examples), f"{page} is pasted", run.stdout)
    for (line, _, _, expected, noisy), output in zip(examples, outputs):
        name = f"{page}, line {line}"
        if expected is None:
            result(not cells(output, []), f"{name}: prints names of commands alone, as it shows no output", output)
        else:
            compared(name, expected, output, noisy, result)


def run(page, line, before, directive, sql, expected, noisy, result):
    """Runs a block in a session of its own, after what the blocks before have set."""
    name = f"{page}, line {line}"
    kind, value = directive
    sql = f"{before}\n{sql}"
    if expected is not None:
        compared(name, expected, psql(sql)[1], noisy, result)
    else:
        rc, output = psql(sql, "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose")
        codes = re.findall(r"(?:ERROR|FATAL|PANIC):\s+([0-9A-Z]{5}):", output)
        if kind == "expect":
            result(codes == [value], f"{name} fails with {value}", output)
        else:
            result(rc == 0 and not cells(output, []), f"{name}: prints names of commands alone, as it shows no output", output)


def frame(text):
    """A frame of pandas, as psql would show it."""
    lines = [" | ".join(line.split()) for line in text.split("\n")]
    return "\n".join(lines[:1] + ["-+-"] + lines[1:])


def run_program(page, language, servers, result):
    """Runs the blocks of a shell or of Python, each by itself, and compares what they print."""
    examples = list(shown(open(page, encoding="utf-8").read(), language))
    for line, _, text, expected, noisy in examples:
        name = f"{page}, line {line}"
        for host, place in servers:
            directory, port = place.rsplit(":", 1)
            text = re.sub(rf"-h {host}\b", f"-h {directory} -p {port}", text)
            text = re.sub(rf"\bhost={host}\b", f"host={directory} port={port}", text)
        run = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text] if language == "sh" else [sys.executable, "-c", text],
                             stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        result(run.returncode == 0 and "ERROR" not in run.stdout, f"{name} runs", run.stdout)
        result(expected is not None, f"{name}: the page says what it prints", run.stdout)
        there, here = (expected or "", run.stdout) if language == "sh" else (frame(expected or ""), frame(run.stdout))
        compared(name, there, here, noisy, result)
    result(examples, f"{page} has such blocks")


def named(text):
    """What the text says exists: (kind, name)."""
    prose = re.sub(r"<!-- planned -->.*?<!-- /planned -->", "", text, flags=re.S)
    for name, call in re.findall(r"\bdp_cdp\.([a-z][a-z_0-9]*)(\()?", prose):
        if name not in ("so", "control", "c"):
            yield ("function" if call else "any", "dp_cdp." + name)
    for name in re.findall(r"(?<![\w.])(dp_[a-z0-9_]+)\(", prose):
        yield ("aggregate", name)
    for reference in re.findall(r"^## All calculators.*?(?=^## |\Z)", prose, flags=re.S | re.M):
        for name in re.findall(r"`([a-z_]+)\(", reference):
            yield ("function", "dp_cdp." + name)


EXISTS = {
    "function": "SELECT FROM pg_proc WHERE pronamespace = 'dp_cdp'::regnamespace AND 'dp_cdp.' || proname = '{0}'",
    "aggregate": "SELECT FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname = '{0}'",
    "any": "SELECT FROM pg_proc WHERE pronamespace = 'dp_cdp'::regnamespace AND 'dp_cdp.' || proname = '{0}' "
           "UNION ALL SELECT FROM pg_class WHERE relnamespace = 'dp_cdp'::regnamespace AND 'dp_cdp.' || relname = '{0}' "
           "UNION ALL SELECT FROM pg_settings WHERE name = '{0}'",
}


def main():
    part, wanted = sys.argv[1], sys.argv[2:]
    pages = PARTS.get(part, [])
    texts = {}
    for name in sorted(set(sum(PARTS.values(), []) + glob.glob("docs/*.md"))):
        with open(name, encoding="utf-8") as f:
            texts[name] = f.read()
    n = 0

    def result(ok, name, output=""):
        nonlocal n
        n += 1
        print(f"{'ok' if ok else 'not ok'} {n} - {name}")
        if not ok:
            print("".join("# " + line + "\n" for line in output.rstrip().split("\n")), end="")
        sys.stdout.flush()

    if part in ("commands", "python"):
        run_program(wanted[0], {"commands": "sh"}.get(part, part), [arg.split("=", 1) for arg in wanted[1:]], result)
    elif part != "order":
        for page in pages:
            if "```sql" in texts[page] and (not wanted or page in wanted):
                tables = "".join(sql for _, _, sql, _, _ in shown(texts[tables_of(page)])) if tables_of(page) else ""
                pasted(page, texts[page], tables, result)
    else:
        psql(DEFAULTS)
        for page in pages[:1 + max(map(pages.index, wanted))] if wanted else pages:
            who = digits = ""
            for line, directive, sql, expected, noisy in shown(texts[page]):
                run(page, line, digits + who, directive, sql, expected, noisy, result)
                who = "".join(re.findall(r"^(?:RE)?SET SESSION AUTHORIZATION.*;$", sql, flags=re.M)[-1:]) or who
                digits = "".join(re.findall(r"^SET extra_float_digits = -?\d+;", sql, flags=re.M)[-1:]) or digits
        if not wanted:
            for name in sorted(set(texts) - set(sum(PARTS.values(), []))):
                result("```sql" not in texts[name], f"{name} has SQL, and a part of the documentation")
            for kind, name in sorted(set(named("\n".join(texts.values())))):
                rc, output = psql(f"SELECT EXISTS ({EXISTS[kind].format(name)})", "-A", "-t")
                result(rc == 0 and output.strip() == "t", f"{name} exists ({kind})", output)
    print(f"1..{n}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

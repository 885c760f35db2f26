#!/usr/bin/env python3
"""Calls every C function of dp_cdp that PUBLIC may execute, with extreme arguments.  TAP.

A role without any privilege asks.  Functions are found in the catalogue, so new
ones are covered.  Each call runs under a statement_timeout and must end, with
an answer, an error or the timeout, before it has taken LIMIT seconds of a processor, or has waited
IDLE seconds without taking any: one that does not ignores interrupts, however busy the machine is.
None may end the server or raise an internal error.

SEED (1) chooses the arguments, CALLS (30 in `make test`, 60 in `make test-all`) how many for each function: more of
them with "SEED=7 CALLS=5000 make test ONLY=stat/public_functions".
"""
import itertools
import os
import queue
import random
import re
import subprocess
import sys
import threading
import time

from dpstat import size

SEED = int(os.environ.get("SEED", "1"))
CALLS = int(os.environ.get("CALLS", size(30, 60)))
TIMEOUT = size(500, 2000)                       # milliseconds that a call may take
LIMIT = 10                                      # of a processor
IDLE = 180

DOUBLES = ["0", "-0", "1", "-1", "0.5", "1e-6", "1e10", "-1e10", "1e-300", "4.9e-324", "1.7e308", "-1.7e308",
           "NaN", "Infinity", "-Infinity", "20", "1e5", "0.999999999999"]
TIMES = ["2020-01-01", "infinity", "-infinity", "4713-01-01 BC", "294276-12-31 23:59:59.999999", "2024-02-29 12:00"]
TEXTS = ["''", "'a'", "'tight'", "'simple'", "repeat('%', 60000)", "repeat('x', 1000000)", "'1e309'", "'SELECT 1'",
         "repeat('(', 20000)", "E'\\\\\\\\'", "'dp_cdp'", "'2020-01-01'", "chr(1114111)"]
SCALARS = {
    "boolean": ["true", "false"],
    "smallint": ["0", "1", "-1", "32767", "-32768"],
    "integer": ["0", "1", "-1", "2", "20", "2147483647", "-2147483648", "1000000"],
    "bigint": ["0", "1", "-1", "10000000000", "9223372036854775807", "-9223372036854775808"],
    "real": ["0", "1", "-1", "'NaN'", "'Infinity'", "'-Infinity'", "3.4e38", "1e-45"],
    "double precision": ["'%s'" % x for x in DOUBLES],
    "numeric": ["0", "1", "-1", "0.5", "'NaN'", "'Infinity'", "'-Infinity'", "'1e131071'", "'-1e131071'", "'1e-16383'",
                "99999999999999999999"],
    "text": TEXTS, "character varying": TEXTS, "character": TEXTS, "cstring": ["'0'", "''", "'x'"],
    "name": ["'x'", "''", "repeat('n', 100)"], "\"char\"": ["'x'"], "bytea": ["''", "'\\x00ff'", "repeat('x', 1000000)::bytea"],
    "date": ["'%s'" % x for x in TIMES[:3]] + ["'5874897-12-31'", "'4713-01-01 BC'"],
    "timestamp without time zone": ["'%s'" % x for x in TIMES], "timestamp with time zone": ["'%s'" % x for x in TIMES[:3]] + ["'294276-12-31 23:59:59+00'", "'4713-01-01 BC'"],
    "time without time zone": ["'00:00'", "'24:00'"], "time with time zone": ["'00:00+15:59'", "'24:00-15:59'"],
    "interval": ["'1 day'", "'1 microsecond'", "'0'", "'-1 day'", "'178000000 years'", "'1 month -40 days'", "'2147483647 days'",
                 "'1 month 1 microsecond'", "'9223372036854 seconds'"],
    "oid": ["0", "1", "1259", "4294967295"], "regclass": ["'pg_class'", "0", "4294967295"], "regrole": ["'postgres'", "0", "4294967295"],
    "regtype": ["'int4'", "0"], "regprocedure": ["'pg_sleep(double precision)'", "0"], "regproc": ["'now'", "0"],
    "mood": ["'glad'"], "uuid": ["'00000000-0000-0000-0000-000000000000'"], "inet": ["'0.0.0.0/0'", "'::/0'"],
    "json": ["'1'", "repeat('[', 6000)||repeat(']', 6000)"], "jsonb": ["'1'", "(repeat('[', 6000)||repeat(']', 6000))"],
}
ANY = {"anyelement": "integer", "anyarray": "integer[]", "anycompatible": "integer", "anycompatiblearray": "integer[]",
       "anynonarray": "integer", "\"any\"": "integer", "anyenum": "mood"}

FUNCTIONS = """
SELECT p.oid::regprocedure, p.proretset, p.proisstrict, p.provariadic <> 0,
    pg_catalog.array_to_string(ARRAY(SELECT pg_catalog.format_type(t, NULL)
        FROM unnest(p.proargtypes) WITH ORDINALITY a(t, n) ORDER BY n), '|')
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE l.lanname = 'c' AND p.prokind = 'f' AND p.probin LIKE '%dp_cdp%' AND p.prorettype <> 'trigger'::regtype
    AND p.prorettype <> 'internal'::regtype AND NOT 'internal'::regtype = ANY (p.proargtypes::oid[])
    AND has_function_privilege('nobody_in_particular', p.oid, 'EXECUTE')
ORDER BY p.oid::regprocedure::text;
"""


class Session:
    """psql in a loop; a call that does not end is found by the time that its server process has taken."""

    def __init__(self, role):
        self.role = role
        self.start()

    def start(self):
        self.lines = queue.Queue()
        self.psql = subprocess.Popen(["psql", "-X", "-q", "-A", "-t", "-U", self.role, "-v", "VERBOSITY=verbose", "-F", "\t"], text=True,
                                     bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        threading.Thread(target=self.read, args=(self.psql, self.lines), daemon=True).start()
        self.pid = None
        self.pid = self.run("SELECT pg_backend_pid();")[0]

    @staticmethod
    def read(psql, lines):
        for line in psql.stdout:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    def taken(self):
        """Seconds of a processor that the server process has taken."""
        try:
            with open("/proc/%s/stat" % self.pid, encoding="utf-8") as file:
                return sum(map(int, file.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        except OSError:                         # it is only starting, or gone
            return 0.0

    def run(self, sql):
        """lines of output; None: it did not come back, or the connection was lost"""
        out = []
        start = last = self.taken()
        heard = time.monotonic()
        self.psql.stdin.write(sql + "\n\\echo @end@\n")
        while True:
            try:
                line = self.lines.get(timeout=1)
            except queue.Empty:
                taken = self.taken()
                if taken != last:
                    last, heard = taken, time.monotonic()
                if taken - start > LIMIT or time.monotonic() - heard > IDLE:
                    return None
                continue
            if line is None:
                return None
            if line == "@end@":
                return out
            out.append(line)


def values(kind):
    if kind in SCALARS:
        return ["(%s)::%s" % (v, kind) for v in SCALARS[kind]]
    if kind.endswith("[]") and kind[:-2] in SCALARS:
        element = kind[:-2]
        few = SCALARS[element]
        return (["'{}'::%s" % kind, "array_fill(NULL::%s, ARRAY[3])" % element, "ARRAY[[%s]]::%s" % (few[0], kind),
                 "array_fill((%s)::%s, ARRAY[100000])" % (few[1], element), "array_fill((%s)::%s, ARRAY[3], ARRAY[2147483640])" % (few[1], element)]
                + ["ARRAY[%s, %s]::%s" % (a, b, kind) for a, b in itertools.islice(itertools.permutations(few, 2), 40)])
    return ["NULL::%s" % kind]                  # nobody can make one


def grid(n, exponent):
    """Returns a list of n probabilities, in proportion to exp(exponent) for each i, as SQL."""
    return ("(SELECT array_agg(w / t ORDER BY i) FROM (SELECT i, w, sum(w) OVER () AS t FROM (SELECT i, exp(%s) AS w FROM generate_series(1, %d) i) a) b)"
            % (exponent, n))


def calls(rng, signature, kinds, variadic):
    name = signature[:signature.index("(")]
    kinds = [ANY.get(k, k) for k in kinds]
    pools = [values(k) for k in kinds]
    size = 1
    for pool in pools:
        size *= len(pool)
    if size <= CALLS:
        chosen = itertools.product(*pools)
    else:
        chosen = [[rng.choice(pool) for pool in pools] for i in range(CALLS)]
    for arguments in chosen:
        arguments = list(arguments)
        if variadic and kinds[-1].endswith("[]"):
            arguments[-1] = "VARIADIC " + arguments[-1]
        yield "%s(%s)" % (name, ", ".join(arguments))


def short(call):
    return call if len(call) < 300 else call[:300] + "..."


def main():
    admin = Session("postgres")
    admin.run("CREATE ROLE nobody_in_particular LOGIN; CREATE TYPE mood AS ENUM ('glad');")
    functions = [line.split("\t") for line in admin.run(FUNCTIONS)]
    rng = random.Random(SEED)
    setup = "SET statement_timeout = %d; SET client_min_messages = error;" % TIMEOUT
    session = Session("nobody_in_particular")
    session.run(setup)
    count, total, bad, slow = 0, 0, 0, []
    print("# seed %d, %d calls of each of %d functions" % (SEED, CALLS, len(functions)))
    for signature, returns_set, strict, variadic, kinds in functions:
        kinds = kinds.split("|") if kinds else []
        problems = []
        todo = list(calls(rng, signature, kinds, variadic == "t"))
        # what the audit of 2026 found, whatever the seed
        if signature.startswith("dp_cdp_internal.next_renewal("):
            todo += ["dp_cdp_internal.next_renewal('2020-01-01', '1 day', 'infinity')", "dp_cdp_internal.next_renewal('4713-01-01 BC', '1 microsecond', '294276-12-31')",
                     "dp_cdp_internal.next_renewal('-infinity', '1 month', 'infinity')", "dp_cdp_internal.next_renewal('2020-01-31', '1 month', '9999-02-28')"]
        # an order takes a millisecond
        if signature.startswith(("dp_cdp.rdp_delta(double precision[]", "dp_cdp.rdp_epsilon(double precision[]")):
            todo += ["%s(array_fill(%s::float8, ARRAY[1000000]), array_fill(%s::float8, ARRAY[1000000]), %s, 'tight')" % (signature[:signature.index("(")], *v)
                     for v in ((2, 0.01, 0.5), (1.0001, 0.01, 0.5), (32, 1, 1e-6))]
        # a flat function, whose largest value takes as many looks as there is time for
        if signature.startswith("dp_cdp.privacy_loss("):
            todo += ["dp_cdp.privacy_loss(%s, %s)" % (grid(*p), grid(*q)) for p, q in (
                ((1999, "-power((i - 1000) / 50.0, 2) / 2"), (1999, "-power((i - 1001) / 50.0, 2) / 2")),
                ((9999, "-power((i - 5000) / 150.0, 2) / 2"), (9999, "-power((i - 5001) / 150.0, 2) / 2")),
                ((301, "-power((i - 150) / 10.0, 2) / 2"), (301, "-power((i - 160) / 10.0, 2) / 2")),
                ((9999, "-abs(i - 5000) / 300.0"), (9999, "-abs(i - 5001) / 300.0")))]
        for call in todo:
            sql = "SELECT count(*) FROM (SELECT %s) s" % call if returns_set == "t" else "SELECT %s IS NULL" % call
            out = session.run("BEGIN; %s; ROLLBACK;" % sql)
            total += 1
            if out is None:
                problems.append("did not react to its timeout, or ended the server: " + short(call))
                alive = admin.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'nobody_in_particular';")
                if alive is None:
                    print("Bail out!  the server is gone after " + short(call))
                    sys.exit(1)
                session.start()
                session.run(setup)
                break
            text = "\n".join(out)
            if "57014" in text:
                slow.append(short(call))
            if re.search(r"\b(XX\d\d\d|57P0\d|08\d\d\d):", text):
                problems.append("%s: %s" % (short(call), text[:300]))
        count += 1
        bad += bool(problems)
        print("%s %d - %s, %d calls" % ("not ok" if problems else "ok", count, signature, len(todo)))
        for problem in problems[:5]:
            print("#     " + problem.replace("\n", "\n#     "))
        sys.stdout.flush()
    count += 1
    print("%s %d - %d calls of %d functions" % ("ok" if len(functions) > 100 else "not ok", count, total, len(functions)))
    for call in slow[:20]:
        print("#     ended by its timeout: " + call)
    print("1..%d" % count)
    # a backend that does not end would keep the server from stopping
    sys.exit(1 if bad else 0)


main()

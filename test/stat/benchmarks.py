#!/usr/bin/env python3
"""The queries of public benchmarks, as written, over small tables of their schemas (../bench).

What reads persons' rows and can be released is answered, what names single persons is refused, and no query ends otherwise.
Where a refusal writes out what to ask instead, that is answered. Rows and times are compared by "make bench", which prints the
table of verdicts (BENCH_ONLY=clickbench).
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import schemas  # noqa: E402

# small; that of tpch is the least that its generator can make
SCALES = {"clickbench": 0.001, "ssb": 0.001, "tpch": 0.01}


def remedy_of(query, message):
    """The query that a refusal writes out; what it leaves out is what the refused query reads."""
    found = re.search(r"(?:for example|such as|as in) (SELECT .*)$", message)
    read = re.search(r"\bFROM\b(.*)\bGROUP BY\b", query, re.S | re.I)
    return found and found[1].replace("FROM ...", "FROM " + read[1].strip() if read else "FROM ...")


def verdict(schema, query):
    """How a query of an analyst ends, and with which message."""
    good, _, message = schemas.psql(schema, "-c", query, role="analyst")
    return "answered" if good else "refused" if re.search("ERROR:  ZC", message) else "ERROR", message.split("\n")[0]


def main():
    todo = [(schema, query) for schema in SCALES for query in schemas.queries(schema) if query[1] != "E"]
    failed, made = 0, None
    print("1..%d" % len(todo))
    for i, (schema, (name, kind, query)) in enumerate(todo, 1):
        if schema != made:
            schemas.SCALE = SCALES[schema]
            schemas.make(schema)
            made = schema
        found, remark = verdict(schema, query.strip())
        right = found == schemas.WANTED[kind]
        remedy = remedy_of(query, remark) if kind == "R" else None
        if right and remedy:
            found, remark = verdict(schema, remedy)
            right = found == "answered"
        failed += not right
        print("%sok %d - %s %s is %s%s" % ("" if right else "not ", i, schema, name, schemas.WANTED[kind],
                                           ", and what its message writes out is answered" if remedy else ""))
        if not right:
            print("# %s: %s" % (found, remark))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

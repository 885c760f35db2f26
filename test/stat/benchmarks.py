#!/usr/bin/env python3
"""The queries of public benchmarks, as written, over small tables of their schemas (../bench).

What reads persons' rows and can be released is answered, what names single persons is refused, and no query ends otherwise.
Rows and times are compared by "make bench".
"""
import os
import sys

os.environ.update(SCHEMA_SCALE="0.01")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import schemas  # noqa: E402

SCHEMAS = ("clickbench", "ssb", "tpch")


def main():
    todo = [(schema, query) for schema in SCHEMAS for query in schemas.queries(schema) if query[1] != "E"]
    failed, made = 0, None
    print("1..%d" % len(todo))
    for i, (schema, (name, kind, query)) in enumerate(todo, 1):
        if schema != made:
            schemas.make(schema)
            made = schema
        found, remark, _ = schemas.verdict(schema, query.strip())
        right = found == schemas.WANTED[kind]
        failed += not right
        print("%sok %d - %s %s is %s" % ("" if right else "not ", i, schema, name, schemas.WANTED[kind]))
        if not right:
            print("# %s: %s" % (found, remark))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

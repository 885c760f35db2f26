"""psycopg 3 at dp_cdp; run by driver_psycopg.pl.  Also what SQLAlchemy and
pandas make of it: every read in BEGIN ... ROLLBACK."""
import threading
from decimal import Decimal

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.string import StrDumper

import dptap

BY_DEPT = "SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept"


def connect(user="analyst1", **options):
    return psycopg.connect(user=user, **options)


auditor = connect("auditor", autocommit=True)
tap = dptap.Tap(lambda statement: auditor.execute(statement).fetchone()[0])


def state(function):
    """The SQLSTATE that a call ends with, None if it does not fail."""
    try:
        function()
    except psycopg.Error as e:
        return e.sqlstate
    return None


def outcome(cur, statement, *args, **kwargs):
    try:
        return cur.execute(statement, *args, **kwargs).fetchall()
    except psycopg.Error as e:
        return e.sqlstate


# what tools send --------------------------------------------------------------

def what_tools_send():
    conn = connect(autocommit=True)
    dptap.ask_all(tap, "autocommit", lambda q: outcome(conn, q))
    dptap.ask_all(tap, "prepared", lambda q: outcome(conn, q, prepare=True))
    dptap.ask_all(tap, "prepared again", lambda q: outcome(conn, q, prepare=True))
    dptap.ask_all(tap, "binary", lambda q: outcome(conn, q, binary=True))
    conn.close()

    # SQLAlchemy, pandas: a transaction around each read, rolled back
    conn = connect()

    def rolled_back(q):
        got = outcome(conn, q)
        conn.rollback()
        return got
    dptap.ask_all(tap, "BEGIN .. ROLLBACK", rolled_back)
    conn.close()

    conn = connect()
    conn.read_only = True
    conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

    def read_only(q):
        got = outcome(conn, q)
        conn.commit()
        return got
    dptap.ask_all(tap, "READ ONLY, REPEATABLE READ", read_only)
    conn.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
    conn.deferrable = True
    conn.execute(BY_DEPT)
    conn.rollback()
    tap.paid(1, "SERIALIZABLE, READ ONLY, DEFERRABLE")
    conn.close()

    # literals put in by the client
    conn = connect(autocommit=True)
    cur = psycopg.ClientCursor(conn)
    row = cur.execute("SELECT dp_sum(n, %s, %s) AS s FROM visits WHERE id > %s AND dept = %s",
                      (Decimal("-1.5"), 10, "5", "a")).fetchone()
    tap.ok(isinstance(row[0], Decimal), "client-side literals")
    tap.paid(1, "client-side literals")
    conn.close()


# settings ---------------------------------------------------------------------

def settings():
    conn = connect(options="-c dp_cdp.rho=0.000003 -c dp_cdp.max_rows=1", autocommit=True)
    conn.execute("SELECT dp_count(*) FROM visits")
    tap.paid(3, "options=-c dp_cdp.rho")
    conn.execute("SELECT set_config('dp_cdp.rho', %s, false)", ("0.000004",))
    conn.execute("SELECT dp_count(*) FROM visits")
    tap.paid(4, "set_config")
    with conn.transaction():
        conn.execute("SET LOCAL dp_cdp.rho = 0.000002")
        conn.execute(BY_DEPT)
        tap.paid(2, "SET LOCAL")
    conn.execute("RESET dp_cdp.rho")
    conn.execute(BY_DEPT)
    tap.paid(3, "RESET returns to the option of the connection")
    tap.equal(state(lambda: conn.execute("SET dp_cdp.rho = -1")), "ZC004", "rho below 0")
    tap.equal(state(lambda: conn.execute("SET dp_cdp.standard_aggregates = off")), "42501", "a superuser's setting")
    conn.close()
    tap.ok(state(lambda: connect(options="-c dp_cdp.no_noise=on")) is not None or failed_connect("-c dp_cdp.no_noise=on"),
           "no setting is invented by a connection")
    tap.paid(0, "all that")


def failed_connect(options):
    try:
        connect(options=options).close()
    except psycopg.OperationalError:
        return True
    return False


# introspection and probes --------------------------------------------------------

def introspection():
    conn = connect(autocommit=True)
    columns = conn.execute("SELECT * FROM visits WHERE 0=1").description
    tap.equal([(c.name, c.type_code, c.internal_size) for c in columns][:3] + [(columns[8].name, columns[8].precision, columns[8].scale)],
              [("id", 23, 4), ("patient", 23, 4), ("dept", 25, None), ("n", 12, 2)], "a probe describes the columns")
    names = conn.execute("SELECT * FROM admissions LIMIT 0", prepare=True, binary=True).description
    tap.equal([c.name for c in names], ["id", "patient", "dept", "cost"], "... prepared, in binary")
    columns = conn.execute(BY_DEPT + " LIMIT 0").description
    tap.equal([(c.name, c.type_code) for c in columns], [("dept", 25), ("n", 20)], "LIMIT 0 around a release")
    tap.paid(0, "probes")

    # Parse and Describe alone
    prepared = conn.pgconn.prepare(b"s", b"SELECT dept, dp_sum(n, $1, $2) AS s FROM visits GROUP BY dept")
    tap.equal(prepared.status, psycopg.pq.ExecStatus.COMMAND_OK, "Parse")
    described = conn.pgconn.describe_prepared(b"s")
    tap.equal([described.fname(i) for i in range(described.nfields)], [b"dept", b"s"], "Describe")
    tap.equal(described.ftype(1), 1700, "... the type of a sum of numerics")
    tap.paid(0, "Parse and Describe")
    executed = conn.pgconn.exec_prepared(b"s", [b"0", b"10"])
    tap.equal(executed.ntuples, 4, "Execute")
    tap.paid(1, "Execute")

    # the adapters look types up
    conn.execute("CREATE TYPE mood AS ENUM ('happy', 'sad')")
    info = psycopg.types.enum.EnumInfo.fetch(conn, "mood")
    tap.equal(list(info.labels), ["happy", "sad"], "EnumInfo.fetch")
    info = psycopg.types.TypeInfo.fetch(conn, "visits")
    tap.ok(info is not None and info.oid > 0, "TypeInfo.fetch of a protected table's row type")
    info = psycopg.types.composite.CompositeInfo.fetch(conn, "visits")
    tap.equal(list(info.field_names[:3]), ["id", "patient", "dept"], "CompositeInfo.fetch")
    conn.execute("DROP TYPE mood")
    # as SQLAlchemy's dialect does it
    tap.equal(conn.execute("""SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
        FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
        WHERE c.relname = 'visits' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum""").fetchall()[8],
              ("n", "numeric(12,2)"), "columns from pg_catalog")
    tap.equal(conn.execute("SELECT pg_catalog.obj_description('visits'::regclass)").fetchone()[0],
              "one row for each visit", "comments")
    tap.paid(0, "introspection")
    conn.close()


# parameters ---------------------------------------------------------------------

def parameters():
    conn = connect(autocommit=True)
    statement = "SELECT dp_sum(n, %s, %s) AS s FROM visits WHERE id > %s"
    kinds = {"int": (0, 10, 5), "numeric": (Decimal("0"), Decimal("10.5"), Decimal(5)), "float": (0.0, 10.0, 5.5),
             "str": ("0", "10", "5"), "big int": (-(10 ** 12), 10 ** 12, 5)}
    for kind, args in kinds.items():
        cur = conn.cursor()
        for i in range(7):
            got = outcome(cur, statement, args)
            if not isinstance(got, list) or not dptap.finite(got[0][0]):
                tap.ok(False, f"{kind} parameters", got)
        tap.paid(7, f"{kind} parameters, seven executions (prepared at the sixth)")
        tap.equal(outcome(cur, statement, (args[1], args[0], args[2])), "ZC004", f"{kind} parameters: bad bounds")
        tap.paid(0, f"{kind} parameters: bad bounds")
    prepared = conn.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()[0]
    tap.ok(prepared >= len(kinds) - 1, "the driver did prepare", prepared)

    # parameters typed as text
    cur = conn.cursor()
    cur.adapters.register_dumper(str, StrDumper)
    for i in range(7):
        outcome(cur, statement.replace("id > %s", "dept = %s"), ("0", "10", "a"))
    tap.paid(7, "parameters typed as text")
    # NULL bounds
    tap.equal(outcome(conn.cursor(), statement, (None, 10, 5)), "ZC004", "a NULL bound")
    tap.paid(0, "a NULL bound")
    # a value beyond every row, a threshold of HAVING, a limit
    tap.equal(outcome(conn.cursor(), BY_DEPT + " HAVING dp_count(*) > %s ORDER BY 2 DESC LIMIT %s", (10 ** 15, 3)), [],
              "parameters in HAVING and LIMIT")
    tap.paid(1, "parameters in HAVING and LIMIT")
    conn.cursor().executemany("SELECT dp_count(*) FROM visits WHERE id > %s", [(1,), (2,), (3,)])
    tap.paid(3, "executemany")
    with conn.pipeline():
        for i in range(4):
            conn.execute("SELECT dp_count(*) FROM visits WHERE id > %s", (i,))
    tap.paid(4, "a pipeline")
    conn.close()


# types --------------------------------------------------------------------------

def types():
    conn = connect(autocommit=True, options="-c dp_cdp.rho=1000 -c dp_cdp.max_rows=7")
    for binary in (False, True):
        cur = conn.cursor(binary=binary, row_factory=dict_row)
        row = cur.execute("""SELECT dp_count(*) AS c, count(*) AS std, dp_sum(i4) AS i4, sum(i8) AS i8, dp_sum(f8) AS f8, sum(n) AS n,
            dp_sum(n) / dp_count(*) AS mean FROM visits""").fetchone()
        kind = "binary" if binary else "text"
        tap.equal({k: type(v) for k, v in row.items()},
                  {"c": int, "std": int, "i4": int, "i8": Decimal, "f8": float, "n": Decimal, "mean": Decimal}, f"{kind}: types")
        tap.ok(all(dptap.finite(v) for v in row.values()), f"{kind}: no NaN, no Infinity", row)
        tap.ok(abs(row["c"] - 3003) < 50 and abs(row["f8"] - 3011) < 100 and abs(row["n"] - 3002) < 100, f"{kind}: values", row)
        tap.paid(7 * 10 ** 9, f"{kind}: seven distinct aggregates, one of them written twice")
        row = cur.execute("SELECT dp_sum(f8) AS f8, dp_sum(n) AS n FROM visits WHERE id = 3001").fetchone()
        tap.ok(all(dptap.finite(v) for v in row.values()), f"{kind}: only NaN is read, and none is answered", row)
        tap.paid(2 * 10 ** 9, f"{kind}: a sum of NaN")
    conn.close()


# cursors ------------------------------------------------------------------------

def cursors():
    conn = connect()
    cur = conn.cursor(name="plain")
    cur.itersize = 1
    cur.execute(BY_DEPT)
    tap.paid(0, "a server-side cursor that is not fetched")
    rows = list(cur)
    tap.equal([r[0] for r in rows], list("abcd"), "a server-side cursor, row by row")
    tap.paid(1, "a server-side cursor, row by row")
    cur.close()

    cur = conn.cursor(name="scroll", scrollable=True)
    cur.execute(BY_DEPT)
    first = cur.fetchall()
    cur.scroll(0, mode="absolute")
    tap.equal(cur.fetchall(), first, "a scroll cursor repeats its answers")
    cur.scroll(-2)
    tap.equal(cur.fetchone(), first[3], "... backwards")
    cur.scroll(1, mode="absolute")
    tap.equal(cur.fetchmany(2), first[1:3], "... from the second on")
    cur.close()
    tap.paid(1, "a scroll cursor, rewound")

    cur = conn.cursor(name="moved", scrollable=True)
    cur.execute(BY_DEPT)
    cur.scroll(3)
    tap.equal(cur.fetchone()[0], "d", "MOVE, then FETCH")
    cur.close()
    tap.paid(1, "MOVE, then FETCH")

    cur = conn.cursor(name="hold", withhold=True)
    cur.execute(BY_DEPT)
    tap.paid(0, "a WITH HOLD cursor before COMMIT")
    conn.commit()
    tap.paid(1, "a WITH HOLD cursor at COMMIT")
    first = cur.fetchall()
    tap.equal(len(first), 4, "a WITH HOLD cursor after COMMIT")
    conn.rollback()
    cur.close()
    conn.commit()
    cur = conn.cursor(name="held", withhold=True, scrollable=True)
    cur.execute(BY_DEPT)
    first = cur.fetchmany(2)
    conn.commit()
    cur.scroll(0, mode="absolute")
    tap.equal(cur.fetchall()[:2], first, "WITH HOLD, fetched before and after COMMIT")
    cur.close()
    conn.commit()
    tap.paid(1, "WITH HOLD, fetched before and after COMMIT")

    cur = conn.cursor(name="given_up", withhold=True)
    cur.execute(BY_DEPT)
    conn.rollback()
    tap.paid(0, "a WITH HOLD cursor that was rolled back unfetched")

    cur = conn.cursor(name="args")
    cur.execute("SELECT dept, dp_sum(n, %s, %s) FROM visits GROUP BY dept", (0, Decimal(10)))
    tap.equal(len(cur.fetchall()), 4, "a server-side cursor with parameters")
    cur.close()
    conn.rollback()
    tap.paid(1, "a server-side cursor with parameters")

    # row by row off the wire
    tap.equal([r[0] for r in conn.cursor().stream(BY_DEPT)], list("abcd"), "stream()")
    conn.rollback()
    tap.paid(1, "stream()")
    conn.close()


# transactions --------------------------------------------------------------------

def transactions():
    conn = connect()
    first = conn.execute(BY_DEPT).fetchall()
    tap.paid(1, "a query")
    second = conn.execute(BY_DEPT).fetchall()
    tap.ok(first != second, "the same query again draws anew", first)
    tap.paid(1, "the same query again")
    conn.rollback()
    tap.paid(0, "ROLLBACK refunds nothing")

    with conn.transaction():
        try:
            with conn.transaction("inner"):
                conn.execute(BY_DEPT)
                raise KeyError
        except KeyError:
            pass
        tap.paid(1, "a savepoint that was rolled back")
        tap.equal(state(lambda: in_savepoint(conn, "SELECT * FROM visits LIMIT 10")), "ZC002", "a refusal in a savepoint")
        tap.equal(len(conn.execute(BY_DEPT).fetchall()), 4, "the transaction goes on")
        cur = conn.cursor(name="over")
        cur.execute(BY_DEPT)
        row = cur.fetchone()
        try:
            with conn.transaction():
                conn.execute("SELECT 1/0")
        except psycopg.errors.DivisionByZero:
            pass
        tap.equal([row[0]] + [r[0] for r in cur.fetchall()], list("abcd"), "a cursor goes on after ROLLBACK TO")
        cur.close()
    tap.paid(2, "a query and a cursor around savepoints")

    # after an error, as tools do it: ROLLBACK, then the same again
    tap.equal(state(lambda: conn.execute("SELECT * FROM visits")), "ZC002", "a refusal")
    tap.equal(state(lambda: conn.execute(BY_DEPT)), "25P02", "the transaction is over")
    conn.rollback()
    tap.equal(state(lambda: conn.execute("SELECT * FROM visits")), "ZC002", "a retry")
    conn.rollback()
    tap.paid(0, "refusals and retries")

    # made permanent, and thrown away
    conn.execute("CREATE TEMP TABLE kept AS " + BY_DEPT)
    tap.paid(1, "CREATE TABLE AS")
    tap.equal(conn.execute("SELECT count(*) FROM kept").fetchone()[0], 4, "what is kept is a table like any other")
    conn.execute("SELECT sum(n) FROM kept")
    conn.rollback()
    tap.paid(0, "kept answers")
    conn.close()


def in_savepoint(conn, statement):
    with conn.transaction():
        conn.execute(statement)


# SELECT under row-level security without a policy ----------------------------------

def row_level_security():
    conn = connect(autocommit=True)
    listed = conn.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1").fetchall()
    tap.equal(listed, [("admissions",), ("recent",)], "information_schema.tables")
    listed = conn.execute("SELECT privilege_type FROM information_schema.role_table_grants WHERE table_name = 'admissions'").fetchall()
    tap.equal(listed, [("SELECT",)], "information_schema.role_table_grants")
    tap.paid(0, "information_schema")
    statement = "SELECT dept, count(*) AS n, sum(cost) AS cost FROM admissions GROUP BY dept"
    first = conn.execute(statement).fetchall()
    second = conn.execute(statement).fetchall()
    tap.equal([r[0] for r in first], list("abcd"), "aggregates are answered")
    tap.ok(first != second, "with noise", first)
    tap.paid(4, "two queries of two aggregates")
    conn.execute("SET dp_cdp.rho = 5000")
    n = conn.execute("SELECT dp_count(DISTINCT patient) FROM admissions").fetchone()[0]
    tap.ok(abs(n - 500) < 2, "over all rows, not over none", n)
    tap.paid(5 * 10 ** 9, "a sharp answer")
    conn.execute("RESET dp_cdp.rho")
    tap.equal(state(lambda: conn.execute("SELECT * FROM admissions")), "ZC002", "rows are refused")
    tap.equal(state(lambda: conn.execute("SELECT cost FROM admissions WHERE id = 1")), "ZC002", "... one of them")
    tap.equal(state(lambda: conn.execute("EXPLAIN ANALYZE SELECT dept, dp_count(*) FROM admissions GROUP BY dept")), "ZC002", "EXPLAIN ANALYZE")
    tap.equal(conn.execute("SELECT count(*) FROM pg_stats WHERE tablename = 'admissions'").fetchone()[0], 0, "pg_stats shows nothing")
    conn.execute("SET row_security = off")
    tap.equal(state(lambda: conn.execute("SELECT * FROM admissions")), "42501", "row_security = off")
    tap.equal(state(lambda: conn.execute(statement)), "42501", "... also for aggregates")
    tap.paid(0, "what was refused")
    found = auditor.execute("SELECT count(*) FROM dp_cdp.check_setup() WHERE object ~ 'admissions' AND severity <> 'info'").fetchone()[0]
    tap.equal(found, 0, "check_setup finds nothing wrong")
    auditor.execute("CREATE POLICY everything ON admissions FOR SELECT TO analyst1 USING (true)")
    found = auditor.execute("SELECT count(*) FROM dp_cdp.check_setup() WHERE object ~ 'admissions' AND severity = 'critical'").fetchone()[0]
    tap.equal(found, 1, "... but finds a policy")
    auditor.execute("DROP POLICY everything ON admissions")
    tap.equal(state(lambda: connect(autocommit=True).execute("SELECT * FROM admissions")), "ZC002", "rows are refused without it")
    conn.close()


# COPY ---------------------------------------------------------------------------

def copy():
    conn = connect(autocommit=True)
    cur = conn.cursor()
    with cur.copy("COPY (SELECT dp_count(*) FROM visits) TO STDOUT") as out:
        rows = list(out.rows())
    tap.equal(len(rows), 1, "COPY")
    tap.paid(1, "COPY")
    with cur.copy("COPY (SELECT dept, dp_count(*), dp_sum(n) FROM visits GROUP BY dept) TO STDOUT (FORMAT binary)") as out:
        out.set_types(["text", "int8", "numeric"])
        rows = list(out.rows())
    tap.equal([type(v) for v in rows[0]], [str, int, Decimal], "COPY in binary")
    tap.paid(2, "COPY in binary")
    with cur.copy(sql.SQL("COPY (SELECT dp_sum(n, {}, {}) FROM visits) TO STDOUT (FORMAT csv, HEADER)").format(0, 10)) as out:
        data = b"".join(out)
    tap.like(data.decode(), r"^dp_sum\n-?\d+(\.\d+)?\n$", "COPY in CSV, with client-side literals")
    tap.paid(1, "COPY in CSV")

    def copied(statement):
        with cur.copy(statement) as out:
            for _ in out:
                pass
    tap.equal(state(lambda: copied("COPY visits TO STDOUT")), "ZC002", "COPY of the table")
    tap.equal(state(lambda: copied("COPY visits (dept) TO STDOUT")), "ZC002", "COPY of a column")
    tap.equal(state(lambda: copied("COPY (SELECT * FROM visits) TO STDOUT")), "ZC002", "COPY of rows")
    tap.equal(state(lambda: copied("COPY admissions TO STDOUT")), "ZC002", "COPY of a table under row-level security")
    tap.paid(0, "refused COPY")
    conn.close()


# cancel -------------------------------------------------------------------------

def cancelled(lock, waits_for):
    """Cancel a query that waits for something that is locked; its SQLSTATE."""
    conn = connect(autocommit=True)
    holder = connect("auditor")
    holder.execute(lock)
    failure = []
    thread = threading.Thread(target=lambda: failure.append(state(lambda: conn.execute(BY_DEPT).fetchall())))
    thread.start()
    tap.wait_for(f"SELECT waiting('{waits_for}')")
    conn.cancel()
    thread.join()
    holder.rollback()
    holder.close()
    return conn, failure[0]


def cancel():
    conn, failure = cancelled("LOCK TABLE visits", "Lock")
    tap.equal(failure, "57014", "cancelled before anything was debited")
    tap.paid(0, "cancelled before anything was debited")
    tap.equal(len(conn.execute(BY_DEPT).fetchall()), 4, "the connection goes on")
    tap.paid(1, "the query after")
    conn.close()
    conn, failure = cancelled("LOCK TABLE dp_cdp_internal.release_log", "Extension")
    # or the ledger was faster to give up waiting for the lock
    tap.like(failure, "^(57014|ZC003)$", "cancelled while the ledger debits")
    # the next debit is made after the one that was given up
    tap.equal(len(conn.execute(BY_DEPT).fetchall()), 4, "the connection goes on")
    tap.paid_between(1, 2, "cancelled while the ledger debits, and the query after")
    conn.execute("SET statement_timeout = 0")
    tap.equal(len(conn.execute(BY_DEPT).fetchall()), 4, "and again")
    tap.paid(1, "the query after that")
    conn.close()


# errors -------------------------------------------------------------------------

def errors():
    conn = connect(autocommit=True)

    def diagnosed(statement, args=None, on=conn):
        try:
            on.execute(statement, args)
        except psycopg.Error as e:
            return e.diag
        raise RuntimeError("no error: " + statement)
    diag = diagnosed("SELECT * FROM visits LIMIT 10")
    tap.equal((diag.sqlstate, diag.severity_nonlocalized), ("ZC002", "ERROR"), "rows: SQLSTATE and severity")
    tap.like(diag.message_primary, r"ask for private aggregates, such as SELECT dp_count", "rows: the message holds the remedy")
    tap.equal(diag.statement_position, "8", "rows: position")
    diag = diagnosed("SELECT dp_count(*) FROM visits WHERE md5(dept) = %s", ("x",))
    tap.equal((diag.sqlstate, diag.statement_position), ("ZC002", "38"), "a function: position")
    tap.like(diag.message_hint, "allowed_functions", "a function: hint")
    diag = diagnosed("SELECT sum(patient) FROM visits")
    tap.equal(diag.sqlstate, "ZC004", "bounds: SQLSTATE")
    tap.like(diag.message_primary, "needs bounds: write .*set_bounds", "bounds: the message holds the remedy")
    intern = connect("intern1", autocommit=True)
    diag = diagnosed("SELECT dp_count(*), dp_sum(n), dp_sum(i4) FROM visits", on=intern)
    tap.equal(diag.sqlstate, "ZC001", "budget: SQLSTATE")
    tap.like(diag.message_primary, "exhausted.*asked rho 0.000003, remaining 0.0000025 .*set_budget", "budget: the message holds the remedy")
    tap.equal(len(intern.execute("SELECT dp_count(*), dp_sum(n) FROM visits").fetchall()), 1, "what fits is answered")
    remaining = intern.execute("SELECT rho_remaining FROM dp_cdp.budgets").fetchall()
    tap.equal([float(r[0]) for r in remaining], [5e-7], "and what is left is in a view")
    intern.close()
    released = connect("owner1", autocommit=True).execute(
        "SELECT count(*) FROM dp_cdp.releases WHERE role = 'intern1'::regrole AND kind = 'refused'").fetchone()[0]
    tap.equal(released, 1, "the refusal is in the log")
    holder = connect("auditor")
    holder.execute("SELECT FROM dp_cdp_internal.budget FOR UPDATE")
    diag = diagnosed("SELECT dp_count(*) FROM visits")
    tap.equal(diag.sqlstate, "ZC003", "a budget that is being changed: SQLSTATE")
    tap.like(diag.message_primary, "nothing was debited: retry", "... the message holds the remedy")
    holder.rollback()
    holder.close()
    tap.paid(0, "errors")
    tap.equal(state(lambda: connect("owner1").execute("SELECT dp_count(*) FROM visits")), "ZC001", "no budget")
    conn.close()


def main():
    what_tools_send()
    settings()
    introspection()
    parameters()
    types()
    cursors()
    transactions()
    row_level_security()
    copy()
    cancel()
    errors()
    tap.end()


dptap.guarded(main)

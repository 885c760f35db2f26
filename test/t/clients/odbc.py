"""psqlODBC, through pyodbc, at dp_cdp; run by driver_odbc.pl."""
import decimal
import os
import threading

import pyodbc

import dptap

BY_DEPT = "SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept"
KEYS = ["a", "b", "c", "d"]

pyodbc.pooling = False


def connect(user="analyst1", autocommit=True, **options):
    words = {"DRIVER": "{PostgreSQL Unicode}", "Servername": os.environ["PGHOST"], "Port": os.environ["PGPORT"],
             "Database": os.environ["PGDATABASE"], "UID": user, **options}
    return pyodbc.connect(";".join(f"{k}={v}" for k, v in words.items()), autocommit=autocommit)


auditor = connect("auditor")
tap = dptap.Tap(lambda statement: auditor.execute(statement).fetchone()[0])


def state(function):
    """The SQLSTATE that a call ends with, None if it does not fail."""
    try:
        function()
    except pyodbc.Error as e:
        return e.args[0]
    return None


def rows(conn, statement, *args):
    with conn.cursor() as cur:
        return cur.execute(statement, *args).fetchall()


def outcome(conn, statement, *args):
    try:
        return rows(conn, statement, *args)
    except pyodbc.Error as e:
        return e.args[0]


# the ways in which the driver can be set to work: protocol's last number is
# the level of its own rollback (0: none, 1: transaction, 2: statement)
WAYS = {
    "default": {},
    "UseDeclareFetch=1": {"UseDeclareFetch": 1, "Fetch": 2},
    "UseDeclareFetch=1, statement rollback": {"UseDeclareFetch": 1, "Fetch": 1, "Protocol": "7.4-2"},
    "UseServerSidePrepare=0": {"UseServerSidePrepare": 0},
    "transaction rollback": {"Protocol": "7.4-1"},
    "ReadOnly=1": {"ReadOnly": 1},
    "Parse=1, UpdatableCursors=1": {"Parse": 1, "UpdatableCursors": 1, "DisallowPremature": 1},
}


def but_not(way):
    """What the driver itself refuses."""
    return "EXPLAIN" if "ReadOnly" in way else None


def what_tools_send():
    for name, way in WAYS.items():
        conn = connect(**way)
        dptap.ask_all(tap, name, lambda q: outcome(conn, q), but_not(way))
        conn.close()
    for name, way in WAYS.items():
        if "Protocol" in way and way["Protocol"] == "7.4-1":
            continue
        conn = connect(autocommit=False, **way)

        def rolled_back(q):
            got = outcome(conn, q)
            conn.rollback()
            return got
        dptap.ask_all(tap, f"transaction, {name}", rolled_back, but_not(way))
        conn.close()
    # one transaction for all: the driver's savepoints undo what failed
    conn = connect(autocommit=False, Protocol="7.4-2")
    dptap.ask_all(tap, "one transaction, statement rollback", lambda q: outcome(conn, q))
    conn.rollback()
    conn.close()
    tap.paid(0, "ROLLBACK of all that")
    conn = connect(autocommit=False, ConnSettings="SET default_transaction_isolation TO 'repeatable read'%3B"
                                                  "SET default_transaction_read_only TO on")

    def read_only(q):
        got = outcome(conn, q)
        conn.rollback()
        return got
    dptap.ask_all(tap, "READ ONLY, REPEATABLE READ", read_only)
    tap.equal([rows(conn, "SHOW transaction_isolation")[0][0], rows(conn, "SHOW transaction_read_only")[0][0]], ["repeatable read", "on"],
              "the transactions were what they were meant to be")
    conn.close()


def settings():
    conn = connect(ConnSettings="SET dp_cdp.rho TO 0.000003")
    rows(conn, BY_DEPT)
    tap.paid(3, "ConnSettings")
    conn.execute("SET dp_cdp.rho = 0.000004")
    rows(conn, BY_DEPT)
    tap.paid(4, "SET")
    conn.close()
    conn = connect(pqopt="{options='-c dp_cdp.rho=0.000005'}")
    rows(conn, BY_DEPT)
    tap.paid(5, "pqopt: options=-c dp_cdp.rho")
    tap.equal(state(lambda: conn.execute("SET dp_cdp.rho = -1")), "ZC004", "rho below 0")
    conn.close()


def introspection():
    for name, way in list(WAYS.items())[:3]:
        conn = connect(**way)
        cur = conn.cursor()
        tables = {t.table_name: t for t in cur.tables(schema="public").fetchall()}
        tap.ok({"visits", "admissions", "recent"} <= set(tables), f"{name}: SQLTables", tables)
        tap.equal([c.column_name for c in cur.columns(table="visits", schema="public").fetchall()],
                  ["id", "patient", "dept", "ward", "flag", "i4", "i8", "f8", "n", "day"], f"{name}: SQLColumns")
        n = cur.columns(table="visits", schema="public", column="n").fetchone()
        tap.equal((n.type_name, n.column_size, n.decimal_digits), ("numeric", 12, 2), f"{name}: SQLColumns, a type")
        tap.equal([k.column_name for k in cur.primaryKeys(table="visits", schema="public").fetchall()], ["id"], f"{name}: SQLPrimaryKeys")
        tap.equal(cur.foreignKeys(table="visits", schema="public").fetchall(), [], f"{name}: SQLForeignKeys")
        tap.ok(any(s.index_name == "visits_pkey" for s in cur.statistics("visits", schema="public", unique=True).fetchall()), f"{name}: SQLStatistics")
        tap.equal([tuple(c) for c in cur.rowIdColumns("visits", schema="public").fetchall()],
                  [tuple(c) for c in auditor.cursor().rowIdColumns("visits", schema="public").fetchall()], f"{name}: SQLSpecialColumns")
        tap.ok(len(cur.getTypeInfo().fetchall()) > 5, f"{name}: SQLGetTypeInfo")
        tap.ok(any(p.procedure_name == "epsilon_spent" for p in cur.procedures(schema="dp_cdp").fetchall()), f"{name}: SQLProcedures")
        cur.execute("SELECT * FROM visits WHERE 0=1")
        tap.equal([(d[0], d[1], d[4], d[5]) for d in cur.description][8], ("n", decimal.Decimal, 12, 2), f"{name}: a probe describes the columns")
        tap.equal(cur.fetchall(), [], f"{name}: and has no rows")
        cur.execute("SELECT dept, dp_count(*) AS n FROM visits GROUP BY dept LIMIT 0")
        tap.equal([d[0] for d in cur.description], ["dept", "n"], f"{name}: LIMIT 0 around a release")
        tap.paid(0, f"{name}: introspection and probes")
        conn.close()


def parameters():
    kinds = {"int": (0, 10, 0), "numeric": (decimal.Decimal("0"), decimal.Decimal("10.5"), 0), "float": (0.0, 10.0, 0),
             "str": ("0", "10", 0)}
    for prepare in (1, 0):
        conn = connect(UseServerSidePrepare=prepare)
        cur = conn.cursor()
        for kind, args in kinds.items():
            name = f"{kind} parameters, UseServerSidePrepare={prepare}"
            statement = "SELECT dp_sum(n, ?, ?) AS s FROM visits WHERE i4 > ?"
            answers = 0
            failures = set()
            for _ in range(7):
                try:
                    answers += dptap.finite(cur.execute(statement, *args).fetchone()[0])
                except pyodbc.Error as e:
                    failures.add(str(e))
            tap.ok(answers == 7, f"{name}: seven answers", answers, *failures)
            tap.paid(7, f"{name}: seven executions")
            tap.equal(state(lambda: cur.execute(statement, args[1], args[0], args[2]).fetchall()), "ZC004", f"{name}: bad bounds")
            tap.paid(0, f"{name}: bad bounds")
        cur.executemany("SELECT dp_count(*) FROM visits WHERE id > ?", [(1,), (2,), (3,)])
        tap.paid(3, f"executemany, UseServerSidePrepare={prepare}")
        got = cur.execute(BY_DEPT + " HAVING dp_count(*) > ? ORDER BY 2 DESC LIMIT ?", 10 ** 12, 3).fetchall()
        tap.equal(got, [], f"parameters in HAVING and LIMIT, UseServerSidePrepare={prepare}")
        tap.paid(1, f"parameters in HAVING and LIMIT, UseServerSidePrepare={prepare}")
        prepared = rows(conn, "SELECT count(*) FROM pg_prepared_statements")[0][0]
        tap.equal(prepared > 0, prepare == 1, f"whether the driver prepares on the server, UseServerSidePrepare={prepare}")
        conn.close()


def types():
    conn = connect(pqopt="{options='-c dp_cdp.rho=1000 -c dp_cdp.max_rows=7'}")
    cur = conn.cursor()
    row = cur.execute("SELECT dp_count(*) AS c, dp_sum(i4) AS i4, sum(i8) AS i8, dp_sum(f8) AS f8, sum(n) AS n FROM visits").fetchone()
    tap.equal([type(v) for v in row], [int, int, decimal.Decimal, float, decimal.Decimal], "types")
    tap.ok(all(dptap.finite(v) for v in row), "no NaN, no Infinity", row)
    tap.ok(abs(row[0] - 3003) < 50 and abs(row[3] - 3011) < 100 and abs(row[4] - 3002) < 100, "values", row)
    tap.paid(5 * 10 ** 9, "types")
    row = cur.execute("SELECT dp_sum(f8) AS f8, dp_sum(n) AS n FROM visits WHERE id = 3001").fetchone()
    tap.ok(all(dptap.finite(v) for v in row), "only NaN is read, and none is answered", row)
    tap.paid(2 * 10 ** 9, "a sum of NaN")
    conn.close()


def cursors():
    conn = connect(autocommit=False, UseDeclareFetch=1, Fetch=1)
    cur = conn.cursor()
    for i in range(7):
        cur.execute(BY_DEPT)
        tap.equal(cur.fetchone()[0], "a", f"DECLARE and FETCH 1, execution {i + 1}")
        tap.paid(1, f"DECLARE and FETCH 1, execution {i + 1}")
        tap.equal([r[0] for r in cur.fetchall()], KEYS[1:], f"the other rows of execution {i + 1}")
        tap.paid(0, f"the other rows of execution {i + 1}")
    cur.execute(BY_DEPT)
    cur.fetchone()
    cur.close()
    tap.paid(1, "a cursor closed after its first row")
    cur = conn.cursor()
    cur.execute("SELECT name FROM pg_cursors")
    tap.equal(len(cur.fetchall()), 1, "the driver did declare cursors")
    conn.rollback()
    conn.close()

    # a result that outlives COMMIT
    conn = connect(autocommit=False, UseDeclareFetch=1, Fetch=1)
    cur = conn.cursor()
    cur.execute(BY_DEPT)
    seen = [cur.fetchone()[0]]
    conn.commit()
    try:
        seen += [r[0] for r in cur.fetchall()]
    except pyodbc.Error as e:
        seen.append(e.args[0])
    tap.ok(seen[0] == "a", "a cursor over COMMIT", seen)
    tap.paid(1, "a cursor over COMMIT")
    cur.close()
    conn.close()

    conn = connect(autocommit=False)
    cur = conn.cursor()
    cur.execute("DECLARE k SCROLL CURSOR WITH HOLD FOR " + BY_DEPT)
    tap.paid(0, "DECLARE")
    first = rows(conn, "FETCH 3 FROM k")
    conn.commit()
    cur.execute("MOVE ABSOLUTE 0 IN k")
    tap.equal([tuple(r) for r in rows(conn, "FETCH 3 FROM k")], [tuple(r) for r in first], "SCROLL and WITH HOLD repeat their answers")
    cur.execute("CLOSE k")
    conn.commit()
    tap.paid(1, "a cursor, SCROLL and WITH HOLD")
    conn.close()


def transactions():
    for level in (0, 2):
        conn = connect(autocommit=False, Protocol=f"7.4-{level}")
        first = [tuple(r) for r in rows(conn, BY_DEPT)]
        second = [tuple(r) for r in rows(conn, BY_DEPT)]
        tap.ok(first != second, f"rollback level {level}: the same query again draws anew", first)
        tap.paid(2, f"rollback level {level}: the same query twice")
        tap.equal(outcome(conn, "SELECT * FROM visits"), "ZC002", f"rollback level {level}: a refusal")
        got = outcome(conn, BY_DEPT)
        if level == 2:
            tap.equal([r[0] for r in got], KEYS, "the transaction goes on after the driver's ROLLBACK TO")
        else:
            tap.equal(got, "25P02", "the transaction is over without it")
        conn.rollback()
        tap.paid(1 if level == 2 else 0, f"rollback level {level}: ROLLBACK refunds nothing")
        tap.equal(outcome(conn, "SELECT setseed(2 + dp_count(*) * 0) FROM visits"), "22023", f"rollback level {level}: an error of one's own")
        conn.rollback()
        tap.paid(1, f"rollback level {level}: an error of one's own")
        conn.close()


def cancelled(lock, waits_for):
    conn = connect()
    holder = connect("auditor", autocommit=False)
    holder.execute(lock)
    cur = conn.cursor()
    failure = []
    thread = threading.Thread(target=lambda: failure.append(state(lambda: cur.execute(BY_DEPT).fetchall())))
    thread.start()
    tap.wait_for(f"SELECT waiting('{waits_for}')")
    cur.cancel()
    thread.join()
    holder.rollback()
    holder.close()
    return conn, failure[0]


def cancel():
    conn, failure = cancelled("LOCK TABLE visits", "Lock")
    tap.equal(failure, "57014", "cancelled before anything was debited")
    tap.paid(0, "cancelled before anything was debited")
    tap.equal([r[0] for r in rows(conn, BY_DEPT)], KEYS, "the connection goes on")
    tap.paid(1, "the query after")
    conn.close()
    conn, failure = cancelled("LOCK TABLE dp_cdp_internal.release_log", "Extension")
    # or the ledger was faster to give up waiting for the lock
    tap.like(failure, "^(57014|ZC003)$", "cancelled while the ledger debits")
    tap.equal([r[0] for r in rows(conn, BY_DEPT)], KEYS, "the connection goes on")
    tap.paid_between(1, 2, "cancelled while the ledger debits, and the query after")
    conn.close()


def errors():
    def diagnosed(conn, statement):
        try:
            rows(conn, statement)
        except pyodbc.Error as e:
            return e.args
        raise RuntimeError("no error: " + statement)
    conn = connect()
    code, message = diagnosed(conn, "SELECT * FROM visits LIMIT 10")
    tap.equal(code, "ZC002", "rows: SQLSTATE")
    tap.like(message, "ask for private aggregates, such as SELECT dp_count", "rows: the message holds the remedy")
    code, message = diagnosed(conn, "SELECT dp_count(*) FROM visits WHERE md5(dept) = 'x'")
    tap.like(code + message, r"^ZC002.*function md5\(text\) cannot be used", "a function")
    code, message = diagnosed(conn, "SELECT sum(patient) FROM visits")
    tap.like(code + message, "^ZC004.*needs bounds: write .*set_bounds", "bounds: the message holds the remedy")
    intern = connect("intern1")
    code, message = diagnosed(intern, "SELECT dp_count(*), dp_sum(n), dp_sum(i4) FROM visits")
    tap.like(code + message, "(?s)^ZC001.*exhausted.*asked rho 0.000003, remaining 0.0000025 .*set_budget", "budget: the message holds the remedy")
    intern.close()
    tap.equal(diagnosed(connect("owner1"), "SELECT dp_count(*) FROM visits")[0], "ZC001", "no budget")
    tap.paid(0, "errors")
    row = rows(conn, "SELECT rho_limit, rho_spent, rho_remaining FROM dp_cdp.budgets")
    tap.ok(len(row) == 1 and all(dptap.finite(v) for v in row[0]), "what is left is in a view", row)
    conn.close()


def main():
    what_tools_send()
    settings()
    introspection()
    parameters()
    types()
    cursors()
    transactions()
    cancel()
    errors()
    tap.end()


dptap.guarded(main)

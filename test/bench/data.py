"""Tables for the figures, made one at a time in database bench, always as t.

Columns: unit, k100, k1000, k10000 (declared keys 0 to 99 and so on), wide (a
tenth as many values as rows, a million at most, not declared), x (integer)
and y (double precision), both from 0 to 100.  Or Adult, replicated; or items
of orders, as TPC-H has them.
"""
import csv
import dataclasses
import functools
import math
import os
import shutil
import subprocess

COLUMNS = "unit {unit_type} NOT NULL, k100 int NOT NULL, k1000 int NOT NULL, k10000 int NOT NULL, wide int NOT NULL, x int, y float8"
# how a unit's number is written in each type
UNITS = {"int": "u", "uuid": "md5(u::text)::uuid", "text": "'person' || u || '@example.org'"}
ITEM_COLUMNS = """unit int NOT NULL, flag text NOT NULL, quantity numeric(12,2) NOT NULL, price numeric(12,2) NOT NULL,
    discount numeric(12,2) NOT NULL, tax numeric(12,2) NOT NULL, shipped date NOT NULL"""
ROW_BYTES = 64
MOST_ROWS = 1000        # of one unit
ADULT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "adult.csv")
ADULT_COLUMNS = """id int, age int, workclass text, fnlwgt int, education text, education_num int,
    marital_status text, occupation text, relationship text, race text, sex text,
    capital_gain int, capital_loss int, hours_per_week int, native_country text, income text"""


@dataclasses.dataclass(frozen=True)
class Table:
    rows: int
    units: int
    skew: str = "uniform"       # or zipf: unit r has c/r rows, 1 to MOST_ROWS; half: the same, and half of all rows are one unit's
    order: str = "random"       # or clustered
    unique: bool = False        # an index says that units are unique
    adult: bool = False
    unit_type: str = "int"
    items: bool = False

    def __str__(self):
        if self.adult:
            return "Adult, %s rows" % short(self.rows)
        if self.items:
            return "items, %s rows, %s units" % (short(self.rows), short(self.units))
        return "%s rows, %s %sunits, %s, %s" % (short(self.rows), short(self.units),
                                                "" if self.unit_type == "int" else self.unit_type + " ", self.skew, self.order)

    @property
    def wide(self):
        return min(max(self.rows // 10, 1), 1000000)


# the server that is measured, and one with a former state of the extension, where there is one
SERVERS = [s for s in (os.environ["PGHOST"], os.environ.get("BENCH_THEN_HOST")) if s]
server = SERVERS[0]


def on_each_server(function):
    """Returns what it returns for the first one."""
    @functools.wraps(function)
    def run(*args):
        global server
        results = []
        try:
            for server in SERVERS:
                results.append(function(*args))
        finally:
            server = SERVERS[0]
        return results[0]
    return run


class Skipped(Exception):
    """A table that cannot be made here."""


def short(n):
    """1e7, 2.5e5, 300"""
    text = ("%.3g" % n) if n >= 1000 else str(n)
    if n >= 1000:
        exponent = int(math.floor(math.log10(n)))
        text = "%ge%d" % (round(n / 10 ** exponent, 2), exponent)
    return text


def owner_sql(sql, database="bench", take=False):
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", server, "-d", database, "-c", sql],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(" ".join(sql.split())[:200] + "\n" + done.stderr)
    return done.stdout.strip() if take else None


@on_each_server
def create_database():
    for sql in ("CREATE ROLE analyst LOGIN", "CREATE DATABASE bench"):
        owner_sql(sql, "postgres")
    owner_sql("CREATE EXTENSION dp_cdp")
    owner_sql("""
        SELECT dp_cdp.create_dataset('bench', delta => 0.9, default_rho => 0.01);
        SELECT dp_cdp.set_budget('bench', 'analyst', rho => 1000000, delta => 0.9)""")


def zipf_scale(rows, units):
    """c such that the sum of c/r, each between 1 and MOST_ROWS, is about rows."""
    def total(c):
        top, bottom = min(c / MOST_ROWS, units), min(c, units)
        return top * MOST_ROWS + (c * math.log(bottom / top) if bottom > top else 0) + (units - bottom)
    low, high = 1.0, float(MOST_ROWS) * units
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if total(middle) < rows else (low, middle)
    return low


def check_space(table):
    """The table, its sort, and what the costliest query writes, beside 1 GB."""
    need = table.rows * ROW_BYTES * (3 if table.order == "random" else 2) + 10 ** 9
    if server == SERVERS[0]:
        need += table.rows * ROW_BYTES * (len(SERVERS) - 1)
    free = shutil.disk_usage(os.getcwd()).free
    if need > free:
        raise Skipped("needs %.1f GB, BENCH_DIR has %.1f GB free" % (need / 1e9, free / 1e9))


@on_each_server
def make(table):
    """Makes t and says how many rows it has."""
    unprotect()
    owner_sql("DROP TABLE IF EXISTS t")
    check_space(table)
    if table.adult:
        make_adult(table)
    elif table.items:
        make_items(table)
    else:
        one = 0
        if table.units >= table.rows:
            source = "generate_series(1, %d) u" % table.rows
        else:
            per = "%d" % (table.rows // table.units)
            if table.skew in ("zipf", "half"):
                one = table.rows // 2 if table.skew == "half" else 0
                per = "greatest(1, least(%d, %r / u))::int" % (MOST_ROWS, zipf_scale(table.rows - one, table.units))
            source = "generate_series(1, %d) u, generate_series(1, %s) j" % (table.units, per)
        if one:
            source = f"(SELECT u FROM {source} UNION ALL SELECT 1 FROM generate_series(1, {one})) s"
        order = "ORDER BY random()" if table.order == "random" else ""
        owner_sql("CREATE UNLOGGED TABLE t (%s)" % COLUMNS.format(unit_type=table.unit_type))
        owner_sql(f"""
            SELECT setseed(0.1);
            SET work_mem = '1GB';
            INSERT INTO t
            SELECT {UNITS[table.unit_type]}, floor(random() * 100), floor(random() * 1000), floor(random() * 10000),
                   floor(random() * {table.wide}), floor(random() * 101), random() * 100
            FROM {source} {order}""")
        if table.unique:
            owner_sql("CREATE UNIQUE INDEX ON t (unit)")
    owner_sql("VACUUM (FREEZE, ANALYZE) t")
    owner_sql("CHECKPOINT")
    return int(owner_sql("SELECT count(*) FROM t", take=True))


def make_items(table):
    """As TPC-H's lineitem: four flags, seven years, units (customers) in random order."""
    owner_sql("CREATE UNLOGGED TABLE t (%s)" % ITEM_COLUMNS)
    owner_sql(f"""
        SELECT setseed(0.1);
        INSERT INTO t
        SELECT 1 + floor(random() * {table.units}), (ARRAY['A F', 'N F', 'N O', 'N O', 'R F', 'A F', 'N O', 'R F'])[1 + floor(random() * 8)::int],
               1 + floor(random() * 50), 900 + round((random() * 104000)::numeric, 2), floor(random() * 11) / 100, floor(random() * 9) / 100,
               date '1992-01-02' + floor(random() * 2526)::int
        FROM generate_series(1, {table.rows})""")


def make_adult(table):
    """The file over and over; id is the person, who has as many rows as there are copies."""
    if not os.path.exists(ADULT):
        raise Skipped("DP_CDP_DATA does not name a directory with adult.csv")
    with open(ADULT, encoding="utf-8") as file:
        people = sum(1 for _ in csv.reader(file)) - 1
    owner_sql("DROP TABLE IF EXISTS adult")
    owner_sql("CREATE UNLOGGED TABLE adult (%s)" % ADULT_COLUMNS)
    owner_sql("\\copy adult FROM '%s' WITH (FORMAT csv, HEADER)" % ADULT)
    copies = max(table.rows // people, 1)
    owner_sql("""CREATE UNLOGGED TABLE t AS
                 SELECT a.* FROM generate_series(1, %d) c, adult a""" % copies)


def unprotect():
    owner_sql("""SELECT dp_cdp.unprotect_table(objoid::regclass) FROM pg_seclabel
                 WHERE provider = 'dp_cdp' AND classoid = 'pg_class'::regclass AND objsubid = 0""")


@on_each_server
def protect(table, unit):
    """Protects t afresh: protect_table(unit => ...), bounds and keys."""
    unprotect()
    owner_sql("SELECT dp_cdp.protect_table('t', 'bench', %s)" % (f"unit => '{unit}'" if unit else "each_row => true"))
    if table.adult:
        owner_sql("""
            SELECT dp_cdp.set_bounds('t', 'age', 17, 90), dp_cdp.set_bounds('t', 'hours_per_week', 1, 99);
            SELECT dp_cdp.set_keys('t', 'education', (SELECT array_agg(DISTINCT education) FROM adult)),
                   dp_cdp.set_keys('t', 'sex', (SELECT array_agg(DISTINCT sex) FROM adult))""")
        return
    if table.items:
        owner_sql("""
            SELECT dp_cdp.set_bounds('t', 'quantity', 1, 50), dp_cdp.set_bounds('t', 'price', 900, 105000),
                   dp_cdp.set_bounds('t', 'discount', 0, 0.1), dp_cdp.set_keys('t', 'flag', ARRAY['A F', 'N F', 'N O', 'R F'])""")
        return
    owner_sql("""
        SELECT dp_cdp.set_bounds('t', 'x', 0, 100), dp_cdp.set_bounds('t', 'y', 0, 100);
        SELECT dp_cdp.set_keys('t', 'k' || n, (SELECT array_agg(i) FROM generate_series(0, n - 1) i))
        FROM unnest(ARRAY[100, 1000, 10000]) n""")

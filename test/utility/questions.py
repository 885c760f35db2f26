"""The tables, their policies, and what is asked of them.

No policy has a limit on what a unit contributes, and no session sets one.  Owners declare bounds and keys.
"""
import collections

# unit: the column; None: each row is a unit
Table = collections.namedtuple("Table", "columns unit bounds keys")

TABLES = {
    "insteval": Table("s int, d int, studage int, lectage int, service int, dept int, y int", "s",
                      {"y": (1, 5)}, ("d", "studage", "lectage", "service", "dept", "y")),
    "pbcseq": Table("""id int, futime int, status int, trt int, age float8, sex text, day int, ascites int, hepato int,
                       spiders int, edema float8, bili float8, chol int, albumin float8, "alk.phos" int, ast float8,
                       platelet int, protime float8, stage int""", "id",
                    {"albumin": (0, 10), "bili": (0, 50), "platelet": (0, 1000), "protime": (0, 40), "hepato": (0, 1)},
                    ("stage", "sex", "status", "edema", "trt")),
    "flchain": Table("""age int, sex text, "sample.yr" int, kappa float8, lambda float8, "flc.grp" int, creatinine float8,
                        mgus int, futime int, death int, chapter text""", None,
                     {"age": (0, 120), "kappa": (0, 25), "lambda": (0, 30), "creatinine": (0, 15), "futime": (0, 6000)},
                     ("sex", "sample.yr", "flc.grp", "chapter")),
    "restaurant_week": Table("visitor int, entered text, minutes int, euros int, day int", "visitor",
                             {"minutes": (0, 120), "euros": (0, 120)}, ("day",)),
    "adult": Table("""id int, age int, workclass text, fnlwgt int, education text, education_num int,
                      marital_status text, occupation text, relationship text, race text, sex text, capital_gain int,
                      capital_loss int, hours_per_week int, native_country text, income text""", None,
                   {"age": (0, 120), "hours_per_week": (0, 100), "capital_gain": (0, 1000000)},
                   ("education", "occupation", "race", "sex")),
}

# Rows that are made: 6,000 readers, of whom the one at a rank r borrows in proportion to r^-0.33, r^-0.55 and r^-0.67.
MADE = {
    "readers": (Table("reader int, branch int, pages int, tail int", "reader", {"pages": (0, 500)}, ("branch",)),
                """SELECT 10000 * tail + floor(6000 * ((i - 0.5) / 50000) ^ power), i % 4, 50 + i * 7919 % 300, tail
                   FROM generate_series(1, 50000) i, (VALUES (1, 1.5), (2, 2.2), (3, 3)) AS t (tail, power)"""),
}
TABLES |= {name: table for name, (table, _) in MADE.items()}

# A question: what is asked, as count(*), sum(x), avg(x) or count(DISTINCT x), by which keys ("": of all rows), under which condition.
# found: nobody has declared the keys, so that they must be found, too.
Question = collections.namedtuple("Question", "table ask by where found", defaults=("", "", False))


def _questions():
    q = Question
    rows = [q("insteval", "count(*)")]
    rows += [q("insteval", "count(*)", by) for by in ("dept", "y", "lectage", "studage", "service", "dept, service", "dept, y", "d")]
    rows += [q("insteval", "count(*)", "", "y = 5"), q("insteval", "count(*)", "dept", "y >= 4"),
             q("insteval", "count(*)", "lectage", "service = 1"), q("insteval", "count(*)", "y", "dept = 5"),
             q("insteval", "count(*)", "dept", "", True)]
    rows += [q("insteval", "sum(y)", by) for by in ("", "dept", "lectage", "service")]
    rows += [q("insteval", "sum(y)", "dept", "studage = 2")]
    rows += [q("insteval", "avg(y)", by) for by in ("", "dept", "lectage", "studage")]
    rows += [q("insteval", "avg(y)", "lectage", "dept = 5")]

    rows += [q("pbcseq", "count(*)"), q("pbcseq", "count(*)", "", "ascites = 1")]
    rows += [q("pbcseq", "count(*)", by) for by in ("stage", "sex", "status", "edema")]
    rows += [q("pbcseq", "count(*)", "width_bucket(day, 0, 5475, 15)"), q("pbcseq", "count(*)", "stage", "hepato = 1"),
             q("pbcseq", "count(*)", "stage", "", True)]
    rows += [q("pbcseq", "sum(albumin)"), q("pbcseq", "sum(albumin)", "stage"), q("pbcseq", "sum(bili)", "stage"),
             q("pbcseq", "sum(platelet)", "width_bucket(day, 0, 5475, 15)"), q("pbcseq", "sum(protime)", "sex")]
    rows += [q("pbcseq", "avg(albumin)"), q("pbcseq", "avg(bili)", "stage"), q("pbcseq", "avg(platelet)", "sex"),
             q("pbcseq", "avg(hepato)", "stage")]

    week = "restaurant_week"
    rows += [q(week, "count(*)"), q(week, "count(*)", "day"), q(week, "count(*)", "width_bucket(minutes, 0, 120, 6)"),
             q(week, "count(*)", "width_bucket(minutes, 0, 120, 6)", "day >= 6"), q(week, "count(*)", "", "day >= 6"),
             q(week, "count(*)", "day", "", True),
             q(week, "sum(euros)"), q(week, "sum(euros)", "day"), q(week, "sum(minutes)", "day"),
             q(week, "avg(euros)", "day"), q(week, "avg(minutes)")]

    rows += [q("flchain", "count(*)")]
    rows += [q("flchain", "count(*)", by) for by in ("sex", '"sample.yr"')]
    rows += [q("flchain", "count(*)", "sex", "death = 1"), q("flchain", "sum(age)", "sex"), q("flchain", "sum(kappa)", '"flc.grp"'),
             q("flchain", "sum(lambda)"),
             q("flchain", "count(*)", "chapter", "chapter <> ''"), q("flchain", "sum(futime)", "chapter", "chapter <> ''"),
             q("flchain", "avg(age)", "chapter", "chapter <> ''")]

    rows += [q("insteval", "count(DISTINCT d)", by) for by in ("", "service", "studage", "dept")]
    rows += [q("insteval", "count(DISTINCT dept)", "lectage"), q("pbcseq", "count(DISTINCT chol)"),
             q("pbcseq", "count(DISTINCT platelet)", "stage"), q(week, "count(DISTINCT euros)"), q(week, "count(DISTINCT minutes)", "day"),
             q("adult", "count(DISTINCT age)"), q("adult", "count(DISTINCT native_country)", "race")]

    for tail in (1, 2, 3):
        rows += [q("readers", "count(*)", "", f"tail = {tail}"), q("readers", "count(*)", "branch", f"tail = {tail}"),
                 q("readers", "sum(pages)", "", f"tail = {tail}")]

    rows += [q("adult", "count(*)")]
    rows += [q("adult", "count(*)", by) for by in ("education", "race")]
    rows += [q("adult", "count(*)", "occupation", "occupation IS NOT NULL")]
    rows += [q("adult", "count(*)", "sex", "income = '>50K'"), q("adult", "sum(hours_per_week)"),
             q("adult", "sum(hours_per_week)", "education"), q("adult", "sum(capital_gain)"),
             q("adult", "avg(hours_per_week)", "education"), q("adult", "avg(age)", "sex")]
    return rows


QUESTIONS = _questions()

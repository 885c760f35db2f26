"""The files of docs/monitoring: queries run as the role "monitor" and give what
the collector says; dashboard and alerts name metrics and labels that there are.

    monitoring.py FOLDER        where promtool is, it reads rules and expressions, too
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import yaml
from dptap import Tap


class Files(Tap):
    def __init__(self):
        self.n = 0


tap = Files()


def rows(sql):
    run = subprocess.run(["psql", "-X", "-A", "-F", "\t", "-U", "monitor", "-c", sql], capture_output=True, text=True, check=False)
    if run.returncode:
        return None, run.stderr
    lines = run.stdout.split("\n")[:-2]         # without the number of rows
    return lines[0].split("\t"), [line.split("\t") for line in lines[1:]]


def check_collector(path):
    """name of each metric -> its labels"""
    collector = yaml.safe_load(open(path))
    tap.equal(sorted(set(collector) - {"collector_name", "min_interval", "metrics", "queries"}), [], "no unknown part in the collector")
    queries = {q["query_name"]: q["query"] for q in collector["queries"]}
    found, results = {}, {}
    for name, sql in queries.items():
        results[name] = rows(sql)
        tap.ok(results[name][0] is not None, f"query {name} runs as monitor", results[name][1])
    for metric in collector["metrics"]:
        name = metric["metric_name"]
        columns, data = results[metric["query_ref"]]
        tap.ok(set(metric) == {"metric_name", "type", "help", "key_labels", "values", "query_ref"} and metric["type"] in ("gauge", "counter")
               and re.fullmatch(r"dp_cdp_[a-z_]+", name) and len(metric["values"]) == 1 and metric["help"], f"{name}: as collectors are", metric)
        if columns is None:
            continue
        wanted = metric["key_labels"] + metric["values"]
        tap.ok(set(wanted) <= set(columns), f"{name}: its columns are there", wanted, columns)
        keys = [tuple(row[columns.index(k)] for k in metric["key_labels"]) for row in data]
        tap.ok(keys and len(keys) == len(set(keys)), f"{name}: a value for each set of labels")
        values = [row[columns.index(metric["values"][0])] for row in data]
        tap.ok(all(v and not math.isnan(float(v)) and float(v) >= 0 for v in values), f"{name}: values are numbers", values[:20])
        found[name] = set(metric["key_labels"])
    used = {m["query_ref"] for m in collector["metrics"]}
    tap.equal(used, set(queries), "all queries are used")
    return found


def check_expression(expression, metrics, where):
    names = set(re.findall(r"\bdp_cdp_\w+", expression))
    tap.ok(names and names <= set(metrics), f"{where}: its metrics are exported", expression, names - set(metrics))
    for name, labels in re.findall(r"(dp_cdp_\w+)\{(.*?)\}", expression):
        tap.ok(set(re.findall(r"(\w+)\s*(?:=~|!=|!~|=)", labels)) <= metrics.get(name, set()), f"{where}: labels of {name}", labels)


def main():
    folder = sys.argv[1]
    metrics = check_collector(os.path.join(folder, "dp-cdp.collector.yml"))
    dashboard = json.load(open(os.path.join(folder, "dp-cdp.dashboard.json")))
    expressions = []
    ids = [p["id"] for p in dashboard["panels"]]
    tap.equal(len(ids), len(set(ids)), "panels have ids of their own")
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            check_expression(target["expr"], metrics, f"panel '{panel['title']}'")
            by = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
            tap.ok(all(b in target["expr"] or b in set().union(*(metrics.get(m, set()) for m in re.findall(r"dp_cdp_\w+", target["expr"]))) for b in by),
                   f"panel '{panel['title']}': its legend", target)
            expressions.append(re.sub(r"\$\w+", ".*", target["expr"]))
        # rows of a table are merged where all labels agree, and a metric that is not aggregated has its name among them
        if any(t["id"] == "merge" for t in panel.get("transformations", [])):
            tap.equal([t["expr"] for t in panel["targets"] if not re.match(r"(sum|min|max|avg|count) (by|without) ?\(", t["expr"])], [],
                      f"panel '{panel['title']}': rows of its targets can be merged")
        named = {o["matcher"]["options"] for o in panel["fieldConfig"]["overrides"] if o["matcher"]["id"] == "byName"}
        tap.ok(named <= {t["legendFormat"] for t in panel["targets"]}, f"panel '{panel['title']}': overrides are of series that it has", named)
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()
            check_expression(metric, metrics, f"variable {variable['name']}")
            tap.ok(label in metrics.get(re.match(r"\w+", metric).group(), set()), f"variable {variable['name']}: label {label}")
    boxes = [(p["gridPos"], p["title"]) for p in dashboard["panels"]]
    tap.equal([(a[1], b[1]) for i, a in enumerate(boxes) for b in boxes[i + 1:]
               if a[0]["x"] < b[0]["x"] + b[0]["w"] and b[0]["x"] < a[0]["x"] + a[0]["w"]
               and a[0]["y"] < b[0]["y"] + b[0]["h"] and b[0]["y"] < a[0]["y"] + a[0]["h"]], [], "panels do not lie on one another")
    rules = yaml.safe_load(open(os.path.join(folder, "dp-cdp.rules.yml")))
    for rule in rules["groups"][0]["rules"]:
        check_expression(rule["expr"], metrics, f"alert {rule['alert']}")
        labels = set().union(*(metrics.get(m, set()) for m in re.findall(r"dp_cdp_\w+", rule["expr"])))
        tap.ok(set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= labels, f"alert {rule['alert']}: labels of its summary")
    if shutil.which("promtool"):
        with tempfile.TemporaryDirectory() as work:
            made = os.path.join(work, "dashboard.yml")
            yaml.safe_dump({"groups": [{"name": "dashboard", "rules": [{"record": f"panel:{i}", "expr": e} for i, e in enumerate(expressions)]}]},
                           open(made, "w"))
            for path, what in ((os.path.join(folder, "dp-cdp.rules.yml"), "alerts"), (made, "expressions of the dashboard")):
                run = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True, check=False)
                tap.ok(run.returncode == 0, f"promtool reads the {what}", run.stdout, run.stderr)
    print(f"end {tap.n}")


main()

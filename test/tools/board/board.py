#!/usr/bin/env python3
"""Asks what the board of docs/monitoring shows, for a picture of it: test/tools/board.sh runs it.

    board.py MONITORING DIRECTORY     PGHOST and PGPORT: a server whose superuser is PGUSER, with
                                      the demo's registry (test/demo/history.sql) in the database PGDATABASE

A board shows a month, and a registry of the demo has its past in the audit alone.  So this lives the month again: for each hour it restores
the audit as it was then, moved so that this hour is now, and adopts it.  Then the role "monitor" of docs/howto/monitor.md asks the queries of
the collector.  Prometheus takes the answers, with the times that they are of, and answers the expressions of the board.
Nothing is left of the database's own audit.  DIRECTORY gets answers.json: the board, and the answers of each target.
"""
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import yaml

HOUR = 3600
RANGE = 30 * 24             # hours that the board shows
BEFORE = 24                 # and those that increase(...[1d]) looks back from the first

PREPARE = """
CREATE ROLE monitor LOGIN;
GRANT SELECT ON dp_cdp.metrics, dp_cdp.metrics_hour TO monitor;
GRANT EXECUTE ON FUNCTION dp_cdp.setup_metrics() TO monitor;
CREATE TABLE public.past AS SELECT * FROM dp_cdp_internal.release_log;
CREATE TABLE public.renewal AS
SELECT dataset, role, rho_limit, delta_limit, report_delta, period, renews_at FROM dp_cdp_internal.budget WHERE renews_at IS NOT NULL;
SELECT extract(epoch FROM max(released_at) + interval '1 minute')::bigint FROM public.past;
"""

# the audit at a time, as if it were now; a budget that renews does so at the first of its times after that
RESTORE = """
RESET SESSION AUTHORIZATION;
SELECT dp_cdp.empty_ledger() \\g /dev/null
INSERT INTO dp_cdp_internal.release_log OVERRIDING SYSTEM VALUE
SELECT moved.* FROM public.past p, LATERAL jsonb_populate_record(p,
	jsonb_build_object('released_at', p.released_at + (now() - to_timestamp({then})), 'hash', NULL, 'paid_by', NULL)) moved
WHERE p.released_at <= to_timestamp({then}) ORDER BY p.released_at;
SELECT dp_cdp.drop_budget(dataset, role::regrole) FROM public.renewal \\g /dev/null
INSERT INTO dp_cdp_internal.budget (dataset, role, rho_limit, delta_limit, report_delta, period, renews_at)
SELECT r.dataset, r.role, r.rho_limit, r.delta_limit, r.report_delta, r.period,
	(SELECT min(t) FROM generate_series(0, 99) i, LATERAL (SELECT r.renews_at - i * r.period) x(t) WHERE t > to_timestamp({then}))
		+ (now() - to_timestamp({then}))
FROM public.renewal r;
SELECT dp_cdp.adopt_ledger() \\g /dev/null
SET SESSION AUTHORIZATION monitor;
"""


def psql(sql):
    run = subprocess.run(["psql", "-X", "-q", "-A", "-F", "\t", "-P", "footer=off", "-v", "ON_ERROR_STOP=1"],
                         input="SET client_min_messages = error;" + sql, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if run.returncode:
        sys.exit(run.stderr)
    return run.stdout


def past(collector):
    """The last hour, and the metrics of each hour as text that Prometheus reads."""
    last = int(psql(PREPARE).split()[-1])
    hours = [last - HOUR * i for i in range(RANGE + BEFORE, -1, -1)]
    script = ""
    for i, then in enumerate(hours):
        if i % 24 == 0:
            # each hour leaves a dead audit behind
            script += "RESET SESSION AUTHORIZATION; VACUUM dp_cdp_internal.release_log, dp_cdp_internal.dataset, dp_cdp_internal.budget, dp_cdp_internal.ledger_stamp, dp_cdp_internal.ledger_chain;\n"
        script += RESTORE.format(then=then)
        for query in collector["queries"]:
            # findings do not follow from the audit, and take longest
            if query["query_name"] != "setup" or then == last:
                script += f"\\echo @@{then} {query['query_name']}\n{query['query'].strip().rstrip(';')};\n"
    samples = {metric["metric_name"]: [] for metric in collector["metrics"]}
    for answer in psql(script).split("@@")[1:]:
        of, heading, *rows = answer.rstrip("\n").split("\n")
        then, query = of.split()
        for metric in collector["metrics"]:
            if metric["query_ref"] == query:
                for row in rows:
                    cells = dict(zip(heading.split("\t"), row.split("\t")))
                    labels = [f'{key}="{cells[key]}"' for key in metric["key_labels"]] + ['job="dp_cdp"', 'instance="clinic"']
                    value = cells[metric["values"][0]].replace("Infinity", "+Inf")
                    samples[metric["metric_name"]].append(f"{metric['metric_name']}{{{','.join(labels)}}} {value} {then}\n")
    return last, "".join(f"# TYPE {name} unknown\n" + "".join(lines) for name, lines in samples.items()) + "# EOF\n"


class Prometheus:
    """Prometheus with samples of a past."""

    def __init__(self, directory, samples):
        self.directory = directory
        for name, text in (("samples", samples), ("prometheus.yml", "{}\n")):
            with open(os.path.join(directory, name), "w", encoding="utf-8") as out:
                out.write(text)
        self.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", "-q", "--max-block-duration=768h", "samples", "data"])
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"

    def run(self, command):
        run = subprocess.run(command, cwd=self.directory, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if run.returncode:
            sys.exit(run.stdout)

    def __enter__(self):
        # a sample holds until the next one, an hour later
        self.log = open(os.path.join(self.directory, "log"), "w", encoding="utf-8")
        self.server = subprocess.Popen(["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--storage.tsdb.retention.time=10y",
                                        "--query.lookback-delta=1h", f"--web.listen-address={self.address}"], cwd=self.directory, stdout=self.log, stderr=self.log)
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://{self.address}/-/ready").close()
                return self
            except OSError:
                time.sleep(0.1)
        self.server.terminate()
        sys.exit(open(self.log.name, encoding="utf-8").read())

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        self.log.close()

    def ask(self, how, **what):
        with urllib.request.urlopen(f"http://{self.address}/api/v1/{how}?{urllib.parse.urlencode(what)}") as answer:
            return json.load(answer)["data"]["result"]


def main():
    monitoring, directory = sys.argv[1:]
    with open(os.path.join(monitoring, "dp-cdp.collector.yml"), encoding="utf-8") as f:
        collector = yaml.safe_load(f)
    with open(os.path.join(monitoring, "dp-cdp.dashboard.json"), encoding="utf-8") as f:
        board = json.load(f)
    last, samples = past(collector)
    first = last - RANGE * HOUR
    answers = {}
    with Prometheus(directory, samples) as prometheus:
        for panel in board["panels"]:
            for target in panel["targets"]:
                # as all datasets and roles are chosen
                expression = re.sub(r"\$\w+", ".*", target["expr"])
                answers.setdefault(panel["id"], {})[target["refId"]] = prometheus.ask("query", query=expression, time=last) if target.get("instant") else \
                    prometheus.ask("query_range", query=expression, start=first, end=last, step=HOUR)
    with open(os.path.join(directory, "answers.json"), "w", encoding="utf-8") as out:
        json.dump({"board": board, "from": first * 1000, "to": last * 1000, "answers": answers}, out)


main()

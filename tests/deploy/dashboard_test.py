"""Checks that the dashboard and the alert rules match the metrics of a collector and its pages. If Prometheus is installed,
it scrapes both under load, and the test checks that each panel has data.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/integration"))
from pipeline import SAMPLES, Pipeline  # noqa: E402

DASHBOARD = ROOT / "deploy/grafana/telemetry.json"
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
OPERATING = ROOT / "deploy/OPERATING.md"
PATIENCE_S = 120


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as response:
        return response.read().decode()


def panels():
    return [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]


def expressions():
    return [(panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]]


def named(text, histograms):
    """Returns the metrics that a text names. A histogram's series count as the histogram."""
    names = set()
    for name in re.findall(r"\btelemetry_[a-z_]+", text):
        base = re.sub("_(bucket|sum|count)$", "", name)
        names.add(base if base in histograms else name)
    return names


class Dashboard(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        # The ports of the collector's metrics, and of the pages, which have metrics of their own.
        self.ports = [free_port(), free_port()]
        addresses = [f"127.0.0.1:{port}" for port in self.ports]
        self.pipeline = Pipeline(self.folder / "p", serve_flags=[
            f"--metrics-listen={addresses[0]}", f"--web-listen={addresses[1]}", "--keep-age=3650d"])

    def metrics(self):
        return "".join(fetch(f"http://127.0.0.1:{port}/metrics") for port in self.ports)

    def test_names_what_there_is_and_leaves_nothing_out(self):
        with self.pipeline.serving():
            kinds = dict(re.findall(r"^# TYPE (telemetry_\S+) (\S+)$", self.metrics(), re.MULTILINE))
        histograms = {name for name, kind in kinds.items() if kind == "histogram"}
        self.assertGreater(len(kinds), 10)
        shown = named(" ".join(expression for _, expression in expressions()), histograms)
        self.assertEqual(shown, set(kinds), "what the dashboard shows, and what the programs tell")
        self.assertLessEqual(named("\n".join(re.findall("expr:(.*?)\n +for:", ALERTS.read_text(), re.DOTALL)), histograms),
                             set(kinds), "what the alerts look at")
        self.assertEqual(set(kinds) - named(OPERATING.read_text(), histograms), set(), "not explained in deploy/OPERATING.md")

    def test_panels_have_ids_and_places_of_their_own(self):
        every = json.loads(DASHBOARD.read_text())["panels"]
        self.assertEqual(len({panel["id"] for panel in every}), len(every))
        taken = set()
        for panel in every:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            for x in range(place["x"], place["x"] + place["w"]):
                for y in range(place["y"], place["y"] + place["h"]):
                    self.assertNotIn((x, y), taken, panel["title"])
                    taken.add((x, y))

    @unittest.skipUnless(shutil.which("prometheus"), "Prometheus is not installed")
    def test_each_panel_has_data_in_prometheus(self):
        with self.pipeline.serving():
            with self.prometheus() as address:
                for sample in range(len(SAMPLES)):  # commits at several times give nonzero rates
                    self.pipeline.forward(SAMPLES[sample].path(), flags=SAMPLES[sample].flags, state=f"state{sample}",
                                          accept=(0, 1))
                    self.await_scrape(address)
                missing = expressions()
                end = time.monotonic() + PATIENCE_S
                while missing and time.monotonic() < end:
                    missing = [(title, e) for title, e in missing if not self.ask(address, self.filled_in(e))]
                    time.sleep(0.5)
        self.assertEqual(missing, [], "panels without data")

    @staticmethod
    def filled_in(expression):
        """Returns the query as Grafana expands it with all jobs and collectors selected."""
        return expression.replace("$job", ".*").replace("$instance", ".*").replace("$__rate_interval", "1m")

    @staticmethod
    def ask(address, expression):
        query = urllib.parse.urlencode({"query": expression})
        answer = json.loads(fetch(f"{address}/api/v1/query?{query}"))
        return [r for r in answer["data"]["result"] if r["value"][1] != "NaN"]

    def await_scrape(self, address):
        """Waits until Prometheus has scraped the current values."""
        end = time.monotonic() + PATIENCE_S
        wanted = re.search(r"^telemetry_records_accepted_total (\S+)$", self.metrics(), re.MULTILINE)[1]
        while time.monotonic() < end:
            seen = self.ask(address, "telemetry_records_accepted_total")
            if seen and float(seen[0]["value"][1]) >= float(wanted):
                return
            time.sleep(0.2)
        self.fail(f"Prometheus does not see {wanted} records")

    def prometheus(self):
        test = self

        class Running:
            def __enter__(self):
                port = free_port()
                config = test.folder / "prometheus.yml"
                config.write_text(
                    "global: {scrape_interval: 1s}\n"
                    "scrape_configs:\n"
                    "  - job_name: telemetry-collector\n"
                    f"    static_configs: [{{targets: {[f'127.0.0.1:{port}' for port in test.ports]}}}]\n")
                with open(test.folder / "prometheus.log", "wb") as log:
                    self.process = subprocess.Popen(
                        ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={test.folder / 'tsdb'}",
                         f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log, cwd=test.folder)
                address = f"http://127.0.0.1:{port}"
                end = time.monotonic() + PATIENCE_S
                while time.monotonic() < end and self.process.poll() is None:
                    try:
                        fetch(f"{address}/-/ready")
                        return address
                    except OSError:
                        time.sleep(0.2)
                raise AssertionError((test.folder / "prometheus.log").read_text())

            def __exit__(self, *_):
                self.process.terminate()
                self.process.wait(30)

        return Running()


if __name__ == "__main__":
    unittest.main()

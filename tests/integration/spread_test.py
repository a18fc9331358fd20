"""Tests a dataset on two PostgreSQL servers, set up like deploy/fleet/spread: two collectors write to it, the first
server is killed, and exports have the same bytes as those of a single collector with SQLite.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata, with its own servers.
TELEMETRY_FAULTS is the number of kills of the server (default 5). TELEMETRY_SEED repeats a run's choices.
"""

import contextlib
import pathlib
import random
import subprocess
import tempfile
import threading
import time
import unittest

import settings
from pipeline import ROOT, SAMPLES, TIMEOUT_S, Pipeline, run
from postgresql_test import Server

LAYOUTS = ("helion", "pr2750")
FAULTS = settings.faults(5)


class Spread(unittest.TestCase):
    def setUp(self):
        # A short path, because it contains PostgreSQL's socket. Accessible to the user that runs PostgreSQL.
        folder = tempfile.TemporaryDirectory(prefix="spread.", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.first, self.second = Server(self.folder / "first"), Server(self.folder / "second")
        for server in (self.first, self.second):
            server.start()
            self.addCleanup(server.stop)
        run("telemetry-collector", "migrate", "--db", self.first.url())
        self.spread()

    def spread(self):
        subprocess.run([ROOT / "deploy/fleet/spread", self.first.url(), self.second.url()], check=True, timeout=TIMEOUT_S)

    def pipeline(self, name, database=None):
        return Pipeline(self.folder / name, database=database or self.first.url())

    def forward_all(self, *collectors, origin="ci/1", state="state"):
        for number, sample in enumerate(SAMPLES):
            collectors[number % len(collectors)].forward(sample.path(), flags=sample.flags, origin=origin, state=state)

    def exports(self, pipeline):
        return {layout: pipeline.export(layout, "--details") for layout in LAYOUTS}

    def expected(self, origins=("ci/1",)):
        alone = self.pipeline("alone", self.folder / "alone.db")
        with alone.serving():
            for number, origin in enumerate(origins):
                self.forward_all(alone, origin=origin, state=f"state{number}")
        return self.exports(alone)

    def assert_same(self, expected):
        got = self.exports(self.pipeline(f"export{time.monotonic_ns()}"))
        for layout, files in expected.items():
            self.assertEqual(sorted(got[layout]), sorted(files))
            for name, content in files.items():
                self.assertTrue(got[layout][name] == content, f"{name} of {layout} differs")

    def rows_on_second(self, table):
        return int(self.second.query(f"SELECT count(*) FROM telemetry_parts.{table}"))

    def test_two_collectors_fill_both_servers(self):
        one, other = self.pipeline("one"), self.pipeline("other")
        with one.serving(), other.serving():
            self.forward_all(one, other)
        self.assert_same(self.expected())
        whole = int(self.first.query("SELECT count(*) FROM measurements"))
        self.assertTrue(0 < self.rows_on_second("measurements") < whole)
        self.assertGreater(self.rows_on_second("ir_nodes"), 0)

    def test_a_dataset_is_copied_into_it_and_out_of_it(self):
        alone = self.pipeline("alone2", self.folder / "alone2.db")
        with alone.serving():
            self.forward_all(alone)
        run("telemetry-collector", "copy", "--from", alone.database, "--to", self.first.url())
        self.assertGreater(self.rows_on_second("measurements"), 0)
        self.assert_same(self.exports(alone))
        run("telemetry-collector", "copy", "--from", self.first.url(), "--to", self.folder / "back.db")
        self.assertEqual(self.exports(self.pipeline("back", self.folder / "back.db")), self.exports(alone))

    def test_what_is_not_empty_is_not_spread(self):
        self.first.query("CREATE DATABASE full_one")
        self.second.query("CREATE DATABASE parts")
        full = self.pipeline("full", self.first.url("full_one"))
        with full.serving():
            self.forward_all(full)
        before = self.exports(full)
        done = subprocess.run(
            [ROOT / "deploy/fleet/spread", self.first.url("full_one"), self.second.url("parts")],
            capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the dataset is not empty", done.stderr)
        self.assertEqual(self.exports(full), before)

    def test_rows_that_half_of_a_commit_left_are_stored_when_they_come_again(self):
        # The second server commits first. If the first server is killed before its commit, rows are stored that refer to
        # unknown configs and statuses. The producer received no acknowledgement and resends all records.
        one = self.pipeline("one")
        with one.serving():
            self.forward_all(one)
        self.first.query("UPDATE statuses SET status = DEFAULT")
        self.first.query("UPDATE configs SET config = DEFAULT")
        self.first.query("DELETE FROM run_configs; DELETE FROM producers")
        for number in range(8):
            self.first.query(f"DELETE FROM measurements_{number}")
        with one.serving():
            self.forward_all(one, state="another")
        self.assert_same(self.expected())
        self.assertEqual(self.first.query("SELECT count(*) FROM rejects"), "0")

    def test_the_first_server_is_killed_at_any_moment(self):
        chance = random.Random(settings.seed())
        origins = [f"ci/{number}" for number in range(FAULTS)]
        with contextlib.ExitStack() as stack:
            collectors = [stack.enter_context(self.pipeline(name).serving()) for name in ("one", "other")]
            for number, origin in enumerate(origins):
                ingest = threading.Thread(
                    target=self.forward_all, args=collectors, kwargs={"origin": origin, "state": f"state{number}"}
                )
                ingest.start()
                # The kill must hit a random moment, so the test waits for a random time and not for an event.
                ingest.join(chance.uniform(0, 0.5))
                self.first.tell("kill", self.first.folder)
                self.first.tell("resume", self.first.folder)
                ingest.join(TIMEOUT_S)
                self.assertFalse(ingest.is_alive())
        self.assert_same(self.expected(origins))
        self.assertEqual(self.first.query("SELECT count(*) FROM rejects"), "0")


if __name__ == "__main__":
    unittest.main()

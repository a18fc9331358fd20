"""Tests the retention of a dataset on PostgreSQL that two collectors serve, one of which is killed while it removes data.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata, and on a database of the
server in TELEMETRY_TEST_POSTGRESQL.
"""

import contextlib
import pathlib
import subprocess
import tempfile
import time
import unittest

from pipeline import BIN, SAMPLES, TIMEOUT_S, Pipeline, csv_rows, environment_with, new_server_database, run

# One run with many attempts, of which the rules keep the newest.
ATTEMPTS = 400
ROWS = 500
FILL = f"""
INSERT INTO runs (run_id, sender) VALUES (repeat('a', 64), 0);
INSERT INTO statuses (name) VALUES ('ok');
INSERT INTO configs (config_id, unsplit_text, sender) VALUES (7, 'Config()', 0);
INSERT INTO attempts (attempt_id, run, origin, dialect, state, provisional, first_received_unix_us)
  SELECT decode(lpad(to_hex(i), 32, '0'), 'hex'), 1, 'ci/1', 'helion', 'complete', 0, i
  FROM generate_series(1, {ATTEMPTS}) AS i;
INSERT INTO measurements (run, attempt, seq, timestamp_s, generation, status, perf_ms, config)
  SELECT a.run, a.attempt, seq, seq, 0, 1, 0.5, 1 FROM attempts AS a, generate_series(1, {ROWS}) AS seq;
ANALYZE;
"""
RULES = ("--keep-bytes=1",)


class Retention(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="retention_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.database = new_server_database()
        run("telemetry-collector", "migrate", f"--db={self.database}")
        self.query(FILL)

    def query(self, sql):
        done = subprocess.run(
            ["psql", "-qXtA", "-v", "ON_ERROR_STOP=1", "-c", sql, self.database],
            check=True, capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        return done.stdout.strip()

    def attempts(self):
        return int(self.query("SELECT count(*) FROM attempts WHERE run = 1"))

    def await_true(self, what, condition):
        until = time.monotonic() + TIMEOUT_S
        while not condition():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.02)

    @contextlib.contextmanager
    def collector_to_kill(self):
        with open(self.folder / "killed.log", "wb") as log:
            process = subprocess.Popen(
                [BIN / "telemetry-collector", "serve", f"--db={self.database}", "--listen=127.0.0.1:0", *RULES],
                stdout=subprocess.DEVNULL, stderr=log, env=environment_with({}),
            )  # fmt: skip
            try:
                yield process
            finally:
                process.kill()
                process.wait(TIMEOUT_S)

    def test_another_collector_takes_over_while_records_arrive(self):
        second = Pipeline(self.folder / "second", database=self.database, serve_flags=RULES)
        sample = SAMPLES[0]
        with self.collector_to_kill() as first:
            self.await_true("nothing is removed", lambda: self.attempts() < ATTEMPTS)
            with second.serving():
                first.kill()
                first.wait(TIMEOUT_S)
                left = self.attempts()
                self.assertGreater(left, 1, "the first collector was done before it was killed")
                second.forward(sample.path(), flags=sample.flags)
                self.await_true("no other collector takes over", lambda: self.attempts() == 1)
                self.await_true("rows are left", lambda: self.query("SELECT count(*) FROM removed_attempts") == "0")
        # The newest attempt is complete, and so is everything that was acknowledged meanwhile.
        kept = self.query("SELECT ltrim(encode(attempt_id, 'hex'), '0') FROM attempts WHERE run = 1")
        self.assertEqual(int(kept, 16), ATTEMPTS)
        self.assertEqual(self.query("SELECT count(*) FROM measurements WHERE run = 1"), str(ROWS))
        rows = csv_rows(second.export("helion")[".csv"])
        self.assertEqual([row for row in csv_rows(sample.original(".csv")) if row not in rows], [])
        self.assertEqual(self.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
                                    "(SELECT oid FROM pg_database WHERE datname = current_database())"), "0")  # fmt: skip
        self.assertIn("no damage found", run("telemetry-collector", "check", f"--db={self.database}"))
        self.assertIn("removed old data", (second.folder / "collector.log").read_text())


if __name__ == "__main__":
    unittest.main()

"""Tests the deletion of attempts by run and origin: from a SQLite file, from a PostgreSQL server that a collector
uses, and through a collector. Forwarding the sidecars again restores the attempts.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata, and on a database of the
server in TELEMETRY_TEST_POSTGRESQL if it is set.
"""

import json
import os
import pathlib
import pty
import subprocess
import tempfile
import unittest

from pipeline import BIN, SAMPLES, TIMEOUT_S, Pipeline, environment_with, run, server


class Delete(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="delete_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tokens = self.folder / "tokens.json"
        self.token("writer", "--role=writer,reader")
        self.token("operator", "--role=deleter")
        self.pipeline = Pipeline(
            self.folder / "pipeline",
            serve_flags=(f"--tokens={self.tokens}",),
            client_flags=(f"--token-file={self.folder / 'writer'}",),
        )

    def token(self, name, role):
        out = f"--out={self.folder / name}"
        run("telemetry-collector", "token", "add", "--tokens", self.tokens, f"--name={name}", role, out)

    def forward(self, origin):
        for sample in SAMPLES[:3]:
            self.pipeline.forward(sample.path(), origin=origin, flags=sample.flags)

    def delete(self, *flags, through=None):
        """Runs the delete command and returns its output.

        through: the token for the collector; None: the command opens the database itself.
        """
        place = [f"--db={self.pipeline.database}"]
        if through:
            place = [f"--collector={self.pipeline.address}", f"--token-file={self.folder / through}"]
        return run("telemetry-collector", "delete", *place, *flags)

    def complaint(self, *flags, status=1):
        done = subprocess.run(
            [BIN / "telemetry-collector", "delete", *map(str, flags)],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            env=environment_with({}),
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr

    def answer(self, text, *flags):
        """Runs the command on a terminal, types the answer, and returns the exit status and the terminal's contents."""
        main, terminal = pty.openpty()
        process = subprocess.Popen(
            [BIN / "telemetry-collector", "delete", *map(str, flags)],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=environment_with({}),
        )
        os.close(terminal)
        shown = b""
        answered = False
        while True:
            try:
                shown += os.read(main, 4096)
            except OSError:  # the program has closed its side
                break
            if b"Type yes:" in shown and not answered:
                os.write(main, text)
                answered = True
        os.close(main)
        return process.wait(TIMEOUT_S), shown.decode()

    def test_through_a_collector_an_origin_goes_and_forwarding_brings_it_back(self):
        with self.pipeline.serving():
            self.forward("ci/1")
            one = self.pipeline.export("helion", "--details", live=True)
            self.forward("ci/2")
            both = self.pipeline.export("helion", "--details", live=True)
            printed = self.delete("--origin=ci/2", "--dry-run", through="operator")
            self.assertIn("would delete", printed)
            self.assertEqual(self.pipeline.export("helion", "--details", live=True), both)
            printed = self.delete("--origin=ci/2", "--yes", through="operator")
            self.assertIn("0 runs that had no other attempts", printed)
            self.assertEqual(self.pipeline.export("helion", "--details", live=True), one)
            self.forward("ci/2")
            self.assertEqual(self.pipeline.export("helion", "--details", live=True), both)
            collector = f"--collector={self.pipeline.address}"
            refused = self.complaint(collector, *self.pipeline.client_flags, "--origin=ci/2", "--yes")
            self.assertIn("this needs deleter", refused)
        log = (self.pipeline.folder / "collector.log").read_text()
        self.assertEqual(log.count("deleted from the dataset: by=operator "), 1)
        self.assertNotIn((self.folder / "operator").read_text().strip(), log)

    def test_runs_go_and_come_back(self):
        with self.pipeline.serving():
            self.forward("ci/1")
            before = self.pipeline.export("helion", "--details", live=True)
        runs = sorted({json.loads(line)["run_id"] for line in before[".meta.jsonl"].splitlines()})
        database = f"--db={self.pipeline.database}"
        self.assertIn("nothing is deleted", self.complaint(database, "--run=00000000", "--yes"))
        self.assertIn("--yes or --dry-run", self.complaint(database, f"--run={runs[0]}", status=2))
        status, shown = self.answer(b"no\n", database, f"--run={runs[0][:8]}")
        self.assertEqual(status, 1, shown)
        self.assertIn("the answer was not yes", shown)
        self.assertEqual(self.pipeline.export("helion", "--details"), before)
        status, shown = self.answer(b"yes\n", database, *(f"--run={run_id[:8]}" for run_id in runs))
        self.assertEqual(status, 0, shown)
        self.assertIn("deleted from the dataset: by=local", shown)
        self.assertNotIn(runs[0].encode(), self.pipeline.export("helion", "--allow-empty")[".meta.jsonl"])
        with self.pipeline.serving():
            self.forward("ci/1")
            self.assertEqual(self.pipeline.export("helion", "--details", live=True), before)

    def test_beside_a_collector_only_from_a_server(self):
        with self.pipeline.serving():
            self.forward("ci/1")
            database = f"--db={self.pipeline.database}"
            if server() is None:
                self.assertIn("--collector HOST:PORT", self.complaint(database, "--origin=ci/1", "--yes"))
                return
            self.assertIn("that had no other attempts", self.delete("--origin=ci/1", "--yes"))
            self.forward("ci/1")
            self.assertIn("would delete", self.delete("--origin=ci/1", "--dry-run"))


if __name__ == "__main__":
    unittest.main()

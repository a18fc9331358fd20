"""Tests the report of `telemetry-worker forward` on the rows that it read, and its exit status, with --once and with
--watch.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata.
"""

import contextlib
import pathlib
import signal
import subprocess
import tempfile
import unittest

from pipeline import BIN, TESTDATA, TIMEOUT_S, Pipeline, environment_with

ROWS = TESTDATA / "helion-main/bmm.csv"
ROWS_WITHOUT_RUN = TESTDATA / "helion-v1.1/softmax_two_pass.csv"


class Forward(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="forward_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.pipeline = Pipeline(self.folder / "pipeline")
        serving = self.pipeline.serving()
        serving.__enter__()
        self.addCleanup(serving.__exit__, None, None, None)

    def started(self, *arguments):
        flags = [f"--collector={self.pipeline.address}", f"--state-dir={self.folder / 'state'}"]
        return subprocess.Popen(
            ["timeout", "30", BIN / "telemetry-worker", "forward", *flags, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment_with({}),
        )

    def once(self, *arguments):
        """Runs forward with --once; returns its exit status and its output."""
        with self.started("--once", *arguments) as process:
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, stdout + stderr

    @contextlib.contextmanager
    def watching(self, *arguments):
        """Runs forward with --watch until the block ends.

        `said` is its standard error during the block; `ended` is then set to a result like that of once().
        """
        with self.started("--watch", *arguments) as process:
            self.said = process.stderr
            yield
            process.send_signal(signal.SIGTERM)
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        self.ended = process.returncode, stdout + stderr

    def test_rows_are_new_once_and_known_afterwards(self):
        status, printed = self.once(ROWS)
        self.assertIn("84 new, 0 already known, 0 refused, 0 unreadable; all of it is stored", printed)
        self.assertEqual(status, 0)
        status, printed = self.once(ROWS)
        self.assertIn("0 new, 84 already known, 0 refused, 0 unreadable; all of it is stored", printed)
        self.assertEqual(status, 0)

    def test_refused_rows_are_not_called_stored(self):
        status, printed = self.once(ROWS_WITHOUT_RUN)
        self.assertIn("0 new, 0 already known, 44 refused, 0 unreadable", printed)
        self.assertNotIn("all of it is stored at", printed.replace("not all", ""))
        self.assertEqual(status, 1)

    def test_refused_rows_are_said_while_watching(self):
        with self.watching(ROWS_WITHOUT_RUN):
            self.assertIn("44 rows refused", self.said.readline())
        status, printed = self.ended
        self.assertIn("0 new, 0 already known, 44 refused, 0 unreadable; not all of it is stored", printed)
        self.assertEqual(status, 1)

    def test_a_misspelt_path_is_said_at_once(self):
        with self.watching(self.folder / "autotnue"):
            self.assertIn("no sidecar at", self.said.readline())
        self.assertEqual(self.ended[0], 1)
        status, printed = self.once(self.folder / "autotnue", ROWS)
        self.assertIn("no sidecar at", printed)
        self.assertIn("84 new", printed)
        self.assertEqual(status, 1)

    def test_an_empty_path_is_wrong_usage(self):
        for mode in ("--once", "--watch"):
            with self.started(mode, "") as process:
                stderr = process.communicate(timeout=TIMEOUT_S)[1]
            self.assertIn("is a variable on the command line not set?", stderr)
            self.assertEqual(process.returncode, 2)

    def test_unreadable_lines_are_counted(self):
        torn = self.folder / "torn.csv"
        torn.write_bytes(ROWS.read_bytes() + b"torn")
        status, printed = self.once(torn)
        self.assertIn("84 new, 0 already known, 0 refused, 1 unreadable; not all of it is stored", printed)
        self.assertEqual(status, 1)


if __name__ == "__main__":
    unittest.main()

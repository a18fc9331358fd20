"""Tests two collectors on one PostgreSQL database behind HAProxy, started like deploy/fleet: although collectors are
killed, the dataset exports to the same bytes as that of a single collector with SQLite.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata.
"""

import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from pipeline import BIN, ROOT, SAMPLES, TIMEOUT_S, Pipeline, free_ports, run

LAYOUTS = ("helion", "pr2750")
PLAIN = [sample for sample in SAMPLES if not sample.flags]  # --watch has no flags per file


class Fleet(unittest.TestCase):
    def setUp(self):
        # A short path, because it contains PostgreSQL's socket. Accessible to the user that runs PostgreSQL.
        folder = tempfile.TemporaryDirectory(prefix="fleet.", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.fleet_folder = self.folder / "fleet"
        self.port = free_ports(3)
        self.addCleanup(self.fleet, "stop")
        self.fleet("start")

    def run_fleet(self, command):
        return subprocess.run(
            [ROOT / "deploy/fleet/fleet", command, self.fleet_folder, str(self.port)],
            capture_output=True, text=True, timeout=TIMEOUT_S, env=os.environ | {"TELEMETRY_BIN_DIR": str(BIN)},
        )  # fmt: skip

    def fleet(self, command, accept=(0,)):
        done = self.run_fleet(command)
        self.assertIn(done.returncode, accept, done.stdout + done.stderr)
        return done.stdout

    def kill(self, part):
        pid = (self.fleet_folder / part / "pid").read_text().splitlines()[0]
        os.kill(int(pid), signal.SIGKILL)
        while f"{part}: runs" in self.fleet("status", accept=(0, 1)):
            pass

    def export(self, layout, attempt):
        base = self.folder / f"export-{layout}-{attempt}" / "data"
        base.parent.mkdir()
        run(
            "telemetry-export",
            f"--collector=127.0.0.1:{self.port}",
            f"--out={base}",
            f"--layout={layout}",
            "--allow-empty",
        )
        return {path.name.removeprefix("data"): path.read_bytes() for path in base.parent.iterdir()}

    def await_exports(self, expected):
        until = time.monotonic() + TIMEOUT_S
        attempt = 0
        while True:
            attempt += 1
            try:
                got = {layout: self.export(layout, attempt) for layout in LAYOUTS}
            except AssertionError as error:  # no collector is running yet
                got = str(error)
            if got == expected:
                return
            self.assertLess(time.monotonic(), until, "the fleet's dataset is another one")

    def test_whoever_connects_after_the_start_is_served(self):
        self.export("helion", "right behind the start")
        self.fleet("stop")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", self.port))
            taken.listen()
            done = self.run_fleet("start")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f"haproxy does not serve 127.0.0.1:{self.port}", done.stderr)
        self.assertIn("pass another PORT", done.stderr)

    def test_the_dataset_is_that_of_one_collector_though_collectors_are_killed(self):
        alone = Pipeline(self.folder / "alone")
        with alone.serving():
            for number, sample in enumerate(PLAIN):
                alone.forward(sample.path(), origin=f"fleet/worker-{number % 2 + 1}", state=f"state{number % 2}")
        expected = {layout: alone.export(layout) for layout in LAYOUTS}

        for number, sample in enumerate(PLAIN):
            if number % 2 == 1:
                self.kill(f"collector-{number // 2 % 2 + 1}")
            sample.copy_to(self.fleet_folder / f"worker-{number % 2 + 1}" / "sidecars")
            if number % 2 == 1:
                self.fleet("start")
        self.await_exports(expected)
        self.assertNotIn("does not run", self.fleet("status"))


if __name__ == "__main__":
    unittest.main()

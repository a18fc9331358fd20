#!/usr/bin/env python3
"""Tests a tuner that is killed at random moments, and collectors that are killed, are down or do not respond.

Tunes on the CPU's OpenCL device with the built programs (TELEMETRY_BIN_DIR; default build/release/bin).
TELEMETRY_FAULTS is the number of kills (default 10). TELEMETRY_SEED repeats a run's choices.
"""

import contextlib
import csv
import json
import os
import pathlib
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import settings  # noqa: E402
from pipeline import BIN, json_lines, run  # noqa: E402

FAULTS = settings.faults(10)
TIMEOUT_S = 240
# The interval at which a process is polled; results do not depend on it.
LOOK_INTERVAL_S = 0.01


def environment():
    return {name: value for name, value in os.environ.items() if not name.startswith(("TELEMETRY_", "CI", "GITHUB_"))}


class Collector:
    """A collector process that can be killed and restarted at the same address."""

    def __init__(self, database):
        self.database = database
        self.address = "127.0.0.1:0"
        self.start()

    def start(self):
        with open(f"{self.database}.log", "ab") as log:
            self.process = subprocess.Popen(
                [BIN / "telemetry-collector", "serve", "--db", self.database, "--listen", self.address],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise AssertionError(f"the collector did not start; see {self.database}.log")
        self.address = line.removeprefix("listening on ").strip()

    def end(self, with_signal):
        self.process.send_signal(with_signal)
        self.process.wait(TIMEOUT_S)
        self.process.stdout.close()


class TuneFaults(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(settings.seed())
        folder = tempfile.TemporaryDirectory(prefix="telemetry-faults-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.state = self.folder / "state"

    def collector(self):
        collector = Collector(self.folder / "dataset.db")
        self.addCleanup(lambda: collector.process.poll() is None and collector.end(signal.SIGKILL))
        return collector

    def start_tune(self, address, max_configs, *flags, state=None):
        log = open(self.folder / "tune.log", "ab")
        process = subprocess.Popen(
            [
                *(BIN / "telemetry-worker", "tune", "softmax", "--arg=x=16x64:f32", "--device=opencl:0"),
                *("--collector", address, f"--state-dir={state or self.state}", f"--max-configs={max_configs}"),
                *("--algorithm=random", "--compilers=1", "--seed=3"),
                *flags,
            ],
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment(),
        )
        log.close()
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        return process

    def log(self):
        return (self.folder / "tune.log").read_text()

    def assert_ends_well(self, process):
        self.assertEqual(process.wait(TIMEOUT_S), 0, self.log())

    def journal(self):
        return next(iter((self.state / "attempts").glob("*.journal")), None)

    def wait_until(self, condition):
        deadline = time.monotonic() + TIMEOUT_S
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(LOOK_INTERVAL_S)

    def journal_bytes(self):
        with contextlib.suppress(FileNotFoundError, AttributeError):
            return self.journal().stat().st_size
        return 0

    def exported(self):
        base = self.folder / "export"
        run("telemetry-export", f"--db={self.folder / 'dataset.db'}", f"--out={base}", "--details")
        with open(f"{base}.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        return rows, json_lines(pathlib.Path(f"{base}.attempts.jsonl").read_bytes())

    def assert_stored_once(self, max_configs):
        """Checks that there is one complete attempt, in which every config started in a generation ended exactly once.
        """
        rows, attempts = self.exported()
        self.assertEqual([attempt["state"] for attempt in attempts], ["complete"])
        self.assertEqual(attempts[0]["measurements"], len(rows))
        events = [(row["generation"], row["config_id"], row["status"] == "started") for row in rows]
        self.assertEqual(len(events), len(set(events)))
        results = [row for row in rows if row["status"] != "started"]
        begun = {(row["generation"], row["config_id"]) for row in rows if row["status"] == "started"}
        ended = {(row["generation"], row["config_id"]) for row in results}
        self.assertEqual(begun - ended, set())
        measured = {row["config_id"] for row in results if row["status"] not in ("deduplicated", "filtered")}
        self.assertEqual(len(measured), max_configs)
        times = [float(row["timestamp_s"]) for row in rows]
        self.assertEqual(times, sorted(times))
        with contextlib.closing(sqlite3.connect(f"file:{self.folder / 'dataset.db'}?mode=ro", uri=True)) as database:
            sequence = [seq for (seq,) in database.execute("SELECT seq FROM measurements ORDER BY seq")]
            self.assertEqual(sequence, list(range(1, len(rows) + 1)))
            self.assertEqual(database.execute("SELECT count(*) FROM rejects").fetchone(), (0,))
        return results


class TunerDies(TuneFaults):
    def test_the_tuner_is_killed_at_any_moment(self):
        collector = self.collector()
        max_configs = 6 + FAULTS // 3
        killed = 0
        process = self.start_tune(collector.address, max_configs)
        while killed < FAULTS and process.poll() is None:
            # Every third kill may come before the tuner has made progress. All others wait for progress first, so that
            # the search advances, and then for a random time within the next configs.
            before = self.journal_bytes()
            self.wait_until(lambda: process.poll() is not None or self.journal_bytes() != before or killed % 3 == 0)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(self.random.uniform(0, 0.8))
            if self.journal_bytes() == 0 or process.poll() is not None:
                continue  # not started, or finished: a restart would be a new attempt
            process.kill()
            process.wait()
            killed += 1
            if self.journal() is None:
                break  # the attempt ended just now; at most the spool still contains records
            process = self.start_tune(collector.address, max_configs)
        if process.returncode != -signal.SIGKILL:
            self.assert_ends_well(process)
        print(f"killed {killed} times", flush=True)
        collector.end(signal.SIGTERM)
        self.assertGreater(killed, 0)
        self.assert_stored_once(max_configs)


class CollectorDies(TuneFaults):
    def test_the_collector_is_killed_and_comes_back_during_a_tune(self):
        collector = self.collector()
        process = self.start_tune(collector.address, 6)
        for _ in range(3):
            before = self.journal_bytes()
            self.wait_until(lambda: process.poll() is not None or self.journal_bytes() > before)
            collector.end(signal.SIGKILL)
            away = self.journal_bytes()
            self.wait_until(lambda: process.poll() is not None or self.journal_bytes() != away)
            collector.start()
        self.assert_ends_well(process)
        collector.end(signal.SIGTERM)
        self.assert_stored_once(6)


class CollectorIsNoHelp(TuneFaults):
    """Compares times with those of a tuner without a collector, under the same load."""

    def start_logged_tune(self, address, name):
        log = self.folder / name
        process = self.start_tune(address, 4, f"--log={log}", "--drain-timeout=100ms", state=self.folder / f"{name}.d")
        return process, pathlib.Path(f"{log}.csv")

    def seconds_measuring(self, path):
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertGreaterEqual(sum(row["status"] == "ok" for row in rows), 4)
        return float(rows[-1]["timestamp_s"])

    def test_one_that_is_away_or_silent_does_not_slow_measuring(self):
        with socket.socket() as silent, socket.socket() as closed:
            silent.bind(("127.0.0.1", 0))
            silent.listen()  # accepts connections and never responds
            closed.bind(("127.0.0.1", 0))  # refuses connections
            addresses = {
                "none": "",
                "silent": "127.0.0.1:%d" % silent.getsockname()[1],
                "away": "127.0.0.1:%d" % closed.getsockname()[1],
            }
            # All tuners run at the same time, so that other processes on the machine slow down all of them.
            started = {name: self.start_logged_tune(address, name) for name, address in addresses.items()}
            seconds = {}
            for name, (process, path) in started.items():
                # The exit status if no collector has acknowledged all records.
                self.assertEqual(process.wait(TIMEOUT_S), 0 if name == "none" else 1, self.log())
                seconds[name] = self.seconds_measuring(path)
        print(json.dumps(seconds), flush=True)
        for name in ("silent", "away"):
            self.assertLess(seconds[name], 2 * seconds["none"] + 5, name)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Tests a tuner that is killed at random moments, and collectors that are killed, are down or do not respond.

Tunes on the CPU's OpenCL device with the built programs (TELEMETRY_BIN_DIR; default build/release/bin).
TELEMETRY_FAULTS is the number of kills (default 30). TELEMETRY_SEED repeats a run's choices.
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

FAULTS = settings.faults(30)
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

    def exported(self, database="dataset.db"):
        base = self.folder / "export"
        run("telemetry-export", f"--db={self.folder / database}", f"--out={base}", "--details")
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


def row_keys(rows, last_generation):
    """Returns what an attempt at a random search must not change in its rows of this and earlier generations."""
    return sorted(
        (int(row["generation"]), row["config_id"], row["status"])
        for row in rows
        if int(row["generation"]) <= last_generation
    )


class TunerDies(TuneFaults):
    """Kills a tuner at FAULTS moments: most in the search, some while its processes start, a tenth in the final."""

    def undisturbed(self, max_configs):
        """Runs an attempt to its end. Returns its rows, and the seconds between two results of its search."""
        collector = Collector(self.folder / "undisturbed.db")
        self.addCleanup(lambda: collector.process.poll() is None and collector.end(signal.SIGKILL))
        self.assert_ends_well(self.start_tune(collector.address, max_configs, state=self.folder / "undisturbed"))
        collector.end(signal.SIGTERM)
        rows, attempts = self.exported("undisturbed.db")
        self.assertEqual([attempt["state"] for attempt in attempts], ["complete"])
        times = sorted({float(row["timestamp_s"]) for row in rows if row["status"] == "ok"})[:-1]  # without the final
        return rows, (times[-1] - times[0]) / max(len(times) - 1, 1)

    def finals(self):
        return self.log().count("final: measuring")

    def wait_for_kill(self, process, killed, interval_s):
        if killed >= FAULTS - FAULTS // 10:
            before = self.finals()
            self.wait_until(lambda: process.poll() is not None or self.finals() > before)
        elif killed % 3 == 0:
            self.wait_until(lambda: process.poll() is not None or self.journal_bytes() > 0)
        else:
            before = self.journal_bytes()
            self.wait_until(lambda: process.poll() is not None or self.journal_bytes() > before > 0)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(self.random.uniform(0, 1.5 * interval_s))

    def test_a_tuner_that_is_killed_records_the_rows_of_an_undisturbed_one(self):
        max_configs = 6 + 2 * FAULTS
        undisturbed, interval_s = self.undisturbed(max_configs)
        last_of_search = max(int(row["generation"]) for row in undisturbed) - 1
        collector = self.collector()
        process = self.start_tune(collector.address, max_configs)
        for killed in range(FAULTS):
            self.wait_for_kill(process, killed, interval_s)
            self.assertIsNone(process.poll(), f"the attempt ended after {killed} of {FAULTS} kills\n{self.log()}")
            process.kill()
            process.wait()
            self.assertIsNotNone(self.journal(), self.log())
            process = self.start_tune(collector.address, max_configs)
        self.assert_ends_well(process)
        collector.end(signal.SIGTERM)
        results = self.assert_stored_once(max_configs)
        rows, _ = self.exported()
        self.assertEqual(row_keys(rows, last_of_search), row_keys(undisturbed, last_of_search))
        # The times decide which configs are in the final.
        final = [row for row in results if int(row["generation"]) > last_of_search]
        self.assertEqual({int(row["generation"]) for row in final}, {last_of_search + 1})
        self.assertLessEqual({row["config_id"] for row in final}, {row["config_id"] for row in undisturbed})
        print(f"killed {FAULTS} times, {len(rows)} rows, of these {len(final)} of the final", flush=True)


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

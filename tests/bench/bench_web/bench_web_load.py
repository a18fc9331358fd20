#!/usr/bin/env python3
"""Measures bench-ingest against a collector with and without users of its pages, in alternating rounds.

The rows are added to the dataset. Exits with 1 if a limit is missed. See README.md in this folder.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import endpoints
import users
from bench_web import percentile
from web_process import ROOT, Client, WebProcess, serving

LEAST_RATE = 0.95
MOST_P99_RATIO = 2.0


@contextlib.contextmanager
def collecting(programs: pathlib.Path, db: str) -> Iterator[str]:
    """Runs a collector on a dataset, and returns its address."""
    command = [str(programs / "telemetry-collector"), "serve", "--db", db, "--listen=127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        line = process.stdout.readline()
        if "listening on" not in line:
            raise RuntimeError(f"telemetry-collector did not start: {line}")
        try:
            yield line.split("listening on", 1)[1].strip()
        finally:
            process.terminate()


class Round:
    """The results of a round."""

    def __init__(self, ingest: Any, times_ms: list[float], web_cores: float) -> None:
        self.rows_per_s = float(ingest["end_to_end"][0]["rows_per_s"])
        self.p99_ms = float(ingest["paced"]["p99_ms"])
        self.times_ms = times_ms
        self.web_cores = web_cores


class Bench:
    """A collector, its pages, and the number of the next attempts of bench-ingest."""

    def __init__(self, arguments: argparse.Namespace, collector: str, web: WebProcess) -> None:
        self._arguments = arguments
        self._collector = collector
        self._web = web
        self._views = users.views(endpoints.Dataset(Client(web.port)))
        self._first_attempt = arguments.first_attempt

    def _ingest(self) -> Any:
        arguments = self._arguments
        command = [str(arguments.bin / "bench-ingest"), f"--collector={self._collector}", "--json", "--producers=8"]
        command += [f"--rows={arguments.rows}", f"--seconds={arguments.seconds}", f"--first-attempt={self._first_attempt}"]
        self._first_attempt += 10_000
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        return json.loads(done.stdout)

    def round(self, count: int) -> Round:
        """Ingests beside a number of users."""
        stopping = threading.Event()
        crowd = [users.User(self._web.port, self._views, seed, stopping) for seed in range(count)]
        for user in crowd:
            user.start()
        before = self._web.cpu_s()
        begin = time.monotonic()
        ingest = self._ingest()
        elapsed = time.monotonic() - begin
        cores = (self._web.cpu_s() - before) / elapsed
        stopping.set()
        for user in crowd:
            user.join()
            if user.error:
                raise user.error
        return Round(ingest, [elapsed_ms for user in crowd for elapsed_ms in user.times_ms], cores)


def report(without: list[Round], with_users: list[Round]) -> bool:
    """Prints the ratios of the medians. Returns false if a limit is missed."""
    rate = [statistics.median(one.rows_per_s for one in rounds) for rounds in (without, with_users)]
    p99 = [statistics.median(one.p99_ms for one in rounds) for rounds in (without, with_users)]
    print(f"ingest: {rate[0]:.0f} rows/s alone, {rate[1]:.0f} with users: {rate[1] / rate[0]:.3f} (limit {LEAST_RATE})")
    print(f"ack p99: {p99[0]:.2f} ms alone, {p99[1]:.2f} with users: {p99[1] / p99[0]:.2f} (limit {MOST_P99_RATIO})")
    times = [elapsed_ms for one in with_users for elapsed_ms in one.times_ms]
    print(f"calls of users: {len(times)}, p50 {percentile(times, 0.5):.1f} ms, p95 {percentile(times, 0.95):.1f} ms")
    return rate[1] / rate[0] >= LEAST_RATE and p99[1] / p99[0] <= MOST_P99_RATIO


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", required=True, help="a copy of the dataset of bench-web-dataset; rows are added to it")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the programs")
    parser.add_argument("--rounds", type=int, default=3, help="rounds with users, and rounds without")
    parser.add_argument("--users", type=int, default=10, help="number of users")
    parser.add_argument("--rows", type=int, default=3_000_000, help="rows of the measurement of the rate")
    parser.add_argument("--seconds", type=int, default=30, help="duration of the measurement of the acknowledgements")
    parser.add_argument("--first-attempt", type=int, default=0, help="10,000 more than the last call's for each of its rounds")
    arguments = parser.parse_args()
    with collecting(arguments.bin, arguments.db) as collector, serving(arguments.bin, arguments.db) as web:
        print(f"summaries complete after {web.await_summaries():.1f} s", flush=True)
        bench = Bench(arguments, collector, web)
        rounds: dict[bool, list[Round]] = {False: [], True: []}
        for number in range(2 * arguments.rounds):
            has_users = number % 4 in (1, 2)  # alternates which comes first
            one = bench.round(arguments.users if has_users else 0)
            rounds[has_users].append(one)
            label = f"{arguments.users if has_users else 0} users"
            rate = f"{one.rows_per_s:.0f} rows/s, ack p99 {one.p99_ms:.2f} ms"
            print(f"round {number + 1}: {label}: {rate}, telemetry-web {one.web_cores:.2f} cores", flush=True)
        memory = web.memory_mib()["VmHWM"]
        print(f"memory of telemetry-web: peak {memory:.0f} MiB")
        return 0 if report(rounds[False], rounds[True]) else 1


if __name__ == "__main__":
    sys.exit(main())

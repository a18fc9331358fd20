#!/usr/bin/env python3
"""Measures telemetry-web on a large dataset: the time of every API call, the time until the first view is complete, memory.

Exits with 1 if a limit is missed. See README.md in this folder.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
from collections.abc import Iterable

import endpoints
import first_view
import yaml
from web_process import ROOT, Client, WebProcess, serving

MOST_MS = 100.0
MOST_OVERVIEW_MS = 50.0
MOST_RSS_MIB = 256.0


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def limit_of(name: str) -> float:
    return MOST_OVERVIEW_MS if name == "/overview" else MOST_MS


class Calls:
    """The calls of some addresses: their milliseconds, those of the server's CPU time, and the bytes of the longest answer."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.cpu_times: list[float] = []
        self.longest = 0

    def make(self, web: WebProcess, addresses: Iterable[str], is_stream: bool) -> Calls:
        client = Client(web.port)
        get = client.first_event if is_stream else client.get
        for address in addresses:
            before_s = web.cpu_s()
            body, elapsed_ms = get(address)
            self.times.append(elapsed_ms)
            self.cpu_times.append((web.cpu_s() - before_s) * 1000)
            self.longest = max(self.longest, len(body))
        return self


def measure_calls(web: WebProcess, spec: pathlib.Path, only: str, repeat: int) -> bool:
    """Prints a line for each endpoint. Returns false if one is slower than its limit."""
    addresses = endpoints.addresses(endpoints.Dataset(Client(web.port)))
    missing = set(yaml.safe_load(spec.read_text())["paths"]) - set(addresses)
    assert not missing, f"endpoints.py lacks {missing}"
    is_fast = True
    columns = ("n", "p50", "p95", "max", "limit", "CPU p95", "first", "1st CPU", "bytes")
    print(f"{'milliseconds':44}" + "".join(f"{column:>9}" for column in columns))
    for name in sorted(addresses):
        if only not in name:
            continue
        of_name = addresses[name]
        first = Calls().make(web, of_name, name == "/events")
        again = itertools.islice(itertools.cycle(of_name), max(repeat, len(of_name)))
        warm = Calls().make(web, again, name == "/events")
        values = [percentile(warm.times, 0.5), percentile(warm.times, 0.95), max(warm.times), limit_of(name)]
        values += [percentile(times, 0.95) for times in (warm.cpu_times, first.times, first.cpu_times)]
        missed = percentile(warm.times, 0.95) > limit_of(name)
        is_fast = is_fast and not missed
        row = f"{name:44}{len(warm.times):9}" + "".join(f"{value:9.1f}" for value in values)
        print(f"{row}{warm.longest:9}{'   MISSED' if missed else ''}", flush=True)
    return is_fast


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", required=True, help="dataset of bench-web-dataset: a file, or a URL of PostgreSQL")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the programs")
    parser.add_argument("--repeat", type=int, default=60, help="least number of calls of an endpoint")
    parser.add_argument("--only", default="", help="measure only endpoints that contain this text")
    parser.add_argument("--no-browser", action="store_true", help="do not measure the first view")
    arguments = parser.parse_args()
    with serving(arguments.bin, arguments.db) as web:
        elapsed_s = web.await_summaries()
        print(f"summaries complete after {elapsed_s:.1f} s, {web.cpu_s():.1f} s of CPU time; {web.memory_mib()}", flush=True)
        is_good = measure_calls(web, ROOT / "server/web/api/openapi.yaml", arguments.only, arguments.repeat)
        if not arguments.no_browser:
            is_good = first_view.measure(web) and is_good
        memory = web.memory_mib()
        print(f"memory: peak {memory['VmHWM']:.0f} MiB (limit {MOST_RSS_MIB:.0f}), now {memory}")
        is_good = is_good and memory["VmHWM"] <= MOST_RSS_MIB
    print("all limits are met" if is_good else "a limit is missed")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())

"""Simulated users: the calls that the pages make for a view, the stream of events, and time to read in between."""

from __future__ import annotations

import concurrent.futures
import json
import random
import select
import socket
import threading
import time
import urllib.parse
from typing import Any

import endpoints
from web_process import Client, query

THINK_S = (2.0, 8.0)
# Connections of a browser for calls, beside the one of the stream.
CONNECTIONS = 5
# A view loads again at most once in this time (pages/core/live.js).
RELOAD_S = 1.5


class View:
    """The calls of a view, the run that its stream follows, and whether each change of the dataset loads it again."""

    def __init__(self, calls: list[str], run_id: str | None = None, reloads: bool = False) -> None:
        self.calls = calls
        self.run_id = run_id
        self.reloads = reloads


def views(dataset: endpoints.Dataset) -> list[View]:
    """Returns the views that users open, the frequent ones several times."""
    found = [View(["/overview"], reloads=True)] * 4
    found += [View(["/runs?limit=50", "/facets"])] * 3
    for run in [*dataset.usual, *dataset.large, *dataset.largest]:
        path = f"/runs/{run['run_id']}"
        kernel = query(**endpoints.names(run, "kernel"))
        cell = query(**endpoints.names(run, *endpoints.NAMES))
        config = f"/configs/{run['best_config_id']}"
        for parts in (("", "/convergence", config, "/knobs", "/statuses"), ("", "/knobs", "/points"), ("", "/finals")):
            found.append(View([path + part for part in parts], run["run_id"]))
        found.append(View([path, f"{path}/rows?sort=perf&limit=100"], run["run_id"]))
        found += [View([f"/kernel?{kernel}"]), View([f"/kernel/history?{cell}"])]
    found += [View([call]) for call in endpoints.of_comparisons(dataset)]
    found += [View([call]) for call in ("/kernels", "/regressions", "/rejects", "/producers", "/cache")]
    return found


class Events:
    """A stream of events. HTTP/1.0 has no chunks: the stream is plain text until the connection ends."""

    def __init__(self, port: int, run_id: str | None) -> None:
        path = "/api/v1/events" + (f"?{urllib.parse.urlencode({'run_id': run_id})}" if run_id else "")
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.sendall(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        self._text = b""

    def next_version(self) -> int | None:
        """Waits for events, at most a second. Returns the version of the summaries that the newest one names."""
        if not select.select([self._socket], [], [], 1)[0]:
            return None
        received = self._socket.recv(1 << 20)
        if not received:
            raise ConnectionError("the stream of events has ended")
        *lines, self._text = (self._text + received).split(b"\n")
        data = [line[6:] for line in lines if line.startswith(b"data: ")]
        return int(json.loads(data[-1])["version"]) if data else None

    def close(self) -> None:
        self._socket.close()


class User(threading.Thread):
    """Opens views until it is stopped. Remembers the time of each call in milliseconds."""

    def __init__(self, port: int, choices: list[View], seed: int, stopping: threading.Event) -> None:
        super().__init__(daemon=True)
        self._port = port
        self._choices = choices
        self._random = random.Random(seed)
        self._stopping = stopping
        self._clients = [Client(port) for _ in range(CONNECTIONS)]
        self.times_ms: list[float] = []
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
                self._stopping.wait(self._random.uniform(0, THINK_S[0]))
                while not self._stopping.is_set():
                    self._open(self._random.choice(self._choices), pool)
        except Exception as error:  # reported by the main thread
            self.error = error

    def _load(self, view: View, pool: concurrent.futures.ThreadPoolExecutor) -> None:
        for index in range(0, len(view.calls), CONNECTIONS):
            calls = view.calls[index : index + CONNECTIONS]
            results: list[Any] = list(pool.map(lambda pair: pair[0].get(pair[1]), zip(self._clients, calls)))
            self.times_ms += [elapsed_ms for _, elapsed_ms in results]

    def _open(self, view: View, pool: concurrent.futures.ThreadPoolExecutor) -> None:
        events = Events(self._port, view.run_id)
        self._load(view, pool)
        loaded = time.monotonic()
        end = loaded + self._random.uniform(*THINK_S)
        seen = None
        while time.monotonic() < end and not self._stopping.is_set():
            version = events.next_version()
            if not view.reloads or version in (None, seen):
                continue
            if seen is not None:
                self._stopping.wait(max(0.0, loaded + RELOAD_S - time.monotonic()))
                self._load(view, pool)
                loaded = time.monotonic()
            seen = version
        events.close()

"""A telemetry-web on a dataset, and requests to it."""

from __future__ import annotations

import contextlib
import http.client
import json
import pathlib
import subprocess
import time
import urllib.parse
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[3]
SUMMARIES_TIMEOUT_S = 1800


def query(*pairs: tuple[str, object], **values: object) -> str:
    """Returns parameters as text; a name may recur among the pairs."""
    return urllib.parse.urlencode([*pairs, *values.items()])


class Client:
    """One connection to a telemetry-web, which is kept open. Used by one thread."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)

    def get(self, path: str) -> tuple[bytes, float]:
        """Returns the body of a successful GET below /api/v1, and its time in milliseconds."""
        begin = time.perf_counter()
        self._connection.request("GET", f"/api/v1{path}", headers={"Accept-Encoding": "gzip"})
        answer = self._connection.getresponse()
        body = answer.read()
        elapsed_ms = (time.perf_counter() - begin) * 1000
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {body[:300]!r}")
        return body, elapsed_ms

    def json(self, path: str) -> Any:
        return json.loads(self.get(path)[0])

    def first_event(self, path: str) -> tuple[bytes, float]:
        """Opens a stream of events and returns its first event. Closes the connection."""
        begin = time.perf_counter()
        self._connection.request("GET", f"/api/v1{path}")
        answer = self._connection.getresponse()
        body = b""
        while not body.endswith(b"\n\n"):
            body += answer.readline()
        elapsed_ms = (time.perf_counter() - begin) * 1000
        answer.close()
        self._connection.close()
        return body, elapsed_ms


class WebProcess:
    """A telemetry-web that listens on a port of its own."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def memory_mib(self) -> dict[str, float]:
        """Returns the resident memory: now, the peak, and the parts of now."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        fields = dict(line.split(":", 1) for line in text.splitlines() if line.startswith(("VmHWM", "VmRSS", "Rss")))
        return {name: int(value.split()[0]) / 1024 for name, value in fields.items()}

    def cpu_s(self) -> float:
        """Returns the CPU time that the threads of the process have used."""
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def await_summaries(self) -> float:
        """Waits until the lists contain every attempt. Returns the seconds that it took."""
        begin = time.monotonic()
        client = Client(self.port)
        while not client.json("/overview")["summaries"]["complete"]:
            if time.monotonic() - begin > SUMMARIES_TIMEOUT_S:
                raise TimeoutError("the summaries are not complete")
            time.sleep(1)
        return time.monotonic() - begin


@contextlib.contextmanager
def serving(programs: pathlib.Path, db: str, *flags: str) -> Iterator[WebProcess]:
    """Runs telemetry-web on a dataset."""
    command = [str(programs / "telemetry-web"), "--db", db, "--listen=127.0.0.1:0", *flags]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        line = process.stdout.readline()
        if "listening on" not in line:
            raise RuntimeError(f"telemetry-web did not start: {line}")
        try:
            yield WebProcess(process, int(line.rsplit(":", 1)[1]))
        finally:
            process.terminate()

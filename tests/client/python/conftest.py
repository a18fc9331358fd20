"""Fixtures of the tests of the Python package: the package itself, and the built programs."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "client/python"
BIN = pathlib.Path(os.environ.get("TELEMETRY_BIN_DIR", ROOT / "build/release/bin"))
TIMEOUT_S = 60
sys.path[:0] = [str(PACKAGE), str(ROOT / "tests/integration")]

from pipeline import Pipeline  # noqa: E402


class Jobs:
    """Runs Python programs that record into one state folder."""

    def __init__(self, folder: pathlib.Path, worker: str) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.worker = worker
        self.collector = "127.0.0.1:1"

    def environment(self, **more: str) -> dict[str, str]:
        """Returns the environment of a job, without the variables of a CI job."""
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
        prefix = "AUTOTUNE_TELEMETRY_"
        own = {
            prefix + "COLLECTOR": self.collector,
            prefix + "STATE_DIR": str(self.state),
            prefix + "WORKER": self.worker,
            prefix + "EXIT_TIMEOUT": "0",
            "PYTHONPATH": str(PACKAGE),
        }
        return kept | own | more

    def start(self, program: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Starts `python -c program`."""
        return subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(**environment),
        )

    def run(self, program: str, *arguments: str, **environment: str) -> str:
        """Runs `python -c program`; returns what it printed on both streams."""
        process = self.start(program, *arguments, **environment)
        out, err = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, out + err
        return out + err

    def lines(self) -> list[dict[str, Any]]:
        """Returns the complete lines in the spool, of all jobs."""
        return [
            json.loads(line)
            for path in sorted(self.state.glob("jobs/*/*.measurements.jsonl"))
            for line in path.read_bytes().split(b"\n")[:-1]
            if line
        ]

    def measurements(self) -> list[dict[str, Any]]:
        """Returns the lines of measurements in the spool."""
        return [line for line in self.lines() if line["kind"] == "measurement"]


@pytest.fixture
def jobs(tmp_path: pathlib.Path) -> Jobs:
    """Jobs without a forwarder: their lines stay in the spool."""
    return Jobs(tmp_path, "/bin/true")


@pytest.fixture
def pipeline(tmp_path: pathlib.Path) -> Pipeline:
    """A database; a collector serves it inside `with pipeline.serving()`."""
    return Pipeline(tmp_path / "pipeline")


@pytest.fixture
def delivered_jobs(tmp_path: pathlib.Path) -> Iterator[Jobs]:
    """Jobs with the built telemetry-worker. The forwarder is ended with the test, also one that is only starting."""
    jobs = Jobs(tmp_path, str(BIN / "telemetry-worker"))
    yield jobs
    until = time.monotonic() + 2
    while True:
        found = subprocess.run(["pgrep", "-f", f"state-dir={jobs.state}/forward"], capture_output=True, text=True)
        for pid in found.stdout.split():
            os.kill(int(pid), signal.SIGKILL)
        if found.stdout or not any(jobs.state.glob("jobs/*/")) or time.monotonic() > until:
            break
        time.sleep(0.02)

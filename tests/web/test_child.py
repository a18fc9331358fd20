"""telemetry-collector serve --web-listen: the pages come and go with the collector."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from conftest import BIN, TIMEOUT_S
from pipeline import environment_with, free_ports


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/healthz", timeout=TIMEOUT_S) as answer:
            return bool(answer.read() == b"ok\n")
    except (urllib.error.URLError, OSError):
        return False


def child_of(parent: int) -> int:
    """Returns the process of telemetry-web below this one; 0: there is none."""
    done = subprocess.run(["pgrep", "--parent", str(parent), "telemetry-web"], capture_output=True, text=True)
    return int(done.stdout.split()[0]) if done.stdout else 0


def runs(process: int) -> bool:
    try:
        return " Z " not in pathlib.Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait(condition: object) -> None:
    """Waits until the condition holds."""
    end = time.monotonic() + TIMEOUT_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end


@pytest.fixture
def collector(tmp_path: pathlib.Path) -> object:
    if not (BIN / "telemetry-web").exists():
        pytest.skip("telemetry-web is not built")
    address = f"127.0.0.1:{free_ports(1)}"
    command = [BIN / "telemetry-collector", "serve", "--db", tmp_path / "t.db", "--listen=127.0.0.1:0", "--web-listen", address]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment_with(()))
    assert process.stdout
    assert process.stdout.readline().startswith("listening on ")
    said = process.stdout.readline()
    assert re.fullmatch(rf"pages on http://{re.escape(address)}\n", said), said
    yield process, f"http://{address}"
    process.kill()
    process.wait()
    process.stdout.close()


def test_pages_end_with_the_collector(collector: tuple[subprocess.Popen[str], str]) -> None:
    process, address = collector
    assert answers(address)
    child = child_of(process.pid)
    process.terminate()
    assert process.wait(TIMEOUT_S) == 0
    assert not runs(child) and not answers(address)


def test_pages_give_way_to_the_collector(collector: tuple[subprocess.Popen[str], str]) -> None:
    process, _ = collector
    own, of_pages = (os.getpriority(os.PRIO_PROCESS, pid) for pid in (process.pid, child_of(process.pid)))
    assert of_pages == max(10, own)


def test_pages_are_started_again(collector: tuple[subprocess.Popen[str], str]) -> None:
    process, address = collector
    first = child_of(process.pid)
    os.kill(first, signal.SIGKILL)
    wait(lambda: child_of(process.pid) not in (0, first) and answers(address))


def test_pages_do_not_outlive_a_killed_collector(collector: tuple[subprocess.Popen[str], str]) -> None:
    process, _ = collector
    child = child_of(process.pid)
    process.kill()
    process.wait()
    wait(lambda: not runs(child))


def test_a_port_that_is_taken(collector: tuple[subprocess.Popen[str], str], tmp_path: pathlib.Path) -> None:
    _, address = collector
    listen = address.removeprefix("http://")
    command = [BIN / "telemetry-collector", "serve", "--db", tmp_path / "u.db", "--listen=127.0.0.1:0", "--web-listen", listen]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment_with(()))
    assert done.returncode == 1 and "cannot serve the pages" in done.stderr

"""Tests the delivery of recorded measurements by the built programs: live, leftovers, one forwarder, its end."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

from conftest import BIN, PACKAGE, TIMEOUT_S, Jobs
from pipeline import Pipeline

RECORD = """
import sys, autotune_telemetry as at
with at.attempt(kernel="k", source="def k(): ...", inputs=[((4, 5), "float32")], tuner="mine", seed=3) as attempt:
    attempt.record({"by": sys.argv[1], "b": [1, 2]}, ms=0.25, samples=[0.25, 0.5], registers=32, stage="final")
    attempt.record({"by": sys.argv[1], "b": [3]}, status="error", error=ValueError("bad"), error_phase="compile")
"""
FLUSH = "print('left', at.flush(30))\n"


def rows(pipeline: Pipeline) -> list[dict[str, str]]:
    """Returns the rows of the dataset in the keyed layout."""
    return list(csv.DictReader(io.StringIO(pipeline.export("keyed", "--allow-empty")[".csv"].decode(), newline="")))


def eventually(condition: Callable[[], Any]) -> None:
    """Waits until the condition holds."""
    until = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < until, "the condition did not become true"
        time.sleep(0.05)


def forwarder_of(jobs: Jobs) -> int:
    """Returns the process of the forwarder."""
    return int((jobs.state / "forward/lock").read_text())


def is_alive(pid: int) -> bool:
    """Returns whether a process exists and is no zombie."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_flush_waits_for_the_collector(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    with pipeline.serving():
        jobs.collector = pipeline.address
        assert "left 0" in jobs.run(RECORD + FLUSH, "job", GITHUB_RUN_ID="7", GITHUB_REPOSITORY="a/b")
        files = pipeline.export("keyed", "--details")
    ok, error = csv.DictReader(io.StringIO(files[".csv"].decode(), newline=""))
    assert (ok["status"], ok["perf_ms"], json.loads(ok["config"])) == ("ok", "0.25", {"b": [1, 2], "by": "job"})
    assert error["status"] == "error"
    details = [json.loads(line) for line in files[".details.jsonl"].splitlines()]
    assert (details[0]["samples_ms"], details[0]["registers"], details[0]["stage"]) == ([0.25, 0.5], 32, "final")
    assert details[1]["failure"] == {
        "phase": "compile",
        "error_class": "ValueError",
        "code": None,
        "message": "bad",
        "log_sha256": None,
    }
    (attempt,) = (json.loads(line) for line in files[".attempts.jsonl"].splitlines())
    assert (attempt["state"], attempt["origin"], attempt["seed"]) == ("complete", "github:a/b/7", 3)
    assert attempt["counters"] == {"measurements": 2, "unrecorded": 0}
    (run,) = (json.loads(line) for line in files[".runs.jsonl"].splitlines())
    assert (run["kernel_name"], run["kernel_source"]) == ("k", "def k(): ...")
    assert (run["input_shapes"], run["extra"]) == ("[(4, 5)]", {"tuner": "mine"})


def test_the_run_id_is_derived_from_the_content(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    with pipeline.serving():
        jobs.collector = pipeline.address
        for tuner in ("mine", "mine", "another"):
            jobs.run(RECORD.replace("mine", tuner) + FLUSH, "job")
    attempts = [json.loads(line) for line in pipeline.export("keyed")[".attempts.jsonl"].splitlines()]
    assert len({attempt["attempt_id"] for attempt in attempts}) == 3
    assert len({attempt["run_id"] for attempt in attempts}) == 2
    if pipeline.database.exists():
        checked = subprocess.run(
            [BIN / "telemetry-collector", "check", "--identities", "--db", pipeline.database],
            capture_output=True,
            text=True,
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_events_are_exported_as_they_were_written(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    with pipeline.serving():
        jobs.collector = pipeline.address
        out = jobs.run(
            "import glob, os, autotune_telemetry as at\n"
            "with at.attempt(kernel='k') as attempt:\n"
            "    attempt.record({'a': 1}, ms=2, quantiles={0.2: 1.5, 0.8: 2.5})\n"
            "    attempt.event('selected', config={'a': 1})\n"
            "    (path,) = glob.glob(os.environ['AUTOTUNE_TELEMETRY_STATE_DIR'] + '/jobs/*/*.jsonl')\n"
            "    print(*[line for line in open(path) if '\"event\"' in line], sep='', end='')\n"
            "assert at.flush(30) == 0\n"
        )
        files = pipeline.export("helion")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["name"] for line in lines] == ["quantiles", "selected"]
    assert lines[0]["values"] == {"seq": 1, "quantiles_ms": [[0.2, 1.5], [0.8, 2.5]]}
    assert files[".trace.jsonl"].decode() == out


def test_flush_returns_the_records_that_are_left(delivered_jobs: Jobs) -> None:
    assert "left 4" in delivered_jobs.run(RECORD + FLUSH.replace("30", "0.1"), "job")


def test_delivery_while_the_job_runs(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    with pipeline.serving():
        jobs.collector = pipeline.address
        process = jobs.start(RECORD + "sys.stdin.read()", "job")
        eventually(lambda: len(rows(pipeline)) == 2)
        assert process.poll() is None
        process.communicate(timeout=TIMEOUT_S)


def test_leftovers_of_a_killed_job_are_delivered_by_the_next_one(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    jobs.worker = "/bin/true"
    killed = jobs.start(RECORD.replace("with at", "a = at").split(") as")[0] + ")\na.record({'by': 'killed'}, ms=1)\n"
                        "print('recorded', flush=True)\nsys.stdin.read()", "job")  # fmt: skip
    assert killed.stdout is not None
    assert killed.stdout.readline() == "recorded\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=TIMEOUT_S)
    with next(jobs.state.glob("jobs/*/*.jsonl")).open("ab") as file:
        file.write(b'{"kind": "measurement", "torn')
    jobs.worker = str(BIN / "telemetry-worker")
    with pipeline.serving():
        jobs.collector = pipeline.address
        jobs.run(RECORD + FLUSH, "next")
        eventually(lambda: not list(jobs.state.glob("jobs/*/")))
        files = pipeline.export("keyed")
    exported = list(csv.DictReader(io.StringIO(files[".csv"].decode(), newline="")))
    assert sorted(json.loads(row["config"])["by"] for row in exported) == ["killed", "next", "next"]
    states = [json.loads(line)["state"] for line in files[".attempts.jsonl"].splitlines()]
    assert sorted(states) == ["abandoned", "complete"]


def test_two_jobs_share_one_forwarder(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    with pipeline.serving():
        jobs.collector = pipeline.address
        processes = [jobs.start(RECORD + FLUSH, str(number)) for number in range(4)]
        for process in processes:
            out, err = process.communicate(timeout=TIMEOUT_S)
            assert "left 0" in out, err
        running = subprocess.run(["pgrep", "-fc", f"forward.*{jobs.state}"], capture_output=True, text=True)
        assert running.stdout.strip() == "1"
        assert len(rows(pipeline)) == 8


def test_the_forwarder_exits_when_idle_and_is_started_again(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    with pipeline.serving():
        jobs.collector = pipeline.address
        for number in range(2):
            jobs.run(RECORD + FLUSH, str(number), AUTOTUNE_TELEMETRY_FORWARDER_IDLE="0.2")
            pid = forwarder_of(jobs)
            eventually(lambda: not is_alive(pid))  # noqa: B023
            assert not list(jobs.state.glob("jobs/*/"))
        assert len(rows(pipeline)) == 4


def test_a_forwarder_stays_while_a_job_runs(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    with pipeline.serving():
        jobs.collector = pipeline.address
        process = jobs.start(
            RECORD + "print(at.flush(30), flush=True)\nsys.stdin.readline()\n"
            "at.attempt(kernel='late').record({'late': 1}, ms=1)\nprint(at.flush(30), flush=True)",
            "job",
            AUTOTUNE_TELEMETRY_FORWARDER_IDLE="0.1",
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        pid = forwarder_of(jobs)
        time.sleep(0.5)  # several times the idle limit
        assert is_alive(pid)
        out, err = process.communicate("\n", timeout=TIMEOUT_S)
        assert out == "0\n", err
        assert forwarder_of(jobs) == pid


def test_a_killed_forwarder_is_started_again(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    with pipeline.serving():
        jobs.collector = pipeline.address
        process = jobs.start(
            RECORD + "print(at.flush(30), flush=True)\nsys.stdin.readline()\n"
            "at.attempt(kernel='late').record({'late': 1}, ms=1)\nprint(at.flush(30), flush=True)",
            "job",
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        os.kill(forwarder_of(jobs), signal.SIGKILL)
        out, err = process.communicate("\n", timeout=TIMEOUT_S)
        assert out == "0\n", err


def test_the_reason_of_a_forwarder_that_cannot_run_is_reported(delivered_jobs: Jobs) -> None:
    delivered_jobs.collector = "no address"
    out = delivered_jobs.run(RECORD + "print('left', at.flush(1.5))", "job")
    assert "left 4" in out
    assert "the forwarder ended:" in out and "no address" in out


def test_a_collector_that_comes_later(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    jobs = delivered_jobs
    with pipeline.serving():
        address = pipeline.address
    jobs.collector = address
    started = time.monotonic()
    jobs.run(RECORD, "job")
    assert time.monotonic() - started < 10
    with pipeline.serving(listen=address):
        eventually(lambda: len(rows(pipeline)) == 2)
        eventually(lambda: not list(jobs.state.glob("jobs/*/")))


def test_the_forwarder_is_no_child_of_the_job(delivered_jobs: Jobs) -> None:
    out = delivered_jobs.run(
        RECORD + "import os\ntry: print(os.waitpid(-1, os.WNOHANG))\nexcept ChildProcessError: print('no child')", "job"
    )
    assert "no child" in out


def test_a_missing_worker_is_reported_once(delivered_jobs: Jobs) -> None:
    delivered_jobs.worker = ""
    out = delivered_jobs.run(RECORD, "job", PATH="/nowhere", HOME=os.environ["HOME"])
    assert out.count("telemetry-worker is not installed") == 1
    assert PACKAGE.is_dir()


def test_a_file_of_measurements_is_forwarded_by_hand(jobs: Jobs, pipeline: Pipeline) -> None:
    jobs.run(RECORD, "job")
    (file,) = jobs.state.glob("jobs/*/*.measurements.jsonl")
    with pipeline.serving():
        pipeline.forward(file)
        pipeline.forward(file, state="another")
    assert len(rows(pipeline)) == 2
    assert file.exists()

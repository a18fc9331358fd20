"""Tests recording without a forwarder: lines, forks, threads, kill -9, full disks."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from conftest import TIMEOUT_S, Jobs

RECORD = """
import autotune_telemetry as at
with at.attempt(kernel="k", source="def k(): ...", inputs=[((4, 5), "float32")]) as attempt:
    attempt.record({"a": 1}, ms=0.5, samples=[0.5, 0.6], registers=32)
    attempt.record({"a": 2}, status="error", error=ValueError("too large"), error_phase="compile")
"""


def test_lines_describe_the_attempt_then_its_measurements_then_its_end(jobs: Jobs) -> None:
    jobs.run(RECORD, GITHUB_RUN_ID="7", GITHUB_REPOSITORY="a/b")
    head, first, second, end = jobs.lines()
    assert [line["kind"] for line in (head, first, second, end)] == ["attempt", "measurement", "measurement", "end"]
    assert (head["input_shapes"], head["dtypes"]) == ("[(4, 5)]", "['float32']")
    assert head["origin"] == "github:a/b/7"
    assert {line["attempt_id"] for line in (first, second, end)} == {head["attempt_id"]}
    assert (first["seq"], first["perf_ms"], first["samples_ms"], first["registers"]) == (1, 0.5, [0.5, 0.6], 32)
    assert second["failure"] == {"message": "too large", "error_class": "ValueError", "phase": "compile"}
    assert end["state"] == "complete"


def test_an_exception_passes_and_abandons_the_attempt(jobs: Jobs) -> None:
    out = jobs.run(
        "import autotune_telemetry as at\n"
        "try:\n"
        "    with at.attempt(kernel='k') as attempt: raise KeyError('mine')\n"
        "except KeyError: print('passed')\n"
    )
    assert "passed" in out
    assert jobs.lines()[-1]["state"] == "abandoned"


def test_an_attempt_without_end_is_abandoned_at_exit(jobs: Jobs) -> None:
    jobs.run("import autotune_telemetry as at\na = at.attempt(kernel='k')\na.record({}, ms=1)")
    assert jobs.lines()[-1]["state"] == "abandoned"


@pytest.mark.parametrize(
    "call",
    [
        "attempt.record(object(), ms='fast', samples=7)",
        "attempt.record({1: float('nan'), 'b': object()}, ms=float('inf'))",
        "attempt.record({'a': '\\ud800'}, ms=1)",
        "attempt.record({'a': 1}, unknown_detail=3)",
        "at.attempt(kernel=None, inputs=3, settings=4).record(None)",
        "at.start(state_dir='/proc/none'); attempt.record({}, ms=1)",
    ],
)
def test_nothing_raises_into_the_host_program(jobs: Jobs, call: str) -> None:
    jobs.run(f"import autotune_telemetry as at\nattempt = at.attempt(kernel='k')\n{call}\nat.flush(0)")


def test_an_unusable_state_folder_does_not_raise(jobs: Jobs) -> None:
    out = jobs.run(RECORD, AUTOTUNE_TELEMETRY_STATE_DIR="/proc/none")
    assert out.count("cannot write to") == 1


def test_without_a_collector_nothing_is_recorded(jobs: Jobs) -> None:
    out = jobs.run(RECORD, AUTOTUNE_TELEMETRY_COLLECTOR="")
    assert out.count("not recorded") == 1
    assert not jobs.state.exists()


def test_importing_imports_no_heavy_library(jobs: Jobs) -> None:
    loaded = set(jobs.run("import sys, autotune_telemetry\nprint(*sys.modules)").split())
    assert not loaded & {"numpy", "pandas", "torch", "triton", "helion", "kernel_tuner", "asyncio", "http"}


def test_threads_write_whole_lines(jobs: Jobs) -> None:
    jobs.run(
        "import threading, autotune_telemetry as at\n"
        "attempt = at.attempt(kernel='k')\n"
        "def work(n):\n"
        "    for i in range(200): attempt.record({'thread': n, 'i': i}, ms=i)\n"
        "threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
    )
    rows = jobs.measurements()
    assert sorted(row["seq"] for row in rows) == list(range(1, 1601))
    assert len({(row["config"]["thread"], row["config"]["i"]) for row in rows}) == 1600


def test_a_forked_child_has_files_and_an_attempt_of_its_own(jobs: Jobs) -> None:
    jobs.run(
        "import os, autotune_telemetry as at\n"
        "with at.attempt(kernel='k') as attempt:\n"
        "    attempt.record({'by': 'parent'}, ms=1)\n"
        "    if (pid := os.fork()) == 0:\n"
        "        attempt.record({'by': 'child'}, ms=2)\n"
        "        attempt.end()\n"
        "        os._exit(0)\n"
        "    os.waitpid(pid, 0)\n"
        "    attempt.record({'by': 'parent'}, ms=3)\n"
    )
    assert len(list(jobs.state.glob("jobs/*/*.measurements.jsonl"))) == 2
    heads = {line["attempt_id"]: line for line in jobs.lines() if line["kind"] == "attempt"}
    rows = jobs.measurements()
    by = {who: {row["attempt_id"] for row in rows if row["config"]["by"] == who} for who in ("parent", "child")}
    (parent,), (child,) = by["parent"], by["child"]
    assert parent != child
    assert heads[child]["environment"]["parent_attempt"] == parent
    assert heads[child]["kernel_name"] == heads[parent]["kernel_name"]


def test_a_fork_while_another_thread_records_does_not_hang(jobs: Jobs) -> None:
    jobs.run(
        "import os, threading, autotune_telemetry as at\n"
        "attempt = at.attempt(kernel='k')\n"
        "stop = threading.Event()\n"
        "def work():\n"
        "    while not stop.is_set(): attempt.record({}, ms=1)\n"
        "thread = threading.Thread(target=work); thread.start()\n"
        "for _ in range(20):\n"
        "    if (pid := os.fork()) == 0:\n"
        "        attempt.record({'child': 1}, ms=1); os._exit(0)\n"
        "    assert os.waitpid(pid, 0)[1] == 0\n"
        "stop.set(); thread.join()\n"
    )
    assert sum("child" in row["config"] for row in jobs.measurements()) == 20


def test_a_spawned_child_has_files_of_its_own(jobs: Jobs, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import multiprocessing, autotune_telemetry as at\n"
        "def work(n):\n"
        "    with at.attempt(kernel='k') as attempt: attempt.record({'n': n}, ms=n)\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    processes = [context.Process(target=work, args=(n,)) for n in range(2)]\n"
        "    [p.start() for p in processes]; [p.join() for p in processes]\n"
        "    work(2)\n"
    )
    subprocess.run([sys.executable, script], check=True, env=jobs.environment(), timeout=TIMEOUT_S)
    assert sorted(row["config"]["n"] for row in jobs.measurements()) == [0, 1, 2]
    assert len(list(jobs.state.glob("jobs/*"))) == 4  # three jobs and the lock


def test_kill_9_loses_at_most_the_line_that_was_being_written(jobs: Jobs) -> None:
    process = jobs.start(
        "import autotune_telemetry as at\n"
        "attempt = at.attempt(kernel='k')\n"
        "for i in range(10**9):\n"
        "    attempt.record({'i': i}, ms=1)\n"
        "    if i >= 500: print(i, flush=True)\n"
    )
    assert process.stdout is not None
    said = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest = process.communicate(timeout=TIMEOUT_S)[0].split()
    complete = [int(text) for text in rest[:-1]]
    rows = [row["config"]["i"] for row in jobs.measurements()]
    assert rows == list(range(len(rows)))
    assert len(rows) > max([said, *complete])


def test_a_full_disk_costs_one_warning_and_is_counted(jobs: Jobs) -> None:
    out = jobs.run(
        "import resource, signal, autotune_telemetry as at\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with at.attempt(kernel='k') as attempt:\n"
        "    attempt.record({'i': 0}, ms=1)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))\n"
        "    for i in range(1, 100): attempt.record({'i': i}, ms=1)\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "    attempt.record({'i': 100}, ms=1)\n"
    )
    assert out.count("measurements are counted") == 1
    recorded = len({row["seq"] for row in readable(jobs) if row["kind"] == "measurement"})
    end = readable(jobs)[-1]
    assert end["counters"] == {"measurements": 101, "unrecorded": 101 - recorded}
    assert 2 <= recorded < 100
    assert any(row.get("config") == {"i": 100} for row in readable(jobs))


def readable(jobs: Jobs) -> list[dict]:  # type: ignore[type-arg]
    """Returns the lines that are complete JSON, also of a file with a torn line."""
    lines = []
    for path in jobs.state.glob("jobs/*/*.measurements.jsonl"):
        for text in path.read_text().splitlines():
            try:
                lines.append(json.loads(text))
            except ValueError:
                continue
    return lines


def test_the_end_of_an_attempt_on_a_full_disk_is_written_later(jobs: Jobs) -> None:
    jobs.run(
        "import resource, signal, autotune_telemetry as at\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)\n"
        "first = at.attempt(kernel='first'); first.record({}, ms=1)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))\n"
        "first.record({}, ms=2); first.end()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)\n"
        "with at.attempt(kernel='second') as second: second.record({}, ms=3)\n"
    )
    ends = [line for line in readable(jobs) if line["kind"] == "end"]
    assert [end["counters"]["unrecorded"] for end in ends] == [1, 0]


def test_the_spool_limit_is_counted_like_a_full_disk(jobs: Jobs) -> None:
    out = jobs.run(
        "import autotune_telemetry as at\n"
        "text = 'x' * 100_000\n"
        "with at.attempt(kernel='k') as attempt:\n"
        "    for i in range(60): attempt.record({'text': text}, ms=i)\n",
        AUTOTUNE_TELEMETRY_SPOOL_LIMIT_BYTES="2000000",
    )
    assert out.count("more than the limit") == 1
    counters = jobs.lines()[-1]["counters"]
    assert counters["measurements"] == 60
    assert counters["unrecorded"] == 60 - len(jobs.measurements()) > 25


def test_a_large_file_is_continued_in_a_new_one_that_describes_its_attempts(jobs: Jobs) -> None:
    jobs.run(
        "import autotune_telemetry as at\n"
        "from autotune_telemetry import _spool\n"
        "_spool._ROTATE_BYTES = 1000\n"
        "with at.attempt(kernel='k') as attempt:\n"
        "    for i in range(20): attempt.record({'i': i}, ms=i)\n"
    )
    files = sorted(jobs.state.glob("jobs/*/*.measurements.jsonl"))
    assert len(files) > 2
    kinds = [[json.loads(line)["kind"] for line in file.read_text().splitlines()] for file in files]
    assert all(names[0] == "attempt" for names in kinds)
    assert [names[-1] for names in kinds] == ["continued"] * (len(files) - 1) + ["end"]
    assert [row["config"]["i"] for row in jobs.measurements()] == list(range(20))


def test_the_ci_systems_are_those_of_the_forwarder() -> None:
    from autotune_telemetry import _origin
    from conftest import ROOT

    source = (ROOT / "worker/forward/origin.cc").read_text()
    table = source[source.index("CiSystem>{") : source.index("return systems")]
    names = set(re.findall(r'"([A-Za-z_]+)"', table))
    own = {label for label, _, _ in _origin._CI_SYSTEMS}
    own |= {name for _, present, variables in _origin._CI_SYSTEMS for name in (present, *variables)}
    assert own == names


def test_run_gives_the_script_its_arguments_and_its_folder(jobs: Jobs, tmp_path: pathlib.Path) -> None:
    (tmp_path / "beside.py").write_text("value = 17")
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, beside, autotune_telemetry as at\n"
        "if __name__ == '__main__':\n"
        "    print(sys.argv, beside.value)\n"
        "    with at.attempt(kernel='k') as a: a.record({}, ms=1)\n"
        "    sys.exit(3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "autotune_telemetry", "run", str(script), "--its", "--flags"],
        env=jobs.environment() | {"AUTOTUNE_TELEMETRY_COLLECTOR": ""},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 3, done.stderr
    assert f"{[str(script), '--its', '--flags']} 17" in done.stdout
    assert len(jobs.measurements()) == 1


def test_children_of_run_attach_themselves(jobs: Jobs, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import subprocess, sys\n"
        "code = 'import sys; print(any(type(f).__name__ == \"_Finder\" for f in sys.meta_path))'\n"
        "subprocess.run([sys.executable, '-c', code], check=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "autotune_telemetry", "run", str(script)],
        env=jobs.environment() | {"AUTOTUNE_TELEMETRY_COLLECTOR": ""},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_file_system(jobs: Jobs) -> None:
    jobs.state.mkdir()
    program = (
        "import autotune_telemetry as at\n"
        "text = 'x' * 20_000\n"
        "with at.attempt(kernel='k') as attempt:\n"
        "    for i in range(100): attempt.record({'text': text}, ms=i)\n"
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=500k none "$1" && exec "$2" -c "$3" && true', "sh",
         str(jobs.state), sys.executable, program],
        env=jobs.environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "measurements are counted" in done.stderr

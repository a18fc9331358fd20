"""Tests the launcher with the real tuners on a GPU: the dataset's rows are compared with what the tuners printed or wrote.

The tests need torch with CUDA, and those of Helion need Helion from 1.5 on. They are skipped elsewhere. `pytest -s` shows the
numbers.
"""

from __future__ import annotations

import csv
import importlib.metadata
import importlib.util
import io
import json
import math
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter

import pytest

from conftest import BIN, PACKAGE
from pipeline import Pipeline

TIMEOUT_S = 300
PAIRS = int(os.environ.get("TELEMETRY_TEST_PAIRS", "1"))


def _version(package: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in re.findall(r"\d+", importlib.metadata.version(package))[:2])
    except importlib.metadata.PackageNotFoundError:
        return (0,)


def _has_gpu() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


pytestmark = pytest.mark.skipif(not _has_gpu(), reason="no torch with a GPU")
needs_helion = pytest.mark.skipif(_version("helion") < (1, 5), reason="no Helion from 1.5 on")

TRITON = """
import json, sys, time
import torch, triton, triton.language as tl

configs = [triton.Config({"BLOCK": block}, num_warps=warps) for block in (256, 512, 1024, 2048, 4096, 8192)
           for warps in (1, 2, 4, 8)]

@triton.autotune(configs=configs, key=["n"])
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK <= 4096, "the block is too large")
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + index, 2 * tl.load(x_ptr + index, mask=index < n), mask=index < n)

x = torch.randn(1 << 22, device="cuda")
y = torch.empty_like(x)
begin = time.perf_counter()
scale[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
torch.cuda.synchronize()
print("seconds", time.perf_counter() - begin, file=sys.stderr)
print(json.dumps([[config.all_kwargs(), times] for config, times in scale.configs_timings.items()]))
"""

# torch 2.11 does not have the name IntelGPUError, which Helion 1.5.1 imports.
HELION = """
import os, sys, time
import torch
import torch._inductor.runtime.triton_compat as compat
if not hasattr(compat, "IntelGPUError"):
    compat.IntelGPUError = type("IntelGPUError", (Exception,), {})
import helion, helion.language as hl

@helion.kernel(static_shapes=True)
def scaled_sum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size()):
        out[tile] = x[tile] * 2 + y[tile]
    return out

if __name__ == "__main__":  # Helion's benchmark process imports this file
    x = torch.randn(2048, 2048, device="cuda")
    begin = time.perf_counter()
    scaled_sum(x, x)
    torch.cuda.synchronize()
    print("seconds", time.perf_counter() - begin, file=sys.stderr)
"""
HELION_QUICK = {
    "HELION_AUTOTUNE_EFFORT": "quick",
    "HELION_AUTOTUNE_MAX_GENERATIONS": "1",
    "HELION_AUTOTUNE_RANDOM_SEED": "7",
    "HELION_AUTOTUNE_PROGRESS_BAR": "0",
}

# A search that tries the same 40 configs each time: the durations of two runs can be compared.
HELION_FIXED = HELION.replace(
    "@helion.kernel(static_shapes=True)",
    """import random
from helion.autotuner import LocalAutotuneCache, RandomSearch

def search(kernel, args):
    random.seed(7)
    return LocalAutotuneCache(RandomSearch(kernel, args, 40))

@helion.kernel(static_shapes=True, autotuner_fn=search)""",
)

# The same search several times in one process, in turn with and without the hooks, after two that are not measured.
HELION_PAIRS = (
    HELION_FIXED.replace("args, 40)", "args, 60)")
    .replace("@helion.kernel(static_shapes=True, autotuner_fn=search)\n", "")
    .replace("import helion, ", "import autotune_telemetry.helion as hooks\nimport helion, ")
    .partition("    begin = ")[0]
    + f"""
    for pair in range(-1, {PAIRS}):
        for hooked in (True, False) if pair % 2 == 0 else (False, True):
            if hooked:
                hooks.adapter.instrument()
            else:
                hooks.adapter.uninstrument()
            kernel = helion.kernel(static_shapes=True, autotuner_fn=search)(scaled_sum)
            begin = time.perf_counter()
            kernel(x, x)
            torch.cuda.synchronize()
            if pair >= 0:
                print("hooked" if hooked else "plain", time.perf_counter() - begin, file=sys.stderr)
"""
)

INDUCTOR = """
import torch, torch._inductor.config as config
config.force_disable_caches = True
a = torch.randn(1024, 1024, device="cuda", dtype=torch.float16)

@torch.compile(mode="max-autotune-no-cudagraphs")
def product(a, b):
    return a @ b

@torch.compile(mode="max-autotune-no-cudagraphs")
def total(a):
    return (a.float() * 2).sum(dim=1)

product(a, a.t().contiguous())
total(torch.randn(4096, 16384, device="cuda", dtype=torch.float16))  # smaller reductions have a single config
torch.cuda.synchronize()
"""


class Gpu:
    """Runs scripts under the launcher, with a state folder and caches of their own."""

    def __init__(self, folder: pathlib.Path, collector: str) -> None:
        self.folder = folder
        self.collector = collector
        self.runs = 0

    def environment(self, **more: str) -> dict[str, str]:
        """Returns the environment of a script whose tuners have empty caches."""
        self.runs += 1
        caches = self.folder / f"caches {self.runs}"
        own = {
            "AUTOTUNE_TELEMETRY_COLLECTOR": self.collector,
            "AUTOTUNE_TELEMETRY_STATE_DIR": str(self.folder / "state"),
            "AUTOTUNE_TELEMETRY_WORKER": str(BIN / "telemetry-worker"),
            "AUTOTUNE_TELEMETRY_EXIT_TIMEOUT": "30",
            "AUTOTUNE_TELEMETRY_FORWARDER_IDLE": "3",
            "HELION_CACHE_DIR": str(caches / "helion"),
            "TRITON_CACHE_DIR": str(caches / "triton"),
            "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
            "PYTHONPATH": ":".join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]),
        }
        return {**os.environ, **own, **more}

    def command(self, script: str, hooked: bool = True) -> list[str]:
        """Returns the command that runs a script."""
        path = self.folder / f"script {self.runs}.py"
        path.write_text(script)
        return [
            sys.executable,
            *(["-m", "autotune_telemetry", "run"] if hooked else []),
            str(path),
        ]

    def run(self, script: str, hooked: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
        """Runs a script to its end."""
        environment = self.environment(**more)
        command = self.command(script, hooked)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return done


@pytest.fixture
def pipeline(tmp_path: pathlib.Path) -> Pipeline:
    return Pipeline(tmp_path / "pipeline")


def _own_log(folder: pathlib.Path) -> pathlib.Path:
    """Returns the base path of a log that the user has asked for."""
    base = folder / "own" / "log"
    base.parent.mkdir()
    return base


def _rows(pipeline: Pipeline) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(pipeline.export("keyed")[".csv"].decode(), newline="")))


def _seconds(done: subprocess.CompletedProcess[str]) -> float:
    found = re.search(r"^seconds (\S+)$", done.stderr, re.MULTILINE)
    assert found is not None, done.stderr
    return float(found[1])


def test_triton_rows_are_those_that_triton_measured(tmp_path: pathlib.Path, pipeline: Pipeline) -> None:
    with pipeline.serving():
        done = Gpu(tmp_path, pipeline.address).run(TRITON)
        rows = _rows(pipeline)
    printed = {json.dumps(config, sort_keys=True): times for config, times in json.loads(done.stdout)}
    assert len(printed) == 24
    stored = {json.dumps(json.loads(row["config"]), sort_keys=True): row for row in rows}
    assert stored.keys() == printed.keys()
    for config, times in printed.items():
        if math.isfinite(times[0]):
            assert (stored[config]["status"], float(stored[config]["perf_ms"])) == (
                "ok",
                times[0],
            ), config
        else:
            assert stored[config]["status"] == "error", config
    failures = [row for row in rows if row["status"] == "error"]
    assert {json.loads(row["config"])["BLOCK"] for row in failures} == {8192}
    print(f"triton: {len(rows)} rows, {len(failures)} failures")


def test_inductor_rows_are_those_that_inductor_prints(tmp_path: pathlib.Path, pipeline: Pipeline) -> None:
    with pipeline.serving():
        done = Gpu(tmp_path, pipeline.address).run(INDUCTOR)
        rows = _rows(pipeline)
        runs = [json.loads(line) for line in pipeline.export("keyed")[".runs.jsonl"].splitlines()]
    printed = re.findall(
        r"^\s*(?:triton_)?\w+(?:_\d+)? (\d+\.\d+) ms +\d+\.\d+%",
        done.stderr,
        re.MULTILINE,
    )
    assert printed, done.stderr
    stored = Counter(f"{float(row['perf_ms']):.4f}" for row in rows if row["status"] == "ok")
    missing = Counter(f"{float(time):.4f}" for time in printed) - stored
    assert not missing, f"{missing} of {printed}, stored {stored}"
    names = {run["kernel_name"] for run in runs}
    assert "mm" in names, names
    assert any("red" in name or "per" in name for name in names), names
    print(f"inductor: {len(rows)} rows, {len(printed)} of them printed; runs {sorted(names)}")


@needs_helion
def test_helion_rows_records_and_traces_are_those_that_helion_wrote(tmp_path: pathlib.Path, pipeline: Pipeline) -> None:
    base = _own_log(tmp_path)
    with pipeline.serving():
        Gpu(tmp_path, pipeline.address).run(HELION, HELION_AUTOTUNE_LOG=str(base), **HELION_QUICK)
        files = pipeline.export("helion")
    assert files[".csv"] == base.with_suffix(".csv").read_bytes()
    assert files[".meta.jsonl"] == base.with_suffix(".meta.jsonl").read_bytes()
    traced = base.with_suffix(".trace.jsonl").read_bytes()
    assert files[".trace.jsonl"] == traced
    print(f"helion: {len(files['.csv'].splitlines()) - 1} rows, {traced.count(bytes([10]))} lines of trace")


@needs_helion
def test_two_helion_processes_that_write_one_log(tmp_path: pathlib.Path, pipeline: Pipeline) -> None:
    base = _own_log(tmp_path)
    with pipeline.serving():
        gpu = Gpu(tmp_path, pipeline.address)
        processes = []
        for seed in ("1", "2"):
            more = {
                **HELION_QUICK,
                "HELION_AUTOTUNE_RANDOM_SEED": seed,
                "HELION_AUTOTUNE_LOG": str(base),
            }
            environment = gpu.environment(**more)
            processes.append(subprocess.Popen(gpu.command(HELION), env=environment, stderr=subprocess.DEVNULL))
        assert [process.wait(TIMEOUT_S) for process in processes] == [0, 0]
        files = pipeline.export("helion")
    header, *written = base.with_suffix(".csv").read_text().splitlines()
    written = [line for line in written if line != header]
    assert sorted(files[".csv"].decode().splitlines()[1:]) == sorted(written)
    assert sorted(files[".trace.jsonl"].splitlines()) == sorted(base.with_suffix(".trace.jsonl").read_bytes().splitlines())
    print(f"two helion processes: {len(written)} rows")


def _wait_for_rows(process: subprocess.Popen[bytes], csv_path: pathlib.Path, count: int) -> None:
    until = time.monotonic() + TIMEOUT_S
    while not csv_path.exists() or csv_path.read_bytes().count(b"\n") <= count:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)


@needs_helion
def test_a_log_that_is_rotated_while_helion_writes(tmp_path: pathlib.Path, pipeline: Pipeline) -> None:
    base = _own_log(tmp_path)
    suffixes = (".csv", ".meta.jsonl", ".trace.jsonl")
    with pipeline.serving():
        gpu = Gpu(tmp_path, pipeline.address)
        environment = gpu.environment(HELION_AUTOTUNE_LOG=str(base), **HELION_QUICK)
        process = subprocess.Popen(gpu.command(HELION), env=environment, stderr=subprocess.DEVNULL)
        _wait_for_rows(process, base.with_suffix(".csv"), 12)
        for suffix in suffixes:
            if base.with_suffix(suffix).exists():
                base.with_suffix(suffix).rename(base.with_suffix(suffix + ".1"))
        assert process.wait(TIMEOUT_S) == 0
        gpu.run(HELION_FIXED, HELION_AUTOTUNE_LOG=str(base), **HELION_QUICK)
        files = pipeline.export("helion")
    for suffix in suffixes:
        paths = [path for path in (base.with_suffix(suffix + ".1"), base.with_suffix(suffix)) if path.exists()]
        written = [line for path in paths for line in path.read_bytes().splitlines()]
        header = written[:1] if suffix == ".csv" else []
        written = [line for line in written if line not in header]
        assert sorted(files[suffix].splitlines()[len(header) :]) == sorted(written), suffix
        print(f"rotated helion: {len(written)} lines of {suffix} in {len(paths)} files")


@needs_helion
def test_a_killed_helion_loses_at_most_a_line(tmp_path: pathlib.Path, pipeline: Pipeline) -> None:
    base = _own_log(tmp_path)
    with pipeline.serving():
        gpu = Gpu(tmp_path, pipeline.address)
        environment = gpu.environment(HELION_AUTOTUNE_LOG=str(base), **HELION_QUICK)
        process = subprocess.Popen(
            gpu.command(HELION),
            env=environment,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _wait_for_rows(process, base.with_suffix(".csv"), 12)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        written = base.with_suffix(".csv").read_bytes().replace(b"\r\n", b"\n").split(b"\n")
        # A later job delivers what the killed one left.
        gpu.run("import autotune_telemetry as at\nprint(at.flush(60))")
        gpu.run(TRITON)
        files = pipeline.export("helion")
    complete = [line for line in written[1:-1] if line]
    stored = files[".csv"].replace(b"\r\n", b"\n").splitlines()
    missing = [line for line in complete if line not in stored]
    assert not missing, f"{missing} of {len(complete)}"
    print(f"killed helion: {len(complete)} complete rows written, all stored")


@needs_helion
def test_a_second_process_takes_its_config_from_the_collector(tmp_path: pathlib.Path, pipeline: Pipeline) -> None:
    cache = {
        "HELION_REMOTE_CACHE_BACKEND": "autotune_telemetry.helion.RemoteCache",
        "HELION_AUTOTUNE_CACHE": "RemoteAutotuneCache",
    }
    with pipeline.serving():
        gpu = Gpu(tmp_path, pipeline.address)
        first = _seconds(gpu.run(HELION, **HELION_QUICK, **cache))
        second = _seconds(gpu.run(HELION, **HELION_QUICK, **cache))
    print(f"shared cache: tuning took {first:.1f} s, and {second:.1f} s in a second process without a local cache")
    assert second < first / 2


def _report_overhead(name: str, is_up: bool, pairs: list[tuple[float, float]]) -> None:
    """Prints pairs of seconds with and without hooks. Fails if the hooks cost more than 1 %; a few pairs are only noise."""
    name += f", collector {'up' if is_up else 'down'}"
    for hooked, plain in pairs:
        print(f"{name}: {hooked:.3f} s with hooks, {plain:.3f} s without")
    ratio = statistics.median(hooked / plain for hooked, plain in pairs)
    print(f"{name}: median ratio {ratio:.4f}")
    assert ratio < (1.01 if len(pairs) >= 5 else 1.5)


@pytest.mark.parametrize("is_up", [True, False], ids=["up", "down"])
def test_overhead_of_triton(tmp_path: pathlib.Path, pipeline: Pipeline, is_up: bool) -> None:
    pairs = []
    with pipeline.serving():
        gpu = Gpu(tmp_path, pipeline.address if is_up else "127.0.0.1:1")
        for pair in range(PAIRS):
            seconds = {}
            for hooked in (True, False) if pair % 2 == 0 else (False, True):
                seconds[hooked] = _seconds(gpu.run(TRITON, hooked, AUTOTUNE_TELEMETRY_EXIT_TIMEOUT="0"))
            pairs.append((seconds[True], seconds[False]))
    _report_overhead("triton", is_up, pairs)


@needs_helion
@pytest.mark.parametrize("is_up", [True, False], ids=["up", "down"])
def test_overhead_of_helion(tmp_path: pathlib.Path, pipeline: Pipeline, is_up: bool) -> None:
    with pipeline.serving():
        gpu = Gpu(tmp_path, pipeline.address if is_up else "127.0.0.1:1")
        # Helion's other processes take a tenth more or less time from search to search.
        one_process = {
            "HELION_AUTOTUNE_BENCHMARK_SUBPROCESS": "0",
            "HELION_AUTOTUNE_PRECOMPILE": "0",
        }
        done = gpu.run(HELION_PAIRS, HELION_FORCE_AUTOTUNE="1", **one_process, **HELION_QUICK)
    seconds = [(name == "hooked", float(value)) for name, value in re.findall(r"^(hooked|plain) (\S+)$", done.stderr, re.M)]
    assert len(seconds) == 2 * PAIRS, done.stderr
    with_hooks, without = ([value for hooked, value in seconds if hooked is wanted] for wanted in (True, False))
    _report_overhead("helion", is_up, list(zip(with_hooks, without)))

"""Tests the adapters: Kernel Tuner with PyOpenCL on PoCL, Triton and Helion where they are installed, the import hook."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import PACKAGE, TIMEOUT_S, Jobs
from pipeline import TESTDATA, Pipeline, csv_rows

# Folders with other versions of the tuners than the installed ones.
MORE = [folder for folder in os.environ.get("TELEMETRY_TEST_TUNERS", "").split(os.pathsep) if folder]


def run_script(jobs: Jobs, script: pathlib.Path, *arguments: str, path: str = "", accept: int = 0, **more: str) -> str:
    """Runs a script under the launcher; returns its output."""
    environment = jobs.environment(**more)
    environment["PYTHONPATH"] = os.pathsep.join([str(PACKAGE), *([path] if path else [])])
    done = subprocess.run(
        [sys.executable, "-m", "autotune_telemetry", "run", str(script), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=script.parent,
    )
    assert done.returncode == accept, done.stdout + done.stderr
    return done.stdout


def events(jobs: Jobs, name: str) -> list[dict]:  # type: ignore[type-arg]
    """Returns the values of the events of a name."""
    return [line["values"] for line in jobs.lines() if line["kind"] == "event" and line["name"] == name]


KERNEL_TUNER = '''
import json, sys
import numpy
from kernel_tuner import tune_kernel
source = """
__kernel void vector_add(__global float *c, __global const float *a, __global const float *b, int n) {
    int i = get_group_id(0) * block_size_x + get_local_id(0);
    #if BROKEN
    this does not compile
    #endif
    if (i < n) c[i] = a[i] + b[i];
}
"""
n = numpy.int32(1000)
a, b, c = (numpy.ones(n, numpy.float32) for _ in range(3))
options = json.loads(sys.argv[1])
results, env = tune_kernel("vector_add", source, int(n), [c, a, b, n], options.pop("parameters"), lang="OpenCL", quiet=True,
                           **options)
print(json.dumps([{key: result[key] for key in ("block_size_x", "time", "times")} for result in results], default=str))
'''
SPACE = {"block_size_x": [32, 64, 1 << 20]}  # the last one is too large for a device


@pytest.fixture
def vector_add(tmp_path: pathlib.Path) -> pathlib.Path:
    pytest.importorskip("kernel_tuner")
    pytest.importorskip("pyopencl")
    script = tmp_path / "vector_add.py"
    script.write_text(KERNEL_TUNER)
    return script


@pytest.mark.parametrize("path", ["", *MORE])
def test_kernel_tuner_rows_are_its_results(jobs: Jobs, vector_add: pathlib.Path, path: str) -> None:
    if path and not pathlib.Path(path, "kernel_tuner").exists():
        pytest.skip("no Kernel Tuner")
    out = run_script(jobs, vector_add, json.dumps({"parameters": SPACE}), path=path)
    results = {result["block_size_x"]: result for result in json.loads(out.splitlines()[-1])}
    rows = {row["config"]["block_size_x"]: row for row in jobs.measurements()}
    assert set(rows) >= set(results) and {32, 64} <= set(rows)
    for size in (32, 64):
        assert rows[size]["perf_ms"] == results[size]["time"]
        assert rows[size]["samples_ms"] == results[size]["times"]
        assert rows[size]["compile_time_s"] > 0
    head, end = jobs.lines()[0], jobs.lines()[-1]
    assert (head["tuner"], head["kernel_name"]) == ("kernel_tuner", "vector_add")
    assert (head["input_shapes"], head["dtypes"]) == (
        "[(1000,), (1000,), (1000,), ()]",
        "['float32', 'float32', 'float32', 'int32']",
    )
    assert "c[i] = a[i] + b[i]" in head["kernel_source"]
    assert head["search_algorithm"] == "brute_force"
    assert head["environment"]["space"] == SPACE
    assert end["state"] == "complete"


def test_kernel_tuner_configs_of_its_cache_are_counted(jobs: Jobs, vector_add: pathlib.Path, tmp_path: pathlib.Path) -> None:
    options = {"parameters": {"block_size_x": [32, 64]}, "cache": str(tmp_path / "cache.json")}
    run_script(jobs, vector_add, json.dumps(options))
    run_script(jobs, vector_add, json.dumps(options))
    ends = [line["counters"] for line in jobs.lines() if line["kind"] == "end"]
    assert sorted((end["measurements"], end["taken_from_cache"]) for end in ends) == [(0, 2), (2, 0)]


def test_kernel_tuner_strategies_of_the_user_are_recorded(jobs: Jobs, vector_add: pathlib.Path, tmp_path: pathlib.Path) -> None:
    script = tmp_path / "own.py"
    own = "class Reversed:\n    def tune(self, searchspace, runner, options):\n"
    own += "        return runner.run(list(reversed(searchspace.sorted_list())), options)\n"
    script.write_text(own + vector_add.read_text().replace("**options)", "strategy=Reversed(), **options)"))
    run_script(jobs, script, json.dumps({"parameters": {"block_size_x": [32, 64]}}))
    assert jobs.lines()[0]["search_algorithm"] == "Reversed"
    assert [row["config"]["block_size_x"] for row in jobs.measurements()] == [64, 32]


def test_kernel_tuner_strategies_and_errors_stay_the_users(jobs: Jobs, vector_add: pathlib.Path) -> None:
    options = {"parameters": {"block_size_x": [32, 64]}, "strategy": "random_sample", "strategy_options": {"fraction": 1}}
    run_script(jobs, vector_add, json.dumps(options))
    assert jobs.lines()[0]["search_algorithm"] == "random_sample"
    options = {"parameters": {"block_size_x": [32], "BROKEN": [1]}}
    run_script(jobs, vector_add, json.dumps(options), accept=1)
    (row,) = [row for row in jobs.measurements() if "BROKEN" in row["config"]]
    assert row["status"] == "error"
    assert "this" in row["failure"]["message"]
    assert any(line["kind"] == "end" and line["state"] == "abandoned" for line in jobs.lines())
    run_script(jobs, vector_add, json.dumps({"parameters": SPACE, "strategy": "no_such"}), accept=1)


TRITON = """
import sys
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources
from triton.runtime.jit import JITFunction

class Tensor:
    shape, dtype = (64, 32), "float16"

def launch(self, *arguments, num_warps, **named):
    if num_warps == 8:
        raise OutOfResources(300_000, 200_000, "shared memory")
    class Compiled:
        asm = {"ttir": "the ttir", "ptx": "the ptx", "cubin": b""}
    return Compiled()

JITFunction.run = launch

def bench(kernel_call, quantiles):
    kernel_call()
    bench.calls += 1
    return [0.5 + bench.calls, 0.4 + bench.calls, 0.9 + bench.calls]
bench.calls = 0

configs = [triton.Config({"BLOCK": 32 * n}, num_warps=n) for n in (1, 2, 8)]
@triton.autotune(configs=configs, key=["n"], do_bench=bench)
@triton.jit
def copy(x, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    pass

for _ in range(2):
    copy[(1,)](Tensor(), 2048, OTHER=3)
copy[(1,)](Tensor(), 4096, OTHER=3)
print(copy.best_config)
"""


def importable(module: str, path: str) -> bool:
    environment = {"PYTHONPATH": path, "PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    return subprocess.run([sys.executable, "-c", f"import {module}"], env=environment, capture_output=True).returncode == 0


@pytest.mark.parametrize("path", ["", *MORE])
def test_triton_rows_are_the_configs_with_quantiles_and_reasons(jobs: Jobs, tmp_path: pathlib.Path, path: str) -> None:
    if (path and not pathlib.Path(path, "triton").exists()) or not importable("triton", path):
        pytest.skip("Triton is not installed")
    script = tmp_path / "tune.py"
    script.write_text(TRITON)
    run_script(jobs, script, path=path, AUTOTUNE_TELEMETRY_TRITON_CODE="1")
    rows = jobs.measurements()
    assert [(row["config"]["BLOCK"], row["config"]["num_warps"], row["status"], row.get("perf_ms")) for row in rows] == [
        (32, 1, "ok", 1.5),
        (64, 2, "ok", 2.5),
        (256, 8, "error", None),
        (32, 1, "ok", 3.5),
        (64, 2, "ok", 4.5),
        (256, 8, "error", None),
    ]
    assert rows[2]["failure"]["error_class"] == "OutOfResources"
    assert rows[2]["failure"]["phase"] == "load"
    assert "shared memory" in rows[2]["failure"]["message"]
    assert events(jobs, "quantiles")[0] == {"seq": 1, "quantiles_ms": [[0.2, 1.4], [0.5, 1.5], [0.8, 1.9]]}
    first, second = events(jobs, "selected")
    assert first["config"]["BLOCK"] == 32 and first["cache_hit"] is False
    assert first["key"] == [2048, "float16"]
    assert events(jobs, "code")[0] == {"config": first["config"], "ttir": "the ttir", "ptx": "the ptx"}
    heads = [line for line in jobs.lines() if line["kind"] == "attempt"]
    assert [head["settings"] for head in heads] == [
        {"key": {"n": 2048}, "constants": {"OTHER": 3}},
        {"key": {"n": 4096}, "constants": {"OTHER": 3}},
    ]
    assert (heads[0]["kernel_name"], heads[0]["input_shapes"], heads[0]["dtypes"]) == ("copy", "[(64, 32)]", "['float16']")
    assert "def copy(x, n, OTHER" in heads[0]["kernel_source"]
    assert second["config"]["BLOCK"] == 32


# A module with the names of Helion that the adapter uses.
FAKE_HELION = "__version__ = '{version}'\n"


@pytest.mark.parametrize("own_log", [False, True])
def test_sidecars_of_helion_are_delivered(
    delivered_jobs: Jobs, pipeline: Pipeline, tmp_path: pathlib.Path, own_log: bool
) -> None:
    (tmp_path / "helion.py").write_text(FAKE_HELION.format(version="1.5.1"))
    script = tmp_path / "tune.py"
    script.write_text(
        "import os, shutil, sys, helion, autotune_telemetry\n"
        "base = os.environ['HELION_AUTOTUNE_LOG']\n"
        "for suffix in ('.csv', '.meta.jsonl'): shutil.copy(sys.argv[1] + suffix, base + suffix)\n"
        "print(autotune_telemetry.flush(30))\n"
    )
    more = {"HELION_AUTOTUNE_LOG": str(tmp_path / "log")} if own_log else {}
    sample = TESTDATA / "helion-main/softmax"
    with pipeline.serving():
        delivered_jobs.collector = pipeline.address
        assert run_script(delivered_jobs, script, str(sample), AUTOTUNE_TELEMETRY_ORIGIN="ci/9", **more).split() == ["0"]
        files = pipeline.export("helion")
    assert len(csv_rows(files[".csv"])) == len(csv_rows(sample.with_suffix(".csv").read_bytes()))
    assert {json.loads(line)["origin"] for line in files[".attempts.jsonl"].splitlines()} == {"ci/9"}
    assert (tmp_path / "log.csv").exists() == own_log


def helion_script(folder: pathlib.Path, version: str) -> pathlib.Path:
    (folder / "helion.py").write_text(FAKE_HELION.format(version=version))
    script = folder / "tune.py"
    script.write_text(
        "import os, helion\n"
        "log = os.environ.get('HELION_AUTOTUNE_LOG')\n"
        "print(log, os.environ.get('HELION_AUTOTUNE_LOG_DETAILS'))\n"
    )
    return script


def test_helion_writes_into_the_job_folder(jobs: Jobs, tmp_path: pathlib.Path) -> None:
    out = run_script(jobs, helion_script(tmp_path, "1.5.1"))
    log, details = out.split()
    assert pathlib.Path(log).parent.parent == jobs.state / "jobs"
    assert details == "1"


def test_helion_logs_of_the_user_stay_there_and_are_linked(jobs: Jobs, tmp_path: pathlib.Path) -> None:
    log = tmp_path / "mine" / "v1.1-log"
    out = run_script(jobs, helion_script(tmp_path, "1.5.1"), HELION_AUTOTUNE_LOG=str(log))
    assert out.split() == [str(log), "1"]
    (writer,) = jobs.state.glob("jobs/*/writer")
    link = writer.parent / "helion.csv"
    assert link.readlink() == tmp_path / "mine/v1.csv"


def test_a_version_that_is_not_supported_is_left_alone(jobs: Jobs, tmp_path: pathlib.Path) -> None:
    assert run_script(jobs, helion_script(tmp_path, "2.0.0")).split() == ["None", "None"]


HELION_1_0 = {
    "__init__.py": "__version__ = '1.0.0'\n",
    "autotuner/__init__.py": "",
    "autotuner/logger.py": """
from typing import NamedTuple
class Config:
    def __init__(self, **config): self.config = config
class AutotuneLogEntry(NamedTuple):
    generation: int
    status: str
    perf_ms: float
    compile_time: float
    config: Config
class AutotuningLogger:
    def record_autotune_entry(self, entry): self.last = entry
""",
    "autotuner/base_search.py": """
from .logger import AutotuneLogEntry, AutotuningLogger, Config
class Metrics:
    def to_dict(self): return {"num_configs_tested": 2}
class BaseSearch:
    def __init__(self, kernel, args):
        self.kernel, self.args, self.log = kernel, args, AutotuningLogger()
        self.settings = type("Settings", (), {"static_shapes": True, "index_dtype": None, "autotune_random_seed": 7})
        self._autotune_metrics = Metrics()
    def autotune(self, *, skip_cache=False):
        for n in (1, 2):
            config = Config(block_sizes=[n])
            self.log.record_autotune_entry(AutotuneLogEntry(n, "started", None, 0.5, config))
            self.log.record_autotune_entry(AutotuneLogEntry(n, "ok", n / 4, 0.5, config))
        return config
""",
}


def test_helion_1_0_rows_are_its_log_entries(jobs: Jobs, tmp_path: pathlib.Path) -> None:
    for name, text in HELION_1_0.items():
        path = tmp_path / "helion" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    script = tmp_path / "tune.py"
    script.write_text(
        "import helion, os, types\n"
        "from helion.autotuner.base_search import BaseSearch\n"
        "def softmax(x): return x\n"
        "tensor = types.SimpleNamespace(shape=(4, 5), dtype='torch.float16')\n"
        "bound = types.SimpleNamespace(kernel=types.SimpleNamespace(fn=softmax))\n"
        "search = BaseSearch(bound, (tensor, 3))\n"
        "print(search.autotune().config, search.log.last.status, os.environ.get('HELION_AUTOTUNE_LOG'))\n"
    )
    assert run_script(jobs, script).strip() == "{'block_sizes': [2]} ok None"
    head, *rows, end = jobs.lines()
    assert (head["tuner"], head["kernel_name"], head["input_shapes"]) == ("helion", "softmax", "[(4, 5)]")
    assert head["kernel_source"] == "def softmax(x): return x\n"
    assert (head["search_algorithm"], head["seed"]) == ("BaseSearch", 7)
    assert [(row["generation"], row["status"], row.get("perf_ms")) for row in rows] == [
        (1, "started", None),
        (1, "ok", 0.25),
        (2, "started", None),
        (2, "ok", 0.5),
    ]
    assert end["counters"]["num_configs_tested"] == 2


# The names of torch that the adapter uses.
TORCH = {
    "__init__.py": "__version__ = '2.8.0'\n",
    "_inductor/__init__.py": "",
    "_inductor/runtime/__init__.py": "",
    "_inductor/select_algorithm.py": """
class Cache: feedback_saver_fns = []
_ALGORITHM_SELECTOR_CACHE = Cache()
def add_feedback_saver(function): Cache.feedback_saver_fns.append(function)
""",
    "_inductor/runtime/triton_heuristics.py": """
class CachingAutotuner:
    def benchmark_all_configs(self, *arguments, **named): return self.timings
""",
}


def test_inductor_rows_are_its_choices_and_its_kernels(jobs: Jobs, tmp_path: pathlib.Path) -> None:
    for name, text in TORCH.items():
        path = tmp_path / "torch" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    script = tmp_path / "tune.py"
    script.write_text(
        "from types import SimpleNamespace as N\n"
        "from torch._inductor import select_algorithm\n"
        "from torch._inductor.runtime.triton_heuristics import CachingAutotuner\n"
        "class Choice(N):\n"
        "    __hash__ = object.__hash__\n"
        "    def info_dict(self): return {'tile_shape': (64, 32), 'num_warps': 4, 'object': object()}\n"
        "class Node(N):\n"
        "    def get_size(self): return [64, 32]\n"
        "    def get_dtype(self): return 'torch.float16'\n"
        "one, two = Choice(name='triton_mm_17'), Choice(name='mm')\n"
        "for saver in select_algorithm._ALGORITHM_SELECTOR_CACHE.feedback_saver_fns:\n"
        "    saver({one: 0.25, two: float('inf')}, 'mm', [Node(), Node()], [], 'newer argument')\n"
        "class Launcher:\n"
        "    n_regs, n_spills, shared = 32, 2, 1024\n"
        "    config = N(kwargs={'XBLOCK': 8}, num_warps=4, num_stages=1)\n"
        "tuned = CachingAutotuner()\n"
        "tuned.fn, tuned.timings = N(__name__='triton_red', src='def triton_red(): ...'), {Launcher(): 0.5}\n"
        "print(len(tuned.benchmark_all_configs(N(shape=(4,), dtype='torch.float32'), 7)))\n"
    )
    assert run_script(jobs, script).strip() == "1"
    heads = [line for line in jobs.lines() if line["kind"] == "attempt"]
    assert [(head["tuner"], head["kernel_name"]) for head in heads] == [("inductor", "mm"), ("inductor", "triton_red")]
    assert [head["input_shapes"] for head in heads] == ["[(64, 32), (64, 32)]", "[(4,)]"]
    first, failed, kernel = jobs.measurements()
    assert first["config"] == {"choice": "Choice", "name": "triton_mm", "tile_shape": [64, 32], "num_warps": 4}
    assert (first["perf_ms"], failed["status"]) == (0.25, "error")
    assert kernel["config"] == {"XBLOCK": 8, "num_warps": 4, "num_stages": 1}
    assert (kernel["registers"], kernel["spill_bytes"], kernel["shared_bytes"]) == (32, 8, 1024)


def test_versions_are_compared_by_their_numbers() -> None:
    from autotune_telemetry.helion import adapter

    supported = {version: adapter.supports(version) for version in ("0.9.9", "1.0.0", "1.5.1", "1.10", "1.6", "")}
    assert [version for version, yes in supported.items() if yes] == ["1.0.0", "1.5.1"]
    assert adapter.supports("1.5.0.dev3+git")


def test_an_adapter_detaches() -> None:
    pytest.importorskip("kernel_tuner")
    import kernel_tuner.interface

    from autotune_telemetry.kernel_tuner import adapter

    before = kernel_tuner.interface.tune_kernel
    adapter.instrument()
    assert kernel_tuner.interface.tune_kernel is not before
    assert kernel_tuner.tune_kernel is kernel_tuner.interface.tune_kernel
    adapter.uninstrument()
    assert kernel_tuner.tune_kernel is kernel_tuner.interface.tune_kernel is before


def test_kernel_tuner_files_are_forwarded(
    jobs: Jobs, vector_add: pathlib.Path, tmp_path: pathlib.Path, pipeline: Pipeline
) -> None:
    options = {"parameters": {"block_size_x": [32, 64]}, "cache": str(tmp_path / "cache.json")}
    out = run_script(jobs, vector_add, json.dumps(options))
    results = json.loads(out.splitlines()[-1])
    with pipeline.serving():
        pipeline.forward(tmp_path / "cache.json")
        pipeline.forward(tmp_path / "cache.json", state="again")
        files = pipeline.export("keyed", "--details")
    rows = list(csv.DictReader(io.StringIO(files[".csv"].decode(), newline="")))
    assert [(json.loads(row["config"])["block_size_x"], float(row["perf_ms"])) for row in rows] == [
        (result["block_size_x"], result["time"]) for result in results
    ]
    details = [json.loads(line)["samples_ms"] for line in files[".details.jsonl"].splitlines()]
    assert details == [result["times"] for result in results]

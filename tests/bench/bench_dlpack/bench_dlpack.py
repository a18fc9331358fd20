"""bench-dlpack: measures kernels on PyTorch's tensors beside the worker's own and PyTorch. See README.md beside this file."""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

ROOT = pathlib.Path(__file__).resolve().parents[3]
BIN = pathlib.Path(os.environ.get("TELEMETRY_BIN_DIR", ROOT / "build/release/bin"))
sys.path[:0] = [str(ROOT / "client/python"), str(ROOT / "tests/client/python")]
os.environ.setdefault("AUTOTUNE_TELEMETRY_KERNELS", "libtelemetry-kernels.so")  # found through LD_LIBRARY_PATH

from gpu_cases import Case, make_cases, own_tensor  # noqa: E402

from autotune_telemetry.kernels import Kernel  # noqa: E402

DEVICE = "cuda:0"
TUNE_LIMIT_S = 120
COLD_OVER_L2 = 8  # the tensors of a cold series, over the size of the L2 cache
MOST_SETS = 64
WARM_CALLS = 50
CPU_CALLS = 500
WARM_UP = 3  # samples that do not count
BUSY_CYCLES_PER_CALL = 400_000  # 0.2 ms at 2 GHz: longer than the CPU needs to queue a call

Call = Callable[[list[Any], list[Any]], Any]


def tuned(case: Case, configs: int) -> tuple[str, float]:
    """Returns the best config of a search, and the milliseconds that the worker measured for it."""
    with tempfile.TemporaryDirectory(prefix="bench_dlpack.") as folder:
        arguments = [part for argument in case.arguments for part in ("--arg", argument)]
        command = [
            *[BIN / "telemetry-worker", "tune", case.name, *arguments, "--device", DEVICE, "--collector", ""],
            *["--log", f"{folder}/log", "--state-dir", f"{folder}/state", "--max-configs", str(configs)],
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TUNE_LIMIT_S, check=False)
    best = re.search(r": best (\S+) ms", done.stdout)
    config = re.search(r"Config\(.*\)", done.stdout)
    if done.returncode != 0 or best is None or config is None:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return config[0], float(best[1])


@dataclass
class Sets:
    """Tensors for the calls of a series: several sets of inputs and outputs."""

    inputs: list[list[Any]]
    outputs: list[list[Any]]

    @classmethod
    def of(cls, case: Case, kernel: Kernel, count: int, is_own: bool) -> Sets:
        """Makes sets with the values of the case, in the memory of PyTorch or of the library."""
        if not is_own:
            inputs = [[tensor.clone() for tensor in case.inputs] for _ in range(count)]
            return cls(inputs, [[torch.empty_like(tensor) for tensor in case.outputs] for _ in range(count)])
        inputs = [[own_tensor(tensor, DEVICE) for tensor in case.inputs] for _ in range(count)]
        return cls(inputs, [[torch.from_dlpack(out) for out in kernel.allocate(*some)] for some in inputs])


def run_series(call: Call, sets: Sets, calls: int) -> list[Any]:
    """Calls with each set in turn. Returns what the calls returned, so that their memory is not used again meanwhile."""
    count = len(sets.inputs)
    return [call(sets.inputs[i % count], sets.outputs[i % count]) for i in range(calls)]


class Contestant:
    """A way to call a kernel: in a stream, or in a CUDA graph."""

    def __init__(self, name: str, call: Call, sets: Sets, calls: int, stream: Any = None, in_graph: bool = False) -> None:
        self.name, self.call, self.sets, self.calls = name, call, sets, calls
        self.stream = stream or torch.cuda.current_stream()
        self.samples_us: list[float] = []
        self.late = 0  # samples that did not count
        self.graph = None
        self.kept: list[Any] = []
        run_series(call, sets, 1)
        torch.cuda.synchronize()
        if in_graph:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.kept = run_series(call, sets, calls)
            self.graph.replay()
            torch.cuda.synchronize()

    def measure(self) -> None:
        """Takes a sample."""
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.cuda.stream(self.stream):
            torch.cuda._sleep(BUSY_CYCLES_PER_CALL * (1 if self.graph else self.calls))
            begin.record()
            if self.graph:
                self.graph.replay()
            else:
                self.kept = run_series(self.call, self.sets, self.calls)
            end.record()
        is_late = begin.query()  # the GPU may have waited for the CPU
        end.synchronize()
        self.kept = self.kept if self.graph else []
        if is_late:
            self.late += 1
        else:
            self.samples_us.append(begin.elapsed_time(end) * 1000 / self.calls)

    def median_us(self) -> float:
        """Returns the median of the samples, without the first ones."""
        if len(self.samples_us) <= 2 * WARM_UP:
            raise RuntimeError(f"{self.name}: the CPU was too slow in {self.late} of the samples")
        return statistics.median(self.samples_us[WARM_UP:])


def cpu_us(call: Call, sets: Sets) -> float:
    """Returns the median time until a call returns, in microseconds."""
    times = []
    for _ in range(CPU_CALLS):
        begin = time.perf_counter()
        call(sets.inputs[0], sets.outputs[0])
        times.append((time.perf_counter() - begin) * 1e6)
        torch.cuda.synchronize()
    return statistics.median(times)


def check_results(case: Case, call: Call, kernel: Kernel) -> list[str]:
    """Runs the kernel in each way. Returns the ways whose results differ from PyTorch's, or from the first way's bits."""
    second = torch.cuda.Stream()
    first: list[Any] = []
    wrong = []
    for way in ("current stream", "second stream", "CUDA graph", "memory of the library"):
        sets = Sets.of(case, kernel, 1, way == "memory of the library")
        for out in sets.outputs[0]:
            out.fill_(float("nan"))
        torch.cuda.synchronize()
        if way == "CUDA graph":
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                run_series(call, sets, 1)
            torch.cuda.synchronize()
            if not bool(sets.outputs[0][0].isnan().all()):
                wrong.append("CUDA graph: the capture ran the kernel")
            graph.replay()
        else:
            with torch.cuda.stream(second if way == "second stream" else torch.cuda.current_stream()):
                run_series(call, sets, 1)
        torch.cuda.synchronize()
        outputs = sets.outputs[0]
        first = first or outputs
        same = all(torch.equal(out, earlier) for out, earlier in zip(outputs, first))
        error = case.error(outputs)
        print(f"  {way}: error {error:.3f} of the tolerance, bits {'equal' if same else 'DIFFER'}", flush=True)
        if error > 1 or not same:
            wrong.append(f"{case.name}, {way}")
    return wrong


def bench(case: Case, configs: int, samples: int, l2_bytes: int) -> tuple[dict[str, Any], list[str]]:
    """Measures a kernel. Returns its row of the results, and the ways whose results were wrong."""
    config, worker_ms = tuned(case, configs)
    print(f"{case.name} {' '.join(case.arguments)}\n  {config}", flush=True)
    kernel = Kernel(case.name, DEVICE, config)

    def by_kernel(inputs: list[Any], outputs: list[Any]) -> None:
        kernel(*inputs, out=outputs)

    def by_torch(inputs: list[Any], _outputs: list[Any]) -> Any:
        return case.torch_call(inputs)

    by_kernel(case.inputs, case.outputs)  # compiles
    torch.cuda.synchronize()
    wrong = check_results(case, by_kernel, kernel)

    row: dict[str, Any] = {"kernel": case.name, "arguments": case.arguments, "config": config, "worker_us": worker_ms * 1000}
    second = torch.cuda.Stream()
    set_bytes = sum(tensor.numel() * tensor.element_size() for tensor in [*case.inputs, *case.outputs])
    count = min(MOST_SETS, max(2, math.ceil(COLD_OVER_L2 * l2_bytes / set_bytes)))
    for cache, sets_in_use, calls in (("cold", count, count), ("warm", 1, WARM_CALLS)):
        shared = Sets.of(case, kernel, sets_in_use, is_own=False)
        own = Sets.of(case, kernel, sets_in_use, is_own=True)
        contestants = [
            Contestant("library's tensors", by_kernel, own, calls),
            Contestant("library's tensors, graph", by_kernel, own, calls, in_graph=True),
            Contestant("torch's tensors", by_kernel, shared, calls),
            Contestant("torch's tensors, second stream", by_kernel, shared, calls, stream=second),
            Contestant("torch's tensors, graph", by_kernel, shared, calls, in_graph=True),
            Contestant("torch's operation", by_torch, shared, calls),
            Contestant("torch's operation, graph", by_torch, shared, calls, in_graph=True),
        ]
        for _ in range(samples + WARM_UP):
            for contestant in contestants:
                contestant.measure()
        row[cache] = {contestant.name: contestant.median_us() for contestant in contestants}
        row["cpu_us"] = {"kernel": cpu_us(by_kernel, shared), "torch": cpu_us(by_torch, shared)}
        del contestants, shared, own
        torch.cuda.empty_cache()
    return row, wrong


def table(rows: list[dict[str, Any]]) -> str:
    """Returns the results as a table of Markdown, in microseconds."""
    lines = ["| us, median | " + " | ".join(row["kernel"] for row in rows) + " |", "| --- |" + " --- |" * len(rows)]
    lines.append("| worker's own measurement, cold L2 | " + " | ".join(f"{row['worker_us']:.2f}" for row in rows) + " |")
    for cache in ("cold", "warm"):
        for name in rows[0][cache]:
            lines.append(f"| {name}, {cache} L2 | " + " | ".join(f"{row[cache][name]:.2f}" for row in rows) + " |")
    for name, whose in (("kernel", "the kernel"), ("torch", "torch's operation")):
        lines.append(f"| CPU time of a call, {whose} | " + " | ".join(f"{row['cpu_us'][name]:.1f}" for row in rows) + " |")
    return "\n".join(lines)


def main() -> int:
    """Measures all kernels; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--configs", type=int, default=60, help="configs of each search (default: 60)")
    parser.add_argument("--samples", type=int, default=30, help="samples of each time (default: 30)")
    parser.add_argument("--out", type=pathlib.Path, help="file for the results, as JSON")
    options = parser.parse_args()
    properties = torch.cuda.get_device_properties(0)
    l2_bytes = properties.L2_cache_size
    print(f"{properties.name}, {l2_bytes / 2**20:.0f} MiB of L2, torch {torch.__version__}", flush=True)
    rows, wrong = [], []
    for case in make_cases(DEVICE):
        row, of_case = bench(case, options.configs, options.samples, l2_bytes)
        rows.append(row)
        wrong += of_case
    if options.out:
        options.out.write_text(
            json.dumps({"device": properties.name, "torch": torch.__version__, "rows": rows}, indent=2) + "\n"
        )
    print(table(rows))
    print(f"WRONG: {', '.join(wrong)}" if wrong else "all results are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

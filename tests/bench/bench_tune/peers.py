"""Times the cases of bench-tune with PyTorch, Inductor and Helion, for a comparison on the same machine.

    python tests/bench/bench_tune/peers.py                               every case, PyTorch only
    python tests/bench/bench_tune/peers.py --inductor --helion matmul    one case, with torch.compile and Helion's quick search

Needs a CUDA device and torch; --helion needs the package helion. Prints one JSON object for each case and peer. A time
is the median of samples between two events, in microseconds. As in the tuner, the cache is flushed before each sample
by reading 256 MiB, and few samples are queued at once. The time between two events without a launch is printed first,
and is part of each time.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable

import torch
from torch.nn import functional

FLUSHED_BYTES = 256 << 20
WARM_UP_RUNS = 5
SAMPLES = 60
QUEUED_AT_ONCE = 3  # samples of a longer queue take longer (worker/tune/measure/sampler.h)
NEAR = 1.02  # times a search's best time


class Timer:
    """Times functions that launch kernels on the current CUDA device."""

    def __init__(self) -> None:
        self._flushed = torch.empty(FLUSHED_BYTES // 4, dtype=torch.int32, device="cuda")

    def median_us(self, launch: Callable[[], object]) -> float:
        """Returns the median time of a launch in microseconds."""
        for _ in range(WARM_UP_RUNS):
            launch()
        samples: list[float] = []
        while len(samples) < SAMPLES:
            intervals = []
            for _ in range(QUEUED_AT_ONCE):
                self._flushed.sum()
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                launch()
                end.record()
                intervals.append((begin, end))
            torch.cuda.synchronize()
            samples += [begin.elapsed_time(end) for begin, end in intervals]
        return round(1000 * statistics.median(samples), 2)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return functional.softmax(x, dim=1)


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return functional.rms_norm(x, (x.size(1),), weight, 1e-5)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, k, v)


# The function of PyTorch and the shapes of its arguments, by the name of the kernel. All tensors are f16.
CASES: dict[str, tuple[Callable[..., torch.Tensor], list[tuple[int, ...]]]] = {
    "softmax": (softmax, [(4096, 2560)]),
    "rms_norm": (rms_norm, [(2048, 4096), (4096,)]),
    "matmul": (torch.matmul, [(4096, 4096), (4096, 4096)]),
    "bmm": (torch.bmm, [(16, 512, 768), (16, 768, 1024)]),
    "attention": (attention, [(2, 32, 1024, 64)] * 3),
}


def read_search(log: pathlib.Path) -> dict[str, object]:
    """Returns the facts of a search from Helion's log: configs that ran, the best time, and when one was near it."""
    with log.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["status"] == "ok" and row["perf_ms"]]
    if not rows:
        return {"configs": 0}
    best_ms = min(float(row["perf_ms"]) for row in rows)
    near_s = min(float(row["timestamp_s"]) for row in rows if float(row["perf_ms"]) <= NEAR * best_ms)
    return {"configs": len({row["config"] for row in rows}), "best_ms": best_ms, "near_best_s": near_s}


def measure_helion(timer: Timer, kernel: Callable, arguments: list[torch.Tensor], expected: torch.Tensor) -> dict:
    """Tunes the kernel and returns its time, the largest error, and the facts of the search."""
    with tempfile.TemporaryDirectory() as folder:
        kernel.settings.autotune_log = f"{folder}/search"
        begin = time.monotonic()
        kernel.autotune(tuple(arguments), force=True)
        seconds = time.monotonic() - begin
        facts = read_search(pathlib.Path(folder, "search.csv"))
    error = (kernel(*arguments).float() - expected.float()).abs().max().item()
    return {"us": timer.median_us(lambda: kernel(*arguments)), "error": error, "search_s": round(seconds, 1), **facts}


def measure_case(timer: Timer, name: str, inductor: bool, helion: Callable | None) -> Iterable[dict]:
    """Yields the result of each peer."""
    function, shapes = CASES[name]
    arguments = [(torch.rand(shape, device="cuda") - 0.5).half() for shape in shapes]
    yield {"case": name, "peer": "pytorch", "us": timer.median_us(lambda: function(*arguments))}
    if inductor:
        compiled = torch.compile(function, mode="max-autotune-no-cudagraphs")
        yield {"case": name, "peer": "inductor", "us": timer.median_us(lambda: compiled(*arguments))}
    if helion is not None:
        yield {"case": name, "peer": "helion", **measure_helion(timer, helion, arguments, function(*arguments))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--inductor", action="store_true", help="also torch.compile with mode max-autotune")
    parser.add_argument("--helion", action="store_true", help="also Helion with a quick search")
    flags = parser.parse_args()
    if unknown := set(flags.cases) - set(CASES):
        parser.error(f"unknown case {', '.join(sorted(unknown))}: choose from {', '.join(CASES)}")
    if not torch.cuda.is_available():
        parser.exit(1, "peers.py needs a CUDA device that torch can use\n")
    torch.manual_seed(0)
    timer = Timer()
    print(json.dumps({"peer": "none", "us": timer.median_us(lambda: None)}), flush=True)
    kernels = importlib.import_module("helion_kernels") if flags.helion else None
    for name in flags.cases or CASES:
        for result in measure_case(timer, name, flags.inductor, getattr(kernels, name, None)):
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()

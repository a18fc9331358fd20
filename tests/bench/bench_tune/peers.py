"""Times the cases of bench-tune with PyTorch, Inductor and Helion, for a comparison on the same machine.

    python tests/bench/bench_tune/peers.py                          every case, PyTorch only
    python tests/bench/bench_tune/peers.py --inductor --helion matmul    one case, with torch.compile and Helion's quick search

Needs a CUDA device and torch; --helion needs the package helion. Prints one JSON object for each case and peer. A time
is the median of samples between two events, in microseconds. As in the tuner, the cache is flushed before each sample
by reading 256 MiB. The time between two events without a launch is printed first, and is part of each time.
"""

from __future__ import annotations

import argparse
import csv
import functools
import json
import math
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable

import torch
from torch.nn import functional

FLUSHED_BYTES = 256 << 20
WARM_UP_RUNS = 5
SAMPLES = 40
NEAR = 1.02  # times a search's best time


class Timer:
    """Times functions that launch kernels on the current CUDA device."""

    def __init__(self) -> None:
        self._flushed = torch.empty(FLUSHED_BYTES // 4, dtype=torch.int32, device="cuda")

    def median_us(self, launch: Callable[[], object]) -> float:
        """Returns the median time of a launch in microseconds."""
        for _ in range(WARM_UP_RUNS):
            launch()
        samples = []
        for _ in range(SAMPLES):
            self._flushed.sum()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            launch()
            end.record()
            samples.append((begin, end))
        torch.cuda.synchronize()
        return round(1000 * statistics.median(begin.elapsed_time(end) for begin, end in samples), 2)


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


def helion_kernels() -> dict[str, Callable]:
    """Returns a Helion kernel for each case."""
    import helion
    import helion.language as hl

    kernel = functools.partial(helion.kernel, static_shapes=True, autotune_effort="quick")

    @kernel()
    def helion_softmax(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            out[rows, :] = torch.nn.functional.softmax(x[rows, :].to(torch.float32), dim=1).to(x.dtype)
        return out

    @kernel()
    def helion_rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for rows in hl.tile(x.size(0)):
            values = x[rows, :].to(torch.float32)
            scale = torch.rsqrt(torch.mean(values * values, dim=-1) + 1e-5)
            out[rows, :] = (values * scale[:, None] * weight[:].to(torch.float32)).to(x.dtype)
        return out

    @kernel()
    def helion_matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype, device=x.device)
        for rows, columns in hl.tile([x.size(0), y.size(1)]):
            sums = hl.zeros([rows, columns], dtype=torch.float32)
            for inner in hl.tile(x.size(1)):
                sums = torch.addmm(sums, x[rows, inner], y[inner, columns])
            out[rows, columns] = sums.to(x.dtype)
        return out

    @kernel()
    def helion_bmm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty([x.size(0), x.size(1), y.size(2)], dtype=x.dtype, device=x.device)
        for batch, rows, columns in hl.tile([x.size(0), x.size(1), y.size(2)]):
            sums = hl.zeros([batch, rows, columns], dtype=torch.float32)
            for inner in hl.tile(x.size(2)):
                sums = torch.baddbmm(sums, x[batch, rows, inner], y[batch, inner, columns])
            out[batch, rows, columns] = sums.to(x.dtype)
        return out

    @kernel()
    def helion_attention(q_in: torch.Tensor, k_in: torch.Tensor, v_in: torch.Tensor) -> torch.Tensor:
        queries, keys = q_in.size(-2), k_in.size(-2)
        head = hl.specialize(q_in.size(-1))
        q = q_in.reshape([-1, queries, head])
        k = k_in.reshape([-1, keys, head]).transpose(1, 2)
        v = v_in.reshape([-1, keys, head])
        out = torch.empty_like(q)
        scale = math.log2(math.e) / math.sqrt(head)
        for batch, rows in hl.tile([q.size(0), queries]):
            largest = hl.full([batch, rows], float("-inf"), dtype=torch.float32)
            total = torch.full_like(largest, 0.0)
            sums = hl.zeros([batch, rows, head], dtype=torch.float32)
            for columns in hl.tile(keys):
                scores = torch.bmm(q[batch, rows, :], k[batch, :, columns])
                larger = torch.maximum(largest, torch.amax(scores, -1) * scale)
                weights = torch.exp2(scores * scale - larger[:, :, None])
                shrink = torch.exp2(largest - larger)
                total = total * shrink + torch.sum(weights, -1)
                sums = torch.baddbmm(sums * shrink[:, :, None], weights.to(v.dtype), v[batch, columns, :])
                largest = larger
            out[batch, rows, :] = (sums / total[:, :, None]).to(out.dtype)
        return out.view(q_in.size())

    return {
        "softmax": helion_softmax,
        "rms_norm": helion_rms_norm,
        "matmul": helion_matmul,
        "bmm": helion_bmm,
        "attention": helion_attention,
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
    kernels = helion_kernels() if flags.helion else {}
    for name in flags.cases or CASES:
        for result in measure_case(timer, name, flags.inductor, kernels.get(name)):
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()

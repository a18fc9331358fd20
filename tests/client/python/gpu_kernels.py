"""Checks kernels on torch's tensors on a GPU: on its streams, in CUDA graphs, with times beside memory of the library.

    export AUTOTUNE_TELEMETRY_KERNELS=build/release/lib/libtelemetry-kernels.so PYTHONPATH=client/python
    python tests/client/python/gpu_kernels.py

Needs torch with CUDA and NVRTC (TELEMETRY_NVRTC, as for telemetry-worker). With two GPUs it also checks that the current device
stays. Prints one line for each check and each time. Exit status 1: a check failed.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from autotune_telemetry.kernels import Kernel

CALLS = 50  # between two events
SAMPLES = 20
BUSY_CYCLES = 400_000_000  # 0.2 s at 2 GHz

failures: list[str] = []


def check(name: str, holds: bool, detail: str = "") -> None:
    """Prints a check and records its failure."""
    print(f"{'ok' if holds else 'FAILED':6} {name} {detail}".rstrip())
    if not holds:
        failures.append(name)


@dataclass
class Case:
    """A kernel with inputs, outputs and torch's results."""

    kernel: Kernel
    inputs: list[Any]
    outputs: list[Any]
    expected: list[Any]
    tolerance: float

    def run(self, outputs: list[Any] | None = None, inputs: list[Any] | None = None, stream: Any = None) -> None:
        """Calls the kernel."""
        self.kernel(*(inputs or self.inputs), out=self.outputs if outputs is None else outputs, stream=stream)

    def clear(self) -> None:
        """Makes results of earlier calls unusable."""
        for output in self.outputs:
            output.fill_(float("nan"))

    def error(self, outputs: list[Any] | None = None) -> float:
        """Returns the largest difference from torch's results, relative to the tolerance; NaN counts as infinite."""
        worst = 0.0
        for out, want in zip(self.outputs if outputs is None else outputs, self.expected):
            off = (out.float() - want.float()).abs() / (1 + want.float().abs())
            worst = max(worst, float(torch.nan_to_num(off, nan=float("inf")).max()))
        return worst / self.tolerance


def own_tensor(like: Any) -> Any:
    """Returns a copy of a matrix or a vector in memory that the library allocated."""
    matrix = like.reshape(1, -1) if like.dim() == 1 else like
    (output,) = Kernel("softmax", f"cuda:{like.device.index}").allocate(matrix)
    own = torch.from_dlpack(output)
    own.copy_(matrix)
    return own.reshape(like.shape)


def cases(device: str) -> list[Case]:
    """Returns the cases, each called once: the first call compiles."""
    torch.manual_seed(7)
    half = {"device": device, "dtype": torch.float16}
    x = torch.randn(4096, 2560, **half)
    softmax = Case(Kernel("softmax", device), [x], [torch.empty_like(x)], [torch.softmax(x.float(), 1)], 1e-3)

    wide = torch.randn(4096, 5120, **half)
    weight, bias = torch.randn(5120, **half), torch.randn(5120, **half)
    mean, variance = wide.float().mean(1), wide.float().var(1, unbiased=False)
    normed = torch.nn.functional.layer_norm(wide.float(), (5120,), weight.float(), bias.float(), 1e-5)
    rows = [torch.empty(4096, device=device) for _ in range(2)]
    layer_norm = Case(
        Kernel("layer_norm", device),
        [wide, weight, bias],
        [torch.empty_like(wide), *rows],
        [normed, mean, (variance + 1e-5).rsqrt()],
        2e-3,
    )

    a, b = torch.randn(2048, 2048, **half) / 8, torch.randn(2048, 2048, **half) / 8
    config = "Config(block_sizes=[128, 128, 64], num_warps=8)"
    product = [a.float() @ b.float()]
    matmul = Case(Kernel("matmul", device, config), [a, b], [torch.empty(2048, 2048, **half)], product, 5e-3)
    # A transposed input, without a copy.
    turned = Case(
        Kernel("matmul", device, config), [a, b.t().contiguous().t()], [torch.empty(2048, 2048, **half)], product, 5e-3
    )
    turned.kernel.name = "matmul, y transposed"
    return [softmax, layer_norm, matmul, turned]


def gpu_us(call: Callable[[], None], stream: Any) -> float:
    """Returns the median time between the ends of calls on a stream, in microseconds."""
    times = []
    with torch.cuda.stream(stream):
        for _ in range(SAMPLES):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(CALLS):
                call()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) / CALLS * 1000)
    return statistics.median(times[2:])


def in_graph_us(call: Callable[[], None]) -> float:
    """Returns the median time of a call in a graph of many, in microseconds: that of the GPU, without the work of the CPU."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            call()
    times = []
    for _ in range(SAMPLES):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / CALLS * 1000)
    return statistics.median(times[2:])


def cpu_us(call: Callable[[], None]) -> float:
    """Returns the median time until a call returns, in microseconds."""
    times = []
    for _ in range(SAMPLES * CALLS):
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1e6)
        torch.cuda.synchronize()
    return statistics.median(times)


def check_case(case: Case) -> None:
    """Checks one kernel on both streams, in a graph, and on memory of the library."""
    name = case.kernel.name
    case.run()
    torch.cuda.synchronize()
    check(f"{name}: current stream", case.error() <= 1, f"error {case.error():.3f} of the tolerance")
    first = [out.clone() for out in case.outputs]

    second = torch.cuda.Stream()
    case.clear()
    torch.cuda.synchronize()
    inputs = [torch.zeros_like(tensor).as_strided(tensor.shape, tensor.stride()) for tensor in case.inputs]
    torch.cuda.synchronize()
    with torch.cuda.stream(second):
        torch.cuda._sleep(BUSY_CYCLES)  # the call must neither wait for this nor overtake it
        for tensor, source in zip(inputs, case.inputs):
            tensor.copy_(source)
        begin = time.perf_counter()
        case.run(inputs=inputs)
        took_s = time.perf_counter() - begin
        is_busy = not second.query()
    check(f"{name}: the call does not wait", is_busy and took_s < 0.05, f"{took_s * 1e6:.0f} us")
    torch.cuda.synchronize()
    same = all(torch.equal(out, earlier) for out, earlier in zip(case.outputs, first))
    check(f"{name}: second stream, after the work before it", same)

    case.clear()
    third = torch.cuda.Stream()
    third.wait_stream(torch.cuda.current_stream())
    case.run(stream=third)
    third.synchronize()
    check(f"{name}: a stream given by name", all(torch.equal(out, earlier) for out, earlier in zip(case.outputs, first)))

    graph = torch.cuda.CUDAGraph()
    case.clear()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        case.run()
    torch.cuda.synchronize()
    check(f"{name}: a capture runs nothing", bool(case.outputs[0].isnan().all()))
    graph.replay()
    torch.cuda.synchronize()
    check(f"{name}: graph", all(torch.equal(out, earlier) for out, earlier in zip(case.outputs, first)))
    kept = case.inputs[0].clone()
    case.inputs[0].copy_(kept.flip(0))  # a replay reads the tensors as they are then
    graph.replay()
    torch.cuda.synchronize()
    check(f"{name}: graph with other values", torch.equal(case.outputs[0], first[0].flip(0)))
    case.inputs[0].copy_(kept)

    own_inputs = [own_tensor(tensor) if tensor.is_contiguous() else own_tensor(tensor.t()).t() for tensor in case.inputs]
    own_outputs = [torch.from_dlpack(output) for output in case.kernel.allocate(*own_inputs)]
    case.run(own_outputs, own_inputs)
    torch.cuda.synchronize()
    check(f"{name}: memory of the library", all(torch.equal(out, earlier) for out, earlier in zip(own_outputs, first)))

    free_before = torch.cuda.mem_get_info()[0]
    for _ in range(200):
        case.run()
    torch.cuda.synchronize()
    check(f"{name}: later calls allocate nothing", torch.cuda.mem_get_info()[0] == free_before)

    def on_own_memory() -> None:
        case.run(own_outputs, own_inputs)

    current = torch.cuda.current_stream()
    times = {
        "in a graph": in_graph_us(case.run),
        "in a graph, memory of the library": in_graph_us(on_own_memory),
        "calls": gpu_us(case.run, current),
        "calls, memory of the library": gpu_us(on_own_memory, current),
        "calls, second stream": gpu_us(case.run, second),
        "CPU time of a call": cpu_us(case.run),
    }
    print(f"time   {name}: " + ", ".join(f"{what} {us:.1f} us" for what, us in times.items()))


def check_first_call_in_a_capture(device: str) -> None:
    """Checks that a call which would have to compile is refused, and that the capture goes on."""
    x = torch.randn(64, 192, device=device)
    out = torch.empty_like(x)
    softmax = Kernel("softmax", device)
    graph = torch.cuda.CUDAGraph()
    message = ""
    with torch.cuda.graph(graph):
        try:
            softmax(x, out=[out])
        except RuntimeError as error:
            message = str(error)
        out.fill_(3)
    graph.replay()
    torch.cuda.synchronize()
    check("a first call in a capture is refused", "make the same call once before the capture" in message, message)
    check("the capture goes on", bool((out == 3).all()))
    softmax(x, out=[out])
    torch.cuda.synchronize()
    check("the same call works afterwards", torch.allclose(out, torch.softmax(x, 1), atol=1e-6))


def check_refusals(device: str) -> None:
    """Checks that memory of other devices is refused with a reason, and leaves the CUDA context usable."""
    softmax = Kernel("softmax", device)
    x = torch.randn(64, 64, device=device)
    for name, tensor, out, reason in (
        ("a tensor of the host", x.cpu(), x.clone(), "kernel runs on cuda:"),
        ("an output with strides", x, x.clone().t(), "dense and row-major"),
        ("an unaligned tensor", x.view(-1)[1:4033].view(64, 63), torch.empty(64, 63, device=device), "a multiple of 16"),
        ("int64", x.long(), x.clone(), "convert to f32"),
    ):
        message = ""
        try:
            softmax(tensor, out=[out])
        except RuntimeError as error:
            message = str(error)
        check(f"refused: {name}", reason in message, message)
    pinned = x.cpu().pin_memory()
    out = torch.empty_like(x)
    try:
        softmax(pinned, out=[out])
        print("note   pinned memory of the host is exported as memory of the device")
    except (AssertionError, BufferError, RuntimeError) as error:
        print(f"note   pinned memory of the host: {error}")
    torch.cuda.synchronize()


def check_current_device() -> None:
    """Checks that a call on one GPU leaves another one current."""
    if torch.cuda.device_count() < 2:
        print("skip   the current device stays: there is one GPU")
        return
    x = torch.randn(64, 64, device="cuda:1")
    out = torch.empty_like(x)
    with torch.cuda.device(0):
        Kernel("softmax", "cuda:1")(x, out=[out])
        current = torch.empty(1, device="cuda").device.index
    torch.cuda.synchronize(1)
    check("the current device stays", current == 0)
    check("a kernel on cuda:1", torch.allclose(out, torch.softmax(x, 1), atol=1e-6))


def main() -> int:
    """Runs all checks; returns the exit status."""
    device = "cuda:0"
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, CUDA {torch.version.cuda}")
    for case in cases(device):
        check_case(case)
    check_first_call_in_a_capture(device)
    check_refusals(device)
    check_current_device()
    print(f"{len(failures)} checks failed" if failures else "all checks passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

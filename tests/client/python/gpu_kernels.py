"""Checks kernels on torch's tensors on a GPU: on its streams, and in CUDA graphs. tests/bench/bench_dlpack has times.

    export AUTOTUNE_TELEMETRY_KERNELS=build/release/lib/libtelemetry-kernels.so PYTHONPATH=client/python
    python tests/client/python/gpu_kernels.py

Needs torch with CUDA and NVRTC (TELEMETRY_NVRTC, as for telemetry-worker). With two GPUs it also checks that the current device
stays. Prints one line for each check. Exit status 1: a check failed.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from typing import Any

import torch
from gpu_cases import Case, make_cases, own_tensor

from autotune_telemetry.kernels import Kernel

DEVICE = "cuda:0"
BUSY_CYCLES = 400_000_000  # 0.2 s at 2 GHz

failures: list[str] = []


def check(name: str, holds: bool, detail: str = "") -> None:
    """Prints a check and records its failure."""
    print(f"{'ok' if holds else 'FAILED':6} {name} {detail}".rstrip())
    if not holds:
        failures.append(name)


class Checked:
    """A case with the kernel that it is checked with."""

    def __init__(self, case: Case, name: str = "") -> None:
        self.name = name or case.name
        self.kernel = Kernel(case.name, DEVICE, case.config)
        self.case, self.inputs, self.outputs = case, case.inputs, case.outputs

    def run(self, outputs: list[Any] | None = None, inputs: list[Any] | None = None, stream: Any = None) -> None:
        """Calls the kernel."""
        self.kernel(*(inputs or self.inputs), out=self.outputs if outputs is None else outputs, stream=stream)

    def clear(self) -> None:
        """Makes results of earlier calls unusable."""
        for output in self.outputs:
            output.fill_(float("nan"))


def all_checked() -> list[Checked]:
    """Returns the cases, and matmul with a transposed input, which is not copied."""
    cases = make_cases(DEVICE)
    matmul = cases[-1]
    x, y = matmul.inputs
    turned = dataclasses.replace(matmul, inputs=[x, y.t().contiguous().t()], outputs=[torch.empty_like(x)])
    return [*(Checked(case) for case in cases), Checked(turned, "matmul, y transposed")]


def check_case(case: Checked) -> None:
    """Checks one kernel on both streams, in a graph, and on memory of the library."""
    name = case.name
    case.run()
    torch.cuda.synchronize()
    error = case.case.error(case.outputs)
    check(f"{name}: current stream", error <= 1, f"error {error:.3f} of the tolerance")
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

    own_inputs = [
        own_tensor(tensor, DEVICE) if tensor.is_contiguous() else own_tensor(tensor.t(), DEVICE).t() for tensor in case.inputs
    ]
    own_outputs = [torch.from_dlpack(output) for output in case.kernel.allocate(*own_inputs)]
    case.run(own_outputs, own_inputs)
    torch.cuda.synchronize()
    check(f"{name}: memory of the library", all(torch.equal(out, earlier) for out, earlier in zip(own_outputs, first)))

    free_before = torch.cuda.mem_get_info()[0]
    for _ in range(200):
        case.run()
    torch.cuda.synchronize()
    check(f"{name}: later calls allocate nothing", torch.cuda.mem_get_info()[0] == free_before)


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
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, CUDA {torch.version.cuda}")
    for case in all_checked():
        check_case(case)
    check_first_call_in_a_capture(DEVICE)
    check_refusals(DEVICE)
    check_current_device()
    print(f"{len(failures)} checks failed" if failures else "all checks passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

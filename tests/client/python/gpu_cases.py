"""Kernels with inputs on a GPU, PyTorch's operation for each, and its results: for gpu_kernels.py and bench_dlpack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from autotune_telemetry.kernels import Kernel


@dataclass
class Case:
    """A kernel with inputs, outputs that are not initialised, PyTorch's operation, and PyTorch's results in float32."""

    name: str
    arguments: list[str]  # of telemetry-worker tune
    config: str  # a good one; empty: the default
    inputs: list[Any]
    outputs: list[Any]
    torch_call: Callable[[Sequence[Any]], Any]
    expected: list[Any]
    tolerance: float

    def error(self, outputs: list[Any]) -> float:
        """Returns the largest difference from the expected results, over the tolerance; NaN counts as infinite."""
        worst = 0.0
        for out, want in zip(outputs, self.expected):
            off = (out.float() - want.float()).abs() / (1 + want.float().abs())
            worst = max(worst, float(torch.nan_to_num(off, nan=float("inf")).max()))
        return worst / self.tolerance


def make_cases(device: str) -> list[Case]:
    """Returns softmax, layer_norm and matmul."""
    torch.manual_seed(7)
    half = {"device": device, "dtype": torch.float16}
    x = torch.randn(4096, 2560, **half)
    softmax = Case(
        "softmax",
        ["x=4096x2560:f16"],
        "",
        [x],
        [torch.empty_like(x)],
        lambda inputs: torch.softmax(inputs[0], 1),
        [torch.softmax(x.float(), 1)],
        1e-3,
    )
    wide, weight, bias = torch.randn(4096, 5120, **half), torch.randn(5120, **half), torch.randn(5120, **half)
    normed = torch.nn.functional.layer_norm(wide.float(), (5120,), weight.float(), bias.float(), 1e-5)
    variance = wide.float().var(1, unbiased=False)
    layer_norm = Case(
        "layer_norm",
        ["x=4096x5120:f16", "weight=5120:f16", "bias=5120:f16"],
        "",
        [wide, weight, bias],
        [torch.empty_like(wide), *(torch.empty(4096, device=device) for _ in range(2))],
        lambda inputs: torch.native_layer_norm(inputs[0], (5120,), inputs[1], inputs[2], 1e-5),
        [normed, wide.float().mean(1), (variance + 1e-5).rsqrt()],
        2e-3,
    )
    a, b = torch.randn(2048, 2048, **half) / 8, torch.randn(2048, 2048, **half) / 8
    matmul = Case(
        "matmul",
        ["x=2048x2048:f16", "y=2048x2048:f16"],
        "Config(block_sizes=[128, 128, 64], num_warps=8)",
        [a, b],
        [torch.empty(2048, 2048, **half)],
        lambda inputs: torch.matmul(*inputs),
        [a.float() @ b.float()],
        5e-3,
    )
    return [softmax, layer_norm, matmul]


def own_tensor(like: Any, device: str) -> Any:
    """Returns a copy of a matrix or a vector in memory that the library allocated."""
    matrix = like.reshape(1, -1) if like.dim() == 1 else like
    (output,) = Kernel("softmax", device).allocate(matrix)
    own = torch.from_dlpack(output)
    own.copy_(matrix)
    return own.reshape(like.shape)

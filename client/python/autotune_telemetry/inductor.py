"""The adapter of PyTorch Inductor's max-autotune. Supported: torch from 2.8 on (tested with 2.8 and later).

Each choice that Inductor benchmarks for an operation is a row: GEMM and convolution templates with their configs, and the
calls of libraries. The adapter is one of the functions of `torch._inductor.select_algorithm.add_feedback_saver`; others stay
installed. Inductor reports the times of an operation together, after the last one, also times that it has in its own cache.

Pointwise and reduction kernels are tuned by Inductor's CachingAutotuner. A second adapter wraps its method
benchmark_all_configs, and each config is a row as well.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from typing import Any

import autotune_telemetry
from autotune_telemetry import _values
from autotune_telemetry._adapter import Adapter
from autotune_telemetry._log import never_raises


class InductorAdapter(Adapter):
    """Adds a feedback saver for max-autotune choices."""

    tuner = "inductor"
    package = "torch"
    oldest = "2.8"

    def _attach(self) -> None:
        select: Any = sys.modules["torch._inductor.select_algorithm"]
        select.add_feedback_saver(self._save)

    def uninstrument(self) -> None:
        """Detaches from Inductor. Inductor has no call that removes one feedback saver, so its list is edited."""
        cache = getattr(sys.modules.get("torch._inductor.select_algorithm"), "_ALGORITHM_SELECTOR_CACHE", None)
        savers = getattr(cache, "feedback_saver_fns", None)
        if savers is not None and self._save in savers:
            savers.remove(self._save)
        super().uninstrument()

    @never_raises(None)
    def _save(self, *arguments: Any) -> None:
        """Receives the times of one operation: a map from choices to milliseconds, its name and its inputs, in this order."""
        timings, name, inputs = arguments[0], arguments[1], arguments[2]
        if not timings:
            return
        with autotune_telemetry.attempt(
            kernel=str(name),
            inputs=[_input(node) for node in inputs],
            tuner=self.tuner,
            tuner_version=self.version(),
            algorithm="exhaustive",
        ) as attempt:
            for choice, time in timings.items():
                milliseconds = _values.finite(time)
                attempt.record(
                    _choice(choice),
                    ms=milliseconds,
                    status="ok" if milliseconds is not None else "error",
                )


class InductorKernelAdapter(Adapter):
    """Wraps the benchmarks of CachingAutotuner."""

    tuner = "inductor"
    package = "torch"
    oldest = "2.8"

    def _attach(self) -> None:
        heuristics: Any = sys.modules["torch._inductor.runtime.triton_heuristics"]
        owner = heuristics.CachingAutotuner
        self._replace(owner, "benchmark_all_configs", self._wrap_benchmarks(owner.benchmark_all_configs))

    def _wrap_benchmarks(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def benchmark_all_configs(tuned: Any, *arguments: Any, **named: Any) -> Any:
            timings = original(tuned, *arguments, **named)
            self._record_kernel(tuned, arguments, timings)
            return timings

        return benchmark_all_configs

    @never_raises(None)
    def _record_kernel(self, tuned: Any, arguments: tuple[Any, ...], timings: dict[Any, float]) -> None:
        tensors = [argument for argument in arguments if hasattr(argument, "dtype") and hasattr(argument, "shape")]
        sizes = [argument for argument in arguments if isinstance(argument, int) and not isinstance(argument, bool)]
        meta = getattr(tuned, "inductor_meta", None) or {}
        with autotune_telemetry.attempt(
            kernel=str(meta.get("kernel_name") or getattr(tuned.fn, "__name__", "")),
            source=str(getattr(tuned.fn, "src", "")),
            inputs=[(tuple(tensor.shape), tensor.dtype) for tensor in tensors],
            tuner=self.tuner,
            tuner_version=self.version(),
            settings={"sizes": sizes},
            algorithm="exhaustive",
        ) as attempt:
            for launcher, milliseconds in timings.items():
                config = launcher.config
                attempt.record(
                    {**config.kwargs, "num_warps": config.num_warps, "num_stages": config.num_stages},
                    ms=milliseconds,
                    status="ok" if math.isfinite(milliseconds) else "error",
                    registers=getattr(launcher, "n_regs", None),
                    spill_bytes=_spilled(launcher),
                    shared_bytes=_count(getattr(launcher, "shared", None)),
                )


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _spilled(launcher: Any) -> int | None:
    """Returns the bytes that spill; Triton counts registers of 4 bytes."""
    spills = _count(getattr(launcher, "n_spills", None))
    return None if spills is None else 4 * spills


def _choice(choice: Any) -> dict[str, Any]:
    """Returns a choice as a config: the name of the template or library call, and the values of its configuration."""
    config: dict[str, Any] = {"choice": type(choice).__name__, "name": str(getattr(choice, "name", ""))}
    information = _information(choice)
    if information:
        # The name of a template ends in a number that differs between processes.
        config["name"] = config["name"].rstrip("0123456789").rstrip("_")
    return {**information, **config}


def _information(choice: Any) -> dict[str, Any]:
    try:
        found = choice.info_dict()
    except Exception:  # not every choice has one
        return {}
    return {str(name): value for name, value in found.items() if _is_plain(value)} if isinstance(found, dict) else {}


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool, list, tuple))


def _input(node: Any) -> Any:
    """Returns the shape and the dtype of an input, an IR node of Inductor."""
    sizes = []
    for size in node.get_size():
        try:
            sizes.append(int(size))
        except TypeError:  # a symbol
            sizes.append(int(getattr(getattr(size, "node", None), "hint", 0) or 0))
    return (sizes, node.get_dtype())


adapter = InductorAdapter()
kernel_adapter = InductorKernelAdapter()

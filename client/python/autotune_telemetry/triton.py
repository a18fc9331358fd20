"""The adapter of Triton's `@triton.autotune`. Supported: Triton from 3.4 on (tested with 3.4, 3.6 and 3.9).

Each search of an autotuned kernel is an attempt. A row is a config with its median; the 20th and 80th percentiles and the
tuning key are events of the attempt. Triton swallows the errors of configs that do not compile or do not fit; the adapter
takes their reasons where the benchmark raises them. `knobs.autotuning.listener` stays free for others.

AUTOTUNE_TELEMETRY_TRITON_CODE=1 also stores TTIR, TTGIR and PTX of the best config.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import autotune_telemetry
from autotune_telemetry._adapter import Adapter
from autotune_telemetry._attempt import Attempt
from autotune_telemetry._log import never_raises
from autotune_telemetry._settings import from_environment

_QUANTILES = (0.5, 0.2, 0.8)  # of Autotuner._bench, in its order
_CODE = ("ttir", "ttgir", "ptx", "amdgcn")
_PHASES = {
    "OutOfResources": "load",
    "PTXASError": "compile",
    "CompileTimeAssertionFailure": "compile",
    "CompilationError": "compile",
}


class _Search:
    """One call of Autotuner.run, with the attempt that its first benchmark begins."""

    def __init__(self, autotuner: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.autotuner = autotuner
        self.arguments = arguments
        self.named = named
        self.known = len(autotuner.cache)  # not a copy: this code runs for each launch
        self.attempt: Attempt | None = None


class TritonAdapter(Adapter):
    """Wraps Autotuner.run, which knows the arguments, and Autotuner._bench, which measures one config."""

    tuner = "triton"
    package = "triton"
    oldest = "3.4"

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.local()

    def _attach(self) -> None:
        module: Any = sys.modules["triton.runtime.autotuner"]
        autotuner = module.Autotuner
        self._replace(autotuner, "run", self._wrap_run(autotuner.run))
        self._replace(autotuner, "_bench", self._wrap_bench(autotuner._bench))

    def _searches(self) -> list[_Search]:
        """Returns the searches of this thread, the innermost one last."""
        if not hasattr(self._thread, "searches"):
            self._thread.searches = []
        found: list[_Search] = self._thread.searches
        return found

    def _wrap_run(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def run(autotuner: Any, *arguments: Any, **named: Any) -> Any:
            if len(autotuner.configs) <= 1:
                return original(autotuner, *arguments, **named)
            search = _Search(autotuner, arguments, named)
            searches = self._searches()
            searches.append(search)
            try:
                compiled = original(autotuner, *arguments, **named)
            except BaseException:
                _abandon(search)
                raise
            finally:
                searches.pop()
            if search.attempt is not None or len(autotuner.cache) > search.known:
                self._end(search, compiled)
            return compiled

        return run

    def _wrap_bench(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def bench(autotuner: Any, *arguments: Any, config: Any, **named: Any) -> Any:
            searches = self._searches()
            if not searches or searches[-1].autotuner is not autotuner:
                return original(autotuner, *arguments, config=config, **named)
            search = searches[-1]
            with _Reasons(autotuner) as reasons:
                try:
                    times = original(autotuner, *arguments, config=config, **named)
                except Exception as error:
                    self._record(search, config, None, error)
                    raise
            self._record(search, config, times, reasons.error)
            return times

        return bench

    def _attempt(self, search: _Search) -> Attempt:
        """Returns the attempt of a search, and begins it on first use."""
        if search.attempt is None:
            search.attempt = autotune_telemetry.attempt(**_describe(search), tuner=self.tuner, tuner_version=self.version())
        return search.attempt

    @never_raises(None)
    def _record(self, search: _Search, config: Any, times: Any, error: Exception | None) -> None:
        values = dict(zip(_QUANTILES, times if isinstance(times, (list, tuple)) else [times]))
        median = values.get(0.5)
        measured = median is not None and median != float("inf")
        self._attempt(search).record(
            _config(config),
            ms=median if measured else None,
            status="ok" if measured else "error",
            quantiles=values if measured else None,
            error=error,
            error_phase=_PHASES.get(type(error).__name__, ""),
        )

    @never_raises(None)
    def _end(self, search: _Search, compiled: Any) -> None:
        autotuner = search.autotuner
        keys = list(autotuner.cache)[search.known :]
        cache_hit = search.attempt is None
        attempt = self._attempt(search)
        selected: dict[str, Any] = {"config": _config(autotuner.best_config), "cache_hit": cache_hit}
        if keys:
            selected["key"] = keys[-1]
        if cache_hit:
            timings = getattr(autotuner, "configs_timings", None) or {}
            selected["configs_timings"] = [[_config(config), times] for config, times in timings.items()]
        attempt.event("selected", **selected)
        assembly = getattr(compiled, "asm", None)
        if from_environment("TRITON_CODE") and assembly is not None:
            code = {name: assembly[name] for name in _CODE if name in assembly}
            attempt.event("code", config=selected["config"], **code)
        attempt.end(counters={} if cache_hit else {"seconds_total": autotuner.bench_time})


@never_raises(None)
def _abandon(search: _Search) -> None:
    if search.attempt is not None:
        search.attempt.end("abandoned")


class _Reasons:
    """Takes the error that the benchmark of one config raises, before Autotuner._bench replaces it by infinite times."""

    def __init__(self, autotuner: Any) -> None:
        self._autotuner = autotuner
        self.error: Exception | None = None

    def __enter__(self) -> _Reasons:
        benchmark = self._autotuner.do_bench  # a cached property

        @functools.wraps(benchmark)
        def do_bench(kernel_call: Callable[[], Any], *arguments: Any, **named: Any) -> Any:
            try:
                return benchmark(kernel_call, *arguments, **named)
            except Exception as error:
                self.error = error
                raise

        self._benchmark = benchmark
        self._autotuner.__dict__["do_bench"] = do_bench
        return self

    def __exit__(self, *_: object) -> None:
        self._autotuner.__dict__["do_bench"] = self._benchmark


def _config(config: Any) -> dict[str, Any]:
    """Returns a triton.Config as the keyword arguments of a launch."""
    return dict(config.all_kwargs())


def _describe(search: _Search) -> dict[str, Any]:
    """Returns the kernel of a search for attempt(): its source, the dtypes and shapes of its tensors, and its key."""
    autotuner = search.autotuner
    function = autotuner.fn
    while not hasattr(function, "params") and hasattr(function, "fn"):
        function = function.fn
    named = {**dict(zip(autotuner.arg_names, search.arguments)), **search.named}
    tensors = [value for name, value in named.items() if name in autotuner.arg_names and hasattr(value, "dtype")]
    constants = [parameter.name for parameter in getattr(function, "params", ()) if parameter.is_constexpr]
    return {
        "kernel": autotuner.base_fn.__name__,
        "source": (getattr(function, "raw_src", None) and "".join(function.raw_src)) or getattr(function, "src", ""),
        "inputs": [(getattr(tensor, "shape", ()), tensor.dtype) for tensor in tensors],
        "settings": {
            "key": {name: named[name] for name in autotuner.keys if name in named and not hasattr(named[name], "dtype")},
            "constants": {name: named[name] for name in constants if name in named},
        },
        "space": [_config(config) for config in autotuner.configs],
        "algorithm": "exhaustive",
    }


adapter = TritonAdapter()

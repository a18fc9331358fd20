"""The adapter of Kernel Tuner. Supported: Kernel Tuner from 1.0 on (tested with 1.3).

Each call of tune_kernel() is an attempt. The adapter wraps the strategy of the call and records each config as soon as the
runner has measured it. Configs that Kernel Tuner takes from its cache file are counted, not recorded; `telemetry-worker
forward` reads the cache files themselves. Simulated runs are not recorded.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

import autotune_telemetry
from autotune_telemetry import _values
from autotune_telemetry._adapter import Adapter
from autotune_telemetry._attempt import Attempt
from autotune_telemetry._log import never_raises

# Keys of a result that are times of Kernel Tuner itself.
_OWN_TIMES = ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time", "timestamp", "times")
# Options of a kernel that change its code or its launch, and that are no parameters.
_SETTINGS = ("problem_size", "lang", "grid_div_x", "grid_div_y", "grid_div_z", "block_size_names", "defines", "smem_args")
_COMPILER = ("compiler", "compiler_options")


class KernelTunerAdapter(Adapter):
    """Wraps tune_kernel(), which receives a strategy that wraps the user's."""

    tuner = "kernel_tuner"
    package = "kernel_tuner"
    oldest = "1.0"

    def _attach(self) -> None:
        interface: Any = sys.modules["kernel_tuner.interface"]
        package: Any = sys.modules["kernel_tuner"]
        wrapped = self._wrap(interface, interface.tune_kernel)
        if getattr(package, "tune_kernel", None) is interface.tune_kernel:
            self._replace(package, "tune_kernel", wrapped)
        self._replace(interface, "tune_kernel", wrapped)

    def _wrap(self, interface: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def tune_kernel(*arguments: Any, **named: Any) -> Any:
            chosen = named.get("strategy")
            inner = _strategy(interface, chosen)
            if inner is None or named.get("simulation_mode"):
                return original(*arguments, **named)
            name = chosen if isinstance(chosen, str) else getattr(inner, "__name__", type(inner).__name__).rpartition(".")[2]
            strategy = _RecordedStrategy(inner, name, named, self.version())
            try:
                result = original(*arguments, **{**named, "strategy": strategy})
            except BaseException:
                strategy.end("abandoned")
                raise
            strategy.end("complete")
            return result

        return tune_kernel


def _strategy(interface: Any, chosen: Any) -> Any:
    """Returns the strategy that tune_kernel() would use. None: tune_kernel() refuses it, or its position is not known."""
    if not chosen:
        return getattr(interface, "brute_force", None)
    if isinstance(chosen, str):
        return interface.strategy_map.get(chosen)
    return chosen if callable(getattr(chosen, "tune", None)) else None


class _RecordedStrategy:
    """A strategy that runs another one with a runner that records."""

    def __init__(self, inner: Any, name: str, named: dict[str, Any], version: str) -> None:
        self._inner = inner
        self._name = name
        self._named = named
        self._version = version
        self._attempt: Attempt | None = None
        self._cached = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> Any:
        """Runs the strategy; the name and the parameters are Kernel Tuner's."""
        self._begin(runner, tuning_options)
        original = runner.run
        runner.run = self._wrap_run(runner, original)
        try:
            return self._inner.tune(searchspace, runner, tuning_options)
        finally:
            runner.run = original

    def _wrap_run(self, runner: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def run(parameter_space: Iterable[Any], tuning_options: Any) -> Any:
            if type(runner).__name__ != "SequentialRunner":
                results = original(parameter_space, tuning_options)
                for result in results:
                    self._record(result, tuning_options)
                return results
            results = []
            for element in parameter_space:
                cached = ",".join(str(value) for value in element) in (tuning_options.cache or {})
                try:
                    measured = original([element], tuning_options)
                except Exception as error:  # Kernel Tuner ends the search
                    self._record_error(element, tuning_options, error)
                    raise
                for result in measured:
                    results.append(result)
                    if cached:
                        self._cached += 1
                    else:
                        self._record(result, tuning_options)
            return results

        return run

    @never_raises(None)
    def _begin(self, runner: Any, tuning_options: Any) -> None:
        options = runner.kernel_options
        settings = {name: _setting(options.get(name)) for name in _SETTINGS if options.get(name) is not None}
        settings.update({name: _setting(self._named[name]) for name in _COMPILER if self._named.get(name)})
        environment = {"restrictions": _setting(self._named["restrictions"])} if self._named.get("restrictions") else None
        self._attempt = autotune_telemetry.attempt(
            kernel=options["kernel_name"],
            source=_source(runner, options),
            inputs=options["arguments"],
            space=dict(tuning_options.tune_params),
            tuner=KernelTunerAdapter.tuner,
            tuner_version=self._version,
            settings=settings,
            hardware=str(runner.dev.name),
            algorithm=self._name,
            environment=environment,
        )

    @never_raises(None)
    def _record(self, result: dict[str, Any], tuning_options: Any) -> None:
        if self._attempt is None:
            return
        parameters = tuning_options.tune_params
        failure = result.get(tuning_options.objective)
        failed = type(failure).__name__.endswith("Config")  # CompilationFailedConfig, RuntimeFailedConfig, InvalidConfig
        compile_ms = _values.finite(result.get("compile_time"))
        self._attempt.record(
            {name: result[name] for name in parameters if name in result},
            ms=None if failed else result.get("time"),
            samples=None if failed else result.get("times"),
            status=_status(type(failure).__name__) if failed else "ok",
            compile_s=None if compile_ms is None else compile_ms / 1000,
            error=type(failure).__name__ if failed else None,
            error_phase={"CompilationFailedConfig": "compile", "RuntimeFailedConfig": "run"}.get(type(failure).__name__, ""),
        )
        metrics = {name: result[name] for name in result if name not in (*parameters, *_OWN_TIMES, "time")}
        if metrics and not failed:
            self._attempt.event("metrics", config={name: result[name] for name in parameters if name in result}, **metrics)

    @never_raises(None)
    def _record_error(self, element: Any, tuning_options: Any, error: Exception) -> None:
        if self._attempt is not None:
            self._attempt.record(dict(zip(tuning_options.tune_params, element)), status="error", error=error)

    @never_raises(None)
    def end(self, state: str) -> None:
        """Ends the attempt."""
        if self._attempt is not None:
            self._attempt.end(state, {"taken_from_cache": self._cached})


def _status(failure: str) -> str:
    return "filtered" if failure == "InvalidConfig" else "error"


def _setting(value: Any) -> Any:
    """Returns a setting as a value that is the same in every process: of a function only its name."""
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    if isinstance(value, dict):
        return {str(key): _setting(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_setting(item) for item in value]
    return _values.plain(value)


def _source(runner: Any, options: Any) -> str:
    """Returns the source of the kernel: its text, also if the user gave a file or a function."""
    try:
        return str(runner.kernel_source.get_kernel_string(0, {}))
    except Exception:  # a function that needs the values of the parameters
        import inspect

        source = options.get("kernel_source")
        return inspect.getsource(source) if callable(source) else str(source)


adapter = KernelTunerAdapter()

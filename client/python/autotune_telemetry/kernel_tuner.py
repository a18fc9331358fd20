"""The adapter of Kernel Tuner. Supported: Kernel Tuner from 1.0 on (tested with 1.0, 1.3, 1.4 and 1.5).

Each call of tune_kernel() is an attempt. The adapter wraps the strategies and records each config as soon as the
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
_STATUSES = {"InvalidConfig": "filtered"}
_PHASES = {"CompilationFailedConfig": "compile", "RuntimeFailedConfig": "run"}


class KernelTunerAdapter(Adapter):
    """Wraps each strategy of Kernel Tuner, and tune_kernel() for strategies that the user has written."""

    tuner = "kernel_tuner"
    package = "kernel_tuner"
    oldest = "1.0"

    def _attach(self) -> None:
        interface: Any = sys.modules["kernel_tuner.interface"]
        package: Any = sys.modules["kernel_tuner"]
        strategies = {name: _RecordedStrategy(inner, name, self) for name, inner in interface.strategy_map.items()}
        self._replace(interface, "strategy_map", strategies)
        if hasattr(interface, "brute_force"):  # the default strategy, until 1.3
            self._replace(interface, "brute_force", strategies["brute_force"])
        wrapped = self._wrap(interface.tune_kernel)
        if getattr(package, "tune_kernel", None) is interface.tune_kernel:
            self._replace(package, "tune_kernel", wrapped)
        self._replace(interface, "tune_kernel", wrapped)

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def tune_kernel(*arguments: Any, **named: Any) -> Any:
            strategy = named.get("strategy")
            if callable(getattr(strategy, "tune", None)) and not isinstance(strategy, _RecordedStrategy):
                named["strategy"] = _RecordedStrategy(strategy, type(strategy).__name__, self)
            return original(*arguments, **named)

        return tune_kernel


class _RecordedStrategy:
    """A strategy that runs another one with a runner that records. It equals the other one."""

    def __init__(self, inner: Any, name: str, adapter: Adapter) -> None:
        self._inner = inner
        self._name = name
        self._adapter = adapter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __eq__(self, other: object) -> bool:
        return bool(self._inner == (other._inner if isinstance(other, _RecordedStrategy) else other))

    def __hash__(self) -> int:
        return hash(self._inner)

    def tune(self, searchspace: Any, runner: Any, tuning_options: Any) -> Any:
        """Runs the strategy; the name and the parameters are Kernel Tuner's."""
        if getattr(runner, "simulation_mode", False):
            return self._inner.tune(searchspace, runner, tuning_options)
        search = _Search(self._name, self._adapter.version(), runner, tuning_options)
        original = runner.run
        runner.run = search.wrap_run(runner, original)
        state = "abandoned"
        try:
            results = self._inner.tune(searchspace, runner, tuning_options)
            state = "complete"
            return results
        finally:
            runner.run = original
            search.end(state)


class _Search:
    """The attempt of one call of tune_kernel()."""

    def __init__(self, strategy: str, version: str, runner: Any, tuning_options: Any) -> None:
        self._strategy = strategy
        self._version = version
        self._attempt: Attempt | None = None
        self._cached = 0
        self._begin(runner, tuning_options)

    def wrap_run(self, runner: Any, original: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that measures config after config, and records each result at once."""

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
        restrictions = tuning_options.get("restrictions_unmodified") or tuning_options.get("restrictions")
        self._attempt = autotune_telemetry.attempt(
            kernel=options["kernel_name"],
            source=_source(runner, options),
            inputs=options["arguments"],
            space=dict(tuning_options.tune_params),
            tuner=KernelTunerAdapter.tuner,
            tuner_version=self._version,
            settings=settings,
            hardware=_device(runner),
            algorithm=self._strategy,
            environment={"restrictions": _setting(restrictions)} if restrictions else None,
        )

    @never_raises(None)
    def _record(self, result: dict[str, Any] | None, tuning_options: Any) -> None:
        if self._attempt is None or result is None:
            return
        parameters = tuning_options.tune_params
        config = {name: result[name] for name in parameters if name in result}
        failure = _failure(result, tuning_options.objective)
        compile_ms = _values.finite(result.get("compile_time"))
        self._attempt.record(
            config,
            ms=None if failure else result.get("time"),
            samples=None if failure else result.get("times"),
            status=_STATUSES.get(failure, "error") if failure else "ok",
            compile_s=None if compile_ms is None else compile_ms / 1000,
            error=failure or None,
            error_phase=_PHASES.get(failure, ""),
        )
        metrics = {name: result[name] for name in result if name not in (*parameters, *_OWN_TIMES, "time")}
        if metrics and not failure:
            self._attempt.event("metrics", config=config, **metrics)

    @never_raises(None)
    def _record_error(self, element: Any, tuning_options: Any, error: Exception) -> None:
        if self._attempt is not None:
            self._attempt.record(dict(zip(tuning_options.tune_params, element)), status="error", error=error)

    @never_raises(None)
    def end(self, state: str) -> None:
        """Ends the attempt."""
        if self._attempt is not None:
            self._attempt.end(state, {"taken_from_cache": self._cached})


def _failure(result: dict[str, Any], objective: Any) -> str:
    """Returns the name of the failure of a config, such as "CompilationFailedConfig". Empty: it was measured."""
    objectives = [objective] if isinstance(objective, str) else list(objective)
    for value in [result.get("__error__"), *(result.get(name) for name in objectives)]:  # from 1.4 on, before
        name = value if isinstance(value, str) else type(value).__name__
        if name.endswith("Config"):
            return name
    return ""


def _device(runner: Any) -> str:
    """Returns the name of the device. A runner of several processes has no device of its own."""
    device = getattr(runner, "dev", None) or runner.get_device_info()
    return str(device.name)


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

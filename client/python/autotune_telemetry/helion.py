"""The adapter of Helion. Supported: Helion from 1.0 to 1.5.

From 1.2 on, Helion writes sidecars that identify their runs, and `telemetry-worker forward` reads them: rows, records with IR
graphs, and traces. The adapter gives Helion a base path in the job folder of this process. If the user has set
HELION_AUTOTUNE_LOG, Helion writes there as before, and the job folder contains links to the user's files. Other settings of the
user stay as they are.

The sidecars of 1.0 and 1.1 do not name their run. There the adapter wraps BaseSearch.autotune, whose calls are attempts, and
the function that logs an entry, whose calls are rows. These runs have run_ids of their own, because Helion 1.0 does not compute
the content from which the run_ids of its later versions are derived.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autotune_telemetry
from autotune_telemetry import _recorder
from autotune_telemetry._adapter import Adapter, numbers_of
from autotune_telemetry._attempt import Attempt
from autotune_telemetry._log import never_raises

_LOG = "HELION_AUTOTUNE_LOG"
_DETAILS = "HELION_AUTOTUNE_LOG_DETAILS"
_FIRST_WITH_RUN_ID = "1.2"
_SUFFIXES = (".csv", ".sources.csv", ".meta.jsonl", ".trace.jsonl")


class HelionAdapter(Adapter):
    """Sets the variables from which Helion takes its log path, before the first kernel is declared; wraps Helion 1.0."""

    tuner = "helion"
    package = "helion"
    oldest = "1.0"
    below = "1.6"

    def __init__(self) -> None:
        super().__init__()
        self._set: dict[str, str] = {}
        self._attempts: dict[int, Attempt] = {}  # by id() of the search's logger
        self._lock = threading.Lock()

    def _attach(self) -> None:
        if numbers_of(self.version()) < numbers_of(_FIRST_WITH_RUN_ID):
            search = importlib.import_module("helion.autotuner.base_search").BaseSearch
            logger = importlib.import_module("helion.autotuner.logger").AutotuningLogger
            self._replace(search, "autotune", self._wrap_autotune(search.autotune))
            self._replace(logger, "record_autotune_entry", self._wrap_entry(logger.record_autotune_entry))
        else:
            self._give_a_log()

    def _give_a_log(self) -> None:
        recorder = _recorder.current()
        folder = recorder.spool.job_folder() if recorder is not None else None
        if folder is None:
            return
        chosen = os.environ.get(_LOG)
        if chosen and not _is_of_a_job(chosen):
            _link(Path(chosen), folder)
        else:
            self._set_variable(_LOG, str(folder / "helion"))
        if not os.environ.get(_DETAILS):
            self._set_variable(_DETAILS, "1")

    def _wrap_autotune(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def autotune(search: Any, *arguments: Any, **named: Any) -> Any:
            attempt = self._begin(search)
            state = "abandoned"
            try:
                config = original(search, *arguments, **named)
                state = "complete"
                return config
            finally:
                with self._lock:
                    self._attempts.pop(id(search.log), None)
                if attempt is not None:
                    attempt.end(state, _counters(search))

        return autotune

    @never_raises(None)
    def _begin(self, search: Any) -> Attempt | None:
        function = search.kernel.kernel.fn
        attempt = autotune_telemetry.attempt(
            kernel=function.__name__,
            source=inspect.getsource(function),
            inputs=[argument for argument in search.args if hasattr(argument, "dtype") and hasattr(argument, "shape")],
            tuner=self.tuner,
            tuner_version=self.version(),
            settings={name: getattr(search.settings, name, None) for name in ("static_shapes", "index_dtype")},
            algorithm=type(search).__name__,
            seed=getattr(search.settings, "autotune_random_seed", None),
        )
        with self._lock:
            self._attempts[id(search.log)] = attempt
        return attempt

    def _wrap_entry(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def record_autotune_entry(logger: Any, entry: Any) -> Any:
            attempt = self._attempts.get(id(logger))
            if attempt is not None:
                attempt.record(
                    entry.config.config,
                    ms=entry.perf_ms,
                    status=entry.status,
                    compile_s=entry.compile_time,
                    generation=entry.generation,
                )
            return original(logger, entry)

        return record_autotune_entry

    def _set_variable(self, name: str, value: str) -> None:
        os.environ[name] = value
        self._set[name] = value

    def uninstrument(self) -> None:
        """Removes the variables that the adapter has set. Kernels that were declared before keep their settings."""
        for name, value in self._set.items():
            if os.environ.get(name) == value:
                del os.environ[name]
        self._set = {}
        super().uninstrument()


def _counters(search: Any) -> dict[str, Any]:
    """Returns the counters that Helion keeps of a search."""
    try:
        return dict(search._autotune_metrics.to_dict())
    except Exception:  # the search ended before it had counters
        return {}


def _is_of_a_job(base: str) -> bool:
    """Returns whether a base path is in the job folder of another process, from which this one has inherited it."""
    return Path(base).parent.joinpath("writer").exists()


def _link(base: Path, folder: Path) -> None:
    """Links the user's sidecars, which may not exist yet, into the job folder."""
    for suffix in _SUFFIXES:
        folder.joinpath("helion" + suffix).symlink_to(base.absolute().with_suffix(suffix))


adapter = HelionAdapter()


def __getattr__(name: str) -> Any:
    """Returns RemoteCache of helion_cache, for HELION_REMOTE_CACHE_BACKEND. Its base class needs Helion."""
    if name == "RemoteCache":
        return importlib.import_module("autotune_telemetry.helion_cache").RemoteCache
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

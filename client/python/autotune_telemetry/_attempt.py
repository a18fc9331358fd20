"""An attempt: one execution of a tuner on one kernel with one set of inputs."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from autotune_telemetry import _machine, _values
from autotune_telemetry._log import never_raises, warn_once

if TYPE_CHECKING:
    from autotune_telemetry._recorder import Recorder

_LONGEST_MESSAGE = 16 << 10
_DETAILS = {
    "throttled_samples": int,
    "registers": int,
    "spill_bytes": int,
    "shared_bytes": int,
    "occupancy": float,
    "binary_bytes": int,
    "worst_absolute_error": float,
    "worst_relative_error": float,
    "sm_clock_mhz": float,
}


class Attempt:
    """One execution of a tuner on one kernel. Thread-safe. No method raises.

    Made by `attempt()`. As a context manager, it ends as `complete`, or as `abandoned` if the block raises. In a forked
    child, an attempt of the parent continues as another attempt of the same run.
    """

    def __init__(self, recorder: Recorder | None, head: dict[str, Any]) -> None:
        self._recorder = recorder
        self._head = head
        self._began = time.monotonic()
        self._seq = 0
        self._events = 0
        self._unrecorded = 0
        self._ended = False

    @property
    def attempt_id(self) -> str:
        """The id of the attempt, 32 hex digits."""
        return str(self._head["attempt_id"])

    @property
    def head(self) -> dict[str, Any]:
        """The line that describes the attempt."""
        return self._head

    @never_raises(None)
    def record(
        self,
        config: Any,
        ms: float | None = None,
        *,
        status: str = "ok",
        samples: Sequence[float] | None = None,
        quantiles: Mapping[float, float] | None = None,
        compile_s: float | None = None,
        generation: int = 0,
        stage: str | None = None,
        error: BaseException | str | None = None,
        error_phase: str = "",
        **details: Any,
    ) -> None:
        """Records one measurement, or one failure, of a config.

        Parameters
        ----------
        config
            The config: a mapping, or an object whose attributes are the config.
        ms
            Time of the kernel in milliseconds. None, NaN or an infinity: not measured.
        status
            "started", "ok", "error", "timeout", "filtered", "deduplicated", or another word of the tuner.
        samples
            Samples in the order in which they were taken, in milliseconds.
        quantiles
            Map from a fraction to a quantile of the samples in milliseconds, such as {0.2: 0.012, 0.8: 0.014}.
        compile_s
            Compile time in seconds.
        generation
            Generation of the search, from 0.
        stage
            "screening", "search" or "final".
        error, error_phase
            Reason of a failure; step that failed: "generate", "compile", "load", "launch", "run" or "check".
        **details
            Details of the measurement by the names of `server/export/DATA.md`: registers, spill_bytes, shared_bytes,
            occupancy, binary_bytes, worst_absolute_error, worst_relative_error, sm_clock_mhz, throttled_samples.
        """
        line: dict[str, Any] = {
            "kind": "measurement",
            "generation": int(generation),
            "status": _values.text(status) or "ok",
            "config": _values.config_of(config),
        }
        numbers = {"perf_ms": _values.finite(ms), "compile_time_s": _values.finite(compile_s)}
        line.update({name: number for name, number in numbers.items() if number is not None})
        if samples is not None:
            finite = [_values.finite(sample) for sample in samples]
            line["samples_ms"] = [sample for sample in finite if sample is not None and sample >= 0]
        if stage in ("screening", "search", "final"):
            line["stage"] = stage
        if error is not None:
            line["failure"] = _failure(error, error_phase)
        for name, value in details.items():
            convert = _DETAILS.get(name)
            if convert is None:
                warn_once(f"detail {name}", f"record() does not know the detail {name!r}; it was not recorded")
            elif value is not None:
                line[name] = convert(value)
        if self._recorder is None:
            return
        with self._recorder.spool.lock:
            self._append(self._recorder, line)
            if quantiles:
                pairs = [(_values.finite(at), _values.finite(value)) for at, value in sorted(quantiles.items())]
                self.event("quantiles", seq=self._seq, quantiles_ms=[pair for pair in pairs if None not in pair])

    def _append(self, recorder: Recorder, line: dict[str, Any]) -> None:
        """Appends a measurement. Needs the lock."""
        recorder.adopt(self)
        self._seq += 1
        line["attempt_id"] = self.attempt_id
        line["seq"] = self._seq
        line["timestamp_s"] = round(time.monotonic() - self._began, 6)
        if not recorder.append(self, line):
            self._unrecorded += 1

    @never_raises(None)
    def event(self, name: str, **values: Any) -> None:
        """Records an event of the attempt other than a measurement.

        Parameters
        ----------
        name
            Name of the event, such as "selected".
        **values
            More about the event, stored as one JSON object.
        """
        if self._recorder is None:
            return
        with self._recorder.spool.lock:
            self._recorder.adopt(self)
            self._events += 1
            line = {
                "kind": "event",
                "attempt_id": self.attempt_id,
                "seq": self._events,
                "name": _values.text(name),
                "time_unix_us": _now_us(),
                "values": _values.plain(values),
            }
            if not self._recorder.append(self, line):
                self._unrecorded += 1

    @never_raises(None)
    def end(self, state: str = "complete", counters: Mapping[str, Any] | None = None) -> None:
        """Ends the attempt; later calls change nothing.

        Parameters
        ----------
        state
            "complete", or "abandoned" if the tuner stopped early.
        counters
            Counters of the tuner, for `attempts.counters` of an export.
        """
        if self._recorder is None or self._ended:
            return
        with self._recorder.spool.lock:
            self._recorder.adopt(self)
            self._ended = True
            counted = {"measurements": self._seq, "unrecorded": self._unrecorded}
            if counters:
                counted.update(_values.plain(counters))
            line = {"kind": "end", "attempt_id": self.attempt_id, "state": state, "counters": counted}
            self._recorder.end(self, line)

    def become_child(self) -> None:
        """Continues as another attempt of the same run, for a forked child."""
        environment = dict(self._head["environment"], parent_attempt=self.attempt_id)
        self._head = dict(self._head, attempt_id=secrets.token_hex(16), environment=environment, started_unix_us=_now_us())
        self._began = time.monotonic()
        self._seq = 0
        self._events = 0
        self._unrecorded = 0

    def __enter__(self) -> Attempt:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.end("complete" if kind is None else "abandoned")


def describe(
    *,
    kernel: str,
    source: str,
    inputs: Iterable[Any],
    space: Any,
    tuner: str,
    tuner_version: str,
    settings: Mapping[str, Any] | None,
    hardware: str | None,
    algorithm: str | None,
    seed: int | None,
    environment: Mapping[str, Any] | None,
    origin: str,
) -> dict[str, Any]:
    """Returns the line that describes an attempt and its run. Parameters are those of `attempt()`."""
    shapes, dtypes = _values.shapes_and_dtypes(inputs)
    described = _machine.environment(tuner, tuner_version)
    if space is not None:
        described["space"] = _values.plain(space)
    if environment:
        described.update(_values.plain(environment))
    head: dict[str, Any] = {
        "kind": "attempt",
        "version": 1,
        "attempt_id": secrets.token_hex(16),
        "tuner": _values.text(tuner),
        "kernel_name": _values.text(kernel),
        "kernel_source": _values.text(source),
        "settings": _values.plain(settings or {}),
        "input_shapes": shapes,
        "dtypes": dtypes,
        "hardware": _values.text(hardware if hardware is not None else _machine.device_name()),
        "origin": _values.text(origin),
        "started_unix_us": _now_us(),
        "environment": described,
    }
    if algorithm:
        head["search_algorithm"] = _values.text(algorithm)
    if seed is not None:
        head["seed"] = int(seed)
    return head


def _failure(error: BaseException | str, phase: str) -> dict[str, str]:
    failure = {"message": _values.text(error, _LONGEST_MESSAGE)}
    if isinstance(error, BaseException):
        failure["error_class"] = type(error).__name__
    if phase:
        failure["phase"] = phase
    return failure


def _now_us() -> int:
    return time.time_ns() // 1000

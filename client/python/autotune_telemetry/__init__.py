"""Sends the measurements of GPU kernel autotuners to a telemetry collector.

    import autotune_telemetry

    autotune_telemetry.start(collector="collector:4747")
    with autotune_telemetry.attempt(kernel="softmax", source=source, inputs=[x]) as attempt:
        attempt.record({"num_warps": 4}, ms=0.0131)

Recording appends lines to a folder; `telemetry-worker forward --watch`, a process of its own, delivers them. No function
here raises into the host program, except `load`. Importing this package imports only the standard library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from autotune_telemetry import _attempt, _recorder
from autotune_telemetry._attempt import Attempt
from autotune_telemetry._log import never_raises, warn_once
from autotune_telemetry._version import __version__

if TYPE_CHECKING:
    from autotune_telemetry.dataset import Dataset

__all__ = ["Attempt", "__version__", "attach", "attempt", "flush", "load", "start"]


@never_raises(None)
def start(
    collector: str | None = None,
    *,
    state_dir: str | None = None,
    origin: str | None = None,
    token_file: str | None = None,
    tls_ca: str | None = None,
    worker: str | None = None,
    spool_limit_bytes: int | None = None,
    exit_timeout_s: float | None = None,
) -> None:
    """Starts recording in this process. A second call changes nothing.

    Each parameter that is None takes its value from the variable AUTOTUNE_TELEMETRY_<NAME>, in upper case, if it is
    set.

    Parameters
    ----------
    collector
        HOST:PORT of the collector. Default 127.0.0.1:4747.
    state_dir
        Folder for records that the collector has not acknowledged; it belongs to one collector. Default: a folder of
        the collector below ~/.local/state/autotune-telemetry/python.
    origin
        Label of the CI job. Default: from the variables of the CI system.
    token_file, tls_ca
        Files with the bearer token and with the certificate authority of the collector.
    worker
        Path of telemetry-worker. Default: the one in this package, else the one in PATH.
    spool_limit_bytes
        Limit for the bytes that wait in `state_dir`; beyond it, measurements are counted but not recorded. Default
        1 GiB.
    exit_timeout_s
        Longest time that the end of the process waits for the delivery of its last records (variable
        AUTOTUNE_TELEMETRY_EXIT_TIMEOUT). Default 1 second. The forwarder delivers the rest afterwards.
    """
    _recorder.configure(
        collector,
        state_dir=state_dir,
        origin=origin,
        token_file=token_file,
        tls_ca=tls_ca,
        worker=worker,
        spool_limit_bytes=spool_limit_bytes,
        exit_timeout_s=exit_timeout_s,
    )


def attempt(
    *,
    kernel: str,
    source: str = "",
    inputs: Iterable[Any] = (),
    space: Any = None,
    tuner: str = "autotune_telemetry",
    tuner_version: str = "",
    settings: Mapping[str, Any] | None = None,
    hardware: str | None = None,
    algorithm: str | None = None,
    seed: int | None = None,
    environment: Mapping[str, Any] | None = None,
) -> Attempt:
    """Begins an attempt: one execution of a tuner on one kernel. Use it in a `with` statement.

    The run of the attempt, under which the collector joins the attempts of all machines, is identified by tuner,
    kernel, source, inputs, settings and hardware. Without start() and without AUTOTUNE_TELEMETRY_COLLECTOR, the attempt records
    nothing.

    Parameters
    ----------
    kernel
        Name of the kernel.
    source
        Source text of the kernel.
    inputs
        The kernel's inputs: objects with `shape` and `dtype`, pairs (shape, dtype), or numbers.
    space
        Search space, stored in the environment of the attempt.
    tuner, tuner_version
        Name and version of the tuner. The name identifies the run, the version does not.
    settings
        Settings that change the generated code and are not part of a config.
    hardware
        Name of the device. Default: the current GPU of torch if it is initialised, else the CPU.
    algorithm, seed
        Search algorithm and its seed.
    environment
        More about this execution, stored with the attempt.
    """
    begun = _begin(
        kernel=kernel,
        source=source,
        inputs=inputs,
        space=space,
        tuner=tuner,
        tuner_version=tuner_version,
        settings=settings,
        hardware=hardware,
        algorithm=algorithm,
        seed=seed,
        environment=environment,
    )
    return begun or Attempt(None, {"attempt_id": "0" * 32})


@never_raises(None)
def _begin(**described: Any) -> Attempt | None:
    recorder = _recorder.current()
    if recorder is None:
        warn_once("start", "call start() or set AUTOTUNE_TELEMETRY_COLLECTOR; measurements are not recorded")
        return None
    return Attempt(recorder, _attempt.describe(origin=recorder.settings.origin, **described))


@never_raises(-1)
def flush(timeout: float = 10.0) -> int:
    """Blocks until the collector has acknowledged every record of this process and of the processes that it started.

    Parameters
    ----------
    timeout
        Longest time to wait, in seconds.

    Returns
    -------
    int
        Number of records that the collector has not acknowledged. -1: the state folder cannot be read.
    """
    recorder = _recorder.current()
    return 0 if recorder is None else recorder.flush(timeout)


@never_raises(None)
def attach() -> None:
    """Attaches to every supported tuner: now if the process has imported it, else when the process imports it.

    The supported tuners are Triton, PyTorch Inductor, Helion and Kernel Tuner; the module of each adapter states the
    versions. A tuner of another version is reported once and left alone.
    """
    from autotune_telemetry import _import_hook

    _import_hook.install()


def load(source: str, **options: Any) -> Dataset:
    """Returns the dataset of a collector's address, a database or the files of an export; see `dataset.load`."""
    from autotune_telemetry import dataset

    return dataset.load(source, **options)

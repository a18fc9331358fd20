"""The recorder of a process: its settings, its spool and its open attempts."""

from __future__ import annotations

import atexit
import os
import time
from pathlib import Path
from typing import Any

from autotune_telemetry import _forwarder
from autotune_telemetry._attempt import Attempt
from autotune_telemetry._log import never_raises, warn_once
from autotune_telemetry._origin import origin_from_environment
from autotune_telemetry._settings import (
    DEFAULT_COLLECTOR,
    Settings,
    default_state_dir,
    from_environment,
    number_from_environment,
)
from autotune_telemetry._spool import Spool, StartLock, undelivered_lines

_MOST_WAITING_ENDS = 10_000  # ends of attempts that a full disk refused
_POLL_S = 0.02
_CHECK_S = 1.0  # time between two checks of the forwarder during a flush


class Recorder:
    """The recorder of a process. Thread-safe; forked children continue with files of their own."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.spool = Spool(settings, lambda: _forwarder.ensure_running(settings))
        self._open: dict[str, Attempt] = {}
        self._waiting_ends: list[tuple[dict[str, Any], dict[str, Any]]] = []  # head and end of an attempt
        self._pid = os.getpid()
        os.register_at_fork(after_in_child=self._after_fork_in_child)
        atexit.register(self._at_exit)

    def adopt(self, attempt: Attempt) -> None:
        """Makes the attempt known; an attempt of the parent becomes another one in a forked child. Needs the lock."""
        if self._pid != os.getpid():  # a fork that did not call the hooks
            self._after_fork_in_child()
        self._open[attempt.attempt_id] = attempt

    def append(self, attempt: Attempt, line: dict[str, Any]) -> bool:
        """Appends a line; returns whether it is recorded. Needs the lock."""
        recorded = self.spool.append(attempt.head, line)
        if recorded and self._waiting_ends:
            self._append_waiting_ends()
        return recorded

    def end(self, attempt: Attempt, line: dict[str, Any]) -> None:
        """Appends the end of an attempt. If the disk refuses the line, a later call appends it. Needs the lock."""
        self._waiting_ends.append((attempt.head, line))
        self._append_waiting_ends()
        del self._waiting_ends[_MOST_WAITING_ENDS:]
        self._open.pop(attempt.attempt_id, None)

    def _append_waiting_ends(self) -> None:
        while self._waiting_ends and self.spool.append(*self._waiting_ends[0], always=True):
            self._waiting_ends.pop(0)

    def flush(self, timeout_s: float) -> int:
        """Blocks until the collector has everything of this session, at most `timeout_s`; returns the lines left."""
        with self.spool.lock:
            self._append_waiting_ends()
            kept = len(self._waiting_ends)
        began = checked = time.monotonic()
        while True:
            left = undelivered_lines(self.settings.state_dir) + kept
            now = time.monotonic()
            if left == 0 or now - began >= timeout_s:
                return left
            if now - checked >= _CHECK_S:
                checked = now
                self._restart_forwarder()
            time.sleep(_POLL_S)

    def _restart_forwarder(self) -> None:
        """Starts a forwarder if none is running, and reports once why the one before has ended."""
        with self.spool.lock:
            if self.spool.folder is None:
                return
            with StartLock(self.spool.folder.parent):
                if _forwarder.is_running(self.settings.state_dir):
                    return
                message = _forwarder.last_message(self.settings.state_dir)
                if message:
                    warn_once("forwarder ended", f"the forwarder ended: {message}")
                _forwarder.ensure_running(self.settings)

    def _after_fork_in_child(self) -> None:
        self.spool.after_fork_in_child()
        self._pid = os.getpid()
        inherited = list(self._open.values())
        self._open = {}
        self._waiting_ends = []  # the parent writes them
        for attempt in inherited:
            attempt.become_child()

    @never_raises(None)
    def _at_exit(self) -> None:
        with self.spool.lock:
            for attempt in list(self._open.values()):
                attempt.end("abandoned")
            self._append_waiting_ends()
            lost = sum(int(line["counters"]["unrecorded"]) for _, line in self._waiting_ends)
        if self._waiting_ends:
            warn_once("exit", f"{lost} measurements were not recorded, because {self.settings.state_dir} is full")
        if self.spool.folder is not None and self.settings.exit_timeout_s > 0:
            self.flush(self.settings.exit_timeout_s)


_recorder: Recorder | None = None


def configure(
    collector: str | None,
    *,
    state_dir: str | None,
    origin: str | None,
    token_file: str | None,
    tls_ca: str | None,
    worker: str | None,
    spool_limit_bytes: int | None,
    exit_timeout_s: float | None,
) -> Recorder:
    """Creates the recorder of this process, or returns the existing one with its first settings."""
    global _recorder
    if _recorder is None:
        address = collector or from_environment("COLLECTOR") or DEFAULT_COLLECTOR
        folder = state_dir or from_environment("STATE_DIR")
        label = origin if origin is not None else from_environment("ORIGIN")
        limit = spool_limit_bytes or int(number_from_environment("SPOOL_LIMIT_BYTES", 1 << 30))
        patience = number_from_environment("EXIT_TIMEOUT", 1.0) if exit_timeout_s is None else exit_timeout_s
        _recorder = Recorder(
            Settings(
                collector=address,
                state_dir=Path(folder).absolute() if folder else default_state_dir(address),
                origin=label if label is not None else origin_from_environment(),
                token_file=token_file or from_environment("TOKEN_FILE"),
                tls_ca=tls_ca or from_environment("TLS_CA"),
                worker=worker or from_environment("WORKER"),
                spool_limit_bytes=limit,
                exit_timeout_s=patience,
            )
        )
    return _recorder


def current() -> Recorder | None:
    """Returns the recorder; creates it if AUTOTUNE_TELEMETRY_COLLECTOR is set. None: recording is off."""
    if _recorder is None and from_environment("COLLECTOR"):
        return configure(
            None,
            state_dir=None,
            origin=None,
            token_file=None,
            tls_ca=None,
            worker=None,
            spool_limit_bytes=None,
            exit_timeout_s=None,
        )
    return _recorder

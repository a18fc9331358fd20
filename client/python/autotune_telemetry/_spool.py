"""The spool: the folder to which a process appends lines, and from which `telemetry-worker forward` reads them.

    STATE/forward/                      spool of the forwarder
    STATE/jobs/start.lock               held while a job folder is created, and while a forwarder begins or ends
    STATE/jobs/SESSION-PID-RANDOM/      one process: its job folder
        writer                          JSON with pid, host and origin; locked with flock while the process lives
        lines-0001.measurements.jsonl   lines; a new file when the older one is large
        delivered                       by the forwarder: the bytes of each file that the collector has acknowledged
        spooled                         by the forwarder: the folder need not be read again

A line is one write with O_APPEND, so that `kill -9` loses at most the line that was being written.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import secrets
import threading
from pathlib import Path
from typing import Any, Callable

from autotune_telemetry._log import warn_once
from autotune_telemetry._settings import PREFIX, Settings

SUFFIX = ".measurements.jsonl"
_SESSION = PREFIX + "SESSION"
_ROTATE_BYTES = 64 << 20
_CHECK_LIMIT_BYTES = 1 << 20  # bytes between two checks of the spool limit
_LONGEST_LINE_BYTES = 4 << 20


def session() -> str:
    """Returns the name that this process shares with the processes that it starts; creates the name on first use."""
    return os.environ.setdefault(_SESSION, secrets.token_hex(6))


class Spool:
    """The job folder of this process. Thread-safe; a forked child creates a folder of its own.

    Parameters
    ----------
    settings
        The settings of the process.
    ensure_forwarder
        Called after the creation of a job folder, and then from time to time, with the start lock held if it could be taken.
    """

    def __init__(self, settings: Settings, ensure_forwarder: Callable[[], None]) -> None:
        self.settings = settings
        self.lock = threading.RLock()
        self._ensure_forwarder = ensure_forwarder
        self._pid = 0
        self._forget()

    def _forget(self) -> None:
        """Sets the state of a process without a job folder."""
        self.folder: Path | None = None
        self._writer = -1
        self._lines = -1
        self._number = 0
        self._file_bytes = 0
        self._unchecked_bytes = 0
        self._over_limit = False
        self._torn = False
        self._described: set[str] = set()  # open attempts that the present file describes

    def after_fork_in_child(self) -> None:
        """Leaves the parent's files to the parent. Another thread of the parent may have held the lock."""
        self.lock = threading.RLock()
        for descriptor in (self._writer, self._lines):
            if descriptor >= 0:
                os.close(descriptor)
        self._forget()

    def append(self, head: dict[str, Any], line: dict[str, Any], *, always: bool = False) -> bool:
        """Appends a line of an attempt and returns whether the operating system has it.

        Each file describes its attempts itself: `head`, the description, is appended before the first line of the attempt in
        a file. Never raises OSError. A full disk and the spool limit cost a line; with `always`, only a full disk does.
        """
        with self.lock:
            try:
                encoded = json.dumps(line).encode() + b"\n"
                if len(encoded) > _LONGEST_LINE_BYTES:
                    warn_once("long line", f"a record of {len(encoded)} bytes is too large and was not recorded")
                    return False
                self._prepare()
                if not always and self._is_over_limit():
                    return False
                attempt_id = str(head["attempt_id"])
                if attempt_id not in self._described:
                    self._write(json.dumps(head).encode() + b"\n")
                    self._described.add(attempt_id)
                self._write(encoded)
                if line["kind"] == "end":
                    self._described.discard(attempt_id)
                return True
            except OSError as error:
                self._warn(error)
                return False

    def job_folder(self) -> Path | None:
        """Returns the folder of this process and creates it if needed. None: the disk refuses."""
        with self.lock:
            try:
                self._prepare()
            except OSError as error:
                self._warn(error)
            return self.folder

    def _warn(self, error: OSError) -> None:
        where = self.folder or self.settings.state_dir
        warn_once("spool", f"cannot write to {where}: {error.strerror}; measurements are counted, not recorded, until it can")

    def _prepare(self) -> None:
        """Creates the folder on first use and after a fork, and a new file when the present one is large."""
        if self.folder is None or self._pid != os.getpid():
            if self.folder is not None:
                self.after_fork_in_child()
            self._create_folder()
        elif self._file_bytes >= _ROTATE_BYTES:
            for attempt_id in self._described:
                self._write(json.dumps({"kind": "continued", "attempt_id": attempt_id}).encode() + b"\n")
            os.close(self._lines)
            self._lines = -1
        if self._lines < 0:
            self._open_lines()

    def _create_folder(self) -> None:
        jobs = self.settings.state_dir / "jobs"
        jobs.mkdir(mode=0o700, parents=True, exist_ok=True)
        with StartLock(jobs):
            name = f"{session()}-{os.getpid()}-{secrets.token_hex(4)}"
            # The writer is locked before the folder has its name: a folder without a lock belongs to an ended process.
            hidden = jobs / f".{name}"
            hidden.mkdir(mode=0o700)
            writer = os.open(hidden / "writer", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(writer, fcntl.LOCK_EX)
                described = {"pid": os.getpid(), "host": platform.node(), "origin": self.settings.origin}
                os.write(writer, json.dumps(described).encode() + b"\n")
                hidden.rename(jobs / name)
            except OSError:
                os.close(writer)
                raise
            self._pid = os.getpid()
            self._writer = writer
            self.folder = jobs / name
            self._ensure_forwarder()

    def _open_lines(self) -> None:
        assert self.folder is not None
        path = self.folder / f"lines-{self._number + 1:04}{SUFFIX}"
        self._lines = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._number += 1
        self._file_bytes = 0
        self._torn = False
        self._described = set()

    def _write(self, line: bytes) -> None:
        if self._torn:
            line = b"\n" + line
        written = os.write(self._lines, line)
        self._file_bytes += written
        self._unchecked_bytes += written
        self._torn = written < len(line)
        if self._torn:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def check_forwarder(self) -> None:
        """Starts a forwarder if the one of this job was killed."""
        if self.folder is not None:
            with StartLock(self.folder.parent):
                self._ensure_forwarder()

    def _is_over_limit(self) -> bool:
        if self._unchecked_bytes >= _CHECK_LIMIT_BYTES or self._over_limit:
            self._unchecked_bytes = 0
            self.check_forwarder()
            waiting = folder_bytes(self.settings.state_dir / "jobs")
            self._over_limit = waiting > self.settings.spool_limit_bytes
            if self._over_limit:
                warn_once(
                    "limit",
                    f"{waiting} bytes wait in {self.settings.state_dir}, more than the limit of "
                    f"{self.settings.spool_limit_bytes}; measurements are counted, not recorded, until they are delivered",
                )
        return self._over_limit


class StartLock:
    """The lock of a folder of jobs that orders the creation of job folders and the beginning and end of a forwarder.

    A process that cannot take the lock at once, because another one is stopped with it, continues without.
    """

    def __init__(self, jobs: Path) -> None:
        self._path = jobs / "start.lock"
        self._file = -1

    def __enter__(self) -> StartLock:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        waiter = threading.Event()
        for _ in range(200):
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                waiter.wait(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def folder_bytes(folder: Path) -> int:
    """Returns the bytes of all files below a folder. Files may disappear meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except OSError:
                continue
    return total


def undelivered_lines(state_dir: Path) -> int:
    """Returns the number of lines of this session's processes that the collector has not acknowledged."""
    return sum(_undelivered_in(folder) for folder in (state_dir / "jobs").glob(f"{session()}-*"))


def _undelivered_in(folder: Path) -> int:
    try:
        delivered = json.loads((folder / "delivered").read_bytes())
    except (OSError, ValueError):
        delivered = {}
    lines = 0
    for path in folder.glob("*"):
        # Traces of Helion are read together with the rows that they describe.
        if path.suffix not in (".jsonl", ".csv") or path.name.endswith(".trace.jsonl"):
            continue
        try:
            with path.open("rb") as file:
                file.seek(int(delivered.get(path.name, 0)))
                lines += file.read().count(b"\n")
        except OSError:
            continue
    return lines

"""Starts the forwarder of a state folder: `telemetry-worker forward --watch`, one on a host."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from autotune_telemetry._log import warn_once
from autotune_telemetry._settings import Settings, number_from_environment

_LOG_LIMIT_BYTES = 1 << 20
# The shell starts the forwarder in the background and ends, so that the forwarder is no child of the host program.
_DETACHED = 'log=$1; shift; "$@" </dev/null >>"$log" 2>&1 &'


def find_program(name: str, configured: str | None = None) -> str | None:
    """Returns the path of a program: the configured one, else the bundled one, else the one in PATH; None if there is none."""
    if configured:
        return configured
    bundled = Path(__file__).parent / "bin" / name
    if os.access(bundled, os.X_OK):
        return str(bundled)
    return shutil.which(name)


def is_running(state_dir: Path) -> bool:
    """Returns whether a forwarder holds the state folder. The caller must hold the start lock."""
    try:
        file = os.open(state_dir / "forward" / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def last_message(state_dir: Path) -> str:
    """Returns the last line that a forwarder has logged. Empty: none."""
    try:
        lines = (state_dir / "forwarder.log").read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


def ensure_running(settings: Settings) -> None:
    """Starts a forwarder unless one is running. The caller must hold the start lock. Never raises."""
    if is_running(settings.state_dir):
        return
    worker = find_program("telemetry-worker", settings.worker)
    if worker is None:
        warn_once("worker", f"telemetry-worker is not installed; measurements stay in {settings.state_dir}")
        return
    log = settings.state_dir / "forwarder.log"
    idle_s = number_from_environment("FORWARDER_IDLE", 30)
    command = [worker, "forward", "--watch", f"--exit-when-idle={idle_s}s", "--rescan-interval=2s"]
    command += [f"--collector={settings.collector}", f"--state-dir={settings.state_dir / 'forward'}"]
    command.append(f"--origin={settings.origin}")
    command += [f"--token-file={settings.token_file}"] if settings.token_file else []
    command += [f"--tls-ca={settings.tls_ca}"] if settings.tls_ca else []
    command.append(str(settings.state_dir / "jobs"))
    try:
        if log.exists() and log.stat().st_size > _LOG_LIMIT_BYTES:
            log.unlink()
        subprocess.run(
            ["/bin/sh", "-c", _DETACHED, "sh", str(log), *command],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            check=True,
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError) as error:
        warn_once("forwarder", f"cannot start {worker}: {error}; measurements stay in {settings.state_dir}")

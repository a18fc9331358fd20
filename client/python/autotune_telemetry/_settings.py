"""The settings of a process, from start() or from environment variables."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

DEFAULT_COLLECTOR = "127.0.0.1:4747"
PREFIX = "AUTOTUNE_TELEMETRY_"


@dataclass(frozen=True)
class Settings:
    """The settings of a process.

    Attributes
    ----------
    collector
        HOST:PORT of the collector.
    state_dir
        Folder for records that the collector has not acknowledged. It belongs to one collector.
    origin
        Label of the CI job. Empty: none.
    token_file, tls_ca
        Files with the bearer token and with the certificate authority of the collector. None: not used.
    worker
        Path of `telemetry-worker`. None: the bundled one, else the one in PATH.
    spool_limit_bytes
        Limit for the bytes that wait in `state_dir`. Measurements beyond it are counted, not stored.
    exit_timeout_s
        Longest time that the end of the process waits for the delivery of its last records, in seconds.
    """

    collector: str = DEFAULT_COLLECTOR
    state_dir: Path = Path()
    origin: str = ""
    token_file: str | None = None
    tls_ca: str | None = None
    worker: str | None = None
    spool_limit_bytes: int = 1 << 30
    exit_timeout_s: float = 1.0


def default_state_dir(collector: str) -> Path:
    """Returns the state folder of a collector: below XDG_STATE_HOME, else below ~/.local/state."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.environ.get("HOME") or "/var/tmp", ".local/state")
    return Path(base, "autotune-telemetry", "python", re.sub(r"[^A-Za-z0-9.-]", "_", collector))


def from_environment(name: str) -> str | None:
    """Returns the value of AUTOTUNE_TELEMETRY_<name>. None: unset or empty."""
    return os.environ.get(PREFIX + name) or None


def number_from_environment(name: str, otherwise: float) -> float:
    """Returns the number in AUTOTUNE_TELEMETRY_<name>, or `otherwise` if the variable is unset or no number."""
    try:
        return float(from_environment(name) or otherwise)
    except ValueError:
        return otherwise

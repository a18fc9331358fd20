"""Finds or makes the files of an export."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from autotune_telemetry._forwarder import find_program

_SNAPSHOT = ".snapshot.json"


def find_export(source: str | os.PathLike[str]) -> Path | None:
    """Returns the base path of an existing export that `source` names, or None if `source` is to be exported."""
    path = Path(source)
    if Path(f"{source}{_SNAPSHOT}").exists():
        return path
    if path.is_dir():
        found = sorted(path.glob(f"*{_SNAPSHOT}"))
        if len(found) != 1:
            raise FileNotFoundError(f"{path} contains {len(found)} exports, not one; give the base path of an export")
        return path / found[0].name[: -len(_SNAPSHOT)]
    return None


def run_exporter(
    source: str,
    base: Path,
    filters: Mapping[str, str | None],
    credentials: Mapping[str, str | None],
    exporter: str | None,
) -> None:
    """Exports a database or the dataset of a collector."""
    program = find_program("telemetry-export", exporter or os.environ.get("AUTOTUNE_TELEMETRY_EXPORT"))
    if program is None:
        raise RuntimeError("telemetry-export is not installed; give its path as exporter= or add its folder to PATH")
    is_database = source.startswith(("postgresql://", "postgres://")) or os.path.exists(source)
    if not is_database and ("/" in source or ":" not in source):
        raise FileNotFoundError(f"{source} is neither a database, nor an export, nor HOST:PORT")
    command = [program, "--layout=keyed", "--details", "--allow-empty", f"--out={base}"]
    command.append(f"--db={source}" if is_database else f"--collector={source}")
    command += [f"--{name}={value}" for name, value in filters.items() if value is not None]
    command += [f"--{name}={value}" for name, value in credentials.items() if value is not None]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{program} failed with status {done.returncode}")

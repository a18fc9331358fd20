"""Stores cost models in a collector, and gets them from it.

    autotune_telemetry.models.store("model.jsonl", "collector:4747", token_file="trainer-token")
    stored = autotune_telemetry.models.fetch("collector:4747", "model.jsonl")

`telemetry-worker model`, which this module runs, talks to the collector and checks the files. Storing needs a token with the
role model, reading one with the role reader, if the collector uses tokens.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from autotune_telemetry._forwarder import find_program


def store(
    path: str | os.PathLike[str],
    collector: str,
    *,
    token_file: str | None = None,
    tls_ca: str | None = None,
    worker: str | None = None,
) -> str:
    """Stores the file of a model, which becomes the newest one of the collector.

    Parameters
    ----------
    path
        A file of `python -m autotune_telemetry.train`.
    collector
        HOST:PORT.
    token_file, tls_ca
        Files with the bearer token and with the certificate authority of the collector.
    worker
        Path of telemetry-worker. Default: the one in this package, else the one in PATH.

    Returns
    -------
    str
        SHA-256 of the file, 64 digits.

    Raises
    ------
    RuntimeError
        The collector cannot be reached or refuses the file; the message says why.
    """
    return _run(["put", os.fspath(path)], collector, token_file, tls_ca, worker).strip()


def fetch(
    collector: str,
    path: str | os.PathLike[str],
    *,
    sender: str | None = None,
    token_file: str | None = None,
    tls_ca: str | None = None,
    worker: str | None = None,
) -> dict[str, Any]:
    """Writes the newest model that this version can use to a file, in place of an older one.

    Parameters
    ----------
    sender
        Only a model of this sender, as `list_models` returns it.
    collector, token_file, tls_ca, worker
        As of `store`.

    Returns
    -------
    dict
        As of `list_models`.

    Raises
    ------
    RuntimeError
        The collector cannot be reached, or has no model that this version can use.
    """
    target = Path(path)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as folder:
        written = Path(folder, "model")
        arguments = ["get", f"--out={written}"]
        arguments += [] if sender is None else [f"--sender={sender}"]
        stored: dict[str, Any] = json.loads(_run(arguments, collector, token_file, tls_ca, worker))
        os.replace(written, target)
    return stored


def list_models(
    collector: str,
    *,
    limit: int = 100,
    token_file: str | None = None,
    tls_ca: str | None = None,
    worker: str | None = None,
) -> list[dict[str, Any]]:
    """Returns the stored models, the one that was stored last first.

    Each has sha256 (64 digits), sender, stored_unix_us, size_bytes, format_version, feature_version, is_usable (this version
    computes its features) and provenance, an object with the dataset and the scores as the sender states them.

    Parameters
    ----------
    limit
        The most models to return.
    collector, token_file, tls_ca, worker
        As of `store`.
    """
    lines = _run(["list", f"--limit={limit}"], collector, token_file, tls_ca, worker)
    return [json.loads(line) for line in lines.splitlines()]


def _run(arguments: list[str], collector: str, token_file: str | None, tls_ca: str | None, worker: str | None) -> str:
    program = find_program("telemetry-worker", worker or os.environ.get("AUTOTUNE_TELEMETRY_WORKER"))
    if program is None:
        raise RuntimeError("telemetry-worker is not installed; give its path as worker= or add its folder to PATH")
    command = [program, "model", *arguments, f"--collector={collector}"]
    command += [f"--token-file={token_file}"] if token_file else []
    command += [f"--tls-ca={tls_ca}"] if tls_ca else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{program} failed with status {done.returncode}")
    return done.stdout

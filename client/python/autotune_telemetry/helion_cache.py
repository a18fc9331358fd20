"""Helion's remote cache in the collector (Helion 1.5).

    HELION_REMOTE_CACHE_BACKEND=autotune_telemetry.helion.RemoteCache
    HELION_AUTOTUNE_CACHE=RemoteAutotuneCache

A config that any machine has found is then used by all others, and a search starts from similar kernels' configs. The first
request that does not reach the collector takes at most one second; afterwards the process works without the cache. Nothing
here raises into Helion.

Helion uses a config from the cache without measuring it. By default the newest entry of any sender is used. The variable
AUTOTUNE_TELEMETRY_CACHE_SENDERS, a list of names separated by commas ("token ci,token nightly"), restricts the process to
the entries of these senders.
"""

from __future__ import annotations

import base64
import importlib
import itertools
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from importlib import metadata
from typing import Any

from autotune_telemetry import _recorder
from autotune_telemetry._forwarder import find_program
from autotune_telemetry._log import never_raises, warn_once
from autotune_telemetry._settings import Settings, from_environment

NAMESPACE = "helion"
_ANSWER_TIMEOUT_S = 3.0  # the program answers within a second, and its start takes time
_LARGEST_PAGE = 1000
_READ_BYTES = 1 << 16


class _CacheProcess:
    """A `telemetry-worker cache serve-stdio`, and the requests to it. Thread-safe. A forked child uses another one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._is_absent = False
        os.register_at_fork(after_in_child=self._after_fork_in_child)

    def ask(self, op: str, **members: Any) -> dict[str, Any] | None:
        """Returns the answer of a request; None if it failed. After a failure of the connection, all requests fail."""
        with self._lock:
            if self._is_absent:
                return None
            try:
                answer = self._exchange({"id": next(self._ids), "op": op, **members})
            except (OSError, ValueError) as error:
                self._give_up(str(error))
                return None
        if answer.get("ok"):
            return answer
        if answer.get("absent"):
            self._give_up(str(answer.get("error")))
        else:
            warn_once(f"cache {op} {answer.get('code')}", f"the cache refused a {op}: {answer.get('error')}")
        return None

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self._read_line(process))
        if answer.get("id") != request["id"]:
            raise ValueError("telemetry-worker answered another request")
        return answer

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        worker = find_program("telemetry-worker", self._settings.worker)
        if worker is None:
            raise OSError("telemetry-worker is not installed")
        command = [worker, "cache", "serve-stdio", f"--collector={self._settings.collector}"]
        command += [f"--token-file={self._settings.token_file}"] if self._settings.token_file else []
        command += [f"--tls-ca={self._settings.tls_ca}"] if self._settings.tls_ca else []
        self._process = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C for the host program does not end it
        )
        return self._process

    def _read_line(self, process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdout is not None
        until = time.monotonic() + _ANSWER_TIMEOUT_S
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            ready, _, _ = select.select([process.stdout], [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise OSError("telemetry-worker does not answer")
            data = os.read(process.stdout.fileno(), _READ_BYTES)
            if not data:
                raise OSError("telemetry-worker has ended")
            parts.append(data)
        line, self._rest = b"".join(parts).split(b"\n", 1)
        return line

    def _after_fork_in_child(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may have held it
        process, self._process, self._rest = self._process, None, b""
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.returncode = 0  # it is no child of this process

    def _give_up(self, reason: str) -> None:
        self._is_absent = True
        warn_once("cache", f"tuning continues without the collector's cache: {reason}")


class CacheStore:
    """The methods of Helion's `RemoteCacheBackend`, over the collector that `start()` or the environment names."""

    _process: _CacheProcess | None = None
    _process_lock = threading.Lock()

    @never_raises(None)
    def get(self, key: str) -> str | None:
        """Returns the newest JSON text that any sender put under the key; None if there is none."""
        answer = self._ask("get", key=key, senders=_trusted_senders() or None)
        if answer is None or answer["entry"] is None:
            return None
        text = base64.b64decode(answer["entry"]["value"]).decode()
        _check(text)
        return text

    @never_raises(None)
    def put(self, key: str, data: str) -> None:
        """Stores the JSON text under the key."""
        self._ask(
            "put",
            key=key,
            value=base64.b64encode(data.encode()).decode(),
            hardware=_hardware_of(data),
            versions=_versions(),
        )

    @never_raises(())
    def list(self, max_results: int | None = None) -> Iterable[str]:
        """Returns the newest JSON texts of this machine's device, at most `max_results`."""
        senders = _trusted_senders()
        texts: list[str] = []
        token = ""
        most = _LARGEST_PAGE if max_results is None else max_results
        while len(texts) < most:
            size = min(most - len(texts), _LARGEST_PAGE)
            answer = self._ask("list", values=True, hardware=_current_hardware(), page_size=size, page_token=token)
            if answer is None:
                break
            trusted = [entry for entry in answer["entries"] if not senders or entry["sender"] in senders]
            texts += [base64.b64decode(entry["value"]).decode(errors="replace") for entry in trusted]
            token = answer["next_page_token"]
            if not token:
                break
        return texts

    def _ask(self, op: str, **members: Any) -> dict[str, Any] | None:
        with CacheStore._process_lock:
            if CacheStore._process is None:
                recorder = _recorder.current()
                if recorder is None:
                    warn_once("cache", "call start() or set AUTOTUNE_TELEMETRY_COLLECTOR; there is no shared cache")
                    return None
                CacheStore._process = _CacheProcess(recorder.settings)
        return CacheStore._process.ask(op, namespace=NAMESPACE, **members)


def _trusted_senders() -> list[str]:
    """Returns the names in AUTOTUNE_TELEMETRY_CACHE_SENDERS. Empty: all senders."""
    return [name.strip() for name in (from_environment("CACHE_SENDERS") or "").split(",") if name.strip()]


def _check(text: str) -> None:
    """Raises ValueError for a text that Helion cannot parse: Helion parses it where nothing catches the error."""
    importlib.import_module("helion.autotuner.local_cache").parse_cache_entry(text)


def _hardware_of(data: str) -> str | None:
    try:
        hardware = json.loads(data)["key"]["fields"]["hardware"]
    except (ValueError, KeyError, TypeError):
        return None
    return hardware if isinstance(hardware, str) else None


def _current_hardware() -> str | None:
    name: str | None = importlib.import_module("helion._compat").get_device_name()
    return name


def _versions() -> dict[str, str]:
    versions = {}
    for package in ("helion", "torch", "triton"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _make_remote_cache() -> Callable[..., Any]:
    """Returns the class that HELION_REMOTE_CACHE_BACKEND names. Imports Helion, which the base class requires."""
    base = importlib.import_module("helion.autotuner.remote_cache").RemoteCacheBackend
    return type("RemoteCache", (CacheStore, base), {"__doc__": CacheStore.__doc__, "__module__": __name__})


def __getattr__(name: str) -> Any:
    if name != "RemoteCache":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = _make_remote_cache()
    return globals()[name]

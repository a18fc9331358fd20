"""The machine and the programs of this process, as a record of an attempt describes them. Imports no heavy library."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

from autotune_telemetry._version import __version__


def device_name() -> str:
    """Returns the name of the current GPU if the host program has initialised one, else the name of the CPU."""
    torch = sys.modules.get("torch")
    try:
        if torch is not None and torch.cuda.is_initialized():
            return str(torch.cuda.get_device_name())
    except Exception:  # an incomplete or broken library of the host
        pass
    return cpu_name()


def cpu_name() -> str:
    """Returns the name of the CPU, else its architecture."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def environment(tuner: str, tuner_version: str) -> dict[str, Any]:
    """Returns the description of this process for Attempt.environment_json."""
    described: dict[str, Any] = {
        "program": f"autotune_telemetry {__version__}",
        "host": platform.node(),
        "os": platform.platform(),
        "python": platform.python_version(),
        "cpu": cpu_name(),
        "cpus": os.cpu_count(),
        "pid": os.getpid(),
        "tuner": tuner,
    }
    if tuner_version:
        described["tuner_version"] = tuner_version
    return described

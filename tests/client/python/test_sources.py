"""Checks the sources of the package and of its tests: types, lint, format, and the oldest Python."""

from __future__ import annotations

import subprocess
import sys

from conftest import PACKAGE, ROOT, TIMEOUT_S

TESTS = ROOT / "tests/client/python"


def check(*command: str) -> None:
    """Runs a checker in the folder of the package; fails with what it prints."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=PACKAGE, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types() -> None:
    for version in ("3.9", "3.13"):
        check("mypy", "--strict", "--cache-dir=/dev/null", f"--python-version={version}", "autotune_telemetry")


def test_lint() -> None:
    check("ruff", "check", "--no-cache", "--config=pyproject.toml", ".", str(TESTS))


def test_format() -> None:
    check("ruff", "format", "--no-cache", "--check", "--config=pyproject.toml", ".", str(TESTS))

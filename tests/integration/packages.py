"""The Python packages of the integration tests (requirements.txt)."""

import importlib.util
import os
import pathlib
import sys


def need(*packages):
    """Continues if these packages are installed, else restarts this program in the environment that tests/run sets up."""
    if all(importlib.util.find_spec(package) for package in packages):
        return
    venv_python = pathlib.Path(__file__).resolve().parents[2] / "build/venv/bin/python3"
    if not venv_python.exists() or sys.prefix != sys.base_prefix:
        sys.exit("this test needs the Python packages of tests/integration/requirements.txt: start it with tests/run")
    os.execv(venv_python, [venv_python, *sys.argv])

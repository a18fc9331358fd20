"""Runs a script, or a module with -m, and records what the tuners that it imports measure.

python -m autotune_telemetry run train.py --its --flags
python -m autotune_telemetry run -m package.module --its --flags
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys

import autotune_telemetry
from autotune_telemetry._settings import DEFAULT_COLLECTOR, PREFIX
from autotune_telemetry._version import __version__


def main(arguments: list[str] | None = None) -> None:
    """Parses the command line and runs the script in this process."""
    parser = argparse.ArgumentParser(prog="python -m autotune_telemetry", description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run a script under the hooks of every supported tuner")
    run.add_argument("--collector", metavar="HOST:PORT", help="default: AUTOTUNE_TELEMETRY_COLLECTOR, else 127.0.0.1:4747")
    run.add_argument("--state-dir", metavar="DIR", help="folder for records that are not delivered yet")
    run.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    run.add_argument("script", metavar="SCRIPT")
    run.add_argument("script_arguments", nargs=argparse.REMAINDER, metavar="...")
    options = parser.parse_args(arguments)
    _pass_to_children(options.collector, options.state_dir)
    autotune_telemetry.start(options.collector, state_dir=options.state_dir)
    autotune_telemetry.attach()
    _run(options.script, options.script_arguments, as_module=options.module)


def _pass_to_children(collector: str | None, state_dir: str | None) -> None:
    """Lets the Python processes that the script starts attach themselves: their sitecustomize is that of this package."""
    os.environ[PREFIX + "COLLECTOR"] = collector or os.environ.get(PREFIX + "COLLECTOR") or DEFAULT_COLLECTOR
    if state_dir:
        os.environ[PREFIX + "STATE_DIR"] = os.path.abspath(state_dir)
    package = os.path.dirname(os.path.abspath(__file__))
    # The second folder lets processes with another working directory find a package that is not installed.
    paths = [os.path.join(package, "_children"), os.path.dirname(package), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)


def _run(script: str, arguments: list[str], *, as_module: bool) -> None:
    """Runs a script or a module as Python itself does: with its own sys.argv and sys.path[0]."""
    sys.argv = [script, *arguments]
    if as_module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(script, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
        runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()

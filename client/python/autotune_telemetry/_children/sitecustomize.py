"""Attaches to the tuners of a Python process that a script under `python -m autotune_telemetry run` starts.

Then runs the sitecustomize that this one hides, if there is one.
"""

import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))

try:
    import autotune_telemetry

    autotune_telemetry.attach()
except ImportError:  # a Python without this package
    pass

_paths = [path for path in sys.path if os.path.abspath(path or ".") != _here]
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _paths)
if _spec is not None and _spec.loader is not None:
    _hidden = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_hidden)

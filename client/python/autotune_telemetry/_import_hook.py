"""Attaches adapters to the tuners that a process imports."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType

from autotune_telemetry._log import never_raises

# Module of a tuner, after whose import an adapter attaches; the adapter's module and name.
ADAPTERS = {
    "helion": ("autotune_telemetry.helion", "adapter"),
    "kernel_tuner.interface": ("autotune_telemetry.kernel_tuner", "adapter"),
    "torch._inductor.runtime.triton_heuristics": ("autotune_telemetry.inductor", "kernel_adapter"),
    "torch._inductor.select_algorithm": ("autotune_telemetry.inductor", "adapter"),
    "triton.runtime.autotuner": ("autotune_telemetry.triton", "adapter"),
}


def install() -> None:
    """Attaches to the tuners that are imported already, and to others when they are imported."""
    for module in ADAPTERS:
        if module in sys.modules:
            _attach(module)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@never_raises(None)
def _attach(module: str) -> None:
    adapter_module, name = ADAPTERS[module]
    getattr(importlib.import_module(adapter_module), name).instrument()


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of ADAPTERS with the other finders, and attaches after their execution."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in ADAPTERS:
            return None
        for finder in sys.meta_path:
            if isinstance(finder, _Finder) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _AttachingLoader(spec.loader)
                return spec
        return None


class _AttachingLoader(importlib.abc.Loader):
    """A loader that attaches the adapter of the module after the module has run."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            # The module sees the loader that it would have without this hook.
            spec.loader = self._loader
            module.__loader__ = self._loader
        self._loader.exec_module(module)
        _attach(module.__name__)

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

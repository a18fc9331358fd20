"""The base of the adapters: each attaches to one tuner through its hooks."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from autotune_telemetry._log import warn_once


class Adapter(ABC):
    """The adapter of one tuner. Attaching and detaching again leaves the tuner as it was.

    Attributes
    ----------
    tuner
        Name of the tuner, which identifies its runs.
    package
        Name of the tuner's top-level module.
    oldest, below
        The supported versions: from `oldest` on, and older than `below`. Empty `below`: no limit is known.
    """

    tuner: ClassVar[str]
    package: ClassVar[str]
    oldest: ClassVar[str]
    below: ClassVar[str] = ""

    def __init__(self) -> None:
        self._restored: list[tuple[Any, str, Any]] = []
        self._attached = False

    def instrument(self) -> None:
        """Attaches to the tuner, which must be imported. A version that is not supported is reported once."""
        if self._attached:
            return
        version = self.version()
        if not version:
            warn_once(self.tuner, f"the version of {self.tuner} is not known; its measurements are not recorded")
        elif not self.supports(version):
            limit = f" and older than {self.below}" if self.below else ""
            warn_once(
                self.tuner,
                f"{self.tuner} {version} is not supported (from {self.oldest} on{limit}); its measurements are not recorded",
            )
        else:
            self._attached = True
            self._attach()

    def uninstrument(self) -> None:
        """Detaches from the tuner."""
        for owner, name, value in reversed(self._restored):
            setattr(owner, name, value)
        self._restored = []
        self._attached = False

    @abstractmethod
    def _attach(self) -> None:
        """Installs the hooks."""

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        """Replaces an attribute until uninstrument()."""
        self._restored.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def version(self) -> str:
        """Returns the version of the tuner. Empty: not known."""
        version = getattr(sys.modules.get(self.package), "__version__", None)
        if version is None:
            try:
                version = importlib.metadata.version(self.package)
            except importlib.metadata.PackageNotFoundError:
                return ""
        return str(version)

    def supports(self, version: str) -> bool:
        """Returns whether the adapter supports a version of the tuner."""
        found = numbers_of(version)
        return found >= numbers_of(self.oldest) and (not self.below or found < numbers_of(self.below))


def numbers_of(version: str) -> tuple[int, ...]:
    """Returns the leading numbers of a version: (3, 6, 0) of "3.6.0+git1234"."""
    match = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(number) for number in match[0].split(".")) if match else ()

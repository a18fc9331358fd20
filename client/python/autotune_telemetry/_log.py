"""Messages for a person. A message is printed once in a process, so that telemetry never fills the log of a job."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import TypeVar, cast

_logger = logging.getLogger("autotune_telemetry")
_said: set[str] = set()
_Result = TypeVar("_Result")


def warn_once(topic: str, message: str) -> None:
    """Logs a warning, unless this process has logged one of this topic before. Never raises."""
    if topic in _said:
        return
    _said.add(topic)
    try:
        _logger.warning("autotune_telemetry: %s", message)
    except Exception:  # a handler of the host program
        return


def never_raises(otherwise: object) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
    """Returns a decorator: the function logs an exception once and returns `otherwise`, instead of raising it."""

    def decorate(function: Callable[..., _Result]) -> Callable[..., _Result]:
        @functools.wraps(function)
        def guarded(*arguments: object, **named: object) -> _Result:
            try:
                return function(*arguments, **named)
            except Exception as error:
                name = getattr(function, "__qualname__", "a function")
                warn_once(f"error in {name}", f"{name} failed: {type(error).__name__}: {error}; measurements may be missing")
                return cast(_Result, otherwise)

        return guarded

    return decorate

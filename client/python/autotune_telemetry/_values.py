"""Conversion of values of the host program to JSON values, and of inputs to shapes and dtypes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

_DEEPEST = 50


def plain(value: Any, depth: int = 0) -> Any:
    """Returns the value as a JSON value. An object that JSON cannot express becomes its text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)  # a subclass, such as an IntEnum, may print itself differently
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return text(value)
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {text(key): plain(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(item, depth + 1) for item in value]
        if isinstance(value, (set, frozenset)):
            return sorted((plain(item, depth + 1) for item in value), key=repr)
        if callable(getattr(value, "item", None)) and getattr(value, "shape", None) == ():  # a scalar of numpy or torch
            return plain(value.item(), depth + 1)
    return text(value)


def text(value: Any, most: int = 1 << 20) -> str:
    """Returns the value's text, at most `most` characters, without the halves of surrogate pairs."""
    found = value if isinstance(value, str) else str(value)
    return found[:most].encode("utf-8", "replace").decode()


def finite(value: Any) -> float | None:
    """Returns a finite number as a float, and None for anything else."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def config_of(config: Any) -> dict[str, Any]:
    """Returns a config as an object with text keys: of a mapping, an object with attributes, or another value."""
    if isinstance(config, Mapping):
        return {text(key): plain(item) for key, item in config.items()}
    attributes = getattr(config, "__dict__", None)
    if attributes:
        return {text(key): plain(item) for key, item in attributes.items() if not key.startswith("_")}
    return {"value": plain(config)}


def shapes_and_dtypes(inputs: Iterable[Any]) -> tuple[str, str]:
    """Returns the shapes and the dtypes of a kernel's inputs as Python prints them.

    An input is an object with `shape` and `dtype`, a pair (shape, dtype), or a number.
    """
    shapes: list[tuple[int, ...]] = []
    dtypes: list[str] = []
    for value in inputs:
        shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
        if shape is None or dtype is None:
            is_pair = isinstance(value, (tuple, list)) and len(value) == 2 and isinstance(value[0], (tuple, list))
            shape, dtype = value if is_pair else ((), type(value).__name__)
        shapes.append(tuple(int(size) for size in shape))
        dtypes.append(text(dtype))
    return repr(shapes), repr(dtypes)

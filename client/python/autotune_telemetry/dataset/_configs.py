"""Configs as a DataFrame."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def read_configs(texts: Mapping[str, str]) -> pandas.DataFrame:
    """Returns a line for each config_id, with the keys of all configs as columns."""
    import pandas

    parsed = [_parse(text) for text in texts.values()]
    keys = list(dict.fromkeys(key for config in parsed for key in config))
    index = pandas.Index(list(texts), name="config_id")
    columns = {key: _column([config.get(key) for config in parsed]) for key in keys}
    return pandas.DataFrame({key: pandas.Series(column, index=index) for key, column in columns.items()}, index=index)


def _parse(text: str) -> dict[str, Any]:
    """Returns the config of a JSON text; an empty one if it is not an object."""
    value = json.loads(text) if text else {}
    return {key: as_tuple(item) for key, item in value.items()} if isinstance(value, dict) else {}


def as_tuple(value: Any) -> Any:
    """Returns the value with lists as tuples, which can be compared, grouped and hashed."""
    return tuple(as_tuple(item) for item in value) if isinstance(value, list) else value


def _column(values: list[Any]) -> Any:
    """Returns the values with the type that all of them have: integers, floats, booleans, a category, or objects."""
    import pandas

    present = [value for value in values if value is not None]
    kinds = {type(value) for value in present}
    missing = len(present) < len(values)
    if kinds == {bool}:
        return pandas.array(values, dtype="boolean") if missing else values
    if kinds == {int}:
        if any(not -(2**63) <= value < 2**63 for value in present):
            return pandas.array(values, dtype=object)
        return pandas.array(values, dtype="Int64") if missing else values
    if kinds <= {int, float} and kinds:
        return [float("nan") if value is None else float(value) for value in values]
    if kinds == {str}:
        return pandas.Categorical(values)
    return pandas.Series(values, dtype=object).to_numpy()

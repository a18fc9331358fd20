"""Runs, attempts and details as DataFrames."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotune_telemetry.dataset._configs import as_tuple

if TYPE_CHECKING:
    import pandas

_HELION = "helion"
_DETAIL_TEXTS = ("run_id", "attempt_id", "config_id", "status", "stage")
_DETAIL_COUNTS = ("throttled_samples", "registers", "spill_bytes", "shared_bytes", "binary_bytes")
_DETAIL_NUMBERS = ("occupancy", "worst_absolute_error", "worst_relative_error", "sm_clock_mhz")


def lines(base: Path, suffix: str) -> Iterator[dict[str, Any]]:
    """Yields the objects of a file; none if the export has no such file."""
    path = Path(f"{base}{suffix}")
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            yield json.loads(line)


def literal(text: Any) -> Any:
    """Returns the value of a Python literal, and the text itself if it is none."""
    if not isinstance(text, str):
        return text
    try:
        return as_tuple(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def read_runs(base: Path) -> pandas.DataFrame:
    """Returns the runs by run_id."""
    import pandas

    records = list(lines(base, ".runs.jsonl"))
    for record in records:
        record["input_shapes"] = literal(record["input_shapes"])
        record["dtypes"] = literal(record["dtypes"])
        record["tuner"] = (record["extra"] or {}).get("tuner", _HELION)
    columns = [
        *("run_id", "described", "tuner", "kernel_id", "kernel_name", "kernel_source", "input_shapes", "dtypes"),
        *("hardware", "settings_signature", "settings", "extra", "other_descriptions"),
    ]
    frame = pandas.DataFrame.from_records(records, columns=columns).set_index("run_id")
    return frame.astype({"tuner": "category", "kernel_name": "category", "hardware": "category", "described": bool})


def read_attempts(base: Path) -> pandas.DataFrame:
    """Returns the attempts by attempt_id."""
    import pandas

    records = list(lines(base, ".attempts.jsonl"))
    if not records:
        return pandas.DataFrame({"run_id": pandas.Categorical([])}, index=pandas.Index([], name="attempt_id"))
    frame = pandas.DataFrame.from_records(records).set_index("attempt_id")
    frame["started"] = pandas.to_datetime(frame["started"], utc=True, format="ISO8601" if _has_iso8601() else None)
    categories = [name for name in ("run_id", "origin", "dialect", "state", "search_algorithm") if name in frame]
    frame = frame.astype(dict.fromkeys(categories, "category"))
    if "seed" in frame:
        frame["seed"] = frame["seed"].astype("Int64")
    return frame


def _has_iso8601() -> bool:
    """Returns whether this pandas accepts times with different numbers of digits only by this name."""
    import pandas

    return int(pandas.__version__.split(".", maxsplit=1)[0]) >= 2


def read_details(base: Path) -> pandas.DataFrame:
    """Returns the details by (attempt_id, seq)."""
    import pandas

    path = Path(f"{base}.details.jsonl")
    if not path.exists() or path.stat().st_size == 0:
        index = pandas.MultiIndex.from_arrays([[], []], names=["attempt_id", "seq"])
        return pandas.DataFrame({"stage": pandas.Categorical([])}, index=index)
    import pyarrow
    from pyarrow import json as arrow_json

    # A column whose values are all null would have no type.
    fields = {name: pyarrow.string() for name in _DETAIL_TEXTS}
    fields.update({name: pyarrow.int64() for name in _DETAIL_COUNTS})
    fields.update({name: pyarrow.float64() for name in _DETAIL_NUMBERS})
    fields.update(seq=pyarrow.int64(), tied_with_best=pyarrow.bool_(), samples_ms=pyarrow.list_(pyarrow.float64()))
    table = arrow_json.read_json(
        path,
        read_options=arrow_json.ReadOptions(block_size=64 << 20),
        parse_options=arrow_json.ParseOptions(explicit_schema=pyarrow.schema(fields)),
    )
    for name in _DETAIL_TEXTS:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table.column(at).dictionary_encode())
    frame = table.to_pandas(split_blocks=True, self_destruct=True)
    return frame.set_index(["attempt_id", "seq"])


def storable(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the frame in types that Parquet has: objects and mixed values become JSON text."""
    import pyarrow

    frame = frame.copy(deep=False)
    for name in frame.columns:
        if frame[name].dtype != object:
            continue
        try:
            kind = pyarrow.array(frame[name], from_pandas=True).type
            mixed = pyarrow.types.is_struct(kind) or pyarrow.types.is_null(kind)
        except pyarrow.ArrowException:
            mixed = True
        if mixed:
            frame[name] = [None if value is None else json.dumps(value, default=str) for value in frame[name]]
    return frame

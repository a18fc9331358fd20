"""Reads the rows of an export, block by block, so that the text of the configs is never in memory more than once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

_BLOCK_BYTES = 16 << 20
_CATEGORIES = ("run_id", "attempt_id", "config_id", "status", "source_hash")
_NUMBERS = {"seq": "int64", "timestamp_s": "float64", "generation": "int32", "perf_ms": "float64", "compile_time_s": "float64"}


def read_rows(base: Path) -> tuple[pandas.DataFrame, dict[str, str]]:
    """Returns the rows, and the config of each config_id as JSON text. Empty text: not received."""
    import pyarrow

    blocks = []
    configs: dict[str, str] = {}
    for block in _open(base):
        _collect_configs(block, configs)
        blocks.append(_without_config(block))
    if not blocks:
        return _empty(), configs
    table = pyarrow.Table.from_batches(blocks).unify_dictionaries()
    del blocks
    frame = table.to_pandas(split_blocks=True, self_destruct=True)
    return frame, configs


def _open(base: Path) -> Any:
    """Returns the blocks of the file."""
    import pyarrow
    from pyarrow import csv

    path = Path(f"{base}.csv")
    text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    types = dict.fromkeys((*_CATEGORIES, "config"), text)
    types.update({name: getattr(pyarrow, kind)() for name, kind in _NUMBERS.items()})
    try:
        return csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=_BLOCK_BYTES),
            convert_options=csv.ConvertOptions(
                column_types=types,
                include_columns=[*types],
                strings_can_be_null=True,
                null_values=[""],
                quoted_strings_can_be_null=False,
            ),
        )
    except pyarrow.ArrowInvalid:
        if path.read_bytes().count(b"\n") <= 1:  # a header alone
            return []
        raise


def _without_config(block: Any) -> Any:
    import pyarrow

    names = [name for name in block.schema.names if name != "config"]
    return pyarrow.RecordBatch.from_arrays([block.column(name) for name in names], names=names)


def _collect_configs(block: Any, configs: dict[str, str]) -> None:
    """Adds the configs of a block that are new."""
    ids, texts = block.column("config_id"), block.column("config")
    names, values = ids.dictionary.to_pylist(), texts.dictionary.to_pylist()
    if all(name in configs for name in names):
        return
    id_codes = ids.indices.to_numpy(zero_copy_only=False)
    text_codes = texts.indices.to_pandas().to_numpy()  # NaN: no text
    import numpy

    first = numpy.unique(id_codes, return_index=True)
    for code, at in zip(*first):
        text = text_codes[at]
        if not configs.get(names[code]):
            configs[names[code]] = "" if text != text else values[int(text)]


def _empty() -> pandas.DataFrame:
    import pandas

    columns: dict[str, Any] = {name: pandas.Categorical([]) for name in _CATEGORIES}
    columns.update({name: pandas.Series([], dtype=kind) for name, kind in _NUMBERS.items()})
    return pandas.DataFrame(columns)

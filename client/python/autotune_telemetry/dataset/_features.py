"""Features for regressors: computed once for each config and each run, then taken for each row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    import pandas

    from autotune_telemetry.dataset import Dataset

_MOST_VALUES = 64  # a text with more distinct values is no feature


def make_features(dataset: Dataset) -> tuple[pandas.DataFrame, numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]:
    """Returns X, y and groups; see `Dataset.features`."""
    import numpy
    import pandas

    rows = dataset.rows
    chosen = (rows["status"] == "ok").to_numpy() & rows["perf_ms"].notna().to_numpy()
    chosen &= ~_screened(dataset)
    rows = rows.loc[chosen, ["run_id", "config_id", "perf_ms"]]
    of_configs = _numbers([dict(_leaves(config)) for config in dataset.configs.to_dict("records")])
    runs = dataset.runs.reindex(rows["run_id"].cat.categories)
    of_runs = _numbers([dict(_leaves(_run(run))) for run in runs.to_dict("records")])
    at_config = dataset.configs.index.get_indexer(rows["config_id"].cat.categories)[rows["config_id"].cat.codes]
    at_run = rows["run_id"].cat.codes.to_numpy()
    parts = [of_configs.iloc[at_config].reset_index(drop=True), of_runs.iloc[at_run].reset_index(drop=True)]
    features = pandas.concat(parts, axis=1)
    return features, rows["perf_ms"].to_numpy(), at_run.astype(numpy.int32)


def _screened(dataset: Dataset) -> numpy.ndarray[Any, Any]:
    """Returns for each row whether its measurement was stopped early."""
    import numpy
    import pandas

    details = dataset.details
    found: numpy.ndarray[Any, Any] = numpy.zeros(len(dataset.rows), dtype=bool)
    stopped = details.index[(details["stage"] == "screening").to_numpy()]
    if len(stopped) > 0:
        rows = pandas.MultiIndex.from_arrays([dataset.rows["attempt_id"].astype(str), dataset.rows["seq"]])
        found = rows.isin(stopped)
    return found


def _run(run: dict[str, Any]) -> dict[str, Any]:
    """Returns what of a run can explain a time: the sizes and dtypes of its inputs, its kernel and its device."""
    return {
        "shape": run["input_shapes"],
        "dtype": run["dtypes"],
        "kernel": run["kernel_name"],
        "hardware": run["hardware"],
    }


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the numbers and texts in a value, with names such as "block_sizes[0]"."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for at, item in enumerate(value):
            yield from _leaves(item, f"{name}[{at}]")
    elif value is not None and value == value:  # not NaN
        yield name, value


def _numbers(records: list[dict[str, Any]]) -> pandas.DataFrame:
    """Returns the records as float32: numbers as they are, and for each text a column that is 1 where it occurs."""
    import numpy
    import pandas

    names = list(dict.fromkeys(name for record in records for name in record))
    columns: dict[str, Any] = {}
    for name in names:
        values = [record.get(name) for record in records]
        texts = sorted({value for value in values if isinstance(value, str)})
        if any(not isinstance(value, str) and value is not None for value in values):
            numbers = [float(value) if isinstance(value, (int, float)) else numpy.nan for value in values]
            columns[name] = numpy.array(numbers, dtype=numpy.float32)
        for text in texts if len(texts) <= _MOST_VALUES else []:
            # XGBoost refuses these characters in names.
            column = f"{name}={text}".translate(str.maketrans("[]<", "().")) if texts else name
            columns[column] = numpy.array([value == text for value in values], dtype=numpy.float32)
    columns = {name.translate(str.maketrans("[]<", "().")): column for name, column in columns.items()}
    return pandas.DataFrame(columns, index=range(len(records)))

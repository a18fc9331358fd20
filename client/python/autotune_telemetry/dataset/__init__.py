"""Datasets as DataFrames and graphs. Needs pandas and pyarrow, and networkx for graphs.

    dataset = autotune_telemetry.load("collector:4747")
    dataset.rows, dataset.runs, dataset.configs
    X, y, groups = dataset.features()

`telemetry-export` reads the dataset; this package reads the files that it writes (`server/export/DATA.md`).
"""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotune_telemetry.dataset import _configs, _export, _features, _graphs, _records, _rows

if TYPE_CHECKING:
    import networkx
    import numpy
    import pandas

__all__ = ["Dataset", "load"]


def load(
    source: str | os.PathLike[str],
    *,
    kernel: str | None = None,
    hardware: str | None = None,
    run: str | None = None,
    status: str | None = None,
    token_file: str | None = None,
    tls_ca: str | None = None,
    exporter: str | None = None,
) -> Dataset:
    """Returns the dataset at an address or a path, or a part of it.

    Parameters
    ----------
    source
        HOST:PORT of a collector; the path of a SQLite file; a URL postgresql://...; or the base path or the folder of an
        export that was written with `--layout keyed`.
    kernel, hardware, run, status
        Only this kernel, this device, this run_id (or a prefix of it), rows with this status. Not for an existing export.
    token_file, tls_ca
        Files with the bearer token and with the certificate authority of the collector.
    exporter
        Path of telemetry-export. Default: the one in this package, else the one in PATH.

    Raises
    ------
    RuntimeError
        The exporter is missing or failed; the message is its own.
    FileNotFoundError
        `source` is a path without an export.
    """
    base = _export.find_export(source)
    if base is not None:
        return Dataset(base)
    folder = tempfile.TemporaryDirectory(prefix="autotune_telemetry.")
    filters = {"kernel": kernel, "hardware": hardware, "run": run, "status": status}
    credentials = {"token-file": token_file, "tls-ca": tls_ca}
    base = Path(folder.name, "dataset")
    _export.run_exporter(str(source), base, filters, credentials, exporter)
    return Dataset(base, folder)


class Dataset:
    """The files of an export in the keyed layout, each read on first use.

    Attributes
    ----------
    base
        Base path of the files.
    """

    def __init__(self, base: Path, folder: tempfile.TemporaryDirectory[str] | None = None) -> None:
        self.base = base
        self._folder = folder  # removed together with the dataset

    @functools.cached_property
    def _rows_and_configs(self) -> tuple[pandas.DataFrame, dict[str, str]]:
        return _rows.read_rows(self.base)

    @property
    def rows(self) -> pandas.DataFrame:
        """One line for each row of each attempt, in the order of the export.

        Columns: run_id, attempt_id, config_id, status, source_hash (categories); seq, generation (integers);
        timestamp_s, compile_time_s (seconds), perf_ms (milliseconds), NaN if not measured.
        """
        return self._rows_and_configs[0]

    @functools.cached_property
    def configs(self) -> pandas.DataFrame:
        """One line for each config of the rows, by config_id. Columns are the keys of the configs.

        Lists are tuples, texts are categories, and a config without a key has NaN or None there.
        """
        return _configs.read_configs(self._rows_and_configs[1])

    @functools.cached_property
    def runs(self) -> pandas.DataFrame:
        """One line for each run, by run_id, with the columns of `.runs.jsonl` in DATA.md.

        `input_shapes` is a tuple of tuples of integers, `dtypes` a tuple of texts, `tuner` a category.
        """
        return _records.read_runs(self.base)

    @functools.cached_property
    def attempts(self) -> pandas.DataFrame:
        """One line for each attempt, by attempt_id, with the columns of `.attempts.jsonl`; `started` is a timestamp."""
        return _records.read_attempts(self.base)

    @functools.cached_property
    def details(self) -> pandas.DataFrame:
        """One line for each row with details, by (attempt_id, seq), with the columns of `.details.jsonl`."""
        return _records.read_details(self.base)

    def graphs(self, kind: str = "device") -> dict[str, networkx.DiGraph]:
        """Returns the IR graphs of the runs as networkx objects, by run_id.

        Parameters
        ----------
        kind
            "device" or "wrapper".
        """
        return _graphs.read_graphs(self.base, kind)

    def features(self) -> tuple[pandas.DataFrame, numpy.ndarray[Any, Any], numpy.ndarray[Any, Any]]:
        """Returns the measured rows for a regressor of scikit-learn or XGBoost.

        Returns
        -------
        X : DataFrame of float32, shape (n, features)
            Keys of the configs, sizes and dtypes of the inputs, hardware. NaN: the config or run has no such value. Texts
            are one column for each value, 0 or 1.
        y : float64 array, shape (n,)
            perf_ms. Rows that were stopped early (stage "screening") are left out.
        groups : int32 array, shape (n,)
            Number of the row's run, for a split in which no run is on both sides (`GroupKFold`).
        """
        return _features.make_features(self)

    def to_parquet(self, folder: str | os.PathLike[str]) -> None:
        """Writes rows, runs, configs, attempts and details into a folder, one Parquet file each."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for name in ("rows", "runs", "configs", "attempts", "details"):
            frame = _records.storable(getattr(self, name))
            frame.to_parquet(target / f"{name}.parquet", engine="pyarrow")

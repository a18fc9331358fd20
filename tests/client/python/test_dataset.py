"""Tests `load`: types, joins, graphs, features, Parquet, on the exported samples; speed and memory on generated rows."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

from conftest import BIN, PACKAGE, TIMEOUT_S
from pipeline import SAMPLES, Pipeline

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

import autotune_telemetry  # noqa: E402
from autotune_telemetry.dataset import Dataset, _rows  # noqa: E402

EXPORTER = str(BIN / "telemetry-export")
SPEED_ROWS = 1_000_000


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """A database with all samples, and with rows that have details."""
    pipeline = Pipeline(tmp_path_factory.mktemp("dataset") / "pipeline")
    lines = pipeline.folder / "live.measurements.jsonl"
    with lines.open("w") as file:
        for line in live_lines():
            file.write(json.dumps(line) + "\n")
    with pipeline.serving():
        for sample in SAMPLES:
            pipeline.forward(sample.path(), flags=sample.flags)
        pipeline.forward(lines)
    yield pipeline


def live_lines() -> Iterator[dict]:  # type: ignore[type-arg]
    """Yields an attempt of another tuner whose time depends on its config."""
    attempt_id = "ab" * 16
    yield {
        "kind": "attempt",
        "version": 1,
        "attempt_id": attempt_id,
        "tuner": "mine",
        "kernel_name": "live",
        "kernel_source": "",
        "input_shapes": "[(64, 32), ()]",
        "dtypes": "['float32', 'int']",
        "hardware": "CPU",
    }
    for seq in range(1, 31):
        config = {"block": 2**seq % 61, "name": f"v{seq % 3}", "flag": seq % 2 == 0, "list": [1, [2, seq]]}
        line = {"kind": "measurement", "attempt_id": attempt_id, "seq": seq, "config": config, "status": "ok"}
        stage = "screening" if seq > 25 else "search"
        yield line | {"perf_ms": 0.01 * config["block"] + 1, "samples_ms": [1.0, 2.0], "stage": stage}


@pytest.fixture(scope="module")
def dataset(samples: Pipeline) -> Dataset:
    return autotune_telemetry.load(samples.database, exporter=EXPORTER)


def test_rows_have_the_types_of_their_values(dataset: Dataset) -> None:
    rows = dataset.rows
    for name in ("run_id", "attempt_id", "config_id", "status", "source_hash"):
        assert rows[name].dtype == "category", name
    assert (rows["seq"].dtype, rows["generation"].dtype, rows["perf_ms"].dtype) == ("int64", "int32", "float64")
    assert rows.loc[rows["status"] == "started", "perf_ms"].isna().all()
    assert not rows.duplicated(["attempt_id", "seq"]).any()


def test_every_row_has_its_run_its_attempt_and_its_config(dataset: Dataset) -> None:
    rows = dataset.rows
    assert rows["run_id"].isin(dataset.runs.index).all()
    assert rows["attempt_id"].isin(dataset.attempts.index).all()
    assert rows["config_id"].isin(dataset.configs.index).all()
    assert dataset.runs.index.is_unique and dataset.configs.index.is_unique


def test_shapes_are_tuples_and_the_tuner_is_a_category(dataset: Dataset) -> None:
    (live,) = dataset.runs[dataset.runs["kernel_name"] == "live"].to_dict("records")
    assert live["input_shapes"] == ((64, 32), ())
    assert live["dtypes"] == ("float32", "int")
    assert live["tuner"] == "mine"
    assert set(dataset.runs["tuner"]) == {"helion", "mine"}


def test_keys_of_configs_are_columns(dataset: Dataset) -> None:
    live = dataset.rows[dataset.rows["run_id"] == dataset.runs.index[dataset.runs["kernel_name"] == "live"][0]]
    configs = dataset.configs.loc[live["config_id"].astype(str)]
    assert configs["list"].iloc[0] == (1, (2, 1))
    assert dataset.configs["name"].dtype == "category"
    assert dataset.configs["flag"].dtype == "boolean"
    assert dataset.configs["block"].dtype == "Int64"
    assert dataset.configs["block"].isna().any()
    assert dataset.configs["block_sizes"].dropna().map(type).eq(tuple).all()


def test_details_have_samples(dataset: Dataset) -> None:
    detail = dataset.details.loc[("ab" * 16, 3)]
    assert list(detail["samples_ms"]) == [1.0, 2.0]
    assert detail["stage"] == "search"


def test_graphs_are_networkx_objects(dataset: Dataset) -> None:
    networkx = pytest.importorskip("networkx")
    graphs = dataset.graphs()
    assert graphs
    for run_id, graph in graphs.items():
        assert isinstance(graph, networkx.DiGraph)
        assert run_id in dataset.runs.index
        assert graph.number_of_nodes() > 0 and graph.number_of_edges() > 0
    with pytest.raises(ValueError, match="device, wrapper"):
        dataset.graphs("host")


def test_features_train_a_regressor(dataset: Dataset) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    selection = pytest.importorskip("sklearn.model_selection")
    X, y, groups = dataset.features()
    assert len(X) == len(y) == len(groups) == (dataset.rows["perf_ms"].notna() & (dataset.rows["status"] == "ok")).sum() - 5
    assert (X.dtypes == "float32").all()
    assert len(set(groups)) > 3
    model = ensemble.HistGradientBoostingRegressor(min_samples_leaf=2, random_state=1).fit(X, y)
    assert model.score(X, y) > 0.5
    scores = selection.cross_val_score(model, X, y, groups=groups, cv=selection.GroupKFold(3))
    assert len(scores) == 3


def test_parquet_returns_the_same_rows(dataset: Dataset, tmp_path: pathlib.Path) -> None:
    dataset.to_parquet(tmp_path / "parquet")
    rows = pandas.read_parquet(tmp_path / "parquet/rows.parquet")
    columns = [name for name in rows if name != "source_hash"]  # the samples have none, and Parquet has no empty category
    pandas.testing.assert_frame_equal(rows[columns], dataset.rows[columns], check_categorical=False)
    assert rows["run_id"].dtype == "category"
    assert {path.stem for path in (tmp_path / "parquet").iterdir()} == {"rows", "runs", "configs", "attempts", "details"}
    assert len(pandas.read_parquet(tmp_path / "parquet/runs.parquet")) == len(dataset.runs)


def test_a_part_of_the_dataset(samples: Pipeline) -> None:
    part = autotune_telemetry.load(samples.database, kernel="live", exporter=EXPORTER)
    assert len(part.rows) == 30
    assert list(part.runs["kernel_name"]) == ["live"]


def test_an_empty_dataset(samples: Pipeline) -> None:
    none = autotune_telemetry.load(samples.database, kernel="no_such_kernel", exporter=EXPORTER)
    assert (len(none.rows), len(none.runs), len(none.configs), len(none.attempts)) == (0, 0, 0, 0)
    assert none.graphs() == {}


def test_a_collector_and_an_existing_export_have_the_same_rows(samples: Pipeline, dataset: Dataset) -> None:
    samples.export("keyed", "--details")
    folder = max(samples.folder.glob("export*"), key=lambda path: path.stat().st_mtime_ns)
    with samples.serving():
        for source in (samples.address, folder, folder / "data"):
            loaded = autotune_telemetry.load(source, exporter=EXPORTER)
            pandas.testing.assert_frame_equal(loaded.rows, dataset.rows)


def test_errors_say_what_is_wrong(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError, match="contains 0 exports"):
        autotune_telemetry.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="neither a database"):
        autotune_telemetry.load(tmp_path / "missing.db", exporter=EXPORTER)
    with pytest.raises(RuntimeError, match=r"127\.0\.0\.1:1"):
        autotune_telemetry.load("127.0.0.1:1", exporter=EXPORTER)


def write_rows(base: pathlib.Path, count: int) -> None:
    """Writes an export of `count` rows of 100 runs, without details."""
    with open(f"{base}.csv", "w", newline="") as file:
        file.write(
            "run_id,attempt_id,seq,timestamp_s,config_id,generation,status,perf_ms,compile_time_s,config,source_hash\r\n"
        )
        for row in range(count):
            run, config = row * 100 // count, row * 7919 % 50_000
            text = f'"{{""block_sizes"": [{config}, 32], ""indexing"": ""pointer"", ""num_warps"": {config % 8}}}"'
            file.write(
                f"{run:064x},{run:032x},{row + 1},{row * 0.01},{config + 1:016x},{row // 1000},ok,"
                f"{0.01 + config * 1e-6},1.25,{text},\r\n"
            )
    pathlib.Path(f"{base}.snapshot.json").write_text("{}")
    pathlib.Path(f"{base}.runs.jsonl").write_text("")


MEASURE = """
import resource, sys, time, autotune_telemetry as at
before = time.monotonic()
dataset = at.load(sys.argv[1])
print(len(dataset.rows), len(dataset.configs), time.monotonic() - before,
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def test_a_million_rows_need_less_than_20_seconds(tmp_path: pathlib.Path) -> None:
    write_rows(tmp_path / "rows", SPEED_ROWS)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, tmp_path / "rows"],
        env={"PYTHONPATH": str(PACKAGE)},
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    rows, configs, seconds, _ = done.stdout.split()
    assert (int(rows), int(configs)) == (SPEED_ROWS, 50_000)
    assert float(seconds) < 20


def test_rows_are_read_in_blocks(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rows(tmp_path / "rows", 5000)
    monkeypatch.setattr(_rows, "_BLOCK_BYTES", 100_000)
    in_blocks = Dataset(tmp_path / "rows")
    monkeypatch.undo()
    at_once = Dataset(tmp_path / "rows")
    pandas.testing.assert_frame_equal(in_blocks.rows, at_once.rows)
    pandas.testing.assert_frame_equal(in_blocks.configs, at_once.configs)

"""Tests `python -m autotune_telemetry.train` and the use of its models by telemetry-worker, on an artificial dataset."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import math
import pathlib
import subprocess

import pytest

from conftest import BIN
from pipeline import Pipeline, environment_with

numpy = pytest.importorskip("numpy")
xgboost = pytest.importorskip("xgboost")
pytest.importorskip("pandas")

from autotune_telemetry import models, train  # noqa: E402

WORKER = str(BIN / "telemetry-worker")
DEVICE = {
    "name": "NVIDIA H200",
    "architecture": "sm_90",
    "compute_units": 132,
    "global_bytes": 150109880320,
    "l2_bytes": 62914560,
    "clock_khz": 1980000,
    "memory_clock_khz": 3201000,
    "memory_bus_bits": 6016,
}
COLUMNS = (
    "run_id",
    "attempt_id",
    "seq",
    "timestamp_s",
    "generation",
    "status",
    "perf_ms",
    "compile_time_s",
    "config_id",
    "config",
)


def time_of(rows: int, columns: int, config: dict[str, object]) -> float | None:
    """Returns milliseconds with an optimum that depends on the shape; None: the config fails."""
    warps, (block,) = config["num_warps"], config["block_sizes"]  # type: ignore[misc]
    if block * columns > 65536:
        return None
    work = rows * columns / 1e6
    return work * (1 + abs(math.log2(warps * 32 * 8 / columns)) * 0.3 + 0.05 * math.log2(block) + 0.01 * (block * 7 % 5))


@pytest.fixture(scope="module", params=[8])
def dataset(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> pathlib.Path:
    """The base path of a snapshot of softmax on an H200, for as many shapes as the parameter says, 30 configs each."""
    base = tmp_path_factory.mktemp("train") / "snapshot"
    pathlib.Path(f"{base}.snapshot.json").write_text('{"format_version": 1, "layout": "keyed"}\n')
    with (
        open(f"{base}.runs.jsonl", "w") as runs,
        open(f"{base}.attempts.jsonl", "w") as attempts,
        open(f"{base}.csv", "w", newline="") as file,
    ):
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        for number in range(request.param):
            run_id, attempt_id = f"{number:064x}", f"{number + 1:032x}"
            shape = (1024, 512 << (number % 4)) if number < 4 else (4096, 512 << (number % 4))
            described = {"run_id": run_id, "kernel_name": "softmax", "kernel_source": "", "hardware": DEVICE["name"]}
            described |= {"input_shapes": f"[{shape}]", "dtypes": "['torch.float16']"}
            described |= {"settings": {"backend": "cuda", "static_shapes": True}}
            runs.write(json.dumps(described) + "\n")
            environment = {"device": DEVICE}
            attempts.write(json.dumps({"run_id": run_id, "attempt_id": attempt_id, "environment": environment}) + "\n")
            for seq, (warps, block) in enumerate(itertools.product((1, 2, 4, 8, 16), (1, 2, 4, 8, 16, 32)), start=1):
                config = {"block_sizes": [block], "num_warps": warps}
                text = json.dumps(config, sort_keys=True, separators=(",", ":"))
                config_id = hashlib.sha256(text.encode()).hexdigest()[:16]
                ms = time_of(*shape, config)
                outcome = ("error", "") if ms is None else ("ok", repr(ms))
                rows.writerow((run_id, attempt_id, seq, seq, 0, *outcome, 0.1, config_id, json.dumps(config)))
    return base


@pytest.fixture(scope="module")
def model(dataset: pathlib.Path) -> pathlib.Path:
    """A model of all runs but the last."""
    path = dataset.parent / "model.jsonl"
    assert train.main([str(dataset), f"--worker={WORKER}", f"--out={path}", "--exclude-run", f"{7:064x}"]) == 0
    return path


def worker(*arguments: object, accept: int = 0) -> str:
    done = subprocess.run([WORKER, *map(str, arguments)], capture_output=True, text=True, timeout=250, env=environment_with(()))
    assert done.returncode == accept, done.stdout + done.stderr
    return done.stdout + done.stderr


def header_of(path: pathlib.Path) -> dict:  # type: ignore[type-arg]
    with path.open() as file:
        parsed: dict = json.loads(file.readline())  # type: ignore[type-arg]
        return parsed


def test_the_worker_predicts_what_xgboost_predicts(dataset: pathlib.Path) -> None:
    table, _ = train.read_table(dataset, worker=WORKER)
    booster = train.fit(table)
    model, predictions = dataset.parent / "equal.jsonl", dataset.parent / "equal.csv"
    train.write_model(model, booster, table, {})
    worker("features", "--dataset", dataset, "--model", model, "--out", predictions)
    with predictions.open() as file:
        of_worker = numpy.array([float(row["predicted"]) for row in csv.DictReader(file)])
    of_xgboost = booster.predict(xgboost.DMatrix(table.features))
    assert len(set(of_worker)) > 20
    assert numpy.abs(of_worker - of_xgboost).max() <= 1e-6 * numpy.abs(of_xgboost).max()


def test_the_features_tell_shapes_devices_and_launches(dataset: pathlib.Path) -> None:
    table, _ = train.read_table(dataset, worker=WORKER)
    first = dict(zip(table.names, table.features[0]))
    assert first["inputs[0].size[-1]"] == 512 and first["device.compute_units"] == 132
    assert first["launch.threads"] == 32 and first["launch.tiles"] == 1024
    assert numpy.isnan(table.times).sum() > 0


def test_the_model_knows_its_provenance_and_ranks_unseen_shapes(dataset: pathlib.Path, model: pathlib.Path) -> None:
    header = header_of(model)
    assert header["features"]["version"] >= 1 and "launch.waves" in header["features"]["names"]
    provenance = header["provenance"]
    assert provenance["trained_with"] == f"xgboost {xgboost.__version__}"
    assert provenance["dataset"]["sha256"] == hashlib.sha256(pathlib.Path(f"{dataset}.snapshot.json").read_bytes()).hexdigest()
    assert len(provenance["run_ids"]) == 7 and f"{7:064x}" not in provenance["run_ids"]
    unseen = provenance["scores"]["unseen_shapes"]
    assert unseen["runs"] == 7 and unseen["spearman_mean"] > 0.85 and unseen["top10_within_5_percent"] == 1, unseen
    assert provenance["scores"]["unseen_kernel"] == {"runs": 0}, "the dataset has a single kernel"


def test_the_trainer_stores_the_model_in_a_collector(dataset: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "model.jsonl"
    arguments = [str(dataset), f"--worker={WORKER}", f"--out={path}", "--no-scores", "--exclude-run", f"{7:064x}"]
    with Pipeline(tmp_path / "collector").serving() as pipeline:
        assert train.main([*arguments, f"--store={pipeline.address}"]) == 0
        (stored,) = models.list_models(pipeline.address, worker=WORKER)
    assert stored["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest() and stored["is_usable"]
    provenance = header_of(path)["provenance"]
    assert stored["provenance"] == {name: provenance[name] for name in stored["provenance"]}
    assert set(stored["provenance"]) == {"created", "program", "trained_with", "dataset", "kernels", "scores"}
    assert train.main([*arguments, "--store=127.0.0.1:1"]) == 1, "the file is written, but the collector is down"


def test_the_same_dataset_gives_the_same_trees(dataset: pathlib.Path, model: pathlib.Path) -> None:
    again = dataset.parent / "again.jsonl"
    arguments = [str(dataset), f"--worker={WORKER}", f"--out={again}", "--no-scores", "--exclude-run", f"{7:064x}"]
    assert train.main(arguments) == 0
    assert header_of(again)["trees_sha256"] == header_of(model)["trees_sha256"]


def test_a_search_finds_the_optimum_sooner_with_the_model(dataset: pathlib.Path, model: pathlib.Path) -> None:
    report = dataset.parent / "replay.json"
    flags = ("--algorithm", "surrogate", "--seeds", 5, "--min-configs", 10, "--model", model, "--json", report)
    worker("replay", "--dataset", dataset, "--run", f"{7:064x}", *flags)
    (run,) = json.loads(report.read_text())["runs"]
    plain, with_model = run["algorithms"]
    assert (plain["algorithm"], with_model["algorithm"]) == ("surrogate", "surrogate+model")
    assert with_model["median_configs_to_2_percent"] <= plain["median_configs_to_2_percent"] / 2


def test_replay_warns_of_runs_that_were_trained_with(dataset: pathlib.Path, model: pathlib.Path) -> None:
    flags = ("--algorithm", "random", "--seeds", 1, "--min-configs", 10, "--model", model)
    assert "trained with 1 of the 1 runs" in worker("replay", "--dataset", dataset, "--run", f"{1:064x}", *flags)


def test_other_files_are_rejected_with_the_reason(dataset: pathlib.Path, model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    text = model.read_text()
    damaged, foreign = tmp_path / "damaged", tmp_path / "foreign.json"
    damaged.write_text(text[:-200])
    table, _ = train.read_table(dataset, worker=WORKER)
    train.fit(table).save_model(foreign)
    replay = ("replay", "--dataset", dataset, "--min-configs", 10, "--model")
    assert f"{damaged}: the file is damaged" in worker(*replay, damaged, accept=1)
    assert f"{foreign}: not a cost model" in worker(*replay, foreign, accept=1)


def devices() -> list[str]:
    return [line.split()[0] for line in worker("devices").splitlines() if line.startswith(("opencl:", "cuda:"))]


def test_tuning_continues_without_a_model_that_is_rejected(model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    if not devices():
        pytest.skip("no device")
    damaged = tmp_path / "damaged"
    damaged.write_text(model.read_text()[:-200])
    arguments = ("tune", "add", "--arg", "x=64x64", "--collector", "", "--log", tmp_path / "log", "--max-configs", 4)
    said = worker(*arguments, "--state-dir", tmp_path / "state", "--model", damaged)
    assert f"searching without the cost model: {damaged}: the file is damaged" in said
    assert "best" in said


def test_a_config_is_predicted_for_a_shape_that_nobody_tuned(model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    if not devices():
        pytest.skip("no device")
    arguments = ("best", "softmax", "--arg", "x=300x1000:f32", "--state-dir", tmp_path)
    assert "no config of softmax" in worker(*arguments, accept=1)
    line = json.loads(worker(*arguments, "--predict", "--model", model))
    assert line["predicted"] is True and "perf_ms" not in line
    assert set(line["config"]) >= {"block_sizes", "num_warps"}
    assert "--predict needs --model" in worker(*arguments, "--predict", accept=2)


def test_a_dataset_without_measured_runs_is_an_error(dataset: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(dataset), f"--worker={WORKER}", "--out=unused", "--exclude-kernel", "softmax"]
    assert train.main(arguments) == 1
    assert "no run of the dataset has times of 20 configs" in capsys.readouterr().err

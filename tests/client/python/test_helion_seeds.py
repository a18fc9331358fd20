"""Tests the seed configs for Helion: their order, their form, and what happens without a dataset."""

from __future__ import annotations

import csv
import json
import pathlib
from collections.abc import Sequence
from typing import Any

import pytest

from autotune_telemetry import _recorder
from autotune_telemetry.helion_seeds import seed_configs
from conftest import BIN
from pipeline import TESTDATA, Pipeline

EXPORTER = str(BIN / "telemetry-export")
H200 = "NVIDIA H200"
SAMPLE = TESTDATA / "helion-1.5.1/job"


class Export:
    """Writes an export of the keyed layout, with the columns that it needs."""

    def __init__(self, base: pathlib.Path) -> None:
        self.base = base
        self.runs: list[dict[str, Any]] = []
        self.rows: list[dict[str, Any]] = []

    def run(
        self,
        name: str,
        shapes: str | None,
        times: dict[int, float | None],
        *,
        kernel: str = "softmax",
        dtypes: str = "['torch.float16']",
        hardware: str = H200,
        source: str = "def softmax",
        tuner: str | None = None,
    ) -> None:
        """Adds a run; `times` are those of configs with a number of warps, None: it failed."""
        texts = {"kernel_name": kernel, "kernel_source": source, "input_shapes": shapes, "dtypes": dtypes}
        extra = None if tuner is None else {"tuner": tuner}
        self.runs.append({"run_id": name, "hardware": hardware, "extra": extra, **texts})
        for warps, time in times.items():
            config = json.dumps({"num_warps": warps, "indexing": ["pointer", None]})
            status, text = ("error", "") if time is None else ("ok", str(time))
            self.rows.append({"run_id": name, "status": status, "perf_ms": text, "config": config})

    def write(self) -> pathlib.Path:
        """Writes the files; returns their base path."""
        with open(f"{self.base}.runs.jsonl", "w") as file:
            file.writelines(json.dumps(run) + "\n" for run in self.runs)
        with open(f"{self.base}.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, ["run_id", "status", "perf_ms", "config"])
            writer.writeheader()
            writer.writerows(self.rows)
        pathlib.Path(f"{self.base}.snapshot.json").write_text("{}")
        return self.base


@pytest.fixture
def export(tmp_path: pathlib.Path) -> Export:
    return Export(tmp_path / "data")


def warps_of(configs: Sequence[dict[str, Any]]) -> list[int]:
    return [config["num_warps"] for config in configs]


def test_the_best_config_of_each_run_comes_first_and_the_nearest_run_before_others(export: Export) -> None:
    export.run("far", "[(64, 64)]", {1: 3.0, 2: 1.0, 3: 2.0})
    export.run("near", "[(4096, 2048)]", {4: 0.5, 5: 0.4, 6: None})
    export.run("same", "[(4096, 2560)]", {5: 7.0, 7: 8.0})
    found = seed_configs("softmax", [(4096, 2560)], source=export.write())
    assert warps_of(found) == [5, 2, 7, 4, 3, 1]  # 5 is the best one of two runs; 6 failed
    assert found[0] == {"num_warps": 5, "indexing": ["pointer", None]}
    assert warps_of(seed_configs("softmax", [(4096, 2560)], source=export.base, count=2)) == [5, 2]


@pytest.mark.parametrize(
    ("difference", "given"),
    [
        ({"dtypes": "['torch.bfloat16']"}, {"dtypes": ["float16"]}),
        ({"hardware": "NVIDIA H100"}, {"hardware": H200}),
        ({"source": "def softmax 2"}, {"kernel_source": "def softmax"}),
    ],
)
def test_each_difference_makes_a_run_less_near(export: Export, difference: dict[str, Any], given: dict[str, Any]) -> None:
    export.run("a", "[(64, 64)]", {1: 1.0}, **difference)
    export.run("b", "[(128, 64)]", {2: 1.0})
    source = export.write()
    assert warps_of(seed_configs("softmax", [(64, 64)], source=source)) == [1, 2]
    assert warps_of(seed_configs("softmax", [(64, 64)], source=source, **given)) == [2, 1]


def test_runs_that_tell_nothing_about_the_kernel_are_left_out(export: Export) -> None:
    export.run("kernel", "[(64, 64)]", {1: 1.0}, kernel="sum")
    export.run("tuner", "[(64, 64)]", {2: 1.0}, tuner="triton")
    export.run("rank", "[(64, 64, 64)]", {3: 1.0})
    export.run("unknown", None, {4: 1.0})
    export.run("odd", "[(64, 'x')]", {5: 1.0})
    export.run("helion", "[(1, 1)]", {6: 1.0}, tuner="helion")
    assert warps_of(seed_configs("softmax", [(64, 64)], source=export.write())) == [6]


def test_helion_gets_its_own_configs_back_from_a_collector(tmp_path: pathlib.Path) -> None:
    pipeline = Pipeline(tmp_path / "pipeline")
    with pipeline.serving():
        pipeline.forward(SAMPLE)
        found = seed_configs(
            "add",
            [(8192, 4096), (8192, 4096)],
            ["float16", "float16"],
            hardware=H200,
            source=pipeline.address,
            exporter=EXPORTER,
        )
    with open(f"{SAMPLE}.csv", newline="") as file:
        measured = [row for row in csv.DictReader(file) if row["status"] == "ok" and row["perf_ms"]]
    best = min(measured, key=lambda row: float(row["perf_ms"]))
    expected = eval(best["config"], {"Config": dict})  # a call with literals, from this repository
    assert 1 <= len(found) <= 10
    assert found[0] == expected


def test_without_a_dataset_there_are_no_seeds_and_a_warning(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_recorder, "current", lambda: None)
    monkeypatch.setattr("autotune_telemetry._log._said", set())
    assert list(seed_configs("softmax", [(64, 64)])) == []
    assert "AUTOTUNE_TELEMETRY_COLLECTOR" in caplog.text
    for source in (tmp_path / "missing", "127.0.0.1:1"):
        assert list(seed_configs("softmax", [(64, 64)], source=source, exporter=EXPORTER)) == []
    assert "seed_configs failed" in caplog.text

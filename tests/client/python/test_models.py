"""Tests the cost models of a collector: `telemetry-worker model`, `--model collector`, and the Python package."""

from __future__ import annotations

import contextlib
import hashlib
import json
import pathlib
import sqlite3
import subprocess
from collections.abc import Iterator

import pytest

from autotune_telemetry import models
from conftest import BIN
from pipeline import Pipeline, environment_with, run, server

WORKER = str(BIN / "telemetry-worker")


def feature_names(folder: pathlib.Path) -> list[str]:
    """Returns the names of the features of this worker, from the header of an empty table."""
    base = folder / "empty"
    if not base.with_suffix(".csv").exists():
        base.with_suffix(".snapshot.json").write_text('{"format_version": 1, "layout": "keyed"}\n')
        for suffix in (".runs.jsonl", ".attempts.jsonl"):
            pathlib.Path(f"{base}{suffix}").write_text("")
        columns = "run_id,attempt_id,seq,timestamp_s,generation,status,perf_ms,compile_time_s,config_id,config\n"
        base.with_suffix(".csv").write_text(columns)
    table = run("telemetry-worker", "features", f"--dataset={base}", "--out=/dev/stdout")
    columns = table.splitlines()[0].split(",")
    return columns[columns.index("perf_ms") + 1 :]


def model_file(path: pathlib.Path, name: str, *, version: int = 1, tree: object = None) -> pathlib.Path:
    """Writes a model with one tree, by default one that prefers small values of the first feature."""
    tree = tree or {
        "left_children": [1, -1, -1],
        "right_children": [2, -1, -1],
        "split_indices": [0, 0, 0],
        "split_conditions": [1.0, 0.0, 1.0],
        "default_left": [1, 0, 0],
    }
    trees = json.dumps(tree) + "\n"
    header = {
        "format": "autotune-telemetry cost model",
        "version": 1,
        "features": {"version": version, "names": feature_names(path.parent)},
        "base": 0.0,
        "trees": 1,
        "trees_sha256": hashlib.sha256(trees.encode()).hexdigest(),
        "provenance": {"created": name, "dataset": {"sha256": "d"}, "scores": {"unseen_shapes": {"runs": 0}}},
    }
    path.write_text(json.dumps(header) + "\n" + trees)
    return path


# A node that is its own child: a program that follows it never returns.
ENDLESS = {
    "left_children": [0, -1, -1],
    "right_children": [0, -1, -1],
    "split_indices": [0, 0, 0],
    "split_conditions": [1.0, 0.0, 1.0],
    "default_left": [1, 0, 0],
}


class Tokens:
    """A token file, with a token in a file of its own for each role."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.path = folder / "tokens.json"
        self._folder = folder

    def add(self, name: str, roles: str) -> str:
        """Returns the file of a new token."""
        file = self._folder / f"{name}.{roles.replace(',', '.')}"
        run("telemetry-collector", "token", "add", f"--tokens={self.path}", "--role", roles, "--name", name, f"--out={file}")
        return str(file)


@contextlib.contextmanager
def collector(folder: pathlib.Path, *flags: str) -> Iterator[str]:
    with Pipeline(folder / "collector", serve_flags=flags).serving() as pipeline:
        yield pipeline.address


def worker(*arguments: object, accept: int = 0) -> str:
    done = subprocess.run([WORKER, *map(str, arguments)], capture_output=True, text=True, timeout=250, env=environment_with(()))
    assert done.returncode == accept, done.stdout + done.stderr
    return done.stdout + done.stderr


def devices() -> list[str]:
    return [line.split()[0] for line in worker("devices").splitlines() if line.startswith(("opencl:", "cuda:"))]


def test_the_newest_usable_model_is_fetched(tmp_path: pathlib.Path) -> None:
    one, two = model_file(tmp_path / "one", "1"), model_file(tmp_path / "two", "2")
    future = model_file(tmp_path / "future", "3", version=1000)
    with collector(tmp_path) as address:
        with pytest.raises(RuntimeError, match="has no cost model"):
            models.fetch(address, tmp_path / "got", worker=WORKER)
        for path in (one, two, future):
            sha256 = models.store(path, address, worker=WORKER)
            assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        listed = models.list_models(address, worker=WORKER)
        assert [(model["provenance"]["created"], model["is_usable"]) for model in listed] == [
            ("3", False),
            ("2", True),
            ("1", True),
        ]
        assert listed[1]["provenance"]["dataset"] == {"sha256": "d"} and listed[1]["size_bytes"] == two.stat().st_size
        (tmp_path / "got").write_text("an older file")
        assert models.fetch(address, tmp_path / "got", worker=WORKER)["provenance"]["created"] == "2"
        assert (tmp_path / "got").read_bytes() == two.read_bytes()
        models.store(one, address, worker=WORKER)
        assert models.fetch(address, tmp_path / "got", worker=WORKER)["provenance"]["created"] == "1"
        worker("model", "get", "--sha256", listed[0]["sha256"], "--out", tmp_path / "certain", "--collector", address)
        assert (tmp_path / "certain").read_bytes() == future.read_bytes()
        worker("model", "remove", listed[0]["sha256"], "--collector", address)
        assert len(models.list_models(address, worker=WORKER)) == 2
        assert "no such model" in worker("model", "remove", listed[0]["sha256"], "--collector", address, accept=1)
        assert "not a SHA-256" in worker("model", "remove", "abc", "--collector", address, accept=2)


def test_files_that_are_no_models_are_not_stored(tmp_path: pathlib.Path) -> None:
    good = model_file(tmp_path / "good", "1")
    damaged, foreign, huge = tmp_path / "damaged", tmp_path / "foreign", tmp_path / "huge"
    damaged.write_bytes(good.read_bytes()[:-20])
    foreign.write_text('{"learner": {}}\n')
    huge.write_bytes(good.read_bytes() + b" " * (17 << 20))
    with collector(tmp_path) as address:
        for path, reason in ((damaged, "damaged"), (foreign, "no header of a model"), (huge, "at most 16777216 bytes")):
            with pytest.raises(RuntimeError, match=reason):
                models.store(path, address, worker=WORKER)
        assert models.list_models(address, worker=WORKER) == []


def test_storing_needs_the_role_model(tmp_path: pathlib.Path) -> None:
    tokens = Tokens(tmp_path)
    reader, trainer = tokens.add("reader", "reader"), tokens.add("trainer", "model")
    both = tokens.add("other", "model,reader")
    path = model_file(tmp_path / "model", "1")
    with collector(tmp_path, f"--tokens={tokens.path}") as address:
        with pytest.raises(RuntimeError, match="this needs model"):
            models.store(path, address, worker=WORKER, token_file=reader)
        sha256 = models.store(path, address, worker=WORKER, token_file=trainer)
        with pytest.raises(RuntimeError, match="this needs reader"):
            models.fetch(address, tmp_path / "got", worker=WORKER, token_file=trainer)
        fetched = models.fetch(address, tmp_path / "got", worker=WORKER, token_file=reader)
        assert (fetched["sha256"], fetched["sender"]) == (sha256, "token trainer")
        remove = ("model", "remove", sha256, "--collector", address)
        assert "only the sender" in worker(*remove, "--token-file", both, "--sender", "token trainer", accept=1)
        assert models.list_models(address, worker=WORKER, token_file=reader) == [fetched]
        worker(*remove, "--token-file", trainer)


def test_a_hostile_model_of_one_sender_hides_no_good_one_of_another(tmp_path: pathlib.Path) -> None:
    tokens = Tokens(tmp_path)
    good_token, bad_token, reader = tokens.add("good", "model"), tokens.add("bad", "model"), tokens.add("reader", "reader")
    good = model_file(tmp_path / "good", "good")
    hostile = model_file(tmp_path / "hostile", "hostile", tree=ENDLESS)
    with collector(tmp_path, f"--tokens={tokens.path}") as address:
        models.store(good, address, worker=WORKER, token_file=good_token)
        models.store(hostile, address, worker=WORKER, token_file=bad_token)
        get = ("model", "get", "--collector", address, "--token-file", reader, "--out")
        said = worker(*get, tmp_path / "got")
        assert "rejected the cost model" in said and "of token bad: tree 0: node 0 has a child that is not a later node" in said
        assert (tmp_path / "got").read_bytes() == good.read_bytes()
        said = worker(*get, tmp_path / "none", "--sender", "token bad", accept=1)
        assert "has no cost model of token bad" in said and not (tmp_path / "none").exists()


@pytest.mark.skipif(server() is not None, reason="damages a file")
def test_bytes_that_are_damaged_in_the_database_are_rejected(tmp_path: pathlib.Path) -> None:
    pipeline = Pipeline(tmp_path / "collector")
    path = model_file(tmp_path / "model", "1")
    with pipeline.serving():
        models.store(path, pipeline.address, worker=WORKER)
    with contextlib.closing(sqlite3.connect(pipeline.database)) as database, database:
        database.execute("UPDATE model_parts SET data = CAST(replace(CAST(data AS TEXT), '1.0', '9.0') AS BLOB)")
    with pipeline.serving():
        with pytest.raises(RuntimeError, match="do not have its size and SHA-256; store the model again"):
            models.fetch(pipeline.address, tmp_path / "got", worker=WORKER)
        models.store(path, pipeline.address, worker=WORKER)
        models.fetch(pipeline.address, tmp_path / "got", worker=WORKER)
        assert (tmp_path / "got").read_bytes() == path.read_bytes()


def test_tuning_uses_the_model_of_the_collector_or_continues_without_one(tmp_path: pathlib.Path) -> None:
    if not devices():
        pytest.skip("no device")
    good, hostile = model_file(tmp_path / "good", "good"), model_file(tmp_path / "hostile", "hostile", tree=ENDLESS)

    def tune(address: str, number: int) -> str:
        flags = ("--collector", address, "--model", "collector", "--max-configs", 4, "--no-known", "--wait", 0)
        state = ("--state-dir", tmp_path / f"state{number}", "--log", tmp_path / f"log{number}")
        return worker("tune", "add", "--arg", f"x={64 * number}x64", *flags, *state)

    with collector(tmp_path) as address:
        said = tune(address, 1)
        assert "searching without the cost model: the collector has no cost model" in said and "best" in said
        models.store(hostile, address, worker=WORKER)
        said = tune(address, 2)
        assert "rejected the cost model" in said and "searching without the cost model" in said and "best" in said
        models.store(good, address, worker=WORKER)
        said = tune(address, 3)
        assert "without the cost model" not in said and "best" in said
        best = (
            "best",
            "softmax",
            "--arg",
            "x=300x1000:f32",
            "--state-dir",
            tmp_path / "none",
            "--predict",
            "--model",
            "collector",
        )
        assert json.loads(worker(*best, "--collector", address))["predicted"] is True
        assert "needs --collector" in worker(*best, accept=2)


def test_tuning_continues_while_the_collector_is_down(tmp_path: pathlib.Path) -> None:
    if not devices():
        pytest.skip("no device")
    flags = ("--collector", "127.0.0.1:1", "--model", "collector", "--max-configs", 4, "--drain-timeout", "0s")
    state = ("--state-dir", tmp_path / "state", "--log", tmp_path / "log")
    said = worker("tune", "add", "--arg", "x=64x64", *flags, *state, accept=1)
    assert "searching without the cost model: collector 127.0.0.1:1" in said and "best" in said

"""Trains a cost model from a dataset: python -m autotune_telemetry.train snapshot --out model.jsonl.

A cost model predicts how fast a config is relative to the other configs of its run. `telemetry-worker tune --model`
measures first what the model expects to be fast. `worker/model/README.md` describes the features and the file.

Needs pandas and xgboost (1.7 or newer), which no other module of the package imports.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotune_telemetry import models
from autotune_telemetry._forwarder import find_program
from autotune_telemetry._version import __version__
from autotune_telemetry.dataset import _export

if TYPE_CHECKING:
    import numpy
    import numpy.typing

FORMAT = "autotune-telemetry cost model"
FORMAT_VERSION = 1
TOP = 10  # the number of predicted configs of which the best one is compared with the optimum
LEAST_TIMES = 20  # a run with fewer measured configs is left out
_SLOWEST = 2.0  # the logarithm above the median of the run at which times are cut: slow configs need no exact order
_FOLDS = 5
_PARAMETERS: dict[str, Any] = {
    "objective": "reg:squarederror",
    "base_score": 0.0,
    "eta": 0.1,
    "max_depth": 6,
    "min_child_weight": 4,
    "subsample": 0.8,
    "colsample_bytree": 0.5,
    "tree_method": "hist",
    "max_bin": 64,
    "seed": 0,
}
_ROUNDS = 120
_TREE_KEYS = ("left_children", "right_children", "split_indices", "split_conditions", "default_left")


@dataclasses.dataclass
class Table:
    """The features of the configs of a dataset; one element for each config of each run.

    Attributes
    ----------
    features
        float32, shape (n, len(names)); NaN: not known.
    times
        Milliseconds; NaN: the config failed.
    runs, kernels
        Numbers of the config's run and kernel, for splits.
    run_ids, kernel_names
        By these numbers.
    version
        Version of the features.
    """

    names: list[str]
    version: int
    features: numpy.typing.NDArray[numpy.float32]
    times: numpy.typing.NDArray[numpy.float64]
    runs: numpy.typing.NDArray[numpy.int64]
    kernels: numpy.typing.NDArray[numpy.int64]
    run_ids: list[str]
    kernel_names: list[str]

    def part(self, chosen: numpy.typing.NDArray[numpy.bool_]) -> Table:
        """Returns some of the configs, with the same numbers of runs and kernels."""
        return dataclasses.replace(
            self,
            features=self.features[chosen],
            times=self.times[chosen],
            runs=self.runs[chosen],
            kernels=self.kernels[chosen],
        )


@dataclasses.dataclass
class Scores:
    """The quality of predictions for runs that were not trained with, one element for each run.

    Attributes
    ----------
    spearman
        Rank correlation of predicted and measured times.
    regret
        Time of the best of the TOP first predictions relative to the optimum of the run; 0: it is the optimum.
    """

    spearman: list[float] = dataclasses.field(default_factory=list)
    regret: list[float] = dataclasses.field(default_factory=list)

    def summary(self) -> dict[str, float | int]:
        """Returns the numbers for the model's file."""
        import numpy

        if not self.spearman:
            return {"runs": 0}
        regret = numpy.array(self.regret)
        return {
            "runs": len(self.spearman),
            "spearman_mean": round(float(numpy.mean(self.spearman)), 4),
            "spearman_median": round(float(numpy.median(self.spearman)), 4),
            "top10_regret_median": round(float(numpy.median(regret)), 4),
            "top10_within_5_percent": round(float(numpy.mean(regret <= 0.05)), 4),
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Parses the command line, trains, judges and writes a model; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m autotune_telemetry.train", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dataset", metavar="DATASET", help="HOST:PORT, a database, or an export of --layout keyed")
    parser.add_argument("--out", required=True, metavar="FILE", help="the model's file")
    parser.add_argument("--kernel", help="only this kernel")
    parser.add_argument("--exclude-run", action="append", default=[], metavar="ID", help="prefix of a run_id to leave out")
    parser.add_argument("--exclude-kernel", action="append", default=[], metavar="NAME", help="kernel to leave out")
    parser.add_argument("--no-scores", action="store_true", help="do not judge the model by runs that are left out")
    parser.add_argument("--token-file", metavar="FILE", help="bearer token of the collector")
    parser.add_argument("--tls-ca", metavar="FILE", help="certificate authority of the collector")
    parser.add_argument("--store", metavar="HOST:PORT", help="also store the model in this collector")
    parser.add_argument("--store-token-file", metavar="FILE", help="token of the role model (default: --token-file)")
    parser.add_argument("--worker", metavar="FILE", help="telemetry-worker (default: of this package, else in PATH)")
    parser.add_argument("--exporter", metavar="FILE", help="telemetry-export (default: of this package, else in PATH)")
    options = parser.parse_args(arguments)
    try:
        _train(options)
    except (RuntimeError, OSError, ImportError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    return 0


def _train(options: argparse.Namespace) -> None:
    import xgboost

    table, dataset = read_table(
        options.dataset,
        worker=options.worker,
        exporter=options.exporter,
        kernel=options.kernel,
        token_file=options.token_file,
        tls_ca=options.tls_ca,
    )
    table = usable(table, exclude_runs=options.exclude_run, exclude_kernels=options.exclude_kernel)
    kept = sorted(set(table.runs.tolist()))
    if not kept:
        raise RuntimeError(f"no run of the dataset has times of {LEAST_TIMES} configs; measure more, or exclude less")
    scores = {} if options.no_scores else judge(table)
    for name, score in scores.items():
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in score.items()))
    provenance = {
        "created": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "program": f"autotune_telemetry {__version__}",
        "trained_with": f"xgboost {xgboost.__version__}",
        "parameters": {**_PARAMETERS, "rounds": _ROUNDS},
        "dataset": {"sha256": dataset, "runs": len(kept), "configs": len(table.times)},
        "kernels": sorted({table.kernel_names[kernel] for kernel in table.kernels.tolist()}),
        "run_ids": [table.run_ids[run] for run in kept],
        "scores": scores,
    }
    write_model(options.out, fit(table), table, provenance)
    print(f"{options.out}: {len(table.times)} configs of {len(kept)} runs")
    if options.store is not None:
        token_file = options.store_token_file or options.token_file
        sha256 = models.store(options.out, options.store, token_file=token_file, tls_ca=options.tls_ca, worker=options.worker)
        print(f"{options.store}: stored {sha256}")


def read_table(
    source: str | os.PathLike[str],
    *,
    worker: str | None = None,
    exporter: str | None = None,
    kernel: str | None = None,
    token_file: str | None = None,
    tls_ca: str | None = None,
) -> tuple[Table, str]:
    """Returns the features of a dataset, which telemetry-worker computes, and the SHA-256 of the dataset.

    Parameters
    ----------
    source, kernel, token_file, tls_ca, exporter
        As of `dataset.load`.
    worker
        Path of telemetry-worker. Default: the one in this package, else the one in PATH.
    """
    program = find_program("telemetry-worker", worker or os.environ.get("AUTOTUNE_TELEMETRY_WORKER"))
    if program is None:
        raise RuntimeError("telemetry-worker is not installed; give its path with --worker or add its folder to PATH")
    with tempfile.TemporaryDirectory(prefix="autotune_telemetry.") as folder:
        base = _export.find_export(source)
        if base is None:
            base = Path(folder, "dataset")
            credentials = {"token-file": token_file, "tls-ca": tls_ca}
            _export.run_exporter(str(source), base, {"kernel": kernel}, credentials, exporter)
        path = Path(folder, "features.csv")
        done = subprocess.run([program, "features", f"--dataset={base}", f"--out={path}"], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or f"{program} failed with status {done.returncode}")
        snapshot = Path(f"{base}.snapshot.json")
        described = snapshot if snapshot.exists() else Path(f"{base}.csv")
        return _read_features(path, kernel), hashlib.sha256(described.read_bytes()).hexdigest()


def _read_features(path: Path, kernel: str | None) -> Table:
    import numpy
    import pandas

    texts = dict.fromkeys(("run_id", "kernel_name", "input_shapes", "dtypes", "hardware", "config_id"), "str")
    frame = pandas.read_csv(path, dtype=texts, na_filter=True)
    if kernel is not None:
        frame = frame[frame["kernel_name"] == kernel]
    names = list(frame.columns[frame.columns.get_loc("perf_ms") + 1 :])
    runs, run_ids = pandas.factorize(frame["run_id"])
    kernels, kernel_names = pandas.factorize(frame["kernel_name"].fillna(""))
    return Table(
        names=names,
        version=int(frame["feature_version"].iloc[0]) if len(frame) else 0,
        features=frame[names].to_numpy(numpy.float32),
        times=frame["perf_ms"].to_numpy(numpy.float64),
        runs=runs.astype(numpy.int64),
        kernels=kernels.astype(numpy.int64),
        run_ids=list(run_ids),
        kernel_names=list(kernel_names),
    )


def usable(table: Table, *, exclude_runs: Sequence[str] = (), exclude_kernels: Sequence[str] = ()) -> Table:
    """Returns the table without runs that are excluded or have fewer than LEAST_TIMES measured configs."""
    import numpy

    counts = numpy.bincount(table.runs[~numpy.isnan(table.times)], minlength=len(table.run_ids))
    keep_run = numpy.array(
        [count >= LEAST_TIMES and not run.startswith(tuple(exclude_runs)) for run, count in zip(table.run_ids, counts)], bool
    )
    keep_kernel = numpy.array([name not in exclude_kernels for name in table.kernel_names], bool)
    if not len(table.times):
        return table
    return table.part(keep_run[table.runs] & keep_kernel[table.kernels])


def labels(table: Table) -> numpy.typing.NDArray[numpy.float64]:
    """Returns the logarithm of each time relative to the median of its run, at most _SLOWEST; that for a config that failed."""
    import numpy

    values = numpy.full(len(table.times), _SLOWEST)
    for run in numpy.unique(table.runs):
        of_run = (table.runs == run) & ~numpy.isnan(table.times)
        values[of_run] = numpy.log(table.times[of_run] / numpy.median(table.times[of_run]))
    clipped: numpy.typing.NDArray[numpy.float64] = numpy.minimum(values, _SLOWEST)
    return clipped


def fit(table: Table) -> Any:
    """Returns an xgboost.Booster that was trained with all configs of the table. Every run has the same weight."""
    import numpy
    import xgboost

    sizes = numpy.bincount(table.runs)
    weights = numpy.median(sizes[sizes > 0]) / sizes[table.runs]
    matrix = xgboost.DMatrix(table.features, labels(table), weight=weights)
    return xgboost.train(_PARAMETERS, matrix, _ROUNDS)


def judge(table: Table) -> dict[str, dict[str, float | int]]:
    """Returns scores for runs that a model was not trained with: of known kernels, and of a kernel that it has not seen."""
    shapes = Scores()
    for seen, unseen in _folds(table):
        _add_scores(fit(seen), unseen, shapes)
    kernel = Scores()
    present = sorted(set(table.kernels.tolist()))
    for left_out in present if len(present) > 1 else []:
        _add_scores(fit(table.part(table.kernels != left_out)), table.part(table.kernels == left_out), kernel)
    return {"unseen_shapes": shapes.summary(), "unseen_kernel": kernel.summary()}


def _folds(table: Table) -> Iterator[tuple[Table, Table]]:
    """Yields splits by run, so that each run is once among the unseen ones; nothing for a single run."""
    import numpy

    runs = numpy.random.default_rng(0).permutation(numpy.unique(table.runs))
    for fold in range(min(_FOLDS, len(runs)) if len(runs) > 1 else 0):
        is_unseen = numpy.isin(table.runs, runs[fold::_FOLDS])
        yield table.part(~is_unseen), table.part(is_unseen)


def _add_scores(booster: Any, table: Table, scores: Scores) -> None:
    import numpy
    import pandas
    import xgboost

    predicted = booster.predict(xgboost.DMatrix(table.features))
    for run in numpy.unique(table.runs):
        of_run = (table.runs == run) & ~numpy.isnan(table.times)
        both = pandas.DataFrame({"predicted": predicted[of_run], "measured": table.times[of_run]})
        ranks = both.rank()
        scores.spearman.append(float(numpy.nan_to_num(ranks["predicted"].corr(ranks["measured"]))))
        # A config that failed takes its place among the first predictions.
        first = numpy.argsort(predicted[table.runs == run], kind="stable")[:TOP]
        times = table.times[table.runs == run][first]
        best = numpy.inf if numpy.isnan(times).all() else numpy.nanmin(times)
        scores.regret.append(float(best / both["measured"].min() - 1))


def write_model(path: str | os.PathLike[str], booster: Any, table: Table, provenance: dict[str, Any]) -> None:
    """Writes the file of a model, which appears whole or not at all."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    # A number in a text, from XGBoost 3.1 on in a list.
    base = float(learner["learner_model_param"]["base_score"].strip("[]"))
    lines = [
        json.dumps({key: tree[key] for key in _TREE_KEYS}) + "\n" for tree in learner["gradient_booster"]["model"]["trees"]
    ]
    trees = "".join(lines).encode()
    header = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "features": {"version": table.version, "names": table.names},
        "base": base,
        "trees": len(lines),
        "trees_sha256": hashlib.sha256(trees).hexdigest(),
        "provenance": provenance,
    }
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=target.name, delete=False) as file:
        try:
            file.write(json.dumps(header).encode() + b"\n" + trees)
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o644)
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


if __name__ == "__main__":
    sys.exit(main())

"""Seed configs for Helion's searches, from the results of related runs (Helion 1.1 to 1.5).

    from autotune_telemetry.helion_seeds import seed_configs

    @helion.kernel(autotune_seed_configs=seed_configs("softmax", [(8192, 2560)], ["float16"], hardware="NVIDIA H200"))
    def softmax(x): ...

Helion measures seed configs first and searches its whole space afterwards, so that a bad seed costs one measurement. It leaves
out seeds that are no configs of the kernel. The cost model of `train` is not asked: it ranks the configs of a space, and
Helion's spaces are not recorded.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from autotune_telemetry import _recorder
from autotune_telemetry._log import never_raises, warn_once
from autotune_telemetry.dataset import _export, _records

_LARGEST_FIELD = 1 << 26  # characters of a field of the CSV; a config is a field
# The distance of runs, as in worker/tune/search/related_runs.cc: for each doubling of a size, and for each other difference.
_OF_DOUBLING = 0.05
_OF_OTHER_SOURCE = 0.1
_OF_OTHER_DTYPES = 0.3
_OF_OTHER_HARDWARE = 0.5


@never_raises(())
def seed_configs(
    kernel: str,
    input_shapes: Sequence[Sequence[int]],
    dtypes: Sequence[str] | None = None,
    *,
    hardware: str | None = None,
    kernel_source: str | None = None,
    count: int = 10,
    source: str | os.PathLike[str] | None = None,
    token_file: str | None = None,
    tls_ca: str | None = None,
    exporter: str | None = None,
) -> Sequence[dict[str, Any]]:
    """Returns the best configs of Helion's runs of a kernel, those of the nearest runs first, for `autotune_seed_configs`.

    A run is near if its shapes, dtypes, device and source are like those given. The first configs are the best ones of each
    run, then come the second best ones. Never raises: if there is no dataset, it logs a warning and returns no configs,
    which Helion accepts.

    Parameters
    ----------
    kernel
        Name of the kernel's function.
    input_shapes
        Shapes of the tensors among the arguments of the call, in their order: [(4096, 2560)].
    dtypes
        Their dtypes, with or without "torch.". None: runs of all dtypes are equally near; likewise for the next two.
    hardware
        Name of the device, as Helion records it: torch.cuda.get_device_name().
    kernel_source
        Text of the kernel.
    count
        The largest number of configs.
    source
        HOST:PORT of a collector, a database, or an export in the keyed layout. Default: the collector of `start()` or of
        the variable AUTOTUNE_TELEMETRY_COLLECTOR.
    token_file, tls_ca, exporter
        As of `load`; with the default `source`, the credentials are those of `start()`.
    """
    if source is None:
        recorder = _recorder.current()
        if recorder is None:
            warn_once("seeds", "call start(), set AUTOTUNE_TELEMETRY_COLLECTOR or pass source=; there are no seed configs")
            return []
        settings = recorder.settings
        source, token_file, tls_ca = settings.collector, token_file or settings.token_file, tls_ca or settings.tls_ca
    with tempfile.TemporaryDirectory(prefix="autotune_telemetry.") as folder:
        base = _export.find_export(source)
        if base is None:
            base = Path(folder, "dataset")
            credentials = {"token-file": token_file, "tls-ca": tls_ca}
            _export.run_exporter(str(source), base, {"kernel": kernel, "status": "ok"}, credentials, exporter)
        distances = _distances(base, kernel, _sizes(input_shapes), dtypes, hardware, kernel_source)
        ranked = _ranked(base, distances)
    return _merged([ranked[run] for run in sorted(ranked, key=lambda run: (distances[run], run))], count)


def _distances(
    base: Path,
    kernel: str,
    sizes: list[int],
    dtypes: Sequence[str] | None,
    hardware: str | None,
    kernel_source: str | None,
) -> dict[str, float]:
    """Returns the distance of each run of the kernel by Helion whose inputs have as many sizes."""
    distances = {}
    wanted = None if dtypes is None else [_dtype(name) for name in dtypes]
    for run in _records.lines(base, ".runs.jsonl"):
        if run["kernel_name"] != kernel or (run["extra"] or {}).get("tuner", "helion") != "helion":
            continue
        others = _sizes(_records.literal(run["input_shapes"]))
        if len(others) != len(sizes):
            continue
        distance = sum(abs(math.log2(max(a, 1) / max(b, 1))) for a, b in zip(sizes, others)) * _OF_DOUBLING
        if wanted is not None and wanted != [_dtype(name) for name in re.findall(r"[\w.]+", run["dtypes"] or "")]:
            distance += _OF_OTHER_DTYPES
        if hardware is not None and hardware != run["hardware"]:
            distance += _OF_OTHER_HARDWARE
        if kernel_source is not None and kernel_source != run["kernel_source"]:
            distance += _OF_OTHER_SOURCE
        distances[run["run_id"]] = distance
    return distances


def _ranked(base: Path, runs: dict[str, float]) -> dict[str, list[str]]:
    """Returns the texts of the measured configs of each of these runs, the fastest first."""
    times: dict[str, dict[str, float]] = {}
    for row in _rows(base):
        if row["run_id"] not in runs or row["status"] != "ok" or not row["perf_ms"] or not row["config"].startswith("{"):
            continue
        of_run = times.setdefault(row["run_id"], {})
        of_run[row["config"]] = min(float(row["perf_ms"]), of_run.get(row["config"], math.inf))
    return {run: sorted(of_run, key=lambda config: (of_run[config], config)) for run, of_run in times.items()}


def _rows(base: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(min(_LARGEST_FIELD, sys.maxsize))
    with Path(f"{base}.csv").open(newline="", encoding="utf-8", errors="replace") as file:
        yield from csv.DictReader(file)


def _merged(ranked: list[list[str]], count: int) -> list[dict[str, Any]]:
    """Returns distinct configs: the first one of each list, then the second ones, and so on."""
    texts: dict[str, None] = {}
    for rank in range(max(map(len, ranked), default=0)):
        for of_run in ranked:
            if rank < len(of_run) and len(texts) < count:
                texts[of_run[rank]] = None
    return [json.loads(text) for text in texts]


def _sizes(shapes: Any) -> list[int]:
    """Returns the sizes in nested sequences, in their order; none of a text, which is not the shapes of a run."""
    if isinstance(shapes, int):
        return [shapes]
    return [] if shapes is None or isinstance(shapes, str) else [size for shape in shapes for size in _sizes(shape)]


def _dtype(name: Any) -> str:
    return str(name).rsplit(".", maxsplit=1)[-1]

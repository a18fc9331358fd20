"""The numbers in the pages equal those of the export."""

from __future__ import annotations

import collections
import csv
import io
import json

import pytest

from conftest import Pages, Service

UNITS = {"s": 1000.0, "ms": 1.0, "µs": 1e-3, "ns": 1e-6}


class Exported:
    """An export of the dataset."""

    def __init__(self, service: Service) -> None:
        files = service.pipeline.export("keyed", "--attempts=all", live=True)
        self.rows = list(csv.DictReader(io.StringIO(files[".csv"].decode())))
        self.counts = json.loads(files[".snapshot.json"])["counts"]
        self.graphs = [json.loads(line) for line in files[".ir.jsonl"].splitlines()]
        self.attempts = [json.loads(line) for line in files[".attempts.jsonl"].splitlines()]

    def of_run(self, run_id: str) -> list[dict[str, str]]:
        return [row for row in self.rows if row["run_id"] == run_id]

    def best_ms(self, run_id: str) -> float | None:
        best = [one["best_perf_ms"] for one in self.attempts if one["run_id"] == run_id and one["best_perf_ms"] is not None]
        return min(best, default=None)


@pytest.fixture(scope="module")
def exported(service: Service) -> Exported:
    return Exported(service)


def number(text: str) -> int:
    return int(text.split()[0].replace(",", ""))


def milliseconds(text: str) -> float | None:
    """Returns the time that a text such as "12.34 µs" names."""
    if text == "–":
        return None
    value, unit = text.split()
    return float(value.replace(",", "")) * UNITS[unit]


def same(shown: float | None, exact: float | None) -> bool:
    """Returns if a number is shown with at least three correct digits."""
    if shown is None or exact is None:
        return shown is exact
    return abs(shown - exact) <= 1e-3 * exact


def test_overview(pages: Pages, exported: Exported) -> None:
    tiles = pages.open("/").page.locator(".tile")
    shown = {tile.locator("dt").inner_text(): tile.locator("dd").first.inner_text() for tile in tiles.all()}
    assert number(shown["Runs"]) == exported.counts["runs"]
    assert number(shown["Attempts"]) == exported.counts["attempts"]
    assert number(shown["Measurements"]) == exported.counts["measurements"]
    assert number(shown["Configs"]) == exported.counts["configs"]


def test_runs(pages: Pages, exported: Exported) -> None:
    shown = pages.open("/runs?sort=kernel").rows("Runs")
    titles = pages.page.locator('.table-box[aria-label="Runs"] thead th').all_inner_texts()
    runs = pages.fetch("/runs?sort=kernel")["items"]
    assert len(shown) == len(runs) == exported.counts["runs"]
    for cells, run in zip(shown, runs, strict=True):
        row = {title.split()[0]: cell for title, cell in zip(titles, cells, strict=True)}
        assert number(row["Rows"]) == len(exported.of_run(run["run_id"]))
        assert same(milliseconds(row["Best"]), exported.best_ms(run["run_id"])), row


def test_statuses_of_each_run(pages: Pages, exported: Exported) -> None:
    for run in pages.fetch("/runs?limit=100")["items"]:
        pages.open(f"/run/{run['run_id']}?tab=failures")
        shown = {cells[0]: number(cells[2]) for cells in pages.rows("Statuses")}
        assert shown == dict(collections.Counter(row["status"] for row in exported.of_run(run["run_id"])))


def test_measurements(pages: Pages, exported: Exported) -> None:
    """The table's times, and the CSV that its link saves, are those of the export."""
    run = pages.fetch("/runs?sort=-rows")["items"][0]
    pages.open(f"/run/{run['run_id']}?tab=rows&rows.sort=perf&status=ok")
    times = sorted(float(row["perf_ms"]) for row in exported.of_run(run["run_id"]) if row["status"] == "ok" and row["perf_ms"])
    shown = [milliseconds(cells[5]) for cells in pages.rows("Measurements")]
    assert all(same(a, b) for a, b in zip(shown, times, strict=False)), (shown[:3], times[:3])
    with pages.page.expect_download() as download:
        pages.panel("Measurements").get_by_role("link", name="CSV").click()
    saved = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert sorted(float(row["perf_ms"]) for row in saved) == times


def test_graphs(pages: Pages, exported: Exported) -> None:
    for run_id in sorted({graph["run_id"] for graph in exported.graphs})[:3]:
        graph = next(one for one in exported.graphs if one["run_id"] == run_id)
        pages.open(f"/run/{run_id}/graph?kind=device").page.locator(".graph-stage[data-elapsed]").wait_for()
        assert pages.page.locator(".node").count() == len(graph["nodes"])

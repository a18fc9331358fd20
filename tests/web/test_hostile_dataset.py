"""A dataset whose every text is an attack, sent by a worker like any other: nothing executes, and each view stays usable."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from addresses import addresses
from conftest import BIN, Service, web, window
from fake_server import HOSTILE
from pipeline import Pipeline
from test_hostile import executed
from test_views import too_wide

# Arguments of a program cannot contain a NUL, and 128 KiB is the longest.
TEXTS = tuple(text.replace("\0", "")[:100_000] for text in HOSTILE if text)
COLUMNS = ("timestamp_s", "config_index", "generation", "status", "perf_ms", "compile_time_s", "config")


def write_sidecar(path: pathlib.Path, text: str) -> None:
    """Writes rows whose status, config and knobs are the text, among ordinary ones and lines that nobody can read."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for index in range(1, 7):
            config = f"Config(num_warps={index}, evil={text!r})"
            writer.writerow((0.1 * index, index, 0, "ok", 0.05 + 0.01 * index, 0.2, config))
        writer.writerow((0.7, 7, 0, text, "", 0.2, text))
        writer.writerow((0.8, 8, 0, "error", "", 0.2, f"{text}(a=1)"))
        writer.writerow((text, text, text, text, text, text, text))
    with path.open("ab") as file:
        file.write(b"\xff\xfe\x00,\x00," + text.encode()[:1000] + b"\r\n")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    if not (BIN / "telemetry-web").exists():
        pytest.skip("telemetry-web is not built")
    folder = tmp_path_factory.mktemp("hostile")
    pipeline = Pipeline(folder / "pipeline")
    source = folder / "source.py"
    with pipeline.serving():
        for number, text in enumerate(TEXTS):
            sidecar = folder / f"{number}.csv"
            write_sidecar(sidecar, text)
            source.write_text(text)
            flags = ("--kernel-name", "--input-shapes", "--dtypes", "--hardware")
            values = [f"{flag}={text}" for flag in flags] + [f"--kernel-source={source}"]
            # 1: a part of the lines is unreadable, as intended.
            pipeline.forward(sidecar, origin=text[:200], state=f"s{number}", flags=values, accept=(0, 1))
        with web(pipeline.database) as address:
            service = Service(pipeline, address)
            service.await_summaries()
            yield service


@pytest.mark.parametrize("width", (400, 1440))
def test_nothing_executes(browser: Browser, hostile: Service, width: int) -> None:
    wrong: dict[str, list[str]] = {}
    with window(browser, hostile.address, viewport={"width": width, "height": 900}) as pages:
        runs = pages.fetch("/runs?limit=100")["items"]
        assert len(runs) == len(TEXTS)
        paths = list(addresses(pages.fetch).values()) + [f"/run/{run['run_id']}?tab=knobs" for run in runs]
        for path in paths:
            pages.open(path)
            found = [*pages.problems, *(["executed"] if executed(pages) else []), *(["too wide"] if too_wide(pages) else [])]
            if path != "/nothing-here" and pages.page.locator(".state.failed").count():
                found.append(pages.page.locator(".state.failed").first.inner_text())
            pages.problems.clear()
            if found:
                wrong[path] = found
    assert wrong == {}


def test_filters_find_each_text(browser: Browser, hostile: Service) -> None:
    """A hostile name is a filter like any other: its run, and no other, is found."""
    with window(browser, hostile.address) as pages:
        for run in pages.fetch("/runs?limit=100")["items"]:
            found = pages.page.request.get(
                f"{hostile.address}/api/v1/runs", params={name: run[name]["filter"] for name in ("kernel", "shapes", "hardware")}
            )
            assert [one["run_id"] for one in found.json()["items"]] == [run["run_id"]]

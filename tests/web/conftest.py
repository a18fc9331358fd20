"""Fixtures of the tests of the pages: a telemetry-web on the samples, a browser, and pages that report what goes wrong."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TELEMETRY_BIN_DIR", ROOT / "build/release/bin"))
LIBRARIES = BIN.parent / "server/web/libraries"
API = pathlib.Path(os.environ.get("TELEMETRY_OPENAPI", ROOT / "server/web/api/openapi.yaml"))
SHOTS = pathlib.Path(os.environ.get("TELEMETRY_SCREENSHOTS", ROOT / "build/web/screenshots"))
CHROMIUM = pathlib.Path("/usr/bin/chromium")
TIMEOUT_S = 120
sys.path[:0] = [str(ROOT / "tests/integration"), str(ROOT / "tests/web")]

import fake_server  # noqa: E402
from pipeline import SAMPLES, Pipeline, environment_with, run  # noqa: E402

TUNED = ("softmax", "--arg=x=64x128:f32", "--device=opencl:0", "--no-known")


def tune(pipeline: Pipeline, *flags: str, configs: int = 30) -> None:
    """Tunes a small kernel and sends its rows to the dataset."""
    where = (f"--collector={pipeline.address}", f"--state-dir={pipeline.folder / 'state'}")
    run("telemetry-worker", "tune", *TUNED, f"--max-configs={configs}", *where, *flags)


class Service:
    """A dataset and the telemetry-web that shows it."""

    def __init__(self, pipeline: Pipeline, address: str) -> None:
        self.pipeline = pipeline
        self.address = address

    def await_summaries(self) -> None:
        """Waits until the lists contain everything that has been stored."""
        end = time.monotonic() + TIMEOUT_S
        while True:
            with urllib.request.urlopen(f"{self.address}/api/v1/overview", timeout=TIMEOUT_S) as answer:
                overview = json.load(answer)
            if overview["summaries"]["complete"] and not overview["running"] and overview["sizes"]["configs"] > 0:
                return
            assert time.monotonic() < end


@contextlib.contextmanager
def web(database: Any, *flags: str) -> Iterator[str]:
    """Runs telemetry-web on a dataset, and returns its address."""
    command = [str(BIN / "telemetry-web"), "--db", str(database), "--listen=127.0.0.1:0", *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment_with(()))
    assert process.stdout
    try:
        line = process.stdout.readline()
        assert "listening on" in line, f"telemetry-web did not start: {line}"
        yield line.split("listening on", 1)[1].strip()
    finally:
        process.terminate()
        assert process.wait(TIMEOUT_S) == 0
        process.stdout.close()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The samples of all dialects, and a kernel that this machine tuned, in a collector that serves."""
    if not (BIN / "telemetry-web").exists():
        pytest.skip("telemetry-web is not built")
    pipeline = Pipeline(tmp_path_factory.mktemp("web") / "pipeline")
    with pipeline.serving():
        for sample in SAMPLES:
            pipeline.forward(sample.path(), flags=sample.flags, state=sample.name.replace("/", "-"))
        pipeline.forward(ROOT / "tests/testdata/helion-1.5.1/job.csv", state="traces")
        for seed in (1, 2):
            tune(pipeline, f"--seed={seed}", f"--origin=ci/{seed}")
        # The pages count the dataset when they start, and then once in a minute.
        with web(pipeline.database) as address:
            started = Service(pipeline, address)
            started.await_summaries()
            yield started


@pytest.fixture(scope="session")
def hostile_address() -> Iterator[str]:
    """A server with the pages, whose answers consist of attacks."""
    if not LIBRARIES.exists():
        pytest.skip("the libraries of the pages are not fetched")
    server = fake_server.serve(API, LIBRARIES, 0, hostile=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip("Debian's package chromium is not installed")
    with sync_playwright() as playwright:
        # Chromium's sandbox does not start for root, in whose name tests run in containers.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


class Pages:
    """A window of the browser. Collects errors, and requests to other hosts."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.problems: list[str] = []
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.problems.append(f"uncaught {error}"))
        page.on("request", self._on_request)
        page.on("dialog", self._on_dialog)

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console {message.type}: {message.text}")

    def _on_dialog(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _on_request(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:" + self.address)):
            self.problems.append(f"request to {request.url}")

    def open(self, path: str) -> Pages:
        self.page.goto(self.address + path)
        return self.settled()

    def settled(self) -> Pages:
        """Waits until every section has its data."""
        path = urllib.parse.urlsplit(self.page.url).path
        self.page.locator(f'main > .view[data-path="{path}"]').wait_for()
        for selector in ("[aria-busy=true]", ".state.loading"):
            self.page.locator(selector).first.wait_for(state="detached")
        return self

    def panel(self, title: str) -> Any:
        return self.page.locator(f'section.panel[aria-label="{title}"]')

    def rows(self, label: str) -> list[list[str]]:
        """Returns the texts of the cells of a table."""
        table = self.page.locator(f'.table-box[aria-label="{label}"] tbody tr')
        return [[cell.strip() for cell in row.locator("th, td").all_inner_texts()] for row in table.all()]

    def fetch(self, path: str) -> Any:
        """Returns the JSON answer of the API."""
        answer = self.page.request.get(f"{self.address}/api/v1{path}")
        assert answer.ok, answer.text()
        return answer.json()


@contextlib.contextmanager
def window(browser: Browser, address: str, **options: Any) -> Iterator[Pages]:
    """Opens a window; at its end there were no errors and no requests to other hosts."""
    context = browser.new_context(**({"viewport": {"width": 1440, "height": 900}} | options))
    context.set_default_timeout(15_000)
    pages = Pages(context.new_page(), address)
    try:
        yield pages
    finally:
        context.close()
    assert pages.problems == []


@pytest.fixture
def pages(browser: Browser, service: Service) -> Iterator[Pages]:
    with window(browser, service.address) as opened:
        yield opened

"""What the views show without data: each state says what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Pages, window
from playwright.sync_api import Browser, Route, expect

SUMMARIES = {"complete": True, "done_attempts": 0, "total_attempts": 0}
NOTHING: dict[str, Any] = {
    "items": [],
    "total": 0,
    "next_cursor": None,
    "summaries": SUMMARIES,
    "reasons": [],
    "namespaces": [],
}


@pytest.fixture
def pages(browser: Browser, hostile_address: str) -> Iterator[Pages]:
    with window(browser, hostile_address) as opened:
        yield opened
        # The browser itself reports failed requests.
        opened.problems = [problem for problem in opened.problems if "Failed to load resource" not in problem]


def refuse(status: int, message: str) -> Any:
    def answer(route: Route) -> None:
        route.fulfill(status=status, json={"error": {"message": message}})

    return answer


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("/runs", "telemetry-worker forward"),
        ("/runs?kernel=nothing", "Clear filters"),
        ("/kernels", "telemetry-worker forward"),
        ("/regressions", "tuned again"),
        ("/rejects", "nothing to do"),
        ("/producers", "--collector"),
        ("/cache", "telemetry-worker cache"),
        ("/tokens", "telemetry-collector token add"),
    ],
)
def test_empty(pages: Pages, path: str, advice: str) -> None:
    pages.page.route(
        "**/api/v1/*", lambda route: route.fulfill(json=NOTHING) if "session" not in route.request.url else route.fallback()
    )
    expect(pages.open(path).page.locator(".state.empty")).to_contain_text(advice)


@pytest.mark.parametrize(
    ("status", "advice"),
    [(400, "Remove filters"), (403, "reader role"), (404, "All runs"), (503, "Try again in a few seconds")],
)
def test_errors(pages: Pages, status: int, advice: str) -> None:
    pages.page.route("**/api/v1/kernels*", refuse(status, "the reason"))
    alert = pages.open("/kernels").page.get_by_role("alert")
    expect(alert).to_contain_text("the reason")
    expect(alert).to_contain_text(advice)
    pages.page.unroute("**/api/v1/kernels*")
    alert.get_by_role("button", name="Try again").click()
    expect(pages.page.locator("tbody tr").first).to_be_visible()


def test_no_server(pages: Pages) -> None:
    pages.page.route("**/api/v1/kernels*", lambda route: route.abort())
    expect(pages.open("/kernels").page.get_by_role("alert")).to_contain_text("the server does not answer")


def test_loading(pages: Pages) -> None:
    held: list[Route] = []
    pages.page.route("**/api/v1/kernels*", lambda route: held.append(route))
    pages.page.goto(pages.address + "/kernels")
    expect(pages.page.locator(".state.loading")).to_be_visible()
    held[0].fallback()
    expect(pages.page.locator("tbody tr").first).to_be_visible()


def test_unknown_address(pages: Pages) -> None:
    expect(pages.open("/nothing/here").page.locator("h1")).to_have_text("Not found")

"""The form to sign in: it appears where the server asks for it, also in the middle of the use, and leads back to the view."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from conftest import Pages, window

TOKEN = "a reader's token"


class Sessions:
    """Answers to /session, as a server with tokens gives them."""

    def __init__(self) -> None:
        self.signed_in = False
        self.requests: list[Any] = []

    def answer(self, route: Route) -> None:
        request = route.request
        if request.method == "POST":
            self.requests.append(request)
            self.signed_in = json.loads(request.post_data or "{}").get("token") == TOKEN
            if not self.signed_in:
                return route.fulfill(status=401, json={"error": {"message": "the token is not valid"}})
        if request.method == "DELETE":
            self.requests.append(request)
            self.signed_in = False
        name = "dashboards" if self.signed_in else None
        route.fulfill(
            json={"sign_in_required": True, "signed_in": self.signed_in, "name": name, "expires_unix_ms": None, "version": "1"}
        )

    def others(self, route: Route) -> None:
        if self.signed_in:
            route.fallback()
        else:
            route.fulfill(status=401, json={"error": {"message": "sign in"}})


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


@pytest.fixture
def pages(browser: Browser, hostile_address: str, sessions: Sessions) -> Iterator[Pages]:
    with window(browser, hostile_address) as opened:
        opened.page.route("**/api/v1/**", sessions.others)
        opened.page.route("**/api/v1/session", sessions.answer)
        yield opened
        # The browser itself reports refused requests.
        opened.problems = [problem for problem in opened.problems if "status of 401" not in problem]


def sign_in(pages: Pages, token: str) -> None:
    pages.page.get_by_label("Token").fill(token)
    pages.page.get_by_role("button", name="Sign in").click()


def test_signs_in_and_out(pages: Pages, sessions: Sessions) -> None:
    pages.page.goto(pages.address + "/kernels?sort=-rows")
    sign_in(pages, "wrong")
    expect(pages.page.get_by_role("alert")).to_have_text("the token is not valid")
    sign_in(pages, TOKEN)
    expect(pages.page.locator("h1")).to_have_text("Kernels")
    assert pages.page.url.endswith("/kernels?sort=-rows")
    expect(pages.page.locator(".who")).to_have_text("token dashboards")
    pages.page.get_by_role("button", name="Sign out").click()
    expect(pages.page.get_by_label("Token")).to_have_value("")
    assert [request.headers["x-requested-with"] for request in sessions.requests] == ["telemetry-web"] * 3


def test_asks_again_when_the_session_ends(pages: Pages, sessions: Sessions) -> None:
    sessions.signed_in = True
    pages.open("/kernels")
    sessions.signed_in = False
    pages.page.get_by_role("link", name="Producers").click()
    sign_in(pages, TOKEN)
    expect(pages.page.locator("h1")).to_have_text("Producers")


def test_keeps_no_token(pages: Pages) -> None:
    pages.page.goto(pages.address + "/")
    sign_in(pages, TOKEN)
    expect(pages.page.locator("h1")).to_have_text("Overview")
    stored = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
    assert TOKEN not in pages.page.evaluate(stored)

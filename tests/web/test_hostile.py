"""Answers whose every text is an attack: nothing executes, and each view stays usable."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from conftest import Pages, window
from test_views import too_wide

RUN = "a" * 64
PATHS = (
    "/",
    "/runs",
    *(f"/run/{RUN}?tab={tab}" for tab in ("summary", "knobs", "failures", "finals", "rows", "attempts")),
    f"/run/{RUN}/config/{'b' * 16}",
    f"/run/{RUN}/graph",
    f"/attempt/{'c' * 32}",
    "/compare?item=run:1&item=run:2",
    "/kernels",
    "/kernel?kernel=%3Cscript%3Ewindow.hacked%3D1%3C/script%3E",
    "/kernel/history?kernel=%E2%80%AEa&shapes=%3Cimg%20src=x%20onerror=window.hacked=1%3E&dtypes=c&hardware=d",
    f"/kernel/source?kernel=a&version={'d' * 16}&before={'e' * 16}",
    "/regressions",
    "/rejects",
    "/rejects/1",
    "/producers",
    "/cache",
    "/cache/1",
    "/tokens",
    "/runs?kernel=%22%3E%3Csvg%20onload%3Dwindow.hacked%3D1%3E&sort=javascript:window.hacked=1",
    "/kernel/source?kernel=__proto__&version=constructor",
)


def executed(pages: Pages) -> bool:
    return bool(
        pages.page.evaluate("'hacked' in window || document.querySelector('main script, main img, main iframe') !== null")
    )


@pytest.mark.parametrize("width", (400, 1440))
def test_nothing_executes(browser: Browser, hostile_address: str, width: int) -> None:
    wrong = {}
    with window(browser, hostile_address, viewport={"width": width, "height": 900}) as pages:
        for path in PATHS:
            pages.open(path)
            found = [*pages.problems, *(["executed"] if executed(pages) else []), *(["too wide"] if too_wide(pages) else [])]
            if pages.page.locator(".state.failed").count():
                found.append(pages.page.locator(".state.failed").first.inner_text())
            pages.problems.clear()
            if found:
                wrong[path] = found
    assert wrong == {}


def test_invisible_characters_are_shown(browser: Browser, hostile_address: str) -> None:
    with window(browser, hostile_address) as pages:
        text = pages.open("/runs").page.locator("main").inner_text()
        assert "⟨U+202E⟩" in text
        assert not any(c in text for c in "\u202e\u2066\u200b\u0000\u0007")


def test_views_stay_usable(browser: Browser, hostile_address: str) -> None:
    with window(browser, hostile_address) as pages:
        pages.open("/runs").page.get_by_role("link", name="Kernels").click()
        pages.page.wait_for_url("**/kernels")
        pages.settled().page.locator("tbody a").first.click()
        pages.page.wait_for_url("**/kernel?**")
        pages.settled()
        pages.page.go_back()
        assert pages.settled().page.locator("h1").inner_text() == "Kernels"

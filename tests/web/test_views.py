"""Every view on the samples: no error, no finding of axe-core, fits its width. Takes the screenshots."""

from __future__ import annotations

import pathlib
from typing import Any, Literal

import axe_playwright_python
import pytest
from playwright.sync_api import Browser

from addresses import addresses
from conftest import SHOTS, Pages, Service, window

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
ALL_RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
# The only rule whose result depends on the theme.
CONTRAST = {"type": "rule", "values": ["color-contrast"]}
WIDTHS = (400, 1440)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def findings(pages: Pages, rules: dict[str, Any]) -> list[str]:
    """Returns the findings of axe-core that are serious."""
    pages.page.evaluate(AXE)
    result = pages.page.evaluate("rules => axe.run(document, {runOnly: rules})", rules)
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in result["violations"]
        if one["impact"] in ("serious", "critical")
    ]


def too_wide(pages: Pages) -> bool:
    return bool(pages.page.evaluate("document.documentElement.scrollWidth > innerWidth"))


@pytest.mark.parametrize("width", WIDTHS)
def test_every_view(browser: Browser, service: Service, width: int) -> None:
    size = {"width": width, "height": 900}
    SHOTS.mkdir(parents=True, exist_ok=True)
    wrong = {}
    with window(browser, service.address, viewport=size) as pages:
        for name, path in addresses(pages.fetch).items():
            pages.open(path)
            for theme in THEMES:
                pages.page.emulate_media(color_scheme=theme)
                pages.page.screenshot(path=SHOTS / f"{name}-{width}-{theme}.png", full_page=True)
                found = findings(pages, ALL_RULES if theme == "light" else CONTRAST) + pages.problems
                if too_wide(pages):
                    found.append("wider than the window")
                pages.problems.clear()
                if found:
                    wrong[f"{name} {theme}"] = found
    assert wrong == {}


@pytest.mark.parametrize("width", (700, 2000))
def test_other_widths(browser: Browser, service: Service, width: int) -> None:
    with window(browser, service.address, viewport={"width": width, "height": 900}) as pages:
        assert [name for name, path in addresses(pages.fetch).items() if too_wide(pages.open(path))] == []

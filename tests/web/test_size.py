"""The compressed size of what the browser loads."""

from __future__ import annotations

import gzip

from conftest import Pages
from test_controls import longest_run

MOST_BYTES = 500_000
LAZY = "/assets/lib/echarts.js"


def test_scripts_are_small(pages: Pages) -> None:
    """All views together load at most 500 kB of scripts; the library for parallel coordinates comes when its chart is seen."""
    sizes: dict[str, int] = {}

    def remember(response: object) -> None:
        url = response.url.removeprefix(pages.address)  # type: ignore[attr-defined]
        if url.startswith("/assets/") and url.endswith(".js") and response.ok:  # type: ignore[attr-defined]
            sizes[url] = len(gzip.compress(response.body()))  # type: ignore[attr-defined]

    pages.page.on("response", remember)
    run = longest_run(pages)
    for path in ("/", "/runs", f"/run/{run}", f"/run/{run}?tab=rows", "/kernels", "/compare", "/about"):
        pages.open(path)
    assert "/assets/lib/uplot.js" in sizes and LAZY not in sizes
    total = sum(sizes.values())
    print(f"{len(sizes)} scripts, {total} bytes compressed")
    assert total < MOST_BYTES
    pages.open(f"/run/{run}?tab=knobs").panel("Parallel coordinates").scroll_into_view_if_needed()
    pages.panel("Parallel coordinates").locator("canvas").wait_for()
    assert LAZY in sizes

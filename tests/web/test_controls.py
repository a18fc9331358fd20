"""Sorting, paging, filters, brushes, themes and the keyboard; every state stands in the URL."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from conftest import Pages, Service, window


def longest_run(pages: Pages) -> str:
    return str(pages.fetch("/runs?sort=-rows")["items"][0]["run_id"])


def test_sorting(pages: Pages) -> None:
    pages.open("/runs")
    for sort in ("-rows", "rows"):
        pages.page.get_by_role("link", name="Rows").click()
        pages.page.wait_for_url(f"**/runs?sort={sort}")
        pages.settled()
        shown = [int(cells[8].replace(",", "")) for cells in pages.rows("Runs")]
        assert shown == sorted(shown, reverse=sort == "-rows")
        assert pages.page.locator("th[aria-sort]").inner_text().startswith("Rows")
        assert pages.page.evaluate("document.activeElement.textContent") == "Rows"
    pages.page.go_back()
    pages.settled()
    expect(pages.page.locator("th[aria-sort=descending]")).to_have_text("Rows")


def test_filters(pages: Pages) -> None:
    pages.open("/runs")
    everything = len(pages.rows("Runs"))
    pages.page.get_by_label("Kernel", exact=True).select_option(value="vsoftmax")
    pages.page.wait_for_url("**/runs?kernel=softmax")
    pages.settled()
    kernels = {cells[1] for cells in pages.rows("Runs")}
    assert kernels == {"softmax"} and len(pages.rows("Runs")) < everything
    again = pages.open("/runs?kernel=softmax").page.get_by_label("Kernel", exact=True)
    assert again.input_value() == "vsoftmax"
    pages.page.get_by_role("button", name="Clear filters").first.click()
    pages.page.wait_for_url("**/runs")
    pages.page.get_by_label("Search").fill("nothing has this name")
    expect(pages.page.get_by_text("No run matches these filters")).to_be_visible()


def test_paging(pages: Pages) -> None:
    pages.open(f"/run/{longest_run(pages)}?tab=rows")
    first = pages.rows("Measurements")
    pager = pages.page.get_by_role("navigation", name="Pages of measurements")
    assert len(first) == 100
    pager.get_by_role("link", name="Next").click()
    expect(pager).to_contain_text("101–")
    second = pages.settled().rows("Measurements")
    assert second[0] != first[0]
    deep = pages.page.url
    pages.page.go_back()
    expect(pager).to_contain_text("1–100")
    pages.page.goto(deep)
    assert pages.settled().rows("Measurements") == second
    pager.get_by_role("link", name="Previous").click()
    expect(pager).to_contain_text("1–100")


def test_tabs_and_back(pages: Pages) -> None:
    pages.open(f"/run/{longest_run(pages)}")
    tabs = pages.page.get_by_role("navigation", name="Parts of the run")
    for name in ("Knobs", "Failures", "Finals"):
        tabs.get_by_role("link", name=name).click()
        expect(tabs.locator("[aria-current]")).to_have_text(name)
        pages.settled()
    pages.page.go_back()
    expect(tabs.locator("[aria-current]")).to_have_text("Failures")
    pages.page.reload()
    expect(pages.settled().page.locator("section[aria-label=Statuses]")).to_be_visible()


def chosen(pages: Pages) -> int:
    text = pages.page.get_by_text("configs within the brushes").inner_text()
    return int(text.split()[0].replace(",", ""))


def test_brushing(pages: Pages) -> None:
    pages.open(f"/run/{longest_run(pages)}?tab=knobs")
    everything = chosen(pages)
    section = pages.panel("Parallel coordinates")
    section.scroll_into_view_if_needed()
    canvas = section.locator("canvas")
    canvas.wait_for()
    box = canvas.bounding_box()
    assert box
    # The leftmost axis, from its middle to its lower end.
    x = box["x"] + 64
    pages.page.mouse.move(x, box["y"] + box["height"] * 0.55)
    pages.page.mouse.down()
    pages.page.mouse.move(x, box["y"] + box["height"] * 0.7, steps=5)
    pages.page.mouse.move(x, box["y"] + box["height"] * 0.95, steps=5)
    pages.page.mouse.up()
    pages.page.wait_for_url("**brush=**")
    by_mouse = chosen(pages)
    assert by_mouse < everything
    pages.open(pages.page.url.removeprefix(pages.address))
    assert chosen(pages) == by_mouse
    section.get_by_title("Remove this brush").click()
    expect(pages.page.get_by_text("configs within the brushes")).to_contain_text(f"{everything:,} of")
    section.get_by_role("button", name="Brush", exact=True).click()
    pages.page.wait_for_url("**brush=**")
    assert chosen(pages) < everything


def test_points_open_configs(pages: Pages) -> None:
    pages.open(f"/run/{longest_run(pages)}?tab=knobs")
    overlay = pages.panel("Time of each config").locator(".u-over")
    overlay.scroll_into_view_if_needed()
    box = overlay.bounding_box()
    assert box
    for share in range(5, 100, 5):
        pages.page.mouse.move(box["x"] + box["width"] * share / 100, box["y"] + box["height"] * 0.8)
        if "clickable" in (overlay.get_attribute("class") or ""):
            break
    expect(overlay.locator(".tooltip")).to_contain_text("config ")
    pages.page.mouse.click(box["x"] + box["width"] * share / 100, box["y"] + box["height"] * 0.8)
    pages.page.wait_for_url("**/config/**")


def test_compare(pages: Pages) -> None:
    pages.open("/runs?kernel=softmax")
    picks = pages.page.locator("input[name=compare]")
    picks.nth(0).check()
    picks.nth(1).check()
    pages.page.get_by_role("button", name="Compare 2 selected").click()
    pages.page.wait_for_url("**/compare?**")
    shown = pages.settled().rows("Compared items")
    assert len(shown) == 2 and shown[0][3] == "baseline"
    pages.page.get_by_role("link", name="use as baseline").click()
    pages.settled()
    assert pages.rows("Compared items")[0][0][1:] == shown[1][0][1:]


def test_themes(browser: Browser, service: Service) -> None:
    with window(browser, service.address, color_scheme="dark") as pages:
        theme = "document.documentElement.dataset.theme"
        assert pages.open("/").page.evaluate(theme) == "dark"
        pages.page.get_by_role("button", name="Switch to the light theme").click()
        assert pages.page.evaluate(theme) == "light"
        assert pages.open("/runs").page.evaluate(theme) == "light"
        assert pages.open("/runs?theme=dark").page.evaluate(theme) == "dark"


def test_keyboard(pages: Pages) -> None:
    pages.open("/")
    pages.page.keyboard.press("Tab")
    assert pages.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(3):
        pages.page.keyboard.press("Tab")
    assert pages.page.evaluate("document.activeElement.textContent") == "Runs"
    pages.page.keyboard.press("Enter")
    pages.page.wait_for_url("**/runs")
    assert pages.settled().page.evaluate("document.activeElement.id") == "main"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    pages.page.keyboard.press("Tab")
    assert pages.page.evaluate(outline) == "solid"


def test_copies_configs(browser: Browser, service: Service) -> None:
    with window(browser, service.address, permissions=["clipboard-read", "clipboard-write"]) as pages:
        section = pages.open(f"/run/{longest_run(pages)}").panel("Best config")
        section.get_by_role("button", name="Copy config").click()
        expect(pages.page.locator("#status")).to_have_text("config copied")
        copied = pages.page.evaluate("navigator.clipboard.readText()")
        assert copied == section.locator("pre").first.inner_text()


def test_charts_have_tables(pages: Pages) -> None:
    pages.open(f"/run/{longest_run(pages)}")
    section = pages.panel("Best time so far")
    section.get_by_text("Show as a table").click()
    expect(section.locator("tbody tr").first).to_be_visible()


def test_exports_of_every_section(pages: Pages) -> None:
    run = longest_run(pages)
    for path in ("/", "/runs", f"/run/{run}", f"/run/{run}?tab=knobs", "/kernels", "/tokens"):
        for index in range(pages.open(path).page.locator(".export").count()):
            # Chromium asks the user after ten downloads from one page.
            group = pages.open(path).page.locator(".export").nth(index)
            for kind in ("CSV", "JSON"):
                with pages.page.expect_download() as download:
                    group.get_by_text(kind).click()
                assert download.value.suggested_filename.endswith(kind.lower())
                assert download.value.path().stat().st_size > 2

"""While a kernel is tuned, the pages show it without a reload."""

from __future__ import annotations

import threading

from playwright.sync_api import expect

from conftest import Pages, Service, tune

TUNING_MS = 120_000


def test_overview_and_run_follow_a_search(pages: Pages, service: Service) -> None:
    pages.open("/")
    expect(pages.page.get_by_text("live", exact=True)).to_be_visible()
    # Long enough that the page shows it more than once before its end.
    search = threading.Thread(
        target=tune, args=(service.pipeline, "--seed=77", "--origin=ci/live"), kwargs={"configs": 200}
    )
    search.start()
    try:
        row = pages.page.locator('.table-box[aria-label="Running attempts"] tbody tr').first
        expect(row).to_contain_text("softmax", timeout=TUNING_MS)
        configs = row.locator("td.number").nth(1)
        before = configs.inner_text()
        expect(configs).not_to_have_text(before, timeout=TUNING_MS)
        row.get_by_role("link").first.click()
        pages.page.wait_for_url("**/run/**")
        curve = pages.settled().panel("Best time so far")
        statuses = pages.panel("Statuses")
        seen = statuses.inner_text()
        expect(statuses).not_to_have_text(seen, timeout=TUNING_MS)
        expect(curve).to_be_visible()
    finally:
        search.join()
    expect(pages.page.locator(".run-head .state-complete")).to_be_visible(timeout=TUNING_MS)

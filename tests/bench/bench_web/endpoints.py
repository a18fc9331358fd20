"""The addresses of every endpoint of openapi.yaml, with parameters as the pages send them."""

from __future__ import annotations

import urllib.parse
from typing import Any

from web_process import Client, query

NAMES = ("kernel", "shapes", "dtypes", "hardware")
PARTS = ("", "/convergence", "/knobs", "/points", "/statuses", "/finals", "/rows")


class Dataset:
    """Runs, kernels and other objects of the dataset, to name in requests."""

    def __init__(self, client: Client) -> None:
        self.client = client
        page = client.json("/runs?limit=500")["items"]
        self.usual = page[20:500:20]
        by_rows = client.json("/runs?sort=-rows&limit=20")["items"]
        self.largest = by_rows[:1]
        self.large = by_rows[1:11]
        self.kernels = [item["kernel"]["filter"] for item in client.json("/kernels?limit=50")["items"]]
        self.graphs = [run["run_id"] for run in [*page, *by_rows] if self.run(run)["graphs"]][:20]
        self.rejects = [item["reject"] for item in client.json("/rejects")["items"]]
        self.entries = [item["entry"] for item in client.json("/cache")["items"]]
        self.versions = [
            (kernel, client.json(f"/kernel?{query(kernel=kernel)}")["versions"][0]["version"]) for kernel in self.kernels[:20]
        ]

    def run(self, run: dict[str, Any]) -> Any:
        return self.client.json(f"/runs/{run['run_id']}")

    def attempts(self, runs: list[dict[str, Any]]) -> list[str]:
        return [self.run(run)["attempt_list"][0]["attempt_id"] for run in runs]


def names(run: dict[str, Any], *wanted: str) -> dict[str, str]:
    return {name: run[name]["filter"] for name in wanted}


def of_run(runs: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Returns the addresses of the parts of some runs, by their path in openapi.yaml."""
    found: dict[str, list[str]] = {}
    for part in PARTS:
        found[f"/runs/{{run_id}}{part}"] = [f"/runs/{run['run_id']}{part}" for run in runs]
    sorts = ("", "sort=-perf", "sort=perf&limit=500", "status=error", "sort=-seq")
    found["/runs/{run_id}/rows"] = [f"/runs/{run['run_id']}/rows?{sort}" for run in runs for sort in sorts]
    found["/runs/{run_id}/configs/{config_id}"] = [
        f"/runs/{run['run_id']}/configs/{run['best_config_id']}" for run in runs if run["best_config_id"]
    ]
    return found


def of_lists(dataset: Dataset) -> dict[str, list[str]]:
    """Returns the addresses of the lists, with the filters and orders that the pages offer."""
    runs = dataset.usual
    filters = [query(**names(run, name)) for run in runs[:8] for name in NAMES]
    filters += [query(kernel=run["kernel"]["filter"], hardware=run["hardware"]["filter"]) for run in runs[:8]]
    filters += ["q=kernel_1", "q=h200", "q=nothing-like-this", "state=open", "sender="]
    sorts = [f"sort={sign}{name}" for name in ("kernel", "shapes", "rows", "best", "speedup", "failed") for sign in ("", "-")]
    return {
        "/session": ["/session"],
        "/overview": ["/overview"],
        "/events": ["/events", f"/events?{query(run_id=runs[0]['run_id'])}"],
        "/runs": ["/runs", *(f"/runs?{one}" for one in [*filters, *sorts, "limit=500"])],
        "/facets": ["/facets", *(f"/facets?{one}" for one in filters if not one.startswith("q="))],
        "/kernels": ["/kernels", *(f"/kernels?{one}" for one in ("q=kernel_1", "sort=-rows", "sort=-last_received"))],
        "/kernel": [f"/kernel?{query(kernel=kernel)}" for kernel in dataset.kernels],
        "/kernel/history": [f"/kernel/history?{query(**names(run, *NAMES))}" for run in runs],
        "/kernel/source": [f"/kernel/source?{query(kernel=kernel, version=version)}" for kernel, version in dataset.versions],
        "/regressions": ["/regressions", "/regressions?direction=both", f"/regressions?{query(**names(runs[0], 'kernel'))}"],
        "/rejects": ["/rejects", "/rejects?limit=500", "/rejects?reason=invalid", "/rejects?origin=ci%2F1"],
        "/rejects/{reject}": [f"/rejects/{reject}" for reject in dataset.rejects[:20]],
        "/producers": ["/producers", "/producers?q=worker", "/producers?sender=ci"],
        "/cache": ["/cache", "/cache?q=0a", "/cache?limit=500"],
        "/cache/{entry}": [f"/cache/{entry}" for entry in dataset.entries[:20]],
        "/tokens": ["/tokens"],
    }


def of_comparisons(dataset: Dataset) -> list[str]:
    """Returns comparisons of runs, of attempts, of devices and of versions."""
    runs = dataset.usual
    found = [query(("item", f"run:{a['run_id']}"), ("item", f"run:{b['run_id']}")) for a, b in zip(runs, runs[1:])]
    attempts = dataset.attempts(runs[:6])
    found += [query(("item", f"attempt:{a}"), ("item", f"attempt:{b}")) for a, b in zip(attempts, attempts[1:])]
    for run in runs[:6]:
        kernel = run["kernel"]["filter"]
        cells = dataset.client.json(f"/kernel?{query(kernel=kernel)}")
        devices = [("item", f"device:{device['filter']}") for device in cells["devices"][:2]]
        versions = [("item", f"version:{version['version']}") for version in cells["versions"][:2]]
        found += [query(*items, kernel=kernel) for items in (devices, versions) if len(items) == 2]
    return [f"/compare?{one}" for one in found]


def addresses(dataset: Dataset) -> dict[str, list[str]]:
    """Returns the addresses to measure by the path in openapi.yaml, with the kind of run after it."""
    found = of_lists(dataset)
    usual = dataset.attempts(dataset.usual)
    found |= {
        "/attempts/{attempt_id}": [f"/attempts/{attempt}" for attempt in usual],
        "/attempts/{attempt_id}/events": [f"/attempts/{attempt}/events" for attempt in usual],
        "/runs/{run_id}/graphs": [f"/runs/{run}/graphs" for run in dataset.graphs],
        "/runs/{run_id}/graphs/{kind}": [f"/runs/{run}/graphs/{urllib.parse.quote('device')}" for run in dataset.graphs],
        "/compare": of_comparisons(dataset),
    }
    for kind, runs in (("", dataset.usual), (" large", dataset.large), (" largest", dataset.largest)):
        found |= {path + kind: list_ for path, list_ in of_run(runs).items()}
    pair = query(*(("item", f"run:{run['run_id']}") for run in [*dataset.largest, *dataset.large[:1]]))
    found["/compare largest"] = [f"/compare?{pair}"]
    return found

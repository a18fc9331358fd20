"""The addresses of every view, for a dataset: those of the first run, config, attempt and kernel that an API answer names."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable
from typing import Any

TABS = ("summary", "knobs", "failures", "finals", "rows", "attempts")


def query(**values: str) -> str:
    return urllib.parse.urlencode(values)


def graph_address(fetch: Callable[[str], Any], runs: list[dict[str, Any]]) -> dict[str, str]:
    """Returns the address of the first graph of these runs."""
    for run in runs:
        graphs = fetch(f"/runs/{run['run_id']}/graphs")["items"]
        if graphs:
            return {"graph": f"/run/{run['run_id']}/graph?{query(kind=graphs[0]['kind'])}"}
    return {}


def addresses(fetch: Callable[[str], Any]) -> dict[str, str]:
    """Returns the address of each view by its name."""
    runs = fetch("/runs?sort=-rows&limit=50")["items"]
    run = fetch(f"/runs/{runs[0]['run_id']}")
    path = f"/run/{run['run_id']}"
    kernel = query(kernel=run["kernel"]["filter"])
    cell = query(**{name: run[name]["filter"] for name in ("kernel", "shapes", "dtypes", "hardware")})
    found = {f"run-{tab}": f"{path}?tab={tab}" for tab in TABS}
    if run["best_config_id"]:
        found["config"] = f"{path}/config/{run['best_config_id']}"
    versions = fetch(f"/kernel?{kernel}")["versions"]
    if versions:
        found["source"] = f"/kernel/source?{kernel}&version={versions[0]['version']}"
    items = urllib.parse.urlencode([("item", f"run:{one['run_id']}") for one in runs[:3]])
    return (
        found
        | graph_address(fetch, runs)
        | {
            "overview": "/",
            "runs": "/runs",
            "attempt": f"/attempt/{run['attempt_list'][0]['attempt_id']}",
            "compare": f"/compare?{items}",
            "kernels": "/kernels",
            "kernel": f"/kernel?{kernel}",
            "history": f"/kernel/history?{cell}",
            "regressions": "/regressions",
            "rejects": "/rejects",
            "producers": "/producers",
            "cache": "/cache",
            "tokens": "/tokens",
            "about": "/about",
            "not-found": "/nothing-here",
        }
    )

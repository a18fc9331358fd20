"""IR graphs as networkx objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotune_telemetry.dataset._records import lines

if TYPE_CHECKING:
    import networkx

_SUFFIXES = {"device": ".ir.jsonl", "wrapper": ".wrapper.jsonl"}


def read_graphs(base: Path, kind: str) -> dict[str, networkx.DiGraph]:
    """Returns the graphs of a kind by run_id. Of several senders' graphs of a run, the first one is taken."""
    if kind not in _SUFFIXES:
        raise ValueError(f"no graphs of the kind {kind!r}; the kinds are {', '.join(_SUFFIXES)}")
    graphs: dict[str, Any] = {}
    for record in lines(base, _SUFFIXES[kind]):
        if record["run_id"] not in graphs:
            graphs[record["run_id"]] = _graph_of(record)
    return graphs


def _graph_of(record: dict[str, Any]) -> networkx.DiGraph:
    """Returns a node-link object as a graph. The name of its edges' key differs between versions of networkx."""
    import networkx

    try:
        return networkx.node_link_graph(record, edges="links")
    except TypeError:
        return networkx.node_link_graph(record, link="links")

#!/usr/bin/env python3
"""Checks that folders include each other only as layers.toml allows, and that namespaces follow folders; prints the exceptions.

    check_layers.py [ROOT [LAYERS]]     of the tree at ROOT (default: the one that this file belongs to)

A folder may include itself and the folders that layers.toml lists for it; a folder below that has no entry of its own
belongs to its parent. Every folder of client, proto, server and worker needs an entry, and the arrows that are listed
must be without a cycle. A third-party header that layers.toml names may be included only by the files listed for it.

The sources of worker/tune/search are in telemetry::worker::tune::search. `proto`, `server` and `base` are left out, and `export`,
a keyword, becomes `exporter`: those of server/export/files are in telemetry::exporter::files.

Exit status 1: something was found.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tree import ROOT, Source, cycles, sources

OWN = re.compile(r"(client|proto|server|worker)/")


def room_of(path: str, rooms: dict[str, list[str]]) -> str | None:
    """Returns the room that a file or folder belongs to: the longest entry that contains it; None if there is none."""
    while path and path not in rooms:
        path = path.rpartition("/")[0]
    return path or None


def wrong_arrows(source: Source, rooms: dict[str, list[str]]) -> Iterator[str]:
    """Yields the includes of a source that point to a folder which its own folder may not use."""
    if not OWN.match(str(source.path)):
        return
    room = room_of(source.folder, rooms)
    if room is None:
        yield f"{source.path}: layers.toml has no entry for {source.folder}"
        return
    for include in source.includes:
        target = room_of(include, rooms) if OWN.match(include) else None
        if target is not None and target != room and target not in rooms[room]:
            yield f"{source.path}: {room} may not include {include}"


def wrong_headers(source: Source, headers: dict[str, list[str]]) -> Iterator[str]:
    """Yields the third-party headers that a source may not include."""
    for include in source.includes:
        for pattern, allowed in headers.items():
            if re.match(pattern, include) and not str(source.path).startswith(tuple(allowed)):
                yield f"{source.path}: {include} may be included only below {', '.join(allowed)}"


def wrong_namespace(source: Source) -> Iterator[str]:
    """Yields a message if a source has names outside the namespace of its folder."""
    if not OWN.match(str(source.path)):
        return
    parts = ["exporter" if part == "export" else part
             for part in source.path.parent.parts if part not in ("proto", "server", "base")]
    expected = "::".join(["telemetry", *parts])
    found = re.findall(r"^namespace (telemetry[\w:]*) \{", source.text, re.MULTILINE)
    if found and not any(name == expected or name.startswith(f"{expected}::") for name in found):
        yield f"{source.path}: is in {found[0]}, not in {expected}"


def main() -> int:
    """Prints the findings; returns the exit status."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    layers_path = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).with_name("layers.toml")
    layers = tomllib.loads(layers_path.read_text(encoding="utf-8"))
    rooms: dict[str, list[str]] = layers["rooms"]
    findings = [f"layers.toml: these include each other: {', '.join(cycle)}"
                for cycle in cycles({room: set(targets) for room, targets in rooms.items()})]
    for source in sources(root=root):
        findings += wrong_arrows(source, rooms)
        findings += wrong_headers(source, layers["headers"])
        findings += wrong_namespace(source)
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

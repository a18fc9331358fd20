#!/usr/bin/env python3
"""Prints "SOURCE HASH" for each .cc file of the project, a line each.

    input_hashes.py

The hash changes if the source, a header of the project that it includes directly or indirectly, or a .proto file changes.
tests/lint uses it to find the sources that clang-tidy has to check again.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from tree import ROOT, Source, sources, tracked


def main() -> None:
    """Prints the hash of every source."""
    known: dict[str, Source] = {str(file.path): file for file in sources()}
    protos = b"".join((ROOT / name).read_bytes() for name in tracked(ROOT, "*.proto"))

    @cache
    def own_hash(path: str) -> str:
        return sha256(protos + known[path].text.encode()).hexdigest()

    def reachable(path: str) -> set[str]:
        found: set[str] = {path}
        todo = [path]
        while todo:
            for target in known[todo.pop()].includes:
                if target in known and target not in found:
                    found.add(target)
                    todo.append(target)
        return found

    for path in known:
        if path.endswith(".cc"):
            text = "".join(f"{name} {own_hash(name)}\n" for name in sorted(reachable(path)))
            print(path, sha256(text.encode()).hexdigest())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes the files of the pages as sources that embed them into a program.

    embed.py FOLDER NAME=FILE...

FOLDER gets the files compressed, assets.S, which includes the bytes, and assets_table.cc, the table that FindAsset searches.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path

TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}


def symbol(label: str, path: Path) -> str:
    """Returns the assembly that defines `label` as the bytes of a file."""
    return f'  .global {label}\n{label}:\n  .incbin "{path}"\n'


def embed(folder: Path, files: dict[str, Path]) -> None:
    """Writes the sources for the files, by name."""
    assembly = ['  .section .rodata\n']
    declarations, entries = [], []
    for index, (name, path) in enumerate(sorted(files.items())):
        plain = path.read_bytes()
        small = folder / f"{index}.gz"
        small.write_bytes(gzip.compress(plain, 9, mtime=0))
        label = f"telemetry_asset_{index}"
        assembly += [symbol(label, path), symbol(f"{label}_gzip", small)]
        declarations.append(f"extern const char {label}[], {label}_gzip[];\n")
        entries.append(
            f'    {{.name = "{name}", .content_type = "{TYPES[path.suffix]}",\n'
            f'     .etag = "\\"{hashlib.sha256(plain).hexdigest()[:32]}\\"",\n'
            f"     .plain = {{{label}, {len(plain)}}}, .gzip = {{{label}_gzip, {small.stat().st_size}}}}},\n"
        )
    assembly.append('  .section .note.GNU-stack, "", %progbits\n')
    (folder / "assets.S").write_text("".join(assembly))
    (folder / "assets_table.cc").write_text(
        '#include "server/web/assets/asset.h"\n\n'
        f'extern "C" {{\n{"".join(declarations)}}}\n\n'
        "namespace telemetry::web::assets {\n\n"
        f"const Asset kAssets[] = {{\n{''.join(entries)}}};\nconst size_t kAssetCount = {len(entries)};\n\n"
        "}  // namespace telemetry::web::assets\n"
    )


if __name__ == "__main__":
    embed(Path(sys.argv[1]), {name: Path(file) for name, file in (pair.split("=", 1) for pair in sys.argv[2:])})

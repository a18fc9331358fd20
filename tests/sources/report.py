#!/usr/bin/env python3
"""Prints figures on the size and the shape of the sources.

    report.py [FOLDER...]     of the C++ sources below these folders (default: client proto server worker tests)
    report.py --cycles        also lists the members of each cycle

A unit is a header with its source. A function counts if its definition begins at the left margin; its length is that of
its body. A cycle is a set of units (or folders) that include each other, directly or through others of the set.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from statistics import median

from tree import cycles, sources

QUESTION_WORDS = re.compile(r"(What|Who|Whose|Whom|Where|Whether|How)\b")


def main() -> None:
    """Reads the sources and prints one figure a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", default=["client", "proto", "server", "worker", "tests"])
    parser.add_argument("--cycles", action="store_true", help="list the members of each cycle")
    options = parser.parse_args()

    files = list(sources(*options.folders))
    known = {str(file.path): file for file in files}
    units: dict[str, set[str]] = defaultdict(set)
    folders: dict[str, set[str]] = defaultdict(set)
    per_folder: dict[str, set[str]] = defaultdict(set)
    for file in files:
        per_folder[file.folder].add(file.unit)
        for path in file.includes:
            target = known.get(path)
            if target is None:
                continue
            if target.unit != file.unit:
                units[file.unit].add(target.unit)
            if target.folder != file.folder:
                folders[file.folder].add(target.folder)

    comments = [comment for file in files for comment in file.comments]
    questions = sum(1 for comment in comments if QUESTION_WORDS.match(comment.text))
    functions = [length for file in files for length in file.function_lengths]
    sizes = Counter({folder: len(members) for folder, members in per_folder.items()})
    unit_cycles = cycles(units)
    folder_cycles = cycles(folders)

    print(f"lines: {sum(len(file.lines) for file in files)} in {len(files)} files, {len(set().union(*per_folder.values()))} units")
    print("folders with more than 25 units:",
          ", ".join(f"{folder} {count}" for folder, count in sizes.most_common() if count > 25) or "none")
    print(f"lines per source, median: .cc {median(len(f.lines) for f in files if f.path.suffix == '.cc'):.0f}, "
          f".h {median(len(f.lines) for f in files if f.path.suffix == '.h'):.0f}")
    print(f"lines per function: median {median(functions):.0f}, 95 of 100 at most "
          f"{sorted(functions)[len(functions) * 95 // 100]}, longest {max(functions)}, of {len(functions)}")
    print(f"folder cycles: {len(folder_cycles)}")
    print(f"unit cycles: {len(unit_cycles)}, of more than 3 units: {sum(1 for c in unit_cycles if len(c) > 3)}, "
          f"largest: {max(map(len, unit_cycles), default=0)}")
    print(f"comments that begin with What, Who, Where, Whether or How: {questions} of {len(comments)} "
          f"({100 * questions / len(comments):.1f}%)")
    print(f"lines that only forward errors: {sum(file.error_forwarding_lines for file in files)}")
    if options.cycles:
        for cycle in folder_cycles + unit_cycles:
            print("cycle:", " ".join(cycle))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks the rules of prose that a program can check, and prints each line that breaks one.

    check_prose.py [ROOT]     of the tree at ROOT (default: the one that this file belongs to)

- No comment begins with What, Who, Where, Whether or How: a comment states something. A question is no statement, and
  passes.
- Every type that a header declares at namespace scope has a comment above it.
- Every file that a README.md lists exists: those in backticks in the first column of a table whose heading is file,
  folder or unit.

Exit status 1: something was found.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tree import ROOT, tracked

QUESTION_WORD = re.compile(r"(What|Who|Whose|Whom|Where|Whether|How)\b(?!.*\?)")
MARKS = {".cc": "//", ".h": "//", ".proto": "//", ".py": "#", ".sh": "#", ".cmake": "#", ".txt": "#"}
TYPE = re.compile(r"(?:class|struct|enum|enum class|union) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?: : .*)?\s*{")
FILE_COLUMN = re.compile(r"(files?|folders?|units?)$", re.IGNORECASE)


def question_words(root: Path) -> Iterator[str]:
    """Yields the first lines of comments that begin with a question word."""
    for name in tracked(root, *("*" + suffix for suffix in MARKS)):
        mark = MARKS[Path(name).suffix]
        continues = False
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
            code, found, text = line.partition(mark)
            text = text.strip(mark[0] + "!< ")
            is_comment = bool(found) and code.count('"') % 2 == 0 and code.count("'") % 2 == 0
            if is_comment and not (continues and not code.strip()) and QUESTION_WORD.match(text):
                yield f"{name}:{number}: a comment begins with a question word: {text}"
            # A line that continues a sentence may begin with any word.
            continues = is_comment and not text.endswith((".", ":"))


def types_without_comment(root: Path) -> Iterator[str]:
    """Yields the types at namespace scope of headers that have no comment."""
    for name in tracked(root, "*.h"):
        lines = (root / name).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            match = TYPE.match(line)
            if match is None:
                continue
            above = number - 1
            # One-line declarations that follow each other share a comment.
            while above >= 0 and (lines[above].startswith(("template", "using")) or TYPE.match(lines[above])):
                above -= 1
            if above < 0 or not lines[above].startswith("//"):
                yield f"{name}:{number + 1}: {match[1]} has no comment"


def missing_files(root: Path) -> Iterator[str]:
    """Yields the files that a README lists and that do not exist."""
    for name in tracked(root, "*README.md"):
        folder = (root / name).parent
        in_table = False
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
            first, found, _ = line.strip("| ").partition("|")
            if not found:
                in_table = False
            elif FILE_COLUMN.fullmatch(first.strip(" *")):
                in_table = True
            elif in_table:
                for file in re.findall(r"`([^`]+)`", first):
                    if not exists(folder, root, file):
                        yield f"{name}:{number}: there is no {file}"


def exists(folder: Path, root: Path, file: str) -> bool:
    """Returns whether a README in `folder` means something that exists by `file`: a path, a pattern or a name without suffix."""
    return any(any(base.glob(file.rstrip("/"))) or any(base.glob(file.rstrip("/") + ".*")) for base in (folder, root))


def main() -> int:
    """Prints the findings; returns the exit status."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    findings = [*question_words(root), *types_without_comment(root), *missing_files(root)]
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""The project's own C++ sources: their comments, functions and includes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]

_INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
_COMMENT = re.compile(r"^\s*(?:// ?(.*)|.*\S\s+// (.*))$")
_FORWARDS = re.compile(r"if \((?:absl::Status .*; )?!\w+\.ok\(\)\) return \w+(?:\.status\(\))?;$")


@dataclass(frozen=True)
class Comment:
    """Consecutive lines of comment, joined.

    Attributes
    ----------
    line : number of the first line, from 1
    text : the words without the comment marks
    """

    line: int
    text: str


@dataclass(frozen=True)
class Source:
    """A C++ file of the project; `path` is relative to the project's root."""

    path: PurePosixPath
    text: str = field(repr=False)

    @property
    def folder(self) -> str:
        return str(self.path.parent)

    @property
    def unit(self) -> str:
        """The path without suffix: foo.h and foo.cc are one unit."""
        return str(self.path.with_suffix(""))

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def includes(self) -> list[str]:
        """The included paths, as written."""
        return _INCLUDE.findall(self.text)

    @cached_property
    def comments(self) -> list[Comment]:
        """All `//` comments. Lines of comment that follow each other are one comment; a trailing comment begins its own."""
        found: list[Comment] = []
        block: list[str] = []
        begin = 0
        for number, line in enumerate(self.lines, 1):
            match = None if line.count('"') % 2 or '"//' in line else _COMMENT.match(line)
            if match is None:
                if block:
                    found.append(Comment(begin, " ".join(block)))
                block = []
            elif match[1] is None:
                if block:
                    found.append(Comment(begin, " ".join(block)))
                block, begin = [match[2]], number
            else:
                if not block:
                    begin = number
                block.append(match[1].strip())
        if block:
            found.append(Comment(begin, " ".join(block)))
        return found

    @cached_property
    def function_lengths(self) -> list[int]:
        """The lines of the body of each function that is defined at the left margin."""
        lengths: list[int] = []
        begin: int | None = None
        for number, line in enumerate(self.lines):
            if begin is None:
                is_definition = line.endswith("{") and not re.match(r"\s|namespace|extern|}|enum|class|struct|union", line)
                # A declarator may be broken over lines: its end is indented by four.
                is_broken = line.endswith(") {") or line.endswith(") const {")
                if (is_definition and "(" in line) or (is_broken and line.startswith("    ")):
                    begin = number
                elif re.match(r"\w.*\) (const |override )?{.*}$", line):
                    lengths.append(1)
            elif line == "}":
                lengths.append(number - begin - 1)
                begin = None
        return lengths

    @property
    def error_forwarding_lines(self) -> int:
        """Lines that hand an error to the caller with an `if` of their own."""
        return sum(1 for line in self.lines if _FORWARDS.match(line.strip()))


def tracked(root: Path, *patterns: str) -> list[str]:
    """Returns the paths of the files that git tracks or would add, or of those that match a pattern, sorted."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted({name for name in listed.split("\0") if name and (root / name).is_file()})


def sources(*folders: str, root: Path = ROOT) -> Iterator[Source]:
    """Yields the C++ sources below the folders, or all of them, in the order of their paths."""
    for name in tracked(root, *folders):
        if name.endswith((".h", ".cc")):
            yield Source(PurePosixPath(name), (root / name).read_text(encoding="utf-8"))


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Returns the strongly connected components of more than one node, largest first (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[list[str]] = []

    def visit(root: str) -> None:
        work = [(root, iter(sorted(edges.get(root, ()))))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(edges.get(target, ())))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[str] = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == node:
                            break
                    if len(component) > 1:
                        found.append(sorted(component))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found, key=len, reverse=True)

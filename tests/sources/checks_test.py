#!/usr/bin/env python3
"""Tests that the checks of this folder find what they are for, and nothing in a tree that is in order."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


class Tree(unittest.TestCase):
    """A tree of files in a temporary folder that git knows."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        subprocess.run(["git", "init", "--quiet", self.root], check=True)

    def write(self, path: str, text: str) -> None:
        """Writes a file of the tree."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def run_check(self, name: str) -> str:
        """Runs a check over the tree; returns its output. Its exit status must tell whether it printed something."""
        done = subprocess.run([sys.executable, FOLDER / name, self.root], check=False, capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 1 if done.stdout.strip() else 0, done.stdout)
        return done.stdout.strip()


class Layers(Tree):
    """check_layers.py."""

    def refuses(self, path: str, header: str) -> None:
        """Expects that a source may not include a header, and that the message names the source."""
        with self.subTest(path=path, header=header):
            self.write(path, f"#include {header}\n")
            self.assertIn(path, self.run_check("check_layers.py"))
            (self.root / path).unlink()

    def allows(self, path: str, header: str) -> None:
        """Expects that a source may include a header."""
        with self.subTest(path=path, header=header):
            self.write(path, f"#include {header}\n")
            self.assertEqual(self.run_check("check_layers.py"), "")
            (self.root / path).unlink()

    def test_an_empty_tree_passes(self) -> None:
        self.assertEqual(self.run_check("check_layers.py"), "")

    def test_data_flows_one_way(self) -> None:
        self.allows("worker/runtime/a.cc", '"worker/device/device.h"')
        self.refuses("proto/record/a.h", '"worker/device/device.h"')
        self.refuses("client/a.cc", '"server/storage/store.h"')
        self.refuses("server/collector/a.cc", '"client/producer.h"')
        self.refuses("server/export/a.cc", '"server/copy/copy_dataset.h"')
        self.refuses("worker/ir/a.cc", '"worker/codegen/emit/generate.h"')
        self.refuses("worker/tune/recording/a.cc", '"worker/runtime/kernel.h"')

    def test_a_folder_without_an_entry_is_refused(self) -> None:
        self.refuses("server/new_room/a.cc", "<vector>")

    def test_a_sub_folder_without_an_entry_belongs_to_its_parent(self) -> None:
        self.allows("proto/log/deeper/a.cc", '"proto/record/utf8.h"')
        self.refuses("proto/log/deeper/a.cc", '"client/producer.h"')

    def test_namespaces_follow_folders(self) -> None:
        for path, namespace in (("worker/tune/search/a.cc", "telemetry::worker::tune::search"),
                                ("server/export/files/a.h", "telemetry::exporter::files"), ("proto/base/a.h", "telemetry")):
            with self.subTest(path=path):
                self.write(path, f"namespace {namespace} {{\n}}  // namespace {namespace}\n")
                self.assertEqual(self.run_check("check_layers.py"), "")
                self.write(path, f"namespace {namespace}x {{\n}}  // namespace {namespace}x\n")
                self.assertIn(f"{path}: is in {namespace}x, not in {namespace}", self.run_check("check_layers.py"))
                (self.root / path).unlink()

    def test_libraries_have_their_rooms(self) -> None:
        self.refuses("worker/runtime/a.cc", "<sqlite3.h>")
        self.refuses("tests/a.cc", "<libpq-fe.h>")
        self.allows("server/storage/postgresql/a.cc", "<libpq-fe.h>")
        self.refuses("proto/record/a.cc", "<grpcpp/server.h>")
        for header in ("<cuda.h>", "<nvrtc.h>", "<CL/cl.h>", "<dlfcn.h>", '"worker/device/cuda_api.h"'):
            self.refuses("worker/runtime/a.h", header)
            self.allows("worker/device/a.cc", header)


class Prose(Tree):
    """check_prose.py."""

    def finds(self, path: str, text: str, finding: str) -> None:
        """Expects a finding in a file with this text."""
        with self.subTest(text=text):
            self.write(path, text)
            self.assertIn(finding, self.run_check("check_prose.py"))
            (self.root / path).unlink()

    def passes(self, path: str, text: str) -> None:
        """Expects no finding in a file with this text."""
        with self.subTest(text=text):
            self.write(path, text)
            self.assertEqual(self.run_check("check_prose.py"), "")
            (self.root / path).unlink()

    def test_comments_state_something(self) -> None:
        self.finds("a.cc", "// What it needs.\nint a;\n", "a.cc:1")
        self.finds("a.cc", "int a;  // Where it is\n", "a.cc:1")
        self.finds("a.py", "# How it works.\n", "a.py:1")
        self.passes("a.cc", "// Returns the caller, who\n// What it is called does not matter.\n")
        self.passes("a.cc", "// What is left to do?\n")
        self.passes("a.cc", 'auto text = "// What";\n')

    def test_types_of_headers_have_comments(self) -> None:
        self.finds("a.h", "struct Row {\n};\n", "Row has no comment")
        self.finds("a.h", "template <typename T>\nclass Row final : public Base {\n};\n", "Row has no comment")
        self.passes("a.h", "// A row.\ntemplate <typename T>\nclass Row {\n};\n")
        self.passes("a.h", "class Row;\n")
        self.passes("a.cc", "struct Row {\n};\n")

    def test_listed_files_exist(self) -> None:
        self.finds("a/README.md", "| file | purpose |\n|---|---|\n| `gone` | none |\n", "there is no gone")
        self.write("a/here.cc", "")
        self.passes("a/README.md", "| file | purpose |\n|---|---|\n| `here` | none |\n")
        self.passes("a/README.md", "| metric | meaning |\n|---|---|\n| `gone` | none |\n")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Compares two builds of the programs in everything that users and their scripts depend on.

    compare_programs.py OLD_BIN NEW_BIN     two folders with telemetry-collector, telemetry-worker and telemetry-export

Compares
- the flags of each command, with type, default and environment variable;
- the names and the types of the metrics;
- the schema of a new dataset and the version of the schema;
- the bytes of the exports of each sample in tests/testdata: in the sample's own layout, and as joined tables with details.

Prints each difference. Exit status 1: there is one.
"""

import hashlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request

import pipeline

COMMANDS = {
    "telemetry-collector": (
        "serve check backup restore migrate prune delete copy stats validate".split()
        + ["token add", "token list", "token revoke", "tls init"]
    ),
    "telemetry-worker": "forward tune run best compare kernels devices show-code repro".split(),
    "telemetry-export": [""],
}
FLAG = re.compile(r"^  (?:-\w,)?(--[a-z0-9-]+)([^(\n]*)\(Env:(\w+)\)", re.MULTILINE)


def flags():
    """Yields each flag of each command as the help describes it: name, type, default and environment variable."""
    for program, commands in COMMANDS.items():
        for command in commands:
            for option in ("--help-all", "--help"):
                text = pipeline.run(program, *command.split(), option, accept=(0, 2))
                for name, value, variable in FLAG.findall(text):
                    yield f"flag {program} {command} {name}{value.rstrip()} {variable}", True


def metrics_and_schema(folder):
    """Yields the metrics of a collector on a new dataset, and the statements that make the dataset's tables."""
    port = pipeline.free_ports(1)
    empty = pipeline.Pipeline(folder / "empty", serve_flags=[f"--metrics-listen=127.0.0.1:{port}"])
    with empty.serving(), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith("# TYPE "):
                yield "metric " + line.removeprefix("# TYPE "), True
    dataset = sqlite3.connect(empty.database)
    yield "schema version", dataset.execute("PRAGMA user_version").fetchone()[0]
    yield from (
        (f"schema {kind} {name}", text) for kind, name, text in dataset.execute("SELECT type, name, sql FROM sqlite_master")
    )
    dataset.close()


def exports(folder):
    """Yields the digest of each file that is exported of each sample."""
    for sample in pipeline.SAMPLES:
        line = pipeline.Pipeline(folder / sample.name)
        with line.serving():
            line.forward(sample.path(), flags=sample.flags)
        for layout, more in ((sample.layout, ()), ("keyed", ("--details",))):
            for suffix, content in line.export(layout, *more).items():
                yield f"export {sample.name} {layout} {suffix}", hashlib.sha256(content).hexdigest()


def facts_of_this_build():
    """Returns everything that is compared, by a name for people."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        return dict([*flags(), *metrics_and_schema(folder), *exports(folder)])


def facts_of(bin_folder):
    """Returns the facts of the programs in a folder; pipeline.py takes the folder from the environment."""
    environment = os.environ | {"TELEMETRY_BIN_DIR": str(pathlib.Path(bin_folder).resolve())}
    environment.pop("TELEMETRY_TEST_POSTGRESQL", None)
    done = subprocess.run([sys.executable, __file__], env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main():
    """Prints the differences; returns the exit status."""
    old, new = map(facts_of, sys.argv[1:])
    differences = [name for name in sorted(old | new) if old.get(name) != new.get(name)]
    for name in differences:
        print(f"{name}\n  old: {old.get(name)}\n  new: {new.get(name)}")
    kinds = ", ".join(f"{sum(name.startswith(kind) for name in new)} {kind}s" for kind in ("flag", "metric", "schema", "export"))
    print(f"compared {kinds}: {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.exit(main())
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    json.dump(facts_of_this_build(), sys.stdout)

"""Runs the Python examples of client/python/README.md, in their order, against a collector."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from conftest import BIN, PACKAGE, TIMEOUT_S, Jobs
from pipeline import Pipeline

README = (PACKAGE / "README.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_the_examples_run(delivered_jobs: Jobs, pipeline: Pipeline) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    jobs = delivered_jobs
    printed = []
    with pipeline.serving():
        jobs.collector = pipeline.address
        for example in EXAMPLES:
            program = example.replace("collector:4747", pipeline.address)
            program += "\nprint(*[name for name in ('left', 'fastest', 'X') if name in globals()])\n"
            environment = jobs.environment(AUTOTUNE_TELEMETRY_EXPORT=str(BIN / "telemetry-export"))
            done = subprocess.run(
                [sys.executable, "-c", program],
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                cwd=jobs.folder,
            )
            assert done.returncode == 0, done.stderr
            printed.append(done.stdout.split())
    assert printed == [[], ["left"], ["fastest", "X"]]
    assert {path.stem for path in (jobs.folder / "softmax").iterdir()} == {"rows", "runs", "configs", "attempts", "details"}
    assert len(pipeline.export("keyed")[".csv"].splitlines()) == 3


def test_the_variables_are_those_of_the_package() -> None:
    documented = set(re.findall(r"AUTOTUNE_TELEMETRY_([A-Z_]+)", README))
    sources = "".join(path.read_text() for path in (PACKAGE / "autotune_telemetry").rglob("*.py"))
    used = set(re.findall(r'(?:from_environment\(|AUTOTUNE_TELEMETRY_|PREFIX \+ )"?([A-Z_]{4,})', sources)) - {"SESSION"}
    assert documented == used

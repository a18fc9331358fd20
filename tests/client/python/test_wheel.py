"""Tests the wheel of deploy/wheel in an empty virtual environment: what it contains, and that it delivers and loads."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

from conftest import BIN, ROOT, TIMEOUT_S
from pipeline import Pipeline

MOST_BYTES = 30_000_000
RECORD = """
import sys, autotune_telemetry as at
at.start(collector=sys.argv[1], state_dir=sys.argv[2], exit_timeout_s=0)
with at.attempt(kernel="k", inputs=[((4, 5), "float32")]) as attempt:
    attempt.record({"a": 1}, ms=0.25)
print(at.flush(30), at.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The wheel, of the programs as they are."""
    if BIN.resolve() != (ROOT / "build/release/bin").resolve():
        pytest.skip("deploy/wheel packages the programs of build/release")
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run([ROOT / "deploy/wheel", "--no-build", folder], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The interpreter of an empty environment into which the wheel is installed."""
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", venv], check=True, timeout=TIMEOUT_S)
    command = [venv / "bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run(command, check=True, timeout=TIMEOUT_S)
    return venv / "bin/python"


def test_it_is_a_small_wheel_for_every_python(wheel: pathlib.Path) -> None:
    assert wheel.stat().st_size < MOST_BYTES
    assert "-py3-none-manylinux_2_" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "py.typed",
        "bin/telemetry-worker",
        "bin/telemetry-export",
        "lib/libtelemetry-kernels.so",
        "_children/sitecustomize.py",
    ):
        assert f"autotune_telemetry/{name}" in names
    assert not [name for name in names if name.rpartition("/")[2].startswith(("libc.so", "libm.so", "libstdc++", "ld-linux"))]


def test_its_programs_use_its_libraries(python: pathlib.Path) -> None:
    (programs,) = python.parent.parent.glob("lib/*/site-packages/autotune_telemetry/bin")
    run_time = ("linux-vdso", "/lib64/ld-linux", "libc.so", "libm.so", "libgcc_s", "libstdc++", "libresolv", "libdl", "librt",
                "libpthread")  # fmt: skip
    for program in programs.iterdir():
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()
        for line in listed:
            assert line.strip().startswith(run_time) or str(programs.parent / "lib") in os.path.normpath(
                line.split("=> ")[-1].split(" ")[0]
            ), line


def test_it_delivers_from_an_empty_environment(python: pathlib.Path, pipeline: Pipeline, tmp_path: pathlib.Path) -> None:
    state = tmp_path / "state"
    with pipeline.serving():
        done = subprocess.run(
            [python, "-I", "-c", RECORD, pipeline.address, state],
            env={"AUTOTUNE_TELEMETRY_FORWARDER_IDLE": "0.2"},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == 0, done.stderr
        left, package = done.stdout.split()
        assert left == "0", (state / "forwarder.log").read_text()
        assert str(python.parent.parent) in package
        assert len(pipeline.export("helion")[".csv"].splitlines()) == 2

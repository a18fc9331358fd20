"""Calls kernels on NumPy's arrays, on the first OpenCL device. gpu_kernels.py does the same with torch on a GPU."""

from __future__ import annotations

import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from conftest import BIN, PACKAGE, TIMEOUT_S

np = pytest.importorskip("numpy")
LIBRARY = BIN.parent / "lib/libtelemetry-kernels.so"
os.environ["AUTOTUNE_TELEMETRY_KERNELS"] = str(LIBRARY)

from autotune_telemetry import kernels  # noqa: E402
from autotune_telemetry.kernels import Kernel  # noqa: E402


def _random(*sizes: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(7).standard_normal(sizes).astype(dtype)


def _softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def softmax() -> Kernel:
    return Kernel("softmax", "opencl:0")


def test_it_computes_in_the_arrays_of_the_program(softmax: Kernel) -> None:
    x = _random(200, 333)
    out = np.full_like(x, -1)
    softmax(x, out=[out])
    np.testing.assert_allclose(out, _softmax(x), rtol=1e-5)
    x[:] = 0  # the next call sees what the program wrote
    softmax(x, out=[out])
    np.testing.assert_allclose(out, 1 / 333, rtol=1e-5)


def test_inputs_may_have_strides(softmax: Kernel) -> None:
    whole = _random(70, 40)
    for x in (whole.T, whole[4::2, 8:36:4], np.broadcast_to(whole[:1], (5, 40)).copy(order="F")):
        out = np.empty(x.shape, "float32")
        softmax(x, out=[out])
        np.testing.assert_allclose(out, _softmax(x), rtol=1e-5)


def test_several_outputs_and_numbers() -> None:
    layer_norm = Kernel("layer_norm", "opencl:0")
    assert layer_norm.tensors == ("x", "weight", "bias")
    assert layer_norm.numbers == {"eps": 1e-5}
    x, weight, bias = _random(33, 128), _random(128), _random(128)
    for eps in (1e-5, 0.5):
        out, mean, rstd = np.empty_like(x), np.empty(33, "float32"), np.empty(33, "float32")
        layer_norm(x, weight, bias, out=[out, mean, rstd], **({} if eps == 1e-5 else {"eps": eps}))
        np.testing.assert_allclose(mean, x.mean(axis=1), atol=1e-6)
        np.testing.assert_allclose(rstd, 1 / np.sqrt(x.var(axis=1) + eps), rtol=1e-5)
        expected = (x - mean[:, None]) * rstd[:, None] * weight + bias
        np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_a_config_and_half_precision() -> None:
    config = "Config(block_sizes=[32, 32, 16], num_warps=2)"
    x, y = _random(96, 80, dtype="float16"), _random(80, 64, dtype="float16")
    out = np.empty((96, 64), "float16")
    Kernel("matmul", "opencl:0", config)(x, y, out=[out])
    np.testing.assert_allclose(out, x.astype("float32") @ y.astype("float32"), rtol=2e-3, atol=2e-2)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x, out: ((x[:, ::-1],), [out]), "a negative stride; pass a copy of the tensor"),
        (lambda x, out: ((x,), [out.T]), "dense and row-major, with sizes [16, 16] on opencl:0"),
        (lambda x, out: ((x,), [x]), "shares memory with the input"),
        (
            lambda x, out: ((x[:, 1:],), [out]),
            "argument 'x': Tensor(f32, [16, 15], strides [16, 1], cpu): the address is 4 bytes",
        ),
        (lambda x, out: ((x.astype("float64"),), [out]), "argument 'x': elements of DLPack's type (code 2, 64 bits"),
        (lambda x, out: ((x, x), [out]), "kernel 'softmax' takes 1 tensors, but 2 are given"),
        (lambda x, out: ((x[0],), [out]), "the argument has 2 dimensions: m, n"),
        (lambda x, out: ((x.astype("int32"),), [out]), "the dtype has to be f32 or f16 or bf16"),
        (lambda x, out: ((x,), []), "has 1 output, but 0 are given"),
        (lambda x, out: ((x,), [out.astype("float64")]), "kernel 'softmax', output 0: elements of"),
    ],
)
def test_errors_say_which_tensor_and_why(
    softmax: Kernel, call: Callable[[Any, Any], tuple[tuple[Any, ...], list[Any]]], message: str
) -> None:
    inputs, outputs = call(_random(16, 16), np.empty((16, 16), "float32"))
    with pytest.raises(RuntimeError) as error:
        softmax(*inputs, out=outputs)
    assert message in str(error.value)


def test_unknown_names_are_errors(softmax: Kernel, tmp_path: pathlib.Path) -> None:
    with pytest.raises(RuntimeError, match="softmaxx"):
        Kernel("softmaxx", "opencl:0")
    with pytest.raises(RuntimeError, match="opencl:77"):
        Kernel("softmax", "opencl:77")
    with pytest.raises(RuntimeError):
        Kernel("softmax", "opencl:0", "Config(")
    with pytest.raises(OSError, match="no_such"):
        Kernel("softmax", "opencl:0", library=str(tmp_path / "no_such.so"))
    x = _random(4, 4)
    with pytest.raises(TypeError, match="no number 'eps'"):
        softmax(x, out=[np.empty_like(x)], eps=1)
    y = _random(8, 8)
    with pytest.raises(RuntimeError, match="k is 4 in argument 'x', not 8"):
        Kernel("matmul", "opencl:0")(x, y, out=[np.empty((4, 8), "float32")])


def test_allocated_outputs_belong_to_the_library_that_takes_them(softmax: Kernel) -> None:
    x = _random(64, 48)
    (output,) = softmax.allocate(x)
    assert output.__dlpack_device__() == (1, 0)
    out = np.from_dlpack(output)
    with pytest.raises(BufferError):
        output.__dlpack__()
    del output
    gc.collect()
    # NumPy imports read-only arrays; the kernel writes to the memory through another view of it.
    memory = (ctypes.c_float * out.size).from_address(out.__array_interface__["data"][0])
    writable = np.frombuffer(memory, "float32").reshape(out.shape)
    softmax(x, out=[writable])
    np.testing.assert_allclose(out, _softmax(x), rtol=1e-5)


MEMORY = """
import gc, resource, sys
import numpy as np
from autotune_telemetry.kernels import Kernel

softmax = Kernel("softmax", "opencl:0")
x = np.ones((1024, 1024), "float32")
out = np.empty_like(x)
def use(count):
    for i in range(count):
        softmax.allocate(x)  # not taken over
        softmax.allocate(x)[0].__dlpack__()  # a capsule that nobody uses
        np.from_dlpack(softmax.allocate(x)[0]).sum()
        softmax(x, out=[out])
use(3)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
use(40)
gc.collect()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_is_released() -> None:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run([sys.executable, "-c", MEMORY], env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 60_000, "KiB; each allocation that is not released has 4 MiB, 120 of them 480 MiB"


def test_threads_may_share_a_kernel(softmax: Kernel) -> None:
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        x = _random(64, 32 + 16 * (number % 3))
        out = np.empty_like(x)
        for _ in range(10):
            softmax(x, out=[out])
        results[number] = float(np.abs(out - _softmax(x)).max())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT_S)
    assert len(results) == 4 and max(results.values()) < 1e-5


def test_the_header_and_the_module_have_one_version() -> None:
    header = (PACKAGE.parents[1] / "worker/embed/telemetry_kernels.h").read_text()
    assert f"#define TELEMETRY_KERNELS_VERSION {kernels.VERSION}\n" in header


def test_only_the_interface_is_exported() -> None:
    done = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in done.stdout.splitlines()}
    assert names and all(name.startswith("telemetry_kernel") for name in names), names

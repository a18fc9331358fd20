"""Checks that numpy opens the tensors that the worker saves, and that the statistics that the worker prints are those
that numpy computes.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on the CPU's OpenCL device, or on
TELEMETRY_TEST_DEVICE.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from packages import need

need("numpy")

import numpy
from pipeline import BIN, TIMEOUT_S

DEVICE = os.environ.get("TELEMETRY_TEST_DEVICE", "opencl:0")

# Mean and deviation may differ by this fraction of the largest element, because nine digits are printed. All other
# values are exact.
TOLERANCE = 1e-8

LINE = re.compile(r"\[(?P<when>\w+) - (?P<kernel>\w+) - (?P<name>\w+)\] (?:\(output\) )?(?P<rest>elements=.*)")
FIELD = re.compile(r"(\w+)=(\[[^]]*\]|\S+)")

DTYPES = {"f32": "float32", "f16": "float16", "bf16": "float32", "bool": "bool"}
DTYPES |= {f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}

# The same sizes and strides as in debug_values_probe.cc, in elements.
LAYOUTS = {
    "dense": ((37, 129), (129, 1)),
    "transposed": ((129, 37), (1, 129)),
    "gaps": ((50, 40), (64, 1)),
    "apart": ((3, 2), (5000, 300)),
    "repeated": ((3, 70), (0, 1)),
    "rank6": ((2, 3, 4, 5, 6, 7), (2520, 840, 1, 4, 20, 120)),
    "scalar": ((), ()),
    "one": ((1,), (1,)),
    "empty": ((4, 0, 3), (3, 3, 1)),
    "large": ((1 << 20,), (1,)),
}


def to_bf16(values):
    """Rounds f32 values to the nearest bf16, ties to even."""
    bits = values.astype(numpy.float32).view(numpy.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(numpy.uint32)
    return numpy.where(numpy.isnan(values), numpy.float32("nan"), rounded.view(numpy.float32))


def memory(dtype, elements):
    """Returns the elements that the probe writes to memory."""
    place = numpy.arange(elements, dtype=numpy.int64)
    if dtype == "bool":
        return place % 3 == 0
    if dtype[0] in "iu":
        bits = min(int(dtype[1:]), 48)  # not more than doubles hold exactly
        lowest = -(2 ** (bits - 1)) if dtype[0] == "i" else 0
        return (place * 1000003 % 2**bits + lowest).astype(DTYPES[dtype])
    values = (place * 7919 % 1000 - 500) / 8
    infinite = numpy.where(numpy.signbit(values), -numpy.inf, numpy.inf)
    values = numpy.where(place % 89 == 5, infinite, values)
    values = numpy.where(place % 97 == 13, numpy.nan, values)
    return to_bf16(values) if dtype == "bf16" else values.astype(DTYPES[dtype])


def expected_tensor(dtype, sizes, strides):
    span = 0 if 0 in sizes else 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    values = memory(dtype, span)
    strides_bytes = [stride * values.itemsize for stride in strides]
    return numpy.lib.stride_tricks.as_strided(values, sizes, strides_bytes) if span else numpy.empty(sizes, values.dtype)


def fields(rest):
    return dict(FIELD.findall(rest))


def numbers(text):
    return [float({"true": "1", "false": "0"}.get(number, number)) for number in text.strip("[]").split(", ") if number]


class Statistics(unittest.TestCase):
    def assert_statistics(self, printed, array):
        """Checks that the printed statistics of a tensor are those that numpy computes."""
        values = array.astype(numpy.float64)
        finite = values[numpy.isfinite(values)]
        self.assertEqual(int(printed["elements"]), array.size)
        self.assertEqual(numbers(printed["sizes"]), list(array.shape))
        self.assertEqual(int(printed["nan"]), numpy.isnan(values).sum())
        self.assertEqual(int(printed["inf"]), numpy.isinf(values).sum())
        if finite.size == 0:
            self.assertEqual({printed[name] for name in ("mean", "min", "max", "std")}, {"none"})
        else:
            scale = max(numpy.abs(finite).max(), 1e-30)
            self.assertAlmostEqual(float(printed["min"]), finite.min(), delta=TOLERANCE * scale)
            self.assertAlmostEqual(float(printed["max"]), finite.max(), delta=TOLERANCE * scale)
            self.assertAlmostEqual(float(printed["mean"]), finite.mean(), delta=TOLERANCE * scale)
            self.assertAlmostEqual(float(printed["std"]), finite.std(), delta=TOLERANCE * scale)
        self.assertEqual("values" in printed, array.size <= 64)
        if "values" in printed:
            numpy.testing.assert_allclose(numbers(printed["values"]), values.ravel(), rtol=TOLERANCE)


class OfTensors(Statistics):
    def check(self, device):
        with tempfile.TemporaryDirectory(prefix="debug_values.") as folder:
            done = subprocess.run(
                [BIN / "debug-values-probe", device, folder], capture_output=True, text=True, timeout=TIMEOUT_S, check=True
            )
            lines = {match["name"]: match for match in map(LINE.fullmatch, done.stdout.splitlines()) if match}
            self.assertEqual(len(os.listdir(folder)), len(DTYPES) * len(LAYOUTS))
            for dtype, numpy_dtype in DTYPES.items():
                for layout, (sizes, strides) in LAYOUTS.items():
                    name = f"{dtype}_{layout}"
                    with self.subTest(name, device=device):
                        expected = expected_tensor(dtype, sizes, strides)
                        saved = numpy.load(f"{folder}/before_launch_probe_{name}.npy")
                        self.assertEqual((saved.dtype, saved.shape), (numpy.dtype(numpy_dtype), sizes))
                        numpy.testing.assert_array_equal(saved, expected)
                        printed = fields(lines[name]["rest"])
                        self.assertEqual(printed["dtype"], dtype)
                        self.assertEqual(numbers(printed["strides"]), list(strides))
                        self.assert_statistics(printed, expected)

    def test_of_the_device(self):
        self.check(DEVICE)

    def test_of_the_host(self):
        self.check("cpu")


class OfTune(Statistics):
    """Runs the same search twice: the first saves its tensors, the second prints them."""

    def tune(self, folder, *flags, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TELEMETRY_WORKER_")}
        done = subprocess.run(
            [
                *(BIN / "telemetry-worker", "tune", "softmax", "--arg=x=16x70:f16", f"--device={DEVICE}", "--collector="),
                *(f"--state-dir={folder}/state", f"--log={folder}/log", "--max-configs=1", *flags),
            ],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env=environment | variables,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_what_is_saved_is_what_is_printed(self):
        with tempfile.TemporaryDirectory(prefix="debug_values.") as folder:
            saved = f"{folder}/made/saved"
            self.tune(folder, "--debug-values=1", f"--debug-dir={saved}")
            printed = self.tune(folder, "--debug-kernels=SOFTMAX,exp", TELEMETRY_WORKER_DEBUG_VALUES="2")
            lines = [match for match in map(LINE.fullmatch, printed.splitlines()) if match]
            self.assertEqual(lines[0]["when"], "program_inputs")
            # The launches of one process each: for the first data set, the second, and so on.
            for when in ("before_launch", "after_launch"):
                for name in ("x", "out"):
                    of_tensor = [match for match in lines if (match["when"], match["name"]) == (when, name)]
                    self.assertEqual(len(of_tensor), len(list(pathlib.Path(saved).glob(f"{when}_softmax_{name}*.npy"))))
                    for number, match in enumerate(of_tensor, 1):
                        suffix = "" if number == 1 else f".{number}"
                        array = numpy.load(f"{saved}/{when}_softmax_{name}{suffix}.npy")
                        self.assert_statistics(fields(match["rest"]), array)
            x = numpy.load(f"{saved}/after_launch_softmax_x.npy").astype(numpy.float64)
            out = numpy.load(f"{saved}/after_launch_softmax_out.npy")
            e = numpy.exp(x - x.max(axis=1, keepdims=True))
            numpy.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=2e-3, atol=1e-6)

    def test_other_kernels_are_not_looked_at(self):
        with tempfile.TemporaryDirectory(prefix="debug_values.") as folder:
            printed = self.tune(folder, "--debug-values=2", "--debug-kernels=exp")
            self.assertNotIn("_launch", printed)
            self.assertNotIn("program_inputs", printed)

    def test_names_only(self):
        with tempfile.TemporaryDirectory(prefix="debug_values.") as folder:
            printed = self.tune(folder, "--debug-values=3", "--debug-kernels=exp")
            self.assertIn("[before_launch - softmax]\n[after_launch - softmax]\n", printed)
            self.assertNotIn("elements", printed)


if __name__ == "__main__":
    unittest.main()

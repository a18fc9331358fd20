"""The kernels of tests/worker/spec/kernels: tuned from their specifications, exported as T4, read by Kernel Tuner.

The tests tune OpenCL kernels on the CPU, three of them against results that numpy computes from their formulas. By hand,
on a machine with a GPU, `spec_kernels_test.py --gpu` tunes all CUDA kernels at the sizes of their specifications, and
prints a table.
"""

import contextlib
import json
import pathlib
import sqlite3
import sys
import tempfile
import time
import unittest

from packages import need

need("jsonschema", "kernel_tuner", "numpy")

import jsonschema
import numpy
from kernel_tuner import util
from kernel_tuner.file_utils import output_file_schema

from pipeline import ROOT, Pipeline, run

KERNELS = ROOT / "tests/worker/spec/kernels"
CONFIGS = 6


def tuned(folder, specification, device, *flags, accept=(0,), limit_s=240):
    """Tunes a kernel with a collector of its own; returns the pipeline. `accept`: see run()."""
    pipeline = Pipeline(folder / "pipeline")
    with pipeline.serving():
        run(
            "telemetry-worker",
            "tune",
            f"--spec={specification}",
            f"--device={device}",
            f"--collector={pipeline.address}",
            f"--state-dir={folder / 'state'}",
            *flags,
            accept=accept,
            limit_s=limit_s,
        )
    return pipeline


def results_of(pipeline):
    """Returns the results of the T4 export, which must be valid."""
    files = pipeline.export("t4")
    results = json.loads(files[".t4.json"])
    jsonschema.validate(results, output_file_schema("results")[1])
    jsonschema.validate(json.loads(files[".t4-metadata.json"]), output_file_schema("metadata")[1])
    return results["results"]


def cache_of(pipeline, path):
    """Returns the run as Kernel Tuner reads it from the export of a cache file."""
    path.write_bytes(pipeline.export("kernel-tuner-cache")[".cache.json"])
    return util.read_cache(path, open_cache=False)


def time_ms(result):
    return min((m["value"] for m in result["measurements"] if m["name"] == "time"), default=None)


class SpecKernels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spec_kernels_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, kernel):
        specification = KERNELS / f"{kernel}.opencl.json"
        pipeline = tuned(self.folder, specification, "opencl:0", f"--max-configs={CONFIGS}", "--compilers=1")
        results = results_of(pipeline)
        self.assert_correct([result["invalidity"] for result in results])
        parameters = json.loads(specification.read_text())["ConfigurationSpace"]["TuningParameters"]
        cache = cache_of(pipeline, self.folder / "cache.json")
        self.assertEqual(cache["kernel_name"], kernel)
        self.assertEqual(cache["tune_params_keys"], [parameter["Name"] for parameter in parameters])
        self.assertEqual(len(cache["cache"]), CONFIGS)
        best = min(entry["time"] for entry in cache["cache"].values() if isinstance(entry["time"], float))
        self.assertGreater(best, 0)
        self.assertIn(best, [time_ms(result) for result in results])

    def outcomes_with(self, kernel, inputs, expected, configs=CONFIGS, accept=(0,)):
        """Tunes a kernel with these arrays by argument, and compares its results with `expected` (name, array).

        Returns the outcome of each config.
        """
        specification = json.loads((KERNELS / f"{kernel}.opencl.json").read_text())
        described = specification["KernelSpecification"]
        described["KernelFile"] = str(KERNELS / described["KernelFile"])
        result, values = expected
        for name, array in (*inputs.items(), (f"expected_{result}", values)):
            numpy.save(self.folder / f"{name}.npy", array)
        for argument in described["Arguments"]:
            if argument["Name"] in inputs:
                argument |= {"FillType": "Npy", "DataSource": f"{argument['Name']}.npy"}
        tolerance = described.pop("Verification")["AbsoluteTolerance"]
        described["ReferenceArguments"] = [
            {
                "TargetName": result,
                "FillType": "Npy",
                "DataSource": f"expected_{result}.npy",
                "ValidationMethod": "SideBySideComparison",
                "ValidationThreshold": tolerance,
            }
        ]
        path = self.folder / "with_numpy.json"
        path.write_text(json.dumps(specification))
        flags = (f"--max-configs={configs}", "--compilers=1")
        pipeline = tuned(self.folder, path, "opencl:0", *flags, accept=accept)
        return [entry["invalidity"] for entry in results_of(pipeline)]

    def assert_correct(self, outcomes):
        # A slow or busy machine may end a config for its time.
        self.assertLessEqual(set(outcomes), {"correct", "timeout"})
        self.assertGreater(outcomes.count("correct"), CONFIGS / 2)

    def test_convolution_has_the_results_of_its_formula(self):
        width, height, size = 150, 70, 17
        random = numpy.random.default_rng(1)
        image = random.standard_normal((height + size - 1, width + size - 1), dtype=numpy.float32)
        weights = random.standard_normal((size, size), dtype=numpy.float32)
        windows = numpy.lib.stride_tricks.sliding_window_view(image.astype(float), weights.shape)
        out = (windows * weights).sum(axis=(2, 3)).astype(numpy.float32)
        self.assert_correct(self.outcomes_with("convolution", {"in": image, "filter": weights}, ("out", out)))

    def test_distance_of_clouds_has_the_results_of_its_formula(self):
        random = numpy.random.default_rng(2)
        a, b = random.standard_normal((300, 2)), random.standard_normal((200, 2))
        sigma_a, sigma_b = 0.1 + random.random(300), 0.1 + random.random(200)
        squares = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
        sums = numpy.exp(-squares / (2 * (sigma_a[:, None] ** 2 + sigma_b[None, :] ** 2))).sum(axis=1)
        inputs = {"a": a, "sigma_a": sigma_a, "b": b, "sigma_b": sigma_b}
        self.assert_correct(self.outcomes_with("expdist", inputs, ("sums", sums)))

    def test_total_distance_has_the_results_of_its_formula(self):
        sums = numpy.random.default_rng(3).random(5000)
        total = numpy.array([sums.sum()])
        self.assert_correct(self.outcomes_with("expdist_total", {"sums": sums}, ("total", total)))

    def test_other_results_than_those_of_the_formula_are_wrong(self):
        sums = numpy.random.default_rng(3).random(5000)
        total = numpy.array([sums.sum() + 0.001])
        outcomes = self.outcomes_with("expdist_total", {"sums": sums}, ("total", total), configs=2, accept=(1,))
        self.assertEqual(set(outcomes), {"correctness"})

    def test_matrix_product(self):
        self.check("gemm")

    def test_stencil(self):
        self.check("hotspot")

    def test_points_in_a_polygon(self):
        self.check("pnpoly")

    def test_the_attempt_says_how_it_was_measured(self):
        effort = ("--max-configs=2", "--compilers=1", "--samples=3", "--warm-caches")
        pipeline = tuned(self.folder, KERNELS / "pnpoly.opencl.json", "opencl:0", *effort)
        with contextlib.closing(sqlite3.connect(pipeline.database)) as database:
            ((environment,),) = database.execute("SELECT environment_json FROM attempts")
        self.assertEqual(json.loads(environment)["samples"], 3)
        self.assertEqual(json.loads(environment)["caches"], "warm")


def tune_on_gpu(names):
    """Tunes the CUDA kernels on cuda:0 and prints a table."""
    print("kernel         configs  wrong  best ms      of default  minutes  read by Kernel Tuner")
    for specification in sorted(KERNELS.glob("*.cuda.json")):
        name = specification.name.removesuffix(".cuda.json")
        if names and name not in names:
            continue
        with tempfile.TemporaryDirectory(prefix="spec_kernels_test.") as folder:
            begin = time.monotonic()
            pipeline = tuned(pathlib.Path(folder), specification, "cuda:0", limit_s=3600)
            minutes = (time.monotonic() - begin) / 60
            results = results_of(pipeline)
            wrong = sum(result["invalidity"] == "correctness" for result in results)
            cache = cache_of(pipeline, pathlib.Path(folder) / "cache.json")["cache"]
        times = [entry["time"] for entry in cache.values() if isinstance(entry["time"], float)]
        first = time_ms(results[0])  # the default config
        ratio = f"{first / min(times):.2f}" if first else "-"
        print(f"{name:14} {len(cache):7}  {wrong:5}  {min(times):<11.6f}  {ratio:>10}  {minutes:7.1f}  {len(times)} times")


if __name__ == "__main__":
    if "--gpu" in sys.argv:
        tune_on_gpu([argument for argument in sys.argv[1:] if argument != "--gpu"])
    else:
        unittest.main()

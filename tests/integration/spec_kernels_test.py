"""The kernels of tests/worker/spec/kernels: tuned from their specifications, exported as T4, read by Kernel Tuner.

The tests tune three of the OpenCL kernels on the CPU. By hand, on a machine with a GPU, `spec_kernels_test.py --gpu`
does the same with all CUDA kernels at the sizes of their specifications, and prints a table.
"""

import json
import pathlib
import sys
import tempfile
import time
import unittest

from packages import need

need("jsonschema", "kernel_tuner")

import jsonschema
from kernel_tuner import util
from kernel_tuner.file_utils import output_file_schema

from pipeline import ROOT, Pipeline, run

KERNELS = ROOT / "tests/worker/spec/kernels"
CONFIGS = 6


def tuned(folder, specification, device, *flags, limit_s=240):
    """Tunes a kernel with a collector of its own; returns the pipeline."""
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
        # A slow or busy machine may end a config for its time.
        outcomes = [result["invalidity"] for result in results]
        self.assertLessEqual(set(outcomes), {"correct", "timeout"})
        self.assertGreater(outcomes.count("correct"), CONFIGS / 2)
        parameters = json.loads(specification.read_text())["ConfigurationSpace"]["TuningParameters"]
        cache = cache_of(pipeline, self.folder / "cache.json")
        self.assertEqual(cache["kernel_name"], kernel)
        self.assertEqual(cache["tune_params_keys"], [parameter["Name"] for parameter in parameters])
        self.assertEqual(len(cache["cache"]), CONFIGS)
        best = min(entry["time"] for entry in cache["cache"].values() if isinstance(entry["time"], float))
        self.assertGreater(best, 0)
        self.assertIn(best, [time_ms(result) for result in results])

    def test_matrix_product(self):
        self.check("gemm")

    def test_stencil(self):
        self.check("hotspot")

    def test_points_in_a_polygon(self):
        self.check("pnpoly")


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

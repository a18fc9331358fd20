"""Exports for Kernel Tuner: its schemas accept them, and Kernel Tuner itself reads them and searches in them.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin). One test class tunes on the CPU's OpenCL device.
"""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from packages import need

need("jsonschema", "kernel_tuner", "numpy", "pyopencl")

import jsonschema
import kernel_tuner
import numpy
from kernel_tuner import util
from kernel_tuner.file_utils import output_file_schema
from pipeline import TESTDATA, Pipeline, json_lines, run

SOURCE = """
#include <chrono>
extern "C" float add(float* out, float* a, int n) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < n; i += step) out[i] = a[i] + 1;
  return std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin).count();
}
"""
PARAMETERS = {"step": [8, 1, 2, 4], "bad": [0, 1]}
ELEMENTS = 1000


def searched(cache, **options):
    """Returns the results of a search of Kernel Tuner with this cache file."""
    values = numpy.ones(ELEMENTS, dtype=numpy.float32)
    # Kernel Tuner writes temporary files into the working folder.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(cache.parent):
        results, _ = kernel_tuner.tune_kernel(
            "add",
            SOURCE,
            ELEMENTS,
            [numpy.zeros_like(values), values, numpy.int32(ELEMENTS)],
            PARAMETERS,
            lang="C",
            compiler="g++",
            cache=str(cache),
            iterations=3,
            quiet=True,
            **options,
        )
    return {(result["step"], result["bad"]): result for result in results}


def strict_json(content):
    """Parses JSON; the words NaN and Infinity, which are not JSON, fail."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return json.loads(content, parse_constant=refuse)


class KernelTunerTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kernel_tuner_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def stored(self, name, *paths):
        """Returns the dataset of these files."""
        pipeline = Pipeline(self.folder / name)
        with pipeline.serving():
            pipeline.forward(*paths)
        return pipeline

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def assert_valid_t4(self, files):
        results, metadata = strict_json(files[".t4.json"]), strict_json(files[".t4-metadata.json"])
        jsonschema.validate(results, output_file_schema("results")[1])
        jsonschema.validate(metadata, output_file_schema("metadata")[1])
        return results["results"]


class RoundTrip(KernelTunerTest):
    """A cache file that Kernel Tuner wrote, through the dataset."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="kernel_tuner_test.")
        cls.addClassCleanup(folder.cleanup)
        cls.original = pathlib.Path(folder.name) / "add.json"
        searched(cls.original)
        util.close_cache(cls.original)
        # Kernel Tuner's backend for C raises an exception where those of GPUs write a failed config.
        written = json.loads(cls.original.read_text())
        for entry in written["cache"].values():
            if entry["bad"]:
                entry["time"] = "CompilationFailedConfig"
                del entry["times"]
        cls.original.write_text(json.dumps(written)[:-2] + "}\n}")

    def setUp(self):
        super().setUp()
        self.pipeline = self.stored("first", self.original)

    def test_kernel_tuner_reads_the_cache(self):
        files = self.pipeline.export("kernel-tuner-cache")
        exported = util.read_cache(self.file("exported.json", files[".cache.json"]), open_cache=False)
        original = util.read_cache(self.original, open_cache=False)
        for member in ("device_name", "kernel_name", "problem_size", "tune_params_keys", "tune_params", "objective"):
            self.assertEqual(exported[member], original[member], member)
        self.assertEqual(list(exported["cache"]), list(original["cache"]))
        for key, entry in original["cache"].items():
            self.assertEqual(str(exported["cache"][key]["time"]), str(entry["time"]), key)
            self.assertEqual(exported["cache"][key].get("times"), entry.get("times"))
            self.assertEqual(exported["cache"][key]["timestamp"], entry["timestamp"])
            self.assertAlmostEqual(exported["cache"][key]["compile_time"], entry["compile_time"])

    def test_kernel_tuner_searches_in_the_cache(self):
        cache = self.file("exported.json", self.pipeline.export("kernel-tuner-cache")[".cache.json"])
        expected, found = searched(self.original, simulation_mode=True), searched(cache, simulation_mode=True)
        self.assertEqual(len(found), 8)
        self.assertEqual({k: str(v["time"]) for k, v in found.items()}, {k: str(v["time"]) for k, v in expected.items()})

    def test_kernel_tuner_continues_the_cache(self):
        content = self.pipeline.export("kernel-tuner-cache")[".cache.json"]
        lines = content.splitlines()
        shortened = self.file("exported.json", b"\n".join([*lines[:-2], lines[-1]]).replace(b",\n}", b"}\n}"))
        before = len(util.read_cache(shortened, open_cache=False)["cache"])
        self.assertEqual(before, 7)
        self.assertEqual(len(searched(shortened)), 8)
        util.close_cache(shortened)
        self.assertEqual(len(util.read_cache(shortened, open_cache=False)["cache"]), 8)

    def test_t4_has_every_result(self):
        results = self.assert_valid_t4(self.pipeline.export("t4"))
        original = util.read_cache(self.original, open_cache=False)["cache"]
        self.assertEqual([",".join(str(r["configuration"][name]) for name in PARAMETERS) for r in results], list(original))
        for result, entry in zip(results, original.values(), strict=True):
            if entry["bad"]:
                self.assertEqual(result["invalidity"], "compile")
            else:
                self.assertEqual(result["invalidity"], "correct")
                self.assertIn({"name": "time", "value": entry["time"], "unit": "ms"}, result["measurements"])
                self.assertEqual(result["times"]["runtimes"], entry["times"])

    def test_exports_that_are_forwarded_give_the_same_run_and_the_same_exports(self):
        (attempt,) = json_lines(self.pipeline.export("keyed")[".attempts.jsonl"])
        for layout, suffix in (("kernel-tuner-cache", ".cache.json"), ("t4", ".t4.json")):
            with self.subTest(layout):
                first = self.pipeline.export(layout)
                exported = self.file(f"{layout}.json", first[suffix])
                again = self.stored(layout, exported)
                self.assertEqual(again.export(layout)[suffix], first[suffix])
                (forwarded,) = json_lines(again.export("keyed")[".attempts.jsonl"])
                self.assertEqual(forwarded["run_id"], attempt["run_id"])
                if layout == "kernel-tuner-cache":
                    self.assertEqual(forwarded["attempt_id"], attempt["attempt_id"])
                with self.pipeline.serving():  # nothing contradicts the stored rows
                    self.pipeline.forward(exported)

    def test_both_layouts_hold_one_run(self):
        with self.pipeline.serving():
            self.pipeline.forward(TESTDATA / "helion-main/rms_norm.csv")
        for layout in ("t4", "kernel-tuner-cache"):
            with self.assertRaisesRegex(AssertionError, f"the {layout} layout can hold only one run"):
                self.pipeline.export(layout)
        self.assertEqual(len(self.assert_valid_t4(self.pipeline.export("t4", "--kernel=add"))), 8)


class Others(KernelTunerTest):
    """Runs of other tuners."""

    def test_runs_of_helion_are_valid_t4(self):
        for name in ("helion-main/rms_norm", "helion-main/bmm", "helion-pr2750/add", "helion-1.5.1/job"):
            with self.subTest(name):
                pipeline = self.stored(name.replace("/", "-"), TESTDATA / f"{name}.csv")
                run_id = json_lines(pipeline.export("keyed")[".runs.jsonl"])[0]["run_id"]
                self.assertGreater(len(self.assert_valid_t4(pipeline.export("t4", f"--run={run_id}"))), 0)
                cache = pipeline.export("kernel-tuner-cache", f"--run={run_id}")[".cache.json"]
                self.assertEqual(strict_json(cache)["cache"].keys(), json.loads(cache)["cache"].keys())
                util.read_cache(self.file("cache.json", cache), open_cache=False)

    def test_an_empty_selection_is_valid(self):
        pipeline = self.stored("empty", TESTDATA / "helion-main/rms_norm.csv")
        self.assertEqual(self.assert_valid_t4(pipeline.export("t4", "--kernel=none", "--allow-empty")), [])
        cache = pipeline.export("kernel-tuner-cache", "--kernel=none", "--allow-empty")[".cache.json"]
        self.assertEqual(util.read_cache(self.file("cache.json", cache), open_cache=False)["cache"], {})


SPECIFICATION = {
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "width", "Type": "int", "Values": "[4, 1, 2]"},
            {"Name": "block_size_x", "Type": "int", "Values": "[16, 32]"},
            {"Name": "scale", "Type": "float", "Values": "[2.0]"},
        ]
    },
    "KernelSpecification": {
        "Language": "OpenCL",
        "KernelName": "scaled",
        "KernelFile": "scaled.cl",
        "ProblemSize": [1024],
        "GridDivX": ["block_size_x", "width"],
        "Arguments": [
            {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 1024},
            {
                "Name": "in",
                "Type": "float",
                "MemoryType": "Vector",
                "AccessType": "ReadOnly",
                "FillType": "Random",
                "Size": 1024,
            },
        ],
    },
}
TIMED = r"out: right\nscaled: median [0-9.]+ ms .*\nmeasured before: [0-9.]+ ms; now [0-9.]+ of it\n"
SPECIFIED_SOURCE = """
__kernel void scaled(__global float* out, __global const float* in) {
  for (int i = 0; i < width; ++i) {
    const int at = (get_group_id(0) * width + i) * block_size_x + get_local_id(0);
    out[at] = in[at] * (float)scale;
  }
}
"""


class Specification(KernelTunerTest):
    """A kernel that `tune --spec` tuned on the CPU."""

    def setUp(self):
        super().setUp()
        self.pipeline = Pipeline(self.folder / "pipeline")
        self.file("scaled.cl", SPECIFIED_SOURCE.encode())
        self.specification = self.file("scaled.json", json.dumps(SPECIFICATION).encode())
        with self.pipeline.serving():
            run(
                "telemetry-worker",
                "tune",
                f"--spec={self.specification}",
                "--device=opencl:0",
                "--max-configs=100",
                f"--collector={self.pipeline.address}",
                f"--state-dir={self.folder / 'state'}",
                f"--log={self.folder / 'log'}",
            )

    def test_its_measurements_are_programs_that_check_themselves(self):
        runs = json_lines(self.pipeline.export("keyed")[".runs.jsonl"])
        arguments = (runs[0]["run_id"], f"--spec={self.specification}")
        with self.pipeline.serving():
            flags = (f"--collector={self.pipeline.address}",)
            command = run("telemetry-worker", "repro", *arguments, *flags, folder=self.folder)
            other = self.file("other.json", json.dumps(SPECIFICATION).replace("1024", "2048").encode())
            with self.assertRaisesRegex(AssertionError, "was not measured with"):
                run("telemetry-worker", "repro", arguments[0], f"--spec={other}", *flags, folder=self.folder)
        done = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, f"{command}{done.stdout}{done.stderr}")
        self.assertRegex(done.stdout, TIMED)
        # The program compares: with another kernel, it fails.
        (source,) = self.folder.glob("scaled_*.cpp")
        text = source.read_text()
        before, found, after = text.partition("* (float)scale")  # the kernel precedes its reference
        source.write_text(before + "+ 1 " + found + after)
        done = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("out: 1024 of 1024 elements are wrong", done.stdout)

    def test_they_are_programs_in_python_too(self):
        runs = json_lines(self.pipeline.export("keyed")[".runs.jsonl"])
        with self.pipeline.serving():
            command = run(
                "telemetry-worker",
                "repro",
                runs[0]["run_id"],
                f"--spec={self.specification}",
                "--as=python",
                f"--collector={self.pipeline.address}",
                folder=self.folder,
            )
        (source,) = self.folder.glob("scaled_*.py")
        self.assertEqual(command, f"python3 {source.name}\n")
        done = subprocess.run([sys.executable, source], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, TIMED)
        text = source.read_text()
        before, found, after = text.partition("* (float)scale")
        source.write_text(before + "+ 1 " + found + after)
        done = subprocess.run([sys.executable, source, "--no-time"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("out: 1024 of 1024 elements are wrong", done.stdout)

    def test_its_results_are_valid_t4(self):
        files = self.pipeline.export("t4")
        results = self.assert_valid_t4(files)
        best = min(m["value"] for r in results for m in r["measurements"] if m["name"] == "time")
        self.assertGreater(best, 0)
        stages = {m["value"] for r in results for m in r["measurements"] if m["name"] == "stage"}
        self.assertIn("final", stages)
        metadata = json.loads(files[".t4-metadata.json"])["metadata"]
        self.assertEqual(metadata["run"]["kernel_name"], "scaled")
        self.assertRegex(metadata["environment"]["requirements"][0], "telemetry-worker ")
        self.assertNotEqual(metadata["hardware"]["operating_system"], "unidentified OS")

    def test_its_cache_has_the_space_of_the_specification(self):
        cache = self.file("cache.json", self.pipeline.export("kernel-tuner-cache")[".cache.json"])
        read = util.read_cache(cache, open_cache=False)
        self.assertEqual(read["tune_params_keys"], ["width", "block_size_x", "scale"])
        self.assertEqual(read["tune_params"], {"width": [4, 1, 2], "block_size_x": [16, 32], "scale": [2.0]})
        self.assertEqual(read["problem_size"], [1024])
        for key, entry in read["cache"].items():
            self.assertEqual(key, ",".join(str(entry[name]) for name in read["tune_params_keys"]))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(self.folder):
            results, _ = kernel_tuner.tune_kernel(
                "scaled",
                SPECIFIED_SOURCE,
                1024,
                [],
                read["tune_params"],
                lang="OpenCL",
                cache=str(cache),
                simulation_mode=True,
            )
        self.assertEqual(len(results), 6)
        self.assertEqual({r["time"] for r in results}, {entry["time"] for entry in read["cache"].values()})


if __name__ == "__main__":
    unittest.main()

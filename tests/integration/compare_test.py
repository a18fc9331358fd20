"""Tests `telemetry-worker compare` with a collector: exit statuses, the table, Markdown, JUnit and JSON.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin), on a database of the server in
TELEMETRY_TEST_POSTGRESQL if it is set.
"""

import hashlib
import json
import pathlib
import random
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

from pipeline import BIN, TIMEOUT_S, Pipeline, environment_with

START_UNIX_US = 1741000000_000000
DAY_US = 86400 * 1000000
SEED = 20250301


class Job:
    """A CI job whose tuner measures two configs of each kernel; writes what the Python package writes."""

    def __init__(self, origin, source="v1", slow=None, device="NVIDIA H200", day=0, environment=None):
        self.origin = origin
        self.source = source
        self.slow = slow or {}
        self.device = device
        self.day = day
        self.environment = environment or {}

    def lines(self, kernels, attempts, noise):
        for kernel in kernels:
            for attempt in range(attempts):
                yield from self.attempt(kernel, attempt, noise)

    def attempt(self, kernel, number, noise):
        name = f"{self.origin} {self.device} {self.day} {kernel} {number}"
        attempt_id = hashlib.sha256(name.encode()).hexdigest()[:32]
        yield {
            "kind": "attempt",
            "version": 1,
            "attempt_id": attempt_id,
            "tuner": "test",
            "kernel_name": kernel,
            "kernel_source": f"{kernel} {self.source}",
            "input_shapes": "[(4096, 2560)]",
            "dtypes": "['float16']",
            "hardware": self.device,
            "origin": self.origin,
            "started_unix_us": START_UNIX_US + self.day * DAY_US + number,
            "environment": self.environment,
        }
        drift = noise.gauss(1, 0.002) * self.slow.get(kernel, 1)
        for seq, (config, ms) in enumerate([({"warps": 4}, 2.0), ({"warps": 8}, 1.0)], 1):
            samples = [ms * drift * noise.gauss(1, 0.01) for _ in range(20)]
            yield {
                "kind": "measurement",
                "attempt_id": attempt_id,
                "seq": seq,
                "config": config,
                "status": "ok",
                "perf_ms": sorted(samples)[10],
                "stage": "final",
                "samples_ms": samples,
            }
        yield {"kind": "end", "attempt_id": attempt_id, "state": "complete", "counters": {}}


class CompareTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="compare_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.noise = random.Random(SEED)
        self.pipeline = Pipeline(self.folder / "pipeline")

    def store(self, job, kernels=("add", "softmax"), attempts=6):
        name = hashlib.sha256(f"{job.origin} {job.device} {job.day}".encode()).hexdigest()[:8]
        path = self.folder / f"{name}.measurements.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in job.lines(kernels, attempts, self.noise)))
        self.pipeline.forward(path, origin=job.origin)

    def compare(self, base, head, *flags, status=0):
        """Runs the command and returns its standard output; of a failure, its standard error."""
        done = subprocess.run(
            [BIN / "telemetry-worker", "compare", base, head, f"--collector={self.pipeline.address}", *flags],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env=environment_with({}),
        )
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr if status == 2 else done.stdout

    def compare_as_json(self, base, head, *flags, status=0):
        path = self.folder / "compare.json"
        self.compare(base, head, f"--json={path}", *flags, status=status)
        return json.loads(path.read_text())


class Reports(CompareTest):
    def test_a_slower_kernel_fails_the_job(self):
        with self.pipeline.serving():
            self.store(Job("main/1"))
            self.store(Job("pr/7", source="v2", slow={"softmax": 1.05}))
            files = {name: self.folder / f"compare.{name}" for name in ("markdown", "junit", "json")}
            flags = [f"--{name}={path}" for name, path in files.items()]
            text = self.compare("origin=main/*", "origin=pr/7", *flags, status=1)
        self.assertIn("softmax [(4096, 2560)] ['float16'] NVIDIA H200 (6 and 6 attempts): slower\n", text)
        self.assertTrue(text.endswith("1 slower, 1 same of 2 runs\n"), text)

        markdown = files["markdown"].read_text()
        self.assertTrue(markdown.startswith("### Kernel times: 1 slower, 1 same of 2 runs\n"), markdown)
        self.assertIn("**Some kernels are slower.**", markdown)

        suite = xml.etree.ElementTree.parse(files["junit"]).getroot()
        self.assertEqual((suite.tag, suite.get("tests"), suite.get("failures")), ("testsuite", "6", "3"))
        failed = [case.get("name") for case in suite if case.find("failure") is not None]
        self.assertEqual(len(failed), 3)
        self.assertTrue(all(name.startswith("softmax [(4096, 2560)]") for name in failed), failed)

        report = json.loads(files["json"].read_text())
        self.assertEqual(report["counts"], {"slower": 1, "faster": 0, "unsure": 0, "same": 1, "new": 0, "gone": 0})
        add, softmax = report["runs"]
        self.assertEqual((add["verdict"], softmax["verdict"]), ("same", "slower"))
        self.assertEqual([time["time"] for time in softmax["times"]], ["best", "default", "chosen"])
        for time in softmax["times"]:
            self.assertLess(abs(time["change"]["ratio"] - 1.05), 0.01)
            self.assertLess(time["change"]["low"], time["change"]["ratio"])
            self.assertGreater(time["change"]["low"], 1.03)
            self.assertEqual((time["base"]["attempts"], time["head"]["attempts"]), (6, 6))
        default = softmax["times"][1]
        self.assertLess(abs(default["base"]["ms"] - 2), 0.02)

    def test_equal_code_passes(self):
        with self.pipeline.serving():
            self.store(Job("main/1"))
            self.store(Job("main/2"))
            self.assertIn("2 same of 2 runs\n", self.compare("origin=main/1", "origin=main/2"))

    def test_a_faster_kernel_passes(self):
        with self.pipeline.serving():
            self.store(Job("main/1"))
            self.store(Job("main/2", slow={"add": 0.9}))
            self.assertIn("1 faster, 1 same of 2 runs\n", self.compare("origin=main/1", "origin=main/2"))

    def test_new_and_gone_kernels_pass(self):
        with self.pipeline.serving():
            self.store(Job("a"), kernels=("add", "old"))
            self.store(Job("b"), kernels=("add", "young"))
            report = self.compare_as_json("origin=a", "origin=b")
        self.assertEqual([run["verdict"] for run in report["runs"]], ["same", "gone", "new"])

    def test_a_single_slow_attempt_is_unsure(self):
        with self.pipeline.serving():
            self.store(Job("a"))
            self.store(Job("b", slow={"add": 1.5}), attempts=1)
            report = self.compare_as_json("origin=a", "origin=b")
        self.assertEqual({run["verdict"] for run in report["runs"]}, {"unsure"})
        self.assertEqual(report["runs"][0]["times"][0]["reason"], "1 attempt of head; 3 are needed")


class Selectors(CompareTest):
    def test_a_snapshot_gives_the_same_report(self):
        with self.pipeline.serving():
            self.store(Job("a"))
            self.store(Job("b", source="v2", slow={"softmax": 1.05}))
            of_collector = self.compare_as_json("origin=a", "origin=b", status=1)
        self.pipeline.export("keyed", "--details")
        (attempts,) = self.pipeline.folder.glob("export*/data.attempts.jsonl")
        dataset = f"--dataset={attempts.parent / 'data'}"
        self.assertEqual(self.compare_as_json("origin=a", "origin=b", dataset, status=1), of_collector)
        only = self.compare_as_json("origin=a", "origin=b", dataset, "--kernel=add")
        self.assertEqual([run["kernel_name"] for run in only["runs"]], ["add"])
        self.assertIn("cannot be opened", self.compare("origin=a", "origin=b", "--dataset=none", status=2))

    def test_commits_dates_and_devices_are_compared(self):
        with self.pipeline.serving():
            self.store(Job("a", environment={"ci": {"GITHUB_SHA": "3f09c1a77d0be2"}}))
            self.store(Job("b", slow={"add": 1.1}, day=2, environment={"commit": "77d0be23f09c1a"}))
            self.store(Job("c", slow={"add": 0.8, "softmax": 0.8}, device="NVIDIA H100", day=10))
            self.assertIn("1 slower", self.compare("commit=3f09c1a", "commit=77d0be2", status=1))
            dates = ("dates=2025-03-01..2025-03-04", "dates=2025-03-04..2025-03-07")
            self.assertIn("1 slower, 1 same of 2 runs", self.compare(*dates, status=1))
            self.assertIn("1 same of 1 run", self.compare(*dates, "--kernel=softmax"))
            devices = self.compare_as_json("device=NVIDIA H200", "device=NVIDIA H1*", "--since=2025-03-01")
            self.assertEqual([run["hardware"] for run in devices["runs"]], ["", ""])
            self.assertEqual(devices["counts"]["faster"], 2)

    def test_mistakes_have_status_2(self):
        with self.pipeline.serving():
            self.store(Job("a"), attempts=1)
            self.assertIn("'main'", self.compare("main", "origin=a", status=2))
            self.assertIn("a device can be compared only", self.compare("origin=a", "device=H*", status=2))
            message = self.compare("origin=a", "origin=b", status=2)
            self.assertIn("origin=b selects no attempt; some of the origins: a", message)
            self.assertIn("--threshold", self.compare("origin=a", "origin=a", "--threshold=0", status=2))
            unwritable = self.folder / "none" / "file"
            self.store(Job("b"), attempts=1)
            self.assertIn("cannot be written", self.compare("origin=a", "origin=b", f"--junit={unwritable}", status=2))
            address = self.pipeline.address
        self.pipeline.address = address
        self.assertIn(address, self.compare("origin=a", "origin=b", "--deadline=2s", status=2))


if __name__ == "__main__":
    unittest.main()

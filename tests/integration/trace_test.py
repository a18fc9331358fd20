"""Tests the traces of Helion 1.5: each line comes back byte for byte and in order, whatever the order of arrival.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata/helion-1.5.1: two processes, one
inside the other, that appended to the same files.
"""

import collections
import json
import pathlib
import random
import subprocess
import tempfile
import unittest

from pipeline import BIN, TIMEOUT_S, Pipeline, Sample, csv_rows, environment_with, json_lines, run

SAMPLE = Sample("helion-1.5.1/job", "helion")
SUFFIXES = (".csv", ".meta.jsonl", ".trace.jsonl")


def lines_by_trace(content):
    """Returns the lines of each trace, in the order of the file."""
    traces = collections.defaultdict(list)
    for line in content.splitlines(keepends=True):
        traces[json.loads(line)["run_id"]].append(line)
    return traces


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="trace_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.pipelines = 0

    def new_pipeline(self):
        self.pipelines += 1
        return Pipeline(self.folder / f"pipeline{self.pipelines}")

    def sidecars(self, *suffixes, name="sidecars"):
        """Copies files of the sample into a folder and returns the folder."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        for suffix in suffixes:
            (folder / f"job{suffix}").write_bytes(SAMPLE.original(suffix))
        return folder

    def forwarded(self, *steps):
        """Returns a pipeline to which these files were forwarded, step by step, from one folder."""
        pipeline = self.new_pipeline()
        name = f"sidecars{self.pipelines}"
        with pipeline.serving():
            for number, suffixes in enumerate(steps):
                pipeline.forward(self.sidecars(*suffixes, name=name), state=f"state{number}")
        return pipeline


class RoundTrip(TraceTest):
    def test_every_line_and_row_comes_back(self):
        pipeline = self.forwarded(SUFFIXES)
        exported = pipeline.export("helion", "--details")
        self.assertEqual(lines_by_trace(exported[".trace.jsonl"]), lines_by_trace(SAMPLE.original(".trace.jsonl")))
        self.assertEqual(
            collections.Counter(csv_rows(exported[".csv"])), collections.Counter(csv_rows(SAMPLE.original(".csv")))
        )
        attempts = json_lines(exported[".attempts.jsonl"])
        self.assertEqual(sorted(a["state"] for a in attempts), ["abandoned", "complete"])
        self.assertEqual({a["search_algorithm"] for a in attempts}, {"LFBOTreeSearch"})
        # The lines of an attempt follow one another, in the order of the attempts.
        traces = [json.loads(line)["run_id"] for line in exported[".trace.jsonl"].splitlines()]
        self.assertEqual(len([a for a, b in zip(traces, traces[1:]) if a != b]), 1)
        details = json_lines(exported[".details.jsonl"])
        self.assertEqual(len(details), 66)
        measured = [detail for detail in details if "exact_perf_ms" in detail]
        self.assertEqual([detail["exact_perf_ms"] for detail in measured], [0.03014400042593479])
        self.assertEqual(measured[0]["time"], "2026-11-23T00:36:03.768282Z")
        self.assertEqual(json.loads(exported[".snapshot.json"])["counts"]["trace_lines"], 75)

    def test_a_database_and_its_collector_export_the_same(self):
        pipeline = self.new_pipeline()
        with pipeline.serving():
            pipeline.forward(self.sidecars(*SUFFIXES))
            live = pipeline.export("helion", live=True)
        self.assertEqual(live, pipeline.export("helion"))

    def test_a_dataset_without_events_has_no_trace(self):
        exported = self.forwarded((".csv", ".meta.jsonl")).export("helion")
        self.assertNotIn(".trace.jsonl", exported)
        self.assertNotIn("trace_lines", json.loads(exported[".snapshot.json"])["counts"])

    def test_rows_with_one_status_have_no_trace(self):
        exported = self.forwarded(SUFFIXES).export("helion", "--status=ok")
        self.assertEqual(len(csv_rows(exported[".csv"])), 1)
        self.assertNotIn(".trace.jsonl", exported)

    def test_a_trace_alone_comes_back(self):
        exported = self.forwarded((".trace.jsonl",)).export("helion")
        self.assertEqual(lines_by_trace(exported[".trace.jsonl"]), lines_by_trace(SAMPLE.original(".trace.jsonl")))
        self.assertEqual(csv_rows(exported[".csv"]), [])
        self.assertEqual(exported[".meta.jsonl"], b"")
        for attempt in json_lines(exported[".attempts.jsonl"]):
            self.assertEqual((attempt["dialect"], attempt["provisional"]), ("helion-trace", True))

    def test_deletion_removes_the_events(self):
        pipeline = self.forwarded(SUFFIXES)
        run("telemetry-collector", "delete", f"--db={pipeline.database}", "--origin=ci/1", "--yes")
        self.assertNotIn(".trace.jsonl", pipeline.export("helion", "--allow-empty"))


class Order(TraceTest):
    def test_order_and_repetition_change_nothing(self):
        expected = self.forwarded(SUFFIXES).export("helion", "--details")
        orders = (
            [(".trace.jsonl",), (".csv",), (".meta.jsonl",)],
            [(".csv",), (".trace.jsonl",), (".meta.jsonl",)],
            [(".meta.jsonl",), (".csv", ".trace.jsonl"), ()],
            [(".trace.jsonl",), (".meta.jsonl", ".csv"), (), ()],
        )
        for steps in orders:
            with self.subTest(steps):
                self.assertEqual(self.forwarded(*steps).export("helion", "--details"), expected)

    def test_a_trace_that_was_sent_late_without_its_rows_changes_nothing(self):
        expected = self.forwarded(SUFFIXES).export("helion", "--details")
        pipeline = self.new_pipeline()
        with pipeline.serving():
            pipeline.forward(self.sidecars(*SUFFIXES, name="all"))
            pipeline.forward(self.sidecars(".trace.jsonl", name="alone"), state="another machine")
        self.assertEqual(pipeline.export("helion", "--details"), expected)

    def test_files_that_grow_are_followed_by_several_forwarders_that_are_killed(self):
        seed = random.randrange(1 << 32)
        with self.subTest(seed=seed):
            self.follow(random.Random(seed))

    def follow(self, choose):
        expected = self.forwarded(SUFFIXES).export("helion", "--details")
        folder = self.folder / "growing"
        folder.mkdir()
        pipeline = self.new_pipeline()
        with pipeline.serving():
            forwarder = self.watching(pipeline, folder)
            for suffix, piece in self.pieces(choose):
                with open(folder / f"job{suffix}", "ab") as file:
                    file.write(piece)
                if choose.random() < 0.1:
                    # Another machine that reads the folder once.
                    pipeline.forward(folder, state="another machine", accept=(0, 1))
                if choose.random() < 0.05:
                    self.kill(forwarder)
                    forwarder = self.watching(pipeline, folder)
            self.kill(forwarder)
            pipeline.forward(folder, state="watching")
        self.assertEqual(pipeline.export("helion", "--details"), expected)

    def kill(self, forwarder):
        forwarder.kill()
        forwarder.communicate(timeout=TIMEOUT_S)

    def pieces(self, choose):
        """Yields pieces of the files in the order in which Helion writes them: a trace line follows its row."""
        rows = SAMPLE.original(".csv").splitlines(keepends=True)
        yield ".csv", rows.pop(0)
        for line in SAMPLE.original(".trace.jsonl").splitlines(keepends=True):
            if json.loads(line)["event"] in ("trial", "trial_start"):
                yield ".csv", rows.pop(0)
            cut = choose.randrange(len(line))
            yield ".trace.jsonl", line[:cut]
            yield ".trace.jsonl", line[cut:]
        yield ".meta.jsonl", SAMPLE.original(".meta.jsonl")

    def watching(self, pipeline, folder):
        flags = [f"--collector={pipeline.address}", f"--state-dir={pipeline.folder / 'watching'}", "--origin=ci/1"]
        return subprocess.Popen(
            [BIN / "telemetry-worker", "forward", "--watch", *flags, folder],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment_with({}),
        )


if __name__ == "__main__":
    unittest.main()

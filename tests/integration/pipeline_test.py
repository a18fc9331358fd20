"""Tests the pipeline from real sidecars to one dataset: exports contain the same bytes as the sidecars, and load.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata.
"""

import collections
import io
import json
import pathlib
import tempfile
import unittest

from packages import need

need("networkx", "pandas")

import networkx
import pandas
from pipeline import SAMPLES, Pipeline, csv_rows, json_lines

ALL_LAYOUTS = ("helion", "pr2750")
BY_NAME = {sample.name: sample for sample in SAMPLES}


class PipelineTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pipeline_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self._pipelines = 0

    def new_pipeline(self):
        self._pipelines += 1
        return Pipeline(self.folder / f"pipeline{self._pipelines}")

    def forwarded(self, samples, **options):
        """Returns a pipeline whose database contains these samples."""
        pipeline = self.new_pipeline()
        with pipeline.serving():
            for sample in samples:
                pipeline.forward(sample.path(), flags=sample.flags, **options)
        return pipeline

    def exports(self, pipeline):
        return {layout: pipeline.export(layout) for layout in ALL_LAYOUTS}

    def assert_same_files(self, got, expected):
        self.assertEqual(sorted(got), sorted(expected))
        for name in expected:
            self.assertTrue(got[name] == expected[name], f"{name} differs")


class RoundTrip(PipelineTest):
    def test_every_row_and_graph_is_one_that_was_written(self):
        for sample in SAMPLES:
            with self.subTest(sample.name):
                exported = self.forwarded([sample]).export(sample.layout)
                self.assertEqual(
                    collections.Counter(csv_rows(exported[".csv"])),
                    collections.Counter(csv_rows(sample.original(".csv"))),
                )
                # The sidecars contain the record of a run once per attempt, the export contains it once.
                self.assertEqual(
                    sorted(exported.get(".ir.jsonl", b"").splitlines()),
                    sorted(set(sample.original(".ir.jsonl").splitlines())),
                )
                if sample.layout == "pr2750":
                    self.assertEqual(
                        sorted(exported[".meta.jsonl"].splitlines()),
                        sorted(set(sample.original(".meta.jsonl").splitlines())),
                    )

    def test_one_attempt_of_one_run_comes_back_as_a_whole(self):
        whole = {
            "helion-main/bmm": [".csv"],
            "helion-main/rms_norm": [".csv", ".meta.jsonl"],
            "helion-pr2750/long_sum": [".csv", ".meta.jsonl", ".ir.jsonl"],
            "helion-pr2699/softmax_two_pass": [".csv", ".meta.json"],
            "helion-v1.1/softmax_two_pass": [".csv"],
        }
        for name, suffixes in whole.items():
            sample = BY_NAME[name]
            exported = self.forwarded([sample]).export(sample.layout)
            for suffix in suffixes:
                with self.subTest(name + suffix):
                    self.assertTrue(exported[suffix] == sample.original(suffix))

    def test_the_configs_of_a_run_s_records_are_united(self):
        sample = BY_NAME["helion-main/softmax"]
        originals = json_lines(sample.original(".meta.jsonl"))
        for record in json_lines(self.forwarded([sample]).export("helion")[".meta.jsonl"]):
            same_run = [original for original in originals if original["run_id"] == record["run_id"]]
            united = {}
            for original in same_run:
                united |= original["configs"]
            self.assertEqual(record["configs"], united)
            self.assertIn(record["settings"], [original["settings"] for original in same_run])
            for key in ("kernel_name", "kernel_source", "input_shapes", "dtypes", "hardware", "ir_graph"):
                self.assertEqual(record[key], same_run[0][key])

    def test_a_database_and_its_collector_export_the_same(self):
        pipeline = self.new_pipeline()
        with pipeline.serving():
            for sample in SAMPLES:
                pipeline.forward(sample.path(), flags=sample.flags)
            for layout in ALL_LAYOUTS:
                self.assert_same_files(pipeline.export(layout, live=True), pipeline.export(layout))


class Idempotence(PipelineTest):
    def setUp(self):
        super().setUp()
        self.expected = self.exports(self.forwarded(SAMPLES))

    def assert_expected(self, pipeline):
        for layout, files in self.exports(pipeline).items():
            self.assert_same_files(files, self.expected[layout])

    def test_a_second_forward_changes_nothing(self):
        pipeline = self.new_pipeline()
        with pipeline.serving():
            for state in ("state", "state", "another machine's state"):
                for sample in SAMPLES:
                    pipeline.forward(sample.path(), flags=sample.flags, state=state)
        self.assert_expected(pipeline)

    def test_another_order_changes_nothing(self):
        self.assert_expected(self.forwarded(SAMPLES[::-1]))

    def test_another_folder_changes_nothing(self):
        pipeline = self.new_pipeline()
        with pipeline.serving():
            for sample in SAMPLES:
                pipeline.forward(sample.path(), flags=sample.flags)
                moved = sample.copy_to(self.folder / "moved")
                pipeline.forward(moved, flags=sample.flags, state="moved")
        self.assert_expected(pipeline)

    def test_a_collector_restart_in_between_changes_nothing(self):
        pipeline = self.new_pipeline()
        for half in (SAMPLES[: len(SAMPLES) // 2], SAMPLES[len(SAMPLES) // 2 :]):
            with pipeline.serving():
                for sample in half:
                    pipeline.forward(sample.path(), flags=sample.flags)
        self.assert_expected(pipeline)

    def test_files_that_grew_are_as_if_forwarded_once(self):
        pipeline = self.new_pipeline()
        growing = self.folder / "growing"
        with pipeline.serving():
            for sample in SAMPLES:
                # The copy ends in the middle of a row and of a record. The program reports that and exits with status
                # 1.
                cut = sample.copy_to(growing, cut=True)
                pipeline.forward(cut, flags=sample.flags, accept=(1,))
            for sample in SAMPLES:
                pipeline.forward(sample.copy_to(growing), flags=sample.flags)
        self.assert_expected(pipeline)


class Origins(PipelineTest):
    def test_two_jobs_that_measured_the_same_keep_all_their_rows(self):
        for sample in SAMPLES:
            with self.subTest(sample.name):
                pipeline = self.new_pipeline()
                with pipeline.serving():
                    pipeline.forward(sample.path(), flags=sample.flags, origin="ci/1")
                    pipeline.forward(sample.path(), flags=sample.flags, origin="ci/2")
                exported = pipeline.export(sample.layout)
                rows = csv_rows(sample.original(".csv"))
                self.assertEqual(collections.Counter(csv_rows(exported[".csv"])), collections.Counter(rows + rows))
                attempts = json_lines(exported[".attempts.jsonl"])
                self.assertEqual({attempt["origin"] for attempt in attempts}, {"ci/1", "ci/2"})
                records = [line for line in exported.get(".meta.jsonl", b"").splitlines()]
                self.assertEqual(len(records), len({json.loads(line)["run_id"] for line in records}))


class Readers(PipelineTest):
    """The files load with the tools of their readers."""

    def setUp(self):
        super().setUp()
        self.exported = self.exports(self.forwarded(SAMPLES))

    def test_graphs_load_with_networkx(self):
        lines = json_lines(self.exported["pr2750"][".ir.jsonl"])
        self.assertGreaterEqual(len(lines), 5)
        for line in lines:
            graph = networkx.node_link_graph(line, edges="links")
            self.assertEqual(graph.number_of_nodes(), len(line["nodes"]))
            self.assertGreater(graph.number_of_edges(), 0)
            self.assertTrue(graph.is_directed())
            self.assertEqual(graph.graph["run_id"], line["run_id"])

    def test_the_graphs_in_helion_s_records_load_with_networkx(self):
        graphs = [record["ir_graph"] for record in json_lines(self.exported["helion"][".meta.jsonl"])]
        graphs = [graph for graph in graphs if graph is not None]
        self.assertGreaterEqual(len(graphs), 5)
        for graph in graphs:
            loaded = networkx.node_link_graph(graph, edges="edges")
            self.assertEqual(loaded.number_of_nodes(), len(graph["nodes"]))
            self.assertGreater(loaded.number_of_edges(), 0)

    def test_rows_join_their_records_in_pandas(self):
        for layout in ALL_LAYOUTS:
            with self.subTest(layout):
                files = self.exported[layout]
                rows = pandas.read_csv(io.BytesIO(files[".csv"]))
                records = pandas.read_json(io.BytesIO(files[".meta.jsonl"]), lines=True)
                expected_rows = sum(len(csv_rows(sample.original(".csv"))) for sample in SAMPLES)
                self.assertEqual(len(rows), expected_rows)
                self.assertTrue(records["run_id"].is_unique)
                joined = rows.merge(records, on="run_id", how="left", validate="many_to_one", suffixes=("", "_record"))
                self.assertEqual(len(joined), expected_rows)
                killed = csv_rows(BY_NAME["helion-main/bmm"].original(".csv"))  # its record never came
                self.assertEqual(joined["kernel_name"].isna().sum(), len(killed))
                measured = joined[joined["status"] == "ok"]
                self.assertTrue((measured["perf_ms"] > 0).all())

    def test_keyed_rows_join_the_records_of_all_runs_in_pandas(self):
        pipeline = self.forwarded(SAMPLES)
        files = pipeline.export("keyed")
        rows = pandas.read_csv(io.BytesIO(files[".csv"]))
        runs = pandas.read_json(io.BytesIO(files[".runs.jsonl"]), lines=True)
        attempts = pandas.read_json(io.BytesIO(files[".attempts.jsonl"]), lines=True)
        self.assertEqual(len(rows), len(pandas.read_csv(io.BytesIO(self.exported["helion"][".csv"]))))
        joined = rows.merge(runs, on="run_id", validate="many_to_one")
        self.assertEqual(len(joined), len(rows))
        killed = csv_rows(BY_NAME["helion-main/bmm"].original(".csv"))  # its record never came
        self.assertEqual((~joined["described"]).sum(), len(killed))
        self.assertEqual(len(rows.merge(attempts, on="attempt_id", validate="many_to_one")), len(rows))

    def test_attempts_join_their_runs(self):
        attempts = json_lines(self.exported["helion"][".attempts.jsonl"])
        rows = pandas.read_csv(io.BytesIO(self.exported["helion"][".csv"]))
        counted = collections.Counter()
        for attempt in attempts:
            counted[attempt["run_id"]] += attempt["exported_rows"]
        self.assertEqual(counted, collections.Counter(rows["run_id"]))


class Filters(PipelineTest):
    def setUp(self):
        super().setUp()
        self.pipeline = self.forwarded(SAMPLES)
        self.all_rows = pandas.read_csv(io.BytesIO(self.pipeline.export("helion")[".csv"]))

    def rows(self, *flags):
        return pandas.read_csv(io.BytesIO(self.pipeline.export("helion", *flags)[".csv"]))

    def test_a_kernel(self):
        softmax = self.rows("--kernel=softmax")
        self.assertGreater(len(softmax), 0)
        self.assertLess(len(softmax), len(self.all_rows))
        self.assertEqual(len(self.rows("--kernel=no_such_kernel", "--allow-empty")), 0)

    def test_a_run_by_the_beginning_of_its_id(self):
        run_id = self.all_rows["run_id"].iloc[0]
        self.assertEqual(set(self.rows(f"--run={run_id[:12]}")["run_id"]), {run_id})

    def test_a_status(self):
        ok = self.rows("--status=ok")
        self.assertEqual(len(ok), (self.all_rows["status"] == "ok").sum())

    def test_a_device(self):
        without_record = csv_rows(BY_NAME["helion-main/bmm"].original(".csv"))
        self.assertEqual(len(self.rows("--hardware=NVIDIA H200")), len(self.all_rows) - len(without_record))

    def test_a_time(self):
        self.assertEqual(len(self.rows("--since=1h")), len(self.all_rows))  # they arrived just now

    def test_the_best_attempt_of_each_run(self):
        best = self.rows("--attempts=best")
        fastest = self.all_rows[self.all_rows["status"] == "ok"].groupby("run_id")["perf_ms"].min()
        kept = best[best["status"] == "ok"].groupby("run_id")["perf_ms"].min()
        self.assertEqual(fastest.to_dict(), kept.to_dict())
        self.assertLess(len(best), len(self.all_rows))


if __name__ == "__main__":
    unittest.main()

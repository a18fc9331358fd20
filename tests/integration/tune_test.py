"""Tunes kernels, stores and exports the results: the exports contain the measurements, and load.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on the CPU's OpenCL device.
"""

import collections
import contextlib
import io
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
import unittest

from packages import need

need("networkx", "pandas")

import networkx
import pandas
from pipeline import BIN, Pipeline, csv_rows, environment_with, json_lines, run

KERNELS = {
    "softmax": ("--arg=x=16x64:f32",),
    "layer_norm": ("--arg=x=16x64:f32", "--arg=weight=64:f32", "--arg=bias=64:f32"),
    "matmul": ("--arg=x=32x32:f32", "--arg=y=32x32:f32"),
}
DEVICE = "--device=opencl:0"
SEED = 7


def tune(pipeline, kernel, *flags, log):
    return run(
        "telemetry-worker",
        "tune",
        kernel,
        *KERNELS[kernel],
        DEVICE,
        f"--collector={pipeline.address}",
        f"--state-dir={pipeline.folder / 'state'}",
        f"--log={pipeline.folder / log}",
        "--origin=ci/tune",
        *flags,
    )


def best(pipeline, kernel, accept=(0,)):
    state = pipeline.folder / "state"
    printed = run(
        "telemetry-worker", "best", kernel, *KERNELS[kernel], DEVICE, f"--state-dir={state}", accept=accept
    )
    return json.loads(printed) if printed else None


def fastest(rows):
    """Returns the fastest row of each run."""
    ok = rows[rows["status"] == "ok"]
    return ok.loc[ok.groupby("run_id")["perf_ms"].idxmin()]


def repro(pipeline, row):
    """Writes the program of a row, and returns the command that compiles and runs it."""
    flags = (f"--config-id={row.config_id}", f"--collector={pipeline.address}")
    return run("telemetry-worker", "repro", row.run_id, *flags, folder=pipeline.folder)


class Tuned(unittest.TestCase):
    """Three kernels tuned into one dataset, with sidecars of the same measurements beside it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tune_test.")
        cls.addClassCleanup(folder.cleanup)
        cls.pipeline = Pipeline(pathlib.Path(folder.name) / "pipeline")
        with cls.pipeline.serving():
            for kernel in KERNELS:
                tune(cls.pipeline, kernel, "--max-configs=5", f"--seed={SEED}", log="log")
            cls.exported = cls.pipeline.export("helion", "--details", live=True)
            exported = cls.pipeline.export("pr2750", live=True)
            cls.graphs = json_lines(exported[".ir.jsonl"])
            cls.wrapper_graphs = json_lines(exported[".wrapper.jsonl"])
            cls.rows = pandas.read_csv(io.BytesIO(cls.exported[".csv"]), keep_default_na=False, na_values=[""])
            cls.commands = [repro(cls.pipeline, row) for row in fastest(cls.rows).itertuples()]
        cls.attempts = json_lines(cls.exported[".attempts.jsonl"])

    def log(self, suffix):
        return (self.pipeline.folder / f"log{suffix}").read_bytes()

    def test_the_export_has_every_row_that_was_measured(self):
        for suffix in (".csv", ".sources.csv"):
            self.assertEqual(
                collections.Counter(csv_rows(self.exported[suffix])), collections.Counter(csv_rows(self.log(suffix)))
            )
        self.assertEqual(sorted(self.exported[".meta.jsonl"].splitlines()), sorted(self.log(".meta.jsonl").splitlines()))

    def test_details_are_those_of_their_rows(self):
        rows = {run_id: of_run.to_dict("records") for run_id, of_run in self.rows.groupby("run_id", sort=False)}
        details = json_lines(self.exported[".details.jsonl"])
        for detail in details:
            row = rows[detail["run_id"]][detail["seq"] - 1]
            self.assertEqual((detail["config_id"], detail["status"]), (row["config_id"], row["status"]))
            if detail["status"] == "ok":
                self.assertAlmostEqual(statistics.median(detail["samples_ms"]), row["perf_ms"], delta=2e-6)
                self.assertGreater(detail["binary_bytes"], 0)
            else:
                self.assertIsNotNone(detail["failure"])
        measured = self.rows["status"].isin(["ok", "error", "timeout"])
        self.assertEqual(sum(detail["status"] in ("ok", "error", "timeout") for detail in details), measured.sum())
        self.assertEqual({detail["stage"] for detail in details if detail["stage"]} - {"screening"}, {"search", "final"})

    def test_attempts_say_how_they_were_searched_and_what_they_came_to(self):
        self.assertEqual(len(self.attempts), len(KERNELS))
        for attempt in self.attempts:
            rows = self.rows[self.rows["run_id"] == attempt["run_id"]]
            results = rows[rows["status"] != "started"]
            self.assertEqual((attempt["state"], attempt["origin"]), ("complete", "ci/tune"))
            self.assertEqual((attempt["search_algorithm"], attempt["seed"]), ("SurrogateSearch", SEED))
            self.assertTrue(attempt["environment"]["program"].startswith("telemetry-worker "))
            self.assertIn("OpenCL", attempt["environment"]["device"]["architecture"])
            self.assertEqual(attempt["counters"]["configs_tested"], results["config_id"].nunique())
            self.assertEqual(attempt["counters"]["generations"], results["generation"].max() + 1)
            self.assertIn(attempt["counters"]["best_config_id"], set(results["config_id"]))
            self.assertEqual(attempt["exported_rows"], len(rows))

    def test_a_config_has_one_result_in_a_generation(self):
        results = self.rows[self.rows["status"] != "started"]
        self.assertFalse(results.duplicated(["run_id", "config_id", "generation"]).any())
        self.assertGreater((results["status"] == "ok").sum(), len(KERNELS))

    def test_graphs_load_with_networkx(self):
        for records in (self.graphs, self.wrapper_graphs):
            self.assertEqual({record["graph"]["kernel_name"] for record in records}, set(KERNELS))
        for record in self.graphs + self.wrapper_graphs:
            graph = networkx.node_link_graph(record, edges="links")
            self.assertEqual(graph.number_of_nodes(), len(record["nodes"]))
            self.assertEqual(graph.number_of_edges(), len(record["links"]))
            self.assertTrue(networkx.is_directed_acyclic_graph(graph))

    def test_a_row_of_the_export_is_a_program_that_checks_itself(self):
        self.assertEqual(len(self.commands), len(KERNELS))
        for command in self.commands:
            done = subprocess.run(command, shell=True, cwd=self.pipeline.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, f"{command}{done.stdout}{done.stderr}")
            self.assertRegex(done.stdout, r"median [0-9.]+ ms")

    def test_rows_join_their_runs_and_graphs_in_pandas(self):
        runs = pandas.read_json(io.BytesIO(self.exported[".meta.jsonl"]), lines=True)
        joined = self.rows.merge(runs, on="run_id", how="left", validate="many_to_one")
        self.assertEqual(len(joined), len(self.rows))
        self.assertEqual(set(joined["kernel_name"]), set(KERNELS))
        self.assertTrue(joined["run_id"].isin({record["run_id"] for record in self.graphs}).all())

    def test_best_prints_what_the_final_found(self):
        for kernel in KERNELS:
            printed = best(self.pipeline, kernel)
            (attempt,) = [each for each in self.attempts if each["run_id"] == printed["run_id"]]
            self.assertEqual(printed["kernel_name"], kernel)
            self.assertEqual(printed["attempt_id"], attempt["attempt_id"])
            self.assertEqual(printed["config_id"], attempt["counters"]["best_config_id"])
            self.assertEqual(printed["perf_ms"], attempt["counters"]["best_perf_ms"])


class TunedAgain(unittest.TestCase):
    def test_a_second_attempt_starts_from_the_best_config(self):
        with tempfile.TemporaryDirectory(prefix="tune_test.") as folder:
            pipeline = Pipeline(pathlib.Path(folder) / "pipeline")
            with pipeline.serving():
                best(pipeline, "softmax", accept=(1,))  # no config is known yet
                tune(pipeline, "softmax", "--max-configs=4", log="first")
                known = best(pipeline, "softmax")
                # This search has few configs of its own, and they differ from those of the first search.
                tune(pipeline, "softmax", "--max-configs=3", "--seed=99", "--search", log="second")
            second = pandas.read_csv(pipeline.folder / "second.csv")
            first_generation = second[(second["generation"] == 0) & (second["status"] == "ok")]
            self.assertIn(known["config_id"], set(first_generation["config_id"]))
            self.assertEqual(set(second["run_id"]), {known["run_id"]})
            attempts = json_lines(pipeline.export("helion")[".attempts.jsonl"])
            self.assertEqual([attempt["state"] for attempt in attempts], ["complete", "complete"])
            self.assertEqual({attempt["run_id"] for attempt in attempts}, {known["run_id"]})

    def test_a_search_knows_the_results_of_other_shapes(self):
        def said(pipeline, shape, *flags):
            command = [BIN / "telemetry-worker", "tune", "softmax", f"--arg=x={shape}:f32", DEVICE, *flags]
            command += [f"--collector={pipeline.address}", f"--state-dir={pipeline.folder / shape}"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment_with(()))
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout + done.stderr

        with tempfile.TemporaryDirectory(prefix="tune_test.") as folder:
            pipeline = Pipeline(pathlib.Path(folder) / "pipeline")
            with pipeline.serving():
                self.assertNotIn("related run", said(pipeline, "16x64", "--max-configs=12"))
                self.assertRegex(said(pipeline, "32x64", "--max-configs=12"), r"knows \d+ results of 1 related run\b")
                self.assertRegex(said(pipeline, "64x64", "--max-configs=3"), r"knows \d+ results of 2 related runs\b")
                self.assertNotIn("related run", said(pipeline, "64x128", "--max-configs=3", "--no-known"))

    def test_no_collector_and_no_state_but_what_was_asked_for(self):
        with tempfile.TemporaryDirectory(prefix="tune_test.") as folder:
            state, log = f"{folder}/state", f"{folder}/log"
            flags = ("--collector=", f"--state-dir={state}", f"--log={log}", "--max-configs=2", DEVICE)
            run("telemetry-worker", "tune", "softmax", *KERNELS["softmax"], *flags)
            self.assertEqual(sorted(os.listdir(state)), ["attempts", "best", "code"])  # no spool
            self.assertGreater(len(csv_rows(pathlib.Path(f"{log}.csv").read_bytes())), 0)


class Fleet(unittest.TestCase):
    """Workers that begin with the same suite at the same time. With WORKERS=10 KILLED=3, the test takes minutes."""

    def start(self, pipeline, suite, number):
        flags = (f"--collector={pipeline.address}", f"--state-dir={pipeline.folder / str(number)}", "--max-configs=4")
        with (pipeline.folder / f"{number}.log").open("w") as log:
            return subprocess.Popen(
                [BIN / "telemetry-worker", "run", f"--suite={suite}", "--compilers=1", *flags],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment_with(()),
            )

    def await_turn_of(self, pipeline, killed):
        """Waits until one of the workers searches, which the leases show, or has ended."""
        while not any(worker.poll() is not None for worker in killed):
            listed = run("telemetry-worker", "cache", "list", "--namespace=lease", f"--collector={pipeline.address}")
            if listed:
                return

    def test_each_run_is_searched_once(self):
        count, killed = int(os.environ.get("WORKERS", "3")), int(os.environ.get("KILLED", "0"))
        with tempfile.TemporaryDirectory(prefix="tune_test.") as folder:
            pipeline = Pipeline(pathlib.Path(folder) / "pipeline")
            suite = pathlib.Path(folder) / "suite.json"
            entries = [{"kernel": "softmax", "args": [f"x={rows}x64:f32"]} for rows in (16, 32)]
            suite.write_text(json.dumps({"devices": ["opencl:0"], "kernels": entries}))
            with pipeline.serving():
                dead = [self.start(pipeline, suite, number) for number in range(killed)]
                if dead:
                    self.await_turn_of(pipeline, dead)
                workers = [self.start(pipeline, suite, number) for number in range(killed, count)]
                for worker in dead:
                    worker.kill()
                    worker.communicate()
                for number, worker in enumerate(workers, killed):
                    table, _ = worker.communicate(timeout=580)
                    log = (pipeline.folder / f"{number}.log").read_text()
                    self.assertEqual(worker.returncode, 0, log)
                    self.assertRegex(table, r"softmax x=16x64:f32 .*\n.*softmax x=32x64:f32 ")
            attempts = json_lines(pipeline.export("helion")[".attempts.jsonl"])
            complete = [attempt for attempt in attempts if attempt["state"] == "complete"]
            searches = collections.Counter(
                attempt["run_id"] for attempt in complete if attempt["search_algorithm"] != "FiniteSearch"
            )
            self.assertEqual(sorted(searches.values()), [1, 1])
            self.assertEqual(len(complete), len(entries) * (count - killed))


def tune_children(parent):
    """Returns the roles of a tuner's running child processes by their pid."""
    roles = {}
    for thread in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for pid in thread.read_text().split():
                arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if b"tune-child" in arguments:
                    roles[int(pid)] = arguments[arguments.index(b"tune-child") + 1].decode()
    return roles


class Suite(unittest.TestCase):
    def test_it_says_how_long_it_takes_before_it_begins(self):
        with tempfile.TemporaryDirectory(prefix="tune_test.") as folder:
            suite = pathlib.Path(folder) / "suite.json"
            kernels = [{"kernel": "softmax", "args": [f"x={rows}x64:f32"]} for rows in (16, 32)]
            suite.write_text(json.dumps({"effort": "quick", "devices": ["opencl:0"], "kernels": kernels}))
            flags = ("--collector=", f"--state-dir={folder}/state", f"--log={folder}/log", "--max-configs=2")
            done = subprocess.run(
                [BIN / "telemetry-worker", "run", f"--suite={suite}", *flags],
                capture_output=True,
                text=True,
                timeout=300,
                env=environment_with(()),
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            said = done.stderr.splitlines()
            self.assertIn("2 entries, each some seconds to a minute on a GPU", said[0])
            self.assertTrue(any(line.startswith("1 entry done; 1 more will take") for line in said), done.stderr)
            self.assertRegex(done.stdout, r"softmax x=16x64:f32 +opencl:0 .*\n.*softmax x=32x64:f32 +opencl:0 ")

    def test_its_devices_share_the_compilers(self):
        """PoCL offers the processor as two devices, which tune at the same time with two compilers in all."""
        with tempfile.TemporaryDirectory(prefix="tune_test.") as folder:
            suite = pathlib.Path(folder) / "suite.json"
            kernels = [{"kernel": "softmax", "args": [f"x={rows}x64:f32"]} for rows in (16, 32, 48, 64)]
            devices = ["opencl:0", "opencl:1"]
            suite.write_text(json.dumps({"effort": "quick", "devices": devices, "kernels": kernels}))
            flags = ("--collector=", f"--state-dir={folder}/state", f"--log={folder}/log", "--max-configs=4")
            with open(f"{folder}/said", "w+b") as said:
                process = subprocess.Popen(
                    [BIN / "telemetry-worker", "run", f"--suite={suite}", "--compilers=2", *flags],
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    env={**environment_with(()), "POCL_DEVICES": "pthread pthread"},
                )
                most = {"compile": 0, "measure": 0}
                compilers = set()
                while process.poll() is None:
                    children = tune_children(process.pid)
                    for role in most:
                        most[role] = max(most[role], sum(child == role for child in children.values()))
                    compilers |= {pid for pid, role in children.items() if role == "compile"}
                    time.sleep(0.01)
                said.seek(0)
                text = said.read().decode()
            self.assertEqual(process.returncode, 0, text)
            for rows in (16, 32, 48, 64):
                self.assertRegex(text, rf"softmax x={rows}x64:f32 +opencl:[01] +[0-9.]+ ")
            for device in devices:
                self.assertRegex(text, rf"softmax x=\d+x64:f32 +{device} +[0-9.]+ ")
            self.assertEqual(len(compilers), 2, "the same two for all entries")
            self.assertEqual(most["compile"], 2)
            self.assertGreaterEqual(most["measure"], 3, "the devices did not measure at the same time")


if __name__ == "__main__":
    unittest.main()

"""Checks `telemetry-worker plan`: lists, shows, runs and writes plans, and names the place of a mistake in a plan file.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on the CPU's OpenCL device, or on
TELEMETRY_TEST_DEVICE.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from pipeline import BIN, TIMEOUT_S, environment_with

DEVICE = os.environ.get("TELEMETRY_TEST_DEVICE", "opencl:0")

PLAN = {
    "name": "mine",
    "inputs": [{"name": "x", "dtype": "f16", "sizes": [64, 96]}, {"name": "y", "dtype": "f16", "sizes": [96, 32]}],
    "lines": [
        {"extern": "matmul", "arguments": ["x", "y"], "outputs": ["product"]},
        {"call": "softmax", "arguments": ["product"], "outputs": ["weights"]},
        {"view": "rows", "of": "weights", "sizes": [32, 64], "strides": [64, 1]},
        {"call": "exp", "arguments": ["rows"], "outputs": ["out"]},
    ],
    "outputs": ["out"],
}


def plan(*arguments, folder=None):
    return subprocess.run(
        [BIN / "telemetry-worker", "plan", *arguments],
        capture_output=True, text=True, timeout=TIMEOUT_S, env=environment_with(()), cwd=folder,
    )  # fmt: skip


class PlanCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="plan_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "mine.json"
        self.file.write_text(json.dumps(PLAN))

    def output(self, *arguments):
        done = plan(*arguments, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_list(self):
        lines = self.output("list").splitlines()
        self.assertEqual([line.split()[0] for line in lines],
                         ["attention", "gated_mlp", "layer_norm", "normed_loss", "routed", "strided_softmax"])  # fmt: skip
        self.assertIn("2 inputs, 3 calls, 1 output, peak memory ", self.output("list", self.file))

    def test_show_lines(self):
        before, after = self.output("show", self.file).split("\nafter memory planning:\n")
        self.assertIn("input x f16[64, 96]\n", before)
        self.assertIn("free_if_not_reused product\n", before)
        self.assertIn("reuse product as out f16[32, 64]\n", after)
        self.assertRegex(after, r"peak memory: 12288 bytes before memory planning, 8192 after; allocations: 3 before, 2 after")

    def test_show_graph(self):
        graph = json.loads(self.output("show", self.file, "--as", "graph"))
        self.assertEqual(graph["graph"]["kernel_name"], "mine")
        targets = [node["target"] for node in graph["nodes"]]
        self.assertIn("reuse", targets)
        unplanned = json.loads(self.output("show", self.file, "--as", "graph", "--unplanned"))
        self.assertNotIn("reuse", [node["target"] for node in unplanned["nodes"]])

    def test_show_programs(self):
        for form, dialect in (("cpp", "cuda"), ("cpp", "opencl"), ("python", "cuda")):
            flags = ("show", self.file, "--as", form, "--dialect", dialect)
            plain = self.output(*flags)
            self.assertIn("matmul", plain)
            self.assertEqual(self.output(*flags, "--debug-values", "0", "--debug-kernels", "softmax"), plain)
            debugged = self.output(*flags, "--debug-values", "2", "--debug-kernels", "softmax")
            self.assertIn("softmax_values", debugged)
            self.assertNotIn("matmul_values", debugged)
        done = plan("show", self.file, "--as", "python", "--dialect", "opencl")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Python programs need CUDA", done.stderr)

    def test_fx_programs(self):
        for dialect, library in (("cuda", "import cupy"), ("opencl", "import pyopencl")):
            shown = self.output("show", self.file, "--as", "fx", "--dialect", dialect)
            self.assertIn("def make_graph_module(device=DEVICE):", shown)
            self.assertIn(library, shown)
            self.assertRegex(self.output("write", self.file, "--as", "fx", "--dialect", dialect, "--out", f"{dialect}.py"),
                             f"^python3 .*{dialect}.py")  # fmt: skip
            self.assertEqual((self.folder / f"{dialect}.py").read_text(), shown)
        debugged = plan("show", self.file, "--as", "fx", "--debug-values", "2")
        self.assertEqual(debugged.returncode, 2)
        self.assertIn("torch.fx.Interpreter", debugged.stderr)

    def test_one_plan_runs_with_three_shapes(self):
        for sizes in ({}, {"queries": 64, "keys": 96}, {"batches": 3, "queries": 8, "keys": 128, "depth": 16}):
            flags = [flag for name, size in sizes.items() for flag in ("--size", f"{name}={size}")]
            shape = ", ".join(str({"batches": 2, "queries": 16, "depth": 32, **sizes}[name])
                              for name in ("batches", "queries", "depth"))  # fmt: skip
            for plans in ((), ("--unplanned",)):
                ran = self.output("run", "attention", "--device", DEVICE, *flags, *plans)
                self.assertIn(f"out f32[{shape}]: right: ", ran)
            for form in (("cpp", "opencl"), ("python", "cuda"), ("fx", "opencl")):
                shown = self.output("show", "attention", "--as", form[0], "--dialect", form[1], *flags)
                self.assertIn(f"f32[{shape}]", shown)
        for flags, message in ((("--size", "rows=2"), "no symbol 'rows'; the plan has batches, queries, keys, depth"),
                               (("--size", "keys"), "--size keys: expected NAME=VALUE with an integer"),
                               (("--size", "keys=16,"), "--size keys=16,: expected NAME=VALUE with an integer"),
                               (("--size", "keys=16,64,16"), "--size keys=16,64,16: 16 is given twice"),
                               (("--size", "keys=" + ",".join(map(str, range(16, 81)))), "65 shapes; at most 64 are allowed"),
                               (("--size", "keys=0"), "symbol 'keys' is 0, but must be from 1 to "),
                               (("--size", "keys=1", "--size", "keys=2"), "once for each symbol")):  # fmt: skip
            done = plan("run", "attention", *flags)
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)

    def test_several_shapes_run_in_one_process(self):
        """All shapes share one block of memory, which is as large as the largest one alone needs."""
        def pool(*flags):
            ran = self.output("run", "attention", "--device", DEVICE, *flags)
            self.assertNotIn("WRONG", ran)
            return ran, int(re.search(r"memory pool of the \d+ shapes, without inputs and outputs: (\d+) bytes", ran).group(1))

        for plans in ((), ("--all-sizes",), ("--unplanned",)):
            ran, of_three = pool("--size", "keys=16,256,64", "--size", "queries=8", *plans)
            lines = ran.splitlines()
            self.assertEqual([line for line in lines if line.startswith("at ")],
                             ["at keys=16, queries=8:", "at keys=256, queries=8:", "at keys=64, queries=8:"])  # fmt: skip
            self.assertEqual(sum(line.startswith("out f32[2, 8, 32]: right: ") for line in lines), 3)
            self.assertEqual(pool("--size", "keys=256,255", "--size", "queries=8", *plans)[1], of_three)
            self.assertLess(pool("--size", "keys=64,16", "--size", "queries=8", *plans)[1], of_three)
        ran, _ = pool("--size", "keys=16,64", "--size", "queries=8,24")
        self.assertEqual(ran.count(": right: "), 4)
        self.assertNotIn("memory pool", self.output("run", "attention", "--device", DEVICE, "--size", "keys=16"))
        failed = plan("run", "attention", "--device", DEVICE, "--size", "keys=16,0")
        self.assertEqual(failed.returncode, 2)
        self.assertIn("at keys=0: symbol 'keys' is 0, but must be from 1 to ", failed.stderr)

    def test_programs_of_several_shapes(self):
        flags = ("attention", "--size", "keys=16,64")
        for form, dialect, text in (("cpp", "opencl", "void RunPlan_2() {"), ("python", "cuda", "def run_plan_2(q, k, v):"),
                                    ("fx", "opencl", "def make_graph_module_2(device=DEVICE):")):  # fmt: skip
            shown = self.output("show", *flags, "--as", form, "--dialect", dialect)
            self.assertIn(text, shown)
            self.assertIn("keys=64", shown)
        for command in (("show", *flags), ("show", *flags, "--as", "graph"), ("write", *flags, "--as", "graph")):
            done = plan(*command, folder=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--size gives 2 shapes, but this command and form have one", done.stderr)
        self.assertIn("DebugBegin();", self.output("show", *flags, "--as", "cpp", "--debug-values", "1"))
        done = plan("show", *flags, "--as", "fx", "--debug-values", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("FX programs have no debug calls", done.stderr)
        if not DEVICE.startswith("opencl"):
            return
        command = self.output("write", *flags, "--dialect", "opencl").strip()
        done = subprocess.run(f"{command} --no-time", shell=True, cwd=self.folder, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)  # fmt: skip
        self.assertTrue(done.stdout.endswith("at keys=16:\nat keys=64:\nthe results are right\n"), done.stdout + done.stderr)

    def test_sizes_decide_conditionals(self):
        decided = pathlib.Path(__file__).parent.parent / "worker/wrapper/file/decided.json"
        for rows, text in ((64, "# if rows > 64: false\ndefine add: add x=64x32:f32 y=64x32:f32\nenter_subgraph else_of_sizes_0\n"),
                           (65, "call softmax(x=hidden) -> out=weights\n")):  # fmt: skip
            self.assertIn(text, self.output("show", decided, "--size", f"rows={rows}"))
        ran = self.output("run", decided, "--device", DEVICE, "--size", "rows=8,9,64,65,80")
        self.assertEqual(ran.count(": right: "), 5)

    def test_memory_is_planned_for_all_sizes(self):
        """The lines are the same at every size, and the results right."""
        reuses = set()
        for rows, columns in ((16, 32), (40, 24), (8, 128)):
            flags = ("--all-sizes", "--size", f"rows={rows}", "--size", f"columns={columns}")
            shown = self.output("show", "routed", *flags)
            after = shown.split("\nafter memory planning:\n")[1]
            reuses.add(tuple(" ".join(line.split()[:4]) for line in after.splitlines() if line.startswith("reuse ")))
            self.assertIn(f"symbol rows: {rows}, from 1 to ", shown)
            self.assertIn("\nhidden f32[rows, columns]\n", shown)
            self.assertRegex(shown, "peak memory within the bounds: (at most|more than) ")
            self.assertIn(f"out f32[{columns}, {rows}]: right: ", self.output("run", "routed", "--device", DEVICE, *flags))
        self.assertEqual(len(reuses), 1)
        self.assertIn("reuse weights as sharp", reuses.pop())
        for form, dialect in (("cpp", "opencl"), ("fx", "opencl")):
            self.assertIn("reuse weights as sharp", self.output("show", "routed", "--as", form, "--dialect", dialect, "--all-sizes"))

    def test_conditionals_run_with_three_shapes_and_each_predicate(self):
        self.assertIn("4 inputs, 10 calls, 1 output", "".join(
            line for line in self.output("list").splitlines() if line.startswith("routed ")))  # fmt: skip
        routes = set()
        for rows, columns in ((16, 32), (40, 24), (8, 128)):
            flags = ["--size", f"rows={rows}", "--size", f"columns={columns}"]
            shown = self.output("show", "routed", *flags)
            self.assertIn(f"reuse hidden as out f32[{columns}, {rows}]\n", shown)
            self.assertIn(f"reuse weights as sharp f32[{rows}, {columns}]\n", shown)
            for form, dialect, condition in (("cpp", "opencl", "if (IsTrue(is_normed)) {"),
                                             ("python", "cuda", "    if is_true(is_normed):"),
                                             ("fx", "opencl", "conditional(graph, modules, is_normed, ")):  # fmt: skip
                self.assertIn(condition, self.output("show", "routed", "--as", form, "--dialect", dialect, *flags))
            for seed in range(1, 9):
                plans = ("--unplanned",) if seed % 2 else ()
                done = plan("run", "routed", "--device", DEVICE, "--seed", str(seed), "--debug-values=3", *flags, *plans)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"out f32[{columns}, {rows}]: right: ", done.stdout)
                routes.add(done.stderr)
        self.assertEqual(len(routes), 3)

    def test_run_writes_rows(self):
        inputs = [*PLAN["inputs"], {"name": "rows_to_add", "dtype": "i32", "sizes": [32]}]
        lines = [*PLAN["lines"], {"index_put": "out", "indices": "rows_to_add", "values": "rows", "accumulate": True}]
        self.file.write_text(json.dumps(PLAN | {"inputs": inputs, "lines": lines}))
        self.assertIn("3 inputs, 4 calls, 1 output", self.output("list", self.file))
        self.assertIn("out f16[32, 64]: right: ", self.output("run", self.file, "--device", DEVICE))

    def test_run_scatters_and_joins(self):
        inputs = [*PLAN["inputs"], {"name": "places", "dtype": "i32", "sizes": [32, 16]}]
        lines = [*PLAN["lines"][:-1], {"call": "exp", "arguments": ["rows"], "outputs": ["table"]},
                 {"view": "part", "of": "weights", "sizes": [32, 16], "strides": [64, 1]},
                 {"scatter": "table", "dimension": 1, "indices": "places", "values": "part", "reduce": "amax"},
                 {"concatenate": ["table", "rows", "table"], "dimension": 1, "outputs": ["out"]}]  # fmt: skip
        self.file.write_text(json.dumps(PLAN | {"inputs": inputs, "lines": lines}))
        self.assertIn("3 inputs, 5 calls, 1 output", self.output("list", self.file))
        self.assertIn("out f16[32, 192]: right: ", self.output("run", self.file, "--device", DEVICE))
        for form, dialect, call in (("cpp", "cuda", "HostScatter("), ("python", "cuda", "cupy.concatenate("),
                                    ("fx", "opencl", "torch.cat")):  # fmt: skip
            self.assertIn(call, self.output("show", self.file, "--as", form, "--dialect", dialect))

    @unittest.skipUnless(DEVICE.startswith("opencl"), "the kernels are written in OpenCL")
    def test_kernels_of_specifications(self):
        kernels = pathlib.Path(__file__).parent.parent / "worker/spec/kernels"
        steps = pathlib.Path(__file__).parent.parent / "worker/wrapper/source/steps.json"
        self.assertIn("third f32[10500]: right: ", self.output("run", steps, "--device", DEVICE))
        for form, call in (("cpp", 'LaunchSource("relax", relax, '), ("fx", 'call(launch_source, "relax", ')):
            shown = self.output("show", steps, "--as", form, "--dialect", "opencl")
            self.assertIn(call, shown)
        other = plan("show", steps, "--as", "python")
        self.assertEqual(other.returncode, 2)
        self.assertIn("is written in OpenCL: write a program for OpenCL", other.stderr)
        command = self.output("write", steps, "--dialect", "opencl", "--out", "steps.cpp")
        done = subprocess.run(command.strip() + " --no-time", shell=True, cwd=self.folder, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)  # fmt: skip
        self.assertIn("the results are right", done.stdout, done.stderr)

        # The best known config, from a tuning run; without one the default config, with a notice.
        spec = str(kernels / "pnpoly.opencl.json")
        polygon = {"name": "polygon",
                   "inputs": [{"name": "points", "dtype": "i32", "sizes": [2000, 2]},
                              {"name": "corners", "dtype": "i32", "sizes": [60, 2]}],
                   "lines": [{"spec": spec, "arguments": ["points", "corners"], "outputs": ["inside"], "config": "best"}],
                   "outputs": ["inside"]}  # fmt: skip
        self.file.write_text(json.dumps(polygon))
        flags = ("--device", DEVICE, "--state-dir", str(self.folder / "state"))
        unknown = plan("run", self.file, *flags)
        self.assertIn("inside i32[2000]: right: ", unknown.stdout, unknown.stderr)
        self.assertIn("no config is known for ", unknown.stderr)
        tuned = subprocess.run([BIN / "telemetry-worker", "tune", "--spec", spec, "--max-configs", "4", "--collector", "",
                                "--log", str(self.folder / "log"), *flags],
                               capture_output=True, text=True, timeout=TIMEOUT_S, env=environment_with(()), check=False)  # fmt: skip
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        best = subprocess.run([BIN / "telemetry-worker", "best", "--spec", spec, *flags],
                              capture_output=True, text=True, timeout=TIMEOUT_S, env=environment_with(()), check=True)  # fmt: skip
        shown = plan("show", self.file, *flags)
        self.assertIn(json.loads(best.stdout)["config_text"], shown.stdout)
        self.assertEqual(shown.stderr, "")

    def test_run(self):
        for flags in ((), ("--unplanned", "--seed", "7")):
            done = plan("run", self.file, "--device", DEVICE, *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("out f16[32, 64]: right: ", done.stdout)
            self.assertEqual(done.stderr, "")

    def test_run_shows_values(self):
        done = plan("run", self.file, "--device", DEVICE, "--debug-values=2", "--debug-kernels=softmax")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[program_inputs - mine - x] elements=6144 ", done.stderr)
        self.assertIn("[after_launch - softmax - out] buffer=weights elements=2048 ", done.stderr)
        self.assertNotIn("matmul", done.stderr)
        saved = plan("run", self.file, "--device", DEVICE, "--debug-values=1", f"--debug-dir={self.folder}/values")
        self.assertEqual(saved.returncode, 0, saved.stderr)
        self.assertEqual(len(list((self.folder / "values").iterdir())), 14)

    @unittest.skipUnless(DEVICE.startswith("opencl"), "needs the CUDA toolkit")
    def test_written_programs_run(self):
        command = self.output("write", self.file, "--dialect", "opencl", "--debug-values", "3")
        self.assertRegex(command, "^g[+][+] -std=c[+][+]17 -O2 .*mine.cpp.* -l:libOpenCL.so.1 && .*mine")
        done = subprocess.run(command.strip() + " --no-time", shell=True, cwd=self.folder, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the results are right", done.stdout)
        self.assertEqual(done.stderr.splitlines()[0], "[before_launch - matmul]")
        (self.folder / "mine.cpp").write_text("edited")
        again = plan("write", self.file, "--dialect", "opencl", folder=self.folder)
        self.assertEqual(again.returncode, 1)
        self.assertIn("mine.cpp exists with different content", again.stderr)

    def test_mistakes_are_wrong_usage_and_name_the_place(self):
        PLAN_WITH_MISTAKE = PLAN | {"lines": [{"call": "softmax", "arguments": ["z"], "outputs": ["out"]}]}
        self.file.write_text(json.dumps(PLAN_WITH_MISTAKE))
        for command in ("show", "run", "write", "list"):
            done = plan(command, self.file)
            self.assertEqual(done.returncode, 2, command)
            self.assertIn("mine.json: lines[0].arguments[0]: no buffer 'z' before this place", done.stderr)
        missing = plan("show", "absent.json")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("the plans that come with the worker are attention", missing.stderr)


if __name__ == "__main__":
    unittest.main()

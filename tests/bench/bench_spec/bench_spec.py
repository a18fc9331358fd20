"""Tunes the kernel of a T1 specification with telemetry-worker and with Kernel Tuner, and compares the two.

Both measure every config of the same space on the same device, verify the results, and begin without compiled code. See
README.md for the columns and for measurements.
"""

import argparse
import csv
import itertools
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/integration"))

from packages import need

KERNELS = ROOT / "tests/worker/spec/kernels"


def reduced(path, values):
    """Returns the specification with absolute paths, and with only these values of parameters (NAME=1,2,4)."""
    specification = json.loads(path.read_text())
    kernel = specification["KernelSpecification"]
    kernel["KernelFile"] = str(path.parent / kernel["KernelFile"])
    kept = dict(text.split("=") for text in values)
    for parameter in specification["ConfigurationSpace"]["TuningParameters"]:
        if parameter["Name"] not in kept:
            continue
        parameter["Values"] = f"[{kept.pop(parameter['Name'])}]"
        if parameter.get("Default") not in json.loads(parameter["Values"]):
            parameter.pop("Default", None)
    if kept:
        raise SystemExit(f"--values: the specification has no parameter {', '.join(kept)}")
    return specification


class Outcome:
    """One attempt: seconds until the last config was measured, seconds in all, and milliseconds by config.

    `steady` is the number of configs per second after the first one, and `first_s` the seconds until its result, if they
    are known. `steps` has the seconds of each step of each config, by the name of the step; `start` those of the steps
    before.
    """

    def __init__(self, search_s, all_s, times, steady=float("nan"), first_s=float("nan"), steps=None, start=None):
        self.search_s, self.all_s, self.times, self.steady = search_s, all_s, times, steady
        self.first_s, self.steps, self.start = first_s, steps or {}, start or []

    @property
    def configs(self):
        return len(self.times)

    @property
    def right(self):
        return {config: ms for config, ms in self.times.items() if ms is not None}

    @property
    def best(self):
        return min(self.right, key=self.right.get)


def key_of(config, parameters):
    return tuple(str(config[name]) for name in parameters)


def read_timeline(path):
    """Returns the seconds of each step of each config by the name of the step, and (step, begin, end) of the others.

    A step "idle" is added: the time between two configs in which nothing was loaded or measured.
    """
    steps, start, busy = {}, [], []
    with open(path, newline="") as timeline:
        for row in csv.DictReader(timeline):
            begin, end = float(row["begin_s"]), float(row["end_s"])
            if not row["config"]:
                start.append((row["step"], begin, end))
                continue
            steps.setdefault(row["step"], []).append(end - begin)
            if row["step"] not in ("compile", "wait", "load ahead", "record"):
                busy.append((begin, end))
    busy.sort()
    steps["idle"] = [max(0.0, later[0] - earlier[1]) for earlier, later in itertools.pairwise(busy)]
    return steps, start


def tune_here(arguments, specification, folder):
    """Tunes with telemetry-worker."""
    path = folder / "spec.json"
    path.write_text(json.dumps(specification))
    command = [
        arguments.bin / "telemetry-worker",
        "tune",
        f"--spec={path}",
        f"--device={arguments.device}",
        "--algorithm=random",
        "--max-configs=1000000",
        "--collector=",
        f"--log={folder / 'log'}",
        f"--state-dir={folder / 'state'}",
        f"--compilers={arguments.compilers}",
        f"--timeline={folder / 'timeline.csv'}",
        *arguments.flag,
    ]
    if arguments.effort == "equal":
        command += [f"--samples={arguments.iterations}", "--warm-caches"]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"POCL_CACHE_DIR": str(folder)})
    all_s = time.monotonic() - begin
    if done.returncode != 0:
        raise SystemExit(f"telemetry-worker ended with {done.returncode}: {done.stderr[-2000:]}")
    if arguments.verbose:
        print(done.stdout + done.stderr, file=sys.stderr)
    parameters = [p["Name"] for p in specification["ConfigurationSpace"]["TuningParameters"]]
    times, first_s, search_s = {}, None, 0.0
    with open(folder / "log.csv", newline="") as log:
        for row in csv.DictReader(log):
            if row["status"] == "started":
                continue
            config = eval(row["config"], {"Config": dict})  # written by the worker above
            key = key_of(config, parameters)
            if key in times:
                continue  # of the final
            times[key] = float(row["perf_ms"]) if row["perf_ms"] else None
            search_s = float(row["timestamp_s"])
            first_s = search_s if first_s is None else first_s
    steady = (len(times) - 1) / (search_s - first_s) if search_s > first_s else float("nan")
    return Outcome(search_s, all_s, times, steady, first_s, *read_timeline(folder / "timeline.csv"))


def tune_there(arguments, specification, folder):
    """Tunes with Kernel Tuner, in a process of its own."""
    path = folder / "spec.json"
    path.write_text(json.dumps(specification))
    command = [sys.executable, __file__, "--kernel-tuner-child", str(path), f"--iterations={arguments.iterations}"]
    if arguments.language:
        command.append(f"--language={arguments.language}")
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"POCL_CACHE_DIR": str(folder)})
    all_s = time.monotonic() - begin
    if done.returncode != 0:
        raise SystemExit(f"Kernel Tuner ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    outcome = json.loads(done.stdout.splitlines()[-1])
    return Outcome(outcome["seconds"], all_s, {tuple(key): ms for key, ms in outcome["times"]}, steps=outcome["steps"])


def numpy_argument(argument, index):
    """Returns the initial contents of an argument: of the same distribution as those of telemetry-worker."""
    import numpy

    types = {"double": "float64", "float": "float32", "int": "int32"}
    vector = re.fullmatch("(float|double|int)([234])", argument["Type"])
    name, lanes = (vector[1], int(vector[2])) if vector else (argument["Type"], 1)
    dtype = numpy.dtype(types.get(name, name))
    scale = argument.get("FillValue", 1 if argument.get("FillType") == "Random" else 0)
    if argument["MemoryType"] == "Scalar":
        return dtype.type(scale)
    size = argument["Size"] * lanes
    if argument.get("FillType") != "Random":
        return numpy.full(size, scale, dtype)
    random = numpy.random.default_rng(argument.get("RandomSeed", index))
    if dtype.kind == "f":
        return (random.standard_normal(size) * scale).astype(dtype)
    return random.integers(0, max(2, scale), size, dtype=dtype)


def kernel_tuner_child(arguments):
    """Tunes a specification with Kernel Tuner; prints a line of JSON with the seconds and the times."""
    import contextlib
    import io

    import kernel_tuner
    import numpy

    specification = json.loads(pathlib.Path(arguments.kernel_tuner_child).read_text())
    kernel = specification["KernelSpecification"]
    space = specification["ConfigurationSpace"]
    parameters = {p["Name"]: json.loads(p["Values"]) for p in space["TuningParameters"]}
    values, constants, answer = [], {}, []
    for index, argument in enumerate(kernel["Arguments"]):
        value = numpy_argument(argument, index)
        if argument["MemoryType"] == "Symbol":
            constants[argument["Name"]] = value
            continue
        values.append(value)
        answer.append(argument.get("AccessType") in ("WriteOnly", "ReadWrite"))
    options = {
        "lang": arguments.language or kernel["Language"],
        "grid_div_x": kernel.get("GridDivX"),
        "grid_div_y": kernel.get("GridDivY"),
    }
    if constants:
        options["cmem_args"] = constants
    verification = kernel["Verification"]
    first = {p["Name"]: p.get("Default", parameters[p["Name"]][0]) for p in space["TuningParameters"]}
    reference, reference_options = kernel["KernelName"], dict(options)
    first |= verification.get("Config", {})
    if verification["Method"] == "ReferenceKernel":
        reference = verification["KernelName"]
        reference_options |= {
            "grid_div_x": verification.get("GridDivX"),
            "grid_div_y": verification.get("GridDivY"),
        }
        sizes = verification["LocalSize"]
        first |= {"block_size_x": int(sizes["X"]), "block_size_y": int(sizes.get("Y", 1))}
    source = pathlib.Path(kernel["KernelFile"]).read_text()
    size = kernel["ProblemSize"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        results = kernel_tuner.run_kernel(reference, source, size, values, first, **reference_options)
        answer = [results[i] if written else None for i, written in enumerate(answer)]
        tolerance = max(verification["AbsoluteTolerance"], 1e-6)

        def verify(expected, actual, atol=None):
            return all(
                numpy.allclose(a, b, rtol=verification["RelativeTolerance"], atol=tolerance)
                for a, b in zip(expected, actual, strict=True)
                if a is not None
            )

        begin = time.monotonic()
        results, _ = kernel_tuner.tune_kernel(
            kernel["KernelName"],
            source,
            size,
            values,
            parameters,
            restrictions=[condition["Expression"] for condition in space["Conditions"]],
            answer=answer,
            verify=verify,
            iterations=arguments.iterations,
            strategy="brute_force",
            quiet=True,
            **options,
        )
        seconds = time.monotonic() - begin
    times = [
        (key_of(result, parameters), result["time"] if isinstance(result["time"], float) else None) for result in results
    ]
    steps = {
        step: [result[f"{name}_time"] / 1e3 for result in results]
        for step, name in (("compile", "compile"), ("check", "verification"), ("sample", "benchmark"), ("idle", "framework"))
    }
    print(json.dumps({"seconds": seconds, "times": times, "steps": steps}))


def spread(outcomes):
    """Returns the median over all configs of the relative difference of its repeated measurements."""
    spreads = []
    for key in outcomes[0].right:
        times = [outcome.right.get(key) for outcome in outcomes]
        if None not in times:
            spreads.append((max(times) - min(times)) / min(times))
    return statistics.median(spreads) if spreads else float("nan")


def report(name, outcomes, other_best):
    """Prints a line of the table for repeated attempts."""
    middle = sorted(outcomes, key=lambda outcome: outcome.search_s)[len(outcomes) // 2]
    best = middle.right[middle.best]
    of_best = middle.right.get(other_best)
    print(
        f"{name:17}{middle.configs:8}{middle.configs - len(middle.right):8}{middle.search_s:10.1f}"
        f"{middle.configs / middle.search_s:8.2f}{middle.steady:11.2f}{middle.all_s:9.1f}{best:11.4f}"
        f"{of_best / best if of_best else float('nan'):14.2f}"
        f"{100 * spread(outcomes) if len(outcomes) > 1 else float('nan'):9.1f} %"
    )
    return middle


def print_timeline(name, outcome):
    """Prints where the time of an attempt goes. Steps from "load" on, without "record", add up."""
    print(f"\n{name}: the last config was measured after {outcome.search_s:.2f} s", end="")
    print("" if math.isnan(outcome.first_s) else f", the first one after {outcome.first_s:.2f} s")
    for step, begin, end in outcome.start:
        print(f"  {step:22}{begin:9.3f} s to {end:9.3f} s")
    if outcome.steps:
        print("  step        times      all s    median ms     most ms")
    for step, seconds in outcome.steps.items():
        middle = statistics.median(seconds) if seconds else 0
        print(f"  {step:10}{len(seconds):7}{sum(seconds):11.2f}{1e3 * middle:13.2f}{1e3 * max(seconds, default=0):12.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", nargs="?", help="a specification, or the name of a kernel of tests/worker/spec/kernels")
    parser.add_argument("--device", default="opencl:0", help="the device of telemetry-worker")
    parser.add_argument("--language", help="the backend of Kernel Tuner for CUDA: CUDA, CUPY or NVCUDA")
    parser.add_argument("--values", nargs="*", default=[], help="NAME=1,2,4: only these values of a parameter")
    parser.add_argument("--iterations", type=int, default=7, help="runs of each config by Kernel Tuner")
    parser.add_argument(
        "--effort",
        choices=("equal", "own"),
        default="equal",
        help="equal: telemetry-worker takes as many samples as Kernel Tuner, with warm caches; own: its usual effort",
    )
    parser.add_argument("--timeline", action="store_true", help="also print where the time goes")
    parser.add_argument("--compilers", type=int, default=0, help="compiler processes of telemetry-worker")
    parser.add_argument("--repeat", type=int, default=1, help="attempts of each tool, in turn")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--only", choices=("telemetry-worker", "kernel-tuner"))
    parser.add_argument("--flag", action="append", default=[], help="another flag of `telemetry-worker tune`")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--kernel-tuner-child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.kernel_tuner_child:
        kernel_tuner_child(arguments)
        return
    language = "opencl" if arguments.device.startswith("opencl") else "cuda"
    path = pathlib.Path(arguments.kernel)
    if not path.exists():
        path = KERNELS / f"{arguments.kernel}.{language}.json"
    specification = reduced(path, arguments.values)
    tools = {"telemetry-worker": tune_here, "kernel-tuner": tune_there}
    if arguments.only:
        tools = {arguments.only: tools[arguments.only]}
    outcomes = {name: [] for name in tools}
    for _ in range(arguments.repeat):
        for name, tune in tools.items():
            with tempfile.TemporaryDirectory(prefix="bench_spec.") as folder:
                outcomes[name].append(tune(arguments, specification, pathlib.Path(folder)))
    print(
        "tool              configs  failed  search s       /s  steady /s    all s    best ms  other's best   spread"
    )
    bests = {name: of_tool[0].best for name, of_tool in outcomes.items()}
    middles = [
        report(name, of_tool, next((best for other, best in bests.items() if other != name), None))
        for name, of_tool in outcomes.items()
    ]
    if len(middles) == 2:
        here, there = middles
        if here.times.keys() != there.times.keys():
            print(f"the sets of configs differ: {len(here.times.keys() ^ there.times.keys())} are in one only")
        rate = there.configs / there.search_s
        print(
            f"{here.configs / here.search_s / rate:.2f} times the configs per second, "
            f"{here.steady / rate:.2f} times after the first result"
        )
    if arguments.timeline:
        for name, middle in zip(outcomes, middles, strict=True):
            print_timeline(name, middle)


if __name__ == "__main__":
    need("kernel_tuner", "numpy")
    main()

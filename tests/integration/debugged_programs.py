#!/usr/bin/env python3
"""Compares the debug calls of programs with the debugger of `telemetry-worker plan run`, for every sample plan and level.

    debugged_programs.py [--device cuda:0] [--plan attention]...

For each plan and each level from 0 to 3, runs the plan, and the programs in C++ and Python that `plan write` writes for it. Compares
what they print on standard error and the files that they save, byte for byte; at level 0, also the text of the program with that of a
program without debug calls. Needs the built programs (TELEMETRY_BIN_DIR; default build/release/bin), g++, and for CUDA the toolkit
below /usr/local/cuda and CuPy. Python programs run on CUDA only. Prints a line for each comparison. Exit status 1: there is a
difference.

By hand, on a GPU: debugged_program_test makes the same comparisons on the CPU's OpenCL device in the normal test run.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TELEMETRY_BIN_DIR", ROOT / "build/release/bin"))
LIMIT_S = 300
SEEDS = {"routed": (1, 2, 3, 4)}  # whose predicates choose branches; other plans: 1
SIZES = {"attention": ("", "keys=16,65,128")}  # other plans: those of the plan


def run(command, folder):
    """Runs a command in a folder. Returns its exit status, its outputs and the files that it saved."""
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=LIMIT_S, check=False)
    saved = folder / "values"
    files = {path.name: path.read_bytes() for path in saved.iterdir()} if saved.exists() else {}
    return done.returncode, done.stdout.decode(), done.stderr.decode(), files


def worker(*arguments):
    return [str(BIN / "telemetry-worker"), "plan", *arguments]


def arch_of(device):
    """Returns the flags of `plan write` for a device."""
    if device.startswith("opencl"):
        return ["--dialect", "opencl"]
    listed = subprocess.run([BIN / "telemetry-worker", "devices"], capture_output=True, text=True, check=True).stdout
    of_device = listed.partition(f"{device}\n")[2]
    return ["--arch", next(word for word in of_device.split() if word.startswith("sm_"))]


def differences(expected, actual):
    """Returns what differs between two runs, as a list of texts."""
    found = []
    if actual[0] != 0:
        found.append(f"exit status {actual[0]}: {actual[1][-300:]}{actual[2][-300:]}")
    if "the results are right" not in actual[1]:
        found.append("the results are wrong")
    if actual[2] != expected[2]:
        pairs = zip(expected[2].splitlines() + [""], actual[2].splitlines() + [""])
        first = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
        found.append(f"other lines; first: run\n    {first[0]}\n  program\n    {first[1]}")
    for name in sorted(expected[3].keys() | actual[3].keys()):
        if expected[3].get(name) != actual[3].get(name):
            found.append(f"file {name} {'differs' if name in expected[3] and name in actual[3] else 'is missing'}")
    return found


def compare(plan, size, seed, level, device, flags, folder):
    """Compares the programs of a plan at a level with its run. Returns the lines of the report."""
    (folder / "run").mkdir(parents=True)
    debug = ["--debug-values", str(level), "--debug-dir", "values", "--seed", str(seed)]
    sizes = ["--size", size] if size else []
    flags = [*flags, *sizes]
    expected = run(worker("run", plan, "--device", device, *sizes, *debug), folder / "run")
    name = f"{plan}{size and ', ' + size}, seed {seed}, level {level}"
    if expected[0] != 0:
        return [f"FAILED {name}: the run ended with {expected[0]}: {expected[2][-500:]}"]
    lines = []
    for form in ("cpp",) if device.startswith("opencl") else ("cpp", "python"):
        of_form = folder / form
        of_form.mkdir()
        file = "program." + {"cpp": "cpp", "python": "py"}[form]
        status, command, errors, _ = run(worker("write", plan, "--as", form, *flags, *debug, "--out", file), of_form)
        if status != 0:
            lines.append(f"FAILED {name}, {form}: {errors}")
            continue
        if level == 0:
            plain = [part for part in debug if not part.startswith(("--debug", "values", "0"))]
            run(worker("write", plan, "--as", form, *flags, *plain, "--out", f"plain.{file}"), of_form)
            is_same = (of_form / f"plain.{file}").read_text().replace("plain.program", "program") == (of_form / file).read_text()
        else:
            is_same = True
        if form == "cpp":
            compile_command = command.strip().rpartition(" && ")[0]
            compiled = subprocess.run(compile_command.replace("-O2", "-O0"), shell=True, cwd=of_form, check=False)
            program = ["./program"] if compiled.returncode == 0 else ["false"]
        else:
            program = [sys.executable, *shlex.split(command)[1:]]
        found = differences(expected, run([*program, "--no-time"], of_form))
        if not is_same:
            found.append("the text differs from that without debug calls")
        printed = f"{len(expected[2].splitlines())} lines, {len(expected[3])} files"
        lines.append(f"{'DIFFERS' if found else 'equal'}  {name}, {form}: {printed}")
        lines += [f"  {text}" for text in found]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--plan", action="append", help="name of a sample plan (default: all)")
    parser.add_argument("--jobs", type=int, default=max(1, min(8, (os.cpu_count() or 2) // 2)))
    options = parser.parse_args()
    listed = subprocess.run(worker("list"), capture_output=True, text=True, check=True).stdout
    plans = options.plan or [line.split()[0] for line in listed.splitlines()]
    flags = arch_of(options.device)
    lines = []
    with tempfile.TemporaryDirectory(prefix="debugged_programs.") as name:
        cases = [
            (plan, size, seed, level)
            for plan in plans
            for size in SIZES.get(plan, ("",))
            for seed in SEEDS.get(plan, (1,))
            for level in range(4)
        ]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            tasks = [
                pool.submit(compare, *case, options.device, flags, pathlib.Path(name) / "_".join(map(str, case)))
                for case in cases
            ]
            for task in tasks:
                lines += task.result()
                print("\n".join(task.result()), flush=True)
    wrong = [line for line in lines if line.startswith(("DIFFERS", "FAILED"))]
    equal = [line for line in lines if line.startswith("equal")]
    print(f"{len(equal)} programs equal, {len(wrong)} not, on {options.device}")
    return 1 if wrong or not equal else 0


if __name__ == "__main__":
    sys.exit(main())

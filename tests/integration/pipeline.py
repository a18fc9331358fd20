"""The programs of the pipeline for tests: a collector on a database, forward, export.

The database is a SQLite file, or a new database on the server in TELEMETRY_TEST_POSTGRESQL if it is set.
"""

import contextlib
import csv
import io
import json
import os
import pathlib
import secrets
import socket
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TELEMETRY_BIN_DIR", ROOT / "build/release/bin"))
TESTDATA = ROOT / "tests/testdata"
TIMEOUT_S = 120


def environment_with(more):
    """Returns the environment of this process without the variables of a CI job or of this test run, plus `more`."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(("TELEMETRY_", "CI", "GITHUB_", "GITLAB_"))}
    return own | dict(more)


def run(program, *arguments, accept=(0,), folder=None, environment=(), limit_s=TIMEOUT_S):
    """Runs a program in a folder and returns its output. Fails if the exit status is not in `accept`, or after the limit."""
    done = subprocess.run(
        [BIN / program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=limit_s,
        env=environment_with(environment),
        cwd=folder,
    )
    if done.returncode not in accept:
        raise AssertionError(f"{program} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def free_ports(count):
    """Returns the first of `count` consecutive ports on which nobody listens."""
    for first in range(20000 + os.getpid() % 10000, 60000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as listener:
                    listener.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise AssertionError("no free ports")


def new_database(folder):
    """Returns a value for --db: a file in the folder that does not exist yet, or an empty database on the server."""
    return folder / "dataset.db" if server() is None else new_server_database()


def server():
    """Returns the URL of the test server; None if there is none."""
    return os.environ.get("TELEMETRY_TEST_POSTGRESQL")


def new_server_database():
    """Creates an empty database on the test server and returns its URL."""
    name = f"test_{secrets.token_hex(8)}"
    subprocess.run(["psql", "-qX", "-c", f"CREATE DATABASE {name}", server()], check=True, timeout=TIMEOUT_S)
    return server().replace("/postgres?", f"/{name}?")


class Pipeline:
    """A database with its own folder. A collector serves it inside `with pipeline.serving():`."""

    def __init__(
        self, folder, serve_flags=(), client_flags=(), serve_environment=(), client_environment=(), database=None
    ):
        self.serve_flags = serve_flags
        self.client_flags = client_flags
        self.serve_environment = serve_environment
        self.client_environment = client_environment
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.database = database or new_database(self.folder)
        self.address = None
        self._exports = 0

    @contextlib.contextmanager
    def serving(self, listen="127.0.0.1:0"):
        with open(self.folder / "collector.log", "ab") as log:
            process = subprocess.Popen(
                [BIN / "telemetry-collector", "serve", "--db", self.database, f"--listen={listen}", *self.serve_flags],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment_with(self.serve_environment),
            )
            try:
                line = process.stdout.readline()
                prefix = "listening on "
                if not line.startswith(prefix):
                    raise AssertionError(f"the collector did not start:\n{(self.folder / 'collector.log').read_text()}")
                self.address = line[len(prefix) :].strip()
                yield self
            finally:
                self.address = None
                process.terminate()
                status = process.wait(TIMEOUT_S)
                process.stdout.close()
            if status != 0:
                raise AssertionError(f"the collector ended with {status} after SIGTERM")

    def forward(self, *paths, origin="ci/1", state="state", flags=(), accept=(0,)):
        run(
            "telemetry-worker",
            "forward",
            f"--collector={self.address}",
            f"--state-dir={self.folder / state}",
            f"--origin={origin}",
            "--once",
            *self.client_flags,
            *flags,
            *paths,
            accept=accept,
            environment=self.client_environment,
        )

    def export(self, layout, *flags, live=False):
        """Exports the dataset; returns the files by the part of their names after the base."""
        self._exports += 1
        base = self.folder / f"export{self._exports}" / "data"
        base.parent.mkdir()
        source = [f"--collector={self.address}", *self.client_flags] if live else [f"--db={self.database}"]
        environment = self.client_environment if live else self.serve_environment
        run("telemetry-export", *source, f"--out={base}", f"--layout={layout}", *flags, environment=environment)
        return {path.name.removeprefix("data"): path.read_bytes() for path in base.parent.iterdir()}


class Sample:
    """Sidecars under tests/testdata, and the flags that forward needs for them."""

    def __init__(self, name, layout, flags=()):
        self.name = name
        self.layout = layout
        self.flags = flags

    def files(self):
        base = TESTDATA / self.name
        return {path.name.removeprefix(base.name): path for path in sorted(base.parent.glob(base.name + ".*"))}

    def original(self, suffix):
        path = self.files().get(suffix)
        return path.read_bytes() if path else b""

    def copy_to(self, folder, cut=False):
        """Copies the files under their names into a new folder.

        cut: copies only the first half of their bytes.
        """
        target = pathlib.Path(folder) / self.name
        target.parent.mkdir(parents=True, exist_ok=True)
        for suffix, path in self.files().items():
            content = path.read_bytes()
            (target.parent / (target.name + suffix)).write_bytes(content[: len(content) // 2] if cut else content)
        return target.parent / (target.name + ".csv")

    def path(self):
        return TESTDATA / (self.name + ".csv")


V11_FLAGS = (
    "--kernel-name=softmax_two_pass",
    f"--kernel-source={TESTDATA / 'kernel_source.py'}",
    "--input-shapes=[(4096, 2560)]",
    "--dtypes=['torch.float16']",
    "--hardware=NVIDIA H200",
)

SAMPLES = [
    Sample("helion-main/bmm", "helion"),
    Sample("helion-main/rms_norm", "helion"),
    Sample("helion-main/softmax", "helion"),
    Sample("helion-pr2750/add", "pr2750"),
    Sample("helion-pr2750/long_sum", "pr2750"),
    Sample("helion-pr2750/softmax", "pr2750"),
    Sample("helion-pr2699/softmax_two_pass", "pr2699"),
    Sample("helion-v1.1/softmax_two_pass", "v1.1", V11_FLAGS),
]


def csv_rows(content):
    """Returns the rows of a CSV without its headers, as the original bytes."""
    text = io.StringIO(content.decode(), newline="")
    starts = []
    reader = csv.reader(text)
    lines = content.decode().splitlines(keepends=True)
    done = 0
    for fields in reader:
        row = "".join(lines[done : reader.line_num])
        done = reader.line_num
        if "timestamp_s" not in fields:
            starts.append(row.encode())
    return starts


def json_lines(content):
    return [json.loads(line) for line in content.splitlines()]

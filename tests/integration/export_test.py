"""Tests telemetry-export: errors of users, and the agreement of exports with their documentation."""

import csv
import io
import json
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import textwrap
import unittest

from pipeline import BIN, ROOT, SAMPLES, TESTDATA, TIMEOUT_S, Pipeline, environment_with, json_lines, run, server

LAYOUTS = ("helion", "pr2750", "pr2699", "v1.1", "keyed")


class ExportTest(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="export_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.pipeline = Pipeline(self.folder / "pipeline")

    def forward_samples(self):
        with self.pipeline.serving():
            for sample in SAMPLES:
                self.pipeline.forward(sample.path(), flags=sample.flags)
            self.pipeline.forward(TESTDATA / "helion-1.5.1/job.csv")

    def tune(self):
        """Adds a kernel whose rows have samples, and one whose configs all fail."""
        with self.pipeline.serving():
            for flags, accept in ((("--arg=x=64x64:f32",), (0,)), (("--arg=x=32x32:f32", "--compile-limit=1ms"), (1,))):
                run(
                    "telemetry-worker",
                    "tune",
                    "softmax",
                    "--max-configs=2",
                    f"--collector={self.pipeline.address}",
                    f"--state-dir={self.pipeline.folder / 'tuned'}",
                    *flags,
                    accept=accept,
                )


class Mistakes(ExportTest):
    def setUp(self):
        super().setUp()
        self.forward_samples()
        self.source = f"--db={self.pipeline.database}"

    def export(self, *flags, accept=(0,)):
        run("telemetry-export", self.source, f"--out={self.folder / 'snapshot'}", *flags, accept=accept)

    def refused(self, *flags):
        """Returns the error of an export that fails."""
        done = subprocess.run(
            [BIN / "telemetry-export", self.source, f"--out={self.folder / 'snapshot'}", *flags],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env=environment_with({}),
        )
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stderr

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.glob("snapshot*")}

    def assert_mistyped_values_are_answered(self):
        for flag, answer in (
            ("--kernel=sofmax", "no kernel is called 'sofmax'; did you mean 'softmax'?"),
            ("--hardware=H200", "no run is on the device 'H200'; did you mean 'NVIDIA H200'?"),
            ("--status=OK", "no row has the status 'OK'; did you mean 'ok'?"),
            ("--run=0000000", "no row matches --run '0000000'"),
        ):
            with self.subTest(flag):
                self.assertIn(answer, self.refused(flag))

    def test_a_mistyped_value_leaves_the_earlier_export_as_it_was(self):
        self.export()
        before = self.files()
        self.assert_mistyped_values_are_answered()
        self.assertEqual(self.files(), before)

    def test_a_collector_knows_the_values_that_exist(self):
        with self.pipeline.serving():
            self.source = f"--collector={self.pipeline.address}"
            self.assert_mistyped_values_are_answered()
        self.assertEqual(self.files(), {})

    def test_an_empty_export_is_written_where_it_is_meant(self):
        self.export("--kernel=no_such_kernel", "--allow-empty")
        self.assertEqual(len(self.files()["snapshot.csv"].splitlines()), 1)

    def test_a_file_that_no_export_made_is_replaced_only_by_force(self):
        (self.folder / "snapshot.csv").write_text("my own table")
        self.assertIn("is not from an earlier export", self.refused())
        self.assertEqual(self.files(), {"snapshot.csv": b"my own table"})
        self.export("--force")
        self.export()  # now with the files of the export
        self.assertNotIn(b"my own table", self.files()["snapshot.csv"])


def csv_dicts(content):
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


class Keyed(ExportTest):
    """The files of the keyed layout join by key, and no row is lost."""

    def setUp(self):
        super().setUp()
        self.forward_samples()
        self.tune()
        self.files = self.pipeline.export("keyed", "--details")
        self.rows = csv_dicts(self.files[".csv"])

    def by_key(self, suffix, *key):
        lines = json_lines(self.files[suffix])
        keyed = {tuple(str(line[name]) for name in key): line for line in lines}
        self.assertEqual(len(keyed), len(lines), f"{key} is not unique in {suffix}")
        return keyed

    def test_every_row_of_the_dataset_is_there_once(self):
        helion = csv_dicts(self.pipeline.export("helion")[".csv"])
        self.assertEqual(len({(row["attempt_id"], row["seq"]) for row in self.rows}), len(helion))
        for keyed, row in zip(self.rows, helion, strict=True):
            for column in ("run_id", "config_id", "generation", "status"):
                self.assertEqual(keyed[column], row[column])
            for column, digits in (("timestamp_s", 2), ("perf_ms", 6), ("compile_time_s", 2)):
                self.assertEqual(f"{float(keyed[column]):.{digits}f}" if keyed[column] else "", row[column])

    def test_every_row_has_the_record_of_its_run_and_of_its_attempt(self):
        runs = self.by_key(".runs.jsonl", "run_id")
        attempts = self.by_key(".attempts.jsonl", "attempt_id")
        killed = {row["run_id"] for row in csv_dicts((ROOT / "tests/testdata/helion-main/bmm.csv").read_bytes())}
        for row in self.rows:
            run_record = runs[row["run_id"],]
            self.assertEqual(attempts[row["attempt_id"],]["run_id"], row["run_id"])
            self.assertEqual(run_record["described"], row["run_id"] not in killed)
            self.assertEqual(run_record["kernel_name"] is None, row["run_id"] in killed)

    def test_every_detail_has_its_row(self):
        details = self.by_key(".details.jsonl", "attempt_id", "seq")
        rows = {(row["attempt_id"], row["seq"]): row for row in self.rows}
        self.assertGreater(len(details), 0)
        for key, detail in details.items():
            for column in ("run_id", "config_id", "status"):
                self.assertEqual(rows[key][column], detail[column])

    def test_configs_are_objects(self):
        for row in self.rows:
            self.assertIn("num_warps", json.loads(row["config"]))

    def test_hashes_of_sources_stand_in_their_rows(self):
        hashes = csv_dicts(self.pipeline.export("helion")[".sources.csv"])
        self.assertEqual(
            [row["source_hash"] for row in self.rows if row["source_hash"]], [row["source_hash"] for row in hashes]
        )


def documented(path, section):
    """Returns the names in the first column of a section's tables, as pairs (name, remaining cells)."""
    text = (ROOT / path).read_text()
    found = re.search(rf"^### {re.escape(section)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise AssertionError(f"{path} has no section {section}")
    return {row[1]: row[2] for row in re.finditer(r"^\| `([^`]+)` \|(.*)\|$", found.group(1), re.MULTILINE)}


def keys_of(value, prefix, opened):
    """Returns the keys of a JSON object, with "outer.inner" for the keys of opened inner objects."""
    for key, inner in value.items():
        yield prefix + key
        if key in opened and isinstance(inner, dict):
            yield from keys_of(inner, f"{prefix}{key}.", opened)


class DocumentedProgram(ExportTest):
    """The pandas program of DATA.md runs, also on a dataset that contains only forwarded sidecars and no details."""

    def run_program(self):
        self.pipeline.export("keyed", "--details")
        text = (ROOT / "server/export/DATA.md").read_text()
        (program,) = re.findall(r"^    import json\n(?:    .*\n)+", text, re.MULTILINE)
        newest = max(self.pipeline.folder.rglob("*.runs.jsonl"), key=lambda file: file.stat().st_mtime_ns)
        base = str(newest).removesuffix(".runs.jsonl")
        program = textwrap.dedent(program).replace("BASE", base) + "print(len(rows))\n"
        python = ROOT / "build/venv/bin/python3"
        if not python.exists():
            self.skipTest("tests/run installs pandas")
        return int(subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout)

    def test_it_keeps_every_row(self):
        self.forward_samples()
        rows = len(csv_dicts(self.pipeline.export("helion")[".csv"]))
        self.assertEqual(self.run_program(), rows)
        self.tune()
        self.assertGreater(self.run_program(), rows)


class Documented(ExportTest):
    """Every column and key is documented, and every documented column and key exists."""

    def written_names(self):
        """Returns the names in the exports of all layouts, by section of DATA.md."""
        written = {}
        opened = ("environment", "counters", "failure", "filter", "counts")
        runs = csv_dicts(self.pipeline.export("keyed")[".csv"])
        for layout in LAYOUTS:
            filters = [f"--run={runs[0]['run_id']}"] if layout == "pr2699" else []  # a layout with one run per file
            for suffix, content in self.pipeline.export(layout, "--details", *filters).items():
                if suffix in (".csv", ".sources.csv"):
                    names = csv_dicts(content)[0].keys()
                elif suffix.endswith(".jsonl"):
                    names = {name for line in json_lines(content) for name in keys_of(line, "", opened)}
                else:
                    names = set(keys_of(json.loads(content), "", opened))
                section = {".meta.json": ".meta.jsonl", ".wrapper.jsonl": ".ir.jsonl"}.get(suffix, suffix)
                written.setdefault(section, set()).update(names)
        return written

    def test_every_name_in_an_export(self):
        self.forward_samples()
        self.tune()
        for section, names in self.written_names().items():
            with self.subTest(section):
                names -= {name for name in names if name.startswith("counts.measurements_by_status.")}
                self.assertEqual(sorted(documented("server/export/DATA.md", section)), sorted(names))

    def test_every_status_in_an_export(self):
        text = (ROOT / "server/export/DATA.md").read_text()
        self.forward_samples()
        for row in csv_dicts(self.pipeline.export("helion")[".csv"]):
            self.assertIn(f"| `{row['status']}` |", text)

    def tables(self):
        text = (ROOT / "migrations/README.md").read_text()
        return re.findall(r"^### (\w+)$", text, re.MULTILINE)

    def test_every_column_of_sqlite(self):
        database = sqlite3.connect(":memory:")
        for migration in sorted((ROOT / "migrations/sqlite").glob("*.sql")):
            database.executescript(migration.read_text())
        schema = {}
        for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'"):
            schema[table] = list(database.execute(f"SELECT name, type, \"notnull\" OR pk FROM pragma_table_info('{table}')"))
        database.close()
        self.assertEqual(sorted(self.tables()), sorted([*schema, "schema_versions", "removed_attempts"]))
        for table, columns in schema.items():
            with self.subTest(table):
                lines = documented("migrations/README.md", table)
                lines = {name: rest for name, rest in lines.items() if "(PostgreSQL)" not in rest}
                self.assertEqual(sorted(lines), sorted(name for name, _, _ in columns))
                for name, kind, required in columns:
                    cells = [cell.strip() for cell in lines[name].split(" | ")]
                    if kind:  # a column of a table; a view's columns are expressions
                        self.assertEqual(cells[0].split(",")[0], kind, name)
                    if kind and required:
                        self.assertEqual(cells[1], "–", name)

    @unittest.skipIf(server() is None, "TELEMETRY_TEST_POSTGRESQL names no server")
    def test_every_column_of_postgresql(self):
        self.forward_samples()
        sql = (
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name !~ '_[0-9]+$'"
        )
        done = subprocess.run(
            ["psql", "-qX", "--csv", "--tuples-only", "-c", sql, self.pipeline.database],
            capture_output=True,
            text=True,
            check=True,
            timeout=TIMEOUT_S,
        )
        columns = sorted(tuple(row) for row in csv.reader(io.StringIO(done.stdout)))
        documented_columns = [
            (table, name)
            for table in self.tables()
            for name, rest in documented("migrations/README.md", table).items()
            if "(SQLite)" not in rest
        ]
        self.assertEqual(sorted(documented_columns), columns)


if __name__ == "__main__":
    unittest.main()

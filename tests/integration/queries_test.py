"""Checks that the queries of migrations/README.md run on the databases that they are for, find rows, and find the same
rows in both.

If TELEMETRY_TEST_POSTGRESQL is set, the same dataset is created in SQLite and in PostgreSQL, and the results are
compared.
"""

import csv
import io
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import unittest

from pipeline import ROOT, SAMPLES, TIMEOUT_S, Pipeline, run, server

BY_NAME = {sample.name: sample for sample in SAMPLES}


def documented_queries(database):
    """Returns the queries for this database by number, as pairs (title, SQL)."""
    text = (ROOT / "migrations/README.md").read_text()
    block = re.search(r"```sql\n(.*?)```", text, re.DOTALL).group(1)
    queries = {}
    for query in re.split(r"\n\n(?=-- )", block.strip()):
        number, only_for, title = re.match(r"-- (\d+)(?: \((\w+)\))?\. (.*)", query).groups()
        if only_for in (None, database):
            queries[int(number)] = (title, query)
    return queries


def sqlite_rows(path, sql):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return [tuple(row) for row in connection.execute(sql)]
    finally:
        connection.close()


def postgresql_rows(url, sql):
    done = subprocess.run(
        ["psql", "-qX", "--csv", "--tuples-only", "-v", "ON_ERROR_STOP=1", "-c", sql, url],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [tuple(row) for row in csv.reader(io.StringIO(done.stdout))]


def comparable(rows):
    """Returns the rows of either database in one order and with numbers as floats, so that they can be compared."""

    def value(field):
        if field is None or field == "":
            return ""
        try:
            return float(f"{float(field):.12g}")  # the databases sum in different orders
        except ValueError:
            return field

    return sorted((tuple(value(field) for field in row) for row in rows), key=repr)


class Queries(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="queries_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def filled(self, name, database=None):
        """Returns a dataset with rows for every query: the real sidecars, one that was cut off (its last line is
        refused), a tuned kernel whose rows have samples, and one whose configs all fail.
        """
        pipeline = Pipeline(self.folder / name, database=database)
        with pipeline.serving():
            for sample in SAMPLES:
                pipeline.forward(sample.path(), flags=sample.flags)
            pipeline.forward(BY_NAME["helion-pr2750/add"].copy_to(self.folder / name / "cut", cut=True), origin="killed", accept=(1,))
            self.tune(pipeline, "--arg=x=64x64:f32")
            self.tune(pipeline, "--arg=x=32x32:f32", "--compile-limit=1ms", accept=(1,))
        return pipeline.database

    def tune(self, pipeline, *flags, accept=(0,)):
        run(
            "telemetry-worker",
            "tune",
            "softmax",
            "--max-configs=2",
            f"--collector={pipeline.address}",
            f"--state-dir={pipeline.folder / 'tuned'}",
            *flags,
            accept=accept,
        )

    def assert_all_find_rows(self, queries, find_rows):
        self.assertEqual(sorted(queries), list(range(1, 14)))
        for number, (title, sql) in queries.items():
            with self.subTest(number=number, title=title):
                self.assertGreater(len(find_rows(sql)), 0)

    def test_in_sqlite(self):
        path = self.filled("sqlite", database=self.folder / "dataset.db")
        self.assert_all_find_rows(documented_queries("SQLite"), lambda sql: sqlite_rows(path, sql))

    @unittest.skipIf(server() is None, "TELEMETRY_TEST_POSTGRESQL names no server")
    def test_in_postgresql(self):
        url = self.filled("postgresql")
        self.assert_all_find_rows(documented_queries("PostgreSQL"), lambda sql: postgresql_rows(url, sql))

    @unittest.skipIf(server() is None, "TELEMETRY_TEST_POSTGRESQL names no server")
    def test_both_find_the_same(self):
        url = Pipeline(self.folder / "copied").database
        path = self.filled("sqlite", database=self.folder / "dataset.db")
        run("telemetry-collector", "copy", f"--from={path}", f"--to={url}")
        of_sqlite = documented_queries("SQLite")
        of_postgresql = documented_queries("PostgreSQL")
        # Query 9 prints times in the format of each database; query 13 is about the storage.
        for number in sorted(of_sqlite.keys() - {9, 13}):
            with self.subTest(number=number):
                self.assertEqual(
                    comparable(sqlite_rows(path, of_sqlite[number][1])),
                    comparable(postgresql_rows(url, of_postgresql[number][1])),
                )


if __name__ == "__main__":
    unittest.main()

"""Tests copies of a dataset between SQLite and PostgreSQL: exports of both have the same bytes, also after interrupted
copies, and producers continue with the new database.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata and on the PostgreSQL server
in TELEMETRY_TEST_POSTGRESQL.
TELEMETRY_FAULTS is the number of kills of a copy (default 20). TELEMETRY_SEED repeats a run's choices.
"""

import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

import settings
from pipeline import BIN, SAMPLES, TIMEOUT_S, Pipeline, new_server_database, run

LAYOUTS = ("helion", "pr2750")
FAULTS = settings.faults(20)


class CopyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="copy_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self._names = 0

    def new_name(self, what):
        self._names += 1
        return f"{what}{self._names}"

    def new_file(self):
        return self.folder / f"{self.new_name('copy')}.db"

    def at(self, database):
        """Returns a pipeline on a database that exists or that a program will create."""
        pipeline = Pipeline(self.folder / self.new_name("pipeline"))
        pipeline.database = database
        return pipeline

    def exports(self, database):
        pipeline = self.at(database)
        return {layout: pipeline.export(layout, "--details") for layout in LAYOUTS}

    def assert_same(self, database, expected):
        got = self.exports(database)
        for layout in LAYOUTS:
            self.assertEqual(sorted(got[layout]), sorted(expected[layout]))
            for name, content in expected[layout].items():
                self.assertTrue(got[layout][name] == content, f"{name} of {layout} differs in {database}")

    def copy(self, source, target, accept=(0,)):
        return run("telemetry-collector", "copy", "--from", source, "--to", target, accept=accept)

    def forward_all(self, pipeline, times=1):
        """Forwards all samples, each first cut and then complete, and a file with an invalid row."""
        damaged = self.folder / self.new_name("damaged")
        with pipeline.serving():
            for sample in SAMPLES:
                # The complete file supersedes the shorter one.
                pipeline.forward(sample.copy_to(damaged, cut=True), flags=sample.flags, accept=(0, 1))
                for number in range(times):
                    pipeline.forward(sample.path(), flags=sample.flags, origin=f"ci/{number + 1}")
            torn = damaged / "torn.csv"
            torn.write_bytes(SAMPLES[0].original(".csv") + b"no,row,at,all\n")
            pipeline.forward(torn, accept=(1,))
        return pipeline


class Places(CopyTest):
    def test_a_dataset_is_the_same_wherever_it_is_kept(self):
        in_file = self.forward_all(self.at(self.new_file()))
        on_server = self.forward_all(self.at(new_server_database()))
        expected = self.exports(in_file.database)
        # The two datasets differ only in the arrival times, which an export does not contain.
        self.assert_same(on_server.database, expected)
        for source in (in_file.database, on_server.database):
            for target in (self.new_file(), new_server_database()):
                printed = self.copy(source, target)
                self.assertIn("rejects", printed)
                self.assertNotRegex(printed, r"(?m)^(rejects|superseded_attempts|ir_nodes|run_settings) +0 rows")
                self.assert_same(target, expected)
                again = new_server_database() if isinstance(target, pathlib.Path) else self.new_file()
                self.copy(target, again)
                self.assert_same(again, expected)

    def test_what_it_prints_are_the_hashes_of_an_export(self):
        source = self.at(self.new_file())
        with source.serving():
            source.forward(SAMPLES[0].path())
        printed = self.copy(source.database, new_server_database())
        self.assertIn(b"sha256", source.export("helion", "--details")[".snapshot.json"])
        for line in printed.splitlines():
            if line.startswith("export "):
                digest = line.split()[-1].encode()
                self.assertIn(digest, source.export("helion", "--details")[".snapshot.json"])


class Killed(CopyTest):
    def test_killed_at_any_moment_it_goes_on_where_it_was(self):
        chance = random.Random(settings.seed())
        source = self.forward_all(self.at(self.new_file()), times=4).database
        expected = self.exports(source)
        began = time.monotonic()
        on_server = new_server_database()
        self.copy(source, on_server)
        took_s = time.monotonic() - began
        for fault in range(FAULTS):
            from_place = (source, on_server)[fault % 2]
            to_place = (new_server_database, self.new_file)[fault // 2 % 2]()
            for _ in range(chance.randint(1, 4)):
                self.kill_copy(from_place, to_place, chance.uniform(0, took_s))
            printed = self.copy(from_place, to_place, accept=(0, 1))
            # A copy that was killed just after its end is complete, and refuses to start again.
            if "the same as in" not in printed:
                self.assertIn("holds a dataset already", self.complaint(from_place, to_place))
            self.assert_same(to_place, expected)

    def kill_copy(self, source, target, after_s):
        process = subprocess.Popen(
            [BIN / "telemetry-collector", "copy", "--from", source, "--to", target],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait(TIMEOUT_S)

    def complaint(self, source, target):
        done = subprocess.run(
            [BIN / "telemetry-collector", "copy", "--from", source, "--to", target],
            capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        self.assertEqual(done.returncode, 1)
        return done.stderr


class Producers(CopyTest):
    """Tests a spool whose first half the old database has acknowledged, and its second half the new one."""

    def test_a_producer_goes_on_with_the_new_place(self):
        whole = self.at(self.new_file())
        with whole.serving():
            for sample in SAMPLES:
                whole.forward(sample.path(), flags=sample.flags)
        expected = self.exports(whole.database)
        for make_old, make_new in (
            (self.new_file, new_server_database),
            (new_server_database, self.new_file),
        ):
            with self.subTest(make_new=make_new.__name__):
                self.move_between(self.at(make_old()), make_new(), expected)

    def move_between(self, old, target, expected):
        half = len(SAMPLES) // 2
        with old.serving():
            address = old.address
            for sample in SAMPLES[:half]:
                old.forward(sample.path(), flags=sample.flags)
        # No collector listens: the records stay in the spool.
        old.address = address
        for sample in SAMPLES[half:]:
            old.forward(sample.path(), flags=[*sample.flags, "--drain-timeout=100ms"], accept=(1,))
        self.copy(old.database, target)
        new = self.at(target)
        with new.serving():
            # Forwards the same spool, and again the rows that the old database has.
            old.address = new.address
            for sample in SAMPLES:
                old.forward(sample.path(), flags=sample.flags)
        self.assert_same(target, expected)


class Refusals(CopyTest):
    def complaint(self, program, *arguments):
        done = subprocess.run([BIN / program, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return done.stderr

    def test_an_unfinished_copy_says_what_to_do(self):
        source = self.forward_all(self.at(self.new_file()))
        expected = self.exports(source.database)
        for new_target in (self.new_file, new_server_database):
            target = self.begin_copy(source.database, new_target)
            for program, *arguments in (
                ("telemetry-collector", "serve", "--listen=127.0.0.1:0"),
                ("telemetry-collector", "migrate"),
                ("telemetry-export", "--out", self.folder / "none"),
            ):
                self.assertIn("run the same telemetry-collector copy again",
                              self.complaint(program, *arguments, "--db", target))  # fmt: skip
            self.copy(source.database, target)
            self.assert_same(target, expected)

    def begin_copy(self, source, new_target):
        """Starts a copy and kills it. Returns a target that contains an unfinished copy."""
        for _ in range(20):  # on a busy machine, a copy may be done before it is killed
            target = new_target()
            after_s = 0.001
            while not self.copy_for(after_s, source, target):
                done = subprocess.run([BIN / "telemetry-export", "--db", target, "--out", self.folder / "begun"],
                                      capture_output=True, text=True, timeout=TIMEOUT_S)  # fmt: skip
                if "unfinished" in done.stderr:
                    return target
                after_s *= 1.3
        self.fail("each copy was done before it was killed")

    def copy_for(self, duration_s, source, target):
        """Copies for this time at most; returns whether the copy was done."""
        process = subprocess.Popen([BIN / "telemetry-collector", "copy", "--from", source, "--to", target],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            process.wait(duration_s)
            return True
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(TIMEOUT_S)
            return False

    def test_a_dataset_is_not_written_over_and_no_password_is_said(self):
        source = self.forward_all(self.at(self.new_file()))
        other = self.at(new_server_database())
        with other.serving():
            other.forward(SAMPLES[0].path())
        expected = self.exports(other.database)
        with_password = other.database.replace("postgres@", "postgres:sesame@")
        said = self.complaint("telemetry-collector", "copy", "--from", source.database, "--to", with_password)
        self.assertIn("holds a dataset already", said)
        self.assertNotIn("sesame", said)
        self.assert_same(other.database, expected)

    def test_what_a_collector_serves_is_not_copied(self):
        source = self.forward_all(self.at(self.new_file()))
        with source.serving():
            self.assertIn("in use", self.complaint(
                "telemetry-collector", "copy", "--from", source.database, "--to", self.new_file()))  # fmt: skip


if __name__ == "__main__":
    unittest.main()

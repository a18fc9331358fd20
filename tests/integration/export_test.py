"""telemetry-export as people use it: mistakes, and an export next to its documentation."""

import pathlib
import subprocess
import tempfile
import unittest

from pipeline import BIN, SAMPLES, TIMEOUT_S, Pipeline, environment_with, run


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
        self.export()  # the export's own files now
        self.assertNotIn(b"my own table", self.files()["snapshot.csv"])


if __name__ == "__main__":
    unittest.main()

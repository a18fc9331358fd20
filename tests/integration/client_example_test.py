"""Runs client/example.cc against a real collector: its rows are stored, and exported like those of a sidecar."""

import csv
import io
import json
import pathlib
import tempfile
import unittest

from pipeline import Pipeline, run


class ClientExample(unittest.TestCase):
    def test_its_attempt_is_exported(self):
        with tempfile.TemporaryDirectory(prefix="client_example_test.") as folder:
            pipeline = Pipeline(pathlib.Path(folder) / "pipeline")
            with pipeline.serving():
                run("client-example", pipeline.address, pipeline.folder / "spool")
            exported = pipeline.export("helion")
            checked = run("telemetry-collector", "check", f"--db={pipeline.database}", "--identities")
        rows = list(csv.DictReader(io.StringIO(exported[".csv"].decode())))
        self.assertEqual([row["status"] for row in rows], ["ok", "error"])
        self.assertEqual(rows[0]["config"], "Config(num_warps=4)")
        self.assertEqual(float(rows[0]["perf_ms"]), 0.125)
        (record,) = map(json.loads, exported[".meta.jsonl"].splitlines())
        self.assertEqual(record["kernel_name"], "softmax")
        self.assertEqual(sorted(record["configs"].values(), key=str), [{"num_warps": 32}, {"num_warps": 4}])
        self.assertEqual({row["run_id"] for row in rows}, {record["run_id"]})
        self.assertIn("ids: 3 right, 0 wrong", checked)


if __name__ == "__main__":
    unittest.main()

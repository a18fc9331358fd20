"""Tests the programs with mutual TLS and tokens: the dataset is the same as without them, and unauthorised callers are
refused.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata.
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

from certificates import Authority
from pipeline import BIN, SAMPLES, TIMEOUT_S, Pipeline, csv_rows, run


class Authorization(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="authorization_test.")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        ours, others = Authority(cls.folder, "ca"), Authority(cls.folder, "other-ca")
        ours.issue("collector")
        ours.issue("runner")
        others.issue("stranger")
        cls.tokens = {role: cls.add_token("--role", role) for role in ("reader", "writer", "reader,writer")}
        cls.tokens["expired"] = cls.add_token("--role", "admin", "--expires", "1ms")

    @classmethod
    def file(cls, name):
        return cls.folder / name

    @classmethod
    def add_token(cls, *flags):
        return run("telemetry-collector", "token", "add", "--tokens", cls.file("tokens.json"), *flags).strip()

    def client_flags(self, token, identity="runner", authority="ca"):
        path = self.file("token." + token)
        path.write_text(self.tokens[token] + "\n")
        return [
            f"--tls-ca={self.file(authority + '.pem')}",
            f"--tls-cert={self.file(identity + '.pem')}",
            f"--tls-key={self.file(identity + '.key')}",
            f"--token-file={path}",
        ]

    def pipeline(self, name):
        return Pipeline(
            self.folder / name,
            serve_flags=(
                f"--tls-cert={self.file('collector.pem')}",
                f"--tls-key={self.file('collector.key')}",
                f"--tls-client-ca={self.file('ca.pem')}",
                f"--tokens={self.file('tokens.json')}",
                "--log-level=debug",
            ),
            client_flags=self.client_flags("reader,writer"),
        )

    def fails(self, program, *arguments, environment=None, status=1):
        """Runs a program that must end with this status, and returns its standard error."""
        done = subprocess.run(
            [BIN / program, *map(str, arguments)],
            capture_output=True, text=True, timeout=TIMEOUT_S, env={**os.environ, **(environment or {})})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assert_no_token(done.stdout + done.stderr)
        return done.stderr

    def assert_no_token(self, text):
        for role, token in self.tokens.items():
            self.assertNotIn(token[3:], text, f"the {role} token shows")

    def test_the_dataset_is_the_same_as_without(self):
        samples = [sample for sample in SAMPLES if sample.name.startswith("helion-main")]
        exports = []
        for pipeline in (Pipeline(self.folder / "open"), self.pipeline("closed")):
            with pipeline.serving():
                for sample in samples:
                    pipeline.forward(sample.path(), flags=sample.flags)
                exports.append(pipeline.export("helion", live=True))
            self.assert_no_token((pipeline.folder / "collector.log").read_text())
        self.assertEqual(exports[0], exports[1])
        self.assertIn(".csv", exports[0])

    def test_strangers_get_nothing_and_are_told_why(self):
        pipeline = self.pipeline("strangers")
        with pipeline.serving():
            collector = f"--collector={pipeline.address}"
            out = f"--out={self.folder / 'stolen'}"
            forward = ("forward", collector, f"--state-dir={self.folder / 'stranger-state'}", "--drain-timeout=2s")
            sample = SAMPLES[0].path()
            said = self.fails("telemetry-export", collector, out, *self.client_flags("writer"))
            self.assertIn("this needs reader", said)
            said = self.fails("telemetry-export", collector, out, *self.client_flags("expired"))
            self.assertIn("expired", said)
            said = self.fails("telemetry-export", collector, out, *self.client_flags("reader")[:3])
            self.assertIn("TELEMETRY_TOKEN", said)
            self.fails("telemetry-export", collector, out, *self.client_flags("reader", identity="stranger"))
            self.fails("telemetry-export", collector, out, *self.client_flags("reader", authority="other-ca"))
            self.fails("telemetry-export", collector, out, f"--token-file={self.file('token.reader')}")
            said = self.fails("telemetry-worker", *forward, *self.client_flags("reader"), sample)
            self.assertIn("this needs writer", said)
            self.assertIn("Nothing is lost", said)
            self.fails("telemetry-worker", *forward, sample, environment={"TELEMETRY_TOKEN": self.tokens["writer"]})
            rows = pipeline.export("helion", "--allow-empty", live=True)[".csv"]
        self.assertEqual(csv_rows(rows), [])
        self.assertEqual(list(self.folder.glob("stolen*")), [])
        log = (pipeline.folder / "collector.log").read_text()
        self.assert_no_token(log)
        self.assertIn('certificate="CN=runner', log)
        self.assertRegex(log, "refused a call: .*method=/telemetry.v1.DatasetService/Export")

    def test_what_waited_goes_out_with_the_right_token(self):
        pipeline = self.pipeline("patient")
        with pipeline.serving():
            right = pipeline.client_flags
            pipeline.client_flags = [*self.client_flags("reader"), "--drain-timeout=5s"]
            pipeline.forward(SAMPLES[0].path(), flags=SAMPLES[0].flags, accept=(1,))
            pipeline.client_flags = right
            pipeline.forward(SAMPLES[0].path(), flags=SAMPLES[0].flags)
            got = pipeline.export("helion", live=True)[".csv"]
        self.assertGreater(len(got), 0)

    def test_a_token_does_not_leave_the_machine_in_plaintext(self):
        said = self.fails("telemetry-export", "--collector=collector.invalid:4747", f"--out={self.folder / 'x'}",
                          environment={"TELEMETRY_TOKEN": self.tokens["reader"]}, status=2)
        self.assertIn("plaintext", said)

    def test_permanent_mistakes_end_at_once_as_wrong_usage(self):
        programs = (
            ("telemetry-export", f"--out={self.folder / 'x'}"),
            ("telemetry-worker", "forward", f"--state-dir={self.folder / 'mistaken'}", SAMPLES[0].path()),
            ("telemetry-worker", "tune", "add", f"--state-dir={self.folder / 'mistaken'}"),
            ("telemetry-worker", "best", "add", f"--state-dir={self.folder / 'mistaken'}"),
            ("telemetry-worker", "repro", "0123"),
        )
        mistakes = {
            ("--collector=127.0.0.1",): "has no port",
            ("--collector=http://127.0.0.1:4747",): "has a scheme",
            ("--collector=127.0.0.1:4747", f"--token-file={self.folder / 'nobody'}"): "nobody: cannot be read",
            ("--collector=127.0.0.1:4747", f"--tls-ca={self.folder / 'nobody'}"): "nobody: cannot be read",
        }
        for program in programs:
            for flags, words in mistakes.items():
                with self.subTest(program=program, flags=flags):
                    self.assertIn(words, self.fails(*program, *flags, status=2))

    def test_who_speaks_tls_to_plaintext_or_the_reverse_is_told(self):
        out = f"--out={self.folder / 'x'}"
        closed, opened = self.pipeline("of tls"), Pipeline(self.folder / "of plaintext")
        with closed.serving(), opened.serving():
            said = self.fails("telemetry-export", f"--collector={closed.address}", out)
            self.assertIn("give --tls-ca if it serves TLS", said)
            tls = f"--tls-ca={self.file('ca.pem')}"
            said = self.fails("telemetry-export", f"--collector={opened.address}", out, tls)
            self.assertIn("does not speak TLS", said)


if __name__ == "__main__":
    unittest.main()

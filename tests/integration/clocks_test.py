"""Tests wall clocks that are wrong by a day or by ten years, or that are set while programs run: order, deduplication
and delivery do not depend on them.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata, with shifted_clock.cc
preloaded.
"""

import datetime
import itertools
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest

from pipeline import BIN, SAMPLES, Pipeline, environment_with, run

DAY_S = 24 * 3600
TEN_YEARS_S = 3652 * DAY_S
SHIFTS_S = (0, DAY_S, -DAY_S, TEN_YEARS_S, -TEN_YEARS_S)
LAYOUTS = ("helion", "pr2750")
PATIENCE_S = 60  # a program that waited on a clock set back by a day would wait for a day


class Clock:
    """A shifted wall clock that programs use in place of the machine's."""

    def __init__(self, path, shift_s=0):
        self.path = path
        self.set(shift_s)

    def set(self, shift_s):
        self.path.write_text(f"{shift_s:<31}")  # in place, because programs keep the file open

    @property
    def environment(self):
        return {"LD_PRELOAD": str(BIN / "libshifted-clock.so"), "TELEMETRY_CLOCK_SHIFT": str(self.path)}


class ClocksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="clocks_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.collector_clock = Clock(self.folder / "collector-clock")
        self.client_clock = Clock(self.folder / "client-clock")

    def pipeline(self, name, serve_flags=()):
        return Pipeline(
            self.folder / name,
            serve_flags=serve_flags,
            serve_environment=self.collector_clock.environment,
            client_environment=self.client_clock.environment,
        )

    def forward_all(self, pipeline, state="state"):
        for sample in SAMPLES:
            pipeline.forward(sample.path(), flags=sample.flags, state=state)

    def exports(self, pipeline):
        return {layout: pipeline.export(layout) for layout in LAYOUTS}


class WrongAllAlong(ClocksTest):
    def setUp(self):
        super().setUp()
        right = self.pipeline("right")
        with right.serving():
            self.forward_all(right)
        self.expected = self.exports(right)
        self.assertTrue(self.expected["helion"][".csv"])

    def test_programs_believe_the_wrong_clock(self):
        self.collector_clock.set(TEN_YEARS_S)
        pipeline = self.pipeline("believes")
        with pipeline.serving():
            pass
        year = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=TEN_YEARS_S)).year
        self.assertIn(str(year), (pipeline.folder / "collector.log").read_text())

    def test_the_dataset_is_the_same_under_all_of_them(self):
        for collector_s, client_s in itertools.product(SHIFTS_S, SHIFTS_S):
            with self.subTest(collector=collector_s, client=client_s):
                self.collector_clock.set(collector_s)
                self.client_clock.set(client_s)
                pipeline = self.pipeline(f"both{collector_s}_{client_s}")
                with pipeline.serving():
                    self.forward_all(pipeline)
                self.assertEqual(self.exports(pipeline), self.expected)

    def test_nothing_is_stored_twice_whatever_the_clocks_were_before(self):
        pipeline = self.pipeline("again")
        for number, (collector_s, client_s) in enumerate(itertools.permutations(SHIFTS_S, 2)):
            self.collector_clock.set(collector_s)
            self.client_clock.set(client_s)
            with pipeline.serving():
                self.forward_all(pipeline, state=f"state{number}")
        self.assertEqual(self.exports(pipeline), self.expected)

    def test_the_order_is_that_of_the_content_though_each_part_came_under_another_clock(self):
        pipeline = self.pipeline("parts")
        shifts = itertools.cycle((TEN_YEARS_S, -TEN_YEARS_S, DAY_S, -DAY_S, 0))
        for sample in SAMPLES:
            self.collector_clock.set(next(shifts))
            self.client_clock.set(next(shifts))
            with pipeline.serving():
                cut = sample.copy_to(pipeline.folder / "cut", cut=True)
                pipeline.forward(cut, flags=sample.flags, accept=(0, 1))  # its last line is incomplete
                self.collector_clock.set(next(shifts))
                self.client_clock.set(next(shifts))
                sample.copy_to(pipeline.folder / "cut")
                pipeline.forward(cut, flags=sample.flags)
        self.assertEqual(self.exports(pipeline), self.expected)


def free_address():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % listener.getsockname()[1]


def succeeds(*command):
    try:
        run(*command)
    except AssertionError:
        return False
    return True


class SetMeanwhile(ClocksTest):
    def test_records_that_wait_for_a_collector_are_delivered_though_the_clock_is_set(self):
        for shift_s in SHIFTS_S[1:]:
            with self.subTest(shift=shift_s):
                self.client_clock.set(0)
                pipeline = self.pipeline(f"away{shift_s}")
                address = free_address()
                command = [BIN / "telemetry-worker", "forward", f"--collector={address}", "--once",
                           f"--state-dir={pipeline.folder / 'state'}", SAMPLES[0].path()]  # fmt: skip
                with subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                                      env=environment_with(self.client_clock.environment)) as client:  # fmt: skip
                    self.addCleanup(client.kill)
                    said = iter(client.stderr.readline, "")
                    self.assertTrue(any("cannot accept records now" in line for line in said))
                    # The client backs off between retries, each time longer.
                    self.client_clock.set(shift_s)
                    with pipeline.serving(listen=address):
                        self.assertEqual(client.wait(PATIENCE_S), 0)
                self.assertTrue(pipeline.export("helion")[".csv"])

    def test_a_collector_goes_on_looking_at_its_tokens_though_the_clock_is_set(self):
        for shift_s in SHIFTS_S[1:]:
            with self.subTest(shift=shift_s):
                self.collector_clock.set(0)
                tokens = self.folder / f"tokens{shift_s}.json"
                add = ("telemetry-collector", "token", "add", "--tokens", tokens, "--role", "reader")
                run(*add)
                pipeline = self.pipeline(f"tokens{shift_s}", serve_flags=(f"--tokens={tokens}",))
                with pipeline.serving():
                    self.collector_clock.set(shift_s)
                    token_file = self.folder / f"token{shift_s}"
                    token_file.write_text(run(*add))
                    token_file.chmod(0o600)
                    export = ("telemetry-export", f"--collector={pipeline.address}", f"--token-file={token_file}",
                              f"--out={pipeline.folder / 'out'}", "--allow-empty")  # fmt: skip
                    until = time.monotonic() + PATIENCE_S
                    let_in = False
                    while not let_in and time.monotonic() < until:
                        let_in = succeeds(*export)
                    self.assertTrue(let_in)


if __name__ == "__main__":
    unittest.main()

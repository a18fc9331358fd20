"""Checks that `telemetry-worker show-code` prints code and the options that compile it, for each name of an
architecture.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin).
"""

import pathlib
import subprocess
import tempfile
import unittest

from pipeline import BIN, TIMEOUT_S, environment_with


def show(*arguments):
    return subprocess.run(
        [BIN / "telemetry-worker", "show-code", *arguments],
        capture_output=True, text=True, timeout=TIMEOUT_S, env=environment_with(()),
    )  # fmt: skip


class ShowCode(unittest.TestCase):
    def test_code_for_sm_90_says_that_it_compiles_as_sm_90a(self):
        shown = [show("matmul", "--arch", name) for name in ("sm_90", "sm_90a")]
        for done in shown:
            self.assertEqual(done.returncode, 0, done.stderr)
        first_line, code = shown[0].stdout.split("\n", 1)
        self.assertEqual(first_line, "// NVRTC options: --gpu-architecture=sm_90a --std=c++17 -default-device")
        self.assertIn("wgmma", code)
        self.assertEqual(shown[1].stdout, shown[0].stdout)

    def test_other_architectures_keep_their_names(self):
        self.assertIn("--gpu-architecture=sm_80 ", show("matmul", "--arch", "sm_80").stdout.split("\n")[0])
        self.assertNotIn("NVRTC", show("softmax", "--dialect", "opencl").stdout)

    def test_what_is_no_architecture_is_refused_with_an_example(self):
        for name in ("sm_", "sm_75", "sm_80a", "sm_90b", "a", "90a"):
            done = show("matmul", "--arch", name)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(f"--arch {name}: expected sm_80 or a later one, as in sm_90 or sm_90a", done.stderr)

    def test_config_is_a_file_of_flags_and_kernel_config_a_config(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "flags.toml"
            file.write_text('[show-code]\ndialect = "opencl"\n')
            self.assertIn("typedef uchar u8;", show("softmax", "--config", file).stdout)
        wide = show("softmax", "--dialect", "opencl", "--kernel-config", "Config(num_warps=8)").stdout
        self.assertNotEqual(wide, show("softmax", "--dialect", "opencl").stdout)
        done = show("softmax", "--config", "Config(num_warps=8)")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--config: cannot read the file Config(num_warps=8); it names a file of flags", done.stderr)


if __name__ == "__main__":
    unittest.main()

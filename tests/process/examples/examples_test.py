# SPDX-License-Identifier: Apache-2.0
"""The examples without a GPU: each ends with 77 and one clear line, with the profiler inside or not.

examples_test.py FOLDER PROGRAM...
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER, PROGRAMS = pathlib.Path(sys.argv[1]), sys.argv[2:]
LIBRARY = os.environ.get("BUILT_LIBGPUPROF", "")
NO_GPU = 77


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_without_gpu(self, *command, preload=""):
        env = {name: value for name, value in os.environ.items()
               if "INJECTION64" not in name and not name.startswith("GPUPROF_")}
        env["CUDA_VISIBLE_DEVICES"] = ""  # also where there is one
        if preload:
            env["LD_PRELOAD"] = preload
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=60)

    def assert_says_one_line(self, name, run):
        """The lines of the profiler apart: an example linked with it may have some."""
        lines = [line for line in run.stderr.splitlines() if not line.startswith("[gpuprof] ")]
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertRegex(lines[0], rf"^{name}: .")
        self.assertEqual(run.stdout, "")

    def test_each_program_says_that_there_is_no_gpu(self):
        if not PROGRAMS:
            self.skipTest("no example is part of this build")
        for program in PROGRAMS:
            name = pathlib.Path(program).name.removeprefix("example_")
            with self.subTest(name):
                run = self.run_without_gpu(program)
                self.assertEqual(run.returncode, NO_GPU, run.stderr)
                self.assert_says_one_line(name, run)

    def test_the_profiler_inside_changes_nothing(self):
        if not PROGRAMS or not LIBRARY:
            self.skipTest("no example, or no library that fits it, is part of this build")
        for program in PROGRAMS:
            name = pathlib.Path(program).name.removeprefix("example_")
            with self.subTest(name):
                run = self.run_without_gpu(program, preload=LIBRARY)
                self.assertEqual(run.returncode, NO_GPU, run.stderr)
                self.assert_says_one_line(name, run)

    def test_the_script_compiles_and_reports_what_is_missing(self):
        script = FOLDER / "pytorch_step.py"
        compile(script.read_text(), str(script), "exec")
        run = self.run_without_gpu(sys.executable, str(script))
        self.assertIn(run.returncode, (NO_GPU, 1), run.stderr)  # 1: no PyTorch here
        self.assert_says_one_line("pytorch_step", run)

    def test_every_example_is_tested(self):
        sources = {file.stem for file in FOLDER.iterdir() if file.suffix in (".c", ".cu", ".py")}
        self.assertEqual(sources, {"peaks", "plain_c", "unaware", "gemm_ranges", "size_sweep", "markers", "watch", "pytorch_step", "read_capture",
                                   "python_torch_training", "python_jax_step", "python_cupy_ranges"})  # read_capture in tests/process/stats, python_* in tests/python


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

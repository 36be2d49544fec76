# SPDX-License-Identifier: Apache-2.0
"""How often each command decodes the table of kernels, as the log of the reader says (GPUPROF_LOG_LEVEL=debug)."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

COMMAND = sys.argv.pop(1)
CAPTURES = pathlib.Path(__file__).resolve().parents[2] / "data/h200"
LINE = re.compile(r"times that tables of .* were decoded: (.*)")


class Decodes(unittest.TestCase):
    def kernels(self, capture, *words):
        """The times that a command decodes the kernels, all its readers together."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUPROF_")}
        with tempfile.TemporaryDirectory() as folder:
            environment |= {"GPUPROF_LOG_LEVEL": "debug", "XDG_CACHE_HOME": folder}
            if words[0] == "report":
                words += ("-o", pathlib.Path(folder) / "page.html")
            done = subprocess.run([COMMAND, words[0], CAPTURES / f"{capture}.gpuprof", *words[1:]], capture_output=True, text=True, timeout=60, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = LINE.findall(done.stderr)
        self.assertTrue(lines, done.stderr)
        total = 0.0
        for line in lines:
            times = dict(entry.rsplit(" ", 1) for entry in line.split(", "))
            total += float(times.get("kernel", 0))
        self.assertGreaterEqual(total, 1)
        return total

    def check(self, most, *words):
        for capture in ("mixed_exact", "mixed_sampled", "counted_auto"):
            with self.subTest(capture):
                self.assertLessEqual(self.kernels(capture, *words), most)

    def test_stats(self):
        self.check(1, "stats")
        self.check(1, "stats", "-r", "cuda_gpu_kern_sum,nvtx_kern_sum,gpu_metrics_sum,nvtx_metrics_sum")

    def test_roofline(self):
        self.check(1, "roofline", "--by", "signature")

    def test_analyze(self):
        self.check(2, "analyze")

    def test_compare(self):
        for capture in ("mixed_exact", "mixed_sampled", "counted_auto"):
            with self.subTest(capture):
                self.assertLessEqual(self.kernels(capture, "compare", CAPTURES / f"{capture}.gpuprof"), 2 * 3)

    def test_report(self):
        self.check(3, "report")  # the walk, the timeline and the advice; a long capture also the pieces that are shown again


unittest.main()

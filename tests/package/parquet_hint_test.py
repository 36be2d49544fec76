# SPDX-License-Identifier: Apache-2.0
"""Configuring without Arrow says that Parquet will be missing, and how to get it: parquet_hint_test.py CMAKE SOURCE"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE = sys.argv.pop(1), sys.argv.pop(1)
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(hint NONE)
include("{}/tools/cmake/gpuprof_arrow.cmake")
"""


class Configure(unittest.TestCase):
    def configured(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "CMakeLists.txt").write_text(PROJECT.format(SOURCE))
            run = subprocess.run([CMAKE, "-S", folder, "-B", f"{folder}/build", "-DCMAKE_DISABLE_FIND_PACKAGE_Parquet=ON", "-DGPUPROF_PYTHON3=/bin/false", *options],
                                 capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        return " ".join(run.stderr.split())

    def test_a_build_without_arrow_says_what_is_missing_and_how_to_get_it(self):
        said = self.configured()
        self.assertIn("This build will not write Parquet", said)
        self.assertIn("pip install --target build/pyarrow pyarrow", said)

    def test_builds_with_sanitizers_have_no_parquet_export_on_purpose(self):
        self.assertNotIn("Parquet", self.configured("-DGPUPROF_SANITIZE=address"))


unittest.main()

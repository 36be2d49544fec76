# SPDX-License-Identifier: Apache-2.0
"""report_js_test.py CMAKE MODULES: which files a build takes for the pages of gpuprof report, with folders that are but a few files."""
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, MODULES = sys.argv[1:3]
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(scratch LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH "{MODULES}")
include(gpuprof_report_js)
message(STATUS "drawn with: ${{gpuprof_report_js}}")
"""
FILES = ("echarts.min.js", "tabulator.min.js", "tabulator.min.css")


class Libraries(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="gpuprof-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.libraries = self.folder / "libraries"
        (self.folder / "tools").mkdir()
        self.libraries.mkdir()
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        for name in FILES:
            (self.libraries / name).write_text(f"/* {name} */")

    def configure(self, *options):
        done = subprocess.run([CMAKE, "-S", self.folder, "-B", self.folder / "b", *options], capture_output=True, text=True)
        line = next((l for l in done.stdout.splitlines() if "drawn with: " in l), "")
        return done.returncode, line.partition("drawn with: ")[2], " ".join(done.stderr.split())

    def of_folder(self):
        return self.configure(f"-DGPUPROF_REPORT_JS_DIR={self.libraries}")

    def test_untested_library_files_are_used_with_a_warning(self):
        code, taken, errors = self.of_folder()
        self.assertEqual((code, taken), (0, str(self.libraries)))
        for name in FILES:
            found = hashlib.sha256((self.libraries / name).read_bytes()).hexdigest()
            self.assertIn(f"{name} is not the file that was tried: its SHA-256 is {found}", errors)

    def test_a_folder_without_the_libraries_is_reported(self):
        for name in FILES:
            with self.subTest(name):
                (self.libraries / name).rename(self.folder / name)
                code, _, errors = self.of_folder()
                (self.folder / name).rename(self.libraries / name)
                self.assertNotEqual(code, 0)
                self.assertIn(f"GPUPROF_REPORT_JS_DIR: there is no {name} in {self.libraries}", errors)

    def test_a_library_that_would_close_its_html_element_is_refused(self):
        for name, end in (("echarts.min.js", "</script"), ("tabulator.min.js", "</SCRIPT"), ("tabulator.min.css", "</style"), ("echarts.min.js", "<!--")):
            with self.subTest(end):
                whole = (self.libraries / name).read_text()
                (self.libraries / name).write_text(f"a = '{end}>; [b]';\n")
                code, _, errors = self.of_folder()
                (self.libraries / name).write_text(whole)
                self.assertNotEqual(code, 0)
                self.assertIn(f"{name} holds {end.lower()}, which would end its element in the page", errors)

    def test_a_build_without_the_libraries_has_no_report_and_names_the_script_that_makes_them(self):
        code, taken, errors = self.configure()
        self.assertEqual((code, taken), (0, ""))
        self.assertIn("gpuprof report is left out of this build", errors)
        self.assertIn("tools/fetch_report_js.sh makes it", errors)

    def test_the_folder_that_the_script_made_is_used_once_it_is_complete(self):
        made = self.folder / "build/report-js"
        made.parent.mkdir()
        self.libraries.rename(made)
        self.assertEqual(self.configure()[1], "")
        (made / "complete").touch()
        self.assertEqual(self.configure()[:2], (0, str(made)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

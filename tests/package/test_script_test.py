# SPDX-License-Identifier: Apache-2.0
"""test_script_test.py ROOT: what tools/test.sh ends with, where the programs that it calls are but a few lines."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
# Each writes down how it was called, and fails where that holds the text in the file "broken".
PROGRAM = """#!/bin/bash
call="$(basename "$0") $*"
echo "$call" >>"$SCRATCH/calls"
broken="$(cat "$SCRATCH/broken" 2>/dev/null)"
[ -n "$broken" ] && [[ "$call" == *"$broken"* ]] && exit 1
"""
STANDS_FOR = {
    "ctest": "",
    "cmake": "", "clang-format-14": "", "doxygen": "", "nproc": "echo 2",
    "dpkg-query": "echo install ok installed",
    # The interpreter: a new venv holds a pip, which installs clang-tidy; what it is given otherwise is run-clang-tidy.py.
    "python3": """
if [ "$1 $2" = "-m venv" ]; then
  mkdir -p "$3/bin" "$3/lib/python3/site-packages/clang_tidy/data/bin"
  cp "$SCRATCH/programs/pip" "$SCRATCH/programs/clang-tidy" "$3/bin/"
fi""",
    "pip": "", "clang-tidy": "", "nvdisasm": "", "cuobjdump": "",
}


class Script(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="gpuprof-test-", ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        shutil.copytree(ROOT / "tools", self.folder / "tools", ignore=lambda folder, names: [
            name for name in names if pathlib.Path(folder, name).is_dir()])
        for name, does in STANDS_FOR.items():
            self.program(f"programs/{name}", does)
        for script in ("tools/fetch_report_js.sh", "tools/fetch_cuda_headers.sh", "tests/process/export/clients.sh", "tools/python/build_wheel.sh", "tools/build_packages.sh"):
            self.program(script, "")
        for folder in ("examples", "include", "libgpuprof", "tests"):
            (self.folder / folder).mkdir(exist_ok=True)
            (self.folder / folder / "one.cpp").touch()
        self.environment = {
            "PATH": f"{self.folder}/programs:{os.defpath}", "SCRATCH": str(self.folder), "HOME": str(self.folder)}

    def program(self, name, does):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PROGRAM + does + "\nexit 0\n")
        path.chmod(0o755)

    def run_parts(self, *parts, broken=""):
        (self.folder / "broken").write_text(broken)
        (self.folder / "calls").write_text("")
        done = subprocess.run([self.folder / "tools/test.sh", *parts], env=self.environment, capture_output=True, text=True,
                              timeout=300)
        self.calls = (self.folder / "calls").read_text()
        return done.returncode, done.stderr + done.stdout

    def test_all_pass(self):
        code, said = self.run_parts("all")
        self.assertEqual(code, 0, said)
        self.assertIn("Checking with clang-tidy ... ok", said)
        self.assertRegex(said.splitlines()[-1], "^All tests passed in ")
        for call in ("ctest --preset ci", "ctest --preset asan", "ctest --preset tsan", "ctest --preset fuzz", "run-clang-tidy.py -",
                     "build_wheel.sh \n", "build_packages.sh \n"):
            self.assertIn(call, self.calls)

    def test_ci_runs_the_release_tests_the_format_and_unit_tests_under_asan(self):
        code, said = self.run_parts("ci")
        self.assertEqual(code, 0, said)
        for call in ("ctest --preset ci -j 4\n", "ctest --preset unit-asan -j 2\n", "clang-format-14", "--target gpuprof_unit_tests",
                     "build_wheel.sh --quick\n", "clients.sh perfetto_ui\n", "ctest --preset pages -j 2\n"):
            self.assertIn(call, self.calls)
        for call in ("tsan", "preset fuzz", "tidy", "preset clients", "build_packages"):
            self.assertNotIn(call, self.calls)

    def test_without_what_drives_the_browser_pages_are_not_checked(self):
        code, said = self.run_parts("pages", broken="clients.sh")
        self.assertEqual(code, 0, said)
        self.assertIn("NOT CHECKED: pages in a browser", said)
        self.assertNotIn("ctest", self.calls)

    def test_timing_tests_run_last_and_tests_that_needed_several_tries_are_named(self):
        (self.folder / "build/logs").mkdir(parents=True)
        self.program("programs/ctest", """
if [[ "$*" == *timing* ]]; then
  for name in steady hasty hasty; do echo "    Start  1: $name"; done
fi""")
        code, said = self.run_parts()
        self.assertEqual(code, 0, said)
        self.assertEqual(self.calls.splitlines()[-1], "ctest --preset timing -j 1")
        self.assertIn("hasty needed 2 tries.", said)
        self.assertNotIn("steady needed", said)

    def test_a_part_that_fails_is_named_and_the_others_run(self):
        for part, broken in (("release", "ctest --preset ci"), ("asan", "build/asan"), ("fuzz", "ctest --preset fuzz"),
                             ("tidy", "run-clang-tidy.py"), ("timing", "ctest --preset timing")):
            with self.subTest(part):
                code, said = self.run_parts("release", "asan", "fuzz", "tsan", "tidy", "timing", broken=broken)
                self.assertEqual(code, 1, said)
                self.assertRegex(said, f"(?m)^error: these parts failed: {part}$")
                self.assertIn("ctest --preset tsan", self.calls)

    def test_a_wheel_that_fails_is_a_failure_and_one_that_could_not_be_tried_is_reported(self):
        for part in ("wheel", "package"):
            self.program("tools/python/build_wheel.sh", "echo NOT CHECKED: the wheel\nexit 69")
            code, said = self.run_parts(part)
            self.assertEqual(code, 0, said)
            self.assertIn("NOT CHECKED: the wheel", said)
            self.program("tools/python/build_wheel.sh", "exit 1")
            code, said = self.run_parts(part)
            self.assertEqual(code, 1, said)
            self.assertRegex(said, f"(?m)^error: these parts failed: {part}$")

    def test_clang_tidy_is_fetched_once(self):
        for fetched in (1, 0):
            code, said = self.run_parts("tidy")
            self.assertEqual((code, self.calls.count("pip -q install")), (0, fetched), said)

    def test_without_clang_tidy_the_error_says_that_nothing_was_checked(self):
        code, said = self.run_parts("tidy", broken="pip")
        self.assertEqual(code, 1, said)
        self.assertIn("error: there is no clang-tidy, so nothing was checked.", said)
        self.assertEqual(self.run_parts("tidy")[0], 0)

    def test_an_unknown_part_is_refused(self):
        code, said = self.run_parts("clang-tidy?")
        self.assertEqual(code, 1, said)
        self.assertIn('unknown part "clang-tidy?"', said)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""old_glibc_build_test.py CMAKE MODULES: how -DGPUPROF_GLIBC links, and what it says where it cannot; the stub libraries are empty files."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, MODULES = sys.argv[1:3]
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(scratch LANGUAGES C CXX)
list(APPEND CMAKE_MODULE_PATH "{MODULES}")
add_library(gpuprof_flags INTERFACE)
include(gpuprof_old_glibc)
file(WRITE main.cpp "int main() {{}}")
file(WRITE main.c "int main(void) {{ return 0; }}")
add_executable(program main.cpp)
add_executable(program_in_c main.c)
"""
STUBS = ("Scrt1.o", "libc.so", "libc.so.6", "libm.so", "libdl.so", "libpthread.so")


class OldGlibc(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="gpuprof-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "libgpuprof/base").mkdir(parents=True)
        (self.folder / "libgpuprof/base/old_glibc.c").touch()
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        self.stubs_in(self.folder / "build/glibc-2.28")

    def stubs_in(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in STUBS:
            (folder / name).touch()

    def configure(self, *options):
        done = subprocess.run([CMAKE, "--fresh", "-G", "Ninja", "-S", self.folder, "-B", self.folder / "b", *options], capture_output=True, text=True)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def link_line(self, target):
        text = (self.folder / "b/build.ninja").read_text()
        return text[text.index(f"# Link the executable {target}\n"):].split("\n\n")[1]

    def test_an_ordinary_build_does_not_link_against_the_stubs(self):
        self.assertEqual(self.configure()[0], 0)
        self.assertNotIn("-B", self.link_line("program"))
        self.assertNotIn("old_glibc", self.link_line("program"))

    def test_cxx_is_linked_against_the_stubs_and_c_is_not(self):
        code, said = self.configure("-DGPUPROF_GLIBC=2.28")
        self.assertEqual(code, 0, said)
        line = self.link_line("program")
        for word in (f"-B{self.folder}/build/glibc-2.28/", "-static-libstdc++", "-static-libgcc", "old_glibc.c.o", "-lpthread -ldl"):
            self.assertIn(word, line)
        self.assertNotIn("-B", self.link_line("program_in_c"))

    def test_compilers_get_the_flags_of_an_ordinary_build(self):
        flags = []
        for options in ((), ("-DGPUPROF_GLIBC=2.28",)):
            self.configure(*options)
            text = (self.folder / "b/build.ninja").read_text()
            flags.append(text[text.index("main.cpp.o: CXX_COMPILER"):].split("\n\n")[0])
        self.assertEqual(*flags)

    def test_a_folder_of_stubs_may_be_given(self):
        stubs = self.folder / "stubs"
        stubs.mkdir()
        code, said = self.configure("-DGPUPROF_GLIBC=2.28", f"-DGPUPROF_GLIBC_STUBS={stubs}")
        self.assertEqual(code, 1)
        self.assertIn(f"there is no Scrt1.o in {stubs}. tools/fetch_glibc_stubs.sh 2.28 makes this folder", said)
        self.stubs_in(stubs)
        self.assertEqual(self.configure("-DGPUPROF_GLIBC=2.28", f"-DGPUPROF_GLIBC_STUBS={stubs}")[0], 0)
        self.assertIn(f"-B{stubs}/", self.link_line("program"))

    def test_without_stubs_the_error_names_the_script_that_makes_them(self):
        code, said = self.configure("-DGPUPROF_GLIBC=2.27")
        self.assertEqual(code, 1)
        self.assertIn("tools/fetch_glibc_stubs.sh 2.27 makes this folder, with zig from PyPI", said)

    def test_sanitizers_are_refused(self):
        code, said = self.configure("-DGPUPROF_GLIBC=2.28", "-DGPUPROF_SANITIZE=thread")
        self.assertEqual(code, 1)
        self.assertIn("GPUPROF_GLIBC does not go with GPUPROF_SANITIZE", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

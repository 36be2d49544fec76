# SPDX-License-Identifier: Apache-2.0
"""cuda_headers_test.py CMAKE MODULES: which CUDA headers a build takes, with toolkits that are but a few files."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, MODULES = sys.argv[1:3]
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(scratch LANGUAGES C)
list(APPEND CMAKE_MODULE_PATH "{MODULES}")
include(gpuprof_cuda)
"""


class Headers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="gpuprof-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "tools").mkdir()
        (self.folder / "CMakeLists.txt").write_text(PROJECT)

    def toolkit(self, release, version, cupti="include"):
        """A toolkit without a compiler; its CUPTI lies where `cupti` says."""
        root = self.folder / f"cuda-{release}"
        for folder in ("bin", "lib64", "include", cupti):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "version.txt").write_text(f"CUDA Version {release}.0\n")
        (root / "include/cuda.h").touch()
        (root / "include/cuda_runtime.h").touch()
        (root / "lib64/libcudart.so").touch()
        (root / cupti / "cupti_version.h").write_text(f"#define CUPTI_API_VERSION {version}\n")
        return root

    def configure(self, toolkit, *options):
        done = subprocess.run([CMAKE, "-S", self.folder, "-B", self.folder / "b", f"-DCUDAToolkit_ROOT={toolkit}", *options],
                              capture_output=True, text=True)
        line = next((l for l in done.stdout.splitlines() if "CUDA headers: " in l), "")
        return done.returncode, line.partition("CUDA headers: ")[2].partition(";")[0], " ".join(done.stderr.split())

    def test_a_toolkit_of_another_release_is_not_used(self):
        for release, version in (("12.6", 24), ("13.2", 130200)):
            with self.subTest(release):
                code, _, errors = self.configure(self.toolkit(release, version), "--fresh")
                self.assertNotEqual(code, 0)
                self.assertIn("There is no toolkit of CUDA 13.0 here", errors)
                self.assertIn("tools/fetch_cuda_headers.sh fetches them", errors)

    def test_a_toolkit_of_the_right_release_gives_its_own_headers(self):
        for place in ("include", "extras/CUPTI/include"):
            with self.subTest(place):
                toolkit = self.toolkit("13.0", 130001, place)
                self.assertEqual(self.configure(toolkit)[:2], (0, str(toolkit)))

    def test_fetched_headers_are_used_beside_a_toolkit_of_another_release(self):
        fetched = self.folder / "build/cuda-headers/include"
        fetched.mkdir(parents=True)
        (fetched / "cuda.h").touch()
        (fetched / "cupti_version.h").write_text("#define CUPTI_API_VERSION 130001\n")
        code, root, errors = self.configure(self.toolkit("12.6", 24))
        self.assertEqual((code, root), (0, f"{self.folder}/build/cuda-headers"), errors)

    def test_a_folder_that_the_user_names_must_contain_the_headers(self):
        toolkit = self.toolkit("12.6", 24)
        code, _, errors = self.configure("/nowhere", f"-DGPUPROF_CUDA_HEADERS={toolkit}")
        self.assertNotEqual(code, 0)
        self.assertIn("cupti.h of CUDA 13.0. Set GPUPROF_CUDA_HEADERS to a folder that has both", errors)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

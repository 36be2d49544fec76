#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the wheel into clean environments and uses it as its users do; tools/python/build_wheel.sh calls it.

try_wheel.py WHEEL TOOLS PYTHON...: TOOLS is the environment into which uv and pipx are fetched. In the environment: PLAY, a program that
plays recorded sessions, where there is one; QUICK, without uv and pipx.
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

WHEEL, TOOLS, *PYTHONS = (os.path.abspath(word) for word in sys.argv[1:])
ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAY = os.environ.get("PLAY", "")
SESSION = ROOT / "tests/data/sessions/launch_loop.gprec"
TIMES = 15


def version_of(python):
    text = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2])"], check=True, capture_output=True, text=True).stdout
    return tuple(int(number) for number in text.split())


def without_ours():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("GPUPROF_", "PYTHON", "VIRTUAL_ENV", "LD_", "CUDA_INJECTION", "NVTX_INJECTION"))}


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-wheel-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.environment = {**without_ours(), "XDG_CACHE_HOME": str(self.folder / "cache"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def run_it(self, *words, code=0, **more):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=self.folder,
                              env={**self.environment, **more}, timeout=300)
        if code is not None:
            self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done

    def venv(self, python, *wanted):
        folder = self.folder / ("venv" + ".".join(map(str, version_of(python))))
        self.run_it(python, "-m", "venv", folder)
        if wanted:
            self.run_it(folder / "bin/python", "-m", "pip", "-q", "install", "--no-index", *wanted)
        return folder / "bin"

    def median_ms(self, *words):
        spans = []
        for _ in range(TIMES):
            begin = time.perf_counter()
            self.run_it(*words)
            spans.append((time.perf_counter() - begin) * 1000)
        return statistics.median(spans)

    def import_ms(self, python):
        """Without the start of the interpreter, which imports modules of its own."""
        spans = []
        for _ in range(TIMES):
            lines = self.run_it(python, "-X", "importtime", "-c", "import libgpuprof").stderr.splitlines()
            spans += [int(line.split("|")[1]) / 1000 for line in lines if line.split("|")[-1].strip() == "libgpuprof"]
        return statistics.median(spans)

    def check_command(self, gpuprof):
        """The command finds its library, which a program can load, wherever both are."""
        self.assertRegex(self.run_it(gpuprof, "--version").stdout, r"^gpuprof [0-9.]+ ")
        library = self.run_it(gpuprof, "--library").stdout.strip()
        self.assertTrue(library.endswith("/libgpuprof/lib/libgpuprof_preload.so"), library)
        maps = self.run_it("cat", "/proc/self/maps", LD_PRELOAD=library).stdout
        for name in ("libgpuprof.so", "libgpuprof_preload.so"):
            self.assertIn(str(pathlib.Path(library).parent / name), maps)
        told = self.run_it(gpuprof, "profile", "sh", "-c", "echo $LD_PRELOAD", code=None).stdout
        self.assertEqual(told.strip(), library)
        return library

    def check_demo(self, gpuprof):
        """It plays what is in the package, and each command says something of it."""
        said = self.run_it(gpuprof, "demo").stdout
        self.assertTrue(said.startswith("This is a recorded session of "), said)
        for text in ("CUDA GPU Kernel Summary", "lost: nothing", "Where the time of the GPU went:"):
            self.assertIn(text, said)
        self.assertTrue((self.folder / "gpuprof-demo.html").is_file())


class Unpacked(InFolder):
    def test_the_command_needs_no_python(self):
        with zipfile.ZipFile(WHEEL) as archive:
            archive.extractall(self.folder)
        gpuprof = self.folder / "libgpuprof/bin/gpuprof"
        for program in (gpuprof, self.folder / "libgpuprof/libexec/gpuprof/demo/play-session"):
            program.chmod(0o755)
        self.check_command(gpuprof)
        self.check_demo(gpuprof)
        print("glibc " + os.confstr("CS_GNU_LIBC_VERSION").split()[-1] + ": the command runs, the library is preloaded")


@unittest.skipUnless(PYTHONS, "no interpreter was named")
class Environments(InFolder):
    def test_the_wheel_works_in_every_python_from_3_10_on(self):
        tried = 0
        for python in PYTHONS:
            version = version_of(python)
            if version < (3, 10):
                continue
            with self.subTest(version):
                tried += 1
                bin = self.venv(python, WHEEL)
                for command in ("gpuprof", "libgpuprof"):
                    self.check_command(bin / command)
                self.assertRegex(self.run_it(bin / "python", "-m", "libgpuprof", "--version").stdout, "^gpuprof ")
                self.assertEqual(self.run_it(bin / "python", "-m", "libgpuprof", "nonsense", code=None).returncode, 2)
                # pytest loads its plugin itself, which imports pytest.
                self.run_it(bin / "python", "-c", "import libgpuprof, importlib.metadata as m, importlib.util as u\n"
                            "assert libgpuprof.__version__ == m.version('libgpuprof'), libgpuprof.__version__\n"
                            "for entry in m.distribution('libgpuprof').entry_points:\n"
                            "    entry.load() if entry.group != 'pytest11' else u.find_spec(entry.module).name")
                command = self.median_ms(bin / "gpuprof", "--version")
                interpreter = self.median_ms(bin / "python", "-I", "-c", "")
                print(f"Python {'.'.join(map(str, version))}: import libgpuprof {self.import_ms(bin / 'python'):.1f} ms, "
                      f"gpuprof --version {command:.0f} ms, of which the interpreter takes {interpreter:.0f} ms")
        self.assertGreater(tried, 0)

    def test_an_older_python_is_refused_by_pip(self):
        old = [python for python in PYTHONS if version_of(python) < (3, 10)]
        if not old:
            self.skipTest("there is no Python 3.9 here")
        bin = self.venv(old[-1])
        done = self.run_it(bin / "python", "-m", "pip", "install", "--no-index", WHEEL, code=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("requires a different Python", done.stdout + done.stderr)
        self.assertIn(">=3.10", done.stdout + done.stderr)

    def newest(self):
        return PYTHONS[-1]

    def test_the_wheel_works_from_a_folder_of_packages(self):
        bin = self.venv(self.newest())
        self.run_it(bin / "python", "-m", "pip", "-q", "install", "--no-index", "--target", self.folder / "packages", WHEEL)
        environment = self.environment
        self.environment = {**environment, "PYTHONPATH": str(self.folder / "packages")}
        self.check_command(self.folder / "packages/bin/gpuprof")
        self.assertRegex(self.run_it(bin / "python", "-m", "libgpuprof", "--version").stdout, "^gpuprof ")

    def test_a_session_is_played_and_read(self):
        if not pathlib.Path(PLAY).is_file():
            self.skipTest("gpuprof-play was not built here")
        bin = self.venv(self.newest(), WHEEL)
        done = self.run_it(bin / "gpuprof", "profile", "-o", "run", PLAY, SESSION)
        self.assertIn("2,000 kernels", done.stderr)
        self.assertIn("lost: nothing", self.run_it(bin / "gpuprof", "stats", "run.gpuprof").stdout)
        self.run_it(bin / "gpuprof", "report", "run.gpuprof")
        self.assertTrue((self.folder / "run.html").is_file())

    def test_the_demo_needs_nothing_but_the_package(self):
        self.check_demo(self.venv(self.newest(), WHEEL) / "gpuprof")

    @unittest.skipUnless(shutil.which("cmake"), "there is no cmake here")
    def test_cmake_finds_the_package(self):
        bin = self.venv(self.newest(), WHEEL)
        package = self.run_it(bin / "python", "-c", "import importlib.metadata as m\nprint(m.distribution('libgpuprof').locate_file('libgpuprof'))\n"
                              "print(*(e.value for e in m.entry_points(group='cmake.prefix')))").stdout.split("\n")
        self.assertEqual(package[1], "libgpuprof")
        self.run_it("cmake", "-S", ROOT / "tests/package/consumer", "-B", "b", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={package[0]}")
        self.run_it("cmake", "--build", "b")
        self.assertRegex(self.run_it(self.folder / "b/linked").stdout, r"^[0-9]+\.")
        self.assertIn("none.gpuprof", self.run_it(self.folder / "b/reading").stdout)


class Contents(unittest.TestCase):
    def test_it_holds_what_the_installed_tree_holds(self):
        names = set(zipfile.ZipFile(WHEEL).namelist())
        for name in ("bin/gpuprof", "lib/libgpuprof.so", "lib/libgpuprof_preload.so", "lib/libgpuprof-capture.so", "lib/cmake/gpuprof/gpuprofConfig.cmake",
                     "include/gpuprof/gpuprof.h", "include/gpuprof/peaks.h", "include/gpuprof/gpuprof.hpp", "include/gpuprof/capture.hpp", "include/gpuprof/capture_records.hpp", "share/man/man1/gpuprof.1",
                     "share/bash-completion/completions/gpuprof", "share/zsh/site-functions/_gpuprof",
                     "share/fish/vendor_completions.d/gpuprof.fish", "share/doc/gpuprof/README.md", "libexec/gpuprof/demo/play-session", "__init__.py", "_command.py", "__main__.py"):
            self.assertIn("libgpuprof/" + name, names)

    def test_every_link_between_its_pages_leads_to_a_file(self):
        names = set(zipfile.ZipFile(WHEEL).namelist())
        links = []
        with zipfile.ZipFile(WHEEL) as wheel:
            for page in names:
                if page.startswith("libgpuprof/share/doc/") and page.endswith(".md"):
                    links += [(page, os.path.normpath(os.path.join(os.path.dirname(page), link)))
                              for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", wheel.read(page).decode()) if not re.match("[a-z]+:", link)]
        self.assertGreater(len(links), 100)
        folders = {os.path.dirname(name) for name in names}
        self.assertEqual([link for link in links if link[1] not in names and link[1] not in folders], [])

    def test_the_wheel_contains_only_our_folders(self):
        self.assertEqual({name.partition("/")[0].partition("-")[0] for name in zipfile.ZipFile(WHEEL).namelist()}, {"libgpuprof"})

    def test_the_name_of_the_wheel_says_where_it_runs(self):
        self.assertRegex(pathlib.Path(WHEEL).name, r"^libgpuprof-[0-9.]+-py3-none-manylinux_2_28_x86_64(\..*)?\.whl$")


@unittest.skipIf(os.environ.get("QUICK") or not PYTHONS, "uv and pipx are not tried in a quick run")
class Runners(InFolder):
    def fetched(self, name):
        file = pathlib.Path(TOOLS, "bin", name)
        if not file.exists():
            done = subprocess.run([pathlib.Path(TOOLS, "bin/pip"), "-q", "install", name], capture_output=True, text=True)
            if done.returncode != 0:
                print(f"skipped: {name} could not be fetched from PyPI: {done.stderr.strip().splitlines()[-1:]}")
                self.skipTest(f"{name} could not be fetched")
        return file

    def test_uvx(self):
        uvx = self.fetched("uv").with_name("uvx")
        for command in (["--from", WHEEL, "gpuprof"], ["--from", WHEEL, "libgpuprof"]):
            run = self.run_it(uvx, "--offline", "--no-config", "--python", PYTHONS[-1], *command, "--version", UV_CACHE_DIR=str(self.folder / "uv"))
            self.assertRegex(run.stdout, "^gpuprof ")
        print("uvx --from WHEEL gpuprof works")

    def test_pipx(self):
        pipx = self.fetched("pipx")
        run = self.run_it(pipx, "run", "--python", PYTHONS[-1], "--spec", WHEEL, "gpuprof", "--version", PIPX_HOME=str(self.folder / "pipx"))
        self.assertRegex(run.stdout, "^gpuprof ")
        print("pipx run --spec WHEEL gpuprof works")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

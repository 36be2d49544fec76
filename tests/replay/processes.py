# SPDX-License-Identifier: Apache-2.0
"""Runs recorded and synthetic sessions as real processes. Import it to write a test of a process in ten lines:

    import processes, unittest

    class Fork(processes.Case):
        def test_child_is_left_alone(self):
            session = self.synthetic(launches=100)
            run = self.play(session, "--exit-with", "fork", preload=[processes.path("BUILT_PRELOAD")])
            self.assertEqual(run.code, 0, run.err)
            self.assertIn("child=exited", run.out)

    processes.main()

ctest names the programs in the environment (see gpuprof_process_test in CMakeLists.txt).
"""
import collections
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

Run = collections.namedtuple("Run", "code out err")


def path(variable):
    """The file that ctest names in this variable, e.g. BUILT_PLAY or BUILT_RECORDER."""
    return os.environ[variable]


def recorded(name):
    """A session recorded on a GPU; the test is skipped while there is none of that name."""
    file = pathlib.Path(path("RECORDED_SESSIONS"), name + ".gprec")
    if not file.exists():
        raise unittest.SkipTest(f"no recorded session {file}")
    return str(file)


def all_recorded():
    return sorted(str(f) for f in pathlib.Path(path("RECORDED_SESSIONS")).glob("*.gprec"))


def numbers(text):
    """The name=number pairs of a text."""
    pairs = (word.partition("=") for word in text.split())
    return {name: int(value) for name, _, value in pairs if value.isdigit()}


class Case(unittest.TestCase):
    """A test with a folder of its own, self.folder, removed afterwards."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-test-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def synthetic(self, **plan):
        """Writes a synthetic session, e.g. self.synthetic(threads=4, launches=100)."""
        file = self.folder / ("synthetic" + "".join(f"-{k}{v}" for k, v in plan.items()) + ".gprec")
        subprocess.run([path("BUILT_MAKE_SYNTHETIC"), file, *(f"{k}={v}" for k, v in plan.items())], check=True)
        return str(file)

    def run_program(self, *command, env=None, preload=(), timeout=60):
        """Runs a program in self.folder; a hang is a failure of the test."""
        # What steers the tests themselves is no option of the library, which would say so.
        ours = ("CUDA_INJECTION", "NVTX_INJECTION", "GPUPROF_CLIENTS", "GPUPROF_FETCH_CLIENTS", "GPUPROF_REQUIRE_CLIENTS")
        wanted = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
        wanted["XDG_CACHE_HOME"] = str(self.folder / "cache")  # what is kept for later runs
        wanted.update(env or {})
        if str(command[0]) == os.environ.get("BUILT_GPUPROF") and not preload and os.environ.get("BUILT_GPUPROF_NEEDS"):
            wanted["LD_PRELOAD"] = os.environ["BUILT_GPUPROF_NEEDS"]
        if preload:
            first = [f for f in [os.environ.get("BUILT_PRELOAD_FIRST")] if f]
            wanted["LD_PRELOAD"] = ":".join(str(p) for p in first + list(preload))
        try:
            done = subprocess.run([str(c) for c in command], env=wanted, cwd=self.folder, capture_output=True,
                                  text=True, errors="replace", timeout=timeout, preexec_fn=no_core_file)
        except subprocess.TimeoutExpired as late:
            self.fail(f"{command} hangs: {late.stdout!r} {late.stderr!r}")
        return Run(done.returncode, done.stdout, done.stderr)

    def play(self, session, *options, env=None, preload=(), timeout=60):
        """Runs gpuprof-play as the recorded program."""
        return self.run_program(path("BUILT_PLAY"), session, *options, env=env, preload=preload, timeout=timeout)


def no_core_file():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def timing(test):
    """Marks a test whose verdict depends on the machine's speed. It runs alone and may be tried three times (label timing)."""
    test.depends_on_timing = True
    return test


def depends_on_timing(test):
    return getattr(getattr(test, test._testMethodName), "depends_on_timing", False)


class Part(unittest.TestLoader):
    """Every n-th test of a file, so that those that wait for sessions to be played wait together."""

    def __init__(self, which, parts):
        super().__init__()
        self.which, self.parts = which, parts

    def loadTestsFromModule(self, *arguments, **options):
        tests = one_by_one(super().loadTestsFromModule(*arguments, **options))
        return self.suiteClass([test for test in tests if not depends_on_timing(test)][self.which::self.parts])


class Timing(unittest.TestLoader):
    """The tests that are marked with @timing."""

    def loadTestsFromModule(self, *arguments, **options):
        return self.suiteClass(filter(depends_on_timing, one_by_one(super().loadTestsFromModule(*arguments, **options))))


def one_by_one(suite):
    for test in suite:
        yield from one_by_one(test) if isinstance(test, unittest.TestSuite) else [test]


def main():
    """Runs all tests of the file, or those that are named. --part=1/4: a quarter of those without @timing. --timing: those with it."""
    loader = unittest.defaultTestLoader
    if sys.argv[1:2] == ["--timing"]:
        sys.argv.pop(1)
        loader = Timing()
    if len(sys.argv) > 1 and sys.argv[1].startswith("--part="):
        which, parts = map(int, sys.argv.pop(1).removeprefix("--part=").split("/"))
        loader = Part(which - 1, parts)
    unittest.main(verbosity=2, testLoader=loader)

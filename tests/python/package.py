# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed, of links to what was built, and Python programs that use it.

GPUPROF_TEST_PYTHON names another interpreter, e.g. of a virtual environment with pyarrow, pandas, pytest, mypy and IPython: tests of what is
not there are skipped.
"""
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import unittest

import processes

SOURCE = pathlib.Path(processes.path("PROJECT_SOURCE"))
MODULES = SOURCE / "tools/python/libgpuprof"
PYTHON = os.environ.get("GPUPROF_TEST_PYTHON", sys.executable)
DATA = SOURCE / "tests/data"


@functools.cache
def built_module():
    """_fast, compiled as the package's build does it; None where there is no Python.h or no compiler."""
    include = sysconfig.get_paths()["include"]
    if not pathlib.Path(include, "Python.h").exists():
        return None
    out = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-fast-"), "_fast.abi3.so")
    headers = [word for folder in processes.path("BUILT_NVTX_HEADERS").split(":") for word in ("-isystem", folder)]
    subprocess.run([processes.path("BUILT_C_COMPILER"), "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden",
                    f"-I{include}", *headers, MODULES / "_fast.c", "-o", out, "-ldl"], check=True)
    return out


def stage(folder, fast=True):
    """Lays the package out in a folder, which is to be on PYTHONPATH then."""
    place = pathlib.Path(folder, "libgpuprof")
    for part in ("bin", "lib"):
        (place / part).mkdir(parents=True)
    for module in MODULES.iterdir():
        if module.suffix in (".py", ".pyi", ".typed") or module.name == "py.typed":
            (place / module.name).symlink_to(module)
    (place / "bin/gpuprof").symlink_to(processes.path("BUILT_GPUPROF"))
    for name, built in (("libgpuprof.so.0", "BUILT_LIBGPUPROF"), ("libgpuprof_preload.so", "BUILT_PRELOAD"), ("libgpuprof-capture.so.1", "BUILT_CAPTURE_API")):
        (place / "lib" / name).symlink_to(processes.path(built))
    if fast and built_module():
        (place / "_fast.abi3.so").symlink_to(built_module())
    return place


@functools.cache
def has(*modules):
    """Returns True if the interpreter has these modules."""
    code = "; ".join(f"import {name}" for name in modules)
    return subprocess.run([PYTHON, "-c", code], capture_output=True).returncode == 0


def needs(*modules):
    return unittest.skipUnless(has(*modules), f"{PYTHON} has no {' or no '.join(modules)}")


class Case(processes.Case):
    """A test that runs Python programs."""

    def setUp(self):
        super().setUp()
        self.site = self.folder / "site"
        stage(self.site)

    def python(self, code, *arguments, code_expected=0, env=None, preload=(), timeout=120):
        """Runs a program that has `gp` and `play()`: the latter plays a session with 205 kernels in its own process."""
        script = self.folder / "program.py"
        script.write_text("import libgpuprof as gp, os, sys\nfrom played import play\n" + textwrap.dedent(code))
        if not (self.folder / "session.gprec").exists():
            shutil.move(self.synthetic(launches=200), self.folder / "session.gprec")
        run = self.run_program(PYTHON, "-W", "always", script, *arguments, preload=preload, timeout=timeout, env={
            "PYTHONPATH": f"{self.site}:{pathlib.Path(__file__).parent}", "PYTHONDONTWRITEBYTECODE": "1",
            "PLAYED_SESSION": str(self.folder / "session.gprec"), "LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS"),
            "PYTHONPYCACHEPREFIX": str(self.folder / "pycache"), "GPUPROF_FLUSH_TIMEOUT_MS": "20000",  # however busy the machine is
            **(env or {})})
        self.assertEqual(run.code, code_expected, run.err + run.out)
        return run._replace(out="".join(line for line in run.out.splitlines(True) if not line.startswith("gpuprof-play: played")))

    def lines(self, code, *arguments, **options):
        """Returns the lines that such a program prints."""
        return self.python(code, *arguments, **options).out.splitlines()

# SPDX-License-Identifier: Apache-2.0
"""Programs that read exports, as clients.sh installs them: a test that cannot have its client is skipped, or fails where all are required."""
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import unittest


def missing(what, why):
    """Says so in the summary of the tests; GPUPROF_REQUIRE_CLIENTS=1 makes it a failure."""
    text = f"SKIPPED, {what} cannot be had here: {why}"
    if os.environ.get("GPUPROF_REQUIRE_CLIENTS") == "1":
        raise AssertionError(text)
    raise unittest.SkipTest(text)


@functools.cache
def _installed(name):
    return subprocess.run([pathlib.Path(__file__).with_name("clients.sh"), name], capture_output=True, text=True)


def folder_of(name):
    """Where a client is."""
    run = _installed(name)
    if run.returncode != 0:
        missing(name, (run.stderr.strip().splitlines() or ["clients.sh failed"])[-1])
    return pathlib.Path(run.stdout.strip())


def on_path(folder):
    """The Python packages in it can be imported from now on."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


# The shell of Chromium has the same engine and nothing around it that no test looks at.
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def program(*names):
    """The first of these programs that is here."""
    for name in names:
        if found := shutil.which(name):
            return found
    missing(" or ".join(names), "it is not installed")

# SPDX-License-Identifier: Apache-2.0
"""The commands gpuprof and libgpuprof: the program inside of this package takes the place of the interpreter."""
import os
import sys


def program():
    """The file of the program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gpuprof")


def main():
    file = program()
    try:
        os.execv(file, [file] + sys.argv[1:])
    except OSError as reason:
        sys.exit(f"gpuprof: {file} cannot be started: {reason.strerror}. Install it again: pip install --force-reinstall libgpuprof")

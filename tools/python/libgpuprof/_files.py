# SPDX-License-Identifier: Apache-2.0
"""Where the command and the libraries of this installation are."""
import os

HERE = os.path.dirname(os.path.abspath(__file__))


class Error(RuntimeError):
    """Something could not be done; the text says in one line what, why, and what to do."""


_names = {"libgpuprof.so": "libgpuprof.so.0", "libgpuprof-capture.so": "libgpuprof-capture.so.1"}


def library(name: str) -> str:
    """The path of libgpuprof.so or libgpuprof-capture.so in the package, else its bare name, for the loader's own folders.

    The name with the version comes first: it is what other libraries ask for, and a second copy under another name would be another library.
    """
    for folder in ("lib", "lib64"):
        for known in (_names[name], name):
            path = os.path.join(HERE, folder, known)
            if os.path.exists(path):
                return path
    return _names[name]


def command() -> str:
    """The path of the command `gpuprof`.

    Raises:
        Error: the installation has none.
    """
    beside = os.path.join(HERE, "bin", "gpuprof")
    if os.access(beside, os.X_OK):
        return beside
    import shutil
    found = shutil.which("gpuprof")
    if found and not _is_script(found):  # PyPI has another project of this name, whose command is a script
        return found
    raise Error(f"the command gpuprof is not in {HERE}/bin, nor on PATH: install libgpuprof again (pip install --force-reinstall libgpuprof)")


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what libgpuprof.so asks of the process it enters: needed libraries, exported symbols.

check_library.py needed LIBRARY
check_library.py loads LIBRARY
check_library.py exit_handlers ARCHIVE...
check_library.py exports LIBRARY VERSION_SCRIPT C_HEADER
check_library.py preloaded LIBRARY VERSION_SCRIPT
check_library.py run_paths FOLDER...
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

MAX_THREAD_LOCAL_BYTES = 512
ALLOWED = re.compile(r"^(libc|libm|libdl|libpthread|ld-linux-[a-z0-9-]+)\.so\.\d+$")
OURS = re.compile(r"^libgpuprof\.so\.\d+$")
# What linking must not bring: names under which the program calls others.
OF_OTHERS = re.compile(r"^(dlsym|cu[A-Z]|cupti|cuda|nvtx)")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library):
    names = re.findall(r"\(NEEDED\).*\[(.+?)\]", output_of("readelf", "-dW", library))
    if not names:
        return ["readelf shows no NEEDED entry at all: is this a shared library?"]
    return [f"it needs {name}, which a guest may not bring along" for name in names
            if not ALLOWED.match(name)]


def loads(library):
    """A running process has little room left for thread-local storage: CUDA opens us by dlopen."""
    size = re.search(r"^\s*TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)",
                     output_of("readelf", "-lW", library), flags=re.M)
    problems = []
    if size and int(size[1], 16) > MAX_THREAD_LOCAL_BYTES:
        problems.append(f"its thread-local variables take {int(size[1], 16)} bytes, more than "
                        f"{MAX_THREAD_LOCAL_BYTES}: dlopen will fail in busy processes")
    opened = subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", library],
                            capture_output=True, text=True)
    if opened.returncode != 0:
        problems.append(f"a running process cannot load it: {opened.stderr.strip().splitlines()[-1]}")
    return problems


def exit_handlers(*archives):
    """Objects with destructors that run at exit, while our threads and CUPTI's callbacks still use them."""
    problems = []
    for archive in archives:
        member = archive
        for line in output_of("nm", archive).splitlines():
            if line.endswith(".o:"):
                member = line[:-1]
            elif re.search(r" U __cxa_(thread_)?atexit", line):
                problems.append(f"{member} has a global or static object whose destructor runs at exit: "
                                "make it with new and never delete it")
    return problems


def patterns_in(script):
    """The names between `global:` and `local:` of a version script; a * in them stands for anything."""
    text = re.sub(r"/\*.*?\*/|#[^\n]*", "", open(script).read(), flags=re.S)
    section = re.search(r"global:(.*?)local:", text, flags=re.S)
    return re.findall(r"[A-Za-z_][A-Za-z0-9_*]*(?=\s*;)", section[1])


def functions_in(headers):
    """The functions that C headers declare, by our prefix."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", "".join(open(header).read() for header in headers), flags=re.S)
    return set(re.findall(r"\b(gpuprof_[a-z0-9_]+)\s*\(", text))


def symbols_of(library):
    # "A" are the version nodes themselves.
    lines = output_of("nm", "-D", "--defined-only", library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] != "A"}


def preloaded(library, script):
    """The library that stands in front of CUPTI brings libgpuprof.so, which lies beside it, and nothing else."""
    names = re.findall(r"\(NEEDED\).*\[(.+?)\]", output_of("readelf", "-dW", library))
    problems = [f"it needs {name}" for name in names if not ALLOWED.match(name) and not OURS.match(name)]
    if not any(OURS.match(name) for name in names):
        problems.append("it does not need libgpuprof.so")
    exported, patterns = symbols_of(library), patterns_in(script)
    problems += [f"{name} is exported and not listed in {script}" for name in sorted(exported)
                 if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    problems += [f"{name} is not exported" for name in ("dlsym", "cuptiSubscribe", "cuptiPmSamplingEnable", "cuptiProfilerInitialize")
                 if name not in exported]
    # A program may ask whether its CUPTI has newer functions: it must not find ours.
    problems += [f"{name} is exported" for name in sorted(exported) if name.endswith("_v2") and name not in ("cuptiSubscribe_v2", "cuptiOpenMpInitialize_v2")]
    return problems


def is_elf(file):
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"


def run_paths(*folders):
    """An entry that is empty or relative stands for the current folder, from which libraries would be loaded."""
    problems, seen = [], 0
    for file in sorted(file for folder in folders for file in pathlib.Path(folder).iterdir()):
        if not file.is_file() or not is_elf(file):
            continue
        seen += 1
        for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", output_of("readelf", "-dW", file)):
            problems += [f"{file} looks for libraries in {entry!r}: {path}" for entry in path.split(":")
                         if not entry.startswith(("/", "$ORIGIN"))]
    return problems if seen else [f"there is no program in {folders}"]


def exports(library, script, *headers):
    exported = symbols_of(library)
    patterns = patterns_in(script)
    declared = functions_in(headers)
    problems = [f"{name} is exported, which is a name of others" for name in sorted(exported) if OF_OTHERS.match(name)]
    problems += [f"{name} is exported and not listed in {script}" for name in sorted(exported)
                if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    problems += [f"{name} is exported and not declared in {headers}" for name in sorted(exported)
                 if name.startswith("gpuprof_") and name not in declared]
    problems += [f"{name} is declared in {headers} and not exported"
                 for name in sorted(declared - exported)]
    problems += [f"{name} is listed in {script} and not exported" for name in patterns
                 if "*" not in name and name not in exported]
    return problems


if __name__ == "__main__":
    checks = {"needed": needed, "loads": loads, "exit_handlers": exit_handlers, "exports": exports, "preloaded": preloaded, "run_paths": run_paths}
    problems = checks[sys.argv[1]](*sys.argv[2:])
    print("\n".join(problems) if problems else "as it should be")
    sys.exit(1 if problems else 0)

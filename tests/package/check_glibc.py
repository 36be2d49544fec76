#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which symbols of newer systems a library or program needs. The loader of an older system refuses it because of any of them.

check_glibc.py 2.28 FILE...       fails if a file needs a newer glibc, or a C++ library of the system
check_glibc.py newer 2.28 FILE... fails if it finds nothing newer: files of an ordinary build need their builder's glibc
check_glibc.py copies LIBC PROGRAM... fails if a program has a variable of LIBC under some of its names only: environ, __environ
"""
import re
import subprocess
import sys

NEWEST_UNWINDER = (7, 0, 0)  # g++ 8, of RHEL 8, Debian 11 and Ubuntu 20.04 are newer
OF_THE_COMPILER = re.compile(r"^libstdc\+\+\.so")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def release(text):
    return tuple(int(number) for number in text.split("."))


def needed_versions(file):
    """The versions that the loader looks for: {"GLIBC_2.34": "libc.so.6"}. Those without a symbol are among them."""
    text = output_of("readelf", "-VW", file).partition("Version needs section")[2]
    versions, library = {}, None
    for line in text.splitlines():
        if found := re.search(r"\bFile: (\S+)", line):
            library = found[1]
        elif found := re.search(r"\bName: (\S+)", line):
            versions[found[1]] = library
    return versions


def symbols_of(file, version):
    """The undefined symbols of that version."""
    lines = (line.split() for line in output_of("readelf", "--dyn-syms", "-W", file).splitlines())
    return sorted(words[7].split("@")[0] for words in lines if len(words) > 7 and words[6] == "UND" and words[7].endswith("@" + version))


def is_too_new(version, limit):
    name, _, number = version.partition("_")
    if name == "GLIBC":
        return not re.fullmatch(r"[0-9.]+", number) or release(number) > release(limit)  # GLIBC_PRIVATE, GLIBC_ABI_DT_RELR
    if name == "GCC":  # libgcc_s.so.1 carries exceptions out of libraries
        return release(number) > NEWEST_UNWINDER
    return True  # GLIBCXX, CXXABI: of the compiler's library, which is inside


def problems_of(file, limit):
    versions = needed_versions(file)
    if not versions:
        return [f"{file}: readelf shows no version that it needs. Is this a program or a shared library?"]
    problems = [f"{file} needs {name}, which is of another release elsewhere"
                for name in re.findall(r"\(NEEDED\).*\[(.+?)\]", output_of("readelf", "-dW", file)) if OF_THE_COMPILER.match(name)]
    for version, library in sorted(versions.items()):
        if is_too_new(version, limit):
            symbols = ", ".join(symbols_of(file, version)) or "no symbol"
            problems.append(f"{file} needs {version} of {library}: {symbols}")
    return problems


def variables_of(file):
    """Name and place of each variable that the file has for others, or takes over from a library."""
    lines = (line.split() for line in output_of("readelf", "--dyn-syms", "-W", file).splitlines())
    return {words[7].split("@")[0]: words[1] for words in lines if len(words) > 7 and words[3] == "OBJECT" and words[6] not in ("UND", "ABS")}


def split_copies(libc, program):
    """A program that is no library has its own copy of a variable that it uses. The C library uses the copy if it has the name by which the
    library knows it, which may be another than the program's."""
    names_at = {}
    for name, place in variables_of(libc).items():
        names_at.setdefault(place, set()).add(name)
    own = variables_of(program)
    copied = set(re.findall(r"R_X86_64_COPY +\S+ ([A-Za-z0-9_]+)@", output_of("readelf", "-rW", program)))
    known_by = {min(names, key=lambda name: not name.startswith("__")) for names in names_at.values() if names & copied and len(names) > 1}
    return [f"{program} has its own copy of a variable, and {libc} uses another under the name {name}" for name in sorted(known_by - set(own))]


def main(words):
    if words[0] == "copies":
        problems = [problem for program in words[2:] for problem in split_copies(words[1], program)]
        print("\n".join(problems) if problems else "all variables are the same")
        return 1 if problems else 0
    expects_newer = words[0] == "newer"
    limit, *files = words[1:] if expects_newer else words
    if not files:
        sys.exit("check_glibc.py: no file was given")
    problems = [problem for file in files for problem in problems_of(file, limit)]
    if expects_newer:
        print(f"{len(problems)} symbol versions and libraries of newer systems" if problems else f"nothing newer than glibc {limit} was found in {files}")
        return 0 if problems else 1
    print("\n".join(problems) if problems else f"all of it is there with glibc {limit}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

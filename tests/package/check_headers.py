#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every header alone: check_headers.py FOLDER COMPILER FLAG... (two at a time).

But for those that a source file of their name includes first, which the build has compiled so.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys


def compile_alone(header, command):
    language = ["c", "-std=c11"] if header.suffix == ".h" else ["c++"]
    if language == ["c++"] and not any(flag.startswith("-std=") for flag in command):
        language.append("-std=c++17")
    quiet = [] if "-Werror" in command else ["-w"]
    run = subprocess.run([*command, "-x", *language, "-fsyntax-only", *quiet, str(header)],
                         capture_output=True, text=True)
    return None if run.returncode == 0 else f"{header} does not compile alone:\n{run.stderr[:2000]}"


def is_first_of_its_source(header):
    source = header.with_suffix(".cpp")
    if not source.exists():
        return False
    first = re.search(r'^#include ["<](.*)[">]', source.read_text(), re.M)
    return first is not None and str(header).endswith("/" + first[1])


def main(folder, command):
    headers = sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix in (".hpp", ".h") and not is_first_of_its_source(p))
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        problems = [p for p in pool.map(lambda h: compile_alone(h, command), headers) if p]
    print("\n".join(problems) if problems else f"{len(headers)} headers compile alone")
    return 1 if problems or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

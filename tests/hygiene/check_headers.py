#!/usr/bin/env python3
"""Compiles every header alone: check_headers.py FOLDER COMPILER FLAG... (two at a time)."""
import concurrent.futures
import pathlib
import subprocess
import sys


def compile_alone(header, command):
    language = ["c", "-std=c11"] if header.suffix == ".h" else ["c++"]
    run = subprocess.run([*command, "-x", *language, "-fsyntax-only", "-w", str(header)],
                         capture_output=True, text=True)
    return None if run.returncode == 0 else f"{header} does not compile alone:\n{run.stderr[:2000]}"


def main(folder, command):
    headers = sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix in (".hpp", ".h"))
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        problems = [p for p in pool.map(lambda h: compile_alone(h, command), headers) if p]
    print("\n".join(problems) if problems else f"{len(headers)} headers compile alone")
    return 1 if problems or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

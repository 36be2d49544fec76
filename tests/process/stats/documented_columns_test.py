#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reading-the-reports.md explains every column that a report has.

documented_columns_test.py GPUPROF CAPTURE PAGE OTHER_CAPTURE
"""
import csv
import io
import re
import subprocess
import sys

GPUPROF, CAPTURE, PAGE, OTHER = sys.argv[1:5]
PRECISIONS = "fp64 fp32 fp16 fp8 tensor_fp64 tensor_tf32 tensor_fp16 tensor_bf16 tensor_fp8 tensor_fp6 tensor_fp4 tensor_int8".split()


def columns(*words, captures=(CAPTURE,)):
    run = subprocess.run([GPUPROF, *words, "-f", "csv", *captures], capture_output=True, text=True)
    rows = list(csv.reader(io.StringIO(run.stdout)))
    return rows[0] if rows else []


def is_explained(column, words):
    name = re.sub(r" \((ns|MB|MB/s|%)\)$", "", column)
    one_of_four = re.fullmatch(r"[TAQK](Avg|Med|Min|Max|StdDev)", name)  # explained as letter and figure
    name = one_of_four.group(1) if one_of_four else name
    for precision in PRECISIONS:  # explained once for all
        if name in ("flops_" + precision, "of_" + precision, f"flops_{precision}_error"):
            name = precision
    return name in words


def main():
    page = open(PAGE, encoding="utf-8").read()
    words = set(re.split(r"[,;\[\]|()\n.:]| (?:and|or) |  +", page)) | set(re.findall(r"[\w/]+", page))
    words = {word.strip(" `") for word in words}
    reports = re.findall(r"\b(\w+_(?:sum|trace|path))\b", subprocess.run([GPUPROF, "stats", "--help"], capture_output=True, text=True).stdout)
    missing, seen = [], 0
    commands = [("stats", "-r", report) for report in sorted(set(reports))] + [("roofline", "--by", by) for by in ("kernel", "signature")]
    for command in commands:
        several = columns(*command, captures=(CAPTURE, OTHER)) if command[0] == "stats" else []
        for column in dict.fromkeys(columns(*command) + several):
            seen += 1
            if not is_explained(column, words):
                missing.append(f"{' '.join(command)}: {column}")
    if missing or seen < 100:
        sys.exit(f"{seen} columns; not explained in {PAGE}:\n" + "\n".join(missing))


if __name__ == "__main__":
    main()

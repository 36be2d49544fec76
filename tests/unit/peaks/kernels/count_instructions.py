#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the machine code of all peak kernels with the table in expected.py, and their work figures with both.

Exit 77: there is nothing to read or nothing to read it with.
"""
import argparse
import collections
import pathlib
import subprocess
import sys

import expected
import machine_code
import work_figures

SPILLS = ("STL*", "LDL*")


def code_to_count(kernel, row):
    return kernel.innermost_loop_with(row.counts) if row.in_loop else kernel.instructions


def problems_of_loop(kernel, row, code):
    """Nothing that is measured may be left out at times, wait on the stack, or be crowded out."""
    problems = []
    measured, others = [], []
    for i in code:
        (measured if any(i.matches(p) for p in row.counts) else others).append(i)
    others = [i for i in others if i.opcode != "NOP"]
    if any(i.is_predicated for i in measured):
        problems.append("the measured instructions are predicated")
    if any(i.matches(p) for i in code for p in SPILLS):
        problems.append("its loop spills registers")
    if row.max_others is not None and len(others) > row.max_others:
        common = collections.Counter(i.opcode for i in others).most_common(3)
        listed = ", ".join(f"{count} {opcode}" for opcode, count in common)
        problems.append(f"its loop has {len(others)} other instructions ({listed}), at most {row.max_others} are expected")
    return problems


def problems_of_kernel(kernel, row, target):
    code = code_to_count(kernel, row)
    place = "its loop" if row.in_loop else "it"
    if row.in_loop and not code:
        return [f"there is no loop with {' or '.join(row.counts)} in it"]
    problems = []
    for pattern, count in row.counts.items():
        found = sum(i.matches(pattern) for i in code)
        if found != count:
            problems.append(f"{place} has {found} {pattern}, not {count}")
    if row.in_loop:
        problems += problems_of_loop(kernel, row, code)
    if ((row.kernel, target) not in expected.SPILLS_OUTSIDE_LOOP
            and any(i.matches(p) for i in kernel.instructions for p in SPILLS)):
        problems.append("it spills registers")
    return problems


def problems_of_image(image, by_target, known_targets):
    """All that differs from the table. `by_target`: target -> kernel's name -> machine_code.Kernel."""
    problems = []
    rows = expected.rows_of(image)
    for target in sorted(expected.targets_of(image) & known_targets):
        found = by_target.get(target)
        if found is None:
            problems.append(f"{image}: there is no code for sm_{target}")
            continue
        for row in rows:
            if target not in row.targets.split():
                continue
            where = f"{image}: {row.kernel} for sm_{target}"
            if row.kernel not in found:
                problems.append(f"{where}: there is none")
                continue
            problems += [f"{where}: {p}" for p in problems_of_kernel(found[row.kernel], row, target)]
    for target, found in by_target.items():
        for name in found:
            if not any(row.is_for(name, target) for row in rows):
                problems.append(f"{image}: {name} for sm_{target} is not in the table")
    return problems


def problems_of_files(fatbins, disassembler):
    size = sum(f.stat().st_size for f in fatbins)
    problems = []
    if size > expected.MAX_BYTES:
        problems.append(f"all images have {size} bytes, at most {expected.MAX_BYTES} are allowed")
    names = {f.stem for f in fatbins}
    problems += [f"{name}.fatbin is missing" for name in sorted(expected.ROWS.keys() - names)]
    problems += [f"{name}.fatbin is not in the table" for name in sorted(names - expected.ROWS.keys())]
    problems += [f"{f.name} has no PTX for chips to come" for f in fatbins
                 if f.stem in expected.HAVE_PTX and not disassembler.ptx_targets_of(f)]
    return problems


def targets_of_compiler(nvcc):
    """What this release cannot compile is left out by the build."""
    listed = subprocess.run([nvcc, "--list-gpu-code"], check=True, capture_output=True, text=True).stdout.split()
    known = {name.removeprefix("sm_") for name in listed}
    return {target for target in expected.ALL.split() if target in known or target.rstrip("a") in known}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def main(options):
    fatbins = sorted(pathlib.Path(options.kernels).glob("*.fatbin"))
    if not options.nvcc or not any(f.stat().st_size for f in fatbins):
        skip("there is no nvcc, so there are no kernels")
    known = targets_of_compiler(options.nvcc)
    for target in sorted(set(expected.ALL.split()) - known):
        print(f"this nvcc does not know sm_{target}: not looked at")
    try:
        disassembler = machine_code.Disassembler(options.nvcc, options.tools)
    except machine_code.NoDisassembler as missing:
        skip(missing)

    images = disassembler.kernels_of(fatbins)
    problems = problems_of_files(fatbins, disassembler)
    for image, by_target in images.items():
        problems += problems_of_image(image, by_target, known)
    listed = work_figures.read(subprocess.run([options.list], check=True, capture_output=True, text=True).stdout)
    problems += work_figures.problems(listed, images, code_to_count)
    for problem in problems:
        print(problem)
    print(f"{sum(len(k) for by_target in images.values() for k in by_target.values())} kernels in "
          f"{sum(len(by_target) for by_target in images.values())} images of {len(known)} targets, "
          f"{sum(f.stat().st_size for f in fatbins)} bytes, {len(listed)} work figures: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kernels", required=True, help="folder of the fatbins")
    arguments.add_argument("--list", required=True, help="program that prints the list of kernels")
    arguments.add_argument("--nvcc", default="")
    arguments.add_argument("--tools", required=True, help="folder with bin/nvdisasm and bin/cuobjdump")
    sys.exit(main(arguments.parse_args()))

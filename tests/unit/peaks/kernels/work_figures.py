# SPDX-License-Identifier: Apache-2.0
"""Compares the work that each kernel is said to do in one iteration with what its instructions do."""
import dataclasses
import re

import expected

# Of one warp's instruction. A multiply-add is two operations.
OPERATIONS = [
    (re.compile(r"FFMA$|DFMA$|IMAD$"), 32 * 2),
    (re.compile(r"FFMA2$|HFMA2(\.MMA)?(\.BF16_V2)?$"), 32 * 4),
    (re.compile(r"MUFU\."), 32),
]
SHAPE = re.compile(r"(?:[HIDQ]MMA|OMMA\.SF)\.(\w+)")
SHAPES = {  # of a warp's matrices
    "884": (8, 8, 4), "8x8x4": (8, 8, 4), "1688": (16, 8, 8), "8816": (8, 8, 16), "16816": (16, 8, 16),
    "16x8x16": (16, 8, 16), "16832": (16, 8, 32), "16864": (16, 8, 64),
}
WARPGROUP_SHAPE = re.compile(r"[HIQ]GMMA\.(\d+)x(\d+)x(\d+)")  # a quarter of it is a warp's


@dataclasses.dataclass(frozen=True)
class ListedKernel:
    image: str
    name: str
    threads: int
    work: float  # of one block in one iteration


def read(text):
    """The lines of list_kernels."""
    fields = [line.split() for line in text.splitlines()]
    return [ListedKernel(image, name, int(threads), float(work)) for image, name, threads, work in fields]


def operations_of_warp(opcode):
    if shape := SHAPE.match(opcode):
        rows, columns, depth = SHAPES[shape[1]]
        return 2 * rows * columns * depth
    if shape := WARPGROUP_SHAPE.match(opcode):
        rows, columns, depth = map(int, shape.groups())
        return 2 * rows * columns * depth // 4
    return next(count for pattern, count in OPERATIONS if pattern.match(opcode))


def work_in(code, row, threads):
    measured = [i for i in code if any(i.matches(p) for p in row.counts)]
    if row.operations is not None:
        return row.operations * len(measured)
    return sum(operations_of_warp(i.opcode) for i in measured) * threads // 32


def problems(listed, images, code_to_count):
    """`images`: image -> target -> kernel's name -> machine_code.Kernel."""
    found = []
    for kernel in listed:
        by_target = {target: kernels[kernel.name] for target, kernels in images.get(kernel.image, {}).items()
                     if kernel.name in kernels}
        if not by_target:
            found.append(f"{kernel.name} is listed and not in image {kernel.image}, for no target")
        for target, code in by_target.items():
            row = next((r for r in expected.rows_of(kernel.image) if r.is_for(kernel.name, target)), None)
            if row is None:
                continue  # that is a problem of its own already
            work = work_in(code_to_count(code, row), row, kernel.threads)
            if work != kernel.work:
                found.append(f"{kernel.name} for sm_{target}: its instructions do {work} operations in an iteration, "
                             f"it is listed with {kernel.work:.0f}")
    names = {kernel.name for kernel in listed}
    computing = {row.kernel for image, rows in expected.ROWS.items() if image not in ("memory", "latency") for row in rows}
    found += [f"{name} is compiled and never run: the list of kernels does not have it" for name in sorted(computing - names)]
    return found

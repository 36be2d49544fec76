# SPDX-License-Identifier: Apache-2.0
"""The same with Triton's profiler: proton_profiler.py sessions|plain"""

import json
import pathlib
import sys
import tempfile

import torch
import triton.profiler as proton

a = torch.randn(1024, 1024, device="cuda")
folder = pathlib.Path(tempfile.mkdtemp())


def work(times):
    for _ in range(times):
        b = a @ a
        b.relu_()
    torch.cuda.synchronize()


def total(node):
    own = node.get("metrics", {})
    below = [total(child) for child in node.get("children", [])]
    return own.get("count", 0) + sum(n for n, _ in below), own.get("time (ns)", 0) + sum(t for _, t in below)


work(200)
for number in range(2):
    if sys.argv[1] == "sessions":
        proton.start(str(folder / f"session{number}"), context="shadow")
        with proton.scope("work"):
            work(300)
        proton.finalize()
        tree = json.loads(next(folder.glob(f"session{number}*.hatchet")).read_text())
        launches, nanoseconds = total(tree[0])
        print(f"session{number}_kernels", int(launches))
        print(f"session{number}_gpu_us", nanoseconds / 1e3)
    else:
        work(300)
    work(200)

# SPDX-License-Identifier: Apache-2.0
"""Products of 3072 in FP32, whose time is that of the SM clock: clock.py [--beside N] [--steps 3s]

Before each stand N products of 8192 in BF16, which draw all the power that the GPU may have, so that its clock falls. They are of the same process: two processes
would take turns, and what the other one has lasts as long for the kernels of this one. No matrix stays in the L2 cache, with or without N.
"""

import argparse
import pathlib
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "unmodified"))
import measured  # noqa: E402


def matrices(size, kind):
    return [torch.randn(size, size, device="cuda").to(kind) for _ in range(3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=int, default=0)
    parser.add_argument("--steps", default="3s")
    asked = parser.parse_args()
    torch.manual_seed(0)
    a, b, out = matrices(3072, torch.float32)
    hot_a, hot_b, hot_out = matrices(8192, torch.bfloat16)

    def step():
        for _ in range(asked.beside):
            torch.mm(hot_a, hot_b, out=hot_out)
        with torch.cuda.nvtx.range("step"):
            return torch.mm(a, b, out=out)

    with torch.no_grad():
        torch.cuda.synchronize()
        print("begin", time.time())
        measured.loop(step, torch.cuda.synchronize, asked.steps)
        print("end", time.time())


if __name__ == "__main__":
    main()

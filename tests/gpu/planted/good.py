# SPDX-License-Identifier: Apache-2.0
"""Programs in which nothing is wrong: good.py gemm|attention [--steps N | --steps 10s]"""

import argparse
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "unmodified"))
import measured  # noqa: E402


def gemm():
    a, b = (torch.randn(8192, 8192, device="cuda").bfloat16() for _ in range(2))
    out = torch.empty_like(a)
    return lambda: torch.mm(a, b, out=out)


def attention():
    q, k, v = (torch.randn(8, 16, 8192, 128, device="cuda").bfloat16() for _ in range(3))

    def step():
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=False)

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    programs = {program.__name__: program for program in (gemm, attention)}
    parser.add_argument("program", choices=programs)
    parser.add_argument("--steps", default="500")
    asked = parser.parse_args()
    torch.manual_seed(0)
    work = programs[asked.program]()

    def step():
        with torch.cuda.nvtx.range("step"):
            return work()

    with torch.no_grad():
        measured.loop(step, torch.cuda.synchronize, asked.steps)


if __name__ == "__main__":
    main()

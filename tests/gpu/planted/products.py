# SPDX-License-Identifier: Apache-2.0
"""Matrix products with one planted fault: products.py fp32_products|misaligned_products [--mended] [--steps N]"""

import argparse
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "unmodified"))
import measured  # noqa: E402


def fp32_products(mended):
    """FP32 where TF32 was meant: cuBLAS takes the CUDA cores unless it is told otherwise."""
    torch.backends.cuda.matmul.allow_tf32 = mended
    a, b = (torch.randn(2048, 2048, device="cuda") for _ in range(2))
    return a, b


def misaligned_products(mended):
    """Rows of 2 * 2047 bytes, which are no multiple of 16: the mended ones are padded."""
    size = 2048 if mended else 2047
    a, b = (torch.randn(size, size, device="cuda").bfloat16() for _ in range(2))
    return a, b


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    faults = {fault.__name__: fault for fault in (fp32_products, misaligned_products)}
    parser.add_argument("fault", choices=faults)
    parser.add_argument("--mended", action="store_true")
    parser.add_argument("--steps", default="500")
    asked = parser.parse_args()
    torch.manual_seed(0)
    a, b = faults[asked.fault](asked.mended)
    # Beside them, what has nothing wrong: products of BF16 whose sizes every tile divides.
    x, y = (torch.randn(4096, 4096, device="cuda").bfloat16() for _ in range(2))
    products = 1 if asked.fault == "fp32_products" else 8
    out, beside = torch.empty_like(a), torch.empty_like(x)

    def step():
        with torch.cuda.nvtx.range("step"):
            for _ in range(products):
                torch.mm(a, b, out=out)
            for _ in range(3):
                torch.mm(x, y, out=beside)

    measured.loop(step, torch.cuda.synchronize, asked.steps)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Products of every type at several sizes, each in an NVTX range of its own, and what each must do: product_sizes.py [ROUNDS]"""

import hashlib
import sys

import torch

SIZES = (1024, 2048, 3008, 4096, 8192)  # 3008 is no multiple of any tile
torch.backends.cuda.matmul.allow_tf32 = True
one = torch.ones((), device="cuda")


def random(size, dtype):
    if dtype == torch.int8:
        return torch.randint(-127, 127, (size, size), device="cuda", dtype=dtype)
    return torch.randn(size, size, device="cuda").to(dtype)


def scaled(a, b):
    return torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.bfloat16)


KINDS = {
    "bf16": (torch.bfloat16, torch.mm),
    "fp16": (torch.float16, torch.mm),
    "tf32": (torch.float32, torch.mm),
    "fp64": (torch.float64, torch.mm),
    "int8": (torch.int8, lambda a, b: torch._int_mm(a, b.t())),
    "fp8": (torch.float8_e4m3fn, scaled),
}

torch.manual_seed(0)
products = [(kind, size, multiply, random(size, dtype), random(size, dtype)) for size in SIZES for kind, (dtype, multiply) in KINDS.items()]
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
    results = []
    for kind, size, multiply, a, b in products:
        with torch.cuda.nvtx.range(f"{kind}_{size}"):
            results.append(multiply(a, b))
torch.cuda.synchronize()
for (kind, size, *_), result in zip(products, results):
    print("result", kind, size, hashlib.sha256(result[:512].float().cpu().numpy().tobytes()).hexdigest()[:16])
    print("flop", f"{kind}_{size}", f"tensor_{kind}", 2 * size**3)

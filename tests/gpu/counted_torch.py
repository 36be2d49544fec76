# SPDX-License-Identifier: Apache-2.0
"""Multiplications of every type, and what one of each must do: counted_torch.py [STEPS]"""

import sys
import time

import torch

N = 4096
torch.manual_seed(0)


def random(dtype):
    return torch.randn(N, N, device="cuda").to(dtype)


a, b = random(torch.bfloat16), random(torch.bfloat16)
h, g = random(torch.float16), random(torch.float16)
f, e = random(torch.float32), random(torch.float32)
d, c = random(torch.float64), random(torch.float64)
i, j = (torch.randint(-127, 127, (N, N), device="cuda", dtype=torch.int8) for _ in range(2))
p, q = random(torch.float8_e4m3fn), random(torch.float8_e4m3fn).t()
one = torch.ones((), device="cuda")
x = torch.rand(1 << 28, device="cuda")
y = torch.empty_like(x)
torch.backends.cuda.matmul.allow_tf32 = True


def step():
    products = [torch.mm(a, b), torch.mm(h, g), torch.mm(f, e), torch.mm(d, c), torch._int_mm(i, j.t()),
                torch._scaled_mm(p, q, one, one, out_dtype=torch.bfloat16)]
    y.copy_(x)
    y.add_(x)
    return [m.float().sum() for m in products] + [x.sum(), y.sum()]


sums = step()
torch.cuda.synchronize()
begin = time.time()
for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
    sums = step()
torch.cuda.synchronize()
print("seconds", time.time() - begin)
for number, value in enumerate(sums):
    print("result", number, float(value).hex())
for kind in ("bf16", "fp16", "tf32", "fp64", "int8", "fp8"):
    print("flop", kind, f"tensor_{kind}", 2 * N**3)

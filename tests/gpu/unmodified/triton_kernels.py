# SPDX-License-Identifier: Apache-2.0
"""A vector addition and a tuned matrix product in Triton: triton_kernels.py LIMIT"""

import torch
import triton
import triton.language as tl

import measured


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.autotune([triton.Config({"M": m, "N": n, "K": 32}, num_warps=w) for m, n, w in ((64, 64, 4), (128, 64, 4), (128, 128, 8))], key=["size"])
@triton.jit
def multiply(a, b, c, size, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    total = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, size, K):
        depth = k + tl.arange(0, K)
        left = tl.load(a + rows[:, None] * size + depth[None, :])
        right = tl.load(b + depth[:, None] * size + columns[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * size + columns[None, :], total.to(tl.float16))


torch.manual_seed(0)
size, n = 1024, 1 << 24
x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
added, product = torch.empty_like(x), torch.empty_like(a)


def step():
    add[(triton.cdiv(n, 1024),)](x, y, added, n, BLOCK=1024)
    multiply[lambda chosen: (size // chosen["M"], size // chosen["N"])](a, b, product, size)


measured.loop(step, torch.cuda.synchronize, measured.limit("2000"), every=100)
print("checksum", repr(added.double().sum().item()) + "/" + repr(product.double().sum().item()))

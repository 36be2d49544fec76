# SPDX-License-Identifier: Apache-2.0
"""Matrix products of three types, and a copy: products.py LIMIT"""

import torch

import measured

torch.manual_seed(0)
pairs = [tuple(torch.randn(2048, 2048, device="cuda").to(dtype) for _ in range(2)) for dtype in (torch.bfloat16, torch.float32, torch.float64)]
source = torch.randn(1 << 26, device="cuda")
target = torch.empty_like(source)


def step():
    results = [a @ b for a, b in pairs]
    target.copy_(source)
    return results


results = measured.loop(step, torch.cuda.synchronize, measured.limit("400"), every=20)
print("checksum", "/".join(repr(r.double().sum().item()) for r in [*results, target]))

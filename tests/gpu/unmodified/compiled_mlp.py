# SPDX-License-Identifier: Apache-2.0
"""A small network in training through torch.compile: compiled_mlp.py LIMIT"""

import torch

import measured

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
layers = [torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.LayerNorm(4096), torch.nn.Linear(4096, 1024)]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(2048, 1024, device="cuda")
forward = torch.compile(lambda x: (model(x) - x).square().mean())


def step():
    loss = forward(x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


loss = measured.loop(step, torch.cuda.synchronize, measured.limit("1000"), every=50)
print("checksum", repr(loss.item()) + "/" + measured.parameters_sum(model))

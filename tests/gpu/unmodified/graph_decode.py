# SPDX-License-Identifier: Apache-2.0
"""A small network in a CUDA graph of some 146 kernels, replayed: graph_decode.py LIMIT; with the kernels launched one by one: graph_decode.py LIMIT eager"""

import sys

import torch

import measured

torch.manual_seed(0)


class Block(torch.nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(width), torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


model = torch.nn.Sequential(*(Block() for _ in range(24))).to("cuda", torch.bfloat16).eval()
x = torch.randn(1, 512, device="cuda", dtype=torch.bfloat16)


@torch.no_grad()
def one_by_one():
    x.copy_(torch.tanh(model(x)))


with torch.no_grad():
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            model(x)
    aside.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = torch.tanh(model(x))
        x.copy_(y)

measured.loop(one_by_one if "eager" in sys.argv else graph.replay, torch.cuda.synchronize, measured.limit("20000"), every=200)
print("checksum", repr(x.double().sum().item()))

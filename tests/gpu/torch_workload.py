# SPDX-License-Identifier: Apache-2.0
"""The PyTorch programs gpu-check profiles, one a subcommand; each prints "name value" lines. None knows the profiler."""

import sys
import time

import torch


def median(values):
    return sorted(values)[len(values) // 2]


def add_loop(count=20000, repeats=7):
    x = torch.zeros(16, device="cuda")
    for _ in range(2000):
        x.add_(1)
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        for _ in range(count):
            x.add_(1)
        torch.cuda.synchronize()
        times.append((time.perf_counter_ns() - start) / count)
    print("ns_per_op", median(times))


def train(steps=5):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True, dropout=0.0, device="cuda")
    head = torch.nn.Linear(256, 10, device="cuda")
    parameters = list(layer.parameters()) + list(head.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-3)
    data = torch.randn(8, 64, 256, device="cuda")
    labels = torch.randint(0, 10, (8,), device="cuda")
    loss = None
    for step in range(steps):
        with torch.cuda.nvtx.range(f"step {step}"):
            with torch.cuda.nvtx.range("forward"):
                loss = torch.nn.functional.cross_entropy(head(layer(data).mean(1)), labels)
            with torch.cuda.nvtx.range("backward"):
                loss.backward()
            with torch.cuda.nvtx.range("optimizer"):
                optimizer.step()
                optimizer.zero_grad()
    torch.cuda.synchronize()
    print("loss", repr(loss.item()))


def torch_profiler():
    """What is left for torch.profiler in a process where CUPTI may be taken."""
    x = torch.zeros(16, device="cuda")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(100):
            x.add_(1)
        torch.cuda.synchronize()
    print("kineto_events", sum(e.count for e in profile.key_averages() if e.device_type == torch.autograd.DeviceType.CUDA))


if __name__ == "__main__":
    {"add-loop": add_loop, "train": train, "torch-profiler": torch_profiler}[sys.argv[1]](*map(int, sys.argv[2:]))

# SPDX-License-Identifier: Apache-2.0
"""A program that profiles itself with torch.profiler, twice, with work before, between and after: torch_profiler.py sessions|plain"""

import collections
import contextlib
import sys

import torch
from torch.profiler import ProfilerActivity, profile

a = torch.randn(1024, 1024, device="cuda")
host = torch.randn(1000)


def work(times):
    for _ in range(times):
        b = a @ a
        b.relu_()
        host.to("cuda")
    torch.cuda.synchronize()


def session():
    if sys.argv[1] == "plain":
        return contextlib.nullcontext()
    return profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])


work(200)
for number in range(2):
    with session() as profiler:
        work(300)
    if profiler is not None:
        events = [e for e in profiler.profiler.kineto_results.events() if e.device_type() == torch.autograd.DeviceType.CUDA]
        counts = collections.Counter("copies" if "Memcpy" in e.name() else "kernels" for e in events)
        linked = sum(1 for e in events if e.linked_correlation_id() > 0)
        print(f"session{number}_kernels", counts["kernels"])
        print(f"session{number}_copies", counts["copies"])
        print(f"session{number}_linked", linked)
        print(f"session{number}_names", len({e.name() for e in events}))
        print(f"session{number}_gpu_us", sum(e.duration_ns() for e in events) / 1e3)
    work(200)

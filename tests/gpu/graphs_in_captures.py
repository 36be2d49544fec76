# SPDX-License-Identifier: Apache-2.0
"""A CUDA graph of five kernels, replayed 20 times inside an NVTX range in each of three captures: graphs_in_captures.py profiler|api

profiler: captures between cudaProfilerStart and Stop, so that CUPTI stays attached; api: gpuprof_stop() and gpuprof_start(), so that it is left between them."""

import ctypes
import sys
import time

import torch

library = ctypes.CDLL(None)
a = torch.zeros(1 << 16, device="cuda")


def kernels():
    for _ in range(5):
        a.add_(1)


kernels()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    kernels()
torch.cuda.synchronize()


def replay(number):
    with torch.cuda.nvtx.range(f"capture {number}"):
        for _ in range(20):
            graph.replay()
        torch.cuda.synchronize()


def pause():
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        time.sleep(0.01)
        a.add_(1)  # a call at whose end CUPTI can be left


for number in range(3):
    if sys.argv[1] == "profiler":
        torch.cuda.cudart().cudaProfilerStart()
    elif number > 0:
        library.gpuprof_start(None)
    replay(number)
    if sys.argv[1] == "profiler":
        torch.cuda.cudart().cudaProfilerStop()
    else:
        library.gpuprof_stop()
    pause()

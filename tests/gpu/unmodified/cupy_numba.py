# SPDX-License-Identifier: Apache-2.0
"""Kernels of CuPy and of Numba on one array: cupy_numba.py LIMIT"""

import cupy
from numba import cuda

import measured

scale = cupy.ElementwiseKernel("float32 x, float32 f", "float32 y", "y = x * f + 1", "scale")
raw = cupy.RawKernel('extern "C" __global__ void halve(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 0.5f; }', "halve")


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


cupy.random.seed(0)
count = 1 << 20
x = cupy.random.rand(count, dtype=cupy.float32)
a = cupy.random.rand(1024, 1024, dtype=cupy.float32)
b = None


def step():
    global b
    scale(x, cupy.float32(0.75), x)
    raw((count // 256,), (256,), (x, cupy.int32(count)))
    add_one[count // 256, 256](x)
    b = a @ a
    return b


measured.loop(step, cupy.cuda.Device().synchronize, measured.limit("2000"), every=100)
print("checksum", repr(float(x.sum(dtype=cupy.float64))) + "/" + repr(float(b.sum(dtype=cupy.float64))))

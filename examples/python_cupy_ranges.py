#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CuPy with libgpuprof: ranges around array code, and a DataFrame of every kernel. Run it:

  pip install cupy-cuda13x libgpuprof
  python3 python_cupy_ranges.py
"""
import sys

try:
    import cupy
except ImportError:
    sys.exit("python_cupy_ranges: CuPy is not installed here: pip install cupy-cuda13x")
import libgpuprof as gp


def gpus():
    try:
        return cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


if gpus() == 0:
    print("python_cupy_ranges: no GPU to work on", file=sys.stderr)
    sys.exit(77)


@gp.range("normalize")
def normalize(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


def main():
    values = cupy.random.random((4096, 4096), dtype=cupy.float32)
    with gp.profile("cupy.gpuprof", force_overwrite=True) as prof:
        for _ in range(10):
            scaled = normalize(values)
            with gp.range("product", flops=2.0 * 4096**3):
                scaled @ scaled.T
        cupy.cuda.Device().synchronize()
    if prof.path is None:
        sys.exit("python_cupy_ranges: nothing was recorded: see the lines above")
    print(prof.run.stats("nvtx_gpu_proj_sum"))
    times = {}
    for name, duration in zip(prof.run.kernels["kernel_name"], prof.run.kernels["duration"]):
        times[name] = times.get(name, 0) + duration
    for name, ns in sorted(times.items(), key=lambda item: -item[1]):
        print(f"{ns / 1e6:9.3f} ms  {name[:100]}")


if __name__ == "__main__":
    main()

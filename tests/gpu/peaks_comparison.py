#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `gpuprof peaks` with cuBLAS and copies through PyTorch, on the same GPU in the same run.

    peaks_comparison.py [GPUPROF] [--json FILE]

Library figures are the best of single calls with pauses between, as the burst figures of gpuprof are.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

SIZE = 8192
REPEATS = 12


def best_seconds(torch, call):
    call()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(REPEATS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end) * 1e-3)
        time.sleep(0.005)
    return best


def multiplications(torch):
    """test of gpuprof -> one 8192^3 multiplication of random operands"""
    def plain(dtype, tf32=False):
        def prepare():
            a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=dtype) for _ in range(2))
            out = torch.empty_like(a)

            def call():
                torch.backends.cuda.matmul.allow_tf32 = tf32
                torch.mm(a, b, out=out)
            return call
        return prepare

    def fp8():
        a = torch.randn(SIZE, SIZE, device="cuda").to(torch.float8_e4m3fn)
        b = torch.randn(SIZE, SIZE, device="cuda").to(torch.float8_e4m3fn).t()
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16, use_fast_accum=True)

    def int8():
        a = torch.randint(-128, 128, (SIZE, SIZE), device="cuda", dtype=torch.int8)
        b = torch.randint(-128, 128, (SIZE, SIZE), device="cuda", dtype=torch.int8).t()
        return lambda: torch._int_mm(a, b)

    return {"tensor_bf16": plain(torch.bfloat16), "tensor_fp16": plain(torch.float16),
            "tensor_tf32": plain(torch.float32, tf32=True), "tensor_fp8": fp8, "tensor_int8": int8,
            "tensor_fp64": plain(torch.float64), "fp32": plain(torch.float32)}


def copies(torch):
    """test of gpuprof -> (what PyTorch runs, bytes moved)"""
    words = 1 << 29  # 2 GiB
    x = torch.rand(words, device="cuda")
    y = torch.empty_like(x)
    return {"dram_copy": (lambda: y.copy_(x), 2 * 4 * words), "dram_write": (lambda: y.fill_(1.5), 4 * words),
            "dram_read": (lambda: x.sum(), 4 * words)}


def library_figures():
    import torch
    figures = {}
    for name, prepare in multiplications(torch).items():
        try:
            call = prepare()
            figures[name] = 2 * SIZE**3 / best_seconds(torch, call)
        except (RuntimeError, AttributeError) as reason:
            print(f"{name}: PyTorch cannot: {str(reason).splitlines()[0]}", file=sys.stderr)
        torch.cuda.empty_cache()
    for name, (call, moved) in copies(torch).items():
        figures[name] = moved / best_seconds(torch, call)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    beside = pathlib.Path(__file__).resolve().parents[2] / "bin" / "gpuprof"
    parser.add_argument("gpuprof", nargs="?", default=str(beside))
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here too")
    arguments = parser.parse_args()

    measured = subprocess.run([arguments.gpuprof, "peaks", "--refresh", "--json"], stdout=subprocess.PIPE, text=True).stdout
    gpu = json.loads(measured)["gpus"][0]
    for failed in (r for r in gpu["results"] if r["outcome"] == "failed"):
        print(f"{failed['test']}: {failed['remark']}", file=sys.stderr)
    ours = {r["test"]: r["burst"]["value"] for r in gpu["results"] if "burst" in r}
    theirs = library_figures()
    print(f"{gpu['name']}, driver {gpu['key']['driver_version']}, one run")
    print(f"{'test':18} {'gpuprof':>10} {'library':>10} {'ratio':>6}")
    for name, value in theirs.items():
        if name in ours:
            print(f"{name:18} {ours[name] / 1e12:10.3f} {value / 1e12:10.3f} {ours[name] / value:6.3f}   T/s")
    if arguments.json:
        arguments.json.write_text(json.dumps({"gpuprof": ours, "library": theirs}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

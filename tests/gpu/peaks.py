# SPDX-License-Identifier: Apache-2.0
"""The built-in peaks on the GPU at hand: goals, agreement of two runs, and cuBLAS in the same run."""

import json
import os
import subprocess
import time

from harness import COMMAND, SCRATCH, row

TENSOR = ("tensor_bf16", "tensor_fp16", "tensor_tf32", "tensor_fp8", "tensor_int8")
# Shares of what the clocks allow. An H200's bus is 6016 bit by its driver; the goals were set for 6144.
PER_CLOCK = {**dict.fromkeys(TENSOR, 0.98), **dict.fromkeys(("tensor_fp64", "fp64", "fp32", "fp16"), 0.97),
             **dict.fromkeys(("shared_read", "shared_write"), 0.97)}
H200_DRAM = 6144 / 8 * 2 * 3201e6
DRAM = {"dram_read": 0.93, "dram_write": 0.92, "dram_copy": 0.88, "dram_triad": 0.87}


def measure(*options):
    environment = dict(os.environ, GPUPROF_PEAKS_DIR=str(SCRATCH / "peaks"))
    begin = time.monotonic()
    done = subprocess.run([COMMAND, "peaks", "--refresh", "--json", *options], env=environment, capture_output=True, text=True, timeout=120)
    taken = time.monotonic() - begin
    if not done.stdout:
        raise RuntimeError(done.stderr.strip())
    gpu = json.loads(done.stdout)["gpus"][0]
    return gpu, {r["test"]: r for r in gpu["results"]}, taken


def budget():
    _, _, whole = measure("--device", "0")
    _, _, quick = measure("--device", "0", "--quick")
    row("peaks of one GPU, all tests, s", f"{whole:.2f}", "<= 3 + 0.3 for the process", whole <= 3.3)
    row("peaks --quick, s", f"{quick:.2f}", "<= 1 + 0.3 for the process", quick <= 1.3)


def goals():
    gpu, tests, _ = measure("--device", "0")
    failed = [f"{name}: {r.get('remark', '')}" for name, r in tests.items() if r.get("outcome") == "failed"]
    row("peak tests that failed", "; ".join(failed) or "none", "none", not failed)
    for name, goal in PER_CLOCK.items():
        share = tests[name]["per_clock"]["value"] / tests[name]["per_clock_theory"]
        row(f"{name} per clock / theory", f"{share:.4f}", f">= {goal}", share >= goal)
    for name, goal in DRAM.items():
        theory = H200_DRAM if "H200" in gpu["name"] else tests[name]["theory"]
        share = tests[name]["burst"]["value"] / theory
        row(f"{name} / bus x clock x 2", f"{share:.3f} ({tests[name]['burst']['value'] / tests[name]['theory']:.3f} of the board's bus)",
            f">= {goal}", share >= goal)
    l2 = tests["l2_read"]["per_clock"]["value"] * gpu["key"]["sm_count"]
    row("L2 read, B/clk", f"{l2:.0f}", "> 5200 on an H200", l2 > 5200 if "H200" in gpu["name"] else "")
    for name in ("h2d", "d2h"):
        share = tests[name]["burst"]["value"] / tests[name]["theory"] if "theory" in tests[name] else 0
        row(f"{name} / link", f"{share:.3f}", ">= 0.88", share >= 0.88)


def agreement():
    (_, first, _), (_, second, _) = measure("--device", "0"), measure("--device", "0")
    for figure, goal in (("per_clock", 0.02), ("burst", 0.03)):
        apart = {name: abs(a[figure]["value"] / second[name][figure]["value"] - 1) for name, a in first.items()
                 if figure in a and figure in second[name] and a["group"] not in ("latency", "links")}
        worst = max(apart, key=apart.get)
        row(f"two runs, {figure}, farthest apart", f"{apart[worst]:.4f} ({worst})", f"<= {goal}", apart[worst] <= goal)


def libraries():
    from peaks_comparison import library_figures
    _, tests, _ = measure("--device", "0")
    for name, theirs in library_figures().items():
        ratio = tests[name]["burst"]["value"] / theirs
        row(f"{name} burst / library", f"{ratio:.3f}", "> 1", ratio > 1)


def peers():
    _, tests, _ = measure("--only", "p2p", "--device", "0")
    for name, r in tests.items():
        figure = f"{r['burst']['value'] / 1e9:.0f} GB/s, {r['method']}" if "burst" in r else r.get("remark", "")
        row(name, figure, "(no goal)", "" if r["outcome"] != "failed" else False)


ALL = [budget, goals, agreement, libraries, peers]

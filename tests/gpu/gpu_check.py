#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the GPU suite and the cost measurements on the GPU at hand, and prints one table last. Exit code 1 when a goal is missed."""

import argparse
import fnmatch
import os
import pathlib
import subprocess
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import against  # noqa: E402
import analysis  # noqa: E402
import analysis_comparison  # noqa: E402
import analysis_frameworks  # noqa: E402
import correctness  # noqa: E402
import cost  # noqa: E402
import counters  # noqa: E402
import graph_kernels  # noqa: E402
import harness  # noqa: E402
import lifetimes  # noqa: E402
import native_stacks  # noqa: E402
import other_clients  # noqa: E402
import patience  # noqa: E402
import peaks  # noqa: E402
import programs  # noqa: E402
import sampling  # noqa: E402


# In a process of its own: this one starts the programs, and must not have used CUDA before.
COUNT_GPUS = """
import ctypes, sys
try:
    cuda = ctypes.CDLL("libcuda.so.1")
except OSError as e:
    sys.exit(f"the driver's library cannot be loaded ({e})")
count = ctypes.c_int()
code = cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count))
sys.exit(f"CUDA answers with error {code}" if code else "CUDA shows no GPU" if count.value == 0 else 0)
"""


def why_no_gpu():
    """Returns why no GPU can be used here, in a few words; empty if there is one."""
    if os.environ.get("GPU_CHECK_STAND_INS") == "1":  # the programs use none: suite_test.py
        return ""
    done = subprocess.run([sys.executable, "-c", COUNT_GPUS], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1] if done.stderr else f"asking CUDA ended with {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="comma-separated names of checks, or patterns: programs_*", default="")
    parser.add_argument("--times", type=int, default=5, help="runs of each program in a cost measurement (default 5)")
    parser.add_argument("--quick", action="store_true", help="short runs, each program once")
    parser.add_argument("--within", type=float, default=0, help="seconds after which no further check is begun (default: no limit)")
    parser.add_argument("--against", metavar="LIBRARY", help="another libgpuprof.so: the check against_costs says what this one costs over it")
    parser.add_argument("--no-cost", action="store_true", help="correctness only")
    arguments = parser.parse_args()
    if why := why_no_gpu():
        harness.clean_up()
        sys.exit(f"gpu-check: there is no GPU to check: {why}; gpuprof status says what works here")
    wanted = list(filter(None, arguments.only.split(",")))
    if arguments.against:
        os.environ["GPU_CHECK_AGAINST"] = arguments.against
    quick = arguments.quick or arguments.times == 1
    times = 1 if quick else arguments.times
    begin = time.monotonic()

    checks = [(f"{c.__name__}", c, ()) for c in correctness.ALL]
    checks += [(f"peaks_{c.__name__}", c, ()) for c in peaks.ALL]
    checks += [(f"counters_{c.__name__}", c, ()) for c in counters.ALL]
    checks += [(f"counters_{c.__name__}", c, ()) for c in sampling.ALL]
    checks += [(f"clients_{c.__name__}", c, ()) for c in other_clients.ALL]
    checks += [(f"lifetimes_{c.__name__}", c, ()) for c in lifetimes.ALL]
    checks += [(f"native_{c.__name__}", c, ()) for c in native_stacks.ALL]
    checks += [(f"patience_{c.__name__}", c, ()) for c in patience.ALL]
    checks += [(f"analysis_{c.__name__}", c, (times, quick)) for c in analysis.ALL]
    checks += [(f"analysis_{c.__name__}", c, (times, quick)) for c in analysis_frameworks.ALL]
    checks += [(f"analysis_compare_{c.__name__}", c, (times, quick)) for c in analysis_comparison.ALL]
    if not arguments.no_cost:
        checks += [(f"cost_{c.__name__}", c, (times,)) for c in cost.ALL]
        checks += [(f"against_{c.__name__}", c, (times,)) for c in against.ALL if arguments.against]
        checks += [(f"programs_{c.__name__}", c, (times, quick)) for c in [*programs.ALL, *graph_kernels.ALL]]
    for name, check, extra in checks:
        if wanted and not any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted):
            continue
        if 0 < arguments.within < time.monotonic() - begin:
            harness.row(name, f"not begun after {arguments.within:.0f} s", "", "not run")
            continue
        print(f"{name}: (after {time.monotonic() - begin:.0f} s)", flush=True)
        try:
            check(*extra)
        except Exception as e:  # one check that breaks must not hide the others
            traceback.print_exc()
            harness.row(name, f"{type(e).__name__}: {e}", "runs", False)
    harness.outcome_row()
    print()
    harness.print_table()
    harness.clean_up()
    return 1 if any(r[3] == "MISSED" for r in harness.rows) else 0


if __name__ == "__main__":
    sys.exit(main())

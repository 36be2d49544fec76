# SPDX-License-Identifier: Apache-2.0
"""Native stacks (--cudabacktrace) on a GPU: a program in C++ with known functions, and PyTorch."""

import importlib.util
import json
import re
import statistics
import subprocess
import sys

from harness import COMMAND, HERE, SCRATCH, TORCH_WORKLOAD, keep_log, outcomes, row, run

PROGRAM = HERE.parent / "gpu_native_calls"


def stacks_of(capture):
    """The frames of each stack, outermost first; the last is the kernel or the call."""
    out = SCRATCH / "stacks.folded"
    out.unlink(missing_ok=True)
    subprocess.run([COMMAND, "export", "--type", "folded", "-o", out, capture], capture_output=True, timeout=300)
    return [line.rpartition(" ")[0].split(";") for line in out.read_text().splitlines()] if out.exists() else []


def rows_of(capture, *options):
    done = subprocess.run([COMMAND, "lines", capture, "-f", "json", "--timeunit", "ns", *options], capture_output=True, text=True, timeout=300)
    return {one["Function"]: one for one in json.loads(done.stdout)} if done.returncode == 0 else {}


def share_recorded(capture):
    """Per cent of the launches that have a stack of their own."""
    done = subprocess.run([COMMAND, "lines", capture, "--by", "function"], capture_output=True, text=True, timeout=300)
    found = re.search(r"the stack of ([0-9.]+)\s?% of the launches", done.stdout + done.stderr)
    return float(found.group(1)) if found else 100.0


def cut_share(stacks):
    return sum("(callers not known)" in stack[0] for stack in stacks) / max(len(stacks), 1)


def program():
    """Every kind of call is found in its function, and stacks reach main()."""
    done = run([PROGRAM, 200], cudabacktrace="all")
    keep_log("native_calls", done.err)
    outcomes.append(("native_calls", "" if done.code == 0 else f"exit {done.code}: {done.err.strip()[-200:]}"))
    stacks = stacks_of(done.capture)
    own = rows_of(done.capture, "--by", "function", "--own", str(PROGRAM))
    row("native: functions with GPU time", ", ".join(sorted(name for name, one in own.items() if one["GPU Time (ns)"] > 0)), "native::copies, native::launches",
        {"native::copies", "native::launches"} <= {name for name, one in own.items() if one["GPU Time (ns)"] > 0})
    waits = sorted(name for name, one in own.items() if one["CUDA Waits (ns)"] > 0)
    row("native: functions that wait or allocate", ", ".join(waits), "native::allocates, native::waits", {"native::allocates", "native::waits"} <= set(waits))
    whole = sum(any(frame.startswith("main ") for frame in stack) for stack in stacks)
    row("native: stacks that reach main()", f"{whole} of {len(stacks)}", "all", len(stacks) > 0 and whole == len(stacks))
    row("native: stacks whose callers are not known", f"{cut_share(stacks):.0%}", "0 %", len(stacks) > 0 and cut_share(stacks) == 0)
    row("native: launches with a stack of their own", f"{share_recorded(done.capture):.1f} %", "shown", len(stacks) > 0)
    row("native: lost", done.lost(), "nothing", done.lost() == "nothing")


def auto():
    """By default, allocations and long waits have stacks, kernels have none."""
    done = run([PROGRAM, 50])
    own = rows_of(done.capture, "--by", "function", "--own", str(PROGRAM))
    row("native: allocations by default", own.get("native::allocates", {}).get("CUDA Waits (ns)", 0), "> 0", own.get("native::allocates", {}).get("CUDA Waits (ns)", 0) > 0)


def cost():
    """A launch with native stacks over one without, in turns."""
    ratios = []
    for _ in range(5):
        none, every = run([PROGRAM, 50], cudabacktrace="none"), run([PROGRAM, 50], cudabacktrace="all")
        ratios.append(every.value("launch_ns") / none.value("launch_ns"))
    row("native: median launch, all over none", f"{statistics.median(ratios):.3f}", "<= 1.02", statistics.median(ratios) <= 1.02)


def torch():
    """The same kernels; Python's lines stand above the frames of C++."""
    if importlib.util.find_spec("torch") is None:
        row("native: PyTorch", "no torch", "installed", "not run")
        return
    none = run([sys.executable, TORCH_WORKLOAD, "train", 5], cudabacktrace="none", python_backtrace="all", timeout=300)
    every = run([sys.executable, TORCH_WORKLOAD, "train", 5], cudabacktrace="all", python_backtrace="all", timeout=300)
    keep_log("native torch", every.err)
    outcomes.append(("native torch", "" if every.code == 0 else f"exit {every.code}: {every.err.strip()[-200:]}"))
    row("native: kernels of PyTorch; lost", f"{every.kernels()}; {every.lost()}", f"{none.kernels()}; nothing", (every.kernels(), every.lost()) == (none.kernels(), "nothing"))
    row("native: the loss of PyTorch", every.text("loss"), none.text("loss"), every.text("loss") == none.text("loss"))
    # Lines without launches were seen by the sampler, by chance.
    lines = [[(one["Where"], one["Launches"]) for one in run_.stats("py_line_sum") if float(one["Launches"]) > 0] for run_ in (none, every)]
    row("native: lines of Python, with and without", f"{len(lines[1])} lines", "the same", bool(lines[0]) and sorted(lines[0]) == sorted(lines[1]))
    stacks = stacks_of(every.capture)
    both = [stack for stack in stacks if any(".py:" in frame for frame in stack) and any("libtorch" in frame or "libc10" in frame for frame in stack)]
    row("native: stacks with Python and libtorch", f"{len(both)} of {len(stacks)}", "> 0", bool(both))
    row("native: stacks of PyTorch whose callers are not known", f"{cut_share(both):.0%}", "shown", bool(both))
    row("native: example", "; ".join(both[0])[-300:] if both else "none", "shown", bool(both))


ALL = [program, auto, cost, torch]

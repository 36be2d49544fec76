# SPDX-License-Identifier: Apache-2.0
"""Programs that hang if anything waits for them on their threads, under every way to read counters: each ends, and with the same result."""

import os

import shares
from harness import COMMAND, HERE, SCRATCH, keep_log, outcomes, row, run

PROGRAM = HERE.parent / "gpu_patience"
PROGRAMS = ("persistent", "host-flag", "two-streams", "wait-value", "host-function", "event-wait", "shared-gpu", "captures", "destroy", "endless-at-exit")
FLUSH_TIMEOUT = 2.0  # seconds, the default of --flush-timeout-ms
ENDINGS = ("exit_seconds", "quick_exit_seconds")
# With every launch read, a program that launches all the time runs some ten times as long.
SECONDS = {"exact": 100}
BUDGET = 50  # per cent: far more readings and windows than by default, and so more chances to go wrong

_bare = {}


def bare(name):
    """The program by itself, run once."""
    if name not in _bare:
        _bare[name] = run([PROGRAM, name], traced=False, timeout=60)
    return _bare[name]


def counted(pattern):
    """How many launches were read and how many windows sampled, in all processes of a run."""
    read = windows = 0
    for capture in SCRATCH.glob(pattern):
        if report := shares.roofline_of(COMMAND, capture):
            read += shares.readings(report)
            windows += shares.windows(report)
    return read, windows


def fault(name, alone, under):
    """What is wrong with a profiled run, in words; nothing when all is well."""
    if "hung" in under.out.split() or under.code == -9:
        return "hung"
    if under.code != 0:
        return f"exit {under.code}: {under.err.strip()[-200:]}"
    if under.values.get("checksum") != alone.values.get("checksum"):
        return f"checksum {under.values.get('checksum')} instead of {alone.values.get('checksum')}"
    for ending in ENDINGS:
        if ending in under.values and under.value(ending) > alone.value(ending) + FLUSH_TIMEOUT + 0.2:
            return f"{ending} {under.value(ending):.2f}"
    return ""


def details(under):
    words = [f"{under.seconds:.1f} s"]
    words += [f"{ending} {under.value(ending):.2f}" for ending in ENDINGS if ending in under.values]
    return ", ".join(words)


def patience(mode):
    judged, well, hung, active = 0, 0, 0, 0
    for name in PROGRAMS:
        alone = bare(name)
        if "not_supported" in alone.values or alone.code != 0:
            print(f"    {name}: not run: by itself it ends with {alone.code} {alone.out.strip()[-100:]} {alone.err.strip()[-200:]}", flush=True)
            continue
        pattern = f"patience_{mode}_{name}_%p.gpuprof"
        os.environ["GPU_PATIENCE_SECONDS"] = str(SECONDS.get(mode, 20))
        under = run([PROGRAM, name], timeout=SECONDS.get(mode, 20) + 40, metrics=mode, overhead_budget=BUDGET, output=SCRATCH / pattern)
        keep_log(f"patience {mode} {name}", under.err)
        wrong = fault(name, alone, under)
        read, windows = counted(pattern.replace("%p", "*"))
        print(f"    {name}: {wrong or 'as alone'}; {details(under)} (alone {details(alone)}); {read} launches read, {windows} windows", flush=True)
        outcomes.append((f"{name} under {mode}", wrong))
        judged += 1
        well += not wrong
        hung += wrong == "hung"
        active += read + windows > 0
    row(f"programs that nothing may wait for, --metrics {mode}", f"{well} of {judged} end with their own result, {hung} hang, {len(PROGRAMS) - judged} not run", "all, 0 hang",
        well == judged if judged else "not run")
    if mode != "none":
        row(f"of these with counters at work, --metrics {mode}", f"{active} of {judged}", "", "")


def named(mode):
    def check():
        patience(mode)

    check.__name__ = mode
    return check


ALL = [named(mode) for mode in ("none", "sampled", "auto", "exact")]

# SPDX-License-Identifier: Apache-2.0
"""Programs that use CUPTI themselves: they get from their own profiler what they get without us, and our capture has every kernel."""

import sys

from harness import HERE, keep_log, row, run

TIMEOUT = 150


def once(script, words, mode):
    settings = {"traced": False} if mode == "bare" else {"metrics": mode, "way": "command"}
    done = run([sys.executable, HERE / "unmodified" / script, words], toolkit=False, timeout=TIMEOUT, **settings)
    keep_log(f"{script} {words} {mode}", done.err)
    return done


def counts_of(done):
    """What the sessions of the program's own profiler say, but for times."""
    return {name: [float(v) for v in values] for name, values in done.values.items() if name.startswith("session") and not name.endswith("_us")}


def waits_of(done):
    """Waits for a context or a stream in our capture; the program's own profiler may add some."""
    return sum(int(row["Num Calls"].replace(",", "")) for row in done.stats("cuda_api_sum") if "Synchronize" in row["Name"])


def beside(script):
    bare = once(script, "sessions", "bare")
    if bare.code != 0 or not counts_of(bare):
        row(script, f"bare: exit {bare.code}: {bare.err.strip()[-200:]}", "runs by itself", "not run")
        return
    plain = once(script, "plain", "none")
    waits = waits_of(plain)
    row(f"{script}: kernels in our capture without its sessions; lost", f"{plain.kernels()}; {plain.lost()}", "", "")
    for mode in ("none", "auto"):
        done = once(script, "sessions", mode)
        same = done.code == 0 and counts_of(done) == counts_of(bare)
        row(f"{script}: its own events, bare / {mode}", f"{counts_of(bare)} / {counts_of(done) if done.code == 0 else done.err.strip()[-200:]}", "the same", same)
        if done.code != 0:
            continue
        for number in range(2):
            times = [run_of.value(f"session{number}_gpu_us") for run_of in (bare, done)]
            row(f"{script}: GPU time of session {number} by its own events, {mode} / bare", f"{times[1] / times[0]:.3f}", "", "")
        row(f"{script}: kernels in our capture; lost, {mode}", f"{done.kernels()}; {done.lost()}", f"{plain.kernels()}; nothing", done.kernels() == plain.kernels() and done.lost() == "nothing")
        row(f"{script}: waits in our capture, {mode}", waits_of(done), f">= {waits}, > 0", waits_of(done) >= waits > 0)


def torch_profiler():
    beside("torch_profiler.py")


def proton_profiler():
    beside("proton_profiler.py")


def jax_profiler():
    beside("jax_profiler.py")


ALL = [torch_profiler, proton_profiler, jax_profiler]

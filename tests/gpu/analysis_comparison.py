# SPDX-License-Identifier: Apache-2.0
"""gpuprof compare on runs of one program: the same, one kernel 3 % slower, at a clock that another process holds down."""

import re
import statistics
import subprocess
import sys
import time

from analysis import PLANTED, TIMEOUT, profiled
from harness import COMMAND, HERE, SCRATCH, row, run

STEPS = 800  # of half a millisecond
ANY_WORSE = "step>0%,gpu>0%,range:step>0%,kernel:.*>0%"
SLOWED = "whole_sm_fma"
ALL_SAID, WORSE, UNDECIDED = 0, 1, 3


def steady(name, *options):
    """The capture of a run without counters; None, with a row, where there is none."""
    capture = SCRATCH / f"{name}.gpuprof"
    done = run([COMMAND, "profile", "--trace", "cuda,nvtx", "--force-overwrite", "--output", capture, "--", PLANTED, "steady", "--steps", STEPS, *options],
               traced=False, toolkit=False, timeout=TIMEOUT)
    if done.code == 0 and capture.exists():
        return capture
    row("compare", f"exit {done.code}: {done.err.strip()[-150:]}", "runs", "not run")
    return None


def gate(base, new, expression):
    """(exit code, last words) of a comparison that fails on what got worse."""
    done = subprocess.run([COMMAND, "compare", base, new, "--fail-on", expression], capture_output=True, text=True, timeout=TIMEOUT)
    return done.returncode, (done.stderr.strip() or done.stdout.strip())[-150:]


def count_of(answers, wanted):
    """How many of [(code, words)] have a wanted code, and what the first other said."""
    others = [f"exit {code}: {words}" for code, words in answers if code not in wanted]
    return len(answers) - len(others), f"; {others[0]}" if others else ""


def tries(times, quick):
    """Pairs of runs of the same program, each way round, and of one that is slowed."""
    wanted = 5 if quick else 20
    same, slower = [], []
    base = steady("same_0")
    for number in range(1, wanted + 1):
        new, slowed = steady(f"same_{number}"), steady("slower", "--slower", 3)
        if None in (base, new, slowed):
            return
        same.append(max(gate(base, new, ANY_WORSE), gate(new, base, ANY_WORSE), key=lambda answer: answer[0] not in (ALL_SAID, UNDECIDED)))
        slower.append(gate(base, slowed, f"kernel:.*{SLOWED}.*>1%"))
        base.unlink()
        base = new
    quiet, why = count_of(same, {ALL_SAID, UNDECIDED})
    row("compare_same", f"no difference beyond noise in {quiet} of {wanted}{why}", "all", quiet == wanted)
    found, why = count_of(slower, {WORSE})
    row("compare_slower: a kernel slower by 3 %", f"found in {found} of {wanted}{why}", "19 of 20", found >= wanted * 0.95)


class clock_watch:
    """SM clock of the GPU, ten times a second, while something runs."""

    def __enter__(self):
        self.process = subprocess.Popen(["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits", "-lms", "100", "-i", "0"], stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        words = self.process.communicate()[0].split()
        clocks = [float(word) for word in words if word.isdigit()]
        self.median = statistics.median(clocks[len(clocks) // 4:] or [0])


def clock(times, quick):
    """Beside a process that takes the power."""
    goal = "told as clock"
    words = [PLANTED, "steady", "--steps", 4 * STEPS]
    with clock_watch() as alone:
        base = profiled("clock_alone", words)
    other = subprocess.Popen([sys.executable, HERE / "planted" / "good.py", "gemm", "--steps", "60s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(8)
        with clock_watch() as beside:
            new = profiled("clock_beside", words)
    finally:
        other.kill()
        other.wait()
    if base.code != 0 or new.code != 0 or not alone.median or beside.median > 0.97 * alone.median:
        row("compare_clock", f"exit {base.code} and {new.code}; SM clock {alone.median:.0f} and {beside.median:.0f} MHz: it did not fall", goal, "not run")
        return
    done = subprocess.run([COMMAND, "compare", base.capture, new.capture], capture_output=True, text=True, timeout=TIMEOUT)
    told = re.search(r"[^\n]*\d[^\n]*\bclock[^\n]*", done.stdout)
    row("compare_clock", f"{alone.median:.0f} to {beside.median:.0f} MHz: {told.group(0).strip()[:120] if told else 'not told'}", goal, done.returncode == 0 and bool(told))


ALL = [tries, clock]

# SPDX-License-Identifier: Apache-2.0
"""gpuprof compare on runs of one program: the same, one kernel 3 % slower, at a clock that other work holds down."""

import datetime
import json
import statistics
import subprocess
import sys

import analysis_verdicts as verdicts
from analysis import PLANTED, TIMEOUT, bare, profiled
from harness import COMMAND, HERE, SCRATCH, row, run

STEPS = 400  # of half a millisecond
SIDE = 5  # captures a side, as the manual has it
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
    """(exit code, the words that explain it) of a comparison of lists of captures that fails on what got worse."""
    more = [word for capture in base[1:] for word in ("--base", capture)]
    done = subprocess.run([COMMAND, "compare", base[0], *new, *more, "--step", "step", "--fail-on", expression], capture_output=True, text=True, timeout=TIMEOUT)
    said = done.stderr.strip().splitlines() or done.stdout.strip().splitlines() or [""]
    explains = {WORSE: "failed:", UNDECIDED: "not decidable:"}.get(done.returncode, "")
    return done.returncode, next((line for line in said if explains in line), said[-1])[-200:]


def both_ways(one, other):
    """As gate, with either side as the base; what calls one of them worse goes first."""
    return max(gate(one, other, ANY_WORSE), gate(other, one, ANY_WORSE), key=lambda answer: answer[0] not in (ALL_SAID, UNDECIDED))


def count_of(answers, wanted):
    """How many of [(code, words)] have a wanted code, and what the first other said."""
    others = [f"exit {code}: {words}" for code, words in answers if code not in wanted]
    return len(answers) - len(others), f"; {others[0]}" if others else ""


def runs_in_turns(number):
    """Captures of SIDE runs and of as many slowed ones that took turns with them; None where there are none."""
    same, slowed = [], []
    for i in range(SIDE):
        same.append(steady(f"same_{number}_{i}"))
        slowed.append(steady(f"slower_{number}_{i}", "--slower", 3))
        if None in (same[-1], slowed[-1]):
            return None
    return same, slowed


def tries(times, quick):
    """Sides of one program, each way round, with five captures and with one; and of one that is slowed. What one side has and what the other took turns when they ran."""
    wanted = 5 if quick else 20
    single, same, slower = [], [], []
    before = runs_in_turns(0)
    for number in range(1, wanted + 1):
        now = before and runs_in_turns(number)
        if not now:
            return
        in_time = before[0] + now[0]
        single.append(both_ways(in_time[0:1], in_time[SIDE:SIDE + 1]))
        same.append(both_ways(in_time[0::2], in_time[1::2]))
        slower.append(gate(now[0], now[1], f"kernel:.*{SLOWED}.*>1%"))
        for capture in before[0] + before[1]:
            capture.unlink()
        before = now
    for name, answers in (("compare_same", same), ("compare_same_single", single)):
        quiet, why = count_of(answers, {ALL_SAID, UNDECIDED})
        row(name, f"no difference beyond noise in {quiet} of {wanted}{why}", "all", quiet == wanted)
    found, why = count_of(slower, {WORSE})
    row("compare_slower: a kernel slower by 3 %", f"found in {found} of {wanted}{why}", "19 of 20", found >= wanted * 0.95)


class clock_watch:
    """SM clock of the GPU, ten times a second, while something runs."""

    def __enter__(self):
        words = ["nvidia-smi", "--query-gpu=timestamp,clocks.sm", "--format=csv,noheader,nounits", "-lms", "100", "-i", "0"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.lines = self.process.communicate()[0].splitlines()

    def median(self, begin, end):
        """MHz between two times of the epoch; 0: none was read."""
        clocks = []
        for line in self.lines:
            when, _, clock = line.partition(",")
            try:
                if begin <= datetime.datetime.strptime(when.strip(), "%Y/%m/%d %H:%M:%S.%f").timestamp() <= end:
                    clocks.append(float(clock))
            except ValueError:  # "[N/A]", or a line that was cut
                pass
        return statistics.median(clocks or [0])


def watched(name, words):
    """A profiled run, and the SM clock while it worked."""
    with clock_watch() as watch:
        done = profiled(name, words)
    return done, watch.median(done.value("begin"), done.value("end")) if done.code == 0 else 0


def clock(times, quick):
    """The same products, beside others that take the power."""
    goal = "told as clock"
    words = [sys.executable, HERE / "planted" / "clock.py"]
    if bare([*words, "--steps", "3"]).code != 0:
        row("compare_clock", "clock.py does not run by itself", goal, "not run")
        return
    (base, alone), (new, beside) = watched("clock_alone", words), watched("clock_beside", [*words, "--beside", "2"])
    if base.code != 0 or new.code != 0:
        row("compare_clock", f"exit {base.code} and {new.code}", goal, False)
        return
    if not alone or beside > 0.97 * alone:
        row("compare_clock", f"SM clock {alone:.0f} and {beside:.0f} MHz: it did not fall", goal, "not run")
        return
    done = subprocess.run([COMMAND, "compare", "-f", "json", base.capture, new.capture], capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        row("compare_clock", f"exit {done.returncode}: {done.stderr.strip()[-150:]}", goal, False)
        return
    told, met = verdicts.judge_clock(json.loads(done.stdout))
    row("compare_clock", f"{alone:.0f} to {beside:.0f} MHz: {told}", goal, met)


ALL = [tries, clock]

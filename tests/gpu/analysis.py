# SPDX-License-Identifier: Apache-2.0
"""gpuprof analyze on programs with one planted fault each, on their mended twins and on good programs; its ledger against an independent sum."""

import statistics
import subprocess
import sys

import analysis_verdicts as verdicts
from harness import COMMAND, HERE, SCRATCH, keep_log, row, run

PLANTED = HERE.parent / "gpu_planted"
TRACE = "cuda,nvtx,blocking,sync,cuda-memory"
TIMEOUT = 120
judgments = {}  # by fault, for the row over all of them


def words_of(fault, *options):
    if fault.script:
        return [sys.executable, HERE / "planted" / f"{fault.script}.py", fault.name, *options]
    return [PLANTED, fault.name, *options]


def bare(words):
    return run(words, traced=False, toolkit=False, timeout=TIMEOUT)


def profiled(name, words, metrics=True, trace=TRACE):
    """A run under `gpuprof profile` with all that analyze asks for; .capture is its file."""
    capture = SCRATCH / f"{name}.gpuprof"
    counters = ["--peaks", "on", "--metrics", "auto", "--set", "explain"] if metrics else []
    done = run([COMMAND, "profile", *counters, "--trace", trace, "--force-overwrite", "--output", capture, "--", *words], traced=False, toolkit=False, timeout=TIMEOUT)
    keep_log(name, done.err)
    done.capture = capture
    return done


def advice_of(done):
    """What analyze says of a whole run, for some faults lie before the steps; raises with its words where it says nothing that can be read."""
    if done.code != 0:
        raise RuntimeError(f"the profiled program ended with {done.code}: {done.err.strip()[-200:]}")
    analyzed = subprocess.run([COMMAND, "analyze", "--all", "-f", "json", done.capture], capture_output=True, text=True, timeout=TIMEOUT)
    if analyzed.returncode != 0:
        raise RuntimeError(f"gpuprof analyze: exit {analyzed.returncode}: {analyzed.stderr.strip()[-200:]}")
    return verdicts.read_advice(analyzed.stdout)


WARM_UP = 3  # steps that programs do before those they count


def time_won(fault, runs):
    """Seconds that the mend wins a step, by the medians of runs that took turns; how far pairs of them are apart; the faulty one's seconds.
    Of a fault that costs its run once: all of it for each second that the fault took by the program's own clock, for compiling takes the CPU longer now than then."""
    if fault.is_once:
        costs = [done.value("fault_seconds") for done in runs[False]]
        each = {mended: [done.value("seconds") / cost for done, cost in zip(of_twin, costs)] for mended, of_twin in runs.items()}
    else:
        each = {mended: [done.value("seconds") / done.value("steps") for done in of_twin] for mended, of_twin in runs.items()}
    pairs = [faulty - mended for faulty, mended in zip(each[False], each[True])]
    whole = statistics.median(each[False])
    won = statistics.median(pairs) if fault.is_once else whole - statistics.median(each[True])
    return won, max(pairs) - min(pairs), whole


def twins_in_turns(fault, steps, times):
    """{mended: [Run]}; None where the program does not run here by itself."""
    runs = {False: [], True: []}
    for _ in range(times):
        for mended in runs:
            done = bare(words_of(fault, *(["--mended"] if mended else []), "--steps", steps))
            if done.code != 0 or "seconds" not in done.values:
                row(f"analysis_fault_{fault.name}", f"exit {done.code} by itself: {done.err.strip()[-150:]}", "runs by itself", "not run")
                return None
            runs[mended].append(done)
    return runs


def cost_of_once(fault, runs, done):
    if not fault.is_once:
        return ""
    by_itself = statistics.median(one.value("fault_seconds") for one in runs[False])
    return f"; the fault took {1e3 * by_itself:.1f} ms by itself, {1e3 * done.value('fault_seconds'):.1f} ms as profiled"


def check_fault(fault, quick):
    steps = fault.steps // 2 if quick else fault.steps
    runs = twins_in_turns(fault, steps, 1 if quick and not fault.is_once else 3)
    if runs is None:
        return
    won, spread, whole = time_won(fault, runs)
    goal = "named first, the time won lies in the interval"
    judgments[fault.name] = verdicts.Judgment("no advice")
    done = profiled(fault.name, words_of(fault, "--steps", 3 * steps))
    advice = advice_of(done)
    times = done.value("fault_seconds") if fault.is_once else done.value("steps") + WARM_UP
    # What a finding says of single long calls is exact; what was won is known by three pairs of runs.
    error_ns = 1e9 * spread / 2 * times if fault.is_once else 0
    judgment = judgments[fault.name] = verdicts.judge_fault(fault, advice, 1e9 * won * times, error_ns)
    row(f"analysis_fault_{fault.name}", f"{judgment.text}{cost_of_once(fault, runs, done)} ({100 * won / whole:.0f} % by itself, spread {100 * spread / whole:.1f} %)", goal, judgment.is_met)
    done.capture.unlink(missing_ok=True)
    mended = profiled(f"{fault.name}_mended", words_of(fault, "--mended", "--steps", 3 * steps))
    above = verdicts.judge_mended(fault, advice_of(mended))
    row(f"analysis_mended_{fault.name}", "; ".join(above) or "no finding of that kind", f"none above {100 * verdicts.ABOVE:.0f} %", not above)
    mended.capture.unlink(missing_ok=True)


def named(fault):
    def check(times, quick):
        check_fault(fault, quick)

    check.__name__ = f"fault_{fault.name}"
    return check


def ten_of_twelve(times, quick):
    """Over the faults that were looked at."""
    if judgments:
        missing = len(verdicts.FAULTS) - len(judgments)
        measured, met = verdicts.summary(judgments.values())
        row("analysis: planted faults", measured + (f"; {missing} not run" if missing else ""), "all named, ten of twelve gains", met)


GOOD = {"gemm": 300, "attention": 300, "copy_at_the_roof": 5000}


def check_good(name, steps):
    words = [PLANTED, name] if name == "copy_at_the_roof" else [sys.executable, HERE / "planted" / "good.py", name]
    done = profiled(f"good_{name}", [*words, "--steps", steps])
    if "seconds" not in done.values and bare([*words, "--steps", 3]).code != 0:
        row(f"analysis_good_{name}", f"exit {done.code}: {done.err.strip()[-150:]}", "runs by itself", "not run")
        return
    above = verdicts.judge_good(advice_of(done))
    row(f"analysis_good_{name}", "; ".join(above) or "no finding", f"none above {100 * verdicts.ABOVE:.0f} %", not above)
    done.capture.unlink(missing_ok=True)


def good(times, quick):
    for name, steps in GOOD.items():
        try:
            check_good(name, steps if quick else 2 * steps)
        except (RuntimeError, ValueError, KeyError) as what:  # one must not hide the others
            row(f"analysis_good_{name}", f"{type(what).__name__}: {what}", f"none above {100 * verdicts.ABOVE:.0f} %", False)


def tables_of(done):
    folder = SCRATCH / f"{done.capture.stem}_tables"
    subprocess.run([COMMAND, "export", done.capture, "--type", "csv", "-o", folder], check=True, capture_output=True, timeout=TIMEOUT)
    return folder


def ledger(times, quick):
    """The time of a framework's training steps, added up by analyze and here."""
    script = HERE / "train_step.py"
    done = profiled("ledger", [sys.executable, script, 1 if quick else 3], metrics=False, trace="cuda,nvtx")
    if done.code != 0:
        row("analysis_ledger", f"exit {done.code}: {done.err.strip()[-150:]}", "within 0.1 %", "not run" if bare([sys.executable, script, 0]).code else False)
        return
    found = advice_of(done).ledger
    busy, whole = verdicts.busy_of_tables(tables_of(done))
    busy_off, whole_off = verdicts.busy_of(found) / busy - 1, sum(found.values()) / whole - 1
    row("analysis_ledger", f"busy {busy / 1e6:.3f} of {whole / 1e6:.3f} ms, off by {100 * busy_off:+.4f} %; window by {100 * whole_off:+.4f} %", "within 0.1 %",
        max(abs(busy_off), abs(whole_off)) <= 0.001)


def waits(times, quick):
    """Idle time by cause, of waits whose length is known."""
    done = profiled("waits", [PLANTED, "known_waits", "--steps", 50 if quick else 150], metrics=False)
    if done.code != 0:
        row("analysis_waits", f"exit {done.code}: {done.err.strip()[-150:]}", "within 2 %", "not run")
        return
    planted = {cause: 1e6 * done.value(f"idle_{cause}_ms") for cause in verdicts.CAUSES}
    for cause, found, known, met in verdicts.judge_waits(advice_of(done).ledger, planted):
        row(f"analysis_waits_{cause}", f"{found / 1e6:.2f} of {known / 1e6:.2f} ms = {found / known:.4f}", "within 2 %", met)


ALL = [*(named(fault) for fault in verdicts.FAULTS), ten_of_twelve, good, ledger, waits]

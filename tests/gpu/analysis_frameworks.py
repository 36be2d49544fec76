# SPDX-License-Identifier: Apache-2.0
"""gpuprof analyze on PyTorch programs with one planted fault each, as users run it: on their steps, with the counters of `--metrics auto`.

GPU_CHECK_CAPTURES=FOLDER keeps the captures, and beside each the time of a step without a profiler (NAME.txt)."""

import os
import pathlib
import shutil
import subprocess
import sys

import analysis_verdicts as verdicts
from harness import COMMAND, HERE, SCRATCH, keep_log, row, run

TIMEOUT = 180
judgments = {}


def step_ms(name, options, times):
    """The least time of a step in runs without a profiler; a reason in words where the program does not run here."""
    least = None
    for _ in range(times):
        done = run([sys.executable, HERE / "planted/frameworks.py", name, *options], traced=False, toolkit=False, timeout=TIMEOUT)
        if done.code != 0 or "step_ms" not in done.values:
            return f"exit {done.code} by itself: {done.err.strip()[-150:]}"
        least = min(least or done.value("step_ms"), done.value("step_ms"))
    return least


def advice_on(name, options):
    twin = name + ("_mended" if options else "")
    capture = SCRATCH / f"{twin}.gpuprof"
    words = [COMMAND, "profile", "--metrics", "auto", "--peaks", "on", "--force-overwrite", "--output", capture, "--",
             sys.executable, HERE / "planted/frameworks.py", name, *options]
    done = run(words, traced=False, toolkit=False, timeout=TIMEOUT)
    keep_log(twin, done.err)
    if done.code != 0:
        raise RuntimeError(f"the profiled program ended with {done.code}: {done.err.strip()[-200:]}")
    analyzed = subprocess.run([COMMAND, "analyze", "-f", "json", capture], capture_output=True, text=True, timeout=TIMEOUT)
    if analyzed.returncode != 0:
        raise RuntimeError(f"gpuprof analyze: exit {analyzed.returncode}: {analyzed.stderr.strip()[-200:]}")
    return verdicts.read_advice(analyzed.stdout), capture


def keep(capture, ms):
    folder = os.environ.get("GPU_CHECK_CAPTURES")
    if folder:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.move(capture, pathlib.Path(folder) / capture.name)
        (pathlib.Path(folder) / f"{capture.stem}.txt").write_text(f"step_ms {ms}\n")
    else:
        capture.unlink(missing_ok=True)


def check_program(name, rules, quick):
    times = {mended: step_ms(name, ["--mended"] if mended else [], 1 if quick else 3) for mended in (False, True)}
    reason = next((one for one in times.values() if isinstance(one, str)), "")
    if reason:
        row(f"analysis_framework_{name}", reason, "runs by itself", "not run")
        return
    judgments[name] = verdicts.ShareJudgment("no advice")
    advice, capture = advice_on(name, [])
    keep(capture, times[False])
    judgment = judgments[name] = verdicts.judge_share(rules, advice, 1 - times[True] / times[False])
    row(f"analysis_framework_{name}", f"{judgment.text} ({times[False]:.3g} to {times[True]:.3g} ms a step)", "named among the first two, the gain holds",
        judgment.rank in (1, 2) and judgment.is_within)
    advice, capture = advice_on(name, ["--mended"])
    keep(capture, times[True])
    above = [verdicts.share_of(one) for one in advice.findings if one.rule in rules and not one.condition and one.of_window_low > verdicts.ABOVE]
    row(f"analysis_framework_mended_{name}", "; ".join(above) or "no finding of that kind", f"none surely above {100 * verdicts.ABOVE:.0f} %", not above)


def named(name, rules):
    def check(times, quick):
        check_program(name, rules, quick)

    check.__name__ = f"framework_{name}"
    return check


def frameworks_together(times, quick):
    """Over the programs that were looked at."""
    if judgments:
        measured, met = verdicts.summary_of_shares(judgments.values())
        row("analysis: planted faults in frameworks", measured, "31 of 34 among the first two, 90 % of the gains", met)


ALL = [*(named(name, rules) for name, rules in verdicts.FRAMEWORK_FAULTS.items()), frameworks_together]

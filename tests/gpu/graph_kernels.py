# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs of unmodified programs: whether each kernel is there, and whether times and counters of kernels in a graph are right."""

import math
import sys

import shares
from harness import HERE, WORKLOAD, keep_log, row, run
from programs import PROGRAMS, TIMEOUT, report_of


def many_kernels(times, quick):
    """As many kernels a second as graphs can run, for a minute: with counters, too, each has its record."""
    for mode in ("none", "auto"):
        done = run([WORKLOAD, "graphs-for", 10 if quick else 60], metrics=mode, timeout=240)
        keep_log(f"graphs-for {mode}", done.err)
        name = f"{done.value('kernels') / 1e6:.1f} M kernels of graphs, {done.value('kernels_per_second') / 1e3:.0f} thousand a second, {mode}" if done.code == 0 else mode
        row(f"{name}: recorded; lost", f"{done.kernels() / 1e6:.1f} M; {done.lost()}" if done.capture.exists() else "no capture", "all; nothing",
            done.code == 0 and done.capture.exists() and done.kernels() == int(done.value("kernels")) and done.lost() == "nothing")
        done.capture.unlink(missing_ok=True)


def inside_a_graph(times, quick):
    """What samples tell of the kernels of a replayed graph, against the same kernels launched one by one: counted, which leaves other things in the cache, and sampled."""
    script = HERE / "unmodified" / "graph_decode.py"

    def lines(mode, *words, **settings):
        done = run([sys.executable, script, *words], way="command", toolkit=False, timeout=TIMEOUT, metrics=mode, **settings)
        report = report_of(done)
        keep_log(f"graph_decode {mode} {' '.join(words)}", done.err + "\n".join(str(line) for line in (report or {}).get("summary", [])))
        return largest_of_geometry(report)

    found = lines("auto", "5s")
    counted, sampled = lines("exact", "100", "eager", duration=12), lines("auto", "5s", "eager")
    near_those(found, counted, "counted", "tensor FLOP", tensor_flop_of, "flops_error")
    near_those(found, counted, "counted", "DRAM bytes", dram_bytes, "dram_bytes_per_second_error")
    near_those(found, sampled, "sampled", "DRAM bytes", dram_bytes, "dram_bytes_per_second_error")


def near_those(found, known, how, what, per_launch, error_of):
    near = held = judged = 0
    for key in sorted(known.keys() & found.keys()):
        there, here = per_launch(known[key]), per_launch(found[key])
        if not there:
            continue
        judged += 1
        if here is None:
            print(f"    {what}: not told, {found[key]['avg_ns'] / 1e3:.1f} us, {key[0][:70]}", flush=True)
            continue
        error = 2 * sum((line.get(error_of) or 0) * line["avg_ns"] * 1e-9 for line in (found[key], known[key]))
        print(f"    {what}: {here:.4g} of {there:.4g} +- {error:.2g} = {here / there:.4f}, {found[key]['avg_ns'] / 1e3:.1f} us, {key[0][:70]}", flush=True)
        near, held = near + (abs(here / there - 1) <= 0.05), held + (abs(here - there) <= error)
    row(f"kernels of a graph, {what} within 5 % of those launched one by one and {how}; within two errors", f"{near} and {held} of {judged}", "all", judged > 0 and near == judged)


def largest_of_geometry(report):
    """{(function, grid, block): the line with most time}"""
    lines = sorted(lines_of_report(report), key=lambda line: line["time_ns"])
    return {shares.geometry(line): line for line in lines}


def lines_of_report(report):
    return shares.lines_of(report) if report else []


def dram_bytes(line):
    rate = line.get("dram_bytes_per_second")
    return None if rate is None else rate * line["avg_ns"] * 1e-9


def tensor_flop_of(line):
    if line.get("flops") is None:
        return None
    return sum(rate or 0 for name, rate in line["flops_by_precision"].items() if name.startswith("tensor")) * line["avg_ns"] * 1e-9


def graph_times(times, quick):
    """The kernels of a serving loop whose graphs were timed in some launches, between two runs with all of them timed."""
    program = next(p for p in PROGRAMS if p.name == "serving")
    steps, lines = program.quick_steps if quick else program.steps, []
    for level in ("node", "auto", "node"):
        done = run(program.words(steps), way="command", toolkit=False, timeout=TIMEOUT, cuda_graph_trace=level)
        if done.code != 0:
            row("graph_times", f"{level}: exit {done.code}: {done.err.strip()[-150:]}", "ends", "not run")
            return
        lines.append({line["Name"]: line for line in done.stats("cuda_gpu_kern_sum:mangled")})
    near_all_timed(lines[1], lines[0], lines[2])


def number(line, name):
    return float((line.get(name) or "0").replace(",", ""))


def near_all_timed(found, timed, again):
    """What two runs with all timed differ by is the error of comparing any two runs."""
    both = sorted(timed.keys() & found.keys() & again.keys(), key=lambda name: -number(timed[name], "Total Time (ns)"))
    inferred = [name for name in both if number(found[name], "Inferred (%)") > 0]
    held = 0
    for name in inferred:
        first, second, here = (number(lines[name], "Total Time (ns)") for lines in (timed, again, found))
        there, error = (first + second) / 2, 2 * math.hypot(number(found[name], "Total Error (ns)"), first - second)
        held += abs(here - there) <= error
        print(f"    {here / there:.4f} +- {error / there:.4f} of {there / 1e6:.2f} ms in {found[name]['Instances']} launches, {name[:90]}", flush=True)
    same = len(inferred) > 0 and all(timed[name]["Instances"] == found[name]["Instances"] for name in both) and timed.keys() == found.keys()
    row("graphs timed in some launches: kernels and launches as with all timed", f"{sum(number(line, 'Instances') for line in found.values()):.0f} of {sum(number(line, 'Instances') for line in timed.values()):.0f}", "the same", same)
    total = [sum(number(line, "Total Time (ns)") for line in lines.values()) for lines in (found, timed, again)]
    ratio = 2 * total[0] / (total[1] + total[2])
    row("graphs timed in some launches: time of all kernels / with all timed", f"{ratio:.4f} (two runs with all timed: {total[2] / total[1]:.4f})", "within 2 %", abs(ratio - 1) <= 0.02)
    row("graphs timed in some launches: sums within two of their errors", f"{held} of {len(inferred)}", ">= 95 %", len(inferred) > 0 and held >= 0.95 * len(inferred))


ALL = [many_kernels, inside_a_graph, graph_times]

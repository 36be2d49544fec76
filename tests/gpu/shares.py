# SPDX-License-Identifier: Apache-2.0
"""What the roofline of a capture covers: shares of its kernel time, workloads, and operations by kernel. Knows no GPU and no harness."""

import json
import subprocess
import sys


def roofline_of(command, capture):
    """What gpuprof roofline prints as JSON, a line a workload; None where it has nothing to say, and then its reason is on stderr."""
    said = []
    for by in ("signature", "workload"):  # what a workload is called depends on the version
        done = subprocess.run([command, "roofline", "-f", "json", "--by", by, "--limit", "0", capture], capture_output=True, text=True, timeout=300)
        if done.returncode == 0:
            return json.loads(done.stdout)
        said.append(done.stderr.strip()[-300:])
    print(f"    {said[0]}", file=sys.stderr, flush=True)
    return None


def lines_of(report):
    return report.get("signatures") or report.get("workloads") or []


def recurring(report, launches):
    """The same with those lines alone that were launched so often."""
    return {**report, "signatures": [line for line in lines_of(report) if line["launches"] >= launches]}


def has_rates(line):
    """Whether it says how busy the units were: how many warps, and what went through L2, DRAM or the tensor cores."""
    units = ("l2_bytes_per_second", "dram_bytes_per_second", "tensor_active")
    return line.get("occupancy") is not None and any(line.get(unit) is not None for unit in units)


def share(report, holds):
    """Of the kernel time, how much is in lines for which holds(line); between 0 and 1."""
    lines = lines_of(report)
    total = sum(line["time_ns"] for line in lines)
    return sum(line["time_ns"] for line in lines if holds(line)) / total if total else 0.0


def rates_share(report):
    return share(report, has_rates)


def flop_share(report):
    return share(report, lambda line: line.get("flops") is not None)


def geometry(line):
    return line["name"], tuple(line["grid"]), tuple(line["block"])


def workloads_and_geometries(report):
    lines = lines_of(report)
    return len(lines), len({geometry(line) for line in lines})


def readings(report):
    return report.get("samples", report.get("readings", 0))


def windows(report):
    return report.get("samples_in_time", {}).get("windows", 0)


def tensor_flop(report, at_least_ns=20e3, sources=None):
    """{(function, grid, block): tensor FLOP of a launch}, of those of some length whose FLOP come from one of `sources`."""
    totals = {}
    for line in lines_of(report):
        if (line.get("avg_ns") or 0) < at_least_ns or line.get("flops") is None or (sources and line.get("flop_source") not in sources):
            continue
        rate = sum(value or 0 for name, value in line["flops_by_precision"].items() if name.startswith("tensor"))
        flop, launches = totals.get(geometry(line), (0.0, 0))
        totals[geometry(line)] = flop + rate * line["time_ns"] * 1e-9, launches + line["launches"]
    return {key: flop / launches for key, (flop, launches) in totals.items() if flop > 0}


def reading_ms(report):
    """Milliseconds a launch that was read cost its program, the first start left out; None when none was."""
    cost = {name: report["cost"].get(f"cost.{name}_ns", 0) for name in ("counters", "sampling", "counters_once")}
    spent = cost["counters"] - cost["sampling"] - cost["counters_once"]
    return 1e-6 * spent / readings(report) if readings(report) else None

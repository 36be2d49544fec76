# SPDX-License-Identifier: Apache-2.0
"""Hardware counters around launches on the GPU at hand: against known work, against Nsight Compute, what they cost, that nothing breaks."""

import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from harness import COMMAND, HERE, SCRATCH, WORKLOAD, row, with_toolkit

TORCH = HERE / "counted_torch.py"
SIZES = HERE / "product_sizes.py"


def profiled(name, program, *options, timeout=300):
    """What the program printed, and its capture."""
    capture = SCRATCH / f"{name}.gpuprof"
    done = subprocess.run([COMMAND, "profile", "--peaks", "off", "-f", "-o", capture, *options, *program], capture_output=True, text=True, timeout=timeout)
    if done.returncode != 0:
        raise RuntimeError(f"{name}: {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout, capture


def roofline(capture, by="kernel", options=()):
    done = subprocess.run([COMMAND, "roofline", "-f", "json", "--by", by, *options, capture], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def kernels_of(capture):
    return {k["name"]: k for k in roofline(capture)["kernels"]}


def known_work():
    # Operations of CUDA cores need passes of their own, which exact, with one pass for every launch, has not.
    out, capture = profiled("counted", [WORKLOAD, "counted", "3000"], "--metrics", "auto", "--overhead-budget", "100", "--overhead-once", "5")
    kernels = kernels_of(capture)
    for name, value in (line.split() for line in out.splitlines()):
        kernel = kernels.get(name)
        if name == "counted_copy":
            counted, goal = kernel["dram_bytes_per_second"] * kernel["avg_ns"] * 1e-9, 0.01
        else:
            counted, goal = (kernel["flops"] or 0) * kernel["avg_ns"] * 1e-9, 0.0005
        off = counted / float(value) - 1
        row(f"{name}: counted / known - 1", f"{off:+.5f}", f"within {goal}", abs(off) <= goal)


def multiplications():
    """2MNK of every type, within what tiles pad; results must be the same bit for bit."""
    bare = subprocess.run([sys.executable, TORCH, "200"], capture_output=True, text=True, timeout=300).stdout
    out, capture = profiled("torch", [sys.executable, TORCH, "400"], "--metrics", "exact")
    same = [line for line in bare.splitlines() if line.startswith("result")] == [line for line in out.splitlines() if line.startswith("result")]
    row("results under counters", "the same" if same else "differ", "the same bit for bit", same)
    report = roofline(capture)
    known = {words[1]: (words[2], float(words[3])) for words in map(str.split, out.splitlines()) if words and words[0] == "flop"}
    for kind, (column, wanted) in known.items():
        found = [k["flops_by_precision"].get(column, 0) * k["avg_ns"] * 1e-9 for k in report["kernels"] if k["flops_by_precision"].get(column)]
        ratio = max(found, default=0) / wanted
        row(f"{kind}: counted / 2MNK", f"{ratio:.5f}", "1 to 1.02", 0.9999 <= ratio <= 1.02)
    # Operations of CUDA cores need passes of their own, see known_work.
    _, capture = profiled("torch_auto", [sys.executable, TORCH, "400"], "--metrics", "auto", "--overhead-budget", "100", "--overhead-once", "5")
    share = sum(k["time_share"] * k["flop_known_share"] for k in roofline(capture)["kernels"] if is_counted(k))
    row("share of GPU time with FLOP counted", f"{share:.4f}", ">= 0.95", share >= 0.95)


def is_counted(line):
    """Around launches, those of the tensor cores at least; or there are none by the machine code."""
    return line["flop_source"] in ("counted", "tensor counted", "machine code")


TILES, DEPTHS = (64, 96, 128, 144, 160, 192, 256, 320), (32, 64, 128)
NOT_PADDED = {"tf32_8192", "fp64_8192", "int8_8192"}


def padded(size, tile):
    return -(-size // tile) * tile / size


def paddings(size):
    return {padded(size, rows) * padded(size, columns) * padded(size, depth) for rows in TILES for columns in TILES for depth in DEPTHS}


def product_sizes():
    """2MNK at several sizes of every type, or what tiles pad it to: some tile has to explain it to four digits."""
    bare = subprocess.run([sys.executable, SIZES, "2"], capture_output=True, text=True, timeout=300).stdout
    out, capture = profiled("sizes", [sys.executable, SIZES, "150"], "--metrics", "auto", "--overhead-budget", "50")
    same = [line for line in bare.splitlines() if line.startswith("result")] == [line for line in out.splitlines() if line.startswith("result")]
    row("results of products of five sizes under counters", "the same" if same else "differ", "the same bit for bit", same)
    ranges = {r["name"]: r for r in roofline(capture, "range")["ranges"]}
    for _, name, column, wanted in (words for words in map(str.split, out.splitlines()) if words and words[0] == "flop"):
        found, size = ranges.get(name), int(name.split("_")[1])
        if found is None or found["flop_exact_share"] < 0.99:
            row(f"product {name}: counted / 2MNK", f"counted for {100 * found['flop_exact_share'] if found else 0:.0f} % of its time", "1", False)
            continue
        launches = found["launches"] / found["ranges"]
        ratio = found["flops_by_precision"].get(column, 0) * found["avg_ns"] * 1e-9 * launches / float(wanted)
        nearest = 1 if name in NOT_PADDED else min(paddings(size), key=lambda padding: abs(padding - ratio))
        row(f"product {name}: counted / 2MNK", f"{ratio:.5f}", f"{nearest:.5f}", abs(ratio - nearest) < 1e-4)


def nsight_compute():
    """The same kernels by ncu: cycles, occupancy, DRAM bytes; and what a kernel costs by either."""
    if shutil.which("ncu") is None:
        row("against Nsight Compute", "ncu is not there", "2 %", "")
        return
    metrics = {"sm__cycles_active.avg": 0.02, "sm__warps_active.avg.pct_of_peak_sustained_active": 0.02, "dram__bytes_read.sum": 0.02}
    theirs, shorter = run_ncu(metrics, 10)
    _, longer = run_ncu(metrics, 110)
    table = csv.DictReader(io.StringIO("\n".join(line for line in theirs.splitlines() if line.startswith('"'))))
    ncu = {}
    for line in table:
        ncu.setdefault((line["Kernel Name"].split("(")[0], line["Metric Name"]), []).append(float(line["Metric Value"].replace(",", "")))
    _, capture = profiled("beside_ncu", [WORKLOAD, "counted", "200"], "--metrics", "exact,basic")
    done = subprocess.run([COMMAND, "stats", "-r", "gpu_metrics_sum", "-f", "csv", capture], capture_output=True, text=True, timeout=120)
    ours = {}
    for line in csv.DictReader(io.StringIO("\n".join(x for x in done.stdout.splitlines() if "," in x))):
        ours[(line["Name"], line["Metric"])] = float(line["Avg"].replace(",", ""))
    for (kernel, metric), values in sorted(ncu.items()):
        if (kernel, metric) not in ours:
            row(f"{kernel} {metric}", "not read", "2 %", False)
            continue
        reference = statistics.median(values)
        if metric.startswith("dram") and reference < 1e8:
            continue  # a few lines of code and constants, not the kernel's work
        off = ours[(kernel, metric)] / reference - 1
        row(f"{kernel} {metric} / ncu - 1", f"{off:+.4f}", f"within {metrics[metric]}", abs(off) <= metrics[metric])
    ncu_ms, ours_ms = (longer - shorter) * 10, cost_of_a_launch(capture)
    row("a kernel under ncu / one that we read", f"{ncu_ms:.2f} ms / {ours_ms:.3f} ms = {ncu_ms / ours_ms:.1f}", ">= 25", ncu_ms >= 25 * ours_ms)


def run_ncu(metrics, launches):
    """Its table, and how long it took."""
    begin = time.monotonic()
    done = subprocess.run(["ncu", "--cache-control", "none", "--clock-control", "none", "--csv", "--print-units", "base", "--launch-skip", "5",
                           "--launch-count", str(launches), "--metrics", ",".join(metrics), WORKLOAD, "counted", "30"], capture_output=True, text=True, timeout=300)
    return done.stdout, time.monotonic() - begin


def cost_of_a_launch(capture):
    """Milliseconds that its program was held up, for each launch that was read."""
    done = subprocess.run([COMMAND, "roofline", "-f", "json", capture], capture_output=True, text=True, timeout=120)
    spent_ns = json.loads(done.stdout)["cost"]["cost.counters_ns"]
    read = subprocess.run([COMMAND, "stats", "-r", "gpu_metrics_sum", "-f", "csv", capture], capture_output=True, text=True, timeout=120)
    samples = {}
    for line in csv.DictReader(io.StringIO("\n".join(x for x in read.stdout.splitlines() if "," in x))):
        samples[line["Name"]] = int(line["Samples"].replace(",", ""))
    return 1e-6 * spent_ns / sum(samples.values())


def cost():
    """A loop of a minute at the power limit with counters, against the same traced alone before and after."""
    per_step, counted = [], 0
    for mode, count in (("none", 2600), ("auto", 10500), ("none", 2600)):
        out, capture = profiled(f"cost_{mode}", [sys.executable, TORCH, str(count)], "--metrics", mode)
        per_step.append(float(next(line.split()[1] for line in out.splitlines() if line.startswith("seconds"))) / count)
        if mode == "auto":
            counted = roofline(capture)["flop_exact_share"]
    before, ratio = per_step[0], per_step[1] / statistics.mean((per_step[0], per_step[2]))
    row(f"loop of a minute with counters / traced before and after ({1e3 * before:.3f} and {1e3 * per_step[2]:.3f} ms a step)", f"{ratio:.4f}", "<= 1.015", ratio <= 1.015)
    row("share of its GPU time with FLOP counted", f"{counted:.4f}", ">= 0.95", counted >= 0.95)


def all_ways_to_launch():
    """Nothing hangs, and every kernel is still recorded."""
    for name, kernels in (("all-launches", 840), ("threads", 16000)):
        for mode in ("auto", "exact,basic"):
            _, capture = profiled(f"{name}_{mode[:5]}", [WORKLOAD, name], "--metrics", mode, "--overhead-budget", "50")
            done = subprocess.run([COMMAND, "stats", "-r", "cuda_gpu_kern_sum", "-f", "csv", capture], capture_output=True, text=True, timeout=120)
            table = csv.DictReader(io.StringIO("\n".join(x for x in done.stdout.splitlines() if "," in x)))
            found = sum(int(line["Instances"].replace(",", "")) for line in table)
            row(f"kernels of {name} under --metrics {mode}", found, f"= {kernels}", found == kernels)


def rewriting():
    """Where CUPTI counts the operations of CUDA cores at all: one launch, with more and more of what a profiler has on. Not judged."""
    program = WORKLOAD.parent / "gpu_rewriting"
    for words in ("", "launched-before", "launched-inside", "subscribed", "subscribed runtime", "subscribed-first", "traced", "traced-first", "traced-last",
                  "subscribed in-callback", "subscribed runtime in-callback", "subscribed in-callback launched-before", "subscribed traced",
                  "subscribed-first traced-first", "subscribed-first traced-first launched-before", "subscribed-first traced-first in-callback",
                  "subscribed-first traced-first runtime in-callback", "traced serialized", "traced untraced", "traced untraced in-context",
                  "subscribed-first traced-first untraced in-callback", "subscribed-first traced-first untraced-inside in-callback closed-inside"):
        done = subprocess.run([program, *words.split()], capture_output=True, text=True, timeout=60, env=with_toolkit(dict(os.environ)))
        row(f"FMA of a rewritten kernel: {words or 'nothing else on'}", done.stdout.strip() or f"ended with {done.returncode}", "all of them", "")


def cooperative():
    """Kernels whose blocks wait for each other and fill the GPU: rewritten they must still fit."""
    program = WORKLOAD.parent / "gpu_rewriting"
    done = subprocess.run([program, "cooperative"], capture_output=True, text=True, timeout=60, env=with_toolkit(dict(os.environ)))
    for line in done.stdout.splitlines():
        row(f"cooperative, rewritten: {line.partition(':')[0]}", line.partition(":")[2].strip(), "all of them", "cudaSuccess" in line and abs(float(line.split()[-1]) - 1) <= 5e-4)
    row("cooperative, rewritten", f"exit {done.returncode}, {len(done.stdout.splitlines())} kernels", "8", done.returncode == 0 and len(done.stdout.splitlines()) == 8)


def first_use():
    """On a machine where nothing is stored yet: peaks are measured, and the first table ends with per cent of the roof."""
    with tempfile.TemporaryDirectory() as store:
        environment = dict(os.environ, GPUPROF_PEAKS_DIR=store)
        words = [COMMAND, "profile", "-f", "-o", SCRATCH / "first_use", "--metrics", "auto", WORKLOAD, "mixed", "250000"]
        said = [subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300).stderr for _ in range(2)]
        lines = [sum("peaks of GPU" in line for line in text.splitlines()) for text in said]
        row("first use: lines on peaks, then in the second run", f"{lines[0]}, {lines[1]}", "one a GPU, 0", lines[0] > 0 and lines[1] == 0)
        report = roofline(SCRATCH / "first_use.gpuprof")
        judged = sum(k["time_ns"] for k in report["kernels"] if k["of_roof"] is not None) / report["kernel_time_ns"]
        row("first use: share of kernel time with per cent of its roof", f"{judged:.3f}", ">= 0.95", judged >= 0.95)
        row("first use: lines above the table", len(report["summary"]), "<= 5", len(report["summary"]) <= 5)
        # Peaks that are stored after the capture.
        _, capture = profiled("no_peaks", [WORKLOAD, "counted", "300"], "--metrics", "auto")
        done = subprocess.run([COMMAND, "roofline", "-f", "json", capture], env=environment, capture_output=True, text=True, timeout=120)
        row("peaks stored before a capture that has none are not used for it", json.loads(done.stdout)["has_peaks"], "False", json.loads(done.stdout)["has_peaks"] is False)
        subprocess.run([COMMAND, "peaks", "--quick", "--refresh"], env=environment, capture_output=True, timeout=120)
        done = subprocess.run([COMMAND, "roofline", "-f", "json", capture], env=environment, capture_output=True, text=True, timeout=120)
        row("peaks stored after it are", json.loads(done.stdout)["has_peaks"], "True", json.loads(done.stdout)["has_peaks"] is True)


def exact_says_what_it_costs():
    """After two seconds, against what it really was: the same program without counters."""
    ways = {}
    for mode in ("none", "exact"):
        begin = time.monotonic()
        done = subprocess.run([COMMAND, "profile", "--peaks", "off", "-f", "-o", SCRATCH / "pace", "--metrics", mode, WORKLOAD, "counted", "3000"], capture_output=True, text=True, timeout=600)
        ways[mode] = time.monotonic() - begin, done.stderr
    said = re.search(r"about ([0-9.]+) times as long", ways["exact"][1])
    row("exact: times as long, as it says / as it was", f"{said[1] if said else 'nothing'} / {ways['exact'][0] / ways['none'][0]:.1f}", "", "" if said else False)


def engines():
    """Which states of ranges and of sampling bear each other, and how long each step keeps another thread from launching. Not judged."""
    done = subprocess.run([WORKLOAD.parent / "gpu_turns"], capture_output=True, text=True, timeout=120, env=with_toolkit(dict(os.environ)))
    print(done.stdout)
    row("steps of the two engines, one beside the other", f"{len(done.stdout.splitlines())} lines above" if done.returncode == 0 else f"ended with {done.returncode}", "", "")


ALL = [first_use, exact_says_what_it_costs, known_work, multiplications, product_sizes, rewriting, cooperative, engines, nsight_compute, cost, all_ways_to_launch]

# SPDX-License-Identifier: Apache-2.0
"""Windows in which the whole GPU is sampled: against launches counted one by one, what they cost, and several GPUs."""

import csv
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from counters import profiled, roofline
from harness import COMMAND, HERE, SCRATCH, WORKLOAD, row

TORCH = HERE / "counted_torch.py"
TRAIN = HERE / "train_step.py"


def metrics_of(capture):
    """{(kernel, metric): row of gpu_metrics_sum}"""
    done = subprocess.run([COMMAND, "stats", "-r", "gpu_metrics_sum", "-f", "csv", capture], capture_output=True, text=True, timeout=300)
    table = csv.DictReader(io.StringIO("\n".join(line for line in done.stdout.splitlines() if "," in line)))
    return {(line["Name"], line["Metric"]): line for line in table}


def notes_of(capture):
    """All that gpuprof roofline says of where its figures are from."""
    done = subprocess.run([COMMAND, "roofline", "-f", "json", capture], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return done.stderr.splitlines()
    report = json.loads(done.stdout)
    return report["overview"] + report["notes"]


def number(text):
    return float(text.replace(",", "")) if text else float("nan")


CYCLES, CLOCK = "sm__cycles_active.avg", "sm__cycles_elapsed.avg.per_second"


def clock_ratio(kernel, metric, sampled, exact):
    """What waits for memory takes as long at any clock, and so more or fewer cycles; clocks differ between runs."""
    if metric != CYCLES or not any(word in kernel for word in ("elementwise", "reduce_kernel", "mixed_read")):
        return 1
    return number(sampled[kernel, CLOCK]["Avg"]) / number(exact[kernel, CLOCK]["Avg"])


def compare(name, sampled, exact, metrics, goal, kernels=lambda name: True):
    """Rows for each kernel both know; the share of them whose error bars hold the exact value."""
    held = []
    for (kernel, metric), truth in sorted(exact.items()):
        found = sampled.get((kernel, metric))
        if metric not in metrics or found is None or not kernels(kernel) or number(truth["Avg"]) <= 0:
            continue
        wanted = number(truth["Avg"]) * clock_ratio(kernel, metric, sampled, exact)
        off, error = number(found["Avg"]) / wanted - 1, number(found.get("Error")) / wanted
        held.append(abs(off) <= 3 * error + 0.01)
        row(f"{name}: {kernel[:40]} {metric}", f"{off:+.4f} +- {error:.4f} ({found.get('Source')}, {found['Samples']} launches)", f"within {goal}", abs(off) <= goal)
    row(f"{name}: three errors and 1 % hold the exact value", f"{sum(held)} of {len(held)}", ">= 95 %", len(held) > 0 and sum(held) >= 0.95 * len(held))


AMOUNTS = {"dram__bytes_read.sum", "lts__t_bytes.sum", "sm__pipe_tensor_cycles_active.avg", CYCLES}
EXACT = "exact," + ",".join(sorted(AMOUNTS)) + "," + CLOCK


def sampled_long_kernels():
    """Kernels of ten and more intervals: within 1 % of the same launches counted one by one."""
    _, exact = profiled("long_exact", [sys.executable, TORCH, "20"], "--metrics", EXACT)
    _, sampled = profiled("long_sampled", [sys.executable, TORCH, "1500"], "--metrics", "sampled", "--overhead-budget", "5")
    length = {k["name"]: k["avg_ns"] for k in roofline(sampled)["kernels"]}
    compare("10 or more intervals", metrics_of(sampled), metrics_of(exact), AMOUNTS, 0.01, lambda kernel: (length.get(kernel) or 0) >= 200e3)


def sampled_short_kernels():
    """A mix of kernels of 3 to 50 us, by least squares: within 5 %, with errors that hold."""
    _, exact = profiled("mixed_exact", [WORKLOAD, "mixed", "4000"], "--metrics", EXACT)
    _, sampled = profiled("mixed_sampled", [WORKLOAD, "mixed", "400000"], "--metrics", "sampled", "--overhead-budget", "5")
    compare("3 to 50 us", metrics_of(sampled), metrics_of(exact), {CYCLES}, 0.05)
    # The others move a few kilobytes of code and parameters.
    compare("3 to 50 us", metrics_of(sampled), metrics_of(exact), {"dram__bytes_read.sum", "lts__t_bytes.sum"}, 0.05, lambda kernel: "mixed_read" in kernel)


def sampling_intervals():
    """From 2 us to 1 ms: what is decoded, what is lost."""
    for interval in ("2us", "5us", "20us", "100us", "1ms"):
        _, capture = profiled(f"interval_{interval}", [WORKLOAD, "mixed", "200000"], "--metrics", "sampled", "--overhead-budget", "5", "--pm-sampling-interval", interval)
        notes = notes_of(capture)
        told = next((line for line in notes if line.startswith("samples in time")), "no samples")
        lost = next((line for line in notes if "ran over" in line), "nothing lost")
        row(f"sampled every {interval}", f"{told}; {lost}", "samples; none lost from 5us on", told != "no samples" and (interval == "2us" or lost == "nothing lost"))


def in_turn(order):
    """Runs of the training in that order, [(mode, seconds)]: what each printed, and the capture of the last with counters.

    Each is judged against those traced alone before and after it, since GPUs warm up and neighbors come and go."""
    steps, capture = [], None
    for mode, length in order:
        out, found = profiled(f"training_{mode}", [sys.executable, TRAIN, str(length)], "--metrics", mode)
        steps.append(dict(line.split(maxsplit=1) for line in out.splitlines()))
        print(f"  {mode} {length:.0f} s: {steps[-1]}", flush=True)
        capture = capture if mode == "none" else found
    return steps, capture


def step_ratio(mode, steps):
    before, here, after = (float(run["mean_step_ms"]) for run in steps)
    row(f"training step under --metrics {mode} / traced before and after ({before:.2f}, {after:.2f} ms)", f"{2 * here / (before + after):.4f}", "<= 1.015", 2 * here <= 1.015 * (before + after))


def training(seconds=60):
    """A transformer in training with --metrics auto: time of a step, results, how much of the GPU time has FLOP.

    Two runs of one program differ by up to 6 % on shared machines; what a run loses against its own median step does not depend on that. Counters are read most
    in the first steps, so these count."""
    steps, capture = in_turn([("none", seconds / 4), ("auto", seconds), ("none", seconds / 4)])
    step_ratio("auto", steps)
    lost = [float(run["over_median_s"]) for run in steps]
    share = (lost[1] - statistics.mean((lost[0], lost[2]))) / seconds
    row("lost against the run's own median step: traced, auto, traced", ", ".join(f"{s:.2f} s" for s in lost), "", "")
    row("the difference / the run", f"{share:+.4f}", "<= 0.015", share <= 0.015)
    median = [float(run["step_ms"]) for run in steps]
    row("median step: auto / traced", f"{2 * median[1] / (median[0] + median[2]):.4f}", "", "")
    bare = subprocess.run([sys.executable, TRAIN, "0.1"], capture_output=True, text=True, timeout=300).stdout
    state = dict(line.split(maxsplit=1) for line in bare.splitlines())["state"]
    same = all(run["state"] == state for run in steps)
    row("its parameters after 40 steps", "the same" if same else "differ", "the same bit for bit", same)
    notes = notes_of(capture)
    row("what reading cost it", next((line for line in notes if line.startswith("cost:")), "no line says"), "", "")
    said = next((line for line in notes if "FLOP counted" in line), "FLOP counted for 0%")
    shares = [float(share) for share in re.findall(r"([0-9.]+)%", said)]
    row("training: share of the GPU time with FLOP", said, ">= 95 %", sum(shares) >= 95)


def training_sampled(seconds=15):
    """The same under sampling alone, which holds up no launch."""
    steps, _ = in_turn([("none", seconds), ("sampled", seconds), ("none", seconds)])
    step_ratio("sampled", steps)


def training_side_by_side(seconds=60):
    """Two GPUs of one host, the same training on both at once: one with counters, the other traced; then the other way round.

    What the host does meanwhile slows both, and how the GPUs differ cancels, so that one per cent can be told."""
    there = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.splitlines()
    if len(there) < 2:
        row("training side by side", f"{len(there)} GPU here", "needs two", "not run")
        return
    ratios, lost = [], []
    for modes in (("auto", "none"), ("none", "auto")):
        runs = []
        for gpu, mode in enumerate(modes):
            environment = {**os.environ, "CUDA_VISIBLE_DEVICES": str(gpu)}
            words = [COMMAND, "profile", "--peaks", "off", "-f", "-o", SCRATCH / f"side_{mode}", "--metrics", mode, "--log-level", "debug", sys.executable, TRAIN, str(seconds)]
            runs.append(subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        said = {mode: run.communicate(timeout=4 * seconds + 60) for mode, run in zip(modes, runs)}
        if any(run.returncode != 0 for run in runs):
            row("training side by side", said["auto"][1].strip()[-200:], "ends", False)
            return
        print(said["auto"][1])
        values = {mode: dict(line.split(maxsplit=1) for line in out.splitlines()) for mode, (out, _) in said.items()}
        print(f"  {values}", flush=True)
        ratios.append(float(values["auto"]["mean_step_ms"]) / float(values["none"]["mean_step_ms"]))
        lost.append(float(values["auto"]["over_median_s"]) - float(values["none"]["over_median_s"]))
        row("training side by side: results", "the same" if values["auto"]["state"] == values["none"]["state"] else "differ", "the same bit for bit", values["auto"]["state"] == values["none"]["state"])
    ratio = (ratios[0] * ratios[1]) ** 0.5
    row(f"training step with counters / traced, on either GPU ({ratios[0]:.4f}, {ratios[1]:.4f})", f"{ratio:.4f}", "<= 1.015", ratio <= 1.015)
    row("lost against the run's own median step, more than traced", " and ".join(f"{s:.2f} s" for s in lost), f"<= 1.5 % of {seconds} s", statistics.mean(lost) <= 0.015 * seconds)
    notes = notes_of(SCRATCH / "side_auto.gpuprof")
    row("what reading cost it", next((line for line in notes if line.startswith("cost:")), "no line says"), "", "")
    said = next((line for line in notes if "FLOP counted" in line), "FLOP counted for 0%")
    row("training side by side: share of the GPU time with FLOP", said, ">= 95 %", sum(float(share) for share in re.findall(r"([0-9.]+)%", said)) >= 95)


def two_gpus():
    """NCCL in two processes under --metrics auto: ends, and with the same parameters as without."""
    states = {}
    for mode in ("none", "auto"):
        with tempfile.TemporaryDirectory() as folder:
            ranks = [subprocess.Popen([COMMAND, "profile", "--peaks", "off", "-f", "-o", SCRATCH / f"nccl_{mode}_{rank}", "--metrics", mode, sys.executable, TRAIN, "2", str(rank), folder],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(2)]
            try:
                said = [rank.communicate(timeout=200) for rank in ranks]
            except subprocess.TimeoutExpired:
                for rank in ranks:
                    rank.kill()
                row(f"all-reduce on two GPUs under --metrics {mode}", "hangs", "ends", False)
                return
        if any(rank.returncode != 0 for rank in ranks):
            row(f"all-reduce on two GPUs under --metrics {mode}", said[0][1].strip()[-200:], "ends", False if "invalid device" not in said[1][1] else "")
            return
        states[mode] = [dict(line.split(maxsplit=1) for line in out.splitlines()) for out, _ in said]
    same = [s["state"] for s in states["none"]] == [s["state"] for s in states["auto"]]
    row("all-reduce on two GPUs under --metrics auto: parameters", "the same" if same else "differ", "the same bit for bit", same)
    row("its step, ms: traced / with counters", " / ".join(f"{statistics.mean(float(s['step_ms']) for s in states[mode]):.1f}" for mode in ("none", "auto")), "", "")


def ranks_take_turns(seconds=5):
    """The same as ranks of a job: one reads at a time, and what one has read holds for the other."""
    with tempfile.TemporaryDirectory() as folder:
        ranks = [subprocess.Popen([COMMAND, "profile", "-f", "-o", SCRATCH / "job", "--metrics", "auto", sys.executable, TRAIN, str(seconds), str(rank), folder],
                                  env=dict(os.environ, RANK=str(rank), WORLD_SIZE="2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(2)]
        try:
            said = [rank.communicate(timeout=10 * seconds) for rank in ranks]
        except subprocess.TimeoutExpired:
            for rank in ranks:
                rank.kill()
            row("two ranks with counters", "hang", "end", False)
            return
    if any(rank.returncode != 0 for rank in ranks):
        row("two ranks with counters", said[1][1].strip()[-200:], "end", False if "invalid device" not in said[1][1] else "")
        return
    for rank in range(2):
        report = roofline(SCRATCH / f"job.rank{rank}.gpuprof")
        others = sorted({other for kernel in report["kernels"] for other in kernel["read_by_ranks"]})
        row(f"rank {rank}: launches it read; whose readings it has besides", f"{report['readings']['launches_read']}; {others}", "", "")
        own = [kernel for kernel in report["kernels"] if "nccl" not in kernel["name"].lower()]  # collectives are never read
        known = sum(kernel["time_ns"] for kernel in own if kernel["flops"] is not None) / sum(kernel["time_ns"] for kernel in own)
        row(f"rank {rank}: share of the kernel time without collectives with FLOP", f"{known:.3f}", ">= 0.95", known >= 0.95)
        row(f"rank {rank}: what it cost", next((line for line in report["summary"] if line.startswith("cost:")), "no line says"), "", "")


def both_gpus():
    """One process that launches on two GPUs from two threads: each gets its readings and its samples."""
    out, capture = profiled("both_gpus", [sys.executable, HERE / "both_gpus.py", "15"], "--metrics", "auto")
    said = dict(line.split() for line in out.splitlines())
    count = sum(name.startswith("launches") for name in said)
    if count < 2:
        row("two GPUs in one process", f"{count} GPU here", "needs two", "not run")
        return
    for device in range(count):
        row(f"GPU {device}: its last product as its first", said[f"same{device}"], "= 1", said[f"same{device}"] == "1")
        report = roofline(capture, options=("--device", str(device)))
        product = max(report["kernels"], key=lambda kernel: kernel["time_ns"])
        counted = product["flops_by_precision"].get("tensor_bf16", 0) * product["avg_ns"] * 1e-9 / (2 * 2048**3)
        row(f"GPU {device}: FLOP of a product / 2MNK", f"{counted:.5f}", "1", abs(counted - 1) < 1e-4)
        row(f"GPU {device}: products recorded", product["launches"], f"= {said[f'launches{device}']}", product["launches"] == int(said[f"launches{device}"]))
        row(f"GPU {device}: windows of samples", report["samples_in_time"]["windows"], "some", report["samples_in_time"]["windows"] > 0)


ALL = [sampled_long_kernels, sampled_short_kernels, sampling_intervals, training, training_sampled, training_side_by_side, two_gpus, ranks_take_turns, both_gpus]

"""Windows in which the whole GPU is sampled: against launches counted one by one, what they cost, and several GPUs."""

import csv
import io
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
    """What gpuprof roofline says before its table."""
    done = subprocess.run([COMMAND, "roofline", capture], capture_output=True, text=True, timeout=120)
    return (done.stdout or done.stderr).split("\n\n")[0].splitlines()


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


def training(seconds=60):
    """A transformer in training with --metrics auto: time of a step, results, how much of the GPU time has FLOP.

    Traced alone before and after, since GPUs warm up and neighbours come and go; counters are read most in the first steps, so these count."""
    steps, capture = {}, None
    for mode, length in (("none", seconds / 4), ("auto", seconds), ("sampled", seconds / 4), ("none", seconds / 4)):
        out, found = profiled(f"training_{mode}", [sys.executable, TRAIN, str(length)], "--metrics", mode)
        steps.setdefault(mode, []).append(dict(line.split(maxsplit=1) for line in out.splitlines()))
        capture = found if mode == "auto" else capture
    traced = [float(run["mean_step_ms"]) for run in steps["none"]]
    for mode in ("auto", "sampled"):
        step = float(steps[mode][0]["mean_step_ms"])
        ratio = step / statistics.mean(traced)
        row(f"training step of {traced[0]:.2f} and {traced[1]:.2f} ms: {step:.2f} ms under --metrics {mode} / traced", f"{ratio:.4f}", "<= 1.015", ratio <= 1.015)
    bare = subprocess.run([sys.executable, TRAIN, "0.1"], capture_output=True, text=True, timeout=300).stdout
    state = dict(line.split(maxsplit=1) for line in bare.splitlines())["state"]
    row("its parameters after 40 steps", "the same" if steps["auto"][0]["state"] == state else "differ", "the same bit for bit", steps["auto"][0]["state"] == state)
    notes = notes_of(capture)
    row("what reading cost it", next((line for line in notes if line.startswith("cost:")), "no line says"), "", "")
    said = next((line for line in notes if "FLOP counted" in line), "FLOP counted for 0%")
    shares = [float(share) for share in re.findall(r"([0-9.]+)%", said)]
    row("training: share of the GPU time with FLOP", said, ">= 95 %", sum(shares) >= 95)


def two_gpus():
    """NCCL in two processes under --metrics auto: ends, and with the same parameters as without."""
    states = {}
    for mode in ("none", "auto"):
        with tempfile.TemporaryDirectory() as folder:
            ranks = [subprocess.Popen([COMMAND, "profile", "-f", "-o", SCRATCH / f"nccl_{mode}_{rank}", "--metrics", mode, sys.executable, TRAIN, "2", str(rank), folder],
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


ALL = [sampled_long_kernels, sampled_short_kernels, sampling_intervals, training, two_gpus]

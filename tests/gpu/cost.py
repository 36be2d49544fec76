# SPDX-License-Identifier: Apache-2.0
"""What profiling costs, as ratios between runs that take turns."""

import os
import re
import shutil
import statistics
import subprocess
import time

from harness import COMMAND, HERE, SCRATCH, TORCH_WORKLOAD, ratio_of_medians, row, run, workload


def in_turns(times, *programs):
    """Lists of results, one a program; the programs take turns so that a machine that slows down slows them all."""
    results = [[] for _ in programs]
    for _ in range(times):
        for kept, program in zip(results, programs):
            kept.append(program())
    return results


def launches(times):
    bare, floor, ours = in_turns(
        times,
        lambda: workload("launch-loop", traced=False).value("ns_per_launch"),
        lambda: workload("launch-loop", 20000, 7, "floor", traced=False).value("ns_per_launch"),
        lambda: workload("launch-loop").value("ns_per_launch"))
    row("launch, ns bare / floor / traced", " / ".join(f"{statistics.median(v):.0f}" for v in (bare, floor, ours)), "", "")
    row("launch with attribution / raw CUPTI floor", f"{ratio_of_medians(ours, floor):.3f}", "<= 1.03", ratio_of_medians(ours, floor) <= 1.03)

    bare, floor, ours = in_turns(
        times,
        lambda: workload("graph-loop", traced=False).value("ns_per_node"),
        lambda: workload("graph-loop", 100, 500, "floor", traced=False).value("ns_per_node"),
        lambda: workload("graph-loop").value("ns_per_node"))
    row("graph node, ns bare / floor / traced", " / ".join(f"{statistics.median(v):.0f}" for v in (bare, floor, ours)), "", "")
    ratio = ratio_of_medians(ours, floor)
    row("graph node / raw CUPTI floor", f"{ratio:.3f}", "<= 1.00 (+ 0.01 noise)", ratio <= 1.01)


def calls_by_name(done):
    return {row["Name"].removesuffix("_v2"): int(row["Num Calls"].replace(",", "")) for row in done.stats("cuda_api_sum")}


def blocking_calls(times):
    """A loop of launches makes no calls that block, and must not pay for those that are recorded by default."""
    without, recorded = in_turns(
        6 * times,  # the difference looked for is smaller than the noise of one run
        lambda: workload("launch-loop", trace="cuda,nvtx").value("ns_per_launch"),
        lambda: workload("launch-loop", trace="cuda,nvtx,blocking").value("ns_per_launch"))
    row("launch, ns without / with blocking calls recorded", f"{statistics.median(without):.0f} / {statistics.median(recorded):.0f}", "", "")
    # Runs side by side share what slows the machine down just then.
    ratio = statistics.median(b / a for a, b in zip(without, recorded))
    row("launch with blocking calls recorded / without, median of pairs", f"{ratio:.3f}", "<= 1.01", ratio <= 1.01)

    calls = calls_by_name(workload("copies"))
    waits = {name: calls.get(name) for name in ("cuMemcpyHtoD", "cuCtxSynchronize")}
    row("waits of a program of the runtime API that are recorded", waits, "= 10 and 1", waits == {"cuMemcpyHtoD": 10, "cuCtxSynchronize": 1})
    kinds = {what: sum(count for name, count in calls.items() if name.startswith(starts)) for what, starts in
             (("allocations", ("cuMemAlloc", "cuMemHostAlloc")), ("releases", "cuMemFree"))}
    row("allocations and releases that are recorded", kinds, "some of each", all(kinds.values()))
    others = sorted(name for name in calls if "Launch" in name or "Async" in name or name.startswith("cuda"))
    row("calls recorded beside those of the driver that block", ", ".join(others) or "none", "none", not others)

    # The context exists when these captures start, in each of which the program waits five times and does nothing else that blocks.
    late = calls_by_name(workload("profiler-range", 2000, 1, capture_range="cudaProfilerApi"))
    row("waits of a capture that starts after the context exists", late, "= 5 cuCtxSynchronize", late == {"cuCtxSynchronize": 5})
    again = calls_by_name(workload("profiler-range", 2000, 3, capture_range="cudaProfilerApi", capture_range_end="repeat:2"))
    row("waits of two captures in one program", again, "= 10 cuCtxSynchronize", again == {"cuCtxSynchronize": 10})


def after_the_capture(times):
    bare, floor, traced = in_turns(
        3 * times,  # the difference looked for is smaller than the noise of one run
        lambda: workload("profiler-range", traced=False),
        lambda: workload("profiler-range", 20000, 1, "floor", traced=False),
        lambda: workload("profiler-range", capture_range="cudaProfilerApi"))
    left = sum(r.costs()["cost.leave_ns"] > 0 for r in traced)
    row("captures after which CUPTI was left", left, f"= {len(traced)}", left == len(traced))
    ratio = ratio_of_medians([r.value("ns_after") for r in traced], [r.value("ns_after") for r in bare])
    row("launch after the capture / bare", f"{ratio:.3f}", "<= 1.02", ratio <= 1.02)
    ratio = ratio_of_medians([r.value("ns_after") for r in floor], [r.value("ns_after") for r in bare])
    row("the same after raw CUPTI and cuptiFinalize / bare", f"{ratio:.3f}", "(no goal)", "")
    ratio = ratio_of_medians([r.value("ns_before") for r in traced], [r.value("ns_before") for r in bare])
    row("launch while waiting for cudaProfilerStart / bare", f"{ratio:.3f}", "(no goal)", "")


def nvtx(times):
    pairs = [workload("nvtx-loop").value("ns_per_push_pop") for _ in range(times)]
    row("NVTX push + pop, ns", f"{statistics.median(pairs):.1f}", "<= 80", statistics.median(pairs) <= 80)


def pytorch(times):
    try:
        bare, traced = in_turns(
            times,
            lambda: run(["python3", TORCH_WORKLOAD, "add-loop"], traced=False).value("ns_per_op"),
            lambda: run(["python3", TORCH_WORKLOAD, "add-loop"]).value("ns_per_op"))
    except (KeyError, OSError):
        row("PyTorch add loop", "no torch with CUDA here", "needs it", "not run")
        return
    row("PyTorch add loop, ns bare / traced", " / ".join(f"{statistics.median(v):.0f}" for v in (bare, traced)), "", "")
    row("PyTorch add loop, traced / bare", f"{ratio_of_medians(traced, bare):.3f}", "<= 1.20", ratio_of_medians(traced, bare) <= 1.20)


def generation(times):
    """Eager generation of a small Llama: many different kernels, caches that are cold for each launch."""
    raw = HERE.parent / "gpu_raw_cupti.so"
    words = [HERE / "unmodified" / "llama.py", 3]
    ways = {
        "bare": lambda: run(["python3", *words], traced=False, toolkit=False),
        "raw CUPTI": lambda: run(["python3", *words], traced=False, toolkit=False, injected=raw),
        "traced": lambda: run(["python3", *words], toolkit=False),
        "torch.profiler": lambda: run(["python3", HERE / "under_torch_profiler.py", *words], traced=False, toolkit=False),
    }
    if shutil.which("nsys"):
        ways["nsys"] = lambda: run(["nsys", "profile", "-t", "cuda,nvtx", "-o", SCRATCH / "generation", "-f", "true", "python3", *words], traced=False, toolkit=False)
    try:
        runs = dict(zip(ways, in_turns(times, *(lambda way=way: way().value("step_ms") for way in ways.values()))))
    except KeyError:
        row("eager generation", "no transformers with CUDA here", "needs it", "not run")
        return
    for name, values in runs.items():
        print(f"    {name}: {', '.join(f'{v:.0f}' for v in values)} ms a text", flush=True)
    others = [name for name in ways if name not in ("bare", "traced")]
    row(f"eager generation, traced / bare; {', '.join(others)} / bare", "; ".join(f"{ratio_of_medians(runs[name], runs['bare']):.3f}" for name in ("traced", *others)), "", "")
    for name in others:
        ratio, goal = ratio_of_medians(runs["traced"], runs[name]), 1.03 if name == "raw CUPTI" else 1.0
        row(f"eager generation, traced / {name}", f"{ratio:.3f}", f"<= {goal}", ratio <= goal)


def file_and_memory(_):
    bare = workload("long-loop", 2, traced=False)
    r = workload("long-loop", 33, timeout=200)
    kernels = r.kernels()
    row("kernels of a 33 s launch loop", kernels, f"= {int(r.value('launches'))}", kernels == int(r.value("launches")))
    per_kernel = os.path.getsize(r.capture) / max(kernels, 1)
    row("capture file, bytes per kernel", f"{per_kernel:.2f}", "<= 12", per_kernel <= 12)
    row("peak memory of the program, MiB bare / traced", f"{bare.peak_kib >> 10} / {r.peak_kib >> 10}", "<= bare + 256", r.peak_kib <= bare.peak_kib + (256 << 10))
    more = r.value("device_mib_used") - bare.value("device_mib_used")
    row("device memory taken by tracing, MiB", f"{more:.0f}", "<= 64", more <= 64)
    small = workload("threads", 16, 20000, buffer_limit_mib=16)
    lost = re.search(r"([\d,]+) kernels?\b", small.lost())
    accounted = small.kernels() + (int(lost[1].replace(",", "")) if lost else 0)
    row("kernels and losses of 16 threads in 16 MiB of buffers", f"{small.kernels()}, lost {small.lost()}", f"= {int(small.value('kernels'))} together", accounted == int(small.value("kernels")))

    start = time.monotonic()
    done = subprocess.Popen([COMMAND, "stats", "-r", "cuda_gpu_kern_sum", r.capture], stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(done.pid, 0)
    seconds = time.monotonic() - start
    scale = 10e6 / max(kernels, 1)
    row(f"stats on {kernels / 1e6:.1f} M kernels, s and MiB", f"{seconds:.2f} s, {usage.ru_maxrss >> 10} MiB", "<= 2 s and 1 GiB per 10 M", seconds * scale <= 2 and usage.ru_maxrss * scale <= 1 << 20)


ALL = (launches, blocking_calls, after_the_capture, nvtx, pytorch, generation, file_and_memory)

# SPDX-License-Identifier: Apache-2.0
"""What must hold whatever it costs: every launch accounted for, through each way in, and the program unharmed."""

import subprocess
import sys

from harness import COMMAND, HERE, TORCH_WORKLOAD, row, run, workload


def same(name, measured, expected):
    row(name, measured, f"= {expected}", measured == expected)


def ways_in():
    for way in ("preload", "injection", "command"):
        r = workload("launch-loop", 1000, 1, way=way)
        same(f"kernels of a launch loop, {way}", r.kernels(), 3000)
        row(f"losses, {way}", r.lost(), "= nothing", r.lost() == "nothing")
    for example in ("markers", "plain_c"):
        program = HERE.parent / f"example_{example}"
        if program.exists():
            r = run([program], way="linked")
            row(f"linked example {example}", f"exit {r.code}, {r.kernels()} kernels", "exit 0, kernels > 0", r.code == 0 and r.kernels() > 0)


def launches():
    r = workload("all-launches")
    same("kernels of every way to launch", r.kernels(), int(r.value("kernels")))
    row("losses, every way to launch", r.lost(), "= nothing", r.lost() == "nothing")
    clusters = [k for k in r.stats("cuda_gpu_kern_gb_sum") if "shaped<4>" in k["Name"]]
    same("cluster launches", sum(int(k["Instances"]) for k in clusters), 20)
    r = workload("all-launches", cuda_graph_trace="graph")
    same("kernels outside graphs, graph level", r.kernels(), int(r.value("plain_launches")))


def copies():
    r = workload("copies", trace="cuda,nvtx,cuda-api,cuda-memory,sync")
    sizes = {k["Operation"]: k for k in r.stats("cuda_gpu_mem_size_sum")}
    same("copies", sum(int(k["Count"]) for name, k in sizes.items() if "memcpy" in name), int(r.value("copies")))
    same("fills", sum(int(k["Count"]) for name, k in sizes.items() if "memset" in name), int(r.value("memsets")))
    copied = sum(float(k["Total (MB)"]) for name, k in sizes.items() if "memcpy" in name)
    row("copied MB", copied, f"= {r.value('copied_bytes') / 1e6:.3f}", abs(copied - r.value("copied_bytes") / 1e6) < 0.01)
    calls = {k["Name"]: int(k["Num Calls"]) for k in r.stats("cuda_api_sum")}
    same("cudaMemcpyAsync calls", calls.get("cudaMemcpyAsync", 0), 30)
    r = workload("copies", trace="cuda,um")
    row("unified-memory counters", "on" if "unified-memory" not in r.err else r.err.splitlines()[0], "= on", "unified-memory" not in r.err)
    r = workload("peer-copies")
    if "skipped" in r.values:
        row("peer copies", "one GPU", "needs two", "not run")
    else:
        peers = [k for k in r.stats("cuda_gpu_mem_size_sum") if "Peer" in k["Operation"]]
        same("peer copies", sum(int(k["Count"]) for k in peers), 10)
        same("kernels on two GPUs", r.kernels(), 200)


def threads_and_ranges():
    r = workload("threads")
    same("kernels of eight threads", r.kernels(), int(r.value("kernels")))
    by_range = {k["Range"]: k for k in r.stats("nvtx_gpu_proj_sum")}
    for name, expected in (("even", 8000), ("odd", 8000), ("worker 3", 2000)):
        same(f"GPU operations in range '{name}'", int(by_range[name]["Total GPU Ops"]) if name in by_range else 0, expected)
    same("kernels under --filter-nvtx odd", r.kernels("--filter-nvtx", "odd"), 8000)


def capture_control():
    r = workload("profiler-range", 2000, 1, capture_range="cudaProfilerApi")
    same("kernels between cudaProfilerStart and Stop", r.kernels(), 10000)
    r = workload("profiler-range", 2000, 3, capture_range="cudaProfilerApi", capture_range_end="repeat:2")
    same("kernels of two repeated captures", r.kernels(), 20000)
    r = workload("threads", 1, 100, capture_range="nvtx", nvtx_capture="even")
    same("kernels of the first NVTX range", r.kernels(), 1)
    r = workload("threads", 1, 100, capture_range="nvtx", nvtx_capture="even", capture_range_end="repeat")
    same("kernels of all 50 NVTX ranges", r.kernels(), 50)
    r = workload("threads", 1, 100, schedule="2,1,3,2", step_range="odd")
    row("kernels of a schedule by range steps", r.kernels(), "6 active steps of 2", 11 <= r.kernels() <= 13)
    r = workload("long-loop", 4, delay="1", duration="1")
    taken = r.kernels() / r.value("launches")
    row("share captured with delay 1 s, duration 1 s of 4 s", f"{taken:.2f}", "0.15 .. 0.35", 0.15 < taken < 0.35)
    r = workload("all-launches", kernel_name="regex:shaped<[12]>")
    same("kernels by name", r.kernels(), 200)
    r = workload("all-launches", kernel_name="shaped", launch_skip=10, launch_count=7)
    same("kernels after launch-skip and launch-count", r.kernels(), 7)


def endings():
    for how, code, kernels in (("exit", 0, 1000), ("_exit", 7, 1000), ("kill", -9, 1000), ("reset", 0, 1000), ("in-flight", 0, 1000), ("fork", 0, 1000)):
        r = workload("ending", how)
        row(f"program ends by {how}", f"exit {r.code}, {r.kernels()} kernels", f"exit {code}, {kernels} kernels", r.code == code and r.kernels() == kernels)
    for how in ("throw", "abort", "exec"):
        bare, traced = workload("ending", how, traced=False), workload("ending", how)
        row(f"program ends by {how}", f"exit {traced.code}", f"exit {bare.code}", traced.code == bare.code)


def pytorch():
    try:
        subprocess.run(["python3", "-c", "import torch; assert torch.cuda.is_available()"], check=True, capture_output=True, timeout=120)
    except (subprocess.SubprocessError, OSError):
        row("PyTorch", "no torch with CUDA here", "needs it", "not run")
        return
    bare = run(["python3", TORCH_WORKLOAD, "train"], traced=False)
    for way in ("preload", "injection", "command"):
        traced = run(["python3", TORCH_WORKLOAD, "train"], way=way)
        row(f"PyTorch training step, {way}", f"exit {traced.code}, loss {traced.text('loss')}, {traced.kernels()} kernels, lost {traced.lost()}", f"loss {bare.text('loss')}, nothing lost",
            traced.code == 0 and traced.text("loss") == bare.text("loss") and traced.kernels() > 100 and traced.lost() == "nothing")
    steps = {k["Range"]: int(k["Total GPU Ops"]) for k in traced.stats("nvtx_gpu_proj_sum") if k["Range"].startswith("step")}
    row("GPU operations in each step", sorted(steps.values()), "five alike but the first", len(steps) == 5 and len(set(list(steps.values())[1:])) <= 2)
    crashes = sum(run(["python3", TORCH_WORKLOAD, "torch-profiler"]).code != 0 for _ in range(3))
    row("crashes of three runs that use torch.profiler too", crashes, "= 0", crashes == 0)
    broken = sum(r.code != 0 or r.kernels() != 420 for r in (run(["python3", TORCH_WORKLOAD, "train"]) for _ in range(8)))
    row("of eight more training runs, broken or incomplete", broken, "= 0", broken == 0)


def status():
    done = subprocess.run([COMMAND, "status"], capture_output=True, text=True, timeout=60)
    print(done.stdout)
    row("gpuprof status", f"exit {done.returncode}", "= exit 0", done.returncode == 0)


def graphs_in_captures():
    """CUPTI 13.0's notes say that correlation ids of graph launches may be wrong in sessions after the first."""
    for way, settings in (("profiler", {"capture_range": "cudaProfilerApi", "capture_range_end": "repeat"}), ("api", {})):
        done = run([sys.executable, HERE / "graphs_in_captures.py", way], toolkit=False, **settings)
        if done.code != 0:
            row(f"graphs in three captures, {way}", f"exit {done.code}: {done.err.strip()[-150:]}", "ends", "not run")
            continue
        kernels = {line["NVTX Range"]: int(line["Kern Inst"]) for line in done.stats("nvtx_kern_sum")}
        same(f"graphs in three captures, {way}: kernels by range", kernels, {f"capture {n}": 100 for n in range(3)})


ALL = (status, ways_in, launches, copies, threads_and_ranges, capture_control, graphs_in_captures, endings, pytorch)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures on a machine with a GPU and PyTorch what a Python stack adds to a launch, and --pytorch ops to an operator.

  torch_cost_benchmark.py PREFIX [SECONDS]          PREFIX: where gpuprof is installed, with bin/gpuprof; 80 seconds by default

Launches: processes with --python-backtrace none and all take turns. Each launches from 25 frames (`same`), and from nested modules
of PyTorch (`modules`), in many short loops. Operators: one process starts and stops captures in turns, of work on the CPU. That
part needs no GPU, but a CUDA, such as that of tests/replay. Prints ns of the thread's CPU time, and how much was added: by the best
loops, and by the medians of all.
"""
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

FRAMES, LOOPS, LAUNCHES = 25, 60, 800
MODULES, ROUNDS, OPERATORS = 40, 40, 5000


def ns_each(work, count):
    begin = time.thread_time_ns()
    work()
    return (time.thread_time_ns() - begin) / count


def nested(depth, innermost):
    """`innermost` called through functions with code of their own."""
    for level in range(depth - 1):
        names = {"inner": innermost}
        exec(compile("\n" * level + f"def level_{level}():\n a, b = 1, 2\n return inner()\n", "/home/you/train.py", "exec"), names)
        innermost = names[f"level_{level}"]
    return innermost


def launches():
    """A child: prints the time of each loop."""
    import torch
    x = torch.zeros(1, device="cuda")

    def loop():
        for _ in range(LAUNCHES):
            x.add_(1)
    same = nested(FRAMES - 3, loop)  # with this function, its caller and the file's own code
    layers = [torch.nn.ReLU(inplace=True) for _ in range(MODULES)]
    for size in (5, 4):
        layers = [torch.nn.Sequential(*layers[i:i + size]) for i in range(0, len(layers), size)]
    model = torch.nn.Sequential(*layers).cuda()

    def forwards():
        for _ in range(LAUNCHES // MODULES):
            model(x)
    found = {"same": [], "modules": []}
    with torch.no_grad():
        for name, work in (("same", same), ("modules", forwards)):
            for i in range(LOOPS):
                torch.cuda.synchronize()
                found[name].append(ns_each(work, LAUNCHES))
            del found[name][:5]
    torch.cuda.synchronize()
    print(json.dumps(found), flush=True)


def operators():
    """A child: prints the time of each loop outside and inside of a capture. x.add_(1) of a tensor on the CPU is five operators or fewer."""
    import torch
    torch.set_num_threads(1)
    gpuprof, x, found = ctypes.CDLL(None), torch.zeros(1), {"off": [], "on": [], "gpu": torch.cuda.is_available()}

    def loop():
        for _ in range(OPERATORS):
            x.add_(1)
    if found["gpu"]:
        torch.zeros(1, device="cuda")  # operators are recorded as soon as CUDA is there
    gpuprof.gpuprof_stop()
    loop()
    for _ in range(ROUNDS):
        found["off"].append(ns_each(loop, OPERATORS))
        gpuprof.gpuprof_start(None)
        found["on"].append(ns_each(loop, OPERATORS))
        gpuprof.gpuprof_stop()
    print(json.dumps(found), flush=True)


def profiled(prefix, folder, what, *options):
    capture = pathlib.Path(folder) / "run.gpuprof"
    command = [prefix / "bin/gpuprof", "profile", "-f", "-o", capture, "--metrics", "none", "--sample", "none", *options, "--", sys.executable, __file__, "--child", what]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"')]
    if done.returncode or not lines:
        sys.exit(f"{' '.join(map(str, command))}\nexit status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(lines[0]), capture


def table(prefix, capture, report):
    done = subprocess.run([str(prefix / "bin/gpuprof"), "stats", "-r", report, "-f", "json", str(capture)], capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout.strip() else []


def added(name, without, with_it, divided_by=1.0, goal=""):
    best, median = ((f(with_it) - f(without)) / divided_by for f in (min, statistics.median))
    print(f"{name:34} {min(without):8.0f} {min(with_it):8.0f} {statistics.median(without):9.0f} {statistics.median(with_it):8.0f}"
          f"   {best:+7.0f} {median:+7.0f}   {goal}", flush=True)


def main(prefix, seconds):
    begin = time.monotonic()
    print(f"{'ns':34} {'best':>8} {'with':>8} {'median':>9} {'with':>8}   {'added':>7} {'(med.)':>7}   goal", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found, capture = profiled(prefix, folder, "operators", "--pytorch", "ops", "--python-backtrace", "none")
        count = sum(int(row.get("Instances", row.get("Calls", 0))) for row in table(prefix, capture, "torch_op_sum"))
        each = count / (ROUNDS * OPERATORS)
        if each < 1:
            sys.exit(f"{count} operators recorded of {ROUNDS * OPERATORS} loops")
        added(f"operator ({each:.0f} of them in a loop)", found["off"], found["on"], each, "<= 250")
        if not found["gpu"]:
            return print("launches are not measured: PyTorch finds no GPU")
        costs, ways, turns = {"none": [], "all": []}, {"none": [], "all": []}, 0
        while turns < 1 or (time.monotonic() - begin) * (turns + 1) / turns < seconds:
            for way in ways:
                found, capture = profiled(prefix, folder, "launches", "--python-backtrace", way)
                ways[way].append(found)
                done = subprocess.run([str(prefix / "bin/gpuprof"), "analyze", "-f", "json", str(capture)], capture_output=True, text=True)
                costs[way].append(json.loads(done.stdout)["cost"].get("cost.python_stacks_ns", 0))
            turns += 1
        for name, goal in (("same", "<= 120"), ("modules", "")):
            of = {way: [ns for found in runs for ns in found[name]] for way, runs in ways.items()}
            added(f"launch ({name}), {turns} turns", of["none"], of["all"], 1, goal)
        print(f"by gpuprof's own clock: {statistics.median(costs['all']) / (2 * LOOPS * LAUNCHES):.0f} ns a launch, new stacks included")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        {"launches": launches, "operators": operators}[sys.argv[2]]()
    elif len(sys.argv) < 2:
        sys.exit(__doc__)
    else:
        main(pathlib.Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 80)

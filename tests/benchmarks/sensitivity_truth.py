# SPDX-License-Identifier: Apache-2.0
"""Is a step as much shorter as foretold, if one kernel takes half of its time? Ten programs with a kernel that spins.

On a GPU:       gpuprof profile -o truth -- python3 sensitivity_truth.py
then anywhere:  python3 sensitivity_truth.py GPUPROF truth.gpuprof
"""
import json
import subprocess
import sys

STEPS = 60
CYCLES = 400_000  # of the kernel that spins; half of it in the repaired phase


def programs():
    """Name and step(cycles) of each."""
    import time

    import torch
    from torch import nn

    device = {"device": "cuda"}
    wide, narrow = torch.randn(4096, 4096, **device), torch.randn(256, 256, **device)
    side = torch.cuda.Stream()
    host = torch.randn(1 << 20)
    model = nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(512, 512), nn.GELU())]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    batch = torch.randn(64, 512, **device)
    spin = torch.cuda._sleep
    graphs = {}

    def bound_by_the_gpu(cycles):
        wide @ wide
        spin(cycles)
        wide.relu()

    def many_small_kernels(cycles):
        for _ in range(200):
            wide.relu()
        spin(cycles)

    def bound_by_launches(cycles):
        for _ in range(100):
            narrow.relu()
        spin(cycles // 20)

    def on_a_side_stream(cycles):
        with torch.cuda.stream(side):
            spin(cycles)
        wide @ wide

    def joined_streams(cycles):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            spin(cycles)
            narrow.relu()
        narrow @ narrow
        torch.cuda.current_stream().wait_stream(side)
        wide @ wide

    def in_a_graph(cycles):
        if cycles not in graphs:
            torch.cuda.synchronize()
            graphs[cycles] = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graphs[cycles]):
                for _ in range(20):
                    narrow @ narrow
                spin(cycles)
        graphs[cycles].replay()

    def behind_pageable_copies(cycles):
        copied = host.cuda()
        spin(cycles)
        copied.relu()

    def training(cycles):
        spin(cycles)
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    def read_each_step(cycles):
        spin(cycles)
        (narrow @ narrow).sum().item()

    def with_cpu_work(cycles):
        spin(cycles)
        wide @ wide
        torch.cuda.synchronize()
        until = time.perf_counter() + 3e-4
        while time.perf_counter() < until:
            pass

    return [bound_by_the_gpu, many_small_kernels, bound_by_launches, on_a_side_stream, joined_streams, in_a_graph,
            behind_pageable_copies, training, read_each_step, with_cpu_work]


def run():
    import torch

    for program in programs():
        for phase, cycles in (("FAULT", CYCLES), ("FIXED", CYCLES // 2)) * 2:
            for _ in range(10):
                program(cycles)
            torch.cuda.synchronize()
            with torch.cuda.nvtx.range(f"{program.__name__}_{phase}"):
                for _ in range(STEPS):
                    with torch.cuda.nvtx.range("step"):
                        program(cycles)
                torch.cuda.synchronize()


def mean(values):
    """In us."""
    values = list(values)
    return sum(values) / len(values) / 1000


def told(gpuprof, capture, name, *options):
    """What whatif says in JSON of a phase that ran twice."""
    answers = []
    for number in range(2):
        run = subprocess.run([gpuprof, "whatif", "--filter-nvtx", f"{name}/{number}", *options, "-f", "json", capture],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            raise SystemExit(run.stderr)
        answers.append(json.loads(run.stdout))
    return answers


def judge(gpuprof, capture):
    phases = subprocess.run([gpuprof, "stats", "-r", "nvtx_sum", "-f", "csv", capture], capture_output=True, text=True, check=True).stdout
    names = [line.split(",")[-1].strip().lstrip(":") for line in phases.splitlines()]
    right = 0
    print("| program | a step | won | foretold | off, of what was won |\n|---|---|---|---|---|")
    for name in sorted(one.removesuffix("_FAULT") for one in names if one.endswith("_FAULT")):
        faults = told(gpuprof, capture, f"{name}_FAULT", "--scale", "regex:spin_kernel=0.5")
        now = mean(one["recorded_step_ns"] for one in faults)
        then = mean((one["forecast"]["least_step_ns"] + one["forecast"]["greatest_step_ns"]) / 2 for one in faults)
        truth = mean(one["recorded_step_ns"] for one in told(gpuprof, capture, f"{name}_FIXED", "--scale", "regex:spin_kernel=1"))
        won, foretold = now - truth, now - then
        # A change below a hundredth of the step is none.
        off = abs(foretold - won) / max(abs(won), 0.01 * now)
        is_right = off <= 0.1 or abs(foretold - won) <= 0.01 * now
        right += is_right
        print(f"| `{name}` | {now:.1f} us | {won:.1f} us | {foretold:.1f} us | {100 * off:.0f} %{'' if is_right else ', wrong'} |")
    print(f"\n{right} right")


if __name__ == "__main__":
    judge(*sys.argv[1:]) if len(sys.argv) > 1 else run()

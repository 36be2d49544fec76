#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well `gpuprof whatif` foretells repairs of one of two ranks.

On two GPUs:   gpuprof profile -o job -- torchrun --nproc_per_node 2 rank_repairs.py
then anywhere: rank_repairs.py GPUPROF job.rank*.gpuprof

The program runs each case twice: in the range CASE_FAULT with a planted fault, in CASE_FIXED with its repair, 40 ranges `step` each.
The table says what the repair won and what the replay of the fault foretold, without a look at the repaired program."""
import json
import os
import subprocess
import sys
import time

SPIN = 1_700_000  # cycles, about 0.9 ms


class Job:
    """The programs with faults, on one rank."""

    def __init__(self):
        import torch
        import torch.distributed as dist
        self.torch, self.dist, self.rank = torch, dist, int(os.environ["RANK"])
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl")
        self.push, self.pop = torch.cuda.nvtx.range_push, torch.cuda.nvtx.range_pop
        self.x, self.w = (torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        self.small = torch.randn(4096, device="cuda")
        self.gradients = torch.randn(16 << 20, device="cuda")  # 64 MiB

    def products(self, count=8):
        y = self.x
        for _ in range(count):
            y = y @ self.w
        return y

    @staticmethod
    def busy(seconds):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass

    def reduce(self, elements=None):
        self.dist.all_reduce(self.gradients[:elements])

    def late_cpu(self, fault):
        self.push("input")
        if fault and self.rank == 1:
            self.busy(2e-3)
        self.pop()
        self.products()
        self.reduce()
        self.torch.cuda.synchronize()

    def late_gpu(self, fault):
        self.products()
        if fault and self.rank == 1:
            self.torch.cuda._sleep(SPIN)
        self.reduce()
        self.torch.cuda.synchronize()

    def spin_half(self, fault):
        self.products()
        self.torch.cuda._sleep(2 * SPIN if fault else SPIN)
        self.reduce()
        self.products()

    def spin_half_of_one(self, fault):
        self.products()
        self.torch.cuda._sleep(2 * SPIN if fault or self.rank == 1 else SPIN)
        self.reduce()
        self.products()

    def overlap(self, fault):
        handle = self.dist.all_reduce(self.gradients, async_op=True)
        if fault:
            handle.wait()
        self.products(40)
        if not fault:
            handle.wait()
        self.torch.cuda.synchronize()

    def syncs(self, fault):
        for _ in range(6):
            self.products(2)
            self.busy(5e-5)
            if fault:
                self.torch.cuda.synchronize()
        self.reduce()

    def half_launches(self, fault):
        for _ in range(100):
            self.small = self.torch.sin(self.small)
            if fault:
                self.small = self.torch.cos(self.small)
        self.reduce(1 << 20)
        self.torch.cuda.synchronize()

    def half_bytes(self, fault):
        self.products()
        self.reduce(None if fault else 8 << 20)
        self.torch.cuda.synchronize()

    def item_of_one(self, fault):
        for _ in range(6):
            y = self.products(2)
            if fault and self.rank == 0:
                y[0, 0].item()
            self.busy(8e-5)
        self.reduce()
        self.torch.cuda.synchronize()

    def late_in_turn(self, fault):
        for part in range(2):
            self.push(f"host{part}")
            if fault and self.rank == part:
                self.busy(1e-3)
            self.pop()
            self.products(4)
            self.reduce()
        self.torch.cuda.synchronize()

    def run(self):
        for case in REPAIRS:
            for phase in ("FAULT", "FIXED"):
                step = getattr(self, case)
                for _ in range(5):
                    step(phase == "FAULT")
                self.dist.barrier()
                self.torch.cuda.synchronize()
                self.push(f"{case}_{phase}")
                for _ in range(40):
                    self.push("step")
                    step(phase == "FAULT")
                    self.pop()
                self.torch.cuda.synchronize()
                self.pop()
                self.dist.barrier()
        self.dist.destroy_process_group()


REPAIRS = {
    "late_cpu": ["--rank", "1", "--cpu", "input=0"],
    "late_gpu": ["--rank", "1", "--drop", "regex:spin_kernel"],
    "spin_half": ["--scale", "regex:spin_kernel=0.5"],
    "spin_half_of_one": ["--rank", "0", "--scale", "regex:spin_kernel=0.5"],
    "overlap": ["--overlap", "regex:nccl"],
    "syncs": ["--no-call", "regex:Synchronize"],
    "half_launches": ["--drop", "regex:cos_kernel"],
    "half_bytes": ["--scale", "regex:nccl=0.5"],
    "item_of_one": ["--rank", "0", "--no-call", "regex:StreamSynchronize", "--drop", "copies"],
    "late_in_turn": ["--cpu", "host0=0", "--cpu", "host1=0"],
}


def table(gpuprof, captures):
    def ask(*words):
        done = subprocess.run([gpuprof, "whatif", *captures, *words, "-f", "json"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    print(f"{'':17} {'step us':>8} {'repaired':>8} {'won':>8} {'foretold':>18}  unexplained")
    for case, repair in REPAIRS.items():
        fault, repaired = ask("--filter-nvtx", case + "_FAULT", *repair), ask("--filter-nvtx", case + "_FIXED")
        before, after = fault["recorded_step_ns"] / 1e3, repaired["recorded_step_ns"] / 1e3
        low, high = fault["forecast"]["least_gain_ns"] / 1e3, fault["forecast"]["greatest_gain_ns"] / 1e3
        won = before - after
        near = max(0.05 * abs(won), 0.01 * before)  # machines do not repeat a step better than this
        place = "" if low - near <= won <= high + near else ", outside"
        unexplained = 100 * fault["held_by"]["unexplained_ns"] / fault["recorded_step_ns"]
        print(f"{case:17} {before:8.1f} {after:8.1f} {won:8.1f} {low:8.1f} {high:8.1f}  {unexplained:.1f} %{place}")


if __name__ == "__main__":
    if "RANK" in os.environ:
        Job().run()
    elif len(sys.argv) < 4:
        sys.exit(__doc__)
    else:
        table(sys.argv[1], sys.argv[2:])

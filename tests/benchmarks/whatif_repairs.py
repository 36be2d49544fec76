#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well `gpuprof whatif` foretells repairs: whatif_repairs.py [--analyze] GPUPROF FOLDER [NAME...]

FOLDER/NAME.gpuprof holds one program twice: in the range FAULT with a planted fault, in FIXED with its repair. Both have ranges `step` inside.
Prints what the repair won and what the replay of the fault foretold, without a look at the repaired program.
With --analyze: what the first finding of `gpuprof analyze` says of the fault."""
import json
import pathlib
import re
import statistics
import subprocess
import sys

READ, SYNC = "[CUDA memcpy Device-to-Host]", "cuStreamSynchronize"
BF16_FLOP_PER_NS, DRAM_BYTES_PER_NS = 800e3, 3000.0  # of an H100


def arguments(options):
    return [word for option, value in options for word in ((option,) if value is None else (option, value))]


def merged(ask, works, ns):
    """One launch of these in each step, which takes so long."""
    total = sum(one["time_ns"] for one in ask()["sensitivities"] if works in one["name"] and one["kind"] == "gpu_work")
    return [("--merge", f"regex:{works}"), ("--scale", f"regex:{works}={ns / total:.9f}")]


# The repairs that a rule could state without knowing the result.
REPAIRS = {
    "item_each_layer": lambda ask: [("--no-call", SYNC)],
    "unfused_adam": lambda ask: [("--drop", "regex:AUnaryFunctor|BUnaryFunctor|sqrt_ker|addcdiv|addcmul|CUDAFunctor|pow_")],
    "cpu_between": lambda ask: [("--no-call", "cuCtxSynchronize"), ("--no-cpu-longer", "1ms")],
    "tiny_copies": lambda ask: [("--drop", "[CUDA memcpy Host-to-Device]"), ("--no-call", SYNC)],
    "pageable": lambda ask: [("--pinned", None)],
    "decode_eager": lambda ask: [("--graph", "step")],
    "slow_loader": lambda ask: [("--no-cpu-longer", "1ms")],
    "empty_cache": lambda ask: [("--no-call", "cuMemAlloc"), ("--no-call", "cuMemFree")],
    "logits_down": lambda ask: [("--drop", READ), ("--no-call", SYNC), ("--no-cpu-longer", "1ms")],
    "pin_each_step": lambda ask: [("--pinned", None), ("--no-cpu-longer", "1ms")],
    "per_head": lambda ask: merged(ask, "nvjet", 2 * 2048 * 1024 * 64 * 96 / BF16_FLOP_PER_NS) + [("--drop", "regex:CatArray")],
    "cat_cache": lambda ask: [("--drop", "regex:CatArray")],
    "recast_weights": lambda ask: [("--drop", "regex:bfloat16")],
    "hand_attention": lambda ask: [("--drop", "regex:elementwise_kernel<128, 4|softmax|BUnary|triu|FillFunc"), ("--drop", "[CUDA memcpy Device-to-Device]")],
    "norm_by_hand": lambda ask: merged(ask, "", 32768 * 2048 * 2 * 2 / DRAM_BYTES_PER_NS),
}


def output_of(gpuprof, command, capture, within, *options):
    done = subprocess.run([gpuprof, command, capture, "--filter-nvtx", within, "-f", "json", *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{capture.stem}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def judge_findings(gpuprof, captures):
    inside, near, narrow = [], [], []
    for capture in captures:
        step, repaired = (output_of(gpuprof, "whatif", capture, of)["recorded_step_ns"] / 1e6 for of in ("FAULT", "FIXED"))
        won = step - repaired
        line = f"{capture.stem:18} {step:8.3f} {repaired:8.3f} {won:8.3f}"
        first = next(iter(output_of(gpuprof, "analyze", capture, "FAULT")["findings"]), None)
        steps = first and re.search(r": x ([\d.]+) steps", first["arithmetic"])
        if not steps:
            print(line, "no finding with a replay")
            continue
        low, high = (first["potential_gain_ms"][end] / float(steps[1]) for end in ("low", "high"))
        inside.append(low <= won <= high)
        near.append(abs((low + high) / 2 / won - 1) <= 0.15)
        narrow.append(high <= 2 * low)
        print(f"{line} {low:8.3f} {high:8.3f} {first['rule']}{'' if inside[-1] else ', outside'}")
    print(f"of {len(inside)}: inside {sum(inside)}, middle within 15 % {sum(near)}, no wider than a factor of two {sum(narrow)}")


def main():
    of_findings = "--analyze" in sys.argv
    gpuprof, folder, *names = (word for word in sys.argv[1:] if word != "--analyze")
    captures = [one for one in sorted(pathlib.Path(folder).glob("*.gpuprof")) if not names or one.stem in names]
    if of_findings:
        return judge_findings(gpuprof, captures)
    inside, middles, replayed = [], [], []
    print(f"{'':18} {'step us':>9} {'repaired':>9} {'won':>9} {'foretold':>19}  share of won")
    for capture in captures:
        def ask(*options, within="FAULT"):
            return output_of(gpuprof, "whatif", capture, within, "--limit", "1000", *options)

        repaired = ask(within="FIXED")
        fault = ask(*arguments(REPAIRS[capture.stem](ask))) if capture.stem in REPAIRS else ask()
        replayed += [one["replayed_step_ns"] / one["recorded_step_ns"] for one in (fault, repaired)]
        won = fault["recorded_step_ns"] - repaired["recorded_step_ns"]
        line = f"{capture.stem:18} {fault['recorded_step_ns'] / 1e3:9.1f} {repaired['recorded_step_ns'] / 1e3:9.1f} {won / 1e3:9.1f}"
        if "forecast" in fault:
            low, high = fault["forecast"]["least_gain_ns"], fault["forecast"]["greatest_gain_ns"]
            inside.append(low <= won <= high)
            middles.append(abs((low + high) / 2 / won - 1))
            line += f" {low / 1e3:9.1f} {high / 1e3:9.1f}  {low / won:.2f} to {high / won:.2f}{'' if inside[-1] else ', outside'}"
        print(line, flush=True)
    off = max(abs(one - 1) for one in replayed)
    print(f"replayed without a change: {len(replayed)} phases, at most {100 * off:.2f} % off")
    if middles:
        print(f"inside: {sum(inside)} of {len(inside)}; middle within 20 %: {sum(m < 0.2 for m in middles)}; median error of the middle {100 * statistics.median(middles):.0f} %")
    if off > 0.01:
        sys.exit("a phase was not replayed as it was recorded")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What this library costs over another build of it (--against LIBRARY), in turns: did a change make it slower?"""

import os
import pathlib
import statistics

from cost import in_turns
from harness import HERE, LIBRARY, TORCH_WORKLOAD, ratio_of_medians, row, run, workload

LIMIT = 1.01


def with_library(library, act):
    return lambda: act(library=library)


MEASURED = {
    "launch, ns": lambda **more: workload("launch-loop", 20000, 7, **more).value("ns_per_launch"),
    "launch with readings and samples, ns": lambda **more: workload("launch-loop", 20000, 7, metrics="auto", **more).value("ns_per_launch"),
    "graph node, ns": lambda **more: workload("graph-loop", 100, 500, **more).value("ns_per_node"),
    "NVTX push + pop, ns": lambda **more: workload("nvtx-loop", **more).value("ns_per_push_pop"),
    "PyTorch add loop, ns": lambda **more: run(["python3", TORCH_WORKLOAD, "add-loop"], **more).value("ns_per_op"),
    "eager generation, ms a text": lambda **more: run(["python3", HERE / "unmodified" / "llama.py", 3], toolkit=False, **more).value("step_ms"),
}


def costs(times):
    other = os.environ.get("GPU_CHECK_AGAINST")
    if not other:
        row("costs over another library", "none named", "--against LIBRARY", "not run")
        return
    other = pathlib.Path(other)
    for what, act in MEASURED.items():
        try:
            ours, theirs = in_turns(times, with_library(LIBRARY, act), with_library(other, act))
        except (KeyError, OSError):
            row(f"{what}, this / other", "the program does not run here", "needs it", "not run")
            continue
        ratio = ratio_of_medians(ours, theirs)
        pairs = sorted(a / b for a, b in zip(ours, theirs))
        # Pairs that disagree tell nothing: neither that it is as fast, nor that it is slower.
        verdict = True if ratio <= LIMIT else "noise" if pairs[0] <= 1 else False
        row(f"{what}, this / other", f"{statistics.median(ours):.1f} / {statistics.median(theirs):.1f} = {ratio:.3f} (pairs {pairs[0]:.3f} to {pairs[-1]:.3f})",
            f"<= {LIMIT}", verdict)


ALL = (costs,)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch with libgpuprof: three steps of a training loop, with ranges that declare their work. Run it:

  pip install torch libgpuprof
  python3 python_torch_training.py
"""
import sys

try:
    import torch
except ImportError:
    sys.exit("python_torch_training: PyTorch is not installed here: pip install torch")
import libgpuprof as gp

if not torch.cuda.is_available():
    print("python_torch_training: no GPU to work on", file=sys.stderr)
    sys.exit(77)


def main():
    width, rows, depth = 4096, 8192, 4
    model = torch.nn.Sequential(*[torch.nn.Linear(width, width) for _ in range(depth)]).cuda().bfloat16()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch = torch.randn(rows, width, device="cuda", dtype=torch.bfloat16)
    forward = gp.range("forward", flops=2.0 * rows * width * width * depth)
    backward = gp.range("backward", flops=4.0 * rows * width * width * depth)
    with gp.profile("training.gpuprof", metrics="auto", force_overwrite=True,
                    schedule=gp.schedule(wait=2, warmup=1, active=20, repeat=1)) as prof:
        for _ in range(24):
            with forward:
                loss = model(batch).square().mean()
            with backward:
                loss.backward()
            with gp.range("optimizer"):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            prof.step()
        torch.cuda.synchronize()
    if prof.path is None:
        sys.exit("python_torch_training: nothing was recorded: see the lines above")
    print(prof.analyze())
    try:
        print(prof.run.roofline())
    except gp.Error as why:  # the program was too short for counters
        print(why)


if __name__ == "__main__":
    main()

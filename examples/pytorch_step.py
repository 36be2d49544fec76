#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch training step with NVTX ranges; nothing in it knows gpuprof. Run it:

  gpuprof profile -o step.gpuprof -c nvtx -p train -- python3 pytorch_step.py
  gpuprof stats -r cuda_gpu_kern_sum -r nvtx_gpu_proj_sum step.gpuprof

or with LD_PRELOAD=/path/to/libgpuprof_preload.so and the same options as GPUPROF_CAPTURE_RANGE=nvtx and
GPUPROF_NVTX_CAPTURE=train. Only the range "train" is captured: the warm-up runs at full speed.
Autograd runs backward on a thread of its own, so its kernels lie in no range of the main thread.
"""
import sys

try:
    import torch
except ImportError:
    sys.exit("pytorch_step: PyTorch is not installed here: pip install torch")
if not torch.cuda.is_available():
    print("pytorch_step: no GPU to work on", file=sys.stderr)
    sys.exit(77)


def train(model, optimizer, batches):
    for step, (inputs, targets) in enumerate(batches):
        with torch.cuda.nvtx.range(f"step {step}"):
            with torch.cuda.nvtx.range("forward"):
                loss = torch.nn.functional.mse_loss(model(inputs), targets)
            with torch.cuda.nvtx.range("backward"):
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
            with torch.cuda.nvtx.range("optimizer"):
                optimizer.step()
    torch.cuda.synchronize()
    return loss.item()


def main():
    torch.manual_seed(0)
    layers = [layer for _ in range(4) for layer in (torch.nn.Linear(1024, 1024), torch.nn.GELU())]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batch = (torch.randn(512, 1024, device="cuda"), torch.randn(512, 1024, device="cuda"))
    train(model, optimizer, [batch] * 3)
    with torch.cuda.nvtx.range("train"):
        loss = train(model, optimizer, [batch] * 10)
    print(f"pytorch_step: loss {loss:.4f}")


if __name__ == "__main__":
    main()

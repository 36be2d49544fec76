# SPDX-License-Identifier: Apache-2.0
"""A transformer in training, deterministic: train_step.py SECONDS; or all-reduce in two processes: train_step.py SECONDS RANK FOLDER"""

import hashlib
import os
import sys
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402

seconds = float(sys.argv[1])
rank = int(sys.argv[2]) if len(sys.argv) > 2 else None
if rank is not None:
    torch.distributed.init_process_group("nccl", init_method=f"file://{sys.argv[3]}/meet", rank=rank, world_size=2)
    torch.cuda.set_device(rank)

torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cuda.enable_flash_sdp(False)
torch.backends.cuda.enable_mem_efficient_sdp(False)
model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(2048, 16, 8192, batch_first=True, dropout=0.0, device="cuda"), 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
data = torch.randn(8, 512, 2048, device="cuda")


def step():
    with torch.autocast("cuda", dtype=torch.bfloat16):
        with torch.cuda.nvtx.range("forward"):
            loss = (model(data) - data).square().mean()
    with torch.cuda.nvtx.range("backward"):
        loss.backward()
    if rank is not None:
        with torch.cuda.nvtx.range("reduce"):
            for parameter in model.parameters():
                torch.distributed.all_reduce(parameter.grad)
    with torch.cuda.nvtx.range("optimizer"):
        optimizer.step()
        optimizer.zero_grad()
    return loss


def state():
    sums = hashlib.sha256()
    for parameter in model.parameters():
        sums.update(parameter.detach().cpu().numpy().tobytes())
    return sums.hexdigest()[:16]


fixed = 40  # steps after which results are compared
torch.cuda.synchronize()
begin = time.perf_counter()
for _ in range(fixed):
    step()
torch.cuda.synchronize()
times = [(time.perf_counter() - begin) / fixed] * (fixed // 10)
print("state", state())
begin = time.perf_counter()
while (rank is None and time.perf_counter() - begin < seconds) or (rank is not None and len(times) < 20 * seconds):
    start = time.perf_counter()
    for _ in range(10):
        step()
    torch.cuda.synchronize()
    times.append((time.perf_counter() - start) / 10)
times.sort()
print("step_ms", 1e3 * times[len(times) // 2])
print("mean_step_ms", 1e3 * sum(times) / len(times))
print("over_median_s", 10 * sum(t - times[len(times) // 2] for t in times))
if rank is not None:
    torch.distributed.destroy_process_group()

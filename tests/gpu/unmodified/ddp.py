# SPDX-License-Identifier: Apache-2.0
"""GPT-2 in training on several GPUs, started by torchrun: ddp.py LIMIT (a number of steps)"""

import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel  # noqa: E402

import measured  # noqa: E402

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
torch.distributed.init_process_group("nccl")
torch.manual_seed(0)
torch.use_deterministic_algorithms(True, warn_only=True)
model = torch.nn.parallel.DistributedDataParallel(GPT2LMHeadModel(GPT2Config(n_layer=6)).cuda(), device_ids=[rank])
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
torch.manual_seed(rank)
tokens = torch.randint(0, 50257, (4, 512), device="cuda")


def step():
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


if rank != 0:
    measured.report = lambda *_: None
loss = measured.loop(step, torch.cuda.synchronize, measured.limit("400"))
if rank == 0:
    print("checksum", repr(loss.item()) + "/" + measured.parameters_sum(model), flush=True)
torch.distributed.destroy_process_group()

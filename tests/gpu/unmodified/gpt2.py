# SPDX-License-Identifier: Apache-2.0
"""GPT-2 in training from scratch, with NVTX ranges: gpt2.py LIMIT"""

import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402
from torch.cuda.nvtx import range as nvtx_range  # noqa: E402
from transformers import GPT2Config, GPT2LMHeadModel  # noqa: E402

import measured  # noqa: E402

torch.manual_seed(0)
torch.use_deterministic_algorithms(True, warn_only=True)
model = GPT2LMHeadModel(GPT2Config()).cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
batches = [torch.randint(0, 50257, (8, 512), device="cuda") for _ in range(8)]
done = 0


def step():
    global done
    tokens = batches[done % len(batches)]
    done += 1
    with nvtx_range("step"):
        with nvtx_range("forward"), torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_ids=tokens, labels=tokens).loss
        with nvtx_range("backward"):
            loss.backward()
        with nvtx_range("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
    return loss


loss = measured.loop(step, torch.cuda.synchronize, measured.limit("60"))
print("checksum", repr(loss.item()) + "/" + measured.parameters_sum(model))

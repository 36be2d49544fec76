# SPDX-License-Identifier: Apache-2.0
"""Five training steps of GPT-2 (124 million parameters), as scripts are written: what `gpuprof demo` plays."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

STEPS = 5  # about 1,000 kernels each; more would make the session too large

torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config()).cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
batches = [torch.randint(0, 50257, (8, 512)) for _ in range(STEPS)]

for number, batch in enumerate(batches):
    with torch.cuda.nvtx.range("step"):
        with torch.cuda.nvtx.range("data"):
            tokens = batch.cuda()
        with torch.cuda.nvtx.range("forward"), torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_ids=tokens, labels=tokens).loss
        with torch.cuda.nvtx.range("backward"):
            loss.backward()
        with torch.cuda.nvtx.range("optimiser"):
            optimizer.step()
            optimizer.zero_grad()
        print(f"step {number}: loss {loss.item():.4f}")

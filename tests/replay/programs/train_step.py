# SPDX-License-Identifier: Apache-2.0
"""Five training steps of a small transformer layer, with an NVTX range for each part of a step."""
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(
    torch.nn.TransformerEncoderLayer(d_model=256, nhead=4, dim_feedforward=512, dropout=0.0, batch_first=True),
    torch.nn.Linear(256, 16),
).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
inputs = torch.randn(8, 64, 256).pin_memory()
targets = torch.randint(0, 16, (8 * 64,)).pin_memory()

for step in range(5):
    with torch.cuda.nvtx.range(f"step {step}"):
        with torch.cuda.nvtx.range("data"):
            x, y = inputs.cuda(non_blocking=True), targets.cuda(non_blocking=True)
        with torch.cuda.nvtx.range("forward"):
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(x).reshape(-1, 16).float(), y)
        with torch.cuda.nvtx.range("backward"):
            loss.backward()
        with torch.cuda.nvtx.range("optimiser"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
torch.cuda.synchronize()
print(f"loss {loss.item():.4f}")

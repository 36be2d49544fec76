# SPDX-License-Identifier: Apache-2.0
"""A small network trained by Lightning: lightning_loop.py STEPS"""

import time

import lightning
import torch

import measured

steps, times = int(measured.limit("500")), []


class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512))

    def training_step(self, batch, _):
        times.append(time.perf_counter())
        (x,) = batch
        return (self.network(x) - x.roll(1, 1)).square().mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


lightning.seed_everything(0, verbose=False)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(256 * 64, 512)), batch_size=256)
quiet = {name: False for name in ("logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary")}
trainer = lightning.Trainer(accelerator="gpu", devices=1, max_steps=steps + 3, max_epochs=-1, **quiet)
model = Regression()
trainer.fit(model, data)
torch.cuda.synchronize()
end = time.perf_counter()
measured.report(steps, end - times[3], [after - before for before, after in zip(times[3:], times[4:])])
print("checksum", measured.parameters_sum(model))

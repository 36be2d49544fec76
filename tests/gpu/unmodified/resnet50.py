# SPDX-License-Identifier: Apache-2.0
"""ResNet-50 in training on random images of eight loader processes: resnet50.py LIMIT"""

import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch  # noqa: E402

import measured  # noqa: E402

try:
    from torchvision.models import resnet50
except ModuleNotFoundError:
    from timm.models.resnet import resnet50


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 10**6

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randint(0, 256, (3, 224, 224), dtype=torch.uint8, generator=generator), index % 1000


def main():
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True, warn_only=True)
    model = resnet50().cuda().to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    loader = iter(torch.utils.data.DataLoader(Images(), batch_size=64, num_workers=8, pin_memory=True))

    def step():
        images, labels = next(loader)
        images = images.cuda(non_blocking=True).to(memory_format=torch.channels_last).float() / 255
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.cross_entropy(model(images), labels.cuda(non_blocking=True))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        return loss

    loss = measured.loop(step, torch.cuda.synchronize, measured.limit("55"))
    print("checksum", repr(loss.item()) + "/" + measured.parameters_sum(model))


if __name__ == "__main__":
    main()

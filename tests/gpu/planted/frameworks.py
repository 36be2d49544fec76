# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs with one planted fault each: frameworks.py NAME [--mended] [--again compile|graph] [--steps N]

The faults of this file lie on the host's side; those inside the GPU's work are in frameworks_kernels.py.
"""

import argparse
import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import frameworks_kernels
from frameworks_kernels import BF16, FP32, blocks

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "unmodified"))
import measured  # noqa: E402


def convolutions(count):
    """Convolutions of channels_last images with three channels."""
    layers = [nn.Conv2d(3, 64, 3, padding=1), nn.ReLU()]
    for _ in range(count):
        layers += [nn.Conv2d(64, 64, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers).to(memory_format=torch.channels_last, **BF16)


class Images(torch.utils.data.Dataset):
    """Images that are cropped, flipped and normalized on the CPU."""

    def __init__(self):
        random = np.random.default_rng(0)
        self.images = random.integers(0, 256, (256, 160, 160, 3), dtype=np.uint8)
        self.corners = random.integers(0, 32, (1024, 2))
        self.mean, self.deviation = np.float32([[[0.48]], [[0.45]], [[0.4]]]), np.float32([[[0.22]], [[0.22]], [[0.23]]])

    def __len__(self):
        return 1_000_000

    def __getitem__(self, number):
        row, column = self.corners[number % 1024]
        image = self.images[number % 256, row : row + 128, column : column + 128].transpose(2, 0, 1)
        image = image[:, :, ::-1] if number % 2 else image
        image = (image.astype(np.float32) / 255 - self.mean) / self.deviation
        return torch.from_numpy(np.ascontiguousarray(image)), number % 10


def loader_on_main(mended):
    """A DataLoader that computes each batch between two steps; mended: in eight processes."""
    loader = torch.utils.data.DataLoader(Images(), batch_size=64, num_workers=8 if mended else 0, pin_memory=True)
    model, head = convolutions(8), nn.Linear(64, 10, **BF16)
    optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], fused=True)
    batches = iter(loader)

    def step():
        images, targets = (part.cuda(non_blocking=True) for part in next(batches))
        images = images.to(torch.bfloat16, memory_format=torch.channels_last)
        optimizer.zero_grad()
        F.cross_entropy(head(model(images).mean((2, 3))), targets).backward()
        optimizer.step()

    return step


def unfused_optimizer(mended):
    """AdamW with some nine kernels for each of 144 tensors; mended: fused."""
    model = blocks(24, 1024, **BF16)
    how = {"fused": True} if mended else {"foreach": False}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **how)
    x, gradient = (torch.randn(4096, 1024, **BF16) for _ in range(2))

    def step():
        optimizer.zero_grad()
        model(x).backward(gradient)
        optimizer.step()

    return step


def clip_with_item(mended):
    """The norm of each gradient is read on the host; mended: clip_grad_norm_."""
    model = blocks(24, 512, **BF16)
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    x, gradient = (torch.randn(8192, 512, **BF16) for _ in range(2))

    def step():
        optimizer.zero_grad()
        model(x).backward(gradient)
        if mended:
            nn.utils.clip_grad_norm_(parameters, 1.0)
        else:
            total = sum(parameter.grad.norm().item() ** 2 for parameter in parameters) ** 0.5
            for parameter in parameters:
                parameter.grad.mul_(min(1.0, 1.0 / (total + 1e-6)))
        optimizer.step()

    return step


def pageable_big_copy(mended):
    """256 MB from pageable memory in each step; mended: from pinned memory, non_blocking."""
    host = torch.ones(64_000_000).view(-1, 4000)
    host = host.pin_memory() if mended else host
    weights = [torch.randn(4000, 4000, **BF16) / 64 for _ in range(8)]

    @torch.no_grad()
    def step():
        x = host.to("cuda", non_blocking=mended).bfloat16()
        for weight in weights:
            x = x @ weight
        return x.float().mean()

    return step


def eager_decoding(mended):
    """48 short kernels for each of 16 tokens; mended: one CUDA graph for each token."""
    embedding = nn.Embedding(4096, 512, **BF16)
    model = nn.Sequential(blocks(9, 512, **BF16), nn.LayerNorm(512, **BF16), nn.Linear(512, 4096, bias=False, **BF16))
    token = torch.zeros(1, dtype=torch.long, device="cuda")

    @torch.no_grad()
    def decode():
        token.copy_(model(embedding(token)).argmax(-1))

    one_token = decode
    if mended:
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            decode()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            decode()
        one_token = graph.replay

    def step():
        for _ in range(16):
            one_token()

    return step


def small_batch(mended):
    """Sixteen requests, one at a time, so that each reads all weights; mended: one batch."""
    layers = [[torch.randn(shape, **BF16) / 64 for shape in ((11008, 4096), (4096, 11008))] for _ in range(8)]
    requests = torch.randn(16, 4096, **BF16)

    @torch.no_grad()
    def serve(x):
        for up, down in layers:
            x = F.linear(F.silu(F.linear(x, up)), down)
        return x

    def step():
        if mended:
            return serve(requests)
        return torch.cat([serve(request) for request in requests.split(1)])

    return step


def cudnn_benchmark_sizes(mended):
    """cudnn.benchmark although each step has images of a new height; mended: without it."""
    torch.backends.cudnn.benchmark = not mended
    layers = [nn.Conv2d(64, 64, 3, padding=1) for _ in range(3)]
    model = nn.Sequential(*layers).to(device="cuda", dtype=torch.float16, memory_format=torch.channels_last)
    height = 128

    @torch.no_grad()
    def step():
        nonlocal height
        height += 1
        images = torch.randn(16, 64, height, 256, device="cuda", dtype=torch.float16)
        return model(images.to(memory_format=torch.channels_last)).mean()

    return step


def logits_to_host(mended):
    """Logits are copied to the host for an argmax there; mended: argmax on the GPU."""
    head = nn.Linear(1024, 50304, bias=False, **BF16)
    x = torch.randn(512, 1024, **BF16)

    @torch.no_grad()
    def step():
        logits = head(x).float()
        return logits.argmax(-1).cpu() if mended else logits.cpu().argmax(-1)

    return step


def pinned_in_each_step(mended):
    """Each result is kept in pinned memory of its own; mended: in memory pinned before the steps.

    The last 64 results are kept. Later steps find the memory of older ones.
    """
    count, shape = 64, (8192, 2048)
    weights = [torch.randn(2048, 2048, **BF16) / 45 for _ in range(16)]
    x = torch.randn(shape, **BF16)
    kept = list(torch.empty(count, *shape, dtype=torch.bfloat16, pin_memory=True)) if mended else []
    number = 0

    @torch.no_grad()
    def step():
        nonlocal number
        y = x
        for weight in weights:
            y = y @ weight
        if mended:
            result = kept[number % count]
        else:
            result = torch.empty(shape, dtype=torch.bfloat16, pin_memory=True)
            kept.append(result)
            del kept[:-count]
        result.copy_(y, non_blocking=True)
        number += 1

    return step


def noise_from_cpu(mended):
    """Noise is drawn on the CPU and copied; mended: drawn on the GPU."""
    model, last = convolutions(4), nn.Conv2d(64, 3, 1, **BF16)
    images = torch.randn(16, 3, 256, 256, **FP32)

    def step():
        model.zero_grad()
        last.zero_grad()
        noise = torch.randn(images.shape, device="cuda") if mended else torch.randn(images.shape).cuda()
        noisy = (0.6 * images + 0.8 * noise).to(torch.bfloat16, memory_format=torch.channels_last)
        F.mse_loss(last(model(noisy)).float(), noise).backward()

    return step


FAULTS = frameworks_kernels.FAULTS + (
    loader_on_main, unfused_optimizer, clip_with_item, pageable_big_copy, eager_decoding, small_batch, cudnn_benchmark_sizes,
    logits_to_host, pinned_in_each_step, noise_from_cpu,
)


def graphed(step):
    """The step as a CUDA graph, captured on a side stream after four steps there."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(4):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        step()
    return graph.replay


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    faults = {fault.__name__: fault for fault in FAULTS}
    parser.add_argument("fault", choices=faults)
    parser.add_argument("--mended", action="store_true")
    again = {"compile": torch.compile, "graph": graphed}
    parser.add_argument("--again", choices=again, help="also do what findings on rows of kernels and on launches advise")
    parser.add_argument("--steps", type=int, help="40; 20 of cudnn_benchmark_sizes")
    asked = parser.parse_args()
    steps = asked.steps or (20 if asked.fault == "cudnn_benchmark_sizes" else 40)
    torch.manual_seed(0)
    work = faults[asked.fault](asked.mended)
    if asked.again:
        work = again[asked.again](work)

    def step():
        with torch.cuda.nvtx.range("step"):
            return work()

    # It waits for the GPU before the steps and after all of them, not in between.
    measured.loop(step, torch.cuda.synchronize, str(steps), every=steps)


if __name__ == "__main__":
    main()

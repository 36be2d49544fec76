# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs whose kernels do more than they need to; frameworks.py runs them.

Each function prepares one program and returns its step: with the fault, or without it if mended.
"""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

BF16 = {"device": "cuda", "dtype": torch.bfloat16}
FP32 = {"device": "cuda", "dtype": torch.float32}


class Block(nn.Module):
    """The feed-forward block of a transformer."""

    def __init__(self, width, **kind):
        super().__init__()
        self.norm = nn.LayerNorm(width, **kind)
        self.up = nn.Linear(width, 4 * width, **kind)
        self.down = nn.Linear(4 * width, width, **kind)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def blocks(count, width, **kind):
    return nn.Sequential(*(Block(width, **kind) for _ in range(count)))


def hand_attention(mended):
    """Attention as matmul, scale, mask, softmax and matmul; the mended one is one flash kernel."""
    batch, tokens, heads, width = 4, 2048, 16, 1024
    into, out = nn.Linear(width, 3 * width, **BF16), nn.Linear(width, width, **BF16)
    x, gradient = (torch.randn(batch, tokens, width, **BF16) for _ in range(2))
    future = torch.ones(tokens, tokens, device="cuda", dtype=torch.bool).triu(1)

    def attend(q, k, v):
        if mended:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        return scores.masked_fill(future, float("-inf")).softmax(-1) @ v

    def step():
        into.zero_grad()
        out.zero_grad()
        parts = into(x).chunk(3, dim=-1)
        q, k, v = (part.view(batch, tokens, heads, -1).transpose(1, 2) for part in parts)
        y = attend(q, k, v).transpose(1, 2).reshape(batch, tokens, width)
        out(y).backward(gradient)

    return step


def nchw_convolutions(mended):
    """FP16 convolutions of NCHW tensors, which cuDNN converts; the mended ones are channels_last."""
    layout = torch.channels_last if mended else torch.contiguous_format
    layers = [nn.Sequential(nn.Conv2d(128, 128, 3, padding=1), nn.ReLU()) for _ in range(6)]
    model = nn.Sequential(*layers).cuda().half().to(memory_format=layout)
    images = torch.randn(128, 128, 56, 56, device="cuda").half().to(memory_format=layout)
    gradient = torch.randn_like(images)

    def step():
        model.zero_grad()
        model(images).backward(gradient)

    return step


def repeated_cast(mended):
    """Autocast converts the FP32 weights in every step; the mended model is converted once."""
    layers = [nn.Linear(4096, 4096, **FP32) for _ in range(40)]
    model = nn.Sequential(*layers)
    x = torch.randn(512, 4096, **BF16)
    if mended:
        model.bfloat16()

    @torch.no_grad()
    def step():
        if mended:
            return model(x)
        with torch.autocast("cuda", torch.bfloat16):
            return model(x)

    return step


def odd_vocabulary(mended):
    """50,257 columns, which no tile divides and whose rows are not aligned; mended: 50,304."""
    head = nn.Linear(768, 50304 if mended else 50257, bias=False, **BF16)
    x = torch.randn(8192, 768, requires_grad=True, **BF16)
    targets = torch.randint(50257, (8192,), device="cuda")

    def step():
        head.zero_grad()
        x.grad = None
        F.cross_entropy(head(x), targets).backward()

    return step


def growing_cat(mended):
    """A cache of keys and values that torch.cat copies for each token; mended: preallocated."""
    batch, heads, size, prompt, room = 32, 16, 64, 2000, 1200
    shape = (batch, heads, prompt, size)
    layers = [[torch.randn(shape, **BF16) for _ in range(2)] for _ in range(4)]
    if mended:
        layers = [[F.pad(part, (0, 0, 0, room)) for part in layer] for layer in layers]
    filled = prompt

    def extend(layer, news):
        if not mended:
            layer[:] = [torch.cat([old, new], dim=2) for old, new in zip(layer, news)]
            return layer
        for part, new in zip(layer, news):
            part[:, :, filled : filled + 1] = new
        return [part[:, :, : filled + 1] for part in layer]

    @torch.no_grad()
    def step():
        nonlocal filled
        for _ in range(8):
            x = torch.randn(batch, heads, 1, size, **BF16)
            for layer in layers:
                keys, values = extend(layer, (x, x))
                x = (x @ keys.transpose(-2, -1) / size**0.5).softmax(-1) @ values  # SDPA takes 12 ms for one row
            filled += 1
        return x

    return step


def layer_norm_by_hand(mended):
    """Layer norm as ten operations, most of them in FP32, on rows in BF16; the mended one is one kernel."""
    width = 4096
    layers = [nn.Linear(width, width, **BF16) for _ in range(4)]
    scale, shift = torch.randn(width, **BF16), torch.randn(width, **BF16)
    rows = torch.randn(8192, width, **BF16)

    def norm(x):
        if mended:
            return F.layer_norm(x, (width,), scale, shift)
        x = x.float()
        centered = x - x.mean(-1, keepdim=True)
        variance = centered.square().mean(-1, keepdim=True)
        return (centered / torch.sqrt(variance + 1e-5)).bfloat16() * scale + shift

    @torch.no_grad()
    def step():
        x = rows
        for layer in layers:
            x = layer(norm(x))
        return x

    return step


def fp64_chain(mended):
    """NumPy's doubles make all that follows FP64; the mended program converts them to FP32."""
    ramp = torch.from_numpy(np.linspace(0.5, 1.5, 4096)).cuda()
    offset = torch.from_numpy(np.cos(np.arange(4096.0))).cuda()
    if mended:
        ramp, offset = ramp.float(), offset.float()
    scores = torch.randn(8192, 4096, **FP32)

    @torch.no_grad()
    def step():
        for _ in range(4):
            weights = ((scores * ramp + offset) * 0.125).clamp(-4, 4).softmax(-1)
        return weights

    return step


def same_input_products(mended):
    """One product for each of 96 heads, all of the same input; mended: one product for all."""
    heads, width = 96, 1024
    layers = []
    for _ in range(3):
        weights = [torch.randn(64, width, **BF16) / 32 for _ in range(heads)]
        layers.append(([torch.cat(weights)] if mended else weights, nn.Linear(64 * heads, width, **BF16)))
    tokens = torch.randn(2048, width, **BF16)

    @torch.no_grad()
    def step():
        x = tokens
        for weights, back in layers:
            outputs = [F.linear(x, weight) for weight in weights]
            x = back(outputs[0] if mended else torch.cat(outputs, dim=-1))
        return x

    return step


def scatter_into_four(mended):
    """scatter_add of 8 million values into four sums, whose atomics collide; mended: four sums."""
    values = torch.rand(8_000_000, **FP32)
    groups = torch.randint(4, (8_000_000,), device="cuda")

    @torch.no_grad()
    def step():
        if mended:
            return torch.stack([torch.where(groups == group, values, 0.0).sum() for group in range(4)])
        return torch.zeros(4, **FP32).scatter_add_(0, groups, values)

    return step


def masked_loss(mended):
    """Rows are selected by a boolean mask, which waits and copies; mended: ignore_index."""
    head = nn.Linear(1024, 32000, bias=False, **BF16)
    x = torch.randn(8192, 1024, requires_grad=True, **BF16)
    targets = torch.randint(32000, (8192,), device="cuda")
    is_padding = torch.rand(8192, device="cuda") < 0.2
    ignoring = targets.masked_fill(is_padding, -100)

    def step():
        head.zero_grad()
        x.grad = None
        logits = head(x)
        if mended:
            loss = F.cross_entropy(logits, ignoring, ignore_index=-100)
        else:
            loss = F.cross_entropy(logits[~is_padding], targets[~is_padding])
        loss.backward()

    return step


def index_by_arange(mended):
    """Windows that are copied by a list of neighboring indices; the mended ones are views."""
    signal = torch.randn(64, 8192, 256, **FP32)
    windows = [(begin, 4096) for begin in range(0, 4096, 512)]

    def window(begin, length):
        if mended:
            return signal[:, begin : begin + length]
        return signal.index_select(1, torch.arange(begin, begin + length, device="cuda"))

    @torch.no_grad()
    def step():
        return torch.stack([window(*which).mean(1) for which in windows])

    return step


def transposed_weights(mended):
    """Weights are transposed in memory before each product, which takes them either way."""
    layers = [torch.randn(4096, 16384, **BF16) / 64 for _ in range(16)]
    x = torch.randn(512, 16384, **BF16)

    @torch.no_grad()
    def step():
        return sum((x @ (layer.t() if mended else layer.t().contiguous())).mean() for layer in layers)

    return step


def rotary_in_each_layer(mended):
    """Each layer computes the same cosines and sines again; mended: once, before the steps."""
    batch, heads, tokens, size, layers = 8, 4, 4096, 128, 16
    positions = torch.arange(tokens, device="cuda").expand(batch, tokens)
    start = torch.randn(batch, heads, tokens, size, **BF16)

    def table():
        rates = 10000.0 ** (-torch.arange(0, size, 2, device="cuda") / size)
        angles = positions[:, None, :, None].float() * rates
        angles = torch.cat([angles, angles], dim=-1)
        return angles.cos().bfloat16(), angles.sin().bfloat16()

    kept = table()

    @torch.no_grad()
    def step():
        x = start
        for _ in range(layers):
            cosine, sine = kept if mended else table()
            first, second = x.chunk(2, dim=-1)
            x = x * cosine + torch.cat([-second, first], dim=-1) * sine
        return x

    return step


def one_hot_embedding(mended):
    """Rows of a table are looked up by a product with one-hot rows; mended: F.embedding."""
    table = torch.randn(50304, 768, **BF16)
    model = blocks(4, 768, **BF16)
    tokens = torch.randint(50304, (8192,), device="cuda")

    @torch.no_grad()
    def step():
        if mended:
            return model(F.embedding(tokens, table))
        return model(F.one_hot(tokens, 50304).bfloat16() @ table)

    return step


def sort_for_best(mended):
    """All logits are sorted for the best forty; mended: topk."""
    head = nn.Linear(1024, 50304, bias=False, **BF16)
    x = torch.randn(512, 1024, **BF16)

    @torch.no_grad()
    def step():
        logits = head(x).float()
        if mended:
            best, which = logits.topk(40)
        else:
            best, which = (part[:, :40] for part in logits.sort(dim=-1, descending=True))
        chances = best.softmax(-1) / torch.empty_like(best).exponential_()
        return which.gather(1, chances.argmax(-1, keepdim=True))

    return step


def padded_batch(mended):
    """63 short sequences are padded to the length of a long one; the mended ones are packed."""
    lengths = [2048] + [192 + 4 * number for number in range(63)]
    sequences = [torch.randn(length, 1024, **BF16) for length in lengths]
    model = blocks(4, 1024, **BF16)

    @torch.no_grad()
    def step():
        if mended:
            return model(torch.cat(sequences))
        return model(nn.utils.rnn.pad_sequence(sequences, batch_first=True))

    return step


FAULTS = (
    hand_attention, nchw_convolutions, repeated_cast, odd_vocabulary, growing_cat, layer_norm_by_hand, fp64_chain,
    same_input_products, scatter_into_four, masked_loss, index_by_arange, transposed_weights, rotary_in_each_layer,
    one_hot_embedding, sort_for_best, padded_batch,
)

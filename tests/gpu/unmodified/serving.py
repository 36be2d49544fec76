# SPDX-License-Identifier: Apache-2.0
"""A serving loop: each step copies its inputs from pageable memory, replays the CUDA graph of its batch size and reads the tokens; each eighth step first computes a prompt launch by launch: serving.py LIMIT"""

import torch
from torch.nn import functional

import measured

WIDTH, HEADS, LAYERS, CONTEXT, VOCABULARY = 1024, 16, 16, 256, 8192
BATCHES, SMALL_INPUTS, PROMPT = (1, 2, 4, 8, 12, 16), 12, 96

torch.manual_seed(0)


class Block(torch.nn.Module):
    """Attention over a cache of CONTEXT tokens for each request, and an MLP."""

    def __init__(self):
        super().__init__()
        self.norm, self.norm_mlp = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.up, self.down = torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.Linear(4 * WIDTH, WIDTH)
        self.register_buffer("keys", torch.randn(max(BATCHES), HEADS, CONTEXT, WIDTH // HEADS) * 0.1)
        self.register_buffer("values", torch.randn(max(BATCHES), HEADS, CONTEXT, WIDTH // HEADS) * 0.1)

    def heads_of(self, x):
        return (part.reshape(*x.shape[:2], HEADS, -1).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, dim=-1))

    def mlp(self, x):
        return x + self.down(functional.gelu(self.up(self.norm_mlp(x))))

    def forward(self, x, position, seen):
        query, key, value = self.heads_of(x)
        batch = x.shape[0]
        self.keys[:batch].index_copy_(2, position, key)
        self.values[:batch].index_copy_(2, position, value)
        mixed = functional.scaled_dot_product_attention(query, self.keys[:batch], self.values[:batch], attn_mask=seen)
        return self.mlp(x + self.out(mixed.transpose(1, 2).reshape(x.shape)))

    def prompt(self, x):
        query, key, value = self.heads_of(x)
        return self.mlp(x + self.out(functional.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).reshape(x.shape)))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.blocks = torch.nn.Embedding(VOCABULARY, WIDTH), torch.nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, position, seen):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, position, seen)
        return self.head(self.norm(x))[:, -1].argmax(-1)

    def prompt(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block.prompt(x)
        return self.head(self.norm(x))[:, -1].argmax(-1)


class Decoding:
    """The graph for one batch size, and what it reads and writes."""

    def __init__(self, model, batch):
        self.tokens = torch.zeros(batch, 1, dtype=torch.long, device="cuda")
        self.position = torch.zeros(1, dtype=torch.long, device="cuda")
        self.seen = torch.zeros(batch, 1, 1, CONTEXT, dtype=torch.bool, device="cuda")
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            model(self.tokens, self.position, ~self.seen)
        aside.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.next = model(self.tokens, self.position, self.seen)

    def step(self, number):
        position = number % CONTEXT
        self.tokens.copy_((torch.arange(len(self.tokens)) * 37 + number).remainder(VOCABULARY).unsqueeze(1))
        self.position.copy_(torch.tensor([position]))
        self.seen.copy_((torch.arange(CONTEXT) <= position).expand(self.seen.shape).contiguous())
        for place in range(SMALL_INPUTS):
            small_inputs[place].copy_(torch.tensor([number, place]))
        self.graph.replay()
        return sum(self.next.tolist())


small_inputs = torch.zeros(SMALL_INPUTS, 2, dtype=torch.long, device="cuda")
with torch.no_grad():
    with torch.device("cuda"):
        model = Model().to(torch.bfloat16).eval()
    decodings = [Decoding(model, batch) for batch in BATCHES]
prompt = torch.arange(PROMPT, device="cuda").unsqueeze(0)
number = total = 0


@torch.no_grad()
def step():
    global number, total
    if number % 8 == 0:
        total += int(model.prompt(prompt))
    total += decodings[(number // 8) % len(decodings)].step(number)
    number += 1


measured.loop(step, torch.cuda.synchronize, measured.limit("3000"), every=1, warm_up=100)
print("checksum", total)

# SPDX-License-Identifier: Apache-2.0
"""A small Llama that generates 256 tokens, launch by launch; a step is one such text: llama.py LIMIT"""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import measured

torch.manual_seed(0)
config = LlamaConfig(vocab_size=32000, hidden_size=512, intermediate_size=1376, num_hidden_layers=8, num_attention_heads=8, num_key_value_heads=8, max_position_embeddings=1024)
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
prompt = torch.randint(0, 32000, (1, 16), device="cuda")


def step():
    with torch.no_grad():
        return model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=256, min_new_tokens=256, do_sample=False, pad_token_id=0)


text = measured.loop(step, torch.cuda.synchronize, measured.limit("1"), every=1, warm_up=1)
print("checksum", int((text * torch.arange(1, text.shape[1] + 1, device="cuda")).sum()))

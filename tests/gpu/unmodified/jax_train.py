# SPDX-License-Identifier: Apache-2.0
"""A small transformer in training with JAX, compiled: jax_train.py LIMIT"""

import jax
import jax.numpy as jnp

import measured

WIDTH, HEADS, LAYERS, BATCH, LENGTH = 512, 8, 4, 16, 128


def new_layer(key):
    shapes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    keys = jax.random.split(key, len(shapes))
    return {name: 0.02 * jax.random.normal(k, shape) for k, (name, shape) in zip(keys, shapes.items())}


def normed(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def layer(w, x):
    q, k, v = jnp.split((normed(x) @ w["qkv"]).reshape(BATCH, LENGTH, HEADS, -1), 3, axis=-1)
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ w["out"]
    return x + jax.nn.gelu(normed(x) @ w["up"]) @ w["down"]


def loss_of(weights, x):
    y = x
    for w in weights:
        y = layer(w, y)
    return jnp.mean((y - jnp.roll(x, 1, axis=1)) ** 2)


@jax.jit
def update(weights, x):
    loss, gradients = jax.value_and_grad(loss_of)(weights, x)
    return jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradients), loss


state = [new_layer(key) for key in jax.random.split(jax.random.key(0), LAYERS)]
data = jax.random.normal(jax.random.key(1), (BATCH, LENGTH, WIDTH))
loss = None


def step():
    global state, loss
    state, loss = update(state, data)
    return loss


measured.loop(step, lambda: loss.block_until_ready(), measured.limit("4000"), every=50)
print("checksum", repr(float(loss)))

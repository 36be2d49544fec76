#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JAX with libgpuprof: a compiled step, what it launches, and how far its kernels are from the roof. Run it:

  pip install "jax[cuda13]" libgpuprof
  python3 python_jax_step.py
"""
import sys

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    sys.exit("python_jax_step: JAX is not installed here: pip install 'jax[cuda13]'")
import libgpuprof as gp

if jax.default_backend() != "gpu":
    print("python_jax_step: no GPU to work on", file=sys.stderr)
    sys.exit(77)


def main():
    @jax.jit
    def step(weights, batch):
        return weights - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(batch @ w) ** 2))(weights)

    weights, batch = jnp.ones((2048, 2048)), jnp.ones((4096, 2048))
    weights = step(weights, batch).block_until_ready()  # compiled outside of the capture
    with gp.profile("jax.gpuprof", metrics="auto", force_overwrite=True) as prof:
        for _ in range(50):
            with gp.range("step"):
                weights = step(weights, batch).block_until_ready()
    if prof.path is None:
        sys.exit("python_jax_step: nothing was recorded: see the lines above")
    print(prof.run.stats("cuda_gpu_kern_sum"))
    try:
        print(prof.run.roofline())
    except gp.Error as why:  # the program was too short for counters
        print(why)


if __name__ == "__main__":
    main()

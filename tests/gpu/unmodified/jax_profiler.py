# SPDX-License-Identifier: Apache-2.0
"""The same with JAX's profiler: jax_profiler.py sessions|plain"""

import gzip
import json
import pathlib
import sys
import tempfile

import jax
import jax.numpy as jnp

a = jnp.ones((1024, 1024))
step = jax.jit(lambda x: jnp.tanh(x @ a) * 0.5)
x = step(a).block_until_ready()


def work(times):
    global x
    for _ in range(times):
        x = step(x)
    x.block_until_ready()


def gpu_events(folder):
    file = next(pathlib.Path(folder).glob("**/*.trace.json.gz"))
    events = json.loads(gzip.open(file).read())["traceEvents"]
    gpus = {e["pid"] for e in events if e.get("name") == "process_name" and "GPU" in e["args"]["name"]}
    return [e for e in events if e.get("ph") == "X" and e.get("pid") in gpus and "correlation_id" in e.get("args", {})]


work(200)
for number in range(2):
    if sys.argv[1] == "sessions":
        folder = tempfile.mkdtemp()
        jax.profiler.start_trace(folder)
        work(300)
        jax.profiler.stop_trace()
        events = gpu_events(folder)
        print(f"session{number}_kernels", len(events))
        print(f"session{number}_names", len({e["name"] for e in events}))
        print(f"session{number}_gpu_us", sum(e["dur"] for e in events))
    else:
        work(300)
    work(200)

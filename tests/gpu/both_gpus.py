# SPDX-License-Identifier: Apache-2.0
"""Products on all GPUs at once, a thread each: both_gpus.py SECONDS"""

import sys
import threading
import time

import torch


def multiply(device, seconds):
    torch.cuda.set_device(device)
    generator = torch.Generator(device=f"cuda:{device}").manual_seed(device)
    a = torch.randn(2048, 2048, device=f"cuda:{device}", dtype=torch.bfloat16, generator=generator)
    first = (a @ a).float().sum().item()
    begin = time.perf_counter()
    launches = 0
    while time.perf_counter() - begin < seconds:
        for _ in range(100):
            b = a @ a
        torch.cuda.synchronize(device)
        launches += 100
    same = b.float().sum().item() == first
    print(f"launches{device} {launches + 1}\nsame{device} {int(same)}", flush=True)


threads = [threading.Thread(target=multiply, args=(device, float(sys.argv[1]))) for device in range(torch.cuda.device_count())]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

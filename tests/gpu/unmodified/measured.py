# SPDX-License-Identifier: Apache-2.0
"""Runs a program's step as often, or for as long, as the command line says, and prints what that took as "name value" lines."""

import sys
import time


def limit(otherwise):
    """The first argument: 60 is a number of steps, 5s a number of seconds."""
    return sys.argv[1] if len(sys.argv) > 1 else otherwise


def loop(step, wait, asked, every=10, warm_up=3):
    """Calls step, and wait (for the GPU) after every so many; the result of the last step."""
    for _ in range(warm_up):
        result = step()
    wait()
    is_time = asked.endswith("s")
    most = float(asked.rstrip("s"))
    times, steps, begin = [], 0, time.perf_counter()
    while (time.perf_counter() - begin if is_time else steps) < most:
        start, count = time.perf_counter(), every if is_time else min(every, int(most) - steps)
        for _ in range(count):
            result = step()
        wait()
        times.append((time.perf_counter() - start) / count)
        steps += count
    report(steps, time.perf_counter() - begin, times)
    return result


def report(steps, seconds, times):
    print("steps", steps)
    print("seconds", f"{seconds:.6f}")
    print("step_ms", f"{1e3 * sorted(times)[len(times) // 2]:.6f}")
    print("p999_ms", f"{1e3 * sorted(times)[len(times) * 999 // 1000]:.6f}", flush=True)


def parameters_sum(model):
    """One number that any changed bit of the parameters is likely to change."""
    return repr(sum(float(parameter.detach().double().abs().sum()) for parameter in model.parameters()))

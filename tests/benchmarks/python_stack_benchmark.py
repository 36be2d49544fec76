#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what the Python stack of a launch costs, without a GPU: the reader of gpuprof on real frames of this Python.

  python_stack_benchmark.py MODULE [MODULE ...]     build/ci/tests/benchmarks/libpython_stack_module.so, also of other builds

Several modules are measured in turns. Prints ns: of five rounds the median, each of which is the median of 2,000 stacks. Between
two stacks the program does nothing else (hot), or it reads as much other memory as fills the first level of caches (L1).
"""
import ctypes
import functools
import os
import statistics
import sys
import time

DEPTHS = 5, 25, 100
BETWEEN = {"hot": 0, "L1": 96 << 10}
ROUNDS, STACKS = 5, 2000


def function(name, body, file="/home/you/train.py", line=1):
    """A function with a code object of its own, and with as many locals as usual."""
    names = {}
    text = "\n" * line + f"def {name}(inner, x):\n a, b, c, d = x, x, x, x\n" + body
    exec(compile(text, file, "exec"), names)
    return names[name]


class Module:
    """Calls as torch.nn.Module does; gpuprof knows the function by its name and file."""

    def __init__(self, forward):
        self._modules, self.forward = {}, forward


MODULE = '''
def _wrapped_call_impl(self, *words): return self._call_impl(*words)
def _call_impl(self, *words): return self.forward(*words)
'''


def with_modules():
    names = {"__name__": "torch.nn.modules.module"}
    text = "class Module:\n" + "".join(" " + line + "\n" for line in MODULE.strip().splitlines())
    exec(compile(text, "/usr/lib/python3/dist-packages/torch/nn/modules/module.py", "exec"), names)
    Module._wrapped_call_impl = names["Module"]._wrapped_call_impl
    Module._call_impl = names["Module"]._call_impl
    Module.__call__ = Module._wrapped_call_impl


def nested(depth, innermost, given, modules):
    """A call through `depth` frames, the innermost included. Every fifth one is called by C, as functools.partial does."""
    chain, used, outer = (innermost, given), 1, None
    while used < depth:
        made = function(f"level_{used}", " return inner[0](inner[1], x)\n", line=used)
        if modules and used % 8 == 3 and used + 3 <= depth:
            module = Module(made)
            module._modules["inner"] = outer or Module(made)
            chain, used, outer = (module, chain), used + 3, module
        else:
            chain, used = (functools.partial(made) if used % 5 == 0 else made, chain), used + 1
    return lambda x: chain[0](chain[1], x)


def frames():
    frame, count = sys._getframe(1), 0
    while frame:
        frame, count = frame.f_back, count + 1
    return count


def fresh(inner, x):
    """Calls from lines that have not been there before."""
    function("fresh", " inner[0](x)\n" * (inner[1] // 8))(inner, x)


def innermost_loops(library):
    """The innermost functions of each case and what they are given."""
    read = library.read_stack
    loop = function("loop", " for _ in range(inner[1]): inner[0](x)\n")
    turns = [function(f"turn_{i}", " inner(x)\n", line=i) for i in range(10)]
    turn = function("turn", " for i in range(inner[2]): inner[1][i % 10](inner[0], x)\n")
    lines = function("lines", " for _ in range(inner[1] // 40):\n" + "  inner[0](x)\n" * 40)
    return {"one stack": (loop, (read, STACKS)), "ten in turns": (turn, (read, turns, STACKS)), "next line": (lines, (read, STACKS)),
            "new stack": (fresh, (read, STACKS))}


def main(paths):
    libraries = {}
    for path in paths:
        library = libraries[path] = ctypes.CDLL(os.path.abspath(path))
        library.read_stack.argtypes = (ctypes.c_size_t,)
        library.median_ticks.restype = ctypes.c_double
        library.ticks_now.restype = ctypes.c_ulonglong
        if not library.begin_stacks():
            return 1
    with_modules()
    begin, ticks = time.perf_counter(), library.ticks_now()
    time.sleep(0.2)
    ns_a_tick = (time.perf_counter() - begin) * 1e9 / (library.ticks_now() - ticks)
    print(f"{'frames':>6} {'case':18} {'between':4}" + "".join(f" {'module ' + str(i + 1):>9}" for i in range(len(paths))) + "   ns")
    for depth in DEPTHS:
        for modules in (False, True) if depth > 5 else (False,):
            cases = {path: {name: nested(depth - frames() - 1, *innermost, modules) for name, innermost in innermost_loops(library).items()}
                     for path, library in libraries.items()}
            for name in next(iter(cases.values())):
                for between, size in BETWEEN.items():
                    found = {path: [] for path in paths}
                    for _ in range(ROUNDS):
                        for path, library in libraries.items():
                            cases[path][name](size)
                            found[path].append(library.median_ticks() * ns_a_tick)
                    label = name + (" +mod" if modules else "")
                    print(f"{depth:6} {label:18} {between:4}" + "".join(f" {statistics.median(found[path]):9.1f}" for path in paths), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

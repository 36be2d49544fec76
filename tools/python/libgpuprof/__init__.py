# SPDX-License-Identifier: Apache-2.0
"""libgpuprof: what CUDA programs do, and how far they are from what the GPU can do.

    import libgpuprof as gp

    with gp.profile("run.gpuprof", metrics="auto") as prof:
        for batch in loader:
            with gp.range("forward"):
                loss = model(batch)
            prof.step()

    run = gp.open("run.gpuprof")
    print(run.analyze())
    frame = run.kernels.to_pandas()

Importing it loads no CUDA, starts nothing and takes a few milliseconds: each part is loaded when it is first used.
"""
import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # what __getattr__ gives, for tools that do not run it
    from typing import Any, List

    from . import captures, live, magics, profiling, ranges, reports, torch
    from ._files import Error
    from .captures import Run, Table, compare, open
    from .live import capture_path, flush, is_capturing, last_message, metrics, peaks, start, status, step, stop, totals
    from .profiling import profile, schedule
    from .ranges import mark, range

__version__ = "0.1.0"

_places = {  # name: the module that has it
    "open": "captures", "compare": "captures", "Run": "captures", "Table": "captures",
    "profile": "profiling", "schedule": "profiling",
    "range": "ranges", "mark": "ranges",
    "start": "live", "stop": "live", "flush": "live", "step": "live", "is_capturing": "live", "capture_path": "live",
    "totals": "live", "metrics": "live", "peaks": "live", "status": "live", "last_message": "live",
    "Error": "_files"}
_modules = ("captures", "live", "magics", "profiling", "ranges", "reports", "torch")
__all__ = ["open", "compare", "Run", "Table", "profile", "schedule", "range", "mark", "start", "stop", "flush", "step", "is_capturing",
           "capture_path", "totals", "metrics", "peaks", "status", "last_message", "Error", "prefix"]


def __getattr__(name: str) -> "Any":
    import importlib
    if name in _places:
        value = getattr(importlib.import_module("." + _places[name], __name__), name)
    elif name in _modules:
        return importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> "List[str]":
    return sorted([*globals(), *__all__, *_modules])


def prefix() -> str:
    """The folder that holds lib/, include/ and bin/: for CMAKE_PREFIX_PATH, and LD_PRELOAD in scripts."""
    return os.path.dirname(os.path.abspath(__file__))


def load_ipython_extension(shell: "Any") -> None:
    """%load_ext libgpuprof: the magics %gpuprof and %%gpuprof."""
    from . import magics
    magics.load_ipython_extension(shell)

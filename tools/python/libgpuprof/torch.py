# SPDX-License-Identifier: Apache-2.0
"""torch.profiler's names over libgpuprof: one import line changes, and the script still runs.

    from libgpuprof.torch import profile, record_function, schedule, ProfilerActivity, tensorboard_trace_handler

Recorded are kernels, copies, CUDA calls that block, and the ranges of record_function; not the operators of PyTorch. What an argument
asks for and is not recorded is said in a warning; a method that cannot answer raises NotImplementedError. Both say what to use instead.
Does not import torch.
"""
import enum
import os
import socket
import time
import warnings
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

from . import _files, profiling, ranges, reports
from .profiling import Action as ProfilerAction

__all__ = ["profile", "schedule", "record_function", "ProfilerActivity", "ProfilerAction", "tensorboard_trace_handler"]


class ProfilerActivity(enum.Enum):
    """Kinds that a script may name. Work of GPUs, calls that block and ranges are always recorded, other kinds never."""
    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    HPU = 4
    PrivateUse1 = 5


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:
    """As torch.profiler.schedule. Steps of `warmup` are not recorded; nothing is slower in them.

    Raises:
        ValueError: it records nothing, or a number is negative.
    """
    made = profiling.schedule(wait, warmup, active, repeat, skip_first)
    if not skip_first_wait:
        return made

    def without_first_wait(step: int) -> ProfilerAction:
        return made(step + wait) if step >= skip_first else ProfilerAction.NONE
    return without_first_wait


class record_function(ranges.range):
    """As torch.profiler.record_function, with 0.1 us in place of 5: a context manager or decorator. `args` is not recorded."""
    __slots__ = ()

    def __new__(cls, name: str, args: Optional[str] = None) -> "record_function":
        return super().__new__(cls)

    def __init__(self, name: str, args: Optional[str] = None) -> None:
        super().__init__(name)


_instead = {
    "record_shapes": "shapes of tensors are not recorded: `gpuprof stats -r cuda_gpu_kern_gb_sum` tells launches apart by grid and block",
    "profile_memory": "the allocator of PyTorch is not looked into: trace='cuda,nvtx,blocking,cuda-memory' records the driver's allocations",
    "with_stack": "stacks are not recorded: put `with record_function(...)` around the lines in question",
    "with_flops": "operators are not counted: metrics='auto' counts the FLOP of each kernel in hardware, and prof.run.roofline() shows them",
    "with_modules": "modules are not recorded: put `with record_function(...)` around them",
    "execution_trace_observer": "execution traces are not written: torch.profiler does that beside this profile",
    "experimental_config": "settings of Kineto have no meaning here: options of `gpuprof profile` are arguments, e.g. trace='cuda,nvtx,sync'",
    "custom_trace_id_callback": "traces have no id of their own"}


class Average(Dict[str, Any]):
    """All calls of one name. Times are us."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name.replace("cuda_", "device_")]  # the older names of torch
        except KeyError:
            raise AttributeError(f"{name} is not recorded; there are {', '.join(self)}") from None


_sort_names = {"cpu_time": "cpu_time_total", "cuda_time": "device_time_total", "device_time": "device_time_total",
               "self_cuda_time": "self_device_time_total", "self_device_time": "self_device_time_total", "self_cpu_time": "self_cpu_time_total"}


class Averages(List[Average]):
    """As torch's EventList of averages: kernels, copies, ranges and CUDA calls by name."""

    def table(self, sort_by: Optional[str] = None, row_limit: int = 100, max_src_column_width: int = 75, max_name_column_width: int = 55,
              max_shapes_column_width: int = 80, header: Optional[str] = None, top_level_events_only: bool = False,
              time_unit: Optional[str] = None) -> str:
        """A table as torch's, the greatest first.

        Args:
            sort_by: cpu_time_total, self_cpu_time_total, cuda_time_total, self_cuda_time_total (also with "device"), count; None: as they came.
            row_limit: at most so many rows; -1: all.

        Raises:
            ValueError: another column.
        """
        rows = list(self)
        if sort_by is not None:
            name = sort_by.replace("cuda_", "device_")
            name = _sort_names.get(name, name)
            if rows and name not in rows[0]:
                raise ValueError(f"cannot sort by {sort_by!r}: there are {', '.join(name for name in rows[0] if name != 'key')}")
            rows.sort(key=lambda row: -row[name])
        if top_level_events_only:
            rows = [row for row in rows if row["kind"] == "range"]
        total = sum(row["self_device_time_total"] for row in self)
        shown = reports.Rows(({"Name": _cut(row["key"], max_name_column_width), "CPU total": _time(row["cpu_time_total"]),
                               "CPU avg": _time(row["cpu_time_total"] / max(row["count"], 1)), "Self CUDA": _time(row["self_device_time_total"]),
                               "Self CUDA %": f"{100 * row['self_device_time_total'] / total:.2f}%" if total else "",
                               "CUDA total": _time(row["device_time_total"]), "CUDA avg": _time(row["device_time_total"] / max(row["count"], 1)),
                               "# of Calls": row["count"]} for row in (rows if row_limit < 0 else rows[:row_limit])))
        lines = [header] if header else []
        return "\n".join([*lines, repr(shown), f"Self CUDA time total: {_time(total)}"])

    def total_average(self) -> Average:
        """All of them together."""
        return Average({name: sum(row[name] for row in self) for name in ("count", "cpu_time_total", "self_device_time_total")}, key="Total")

    def __str__(self) -> str:
        return self.table()


def _cut(text: str, width: Optional[int]) -> str:
    return text if not width or len(text) <= width else text[:width - 3] + "..."


def _time(us: float) -> str:
    return f"{us / 1e6:.3f}s" if us >= 1e6 else f"{us / 1e3:.3f}ms" if us >= 1e3 else f"{us:.3f}us"


class profile(profiling.profile):
    """As torch.profiler.profile. ``prof.run`` is the capture, to read with all that libgpuprof has.

    Args:
        activities, schedule, on_trace_ready: as in torch.
        record_shapes, profile_memory, with_stack, with_flops, with_modules, experimental_config, execution_trace_observer: not recorded; a
            warning says what to use instead.
        output: the file of the capture; None: "report1.gpuprof" and so on.
        **options: those of `gpuprof profile`: ``metrics="auto"``.
    """

    def __init__(self, *, activities: Optional[Iterable[Any]] = None, schedule: Optional[Callable[[int], Any]] = None,
                 on_trace_ready: Optional[Callable[[Any], Any]] = None, record_shapes: bool = False, profile_memory: bool = False,
                 with_stack: bool = False, with_flops: bool = False, with_modules: bool = False, experimental_config: Any = None,
                 execution_trace_observer: Any = None, acc_events: bool = False, use_cuda: Optional[bool] = None,
                 custom_trace_id_callback: Any = None, output: Union[str, "os.PathLike[str]", None] = None, **options: Any) -> None:
        asked = {"record_shapes": record_shapes, "profile_memory": profile_memory, "with_stack": with_stack, "with_flops": with_flops,
                 "with_modules": with_modules, "experimental_config": experimental_config,
                 "execution_trace_observer": execution_trace_observer, "custom_trace_id_callback": custom_trace_id_callback}
        for name, value in asked.items():
            if value:
                warnings.warn(f"{name}: {_instead[name]}", RuntimeWarning, stacklevel=2)
        super().__init__(output, schedule=schedule, on_ready=on_trace_ready, **options)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False) -> Averages:
        """Kernels, copies, ranges and CUDA calls by name.

        Raises:
            NotImplementedError: by shapes or stacks, which are not recorded.
            FileNotFoundError: nothing was recorded.
        """
        if group_by_input_shape:
            raise NotImplementedError(_instead["record_shapes"])
        if group_by_stack_n:
            raise NotImplementedError(_instead["with_stack"])
        run = self.run
        found = Averages()
        in_ranges: Dict[str, float] = {}
        for row in _stats(run, "nvtx_kern_sum"):
            in_ranges[row["NVTX Range"]] = in_ranges.get(row["NVTX Range"], 0) + row["Total Time (ns)"] / 1e3
        for row in _stats(run, "nvtx_sum"):
            found.append(_average("range", row["Range"], row["Instances"], cpu=row["Total Time (ns)"], device=1e3 * in_ranges.get(row["Range"], 0)))
        for row in _stats(run, "cuda_api_sum"):
            found.append(_average("call", row["Name"], row["Num Calls"], cpu=row["Total Time (ns)"]))
        for row in _stats(run, "cuda_gpu_sum"):
            found.append(_average("work", row["Operation"], row["Instances"], device=row["Total Time (ns)"], own=row["Total Time (ns)"]))
        return found

    def export_chrome_trace(self, path: str) -> None:
        """Writes it as torch does, for ui.perfetto.dev, TensorBoard and HolisticTraceAnalysis; compressed where the name ends with .gz."""
        self.run.export("chrome", path, force_overwrite=True)

    def events(self) -> Any:
        """Raises NotImplementedError."""
        raise NotImplementedError("single events are in the tables of the capture: prof.run.kernels, .copies, .ranges, .calls")

    def export_stacks(self, path: str, metric: str = "self_cuda_time_total") -> None:
        """Raises NotImplementedError."""
        raise NotImplementedError(_instead["with_stack"])

    def export_memory_timeline(self, path: str, device: Optional[str] = None) -> None:
        """Raises NotImplementedError."""
        raise NotImplementedError(_instead["profile_memory"])

    def add_metadata(self, key: str, value: str) -> None:
        """Raises NotImplementedError."""
        raise NotImplementedError("labels are given when the profile begins: profile(..., label='size=4096')")

    def add_metadata_json(self, key: str, value: str) -> None:
        """Raises NotImplementedError."""
        self.add_metadata(key, value)

    def toggle_collection_dynamic(self, enable: bool, activities: Any) -> None:
        """Raises NotImplementedError."""
        raise NotImplementedError("gp.stop() and gp.start() end and begin a capture at any time")


def _stats(run: Any, report: str) -> Iterable[Any]:
    try:
        return list(run.stats(report))
    except _files.Error:  # the capture holds nothing for it
        return []


def _average(kind: str, key: str, count: int, cpu: float = 0, device: float = 0, own: float = 0) -> Average:
    return Average(key=key, kind=kind, count=count, cpu_time_total=cpu / 1e3, self_cpu_time_total=cpu / 1e3 if kind == "call" else 0.0,
                   device_time_total=device / 1e3, self_device_time_total=own / 1e3)


def tensorboard_trace_handler(dir_name: str, worker_name: Optional[str] = None, use_gzip: bool = False) -> Callable[[Any], None]:
    """As torch's: writes DIR/WORKER.TIME.pt.trace.json after each cycle. Each holds all that the process has recorded so far."""
    def handler(prof: Any) -> None:
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        prof.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")))
    return handler

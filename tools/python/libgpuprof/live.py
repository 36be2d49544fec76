# SPDX-License-Identifier: Apache-2.0
"""The capture of this process while it runs: start, stop, and what it has seen so far."""
import ctypes
import os
import threading
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Union

from . import _library, ranges
from .reports import Row, Rows

_settings: Dict[str, str] = {}  # those that the library of this process began with, by their variable
_began = False  # the library has read its settings
_lock = threading.Lock()


def _in_forked_child() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_in_forked_child)


def _variables(options: Dict[str, Any]) -> Dict[str, str]:
    """Options of `gpuprof profile` by the variables that the library reads."""
    found = {}
    for name, value in options.items():
        if value is None:
            continue
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        found["GPUPROF_" + name.upper()] = "yes" if value is True else "no" if value is False else text
    return found


class _environment:
    """Variables while the library has not read its settings."""

    def __init__(self, wanted: Dict[str, str], before: Optional[Dict[str, Optional[str]]]) -> None:
        self.wanted = dict(wanted)
        self.before = {name: os.environ.get(name) for name in wanted} | (before or {})

    def set(self) -> None:
        os.environ.update(self.wanted)

    def restore(self) -> None:
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


_pending: Optional[_environment] = None


def _say_what_is_not_changed(wanted: Dict[str, str]) -> None:
    different = [name for name, value in wanted.items() if _settings.get(name, os.environ.get(name)) != value]
    if not different:
        return
    words = ", ".join("--" + name[len("GPUPROF_"):].lower().replace("_", "-") for name in different)
    why = ("those of the first capture of this process hold" if _library.loaded_by_us()
           else f"{_library.path()} was loaded before, and its settings hold: give them to gpuprof profile")
    warnings.warn(f"{words}: cannot be set now, {why}", RuntimeWarning, stacklevel=4)


def _start(output: Union[str, "os.PathLike[str]", None] = None, **options: Any) -> bool:
    """As :func:`start`, without a warning."""
    global _began
    prepare(**options)
    library = _library.load()
    about = _library.Options(ctypes.sizeof(_library.Options), os.fsencode(os.path.abspath(output)) if output is not None else None)
    status = library.gpuprof_start(ctypes.byref(about))
    _began = True
    release_settings()
    ranges.attach()
    return bool(status == _library.OK)


def start(output: Union[str, "os.PathLike[str]", None] = None, **options: Any) -> bool:
    """Starts a capture: every kernel that is launched after it is recorded. Takes some 10 ms the first time.

    Args:
        output: the file; ".gpuprof" is added. None: GPUPROF_OUTPUT, else "report1.gpuprof" and so on. The first capture of a process
            chooses it; later ones go into the same file.
        **options: those of `gpuprof profile`, with underscores: ``metrics="auto"``, ``trace="cuda,nvtx,sync"``. They hold for the process:
            what differs at a later call is said in a warning, and not done.

    Returns:
        False if nothing can be recorded, for example in a forked child or in a process that ends; a RuntimeWarning says why. The
        program is not affected. True if a capture runs already.

    Raises:
        Error: the library cannot be loaded.
    """
    started = _start(output, **options)
    if not started:
        warnings.warn(f"no capture was started: {last_message()}", RuntimeWarning, stacklevel=2)
    return started


def last_message() -> str:
    """Returns why the last call on this thread could not do what it was asked for, as one line; "" if it could."""
    return _library.last_message()


def prepare(**options: Any) -> None:
    """Loads the library and settles its options, as :func:`start` does, without starting: CUDA that begins next starts no capture."""
    global _pending
    _library.load()
    wanted = _variables(options)
    with _lock:
        if _began or not _library.loaded_by_us():
            _say_what_is_not_changed(wanted)
            return
        if _pending is None:
            # The library reads settings when CUDA begins or a capture starts. A delay without end: else a capture would begin with CUDA.
            # With a capture range the library would stay on watch after stop(), and not leave CUPTI.
            _settings["GPUPROF_DELAY"] = "1000000000"
        _settings.update(wanted)
        before = _pending.before if _pending is not None else None
        _pending = _environment(_settings, before)
        _pending.set()
    ranges.attach()


def release_settings() -> None:
    """The variables of :func:`prepare` go: programs that are started from now on do not inherit them."""
    global _pending
    with _lock:
        if _pending is not None:
            _pending.restore()
            _pending = None


def stop() -> bool:
    """Ends the capture and waits until all it saw is in the file, 2 s at most (``flush_timeout_ms``). False where none was running, or
    where it took longer and goes on in the background."""
    library = _library.existing()
    return library is not None and library.gpuprof_stop() == _library.OK


def flush() -> bool:
    """Waits until all that the capture has seen so far is in the file. False where none is running, or it took more than 2 s."""
    library = _library.existing()
    return library is not None and library.gpuprof_flush() == _library.OK


def step() -> None:
    """The program begins its next step: call it at the beginning of each, and once after the last. Does nothing where the library is not
    in the process. Takes some 300 ns."""
    library = _library.existing()
    if library is not None:
        library.gpuprof_step()


def is_capturing() -> bool:
    """Returns True while a capture is running in this process."""
    library = _library.existing()
    return library is not None and bool(library.gpuprof_is_capturing())


def capture_path() -> Optional[str]:
    """The file of this process's captures; None while there is none."""
    library = _library.existing()
    length = library.gpuprof_capture_path(None, 0) if library is not None else 0
    if not length or library is None:
        return None
    text = ctypes.create_string_buffer(length + 1)
    library.gpuprof_capture_path(text, length + 1)
    return os.fsdecode(text.value)


class Totals(NamedTuple):
    """Counts and times of all that ran since the process began to capture, as of the last flush (every 500 ms)."""
    kernels: Rows  # name (mangled), count, total_ns, minimum_ns, maximum_ns
    copies: Rows  # kind (CUpti_ActivityMemcpyKind), is_fill, count, bytes, total_ns
    ranges: Rows  # name, count, cpu_ns, gpu_ns, gpu_operations
    counters: Dict[str, int]  # "lost.kernels", "cost.drain_cpu_ns" ...
    kernel_count: int
    kernel_ns: int

    def __repr__(self) -> str:
        return f"{self.kernel_count:,} kernels, {self.kernel_ns / 1e6:,.3f} ms on the GPU\n{self.kernels!r}"

    def _repr_html_(self) -> str:
        return f"<p>{self.kernel_count:,} kernels, {self.kernel_ns / 1e6:,.3f} ms on the GPU</p>{self.kernels._repr_html_()}"


def totals() -> Optional[Totals]:
    """Counts and times of kernels, copies and ranges so far. None where nothing has been captured in this process."""
    library = _library.existing()
    taken = ctypes.POINTER(_library.Totals)()
    if library is None or library.gpuprof_take_totals(ctypes.byref(taken)) != _library.OK:
        return None
    try:
        all_of = taken.contents
        kernels, copies, of_ranges = (Rows(_library.each_as_dict(all_of, name)) for name in ("kernels", "copies", "ranges"))
        counters = {row["name"]: row["value"] for row in _library.each_as_dict(all_of, "counters")}
        return Totals(kernels, copies, of_ranges, counters, all_of.kernel_count, all_of.kernel_ns)
    finally:
        library.gpuprof_release_totals(taken)


class Metrics(NamedTuple):
    """Figures of the last 10 seconds by range and kernel: launches, seconds, flops (FLOP/s), dram_bytes_per_second, occupancy (0 to 1),
    of_peak (0 to 1), bound_by ... A number that nobody counted is NaN."""
    all: Row
    ranges: Rows
    kernels: Rows
    has_peaks: bool
    readings: int

    def range(self, name: str) -> Optional[Row]:
        """The figures of the ranges of this name, "domain:name" or the bare name; None if no kernel ran in one."""
        return next((row for row in self.ranges if row["name"] == name), None)

    def __repr__(self) -> str:
        shown = ("name", "launches", "seconds", "flops", "dram_bytes_per_second", "occupancy", "of_peak", "bound_by")
        return f"{self.ranges.select(*shown)!r}\n\n{self.kernels.select(*shown)!r}"


def _achieved(struct: Any) -> Dict[str, Any]:
    return {**_library.as_dict(struct), "precisions": {row["name"]: row["flops"] for row in _library.each_as_dict(struct, "precisions")}}


def metrics() -> Optional[Metrics]:
    """Returns what hardware counters say of the last 10 seconds before the last flush, if the process was started with
    ``metrics="auto"`` or "sampled". Reads the end of the capture file, which takes some 0.2 s. Does not
    touch the GPU. None if nothing is counted; :func:`last_message` says why."""
    library = _library.existing()
    taken = ctypes.POINTER(_library.Metrics)()
    if library is None or library.gpuprof_take_metrics(ctypes.byref(taken)) != _library.OK:
        return None
    try:
        now = taken.contents
        of_ranges, kernels = (Rows(map(_achieved, _library.each(now, name))) for name in ("ranges", "kernels"))
        return Metrics(Row(_achieved(now.all.contents)), of_ranges, kernels, bool(now.has_peaks), now.readings)
    finally:
        library.gpuprof_release_metrics(taken)


_outcomes = {0: "unavailable", 1: "measured", 2: "failed"}


class Peaks(NamedTuple):
    """The measured peaks of a GPU; ``tests`` has name, title, unit, outcome ("measured", "failed", "unavailable"), burst, sustained, theory
    and more."""
    gpu: str
    uuid: str
    stored: bool  # stored results answered
    origin: str  # measured when, stored where
    remarks: List[str]
    tests: Rows

    def __repr__(self) -> str:
        shown = self.tests.select("name", "unit", "burst", "sustained", "theory", "remark")
        return "\n".join([f"{self.gpu}: {self.origin}", *self.remarks, repr(shown)])


def peaks(tests: Optional[str] = None, device: int = 0, quick: bool = False, force: bool = False, refresh: bool = False) -> Optional[Peaks]:
    """The peaks of a GPU: stored results, else measured now, which takes up to 3 s and 5 GiB of its memory.

    Args:
        tests: names of tests and groups, "tensor_bf16,dram_read"; None: all.
        device: as CUDA counts GPUs in this process.
        quick: fewer runs, no sustained figures.
        force: measure also while another process uses the GPU.
        refresh: measure even where stored results answer.

    Returns:
        None if there is no GPU, a capture runs, or another process uses the GPU; a RuntimeWarning says which.

    Raises:
        ValueError: an unknown test, or a negative device.
    """
    prepare()
    library = _library.load()
    wanted = _library.PeaksOptions(ctypes.sizeof(_library.PeaksOptions), tests.encode() if tests else None, device, quick, force, refresh)
    taken = ctypes.POINTER(_library.Peaks)()
    status = library.gpuprof_measure_peaks(ctypes.byref(wanted), ctypes.byref(taken))
    why = _library.last_message()
    release_settings()
    if status == _library.INVALID_ARGUMENT:
        raise ValueError(why)
    if status != _library.OK:
        warnings.warn(why, RuntimeWarning, stacklevel=2)
        return None
    try:
        roof = _library.as_dict(taken.contents)
        return Peaks(roof["gpu"], roof["uuid"], bool(roof["stored"]), roof["origin"], roof["remarks"].splitlines(),
                     Rows({**row, "outcome": _outcomes.get(row["outcome"], "")} for row in _library.each_as_dict(taken.contents, "peaks")))
    finally:
        library.gpuprof_release_peaks(taken)


class Status(NamedTuple):
    """Tells which parts of libgpuprof are in this process."""
    version: str  # of the package
    library: str  # its path; empty: not loaded
    library_version: str
    loaded_by: str  # "this package", "preload, link or injection", "nobody"
    capturing: bool
    capture: Optional[str]  # the file
    ranges: str  # how gp.range is made, and why

    def __repr__(self) -> str:
        return "\n".join(f"{name:16} {'' if value is None else value}" for name, value in self._asdict().items())


def status() -> Status:
    """Tells which parts of libgpuprof are in this process, and how they came there. `gpuprof status` says what works on the machine.
    Loads nothing."""
    from . import __version__
    library = _library.existing()
    version = library.gpuprof_version().decode() if library is not None else ""
    by = "nobody" if library is None else "this package" if _library.loaded_by_us() else "preload, link or injection"
    return Status(__version__, _library.path(), version, by, is_capturing(), capture_path(), ranges.made_by())

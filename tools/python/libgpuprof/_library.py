# SPDX-License-Identifier: Apache-2.0
"""libgpuprof.so in this process, through ctypes: the one that is there, else that of this package. Calls release the GIL."""
import ctypes
import os
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import _files

OK, INACTIVE, INVALID_ARGUMENT, TIMEOUT = range(4)

_size, _text, _u64, _f64, _int = ctypes.c_size_t, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_double, ctypes.c_int


class Named(ctypes.c_int):
    """An enum of the library, which has a function for the names of its values."""
    name_function = ""

    def __str__(self) -> str:
        library = existing()
        text = getattr(library, self.name_function)(self.value) if library is not None else None
        return text.decode() if text else ""


class Precision(Named):
    name_function = "gpuprof_precision_name"


class FlopsSource(Named):
    name_function = "gpuprof_flops_source_name"


class Bound(Named):
    name_function = "gpuprof_bound_name"


class PeakTest(Named):
    name_function = "gpuprof_peak_test_name"


class Unit(Named):
    name_function = "gpuprof_unit_name"


class Clock(Named):
    name_function = "gpuprof_clock_name"


class Options(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("output", _text)]


def _listed(kind: Any) -> Any:
    return ctypes.POINTER(ctypes.POINTER(kind))


class KernelTotal(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("name", _text), ("count", _u64), ("total_ns", _u64), ("minimum_ns", _u64), ("maximum_ns", _u64)]


class RangeTotal(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("name", _text), ("count", _u64), ("cpu_ns", _u64), ("gpu_ns", _u64), ("gpu_operations", _u64)]


class CopyTotal(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("kind", _int), ("is_fill", _int), ("count", _u64), ("bytes", _u64), ("total_ns", _u64)]


class Counter(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("name", _text), ("family", _int), ("value", _u64)]


class Totals(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("kernels", _listed(KernelTotal)), ("kernels_count", _size), ("copies", _listed(CopyTotal)),
                ("copies_count", _size), ("ranges", _listed(RangeTotal)), ("ranges_count", _size), ("counters", _listed(Counter)),
                ("counters_count", _size), ("kernel_count", _u64), ("kernel_ns", _u64)]


class PrecisionRate(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("name", Precision), ("flops", _f64), ("of_peak", _f64)]


class Achieved(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("name", _text), ("launches", _u64), ("seconds", _f64), ("exact_share", _f64), ("readings", _u64),
                ("flops", _f64), ("flops_source", FlopsSource), ("precisions", _listed(PrecisionRate)), ("precisions_count", _size),
                ("dram_bytes_per_second", _f64), ("l2_bytes_per_second", _f64), ("sm_clock_hz", _f64), ("occupancy", _f64),
                ("tensor_active", _f64), ("dram_of_peak", _f64), ("l2_of_peak", _f64), ("of_peak", _f64), ("bound_by", Bound)]


class Metrics(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("all", ctypes.POINTER(Achieved)), ("ranges", _listed(Achieved)), ("ranges_count", _size),
                ("kernels", _listed(Achieved)), ("kernels_count", _size), ("has_peaks", _int), ("readings", _u64), ("readings_left_out", _u64)]


class PeaksOptions(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("tests", _text), ("device", _int), ("quick", _int), ("force", _int), ("refresh", _int)]


class Peak(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("name", PeakTest), ("title", _text), ("unit", Unit), ("outcome", _int), ("clock", Clock),
                ("per_clock", _f64), ("per_clock_theory", _f64), ("burst", _f64), ("burst_spread", _f64), ("burst_sm_clock_mhz", _f64),
                ("sustained", _f64), ("sustained_sm_clock_mhz", _f64), ("sustained_watts", _f64), ("theory", _f64), ("limiters", _u64),
                ("method", _text), ("operands", _text), ("remark", _text), ("measured_at", _text)]


class Peaks(ctypes.Structure):
    _fields_ = [("struct_size", _size), ("gpu", _text), ("uuid", _text), ("stored", _int), ("origin", _text), ("remarks", _text),
                ("peaks", _listed(Peak)), ("peaks_count", _size)]


def as_dict(struct: ctypes.Structure) -> Dict[str, Any]:
    """Numbers and texts of a struct of the library, enums by their names; lists of structs are left out. Fields that this library does not
    have are None."""
    found: Dict[str, Any] = {}
    for name, kind in struct._fields_[1:]:  # type: ignore[misc]
        if kind not in (_text, _u64, _f64, _int) and not issubclass(kind, Named):
            continue
        there = getattr(type(struct), name).offset + ctypes.sizeof(kind) <= struct.struct_size
        value = getattr(struct, name) if there else None
        if isinstance(value, Named):
            value = str(value)
        found[name] = value.decode(errors="replace") if isinstance(value, bytes) else value
    return found


def each(struct: Any, name: str) -> Iterator[Any]:
    """The structs of a list, as structs."""
    places = getattr(struct, name)
    for i in range(getattr(struct, name + "_count")):
        yield places[i].contents


def each_as_dict(struct: Any, name: str) -> List[Dict[str, Any]]:
    return [as_dict(one) for one in each(struct, name)]


_found: Optional[Tuple[ctypes.CDLL, str, bool]] = None


def _in_process() -> Optional[ctypes.CDLL]:
    program = ctypes.CDLL(None)
    if hasattr(program, "gpuprof_version"):  # preloaded or linked
        return program
    try:  # CUDA has loaded it, for itself
        return ctypes.CDLL("libgpuprof.so.0", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return None


def _path_of(library: ctypes.CDLL) -> str:
    class Info(ctypes.Structure):
        _fields_ = [("path", _text), ("base", ctypes.c_void_p), ("symbol", _text), ("address", ctypes.c_void_p)]
    info = Info()
    ask = ctypes.CDLL(None).dladdr
    ask.argtypes = [ctypes.c_void_p, ctypes.POINTER(Info)]
    found = ask(ctypes.cast(library.gpuprof_version, ctypes.c_void_p), ctypes.byref(info))
    return os.fsdecode(info.path) if found and info.path else ""


def _with_types(library: ctypes.CDLL) -> ctypes.CDLL:
    library.gpuprof_version.restype = _text
    library.gpuprof_capture_path.restype = _size
    library.gpuprof_capture_path.argtypes = [ctypes.c_char_p, _size]
    library.gpuprof_start.argtypes = [ctypes.POINTER(Options)]
    taken: Tuple[Tuple[Any, str], ...] = ((Totals, "take_totals"), (Metrics, "take_metrics"))
    for kind, name in taken:
        getattr(library, "gpuprof_" + name).argtypes = [ctypes.POINTER(ctypes.POINTER(kind))]
    released: Tuple[Tuple[Any, str], ...] = ((Totals, "release_totals"), (Metrics, "release_metrics"), (Peaks, "release_peaks"))
    for kind, name in released:
        getattr(library, "gpuprof_" + name).argtypes = [ctypes.POINTER(kind)]
        getattr(library, "gpuprof_" + name).restype = None
    library.gpuprof_measure_peaks.argtypes = [ctypes.POINTER(PeaksOptions), ctypes.POINTER(ctypes.POINTER(Peaks))]
    texts = ["gpuprof_last_message", *(kind.name_function for kind in Named.__subclasses__())]
    for name in filter(lambda name: hasattr(library, name), texts):  # an older library may be preloaded
        getattr(library, name).restype = _text
    return library


def existing() -> Optional[ctypes.CDLL]:
    """The library where it is in this process already; it is never loaded for that."""
    global _found
    if _found is None:
        there = _in_process()
        if there is not None:
            _found = (_with_types(there), _path_of(there), False)
    return _found[0] if _found else None


def load() -> ctypes.CDLL:
    """The library that is in the process, whichever copy it is, else the package's own.

    Raises:
        Error: it cannot be loaded.
    """
    global _found
    there = existing()
    if there is not None:
        return there
    path = _files.library("libgpuprof.so")
    if os.environ.get("GPUPROF_SET_INJECTION"):  # of a parent that had the library, and not meant for this process
        for name in ("GPUPROF_SET_INJECTION", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"):
            os.environ.pop(name, None)
    try:
        # For all to see: CUDA and NVTX, which load it by its path, and C++ code that looks for its functions.
        library = ctypes.CDLL(path, mode=os.RTLD_GLOBAL | os.RTLD_NOW)
    except OSError as why:
        raise _files.Error(f"nothing can be profiled: {why}. Install libgpuprof again (pip install --force-reinstall libgpuprof)") from None
    _found = (_with_types(library), _path_of(library), True)
    return library


def path() -> str:
    """The path of the library in this process; empty: there is none yet."""
    return _found[1] if existing() is not None and _found else ""


def loaded_by_us() -> bool:
    """False where it was preloaded, linked or injected: its settings are then those of its environment."""
    return bool(_found and _found[2])


def last_message() -> str:
    """Why the last call could not do it, where the library says so."""
    library = existing()
    if library is None or not hasattr(library, "gpuprof_last_message"):
        return ""
    text = library.gpuprof_last_message()
    return text.decode(errors="replace") if text else ""

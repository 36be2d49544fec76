# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges, for libgpuprof, Nsight Systems, Nsight Compute and every other NVTX tool."""
import functools
import inspect
import os
import sys
from typing import Any, Callable, Optional, TypeVar

from . import _files

_Function = TypeVar("_Function", bound=Callable[..., Any])
_why_not_fast = ""

try:
    if getattr(sys, "_is_gil_enabled", None) and "t" in getattr(sys, "abiflags", ""):
        raise ImportError("this Python has no GIL, and takes no module of the stable ABI")
    from ._fast import Range as _Range, attach as attach, mark as _mark
except ImportError as why:
    _why_not_fast = str(why)
    import ctypes

    def _native() -> Optional[Any]:
        """The module as a plain library: its functions for ctypes use nothing of Python."""
        path = os.path.join(_files.HERE, "_fast.abi3.so")
        try:
            library = ctypes.CDLL(path, mode=os.RTLD_LAZY)
        except OSError:
            return None
        library.libgpuprof_domain.restype = ctypes.c_void_p
        library.libgpuprof_domain.argtypes = [ctypes.c_char_p]
        library.libgpuprof_push.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_double, ctypes.c_double]
        library.libgpuprof_pop.argtypes = [ctypes.c_void_p]
        library.libgpuprof_mark.argtypes = [ctypes.c_char_p]
        library.libgpuprof_push.restype = library.libgpuprof_pop.restype = library.libgpuprof_mark.restype = None
        return library

    _library = _native()
    _tool = False
    _domains: Any = {}

    def attach() -> bool:
        global _tool
        _tool = bool(_library is not None and _library.libgpuprof_attach())
        return _tool

    def _mark(name: str) -> None:
        if not isinstance(name, str):
            raise TypeError("the name of a mark is a str")
        if _tool and _library is not None:
            _library.libgpuprof_mark(name.encode("utf-8", "backslashreplace"))

    class _Range:  # type: ignore[no-redef]
        def __init__(self, name: str, domain: Optional[str] = None, color: int = 0, flops: float = 0, bytes: float = 0) -> None:
            if not isinstance(name, str) or not (domain is None or isinstance(domain, str)):
                raise TypeError("name and domain of a range are str")
            self.name, self.domain, self.flops, self.bytes, self._color = name, domain, float(flops), float(bytes), color
            self._text = name.encode("utf-8", "backslashreplace")

        def __enter__(self) -> Any:
            if _tool and _library is not None:
                if self.domain is not None and self.domain not in _domains:
                    _domains[self.domain] = _library.libgpuprof_domain(self.domain.encode("utf-8", "backslashreplace"))
                _library.libgpuprof_push(_domains.get(self.domain), self._text, self._color, self.flops, self.bytes)
            return self

        def __exit__(self, *unused: Any) -> None:
            if _tool and _library is not None:
                _library.libgpuprof_pop(_domains.get(self.domain))

    attach()


class range(_Range):  # type: ignore[misc,unused-ignore]  # noqa: A001
    """A range of the program's time: ``with gp.range("forward"):``, or ``@gp.range("load")`` on a function.

    Kernels that are launched inside count in it. Ranges of a thread nest. One that is kept and used again costs some 100 ns outside of a
    capture: ``forward = gp.range("forward")``, then ``with forward:``. An exception closes it and goes on.

    Args:
        name: what reports call it. Keep the number of different names small.
        flops: floating-point operations that the code inside does, for rates where they cannot be counted. 0: not declared.
        bytes: bytes that it reads and writes; likewise.
        domain: its NVTX domain; reports show "domain:name".
        color: 0xAARRGGBB for viewers; 0 leaves it to them.
    """
    __slots__ = ()

    def __call__(self, function: _Function) -> _Function:
        """A function that runs in this range.

        Raises:
            TypeError: it is a coroutine or generator function, which may go on elsewhere: put ``with gp.range(...)`` around the parts
                that do not wait.
        """
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__} may be suspended inside, and ranges of a thread nest: "
                            "put `with gp.range(...)` around the parts of it that do not wait")

        @functools.wraps(function)
        def inside(*arguments: Any, **keywords: Any) -> Any:
            with self:
                return function(*arguments, **keywords)
        return inside  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"gp.range({self.name!r})"


def mark(name: str) -> None:
    """Marks a moment, for NVTX tools."""
    _mark(name)


def made_by() -> str:
    """How ranges are made in this Python, and why."""
    if not _why_not_fast:
        return "_fast, some 100 ns a range"
    if _library is None:
        return f"not at all: {_why_not_fast}"
    return f"ctypes, some 1,000 ns a range: {_why_not_fast}"

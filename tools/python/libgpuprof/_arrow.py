# SPDX-License-Identifier: Apache-2.0
"""Arrow streams of libgpuprof-capture.so: handed on as capsules, or read here where no Arrow library is."""
import array
import ctypes
import errno
import struct
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence

from . import _files

_pointer = ctypes.c_void_p


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", _pointer), ("flags", ctypes.c_int64),
                    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
                    ("dictionary", ctypes.POINTER(_Schema)), ("release", ctypes.CFUNCTYPE(None, _pointer)), ("private_data", _pointer)]


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(_pointer)),
                   ("children", ctypes.POINTER(ctypes.POINTER(_Array))), ("dictionary", ctypes.POINTER(_Array)),
                   ("release", ctypes.CFUNCTYPE(None, _pointer)), ("private_data", _pointer)]


class _Stream(ctypes.Structure):
    _fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer)),
                ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer)),
                ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, _pointer)),
                ("release", ctypes.CFUNCTYPE(None, _pointer)), ("private_data", _pointer)]


class Column(NamedTuple):
    """A column of a table."""
    name: str
    type: str  # "int64", "uint32", "double", "bool", "text" ...
    unit: str  # "ns", "byte" ...; empty: a number, an id or a text
    meaning: str


_types = {"C": ("uint8", "B"), "S": ("uint16", "H"), "I": ("uint32", "I"), "i": ("int32", "i"), "L": ("uint64", "Q"), "l": ("int64", "q"),
          "g": ("double", "d"), "b": ("bool", "?")}
_capture_library: Optional[ctypes.CDLL] = None


def _library() -> ctypes.CDLL:
    global _capture_library
    if _capture_library is None:
        path = _files.library("libgpuprof-capture.so")
        try:
            _capture_library = ctypes.CDLL(path)
        except OSError as why:
            raise _files.Error(f"captures cannot be read: {why}. Install libgpuprof again (pip install --force-reinstall libgpuprof)") from None
        _capture_library.gpuprof_open_table_of_all.argtypes = [ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, ctypes.c_char_p,
                                                               ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t, _pointer]
    return _capture_library


def _raise(code: int, stream: _Stream) -> None:
    text = stream.get_last_error(ctypes.addressof(stream)) if stream.get_last_error else None
    said = text.decode() if text else f"the table cannot be read (error {code})"
    if stream.release:
        stream.release(ctypes.addressof(stream))
    if code == errno.ENOENT:
        raise FileNotFoundError(code, said)
    if code == errno.ENOMEM:
        raise MemoryError(said)
    raise _files.Error(said) if code != errno.EINVAL else ValueError(said)


def open_stream(paths: Sequence[str], table: str, columns: Sequence[str]) -> _Stream:
    """A stream that the caller releases.

    Raises:
        FileNotFoundError: there is no such capture.
        ValueError: it is no capture, or has no such table or column; the text names those that there are.
    """
    import os
    stream = _Stream()
    names = (ctypes.c_char_p * len(paths))(*[os.fsencode(path) for path in paths])
    wanted = (ctypes.c_char_p * len(columns))(*[name.encode() for name in columns])
    code = _library().gpuprof_open_table_of_all(names, len(paths), table.encode(), wanted, len(columns), ctypes.addressof(stream))
    if code != 0:
        _raise(code, stream)
    return stream


_alive: Dict[int, _Stream] = {}  # by address: what a capsule points to
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [_pointer, ctypes.c_char_p, _pointer]
_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype = _pointer
_pointer_in.argtypes = [_pointer, ctypes.c_char_p]
_capsule_name = b"arrow_array_stream"


def _free_stream(capsule: int) -> None:
    address = _pointer_in(capsule, _capsule_name)
    stream = _alive.pop(address, None)
    if stream is not None and stream.release:  # nobody has taken it
        stream.release(address)


_capsule_ends = ctypes.PYFUNCTYPE(None, _pointer)(_free_stream)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_capsule_ends))  # capsules may outlive this module


def capsule_of(stream: _Stream) -> Any:
    address = ctypes.addressof(stream)
    _alive[address] = stream
    return _new_capsule(address, _capsule_name, ctypes.cast(_capsule_ends, _pointer))


def _metadata(address: Optional[int]) -> Dict[str, str]:
    if not address:
        return {}
    at = address

    def number() -> int:
        nonlocal at
        at += 4
        return int(struct.unpack("=i", ctypes.string_at(at - 4, 4))[0])

    def text() -> str:
        nonlocal at
        length = number()
        at += length
        return ctypes.string_at(at - length, length).decode()

    return {text(): text() for _ in range(number())}


def _columns_of(schema: _Schema) -> List[Column]:
    found = []
    for i in range(schema.n_children):
        child = schema.children[i].contents
        about = _metadata(child.metadata)
        kind = "text" if child.dictionary else _types[child.format.decode()][0]
        found.append(Column(child.name.decode(), kind, about.get("unit", ""), about.get("meaning", "")))
    return found


class _Batch:
    """An array that is released when no view of it is left."""

    def __init__(self, content: _Array) -> None:
        self.content = content

    def __del__(self, address: Callable[[Any], int] = ctypes.addressof) -> None:
        if self.content.release:
            self.content.release(address(self.content))

    def view(self, address: Optional[int], code: str, count: int) -> Any:
        """`count` values without a copy."""
        size = count * struct.calcsize("=" + code)
        if not address or size == 0:
            return memoryview(b"").cast("B") if code == "B" else memoryview(array.array(code))
        kept: Any = type("Memory", (ctypes.c_char * size,), {}).from_address(address)  # type: ignore[attr-defined]
        kept.batch = self  # the view keeps `kept`, which keeps the batch
        bytes_of: Any = memoryview(kept).cast("B")
        return bytes_of.cast(code)

    def texts(self, column: _Array) -> List[str]:
        words = column.dictionary.contents
        offsets = self.view(words.buffers[1], "i", words.length + 1)
        base = words.buffers[2]
        return [ctypes.string_at(base + offsets[i], offsets[i + 1] - offsets[i]).decode() for i in range(words.length)]


class Values(NamedTuple):
    """One column of one array: numbers as a memoryview; of texts the places in `texts`."""
    numbers: Any  # a memoryview
    texts: Optional[List[str]]

    def plain(self) -> Any:
        return self.numbers if self.texts is None else [self.texts[at] for at in self.numbers]


def read_columns(paths: Sequence[str], table: str, columns: Sequence[str]) -> List[Column]:
    stream = open_stream(paths[:1] if "rank" not in columns else paths, table, columns)
    schema = _Schema()
    code = stream.get_schema(ctypes.addressof(stream), ctypes.addressof(schema))
    if code != 0:
        _raise(code, stream)
    found = _columns_of(schema)
    schema.release(ctypes.addressof(schema))
    stream.release(ctypes.addressof(stream))
    return found


def read_arrays(paths: Sequence[str], table: str, columns: Sequence[str]) -> Iterator[Dict[str, Values]]:
    """The arrays of a stream, each as its columns by name."""
    stream = open_stream(paths, table, columns)
    schema = _Schema()
    code = stream.get_schema(ctypes.addressof(stream), ctypes.addressof(schema))
    if code != 0:
        _raise(code, stream)
    try:
        while True:
            content = _Array()
            code = stream.get_next(ctypes.addressof(stream), ctypes.addressof(content))
            if code != 0:
                _raise(code, stream)
            if not content.release:
                return
            yield _values_of(_Batch(content), schema)
    finally:
        schema.release(ctypes.addressof(schema))
        if stream.release:
            stream.release(ctypes.addressof(stream))


def _values_of(batch: _Batch, schema: _Schema) -> Dict[str, Values]:
    found = {}
    for i in range(schema.n_children):
        kind, column = schema.children[i].contents, batch.content.children[i].contents
        code = kind.format.decode()
        rows, at = column.length, column.buffers[1]
        if code == "b":
            bits = batch.view(at, "B", (rows + 7) // 8)
            numbers = memoryview(bytes(bits[j >> 3] >> (j & 7) & 1 for j in range(rows))).cast("?")
        else:
            numbers = batch.view(at, _types[code][1], rows)
        found[kind.name.decode()] = Values(numbers, batch.texts(column) if kind.dictionary else None)
    return found

# SPDX-License-Identifier: Apache-2.0
"""Captures that were made before: their tables, and what the command says of them."""
import array
import glob
import os
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from . import _arrow, reports
from ._arrow import Column

_names = {  # attribute of Run: table of the capture
    "kernels": "kernel", "graphs": "graph", "copies": "copy", "fills": "memset", "calls": "api", "ranges": "range", "marks": "mark",
    "waits": "sync", "allocations": "memory", "readings": "reading_value", "samples": "sample", "chip_states": "chip_state",
    "peaks": "peak", "facts": "fact", "devices": "device", "threads": "thread", "windows": "window", "counters": "counter"}


class Table:
    """A table of one capture or of several. Nothing is read before it is asked for.

    pyarrow, Polars, DuckDB and pandas 3 take it as it is, without a copy: ``pa.table(run.kernels)``, ``pl.DataFrame(run.kernels)``.
    Without them ``table["duration"]`` is a memoryview of the numbers of a column, or the list of its texts.

    Times are nanoseconds since 1970, durations nanoseconds, sizes bytes; ``columns`` tells the unit and meaning of each.
    """

    def __init__(self, paths: Sequence[str], name: str, columns: Sequence[str] = ()) -> None:
        self._paths, self.name, self._wanted = list(paths), name, list(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """An Arrow stream, for libraries. The schema that is requested is not looked at: what is asked of it may be declined."""
        return _arrow.capsule_of(_arrow.open_stream(self._paths, self.name, self._wanted))

    @property
    def columns(self) -> List[Column]:
        """Name, type, unit and meaning of each column."""
        found = _arrow.read_columns(self._paths, self.name, self._wanted)
        if len(self._paths) > 1 and not self._wanted:
            found += _arrow.read_columns(self._paths, self.name, ["rank"])
        return found

    def select(self, *columns: str) -> "Table":
        """The same table with these columns alone, in this order; others are not decoded.

        Raises:
            ValueError: when it is read, for a column that there is not.
        """
        return Table(self._paths, self.name, columns)

    def __len__(self) -> int:
        if self.name in ("tables", "missing"):  # made when they are read
            return sum(len(part) for part in (next(iter(found.values())).numbers for found in _arrow.read_arrays(self._paths, self.name, ())))
        counts = _arrow.read_arrays(self._paths, "tables", ["table", "rows"])
        of_name = "range_begin" if self.name == "range" else self.name
        return sum(rows for found in counts for name, rows in zip(found["table"].plain(), found["rows"].plain()) if name == of_name)

    def __getitem__(self, column: str) -> Any:
        """All values of a column: a memoryview of numbers, without a copy where the table is of one capture, or a list of texts.

        Raises:
            KeyError: there is no such column.
        """
        if self._wanted and column not in self._wanted:
            raise KeyError(column)
        try:
            arrays = [found[column] for found in _arrow.read_arrays(self._paths, self.name, [column])]
        except ValueError as why:
            raise KeyError(str(why)) from None
        if len(arrays) == 1:
            return arrays[0].plain()
        if any(part.texts is not None for part in arrays):
            return [text for part in arrays for text in part.plain()]
        joined = array.array(arrays[0].numbers.format if arrays and arrays[0].numbers.format != "?" else "B")
        for part in arrays:
            joined.frombytes(part.numbers.cast("B"))
        return memoryview(joined)

    def rows(self, limit: Optional[int] = None) -> Iterator[Dict[str, Any]]:
        """Row after row as a dict. For a look; for all of a large table use columns."""
        for found in _arrow.read_arrays(self._paths, self.name, self._wanted):
            values = {name: part.plain() for name, part in found.items()}
            for row in zip(*values.values()):
                if limit is not None:
                    if limit == 0:
                        return
                    limit -= 1
                yield dict(zip(values, row))

    __iter__ = rows

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; texts are categories. Needs pandas, not pyarrow."""
        import pandas  # type: ignore[import-untyped,import-not-found,unused-ignore]
        frames = []
        for found in _arrow.read_arrays(self._paths, self.name, self._wanted):
            frames.append({name: part.numbers if part.texts is None else pandas.Categorical.from_codes(_numpy(part.numbers), part.texts)
                           for name, part in found.items()})
        if not frames:
            return pandas.DataFrame(columns=[column.name for column in self.columns])
        joined = {}
        for name, first in frames[0].items():
            parts = [frame[name] for frame in frames]
            if isinstance(first, memoryview):
                joined[name] = _numpy(first) if len(parts) == 1 else __import__("numpy").concatenate([_numpy(part) for part in parts])
            else:
                joined[name] = first if len(parts) == 1 else pandas.api.types.union_categoricals(parts)
        return pandas.DataFrame(joined, copy=False)

    def _first(self) -> Tuple[int, "reports.Rows"]:
        return len(self), reports.Rows(list(self.rows(limit=10)), [column.name for column in self.columns])

    def __repr__(self) -> str:
        count, rows = self._first()
        return f"{rows!r}\n{self.name}: {count:,} rows" + (", the first 10" if count > 10 else "")

    def _repr_html_(self) -> str:
        count, rows = self._first()
        return rows._repr_html_() + f"<p>{self.name}: {count:,} rows" + (", the first 10</p>" if count > 10 else "</p>")


def _numpy(numbers: memoryview) -> Any:
    import numpy
    return numpy.frombuffer(numbers, dtype=numbers.format) if len(numbers) else numpy.empty(0, numbers.format)


class Run:
    """One capture, or the captures of the ranks of one job. Made by :func:`open`.

    ``run.kernels``, ``copies``, ``fills``, ``graphs``, ``calls``, ``ranges``, ``marks``, ``waits``, ``allocations``, ``readings``,
    ``samples``, ``chip_states``, ``peaks``, ``facts``, ``devices``, ``threads``, ``windows`` and ``counters`` are tables; ``table(name)``
    gives any by its name in docs/capture-format.md. Of several captures each table has a column ``rank``.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)
        self.tables  # what is no capture is said here

    def table(self, name: str, *columns: str) -> Table:
        """The table of this name, or some columns of it."""
        return Table(self.paths, name, columns)

    def __getattr__(self, name: str) -> Table:
        if name in _names:
            return Table(self.paths, _names[name])
        raise AttributeError(f"a run has no {name!r}: table({name!r}) for a table of the capture; these have names: {', '.join(_names)}")

    def __dir__(self) -> List[str]:
        return sorted([*super().__dir__(), *_names])

    @property
    def tables(self) -> Dict[str, int]:
        """How many rows each table has, of those that have any."""
        found: Dict[str, int] = {}
        for part in _arrow.read_arrays(self.paths, "tables", ["table", "rows"]):
            for name, rows in zip(part["table"].plain(), part["rows"].plain()):
                found[name] = found.get(name, 0) + rows
        return found

    @property
    def missing(self) -> List[str]:
        """Tells what was lost while recording or is damaged, a line each; empty: nothing. Reads the whole file."""
        return list(Table(self.paths, "missing")["line"])

    def analyze(self, **options: Any) -> "reports.Analysis":
        """Tells what holds the program, and how much time a fix would save: `gpuprof analyze`.

        Args:
            **options: those of the command, with underscores: ``min_gain=0.02``, ``step="iteration"``, ``fail_on="gpu_idle>5%"``.

        Raises:
            Error: the command could not do it; the text is what it said.
        """
        return reports.Analysis(reports.ask("analyze", self.paths, options))

    def whatif(self, **options: Any) -> "reports.WhatIf":
        """Tells what a step would take with a repair, or without one what it is sensitive to: `gpuprof whatif`.

        Args:
            **options: those of the command, with underscores; what takes NAME=FACTOR is a dict:
                ``scale={"regex:gemm": 0.5}, cpu={"input": 0}, drop=["copies"], graph="step", pinned=True, rank=1``.

        Raises:
            Error: the steps cannot be replayed, or an option is wrong; the text is what the command said.
        """
        named = {name: [f"{key}={factor}" for key, factor in value.items()] if isinstance(value, dict) else value for name, value in options.items()}
        return reports.WhatIf(reports.ask("whatif", self.paths, named))

    def lines(self, by: str = "line", **options: Any) -> "reports.Rows":
        """Tells which lines of a Python program the GPU works for: `gpuprof lines`. Times are nanoseconds.

        Args:
            by: "line", "function" or "file".
            **options: those of the command, with underscores: ``own="/home/you/project", all_code=True``.

        Raises:
            Error: the capture holds no Python stacks, or an option is wrong.
        """
        return reports.Rows(reports.ask("lines", self.paths, {"by": by, "timeunit": "ns", **options}).answer)

    def roofline(self, **options: Any) -> "reports.Roofline":
        """Tells what kernels and ranges achieved against what the GPU can do: `gpuprof roofline`. Rates are FLOP/s and bytes/s.

        Raises:
            Error: the capture holds no counters (`metrics="auto"` records them), or an option is wrong.
        """
        return reports.Roofline(reports.ask("roofline", self.paths, options))

    def stats(self, report: str = "cuda_gpu_kern_sum", **options: Any) -> "reports.Rows":
        """A table of `gpuprof stats`, by its name; units stand in the names of columns.

        Raises:
            Error: there is no such report, or the capture holds nothing for it.
        """
        return reports.Rows(reports.ask("stats", self.paths, {"report": report, **options}).answer)

    def compare(self, new: Union[str, "os.PathLike[str]", "Run"], **options: Any) -> "reports.Comparison":
        """Tells what changed from this run to another: see :func:`compare`."""
        return compare(self, new, **options)

    def report(self, output: Union[str, "os.PathLike[str]"], **options: Any) -> str:
        """Writes the page for a browser, and returns its path: `gpuprof report`."""
        reports.call(["report", *self.paths, "--output", os.fspath(output), *reports.written(options)])
        return os.fspath(output)

    def export(self, type: str, output: Union[str, "os.PathLike[str]"], **options: Any) -> str:
        """Writes it in the format of another program, and returns the path: `gpuprof export`, e.g. "perfetto", "parquet"."""
        reports.call(["export", *self.paths, "--type", type, "--output", os.fspath(output), *reports.written(options)])
        return os.fspath(output)

    def __repr__(self) -> str:
        what = self.paths[0] if len(self.paths) == 1 else f"{len(self.paths)} captures from {self.paths[0]} on"
        return f"<{what}: " + ", ".join(f"{rows:,} {name}" for name, rows in self.tables.items() if name in _names.values()) + ">"


def _captures_of(path: str) -> List[str]:
    if os.path.isdir(path):
        return sorted(glob.glob(os.path.join(glob.escape(path), "*.gpuprof")))
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    return sorted(glob.glob(path))


def open(path: Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]) -> Run:  # noqa: A001
    """Opens a capture, all captures of a folder, those that a pattern fits (``"job/*.gpuprof"``), or a list of such.

    Raises:
        FileNotFoundError: there is none.
        ValueError: a file is no capture, or one of a newer version.
    """
    several = [path] if isinstance(path, (str, os.PathLike)) else path
    found = [capture for one in several for capture in _captures_of(os.fspath(one))]
    if not found:
        raise FileNotFoundError(2, f"there is no capture in {', '.join(repr(os.fspath(one)) for one in several)}")
    return Run(found)


def compare(base: Any, new: Any, fail_on: Optional[str] = None, **options: Any) -> "reports.Comparison":
    """Tells what changed between two runs beyond noise: `gpuprof compare`.

    Args:
        base: a capture, a folder or pattern of captures of one program, or a :class:`Run`.
        new: likewise.
        fail_on: clauses such as "kernel:.*>5%,step>3%": ``passed`` of the result is then False where one holds, None where noise is too
            great to tell.

    Raises:
        Error: they cannot be compared; the text says why.
    """
    sides = [side if isinstance(side, Run) else open(side) for side in (base, new)]
    extra = [word for path in sides[0].paths[1:] for word in ("--base", path)]
    answer = reports.ask("compare", [sides[0].paths[0], *sides[1].paths, *extra], {"fail_on": fail_on, **options}, may_end_with=(1, 3))
    return reports.Comparison(answer)

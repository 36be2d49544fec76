# SPDX-License-Identifier: Apache-2.0
"""%load_ext libgpuprof: %gpuprof and %%gpuprof record what a line or a cell does on GPUs, and show it.

    %%gpuprof [-r kernels,ranges,roofline,analyze] [--metrics auto] [-o FILE] [--page]
"""
import argparse
import os
import shlex
import tempfile
from typing import Any, Callable, Dict, List, Optional

from . import _files, live, reports
from .captures import Run, open as open_capture


_usage = "[-r REPORT,...] [--metrics auto] [-o FILE] [--page [--height PIXELS]]"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("%%gpuprof", add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-r", "--report", default="kernels,ranges")
    parser.add_argument("-m", "--metrics")
    parser.add_argument("-o", "--output")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--height", type=int, default=600)
    return parser


def _stats(name: str, *columns: str) -> Callable[[Run, str], Any]:
    return lambda run, time: reports.Rows(run.stats(name, filter_time=time, limit=20)).select(*columns)


_reports: Dict[str, Callable[[Run, str], Any]] = {
    "kernels": _stats("cuda_gpu_kern_sum:base", "Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Name"),
    "ranges": _stats("nvtx_sum", "Time (%)", "Total Time (ns)", "Instances", "Range"),
    "copies": _stats("cuda_gpu_mem_time_sum", "Time (%)", "Total Time (ns)", "Count", "Operation"),
    "calls": _stats("cuda_api_sum", "Time (%)", "Total Time (ns)", "Num Calls", "Name"),
    "analyze": lambda run, time: run.analyze(filter_time=time),
    "roofline": lambda run, time: run.roofline(filter_time=time)}


class Result:
    """Shows the tables that were asked for; ``run`` is the capture of the process."""

    def __init__(self, run: Optional[Run], shown: Dict[str, Any], page: Optional[str], height: int) -> None:
        self.run, self.reports = run, shown
        self._page, self._height = page, height

    def __repr__(self) -> str:
        if self.run is None:
            return "nothing was recorded: `gpuprof status` says why"
        return "\n\n".join(f"{name}\n{table!r}" for name, table in self.reports.items())

    def _repr_html_(self) -> str:
        from html import escape
        if self.run is None:
            return f"<p>{escape(repr(self))}</p>"
        parts = [f"<h4>{escape(name)}</h4>" + (table._repr_html_() if hasattr(table, "_repr_html_") else f"<p>{escape(str(table))}</p>")
                 for name, table in self.reports.items()]
        if self._page is not None:  # a page of its own: nothing of it reaches the notebook
            parts.append(f'<iframe sandbox="allow-scripts" style="width:100%;height:{self._height}px;border:0" srcdoc="{escape(self._page, quote=True)}"></iframe>')
        return "".join(parts)


def _window_of(run: Run) -> str:
    """The last capture window, as --filter-time takes it: since the start of the first."""
    windows = {row["index"]: row for row in run.windows.rows()}
    origin = min(row["start"] for row in windows.values())
    last = windows[max(windows)]
    return f"{last['start'] - origin}ns/{last['end'] - origin}ns"


def _shown(run: Run, names: List[str]) -> Dict[str, Any]:
    time, found = _window_of(run), {}
    for name in names:
        try:
            found[name] = _reports[name](run, time)
        except _files.Error as why:
            found[name] = str(why)
    return found


_own_folder: Optional[str] = None


def _own_output() -> str:
    """A file in a folder that stays: its capture can be read later."""
    global _own_folder
    if _own_folder is None:
        _own_folder = tempfile.mkdtemp(prefix="gpuprof-notebook-")
    return os.path.join(_own_folder, "notebook.gpuprof")


def record(code: Callable[[], Any], line: str) -> Result:
    """Runs `code` in a capture. `line` holds the options of the magic.

    Raises:
        ValueError: an unknown option or report.
    """
    try:
        options, unknown = _parser().parse_known_args(shlex.split(line))
    except argparse.ArgumentError as why:
        raise ValueError(f"%%gpuprof: {why}; it takes {_usage}") from None
    if unknown:
        raise ValueError(f"%%gpuprof: unknown {' '.join(unknown)}; it takes {_usage}")
    names = options.report.split(",")
    unknown = [name for name in names if name not in _reports]
    if unknown:
        raise ValueError(f"%%gpuprof: no report {', '.join(unknown)}; there are {', '.join(_reports)}")
    recorded = live.start(options.output or _own_output(), metrics=options.metrics)
    try:
        code()
    finally:
        if recorded:
            live.stop()
    path = live.capture_path()
    if not recorded or path is None:
        return Result(None, {}, None, 0)
    run = open_capture(path)
    page = None
    if options.page:
        with tempfile.TemporaryDirectory() as folder:
            with open(run.report(os.path.join(folder, "page.html")), encoding="utf-8") as file:
                page = file.read()
    return Result(run, _shown(run, names), page, options.height)


def load_ipython_extension(shell: Any) -> None:
    """Called by %load_ext libgpuprof."""
    def gpuprof(line: str, cell: Optional[str] = None) -> Result:
        if cell is not None:
            return record(lambda: shell.run_cell(cell).raise_error(), line)
        return record(lambda: shell.ex(line), "")
    shell.register_magic_function(gpuprof, magic_kind="line_cell", magic_name="gpuprof")

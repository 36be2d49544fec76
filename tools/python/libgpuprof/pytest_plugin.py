# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: --gpuprof records each test, a mark sets limits, a fixture measures a function.

    @pytest.mark.gpuprof(max_gpu_ms=12.5, max_launches=300)
    def test_forward(gpuprof):
        figures = gpuprof(model, batch)
        assert figures.launches < 300
"""
import os
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import pytest

from . import _files

_mark = ("gpuprof(max_gpu_ms=None, max_launches=None, max_copied_bytes=None, fail_on=None): fail when the test takes more time of the GPU, more "
         "kernel launches or more copied bytes, or, with --gpuprof-against, when a clause of gpuprof compare holds")
_limits = ("max_gpu_ms", "max_launches", "max_copied_bytes")
_instead_of_peak = "max_peak: memory of PyTorch is not recorded yet: torch.cuda.max_memory_allocated() tells it"


class Figures(NamedTuple):
    """Tells what a function did on GPUs while it was measured."""
    value: Any  # what it returned
    launches: int  # kernels
    gpu_ms: float  # time of kernels on the GPU; those that run at the same time count each
    copies: int
    copied_bytes: int
    recorded: bool  # False: nothing could be recorded here, and all figures are 0


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("gpuprof", "GPU profiling (libgpuprof)")
    group.addoption("--gpuprof", action="store_true", help="record all tests, and print what each took of the GPU")
    group.addoption("--gpuprof-save", metavar="DIR",
                    help="keep the capture of all tests, DIR/tests.gpuprof, with a range for each test; implies --gpuprof")
    group.addoption("--gpuprof-against", metavar="DIR",
                    help="compare with the captures in this folder, made by --gpuprof-save: fails where a clause of fail_on holds beyond "
                         "noise (gpu>5%% without marks); implies --gpuprof")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", _mark)
    config.stash[_key] = _Session(config)


class _Session:
    """Keeps what the tests of this run took. A process has one capture, and each test a part of it."""

    def __init__(self, config: Any) -> None:
        self.save: Optional[str] = config.getoption("--gpuprof-save")
        self.against: Optional[str] = config.getoption("--gpuprof-against")
        if self.save and self.against and os.path.realpath(self.save) == os.path.realpath(self.against):
            raise pytest.UsageError("--gpuprof-save would replace the captures that --gpuprof-against compares with: name another folder")
        self.records = bool(config.getoption("--gpuprof") or self.save or self.against)
        self.lines: List[Tuple[float, str]] = []
        self.not_recorded = 0
        self.clauses: List[str] = []
        self.comparison: Any = None
        self.failure = ""
        self._scratch: Any = None

    def file(self) -> str:
        """Where this process's capture goes."""
        if self.save:
            os.makedirs(self.save, exist_ok=True)
            folder = self.save
        else:
            if self._scratch is None:
                import tempfile
                self._scratch = tempfile.TemporaryDirectory(prefix="gpuprof-pytest-", ignore_cleanup_errors=True)
            folder = self._scratch.name
        worker = os.environ.get("PYTEST_XDIST_WORKER")
        return os.path.join(folder, f"tests-{worker}.gpuprof" if worker else "tests.gpuprof")

    def compare(self) -> bool:
        """False where a test got worse."""
        from . import captures, live
        path = live.capture_path()
        if path is None:
            self.failure = "nothing was recorded, so nothing is compared"
            return True
        try:
            self.comparison = captures.compare(self.against, path, fail_on=",".join(dict.fromkeys(self.clauses)) or "gpu>5%", different_programs=True)
        except (_files.Error, OSError, ValueError) as why:
            self.failure = str(why)
            return False
        return self.comparison.passed is not False


_key = pytest.StashKey[_Session]()


class _Window:
    """A part of the capture, and what the process did in it."""

    def __init__(self, session: _Session, name: str) -> None:
        from . import live, ranges
        self.is_inner = live.is_capturing()
        if self.is_inner:
            live.flush()
        self.before = _sums()
        self.recorded = self.is_inner or live.start(session.file(), force_overwrite=True)
        self.range = ranges.range(name)
        self.range.__enter__()

    def end(self) -> Dict[str, float]:
        from . import live
        _wait_for_gpu()
        self.range.__exit__(None, None, None)
        if self.is_inner:
            live.flush()
        elif self.recorded:
            live.stop()  # all that it saw is counted when this returns
        after = _sums()
        return {name: after[name] - self.before[name] for name in after}


def _sums() -> Dict[str, float]:
    from . import live
    now = live.totals()
    if now is None:
        return {"launches": 0, "gpu_ns": 0, "copies": 0, "copied_bytes": 0}
    copies = [row for row in now.copies if not row["is_fill"]]
    return {"launches": now.kernel_count, "gpu_ns": now.kernel_ns, "copies": sum(row["count"] for row in copies),
            "copied_bytes": sum(row["bytes"] for row in copies)}


def _wait_for_gpu() -> None:
    """Waits until all that was launched has ended: by PyTorch where it is loaded, else by the driver."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
        return
    import ctypes
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return
    driver.cuCtxSynchronize()


@pytest.fixture(name="gpuprof")
def _gpuprof_fixture(request: Any) -> Callable[..., Figures]:
    """gpuprof(f, *arguments) calls f and tells what it did on the GPU: value, launches, gpu_ms, copies, copied_bytes.

    The first call of a function loads its kernels: call it once before, if that is not what you measure.
    """
    session = request.config.stash[_key]

    def measure(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Figures:
        _wait_for_gpu()
        window = _Window(session, getattr(function, "__name__", "measured"))
        try:
            value = function(*arguments, **keywords)
        finally:
            took = window.end()
        return Figures(value, int(took["launches"]), took["gpu_ns"] / 1e6, int(took["copies"]), int(took["copied_bytes"]), window.recorded)
    return measure


def _limits_of(item: Any) -> Dict[str, Any]:
    limits: Dict[str, Any] = {}
    for mark in item.iter_markers("gpuprof"):
        for name, value in mark.kwargs.items():
            if name == "max_peak":
                raise pytest.UsageError(_instead_of_peak)
            if name not in (*_limits, "fail_on"):
                raise pytest.UsageError(f"the mark gpuprof has no {name}; it has {', '.join((*_limits, 'fail_on'))}")
            limits.setdefault(name, value)
    return limits


def pytest_collection_modifyitems(items: List[Any]) -> None:
    for item in items:  # what a mark says wrong ends the run before it begins
        _limits_of(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: Any) -> Any:
    session, limits = item.config.stash[_key], _limits_of(item)
    if limits.get("fail_on"):
        session.clauses.append(limits["fail_on"])
    if not session.records and not any(name in limits for name in _limits):
        yield
        return
    window = _Window(session, item.nodeid)
    outcome = yield
    took = window.end()
    if not window.recorded:
        session.not_recorded += 1
        return
    session.lines.append((took["gpu_ns"] / 1e6, f"{took['gpu_ns'] / 1e6:12,.3f} ms {int(took['launches']):10,} launches  {item.nodeid}"))
    over = _what_is_over(took, limits)
    if over and outcome.excinfo is None:
        try:
            pytest.fail(over, pytrace=False)
        except pytest.fail.Exception as failure:
            outcome.force_exception(failure)


def _what_is_over(took: Dict[str, float], limits: Dict[str, Any]) -> str:
    found = {"max_gpu_ms": (took["gpu_ns"] / 1e6, "{:,.3f} ms of the GPU"), "max_launches": (took["launches"], "{:,.0f} launches"),
             "max_copied_bytes": (took["copied_bytes"], "{:,.0f} copied bytes")}
    return "; ".join(words.format(value) + f", {name} is {limits[name]:,}" for name, (value, words) in found.items()
                     if name in limits and value > limits[name])


def pytest_sessionfinish(session: Any, exitstatus: Any) -> None:
    ours = session.config.stash[_key]
    if ours.against and not ours.compare() and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    session = config.stash[_key]
    if not session.records and not session.not_recorded:
        return
    write = terminalreporter.write_line
    terminalreporter.section("gpuprof")
    for _, line in sorted(session.lines, key=lambda one: -one[0])[:20]:
        write(line)
    if len(session.lines) > 20:
        write(f"and {len(session.lines) - 20} more tests that took less")
    if session.not_recorded:
        write(f"{session.not_recorded} tests were not recorded, and their limits not checked: `gpuprof status` says why")
    if session.save and session.lines:
        write(f"capture: {session.file()}")
    if session.failure:
        write(session.failure)
    if session.comparison is not None:
        verdict = {True: "not worse", False: "worse", None: "cannot be decided"}[session.comparison.passed]
        write(f"compared with {session.against}: {verdict}")
        for clause in session.comparison.json["gate"]:
            write(clause["text"])

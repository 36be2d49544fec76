# SPDX-License-Identifier: Apache-2.0
"""gp.profile(): a capture around a part of a program."""
import enum
import functools
import os
import threading
import warnings
from typing import Any, Callable, Optional, TypeVar, Union

from . import live, ranges
from .captures import Run, Table, open as open_capture

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Action(enum.Enum):
    """The purpose of a step of a schedule."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3  # the last one of a cycle


class schedule:
    """Which steps are recorded: after `skip_first`, `repeat` times (0: for ever) `wait` and `warmup` steps that are not, `active` that are.

    A step is what lies between two calls of ``prof.step()``; the first begins with the profile.

    Raises:
        ValueError: it records nothing, or a number is negative.
    """

    def __init__(self, wait: int = 0, warmup: int = 0, active: int = 1, repeat: int = 0, skip_first: int = 0) -> None:
        self.wait, self.warmup, self.active, self.repeat, self.skip_first = wait, warmup, active, repeat, skip_first
        if active < 1 or min(wait, warmup, repeat, skip_first) < 0:
            raise ValueError(f"{self!r} records nothing: active is at least 1, and nothing is negative")

    def __repr__(self) -> str:
        return "schedule(" + ", ".join(f"{name}={value}" for name, value in vars(self).items()) + ")"

    def __call__(self, step: int) -> Action:
        """Tells the purpose of step number `step`, from 0."""
        step -= self.skip_first
        cycle = self.wait + self.warmup + self.active
        if step < 0 or (self.repeat > 0 and step >= self.repeat * cycle):
            return Action.NONE
        place = step % cycle
        if place < self.wait:
            return Action.NONE
        if place < self.wait + self.warmup:
            return Action.WARMUP
        return Action.RECORD_AND_SAVE if place == cycle - 1 else Action.RECORD


_running: Optional["profile"] = None
_lock = threading.Lock()


def _in_forked_child() -> None:
    global _lock, _running
    _lock, _running = threading.Lock(), None  # another thread of the parent may have held it


os.register_at_fork(after_in_child=_in_forked_child)


class profile:
    """A capture around a block, or around each call of a function.

        with gp.profile("run.gpuprof", metrics="auto", schedule=gp.schedule(wait=1, warmup=1, active=3, repeat=1)) as prof:
            for batch in loader:
                train(batch)
                prof.step()
        print(prof.run.analyze())

    All parts of one process go into one file: the first profile names it. A profile inside a running one records into that one, and
    says so. Where nothing can be recorded (no GPU, a forked child) the block runs all the same, with one warning.

    CUDA may have begun before. NVTX ranges of other libraries are seen from their first one on only where this library was loaded before
    it: import and profile early, or run the program with `gpuprof profile`.

    Args:
        output: the file; ".gpuprof" is added. None: GPUPROF_OUTPUT, else "report1.gpuprof" and so on.
        metrics: hardware counters: "auto" within 1 % of the time, "sampled", "exact", or names; None: none.
        schedule: which steps are recorded; None: all of the block.
        on_ready: called with this object after each cycle of the schedule, and at the end where there is none.
        **options: further ones of `gpuprof profile`, with underscores: ``trace="cuda,nvtx,sync"``. They hold for the process.

    Raises:
        FileNotFoundError, PermissionError: entering it, where the folder of `output` is not there or cannot be written.
        Error: entering it, where the library cannot be loaded.
    """

    def __init__(self, output: Union[str, "os.PathLike[str]", None] = None, *, metrics: Optional[str] = None,
                 schedule: Optional[Callable[[int], Any]] = None, on_ready: Optional[Callable[["profile"], Any]] = None, **options: Any) -> None:
        self._output, self._options = output, {"metrics": metrics, **options}
        self._schedule, self._on_ready = schedule, on_ready
        self._step, self._process = 0, 0
        self._recording = self._is_inner = self._said = False
        self._step_range = ranges.range("step", domain="gpuprof")  # as gpuprof_step() makes them
        self.path: Optional[str] = None  # of the file, once something was recorded

    # -- the block

    def __enter__(self) -> "profile":
        global _running
        with _lock:
            self._is_inner = _running is not None and _running._process == os.getpid()
            if not self._is_inner:
                _check_folder(self._output)
                _running = self
        self._process, self._step = os.getpid(), 0
        if self._is_inner:
            self._warn(f"a profile runs already: this one records into {_running.path if _running else 'it'}, and ends with it")
            return self
        live.prepare(**self._options)
        self._act()
        if self._recording and self._schedule is not None:
            self._step_range.__enter__()
        return self

    def __exit__(self, kind: Any = None, *unused: Any) -> None:
        global _running
        if self._is_inner or os.getpid() != self._process:  # a child has left the block of its parent: not its capture
            self._is_inner = False
            return
        try:
            was_recording = self._end()  # a step that is open has no end, and is none
            if self.path is not None and not was_recording:
                live.flush()  # kernels of the last cycle may have run on after its end
            if self._schedule is not None and self._step == 0 and kind is None:
                self._warn("step() was never called, so the schedule never went on: call prof.step() at the end of each step")
            elif was_recording:
                self._ready()
        finally:
            live.release_settings()
            with _lock:
                _running = None

    def start(self) -> None:
        """The beginning of the block, where there is no `with`."""
        self.__enter__()

    def stop(self) -> None:
        """The end of the block, where there is no `with`."""
        self.__exit__()

    def __call__(self, function: _Function) -> _Function:
        """A function whose calls are profiled."""
        @functools.wraps(function)
        def inside(*arguments: Any, **keywords: Any) -> Any:
            with self:
                return function(*arguments, **keywords)
        return inside  # type: ignore[return-value]

    def step(self) -> None:
        """A step has ended, and the next begins."""
        if self._is_inner or os.getpid() != self._process:
            return
        self._step += 1
        if self._schedule is None:
            live.step()
            return
        # Not live.step(): it would begin a step that lasts until the next cycle.
        if self._recording:
            self._step_range.__exit__()
        self._act()
        if self._recording:
            self._step_range.__enter__()

    @property
    def step_num(self) -> int:
        """How often step() was called since the block began."""
        return self._step

    def _action(self, step: int) -> str:
        return "RECORD" if self._schedule is None else self._schedule(step).name  # torch's own schedules, too

    def _act(self) -> None:
        """Starts and stops as the step that begins now wants it."""
        wanted = self._action(self._step).startswith("RECORD")
        ended_cycle = self._recording and self._step > 0 and self._action(self._step - 1) == "RECORD_AND_SAVE"
        if self._recording and (ended_cycle or not wanted):
            self._end()
            self._ready()
        if wanted and not self._recording:
            self._begin()

    def _begin(self) -> None:
        self._recording = live._start(self._output)
        why = live.last_message()
        if self._recording and live.capture_path() is None and not live.flush():  # the first capture makes the file in the background
            why = live.last_message()
            live.stop()
            self._recording = False
        if self._recording:
            self.path = live.capture_path()
        elif not self._said:
            self._said = True
            self._warn(why if why.startswith("nothing is") else f"nothing is recorded: {why}")

    def _end(self) -> bool:
        if not self._recording:
            return False
        self._recording = False
        if not live.stop() and live.is_capturing():
            self._warn(f"the capture is not whole yet: {live.last_message()}")
        self.path = live.capture_path() or self.path
        return True

    def _ready(self) -> None:
        if self._on_ready is not None:
            self._on_ready(self)

    @staticmethod
    def _warn(text: str) -> None:
        warnings.warn(text, RuntimeWarning, stacklevel=4)

    # -- what it found

    @property
    def run(self) -> Run:
        """The capture, to read: all that this process has recorded so far.

        Raises:
            FileNotFoundError: nothing was recorded.
        """
        if self.path is None:
            raise FileNotFoundError(2, "nothing was recorded: there is no capture to read")
        if self._recording:
            live.flush()
        return open_capture(self.path)

    def table(self, name: str, *columns: str) -> Table:
        """A table of the capture: see Run.table."""
        return self.run.table(name, *columns)

    def analyze(self, **options: Any) -> Any:
        """Tells what holds the program: see Run.analyze."""
        return self.run.analyze(**options)

    def totals(self) -> Any:
        """Counts and times so far: see gp.totals."""
        return live.totals()

    def __repr__(self) -> str:
        return f"<gp.profile: {'recording into' if self._recording else 'recorded into'} {self.path}>" if self.path else "<gp.profile: nothing yet>"


def _check_folder(output: Any) -> None:
    if output is None:
        return
    folder = os.path.dirname(os.path.abspath(os.fspath(output)))
    if "%" in folder:  # filled in by the library
        return
    if not os.path.isdir(folder):
        raise FileNotFoundError(2, f"there is no folder {folder}: make it, or choose another output")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(13, f"{folder} cannot be written: choose another output")

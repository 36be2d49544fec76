# SPDX-License-Identifier: Apache-2.0
"""Runs programs under the profiler in every way there is, and keeps the results of checks for one table at the end."""

import csv
import functools
import io
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
PREFIX = HERE.parents[2]  # <prefix>/libexec/gpuprof/gpu-check


def first_existing(*candidates):
    for candidate in candidates:
        if candidate.exists():
            return candidate
    sys.exit(f"gpu-check: none of these is there: {', '.join(map(str, candidates))}")


LIBRARY = first_existing(*(PREFIX / lib / "libgpuprof.so" for lib in ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu")))
COMMAND = first_existing(PREFIX / "bin" / "gpuprof")
WORKLOAD = first_existing(HERE.parent / "gpu_workload")
TORCH_WORKLOAD = HERE / "torch_workload.py"
SCRATCH = pathlib.Path(tempfile.mkdtemp(prefix="gpu-check-"))

_number = 0
rows = []  # (name, measured, goal, verdict)
logs = {}  # what profiled programs wrote to stderr, by run
outcomes = []  # (run, what is wrong with it in words or "") of every profiled program that ran by itself


class Run:
    """A finished program: its exit code, its "name value" lines, and what it captured."""

    def __init__(self, code, out, err, capture, peak_kib, seconds=0.0):
        self.code, self.out, self.err, self.capture, self.peak_kib, self.seconds = code, out, err, capture, peak_kib, seconds
        self.values = {}
        for line in out.splitlines():
            words = line.split()
            if len(words) == 2:
                self.values.setdefault(words[0], []).append(words[1])

    def value(self, name, which=0):
        return float(self.values[name][which])

    def text(self, name):
        return self.values[name][0]

    def stats(self, report, *options):
        done = subprocess.run([COMMAND, "stats", "-r", report, "-f", "csv", *options, self.capture], capture_output=True, text=True, timeout=300)
        table = [line for line in done.stdout.splitlines() if "," in line]
        return list(csv.DictReader(io.StringIO("\n".join(table))))

    def kernels(self, *options):
        return sum(int(row["Instances"].replace(",", "")) for row in self.stats("cuda_gpu_kern_sum", *options))

    def overview(self):
        done = subprocess.run([COMMAND, "stats", "-r", "cuda_gpu_kern_sum", self.capture], capture_output=True, text=True, timeout=300)
        return done.stdout.splitlines()[:4]

    def costs(self):
        done = subprocess.run([COMMAND, "analyze", "-f", "json", self.capture], capture_output=True, text=True, timeout=300)
        return json.loads(done.stdout)["cost"]

    def lost(self):
        for line in self.overview():
            if line.startswith("lost:"):
                return line[len("lost:"):].strip()
        return "no line says"


def with_toolkit(environment):
    """CUPTI where toolkits put it, for the floor and for us alike."""
    folders = [str(p) for root in ("/usr/local/cuda",) for p in (pathlib.Path(root) / "extras/CUPTI/lib64", pathlib.Path(root) / "lib64") if p.exists()]
    environment["LD_LIBRARY_PATH"] = ":".join(folders + [environment.get("LD_LIBRARY_PATH", "")])
    return environment


def preload_of(library):
    """What shares CUPTI lies beside a library; older ones have it in themselves."""
    beside = pathlib.Path(library).parent / "libgpuprof_preload.so"
    return beside if beside.exists() else library


def run(words, traced=True, way="preload", timeout=180, toolkit=True, injected=None, library=LIBRARY, **settings):
    global _number
    _number += 1
    capture = SCRATCH / f"run{_number}.gpuprof"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GPUPROF_")}
    if toolkit:
        environment = with_toolkit(environment)
    if injected is not None:
        environment["CUDA_INJECTION64_PATH"] = str(injected)
    if traced:
        environment["GPUPROF_OUTPUT"] = str(capture)
        environment.update({f"GPUPROF_{name.upper()}": str(value) for name, value in settings.items()})
        if way == "preload":
            environment["LD_PRELOAD"] = str(preload_of(library))
        elif way == "injection":
            environment["CUDA_INJECTION64_PATH"] = str(LIBRARY)
            environment["NVTX_INJECTION64_PATH"] = str(LIBRARY)
        elif way == "command":
            words = [COMMAND, "profile", "--peaks", "off", *words]
        elif way != "linked":
            raise ValueError(way)
    begin = time.monotonic()
    code, out, err, peak_kib = finish(list(map(str, words)), environment, timeout)
    return Run(code, out, err, capture, peak_kib, time.monotonic() - begin)


def finish(words, environment, timeout):
    """Exit code, output, errors and peak memory in KiB of a program that is killed, with all it started, after `timeout` seconds."""
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        child = subprocess.Popen(words, env=environment, stdout=out, stderr=err, preexec_fn=os.setpgrp)
        alarm = threading.Timer(timeout, os.killpg, (child.pid, signal.SIGKILL))
        alarm.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:  # interrupted: its group has no terminal that would tell it
            os.killpg(child.pid, signal.SIGKILL)
            raise
        finally:
            alarm.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return child.returncode, out.read(), err.read(), usage.ru_maxrss


def workload(*words, **more):
    return run([WORKLOAD, *words], **more)


def row(name, measured, goal, met):
    verdict = met if isinstance(met, str) else ("met" if met else "MISSED")
    rows.append((name, str(measured), goal, verdict))
    print(f"  {name}: {measured} ({goal}) {verdict}", flush=True)
    write_results()


def outcome_row():
    """Over all checks that ran: whether any program hung, ended otherwise or came to another result because it was profiled."""
    if outcomes:
        wrong = [f"{name}: {how}" for name, how in outcomes if how]
        row("profiled runs that hang, break or come to another result", f"{len(wrong)} of {len(outcomes)} {'; '.join(wrong)[:300]}".strip(), "0", not wrong)


def keep_log(name, text):
    """The end of what a run wrote to stderr, for the file of results."""
    if text.strip():
        logs[name] = text[-4000:]


@functools.lru_cache
def gpus():
    """The names of the GPUs here."""
    try:
        listed = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return []
    return listed.stdout.splitlines() if listed.returncode == 0 else []


def write_results():
    """All rows so far, as JSON, into the file that GPU_CHECK_RESULTS names: a suite that is cut off leaves what it had."""
    path = os.environ.get("GPU_CHECK_RESULTS")
    if path:
        table = [dict(zip(("check", "measured", "goal", "verdict"), row)) for row in rows]
        pathlib.Path(path).write_text(json.dumps({"gpus": gpus(), "rows": table, "logs": logs}, indent=1))


def ratio_of_medians(above, below):
    return statistics.median(above) / statistics.median(below)


def print_table():
    widths = [max(len(r[i]) for r in rows + [("check", "measured", "goal", "verdict")]) for i in range(4)]
    for r in [("check", "measured", "goal", "verdict"), tuple("-" * w for w in widths), *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(r, widths)).rstrip())


def clean_up():
    shutil.rmtree(SCRATCH, ignore_errors=True)

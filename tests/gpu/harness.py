"""Runs programs under the profiler in every way there is, and keeps the results of checks for one table at the end."""

import csv
import io
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading

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


class Run:
    """A finished program: its exit code, its "name value" lines, and what it captured."""

    def __init__(self, code, out, err, capture, peak_kib):
        self.code, self.out, self.err, self.capture, self.peak_kib = code, out, err, capture, peak_kib
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


def run(words, traced=True, way="preload", timeout=180, **settings):
    global _number
    _number += 1
    capture = SCRATCH / f"run{_number}.gpuprof"
    environment = with_toolkit({k: v for k, v in os.environ.items() if not k.startswith("GPUPROF_")})
    if traced:
        environment["GPUPROF_OUTPUT"] = str(capture)
        environment.update({f"GPUPROF_{name.upper()}": str(value) for name, value in settings.items()})
        if way == "preload":
            environment["LD_PRELOAD"] = str(LIBRARY)
        elif way == "injection":
            environment["CUDA_INJECTION64_PATH"] = str(LIBRARY)
            environment["NVTX_INJECTION64_PATH"] = str(LIBRARY)
        elif way == "command":
            words = [COMMAND, "profile", *words]
        elif way != "linked":
            raise ValueError(way)
    code, out, err, peak_kib = finish(list(map(str, words)), environment, timeout)
    return Run(code, out, err, capture, peak_kib)


def finish(words, environment, timeout):
    """Exit code, output, errors and peak memory in KiB of a program that is killed after `timeout` seconds."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(words, env=environment, stdout=out, stderr=err)
        alarm = threading.Timer(timeout, child.kill)
        alarm.start()
        _, status, usage = os.wait4(child.pid, 0)
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


def ratio_of_medians(above, below):
    return statistics.median(above) / statistics.median(below)


def print_table():
    widths = [max(len(r[i]) for r in rows + [("check", "measured", "goal", "verdict")]) for i in range(4)]
    for r in [("check", "measured", "goal", "verdict"), tuple("-" * w for w in widths), *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(r, widths)).rstrip())


def clean_up():
    shutil.rmtree(SCRATCH, ignore_errors=True)

# SPDX-License-Identifier: Apache-2.0
"""Captures to export, and the command that does it. A test of a format imports it:

    import export_cases

    class Sqlite(export_cases.Case):
        def test_counts(self):
            for capture in self.captures():
                with self.subTest(capture.name):
                    out = self.export(capture, "sqlite")

    export_cases.main()
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import processes

sys.path.insert(0, str(pathlib.Path(processes.path("EXPORT_TESTS")).parent / "replay"))
from gpuprof_test import Gpuprof  # noqa: E402

main = processes.main
MADE = ("hostile", "only_ranges", "odd", "python", "empty")
_kept = tempfile.TemporaryDirectory(prefix="gpuprof-export-")


class Case(Gpuprof):
    """A test with a folder of its own; captures are made once for all tests of a file."""

    def made(self, name):
        """One of MADE: hostile names, ranges alone, odd times and numbers, Python stacks, nothing at all."""
        folder = pathlib.Path(_kept.name)
        if not (folder / "hostile.gpuprof").exists():
            subprocess.run([processes.path("BUILT_MADE_CAPTURES"), folder], check=True)
        return folder / f"{name}.gpuprof"

    def training(self, kernels, rank=None):
        """A capture of a training of so many kernels."""
        file = pathlib.Path(_kept.name) / f"training-{kernels}-{rank}.gpuprof"
        if not file.exists():
            ranked = [] if rank is None else ["--rank", str(rank)]
            subprocess.run([processes.path("BUILT_MADE_CAPTURES"), file, "--training", str(kernels), *ranked], check=True)
        return file

    def job_rank(self, rank, steps=6):
        """A capture of one rank of four, with calls, copies, collectives, waits, operators of PyTorch and counters of launches."""
        file = pathlib.Path(_kept.name) / f"profiled-job-{steps}-{rank}.gpuprof"
        if not file.exists():
            subprocess.run([processes.path("BUILT_MADE_CAPTURES"), file, "--profiled-job", str(steps), "--rank", str(rank)], check=True)
        return file

    def with_power(self):
        """A capture of 20 steps in which NVML said 650 W, 1,700 MHz and 60 degrees at three moments."""
        file = pathlib.Path(_kept.name) / "steps.gpuprof"
        if not file.exists():
            subprocess.run([processes.path("BUILT_MADE_CAPTURES"), file, "--steps", "20"], check=True)
        return file

    def of_session(self, name):
        """The capture of a session that was recorded on an H200, with API calls, played here."""
        file = pathlib.Path(_kept.name) / f"{name}.gpuprof"
        if not file.exists():
            run = self.profile(processes.recorded(name), trace="cuda,nvtx,cuda-api,sync,cuda-memory")
            self.assertEqual(run.code, 0, run.err)
            self.capture.rename(file)
        return file

    def captures(self):
        """Every kind there is: of recorded sessions, of an H200 with counters, made ones."""
        sessions = [self.of_session(pathlib.Path(s).stem) for s in processes.all_recorded()]
        return sessions + sorted(pathlib.Path(processes.path("H200_CAPTURES")).glob("*.gpuprof")) + [self.made(n) for n in MADE]

    def repaired(self, name):
        """The capture of a fault and its repair, with steps."""
        return pathlib.Path(processes.path("H200_CAPTURES")).parent / "repaired" / f"{name}.gpuprof"

    def run_export(self, capture, kind, *options):
        return self.run_program(processes.path("BUILT_GPUPROF"), "export", capture, "--type", kind, *options, timeout=300)

    def export(self, capture, kind, *options, name=None):
        """Where it was written to; nothing but that may be said on stderr unless the capture lacks something."""
        out = self.folder / (name or f"{pathlib.Path(capture).stem}.{kind}")
        run = self.run_export(capture, kind, "-o", out, "--force-overwrite", *options)
        self.assertEqual((run.code, run.out), (0, ""), run.err)
        self.assertTrue(out.exists())
        self.assertEqual([f.name for f in self.folder.iterdir() if "unfinished" in f.name], [])
        return out

    def stats(self, capture, report):
        """Rows of `gpuprof stats`; [] where the capture has nothing for it."""
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", report, "-f", "json", capture)
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out[run.out.index("["):]) if "[" in run.out else []

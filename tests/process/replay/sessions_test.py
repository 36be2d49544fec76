# SPDX-License-Identifier: Apache-2.0
"""Plays each session of tests/data/sessions under the shipped library and compares what `gpuprof stats` says with NAME.stats.txt beside it.

GPUPROF_UPDATE_GOLDEN=1 writes those files anew, to be read in review like code. A session and its file are a test: no code is written for it.
"""
import csv
import difflib
import io
import os
import pathlib

import processes
from gpuprof_test import Gpuprof

SESSIONS = pathlib.Path(processes.path("RECORDED_SESSIONS"))
# What a GPU did has its recorded times. What the host did takes as long as it takes here: of these reports only the columns that do not depend
# on it, and rows in the order of their text. Ranges from start to end hold what was launched meanwhile, which depends on it too.
REPORTS = {
    "cuda_gpu_kern_gb_sum:base": None,
    "cuda_gpu_mem_time_sum": None,
    "cuda_gpu_mem_size_sum": None,
    "cuda_api_sum": ("Name", "Num Calls"),
    "nvtx_sum": ("Range", "Style", "Instances"),
    "nvtx_kern_sum:base": ("NVTX Range", "Style", "NVTX Inst", "Kern Inst", "Total Time (ns)", "Min (ns)", "Max (ns)", "Kernel Name"),
    "nvtx_gpu_proj_sum": ("Range", "Style", "Range Instances", "Total GPU Ops", "Avg Range Lvl", "Avg Num Child"),
}


def lines_of(rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().splitlines()


def chosen(text, columns):
    """The lines of a report, with these columns alone."""
    heads, *rows = csv.reader(io.StringIO(text))
    if columns is None:
        return lines_of([heads, *rows])
    places = [heads.index(column) for column in columns]
    timed = "NVTX Inst" in heads or "Total GPU Ops" in heads
    kept = [row for row in rows if not (timed and row[heads.index("Style")] == "StartEnd")]
    return lines_of([columns]) + sorted(lines_of([row[p] for p in places] for row in kept))


class Sessions(Gpuprof):
    def stats(self, session):
        """What the golden file of a session must say."""
        played = self.profile(session, trace="cuda,nvtx,cuda-api", cuda_graph_trace="node")
        self.assertEqual(played.code, 0, played.err)
        self.assertEqual(self.kernels(), processes.numbers(played.out)["kernels"])
        self.assertEqual(self.lost(), "lost: nothing")
        sections = []
        for report, columns in REPORTS.items():
            run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", report, "-f", "csv", self.capture)
            self.assertEqual(run.code, 0, run.err)
            sections.append("\n".join([report, *chosen(run.out, columns)]) + "\n")
        return "\n".join(sections)

    def check(self, session):
        golden = pathlib.Path(session).with_suffix(".stats.txt")
        now = self.stats(session)
        if os.environ.get("GPUPROF_UPDATE_GOLDEN"):
            golden.write_text(now)
        self.assertTrue(golden.exists(), f"{golden} is missing. Write it with GPUPROF_UPDATE_GOLDEN=1, and read it.")
        difference = difflib.unified_diff(golden.read_text().splitlines(), now.splitlines(), str(golden), "now", lineterm="", n=1)
        if text := "\n".join(difference):
            self.fail(f"{text}\nGPUPROF_UPDATE_GOLDEN=1 writes the file anew")

    def test_each_file_has_its_session(self):
        for golden in SESSIONS.glob("*.stats.txt"):
            self.assertTrue((SESSIONS / golden.name.replace(".stats.txt", ".gprec")).exists(), golden)


def test_of(session):
    return lambda self: self.check(session)


for session in processes.all_recorded():
    setattr(Sessions, "test_" + pathlib.Path(session).stem, test_of(session))

if __name__ == "__main__":
    processes.main()

# SPDX-License-Identifier: Apache-2.0
"""gpuprof export --type nsys-recipes, read by the real `nsys recipe`: numbers of `gpuprof stats`, several ranks."""
import collections
import csv
import os
import pathlib
import subprocess
import sys

import clients
import parquet_tables
import processes

NSYS = "usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64/nsys"


def setUpModule():
    global nsys, packages
    if not pathlib.Path(processes.path("BUILT_GPUPROF")).with_name("export-parquet").exists():
        clients.missing("export-parquet", "this build has no Arrow")
    if sys.version_info[:2] > (3, 11):
        clients.missing("nsys recipe", "the recipes of 2023.4.4 need Python 3.11 or older")
    nsys = clients.folder_of("nsys")
    nsys = nsys if nsys.is_file() else nsys / NSYS
    packages = clients.folder_of("nsys_recipes")
    (nsys.parent / "python/packages/nsys_recipe/third_party").mkdir(exist_ok=True)  # which Debian leaves out


class Recipes(parquet_tables.Case):
    def recipe(self, folder, name, *options):
        """Where its results are. Its exit status is 0 whatever happens, so its words count."""
        out = self.folder / f"out-{name}"
        run = subprocess.run([nsys, "recipe", name, "--input", folder, "--output", out, "--mode", "none", *options], capture_output=True, text=True,
                             env={**os.environ, "PYTHONPATH": str(packages)}, timeout=120)
        self.assertIn("Generated:", run.stdout + run.stderr)
        for word in ("ERROR", "Exporting", "Traceback"):
            self.assertNotIn(word, run.stdout + run.stderr)
        return out

    def rows(self, folder, name, file, *options):
        with open(self.recipe(folder, name, "--csv", *options) / file, newline="", encoding="utf-8") as text:
            return list(csv.DictReader(text))

    def exported(self, *captures):
        out = self.folder / "job"
        for capture in captures:
            run = self.run_export(capture, "nsys-recipes", "-o", out)
            self.assertEqual(run.code, 0, run.err)
        return out

    def test_rows_of_ranks_are_shown_together(self):
        job = self.exported(*(self.fleet(0, rank) for rank in (4, 5)))
        kernels = self.rows(job, "cuda_gpu_kern_sum", "rank_stats.csv")
        self.assertEqual({(row["Name"], row["File"]): int(row["Total Time"]) for row in kernels if "gemm(" in row["Name"]},
                         {("gemm(float*)", "rank4"): 3_200_000, ("gemm(float*)", "rank5"): 4_000_000})
        ranges = self.rows(job, "nvtx_sum", "all_stats.csv")
        self.assertEqual({row["Text"]: int(row["Count"]) for row in ranges}, {"step": 20, "forward": 20, "backward": 20})
        projected = {row["Text"]: int(float(row["Sum"])) for row in self.rows(job, "nvtx_gpu_proj_sum", "rank_stats.csv") if row["File"] == "rank5"}
        self.assertEqual(projected["forward"], 10 * 400_000)
        self.recipe(job, "nvtx_gpu_proj_trace")
        self.recipe(job, "cuda_gpu_kern_pace", "--name", "gemm")
        self.recipe(job, "cuda_gpu_time_util_map")

    def test_numbers_are_those_of_stats(self):
        capture = self.of_session("train_step")
        job = self.exported(capture)
        found = {row["Name"]: (int(row["Instances"]), int(row["Total Time"])) for row in self.rows(job, "cuda_gpu_kern_sum", "all_stats.csv")}
        self.assertEqual(found, {row["Name"]: (row["Instances"], row["Total Time (ns)"]) for row in self.stats(capture, "cuda_gpu_kern_sum")})
        found = {row["Text"]: int(row["Count"]) for row in self.rows(job, "nvtx_sum", "all_stats.csv")}
        counts = collections.Counter()
        for row in self.stats(capture, "nvtx_sum"):
            counts[row["Range"].split(":")[-1]] += row["Instances"]
        self.assertEqual(collections.Counter({name.split(":")[-1]: count for name, count in found.items()}), counts)
        # No projection of it: played again its ranges lie inside of calls, which nsys 2023.4.4 fails on with a KeyError.

    def test_a_rank_is_not_replaced_unless_asked(self):
        self.exported(self.fleet(0, 4))
        run = self.run_export(self.fleet(1, 4), "nsys-recipes", "-o", self.folder / "job")
        self.assertEqual((run.code, run.err.count("\n")), (1, 1), run.err)
        self.assertIn("rank4", run.err)
        run = self.run_export(self.fleet(1, 4), "nsys-recipes", "-o", self.folder / "job", "--force-overwrite")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(sorted(f.name for f in (self.folder / "job").iterdir()), [".gpuprof-export", "rank4.nsys-rep", "rank4.sqlite", "rank4_pqtdir"])


parquet_tables.export_cases.main()

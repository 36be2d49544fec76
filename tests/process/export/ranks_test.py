# SPDX-License-Identifier: Apache-2.0
"""Several captures as the ranks of a job: figures over ranks against what was put into made captures, and played sessions."""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import export_cases
import processes

# As in `job` of made_captures.cpp: eight ranks, kernels of one step, microseconds.
STEPS, RANKS, KERNELS, SLOW = 200, range(8), 19, 5
OF_KERNEL = {rank: 30 if rank == SLOW else 20 for rank in RANKS}
START = {rank: 10 + rank + KERNELS * OF_KERNEL[rank] for rank in RANKS}  # of the all-reduce
WAIT = sum(START[SLOW] - START[rank] for rank in RANKS)
GEMM, SUM = "work(float*)", "ncclDevKernel_AllReduce_Sum_f32()"
_kept = {}


def us(microseconds):
    return 1000 * microseconds


class Ranks(export_cases.Case):
    def job(self, ranks=RANKS, steps=STEPS):
        """A folder with a capture of each of these ranks, whose names say nothing of ranks."""
        folder = self.folder / "job"
        folder.mkdir(exist_ok=True)
        for rank in ranks:
            if (rank, steps) not in _kept:
                file = pathlib.Path(export_cases._kept.name) / f"job-{steps}-{rank}.gpuprof"
                subprocess.run([processes.path("BUILT_MADE_CAPTURES"), file, "--job", str(steps), "--rank", str(rank)], check=True)
                _kept[rank, steps] = file
            shutil.copy(_kept[rank, steps], folder / f"{'hgfedcba'[rank]}.gpuprof")
        return folder

    def gpuprof(self, *words, timeout=120):
        return self.run_program(processes.path("BUILT_GPUPROF"), *words, timeout=timeout)

    def rows(self, report, *captures):
        run = self.gpuprof("stats", "-r", report, "-f", "json", *captures)
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out), run.err


class Stats(Ranks):
    def test_each_rank_has_a_line_and_lines_are_sorted_by_rank(self):
        rows, _ = self.rows("ranks_sum", self.job())
        self.assertEqual([row["Rank"] for row in rows], [str(rank) for rank in RANKS])
        for rank, row in zip(RANKS, rows):
            self.assertEqual(row["Capture"][-len("h.gpuprof"):], f"{'hgfedcba'[rank]}.gpuprof")
            self.assertEqual(row["Host"], "node1" if rank < 4 else "node2")
            self.assertEqual((row["Kernels"], row["Window (ns)"]), (STEPS * (KERNELS + 1), STEPS * us(1000)))
            self.assertEqual(row["Work Time (ns)"], STEPS * KERNELS * us(OF_KERNEL[rank]))
            self.assertEqual(row["GPU Busy (ns)"], row["Work Time (ns)"] + row["Collective Time (ns)"])

    def test_a_range_shows_its_slowest_rank_and_the_rank_with_most_work(self):
        ranges = {row["Range"]: row for row in self.rows("ranks_range_sum", self.job())[0]}
        forward = ranges["forward"]
        self.assertEqual((forward["Avg Min (ns)"], forward["Avg Med (ns)"], forward["Avg Max (ns)"]), (us(100), us(135), us(170)))
        self.assertEqual((forward["Slowest"], forward["Most Work"], forward["Spread (%)"]), ("7", str(SLOW), 51.9))
        self.assertEqual((ranges["step"]["Work Med (ns)"], ranges["step"]["Work Max (ns)"]), (us(KERNELS * 20), us(KERNELS * 30)))
        self.assertEqual((ranges["step"]["Spread (%)"], ranges["step"]["Instances"]), (0, STEPS * 8))

    def test_kernels_show_their_spread_over_ranks(self):
        kernels = {row["Name"]: row for row in self.rows("ranks_kern_sum", self.job())[0]}
        self.assertEqual((kernels[GEMM]["Avg Med (ns)"], kernels[GEMM]["Avg Max (ns)"]), (us(20), us(30)))
        self.assertEqual((kernels[GEMM]["Slowest"], kernels[GEMM]["Spread (%)"], kernels[GEMM]["Ranks"]), (str(SLOW), 50.0, 8))
        base = {row["Name"] for row in self.rows("ranks_kern_sum:base", self.job())[0]}
        self.assertEqual(base, {"work", "ncclDevKernel_AllReduce_Sum_f32"})

    def test_waits_between_ranks_are_found_although_the_clocks_of_the_hosts_differ(self):
        (row,), notes = self.rows("ranks_collective_sum", self.job())
        self.assertEqual((row["Matched"], row["Unmatched"], row["Ranks"], row["Name"]), (STEPS, 0, 8, SUM))
        self.assertEqual((row["Last"], row["Times Last (%)"], row["Waits Longest"]), (str(SLOW), 100, "0"))
        # The ends by which the clocks are aligned are up to 0.8 us apart.
        self.assertAlmostEqual(row["Start Spread Avg (ns)"], us(START[SLOW] - START[0]), delta=800)
        self.assertAlmostEqual(row["Wait Time (ns)"], STEPS * us(WAIT), delta=STEPS * 8 * 800)
        self.assertRegex(notes, r"clocks: node2 is 5(\.000)? ms ahead of node1, \+- \d+ ns, by 800 ends of collectives")

    def test_without_collectives_on_both_hosts_the_clock_error_is_reported_as_unknown(self):
        run = self.gpuprof("stats", "-r", "ranks_collective_sum", "-f", "json", "--filter-time", "/50us", self.job())
        self.assertIn("hold no kernels of collectives", run.err)
        one = self.job(ranks=[0], steps=100) / "h.gpuprof"
        other = self.job(ranks=[4], steps=50) / "d.gpuprof"
        (row,), notes = self.rows("ranks_collective_sum", one, other)
        self.assertEqual((row["Matched"], row["Unmatched"], row["Start Spread Avg (ns)"]), (50, 50, us(4)))  # five steps apart
        self.assertIn("clocks: node2 and node1 are taken to agree, with an unknown error", notes)

    def test_filters_hold_for_each_rank(self):
        job = self.job()
        (row,), _ = self.rows("ranks_kern_sum", "--kernel", "work", job)
        self.assertEqual((row["Name"], row["Instances"]), (GEMM, STEPS * KERNELS * 8))
        shutil.copy(self.made("odd"), job / "odd.gpuprof")
        rows, err = self.rows("cuda_gpu_kern_sum", "--kernel", "work", job)
        self.assertEqual(rows[0]["Ranks"], 8)
        self.assertRegex(err, "odd.gpuprof holds no kernel 'work'.*; the other captures are used")
        run = self.gpuprof("stats", "--kernel", "none", job)
        self.assertEqual((run.code, run.out), (1, ""))
        self.assertIn("nor do the other captures serve", run.err)
        self.assertEqual(self.gpuprof("stats", "--filter-time", "x", job).code, 2)

    def test_sums_over_ranks_equal_the_sums_of_the_captures(self):
        job = self.job()
        for report, key, total, count in (("cuda_gpu_kern_sum", "Name", "Total Time (ns)", "Instances"),
                                          ("nvtx_sum", "Range", "Total Time (ns)", "Instances"),
                                          ("nvtx_gpu_proj_sum", "Range", "Total Proj Time (ns)", "Range Instances"),
                                          ("nvtx_kern_sum", "NVTX Range", "Total Time (ns)", "Kern Inst")):
            with self.subTest(report):
                rows, _ = self.rows(report, job)
                each = [self.rows(report, file)[0] for file in sorted(job.iterdir())]
                for row in rows:
                    texts = {k: v for k, v in row.items() if isinstance(v, str) and k != "Slowest"}
                    same = [r for rows_of in each for r in rows_of if all(r[k] == v for k, v in texts.items())]
                    self.assertEqual(len(same), 8)
                    self.assertEqual(row[total], sum(r[total] for r in same))
                    self.assertEqual(row[count], sum(r[count] for r in same))
                    self.assertEqual((row["Rank Min (ns)"], row["Rank Max (ns)"]), (min(r[total] for r in same), max(r[total] for r in same)))

    def test_traces_have_the_lines_of_each_rank(self):
        run = self.gpuprof("stats", "-r", "cuda_gpu_trace", "-f", "csv", self.job(steps=5))
        rows = list(csv.DictReader(io.StringIO(run.out)))
        self.assertEqual([row["Rank"] for row in rows], [str(rank) for rank in RANKS for _ in range(5 * (KERNELS + 1))])
        self.assertEqual(rows[0]["Start (ns)"], str(us(10)))

    def test_reports_whose_columns_differ_between_captures_are_joined(self):
        h200 = sorted(pathlib.Path(processes.path("H200_CAPTURES")).glob("*.gpuprof"))
        rows, _ = self.rows("gpu_metrics_sum", *h200)
        each = [dict(row, Rank=file.stem) for file in h200 for row in self.rows("gpu_metrics_sum", file)[0]]
        self.assertEqual(len(rows), len(each))
        for row, alone in zip(rows, each):
            self.assertEqual({name: value for name, value in row.items() if value is not None or name in alone}, alone)

    def test_every_report_accepts_every_kind_of_capture(self):
        captures = [self.made(name) for name in export_cases.MADE] + [self.job(ranks=[2])] + list(pathlib.Path(processes.path("H200_CAPTURES")).glob("*.gpuprof"))
        help_text = self.gpuprof("stats", "--help").out
        reports = sorted(set(re.findall(r"\b(?:cuda|nvtx|gpu|um|ranks)_\w+_(?:sum|trace)\b", help_text)) | {"um_sum", "ranks_sum"})
        self.assertGreater(len(reports), 20)
        for kind in ("csv", "json", "table"):
            run = self.gpuprof("stats", "-r", ",".join(reports), "-f", kind, *captures)
            self.assertEqual(run.code, 0, run.err)

    def test_csv_of_a_report_without_rows_still_has_its_header(self):
        run = self.gpuprof("stats", "-r", "cuda_api_sum,um_sum", "-f", "csv", self.job())
        heads = [line for line in run.out.splitlines() if line]
        self.assertEqual([head.split(",")[0] for head in heads], ["Time (%)", "Rank"])
        self.assertIn("Slowest", heads[0])

    def test_captures_may_be_named_by_file_folder_or_pattern_and_each_counts_once(self):
        job = self.job()
        for words in ([job], [f"{job}/*.gpuprof"], [job, job / "a.gpuprof", f"{job}/[ab].gpuprof"], sorted(job.iterdir())):
            self.assertEqual(len(self.rows("ranks_sum", *words)[0]), 8)

    def test_missing_or_damaged_captures_are_named_and_the_others_are_used(self):
        job = self.job(ranks=[0, 1, 2, 5, 6])
        (job / "c.gpuprof").write_bytes(b"no capture")
        whole = (job / "h.gpuprof").read_bytes()
        (job / "h.gpuprof").write_bytes(whole[: len(whole) * 2 // 3])
        rows, err = self.rows("ranks_sum", job)
        self.assertEqual([row["Rank"] for row in rows], ["0", "1", "2", "6"])
        self.assertRegex(err, "c.gpuprof.*; the other captures are used")
        self.assertIn("the job has 8 ranks, captures of 4 are here; missing: 3, 4, 5 and 7", err)
        self.assertRegex(err, "lost: .*rank 0: whatever came last")

    def test_duplicate_and_unknown_ranks_are_reported(self):
        job = self.job(ranks=[0, 1])
        shutil.copy(job / "h.gpuprof", job / "again.gpuprof")
        shutil.copy(self.made("odd"), job / "lone.gpuprof")
        rows, err = self.rows("ranks_sum", job)
        self.assertEqual([row["Rank"] for row in rows], ["0 (pid 5000)", f"0 (pid 5000) {job}/h.gpuprof", "1", "lone"])
        self.assertIn("rank 0 has 2 captures, each counts: ", err)
        self.assertIn("no rank is known of ", err)

    def test_the_capture_of_a_launcher_is_not_a_rank(self):
        job = self.job(ranks=[0, 1])
        shutil.copy(self.made("only_ranges"), job / "torchrun.gpuprof")
        rows, err = self.rows("ranks_sum", job)
        self.assertEqual([row["Rank"] for row in rows], ["0", "1"])
        self.assertIn("torchrun.gpuprof, left out", err)

    def test_a_place_without_captures_gives_one_line(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for words, said in ((empty, "holds no captures"), (f"{empty}/*.gpuprof", "no file matches"), (empty / "x", "cannot open")):
            run = self.gpuprof("stats", words)
            self.assertEqual((run.code, run.out, run.err.count("\n")), (1, "", 1))
            self.assertIn(said, run.err)

    def test_eight_captures_with_a_hundred_thousand_kernels_each_need_little_cpu_time(self):
        job = self.job(steps=5_000)
        before = os.times()
        rows, _ = self.rows("ranks_sum", job)
        after = os.times()
        self.assertEqual(sum(row["Kernels"] for row in rows), 800_000)
        # Of a processor, whatever else runs: 0.1 s; sanitizers take more.
        self.assertLess(after.children_user - before.children_user, 10)


class Export(Ranks):
    def test_each_rank_gets_a_file_named_by_its_rank(self):
        job, out = self.job(ranks=[0, 3]), self.folder / "out"
        run = self.gpuprof("export", job, "--type", "json", "-o", out)
        self.assertEqual((run.code, run.out), (0, ""), run.err)
        self.assertEqual(sorted(f.name for f in out.iterdir() if f.name[0] != "."), ["rank0.json", "rank3.json"])
        self.assertEqual((out / "rank3.json").read_bytes(), self.export(job / "e.gpuprof", "json").read_bytes())
        run = self.gpuprof("export", job, "--type", "csv", "-o", out, "--force-overwrite")
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue((out / "rank3" / "kernel.csv").exists())

    def test_export_of_several_ranks_needs_a_named_folder_and_does_not_replace_it(self):
        job = self.job(ranks=[0, 3])
        run = self.gpuprof("export", job, "--type", "json")
        self.assertEqual((run.code, run.err.count("\n")), (2, 1))
        self.assertIn("name one with --output", run.err)
        mine = self.folder / "mine"
        mine.mkdir()
        (mine / "thesis.txt").write_text("mine")
        run = self.gpuprof("export", job, "--type", "json", "-o", mine, "--force-overwrite")
        self.assertEqual(run.code, 1, run.err)
        self.assertEqual([f.name for f in mine.iterdir()], ["thesis.txt"])

    def test_unreadable_captures_are_left_out_and_strict_makes_that_an_error(self):
        job = self.job(ranks=[0, 1, 2])
        (job / "f.gpuprof").write_bytes(b"no capture")
        for words, code in ([], 0), (["--strict", "--force-overwrite"], 1):
            run = self.gpuprof("export", job, "--type", "json", "-o", self.folder / "out", *words)
            self.assertEqual(run.code, code, run.err)
            self.assertRegex(run.err, "f.gpuprof.*; the other captures are used")
            self.assertEqual(sorted(f.name for f in (self.folder / "out").glob("rank*")), ["rank0.json", "rank1.json"])

    def test_an_interrupted_export_leaves_no_rank(self):
        job, out = self.job(steps=50_000), self.folder / "out"
        run = subprocess.Popen([processes.path("BUILT_GPUPROF"), "export", job, "--type", "csv", "-o", out], stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not any(self.folder.glob(".out.unfinished*/rank1")):
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        err = run.communicate()[1]
        self.assertEqual(run.returncode, 128 + signal.SIGINT, err)
        self.assertEqual([f.name for f in self.folder.iterdir()], ["job"])


class Roofline(Ranks):
    def setUp(self):
        super().setUp()
        h200 = pathlib.Path(processes.path("H200_CAPTURES"))
        self.counted = [h200 / "counted_auto.gpuprof", h200 / "mixed_exact.gpuprof"]

    def test_the_table_of_each_rank_follows_a_line_with_the_name_of_the_rank(self):
        run = self.gpuprof("roofline", *self.counted)
        self.assertEqual(run.code, 0, run.err)
        alone = [self.gpuprof("roofline", file).out for file in self.counted]
        for file, text in zip(self.counted, alone):
            self.assertRegex(run.out, f"(?m)^rank {file.stem} on .*{file.name}:$")
            self.assertIn(text, run.out)

    def test_each_rank_gets_its_own_output_file(self):
        run = self.gpuprof("roofline", *self.counted, "-o", self.folder / "roof.json")
        self.assertEqual(run.code, 0, run.err)
        for file in self.counted:
            alone = self.gpuprof("roofline", file, "-f", "json").out
            self.assertEqual(json.loads((self.folder / f"roof.{file.stem}.json").read_text()), json.loads(alone))
        run = self.gpuprof("roofline", *self.counted, "-f", "csv")
        self.assertEqual((run.code, run.out), (2, ""))

    def test_a_rank_without_counters_is_named(self):
        run = self.gpuprof("roofline", self.counted[0], self.made("odd"))
        self.assertEqual(run.code, 0, run.err)
        self.assertRegex(run.err, "odd.gpuprof holds no hardware counters")
        run = self.gpuprof("roofline", self.job(ranks=[0, 1]))
        self.assertEqual(run.code, 1, run.err)


class Played(Ranks):
    def test_two_runs_of_one_session_are_two_ranks(self):
        for rank in (0, 1):
            run = self.profile(processes.recorded("train_step"), env={"RANK": str(rank), "WORLD_SIZE": "3"})
            self.assertEqual(run.code, 0, run.err)
        captures = sorted(self.folder.glob("*.gpuprof"))
        self.assertEqual(len(captures), 2)
        rows, err = self.rows("ranks_sum", *captures)
        self.assertEqual([row["Rank"] for row in rows], ["0", "1"])
        self.assertIn("the job has 3 ranks, captures of 2 are here; missing: 2", err)
        one = sum(row["Instances"] for row in self.stats(captures[0], "cuda_gpu_kern_sum"))
        self.assertEqual([row["Kernels"] for row in rows], [one, one])
        for row in self.rows("ranks_range_sum", *captures)[0]:
            self.assertEqual(row["Ranks"], 2)

    def test_ranks_are_read_from_slurm_variables(self):
        for rank in (0, 1):
            run = self.profile(processes.recorded("launch_loop"), env={"SLURM_PROCID": str(rank), "SLURM_NTASKS": "2", "SLURM_JOB_ID": "17"})
            self.assertEqual(run.code, 0, run.err)
        rows, err = self.rows("ranks_sum", *self.folder.glob("*.gpuprof"))
        self.assertEqual([row["Rank"] for row in rows], ["0", "1"])
        self.assertNotIn("missing:", err)


# Starts so many ranks of a program as torchrun, mpirun or srun does, with the variables that it sets.
LAUNCHER = """
import os, subprocess, sys
rank, size, count = sys.argv[1:4]
started = [subprocess.Popen(sys.argv[4:], env={**os.environ, rank: str(i), size: count}) for i in range(int(count))]
sys.exit(max(one.wait() for one in started))
"""


class Launched(Ranks):
    """The commands of docs/ranks.md."""

    def launched(self, launcher, *before, rank="RANK", size="WORLD_SIZE", inside=()):
        """Runs [before] launcher [inside] program; the names of the captures."""
        play = (processes.path("BUILT_PLAY"), processes.recorded("launch_loop"))
        run = self.run_program(*before, *launcher(rank, size), *inside, *play)
        self.assertEqual(run.code, 0, run.err)
        return sorted(file.name for file in self.folder.glob("*.gpuprof"))

    @staticmethod
    def stand_in(rank, size):
        return ("python3", "-c", LAUNCHER, rank, size, "3")

    def mpirun(self, rank, size):
        if shutil.which("mpirun") is None:
            self.skipTest("there is no mpirun")
        return ("env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "mpirun", "--oversubscribe", "-n", "3")

    def profile_into(self, name):
        return (processes.path("BUILT_GPUPROF"), "profile", "-o", name)

    def test_in_front_of_the_launcher_each_rank_has_its_capture(self):
        self.assertEqual(self.launched(self.stand_in, *self.profile_into("job")), [f"job.rank{i}.gpuprof" for i in range(3)])
        rows, err = self.rows("ranks_sum", *self.folder.glob("job.*"))
        self.assertEqual([row["Rank"] for row in rows], ["0", "1", "2"])
        self.assertNotIn("missing:", err)

    def test_behind_the_launcher_each_rank_has_its_capture(self):
        for rank, size in (("SLURM_PROCID", "SLURM_NTASKS"), ("PMI_RANK", "PMI_SIZE")):
            captures = self.launched(self.stand_in, rank=rank, size=size, inside=self.profile_into(rank))
            self.assertLessEqual({f"{rank}.rank{i}.gpuprof" for i in range(3)}, set(captures))

    def test_mpirun_may_stand_before_or_behind(self):
        self.assertEqual(self.launched(self.mpirun, *self.profile_into("job")), [f"job.rank{i}.gpuprof" for i in range(3)])
        captures = self.launched(self.mpirun, inside=self.profile_into("inside"))
        self.assertEqual(captures, [f"{name}.rank{i}.gpuprof" for name in ("inside", "job") for i in range(3)])

    def test_one_rank_alone_is_profiled(self):
        first = ("bash", "-c", '[ "$SLURM_PROCID" = 0 ] || exec "$@"; exec "$0" profile -o first "$@"', processes.path("BUILT_GPUPROF"))
        self.assertEqual(self.launched(self.stand_in, rank="SLURM_PROCID", size="SLURM_NTASKS", inside=first), ["first.rank0.gpuprof"])


export_cases.main()

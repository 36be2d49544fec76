#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stats -r critical_path on recorded captures, against whatif of the same steps: critical_path_test.py GPUPROF DATA"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GPUPROF, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
PAGEABLE, CACHE = DATA / "repaired/pageable.gpuprof", DATA / "repaired/growing_cache.gpuprof"
RANK, NO_STEPS = DATA / "h100/ddp.rank0.gpuprof", DATA / "h200/mixed_exact.gpuprof"
PARTS = {"kernels": "kernels_ns", "copies": "copies_ns", "CPU work": "cpu_work_ns", "calls": "calls_ns",
         "starting work on the GPU": "start_ns", "unexplained delays": "unexplained_ns"}


def run(*words):
    return subprocess.run([GPUPROF, *map(str, words)], capture_output=True, text=True, timeout=100)


def rows_of(*words):
    done = run("stats", "-r", "critical_path", "-f", "csv", *words)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def number(row, column):
    return float(row[column] or 0)


class CriticalPath(unittest.TestCase):
    def test_shares_by_kind_sum_to_the_step(self):
        for words in ((PAGEABLE,), (PAGEABLE, "--filter-nvtx", "FIXED"), (CACHE, "--filter-nvtx", "FAULT"), (RANK,)):
            rows = rows_of(*words)
            step, kinds = rows[0], [row for row in rows if row["Kind"] == "kind"]
            self.assertEqual((step["Kind"], [row["Name"] for row in kinds]), ("step", list(PARTS)))
            for slow in ("", "Slow "):
                with self.subTest(words=words, slow=slow):
                    length = number(step, slow + "On Path (ns)")
                    self.assertGreater(length, 0)
                    self.assertAlmostEqual(sum(number(row, slow + "Share (%)") for row in kinds), 100, delta=0.3)
                    self.assertAlmostEqual(sum(number(row, slow + "On Path (ns)") for row in kinds) / length, 1, delta=1e-6)
                    named = sum(number(row, slow + "On Path (ns)") for row in rows if row["Kind"] in ("GPU work", "call", "CPU work in range"))
                    self.assertLessEqual(named, length * 1.000001)

    def test_no_name_has_more_time_on_the_path_than_in_the_step(self):
        for words in ((PAGEABLE,), (CACHE, "--filter-nvtx", "FAULT"), (RANK,)):
            for row in rows_of(*words)[1:]:
                for slow in ("", "Slow "):
                    if row[slow + "Total (ns)"]:
                        self.assertLessEqual(number(row, slow + "On Path (ns)"), number(row, slow + "Total (ns)") + 1, row)

    def test_the_slowest_steps_are_no_shorter_than_the_median(self):
        for words in ((PAGEABLE,), (CACHE, "--filter-nvtx", "FIXED"), (RANK,)):
            step = rows_of(*words)[0]
            self.assertGreaterEqual(number(step, "Slow On Path (ns)"), number(step, "On Path (ns)"))

    def test_kinds_of_steps_that_are_alike_agree_with_whatif(self):
        for capture, within in ((PAGEABLE, "FAULT"), (PAGEABLE, "FIXED"), (CACHE, "FAULT")):
            found = json.loads(run("whatif", capture, "--filter-nvtx", within, "--drop", "kernels", "-f", "json").stdout)
            kinds = {row["Name"]: number(row, "On Path (ns)") for row in rows_of(capture, "--filter-nvtx", within) if row["Kind"] == "kind"}
            for name, key in PARTS.items():
                with self.subTest(capture=capture.stem, within=within, kind=name):
                    self.assertAlmostEqual(kinds[name] / found["replayed_step_ns"], found["held_by"][key] / found["replayed_step_ns"], delta=0.03)

    def test_a_kernel_that_holds_nothing_is_seen_beside_the_path(self):
        rows = rows_of(CACHE, "--filter-nvtx", "FIXED")
        attention = next(row for row in rows if "sdpa" in row["Name"])
        self.assertEqual(number(attention, "On Path (ns)"), 0)
        self.assertGreater(number(attention, "Total (ns)"), 0.5 * number(rows[0], "On Path (ns)"))

    def test_table_and_json_say_the_same_as_csv(self):
        rows = rows_of(CACHE, "--filter-nvtx", "FAULT")
        found = json.loads(run("stats", "-r", "critical_path", "-f", "json", CACHE, "--filter-nvtx", "FAULT").stdout)
        self.assertEqual([row["Name"] for row in rows], [row["Name"] for row in found])
        self.assertEqual([number(row, "On Path (ns)") for row in rows], [row["On Path (ns)"] or 0 for row in found])
        table = run("stats", "-r", "critical_path", CACHE, "--filter-nvtx", "FAULT").stdout
        self.assertIn('of 12 replayed of 12 steps "step": the median step, and the slowest (Slow)', table)
        self.assertIn("CatArrayBatchedCopy", table)

    def test_a_step_of_another_name(self):
        done = run("stats", "-r", "critical_path", RANK, "--step", "forward")
        self.assertIn('steps "forward"', done.stdout)
        self.assertIn('there is no range "epoch"', run("stats", "-r", "critical_path", RANK, "--step", "epoch").stdout)

    def test_what_cannot_be_replayed_gets_the_line_of_whatif(self):
        why = run("whatif", NO_STEPS).stderr.rsplit(".gpuprof: ", 1)[1].strip()
        done = run("stats", "-r", "critical_path", NO_STEPS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.endswith(f"(critical_path):\n\n {why}\n"), done.stdout)
        self.assertEqual(rows_of(NO_STEPS), [])

    def test_a_filter_that_takes_away_a_part_of_the_step(self):
        done = run("stats", "-r", "critical_path", CACHE, "--kernel", "regex:Cat")
        self.assertEqual(done.returncode, 1)
        self.assertIn("only --filter-nvtx selects steps", done.stdout)

    def test_ranks_stand_one_after_the_other(self):
        done = run("stats", "-r", "critical_path", "-f", "csv", RANK, DATA / "h100/ddp.rank1.gpuprof")
        steps = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["Kind"] == "step"]
        self.assertEqual([row["Rank"] for row in steps], ["0", "1"])

    def test_a_capture_that_was_cut_off_gives_a_table_or_one_line(self):
        whole = CACHE.read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            for share in (0.2, 0.5, 0.8, 0.99):
                cut = pathlib.Path(folder) / "cut.gpuprof"
                cut.write_bytes(whole[: int(len(whole) * share)])
                done = run("stats", "-r", "critical_path", cut)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertTrue("the whole step" in done.stdout or done.stdout.rstrip().split("\n")[-2] == "", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

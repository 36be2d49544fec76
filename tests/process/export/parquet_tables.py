# SPDX-License-Identifier: Apache-2.0
"""Exports to Parquet for tests, the queries of docs/at-scale.md, and what they have to answer on ranks that were made for them."""
import datetime
import pathlib
import re
import subprocess

import export_cases
import processes

PAGE = pathlib.Path(processes.path("EXPORT_TESTS")).parents[2] / "docs/at-scale.md"
TABLES = ("kernel", "range", "capture", "peak", "metric", "reading_value")
RANKS = range(8)


def queries():
    """Heading -> SQL, of the page."""
    return dict(re.findall(r"^## (.*?)$.*?^```sql\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))


class Case(export_cases.Case):
    def fleet(self, day, rank):
        file = self.folder / f"fleet-{day}-{rank}.gpuprof"
        subprocess.run([processes.path("BUILT_MADE_CAPTURES"), file, "--fleet", str(day), "--rank", str(rank)], check=True)
        return file

    def job(self, day=0, out=None, *options):
        """The folder of a job of eight ranks, each added by a call of its own."""
        out = out or self.folder / "job"
        for rank in RANKS:
            run = self.run_export(self.fleet(day, rank), "parquet", "-o", out, *options)
            self.assertEqual(run.code, 0, run.err)
        return out

    def week(self):
        out = self.folder / "week"
        self.job(0, out, "--run", "monday")
        return self.job(1, out, "--run", "tuesday")

    def check_page(self, ask):
        """`ask(folder, sql)` gives rows as dictionaries. What is expected follows from fleet() of made_captures.cpp."""
        job, week = self.job(), self.week()
        sql = queries()
        answers = {head: ask(week if "days" in head else job, text) for head, text in sql.items()}
        by_head = lambda word: next(rows for head, rows in answers.items() if word in head)
        self.assertEqual(len(answers), 6)

        ranges = {row["path"]: row for row in by_head("in which range")}
        self.assertEqual(set(ranges), {"step", "step/forward", "step/backward"})
        forward = ranges["step/forward"]
        self.assertEqual(forward["slowest_rank"], 5)
        self.assertAlmostEqual(forward["slowest_ms"], 10 * 0.410)
        self.assertAlmostEqual(forward["behind_ms"], 10 * 0.080)
        self.assertNotEqual(ranges["step/backward"]["slowest_rank"], 5)  # the others wait there
        self.assertEqual(by_head("in which range")[0]["path"], "step/forward")

        computed = by_head("computes slowly")
        self.assertEqual((computed[0]["range_path"], computed[0]["slowest_rank"]), ("step/forward", 5))
        self.assertAlmostEqual(computed[0]["slowest_ms"], 4.0)
        self.assertAlmostEqual(computed[0]["behind"], 0.25)
        self.assertEqual({row["range_path"]: row["behind"] for row in computed}["step/backward"], 0)

        spread = by_head("days")
        self.assertEqual([row["base_name"] for row in spread], ["gemm", "gemm_last"])
        gemm = spread[0]
        self.assertEqual((gemm["rank_days"], gemm["slowest_rank"], gemm["slowest_day"]), (16, 2, datetime.date(2023, 11, 15)))
        self.assertEqual((gemm["fastest_us"], gemm["median_us"], gemm["slowest_us"], gemm["spread"]), (80, 80, 120, 0.5))
        self.assertEqual(spread[1]["spread"], 0)

        roof = {row["host"]: row for row in by_head("bandwidth")}
        self.assertEqual([roof[host]["launches"] for host in ("node1", "node2")], [40, 40])
        self.assertAlmostEqual(roof["node1"]["gb_per_s"], 2000)
        self.assertAlmostEqual(roof["node1"]["share_of_roof"], 0.5)
        self.assertAlmostEqual(roof["node2"]["share_of_roof"], 4 * 160e6 / (340e-6 * 4e12))

        exposed = by_head("not hidden")
        self.assertEqual([row["rank"] for row in exposed], [5, 0, 1, 2, 3, 4, 6, 7])
        for row in exposed:
            slow = row["rank"] == 5
            self.assertAlmostEqual(row["communication_ms"], 2.0 if slow else 2.8)
            self.assertAlmostEqual(row["exposed_ms"], 1.0 if slow else 1.8)
            self.assertAlmostEqual(row["computation_ms"], 6.0 if slow else 5.2)

        self.assertEqual(by_head("incomplete"), [])

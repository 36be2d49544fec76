# SPDX-License-Identifier: Apache-2.0
"""gpuprof report of the ranks of a job: what the page holds of each and of all, equal to the other commands."""
import subprocess

import processes
import report_pages

PARTS = ("analyze", "stats", "roofline", "facts", "timeline")


class Ranks(report_pages.Case):
    def setUp(self):
        super().setUp()
        self.job = self.made_ranks("--fleet", 0, ranks=8)
        self.page = self.page_of(self.job)
        self.held = report_pages.documents_of(self.page)

    def test_each_rank_has_the_same_parts_as_on_its_own_page(self):
        known = self.held["captures"]
        self.assertEqual([one["label"] for one in known["captures"]], [str(rank) for rank in range(8)])
        for at in range(8):
            alone = report_pages.documents_of(self.page_of(self.job / f"rank{at}.gpuprof", "--force-overwrite"))
            for part in PARTS:
                self.assertEqual(self.held[f"capture-{at}-{part}"], alone[part], (at, part))
        self.assertFalse(set(PARTS) & set(self.held))

    def test_results_over_all_ranks_equal_those_of_analyze_and_stats(self):
        ranks = self.held["ranks"]
        self.assertEqual(ranks["analyze"], self.said("analyze", self.job))
        # Counters were read in each step, so nothing is replayed.
        late = next(one for one in ranks["analyze"]["findings"] + ranks["analyze"]["below_threshold"] if one["rule"] == "late_rank")
        self.assertIn("rank 5 comes last to 9 of 9 collectives", late["what"])
        self.assertEqual(late["potential_gain_ms"]["low"], 0)
        self.assertGreater(late["potential_gain_ms"]["high"], 0)
        for report in ("ranks_sum", "ranks_collective_sum", "ranks_range_sum", "ranks_kern_sum"):
            self.assertEqual(ranks["reports"][report]["rows"], self.said("stats", "-r", report, self.job), report)

    def test_steps_of_each_rank_equal_those_of_analyze(self):
        steps = self.held["ranks"]["steps"]
        self.assertEqual((steps["shown"], steps["left_out"], len(steps["of"])), (10, 0, 8))
        for rank, of in enumerate(steps["of"]):
            analyzed = self.said("analyze", self.job / f"rank{rank}.gpuprof")
            said, warm_up = analyzed["steps"], [None] * analyzed["part"]["first_step"]
            # A rank alone does not know that it waits for one whose launches are read.
            alone = lambda bucket: [step["ns"].get(bucket, 0) for step in said]  # noqa: E731
            first = len(warm_up)
            moved = [one - other for one, other in zip(alone("communication"), of["ns"]["communication"][first:])]
            self.assertEqual(any(ns > 0 for ns in moved), rank != 5)
            self.check_near(of["period_ns"], warm_up + [step["period_ns"] - ns for step, ns in zip(said, moved)])
            for bucket, values in of["ns"].items():
                sign = {"communication": -1, "profiler": 1}.get(bucket, 0)
                self.check_near(values, warm_up + [ns + sign * more for ns, more in zip(alone(bucket), moved)])

    def check_near(self, of, expected):
        self.assertEqual([ns is None for ns in of], [ns is None for ns in expected])
        for ns, other in zip(of, expected):
            if ns is not None:
                self.assertAlmostEqual(ns, other, delta=1)

    def test_waits_of_all_steps_equal_those_of_the_collectives(self):
        ranks = self.held["ranks"]
        waits = [sum(of["wait_ns"]) + sum(of["held_ns"]) for of in ranks["steps"]["of"]]
        self.assertEqual(sum(waits), sum(row["Wait Time (ns)"] for row in ranks["reports"]["ranks_collective_sum"]["rows"]))
        self.assertEqual(min(range(8), key=waits.__getitem__), 5)
        self.assertGreater(min(waits[:5]), 0)

    def test_ranks_may_be_named_by_file_folder_and_pattern(self):
        for names in ([self.job / f"rank{rank}" for rank in range(8)], [self.job / "rank*.gpuprof"], [self.job, self.job / "rank3.gpuprof"]):
            self.run_gpuprof("report", *names, "-o", self.folder / "again.html", "--force-overwrite")
            self.assertEqual(report_pages.documents_of(self.folder / "again.html")["captures"], self.held["captures"])

    def test_the_page_of_several_captures_is_written_beside_the_first(self):
        self.run_gpuprof("report", self.job)
        self.assertTrue((self.job / "report.html").exists())


class Held(report_pages.Case):
    def test_what_ranks_wait_for_one_that_the_profiler_held_is_no_time_of_the_step(self):
        # The second rank is held for 200 us of each step of a millisecond, before its collective.
        subprocess.run([processes.path("BUILT_ANALYZE_CAPTURES"), self.folder], check=True)
        job = self.folder / "job"
        job.mkdir()
        for rank in 0, 1:
            (self.folder / f"held.rank{rank}.gpuprof").rename(job / f"rank{rank}.gpuprof")
        waiting, held = report_pages.documents_of(self.page_of(job))["ranks"]["steps"]["of"]
        us = lambda ns: {round(value / 1000) for value in ns}  # noqa: E731
        self.assertEqual((us(waiting["held_ns"]), us(waiting["wait_ns"])), ({200}, {0}))
        self.assertEqual((us(held["held_ns"]), us(held["wait_ns"])), ({0}, {0}))
        self.assertEqual((us(waiting["period_ns"][:-1]), us(held["period_ns"][:-1])), ({800}, {795}))  # its collective begins 5 us later
        self.assertEqual((us(waiting["ns"]["profiler"]), us(held["ns"]["profiler"])), ({200}, {205}))
        self.assertEqual((us(waiting["ns"]["communication"]), us(held["ns"]["communication"])), ({80}, {80}))
        alone = self.said("analyze", job / "rank0.gpuprof")["steps"]
        self.assertEqual(us(step["ns"]["communication"] for step in alone), {280})
        self.assertEqual(us([step["period_ns"] for step in alone][:-1]), {1000})


class Limits(report_pages.Case):
    def test_captures_share_the_limit_on_bars_of_a_page(self):
        job = self.made_ranks("--fleet", 0, ranks=3)
        held = report_pages.documents_of(self.page_of(job))
        self.assertEqual(held["captures"]["max_bars"], 500_000 // 3)
        self.assertEqual(held["captures"]["max_rows"], 5000 // 3)

    def test_only_the_slowest_ranks_have_all_parts_if_there_are_too_many_ranks(self):
        job = self.made_ranks("--fleet", 0, "3", ranks=66)
        held = report_pages.documents_of(self.page_of(job))
        # Rank 65 is slow, as rank 5 is.
        self.assertEqual([one["has_parts"] for one in held["captures"]["captures"]], [True] * 63 + [False] * 2 + [True])
        self.assertIn("capture-65-stats", held)
        self.assertNotIn("capture-64-stats", held)
        self.assertEqual(len(held["ranks"]["steps"]["of"]), 66)
        self.assertEqual(len(held["ranks"]["reports"]["ranks_sum"]["rows"]), 66)


class BadInput(report_pages.Case):
    def test_an_unreadable_capture_is_named_and_the_others_are_shown(self):
        job = self.made_ranks("--fleet", 0, ranks=2)
        (job / "broken.gpuprof").write_text("not a capture")
        held = report_pages.documents_of(self.page_of(job))
        self.assertEqual(len(held["captures"]["captures"]), 2)
        self.assertTrue(any("broken.gpuprof" in line for line in held["ranks"]["remarks"]), held["ranks"]["remarks"])

    def test_ranks_without_collectives_steps_or_work(self):
        made = self.made()
        held = report_pages.documents_of(self.page_of(made, "--force-overwrite"))
        self.assertIn("steps", held["ranks"])
        self.assertGreater(len(held["captures"]["captures"]), 3)
        empty = self.folder / "two"
        empty.mkdir()
        for name in ("a", "b"):
            (empty / f"{name}.gpuprof").write_bytes((made / "empty.gpuprof").read_bytes())
        held = report_pages.documents_of(self.page_of(empty))
        self.assertIn("missing", held["ranks"]["analyze"])


processes.main()

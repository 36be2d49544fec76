# SPDX-License-Identifier: Apache-2.0
"""gpuprof report without a browser: the file it writes, the numbers in it, bad input."""
import csv
import json
import re

import processes
import report_pages


class Numbers(report_pages.Case):
    def test_numbers_equal_those_of_the_other_commands(self):
        capture = self.h200("counted_auto")
        held = report_pages.documents_of(self.page_of(capture))
        said = lambda *words: json.loads(self.run_gpuprof(*words, "-f", "json", capture).out)  # noqa: E731
        self.assertEqual(held["analyze"], said("analyze"))
        self.assertNotIn("part", held["analyze"])
        for by, lines in (("kernel", "kernels"), ("signature", "signatures")):
            self.assertEqual(held["roofline"][lines], said("roofline", "--by", by))
        self.assertEqual(held["stats"]["cuda_gpu_kern_sum"]["rows"], said("stats", "-r", "cuda_gpu_kern_sum"))

    def test_advice_is_about_the_steps_without_warm_up_and_the_timeline_shows_all(self):
        capture = self.repaired("growing_cache")
        held = report_pages.documents_of(self.page_of(capture))
        said = lambda *words: json.loads(self.run_gpuprof("analyze", *words, "-f", "json", capture).out)  # noqa: E731
        self.assertEqual(held["analyze"], said())
        part = held["analyze"]["part"]
        self.assertGreater(part["before_ns"], 0)
        self.assertEqual(part["steps"], len(held["analyze"]["steps"]))
        whole = report_pages.documents_of(self.page_of(capture, "--all", "--force-overwrite"))
        self.assertEqual(whole["analyze"], said("--all"))
        self.assertEqual(held["timeline"], whole["timeline"])
        self.assertEqual(held["timeline"]["steps"]["count"], len(whole["analyze"]["steps"]))
        self.assertEqual(held["timeline"]["steps"]["warm_up"], part["first_step"])

    def test_bars_hold_all_gpu_work_with_its_times(self):
        capture = self.h200("counted_auto")
        blocks = report_pages.blocks_of(self.page_of(capture))
        head = json.loads(blocks["timeline"])
        start, length, name = (report_pages.numbers_of(blocks[f"timeline-{column}"]) for column in ("start", "length", "name"))
        self.run_gpuprof("export", capture, "--type", "csv", "-o", self.folder / "tables")
        with open(self.folder / "tables" / "kernel.csv", newline="") as file:
            kernels = sorted((int(row["start"]), int(row["duration"])) for row in csv.DictReader(file))
        bars, at = [], 0
        for lane in head["lanes"]:
            moment = head["begin_ns"]
            for i in range(at, at + lane["bars"]):
                moment += start[i]
                bars.append((lane["group"], moment, length[i], head["names"][name[i] if name else 0]))
            at += lane["bars"]
        self.assertEqual(at, len(start))
        self.assertEqual(head["joined_below_ns"], 0)
        on_gpu = sorted((begin, lasts) for group, begin, lasts, what in bars if group.startswith("GPU") and what != "fill" and not what.startswith("copy "))
        self.assertEqual(on_gpu, kernels)


class File(report_pages.Case):
    def test_the_page_loads_nothing_from_outside(self):
        text = self.page_of(self.h200("mixed_sampled")).read_text()
        self.assertIn("default-src 'none'", text)
        outside = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)  # what programs hold is no element; a browser watches them
        self.assertEqual(re.findall(r'<(?:script|img|link|iframe)[^>]* (?:src|href)="(?!data:)', outside), [])

    def test_the_page_is_not_replaced_unless_asked(self):
        page = self.folder / "page.html"
        page.write_text("mine")
        refused = self.run_gpuprof("report", self.h200("mixed_exact"), "-o", page, code=1)
        self.assertIn(str(page), refused.err)
        self.assertEqual(page.read_text(), "mine")
        self.run_gpuprof("report", self.h200("mixed_exact"), "-o", page, "--force-overwrite")
        self.assertIn("<!doctype html>", page.read_text())

    def test_hostile_names_add_no_html_elements(self):
        name = "</script><img src=x onerror=alert(1)>"
        page = self.page_of(self.made() / "hostile.gpuprof")
        self.assertIn(name, [row["Name"] for row in report_pages.documents_of(page)["stats"]["cuda_gpu_kern_sum"]["rows"]])
        self.assertNotIn("<img src=x", page.read_text())

    def test_tables_of_copies_and_calls_equal_those_of_stats(self):
        capture = self.made_job()
        held = report_pages.documents_of(self.page_of(capture))["stats"]
        for report in ("cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_api_sum"):
            self.assertNotEqual(held[report]["rows"], [])
            self.assertEqual(held[report]["rows"], self.said("stats", "-r", report, capture))

    def test_html_in_a_file_name_is_escaped_in_the_title(self):
        capture = self.folder / "<b>&name.gpuprof"
        capture.write_bytes(self.h200("mixed_exact").read_bytes())
        self.assertIn("<title>&lt;b&gt;&amp;name.gpuprof - gpuprof report</title>", self.page_of(capture).read_text())


class WithoutLibraries(report_pages.Case):
    def test_a_build_without_the_libraries_reports_that_it_draws_no_pages(self):
        run = self.run_program(processes.path("BUILT_WITHOUT_PAGES"), "report", str(self.h200("mixed_exact")), "-o", str(self.folder / "page.html"))
        self.assertEqual(run.code, 1)
        self.assertIn("this build draws no pages: it was made without ECharts and Tabulator", run.err)
        self.assertEqual(len(run.err.splitlines()), 1, run.err)
        self.assertFalse((self.folder / "page.html").exists())


class BadInput(report_pages.Case):
    def test_a_file_that_is_not_a_capture_is_refused(self):
        text = self.folder / "text.gpuprof"
        text.write_text("not a capture")
        for wrong in (text, self.folder / "nowhere.gpuprof"):
            refused = self.run_gpuprof("report", wrong, "-o", self.folder / "page.html", code=1)
            self.assertIn(wrong.name, refused.err)
            self.assertEqual(len(refused.err.splitlines()), 1, refused.err)
            self.assertFalse((self.folder / "page.html").exists())

    def test_captures_with_few_records_give_a_page(self):
        made = self.made()
        for name in ("empty", "only_ranges", "odd", "lossy", "rare"):
            with self.subTest(name):
                held = report_pages.documents_of(self.page_of(made / f"{name}.gpuprof"))
                self.assertIn("lanes", held["timeline"])
        self.assertIn("missing", report_pages.documents_of(self.folder / "empty.html")["analyze"])
        self.assertNotEqual(report_pages.documents_of(self.folder / "lossy.html")["facts"]["lost"], [])

    def test_a_cut_capture_shows_what_was_lost(self):
        whole = self.h200("mixed_sampled").read_bytes()
        cut = self.folder / "cut.gpuprof"
        cut.write_bytes(whole[: len(whole) * 2 // 3])
        self.assertNotEqual(report_pages.documents_of(self.page_of(cut))["facts"]["lost"], [])


processes.main()

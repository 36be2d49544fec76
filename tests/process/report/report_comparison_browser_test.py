# SPDX-License-Identifier: Apache-2.0
"""A page of two sides in a browser: what changed stands first, and in the table of kernels."""
import json

import processes
import report_pages
from report_browser import READY, Browser


class Comparison(Browser):
    def setUp(self):
        super().setUp()
        self.base, self.new = self.compared(seed=1, counters=1), self.compared(seed=2, counters=1, slowed=1.2, renamed=0, split=1)
        self.page = self.folder / "against.html"
        self.run_gpuprof("report", self.base, "--against", self.new, "-o", self.page)
        self.lines = report_pages.documents_of(self.page)["comparison"]["compare"]["lines"]

    def column(self, tab, field, table):
        return tab.evaluate(f"[...document.querySelectorAll('#{table} .tabulator-row .tabulator-cell[tabulator-field={field}]')].map(cell => cell.textContent)")

    def test_differences_are_sorted_by_cost_and_show_their_verdict(self):
        with self.opened(self.page) as tab:
            self.assertIn("beyond noise:", tab.inner_text("#comparison-facts"))
            ordered = sorted((line for line in self.lines if line["kind"] != "finding"), key=lambda line: -abs(line["cost_ns_per_step"]))
            self.assertEqual(self.column(tab, "verdict", "comparison-table")[: len(ordered)], [{"worse": "\u25b2 worse", "better": "\u25bc better"}.get(line["verdict"], line["verdict"] or "") for line in ordered])
            tab.select_option("#comparison-kind", "kernels")
            kernels = [line for line in ordered if line["kind"] == "kernel"]
            self.wait(tab, f"document.querySelectorAll('#comparison-table .tabulator-row').length === {len(kernels)}")
            self.assertEqual([name.split("(")[0] for name in self.column(tab, "name", "comparison-table") if name.startswith("kernel_")], [line["name"].split("(")[0] for line in kernels if line["match"] == "same"])

    def test_kernels_have_before_and_after(self):
        with self.opened(self.page) as tab:
            for by in ("kernels", "signatures"):
                tab.select_option("#kernel-by", by)
                self.wait(tab, "document.querySelectorAll('#kernel-table .tabulator-row').length > 5")
                shown = dict(zip(self.column(tab, "name", "kernel-table"), zip(*(self.column(tab, field, "kernel-table") for field in ("before", "after", "difference", "verdict")))))
                line = next(line for line in self.lines if line["name"] == "kernel_3(float*)")
                before, after, difference, verdict = shown["kernel_3(float*)"]
                self.assertEqual(before, f"{line['base_total_ns_per_step'] / 1000:.1f} us")
                self.assertEqual(after, f"{line['new_total_ns_per_step'] / 1000:.1f} us" if line["new_total_ns_per_step"] < 99_950 else f"{line['new_total_ns_per_step'] / 1000:.0f} us")
                self.assertEqual(difference, f"+{line['cost_ns_per_step'] / 1000:.1f} us")
                self.assertEqual(verdict, "\u25b2 worse")
                color = "getComputedStyle(document.querySelector('#kernel-table .verdict.worse')).color"
                self.assertNotEqual(tab.evaluate(color), tab.evaluate("getComputedStyle(document.body).color"))

    def test_a_line_opens_its_kernel_and_the_page_can_switch_to_the_new_side(self):
        with self.opened(self.page) as tab:
            tab.select_option("#comparison-kind", "kernels")
            tab.locator("#comparison-table .tabulator-row", has_text="kernel_3").click()
            self.wait(tab, "document.querySelector('#kernel-detail h2') !== null && document.querySelector('#kernel-detail h2').textContent === 'kernel_3(float*)'")
            tab.select_option("#capture-choice", "1")
            self.wait(tab, f"document.getElementById('capture').textContent === '{self.new.name}'")
            self.wait(tab, READY)
            self.assertIn("part_a(float*)", self.column(tab, "name", "kernel-table"))
            tab.locator("#comparison-table .tabulator-row", has_text="kernel_5").click()
            self.wait(tab, "document.querySelector('#kernel-detail h2').textContent === 'kernel_5(float*)'")

    def test_a_faster_kernel_has_a_negative_cost_in_its_unit(self):
        page = self.folder / "faster.html"
        self.run_gpuprof("report", self.base, "--against", self.compared(seed=2, counters=1, slowed=0.8), "-o", page)
        line = next(line for line in report_pages.documents_of(page)["comparison"]["compare"]["lines"] if line["name"] == "kernel_3(float*)")
        self.assertLess(line["cost_ns_per_step"], -1000)
        with self.opened(page) as tab:
            self.assertEqual(tab.evaluate("[-5e6, -999, -12345, -1.5e11].map(words.time)"), ["-5.00 ms", "-999 ns", "-12.3 us", "-150 s"])
            shown = dict(zip(self.column(tab, "name", "kernel-table"), self.column(tab, "difference", "kernel-table")))
            self.assertEqual(shown["kernel_3(float*)"], f"{line['cost_ns_per_step'] / 1000:.1f} us")
            costs = dict(zip(self.column(tab, "name", "comparison-table"), self.column(tab, "cost", "comparison-table")))
            self.assertIn(f"{line['cost_ns_per_step'] / 1000:.1f} us", [cost for name, cost in costs.items() if name.startswith("kernel_3(float*)")])

    def line_of(self, name):
        return next(line for line in self.lines if line["kind"] == "kernel" and line["name"] == name)

    def open_line(self, tab, line):
        """A click on it in the table of differences."""
        tab.select_option("#comparison-kind", "kernels")
        at = tab.evaluate(f"Tabulator.findTable('#comparison-table')[0].getRows('active').findIndex(row => row.getData().line.name === {json.dumps(line['name'])})")
        tab.locator("#comparison-table .tabulator-row").nth(at).click()

    HEADING = "(document.querySelector('#kernel-detail h2') || {}).textContent"

    def against(self, **wanted):
        page = self.folder / "against_other.html"
        self.run_gpuprof("report", self.base, "--against", self.compared(seed=2, counters=1, **wanted), "-o", page, "--force-overwrite")
        self.lines = report_pages.documents_of(page)["comparison"]["compare"]["lines"]
        return page

    def test_a_renamed_or_split_kernel_has_the_name_of_the_capture_that_is_shown(self):
        for wanted, match, names in (({"renamed": 1}, "renamed", ("kernel_3(float*)", "newer_named(float*)")), ({"split": 1}, "split", ("kernel_4(float*)", "part_a(float*)"))):
            page = self.against(**wanted)
            line = next(line for line in self.lines if line["kind"] == "kernel" and line["match"] == match)
            with self.subTest(match), self.opened(page) as tab:
                for side, name in enumerate(names):
                    tab.select_option("#capture-choice", str(side))
                    self.wait(tab, f"{READY} && !document.getElementById('capture-choice').disabled")
                    self.open_line(tab, line)
                    self.wait(tab, f"{self.HEADING} === {json.dumps(name)}")
                    self.assertEqual(tab.locator("#capture-choice").input_value(), str(side))

    def test_a_kernel_that_only_the_other_side_has_switches_to_that_side(self):
        with self.opened(self.against(renamed=1, split=1)) as tab:
            tab.fill("#kernel-search", "kernel_3")
            for name, match, side in (("newer_named(float*)", "new", "1"), ("kernel_4(float*)", "gone", "0")):
                line = self.line_of(name)
                self.assertEqual(line["match"], match)
                self.open_line(tab, line)
                self.wait(tab, f"{self.HEADING} === {json.dumps(name)}")
                self.assertEqual(tab.locator("#capture-choice").input_value(), side)
                self.wait(tab, "document.getElementById('comparison-said').textContent.includes('is shown now')")

    def test_filters_stay_set_if_they_keep_the_kernel(self):
        with self.opened(self.page) as tab:
            tab.fill("#kernel-search", "kernel_3")
            self.open_line(tab, self.line_of("kernel_3(float*)"))
            self.wait(tab, "(document.querySelector('#kernel-detail h2') || {}).textContent === 'kernel_3(float*)'")
            self.assertEqual(tab.locator("#kernel-search").input_value(), "kernel_3")
            self.open_line(tab, self.line_of("kernel_5(float*)"))
            self.wait(tab, "document.querySelector('#kernel-detail h2').textContent === 'kernel_5(float*)'")
            self.assertEqual(tab.locator("#kernel-search").input_value(), "")

    def test_without_steps_sums_cover_the_whole_run(self):
        base, new = self.compared(seed=1, ranges=0), self.compared(seed=2, ranges=0, slowed=1.2)
        page = self.folder / "whole.html"
        self.run_gpuprof("report", base, "--against", new, "-o", page)
        held = report_pages.documents_of(page)["comparison"]["compare"]
        self.assertIsNone(held["step"])
        line = next(line for line in held["lines"] if line["name"] == "kernel_3(float*)")
        with self.opened(page) as tab:
            time = lambda ns: tab.evaluate(f"words.time({ns})")  # noqa: E731
            shown = dict(zip(self.column(tab, "name", "kernel-table"), zip(*(self.column(tab, field, "kernel-table") for field in ("before", "after", "difference")))))
            self.assertEqual(shown["kernel_3(float*)"], (time(line["base_total_ns_per_run"]), time(line["new_total_ns_per_run"]), "+" + time(line["cost_ns_per_run"])))
            costs = dict(zip(self.column(tab, "name", "comparison-table"), self.column(tab, "cost", "comparison-table")))
            self.assertEqual(next(cost for name, cost in costs.items() if name.startswith("kernel_3(float*)")), "+" + time(line["cost_ns_per_run"]))

    def test_different_programs_are_reported(self):
        page = self.folder / "other.html"
        self.run_gpuprof("report", self.base, "--against", self.compared(seed=3, program="/bin/other"), "-o", page)
        with self.opened(page) as tab:
            self.assertIn("different programs", tab.inner_text("#comparison"))
            self.assertEqual(tab.locator("#kernel-table .tabulator-col[tabulator-field=before]").count(), 0)

    def test_on_a_phone_nothing_scrolls_sideways(self):
        with self.opened(self.page, viewport={"width": 390, "height": 800}) as tab:
            self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), 390)


processes.main()

# SPDX-License-Identifier: Apache-2.0
"""Ranges on a page of gpuprof report in a browser: the icicle, its table, steps over time."""
import processes
import report_pages
from report_browser import Browser


class Ranges(Browser):
    def setUp(self):
        super().setUp()
        self.page = self.page_of(self.made_ranks("--profiled-job", 10, ranks=1) / "rank0.gpuprof")
        self.paths = report_pages.documents_of(self.page)["places"]["paths"]

    def place(self, tab, at):
        return tab.locator(f"#icicle .place[data-place='{at}']")

    def width(self, tab, at):
        return self.place(tab, at).bounding_box()["width"]

    def test_places_are_as_wide_as_their_time_and_lie_below_their_parent(self):
        with self.opened(self.page) as tab:
            whole = self.width(tab, 0)
            for at in (1, 3):
                self.assertAlmostEqual(self.width(tab, at) / whole, self.paths[at]["gpu_ns"] / self.paths[0]["gpu_ns"], delta=0.01)
                self.assertGreater(self.place(tab, at).bounding_box()["y"], self.place(tab, 0).bounding_box()["y"])
            tab.select_option("#icicle-value", "cpu_ns")
            self.wait(tab, f"Math.abs(document.querySelector('#icicle .place[data-place=\"1\"]').offsetWidth / {whole} - {self.paths[1]['cpu_ns'] / self.paths[0]['cpu_ns']}) < 0.01")

    def test_a_click_zooms_and_marks_the_line_and_a_second_click_goes_back(self):
        with self.opened(self.page) as tab:
            whole = self.width(tab, 0)
            self.place(tab, 3).click()
            self.assertAlmostEqual(self.width(tab, 3), whole, delta=2)
            self.assertEqual(self.place(tab, 1).count(), 0)
            self.wait(tab, "document.querySelector('#range-table .tabulator-selected') !== null")
            self.assertEqual(tab.locator("#range-table .tabulator-selected .tabulator-cell").first.inner_text(), "backward")
            self.place(tab, 3).click()
            self.wait(tab, "document.querySelector('#range-table .tabulator-selected .tabulator-cell').textContent === 'ProfilerStep'")
            tab.click("#icicle-all")
            self.assertEqual(self.place(tab, 1).count(), 1)
            self.assertTrue(tab.locator("#icicle-all").is_disabled())

    def test_a_line_of_the_table_zooms_the_icicle(self):
        with self.opened(self.page) as tab:
            tab.locator("#range-table .tabulator-row", has_text="forward").locator(".tabulator-cell").first.click()
            self.wait(tab, "document.querySelector('#icicle .chosen') !== null && document.querySelector('#icicle .chosen').textContent === 'forward'")

    def test_the_table_has_times_with_and_without_what_is_inside(self):
        with self.opened(self.page) as tab:
            rows = self.rows(tab, "range-table")
            self.assertEqual([row[0] for row in rows], ["ProfilerStep", *[name for at in sorted((1, 3), key=lambda at: -self.paths[at]["gpu_ns"]) for name in (self.paths[at]["name"], "aten::mm #")]])
            self.assertEqual(rows[0][2], f"{self.paths[0]['own_gpu_ns'] / 1e6:.2f} ms")
            tab.select_option("#range-by", "names")
            self.wait(tab, "document.querySelector('#range-table .tabulator-col[tabulator-field=on_gpu]') !== null")
            self.assertEqual(self.rows(tab, "range-table")[0][0].startswith("forward") or self.rows(tab, "range-table")[0][0].startswith("backward"), True)
            # A place that is clicked brings its own table back.
            self.place(tab, 1).click()
            self.wait(tab, "document.querySelector('#range-table .tabulator-selected') !== null")
            self.assertEqual(tab.locator("#range-by").input_value(), "places")

    def test_arrows_move_between_places(self):
        with self.opened(self.page) as tab:
            self.place(tab, 0).focus()
            focus = "document.activeElement.dataset.place"
            tab.keyboard.press("ArrowDown")
            first = tab.evaluate(focus)
            self.assertIn(first, ("1", "3"))
            tab.keyboard.press("ArrowRight")
            self.assertEqual({first, tab.evaluate(focus)}, {"1", "3"})
            tab.keyboard.press("Enter")
            self.wait(tab, "document.querySelector('#range-table .tabulator-selected') !== null")
            self.assertIn(tab.evaluate(focus), ("1", "3"))
            tab.keyboard.press("ArrowUp")
            self.assertEqual(tab.evaluate(focus), "0")

    def test_on_a_phone_nothing_scrolls_sideways(self):
        with self.opened(self.page, viewport={"width": 390, "height": 800}) as tab:
            self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), 390)


class Odd(Browser):
    def test_without_ranges_there_is_no_icicle(self):
        with self.opened(self.page_of(self.h200("counted_auto"))) as tab:
            self.assertEqual(tab.locator("#icicle").count(), 0)
            self.assertEqual(tab.locator("#steps-chart").count(), 0)

    def test_start_end_ranges_without_other_ranges_are_shown_as_a_table(self):
        page = self.page_of(self.made_shape("start-end", 4))
        with self.opened(page) as tab:
            self.assertEqual(tab.locator("#icicle").count(), 0)
            self.assertEqual(sorted(row[0] for row in self.rows(tab, "range-table")), ["request 0", "request 1"])
            tab.locator("#range-table .tabulator-row").first.click()
            self.wait(tab, "document.querySelector('#range-table .tabulator-selected') !== null")
            self.assertEqual(tab.locator("#range-table button").count(), 0)

    def test_a_joined_place_says_how_many_places_it_stands_for(self):
        page = self.page_of(self.many_ranges(3000))
        joined = report_pages.documents_of(page)["places"]["joined"]
        with self.opened(page) as tab:
            self.assertIn(f"{joined:,} places", tab.inner_text("#range-notes"))
            self.assertEqual(tab.locator(f"#icicle .place[title^='({joined:,} shorter ones)']").count(), 1)

    def test_slow_steps_are_marked(self):
        page = self.page_of(self.compared(seed=1))
        places = report_pages.documents_of(page)["places"]
        self.assertNotEqual(places["slow_steps"], [])
        with self.opened(page) as tab:
            self.assertIn(f"{len(places['slow_steps'])} of ", tab.inner_text("#steps-title"))


processes.main()

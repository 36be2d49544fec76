# SPDX-License-Identifier: Apache-2.0
"""The roofline in a real browser: roofs, points, what they say, and that they and the table lead to each other."""
import processes
import report_pages
from report_browser import Browser

CHART = "echarts.getInstanceByDom(document.getElementById('roofline-chart'))"
SERIES = CHART + ".getOption().series"


class Roofline(Browser):
    def setUp(self):
        super().setUp()
        self.page = self.page_of(self.made_sweep())
        self.held = report_pages.documents_of(self.page)["roofline"]

    def roofs(self, tab):
        """{name: (line type, figure)}: the highest FLOP/s of a roof, or its FLOP/s for each FLOP a byte."""
        lines = tab.evaluate(SERIES + ".filter(one => one.type === 'line').map(one => [one.name, one.lineStyle.type, one.data])")
        made = {}
        for name, kind, ((left, low), (right, high)) in lines:
            made[name] = kind, high if low == high else round(high / right)
        return made

    def points(self, tab):
        return tab.evaluate(SERIES + ".at(-1).data.map(one => [...one.value, one.symbol, one.symbolSize, one.itemStyle.borderWidth])")

    def test_roofs_are_the_measured_solid_and_the_theoretical_dashed(self):
        roofs = self.held["kernels"]["roofs"]
        with self.opened(self.page) as tab:
            drawn = self.roofs(tab)
            self.assertEqual(drawn, {"DRAM measured": ("solid", roofs["dram_read"]["burst"]), "DRAM in theory": ("dashed", roofs["dram_read"]["theory"]),
                                     "tensor BF16 measured": ("solid", roofs["tensor_bf16"]["burst"]), "tensor BF16 in theory": ("dashed", roofs["tensor_bf16"]["theory"])})
            tab.select_option("#roofline-memory", "both")
            self.assertEqual(self.roofs(tab)["L2 measured"], ("solid", roofs["l2_read"]["burst"]))
            said = tab.inner_text("#roofline-legend")
            for text in ("DRAM: 4.00 TB/s measured, 4.80 TB/s in theory", "L2: 9.00 TB/s measured", "tensor BF16: 830 TFLOP/s measured, 989 TFLOP/s in theory"):
                self.assertIn(text, said)

    def test_the_area_of_a_point_shows_its_time(self):
        lines = self.held["kernels"]["kernels"]
        with self.opened(self.page) as tab:
            points = self.points(tab)
            self.assertEqual(sorted((x, y) for x, y, *_ in points), sorted((line["flop_per_dram_byte"], line["flops"]) for line in lines))
            sizes = [size for *_, size, _ in points]
            self.assertEqual(sizes, sorted(sizes, reverse=True))  # the longest time first
            longest = max(line["time_share"] for line in lines)
            self.assertAlmostEqual((sizes[0] - 6) ** 2, 1600 * longest, delta=1)
            self.assertEqual(tab.evaluate(CHART + ".getOption().xAxis[0].type + ' ' + " + CHART + ".getOption().yAxis[0].type"), "log log")
            tab.select_option("#roofline-memory", "both")
            self.assertEqual(sorted(symbol for _, _, symbol, *_ in self.points(tab)), ["circle"] * 7 + ["diamond"] * 7)
            for by, of in (("signatures", "signatures"), ("ranges", "ranges")):
                tab.select_option("#roofline-by", by)
                tab.select_option("#roofline-memory", "dram")
                self.assertEqual(len(self.points(tab)), len([line for line in self.held[of][of] if line["flops"] and line["flop_per_dram_byte"]]))

    def place_of(self, tab, line):
        """Where a point is in the window."""
        tab.locator("#roofline-chart").scroll_into_view_if_needed()
        x, y = tab.evaluate(f"{CHART}.convertToPixel({{xAxisIndex: 0, yAxisIndex: 0}}, [{line['flop_per_dram_byte']}, {line['flops']}])")
        box = tab.locator("#roofline-chart").bounding_box()
        return box["x"] + x, box["y"] + y

    def test_a_point_tells_everything_on_hover(self):
        line = self.held["kernels"]["kernels"][0]
        with self.opened(self.page) as tab:
            tab.mouse.move(*self.place_of(tab, line))
            self.wait(tab, "document.querySelector('#roofline-chart .tip') !== null")
            said = tab.inner_text("#roofline-chart .tip")
            for text in (line["name"], "560 TFLOP/s (counted", "400 GB/s (exact", "FLOP per byte of DRAM: 1,400", f"bound by: {line['bound_by']}", f"of its roof: {100 * line['of_roof']:.1f} %", "SM clock: 1.75 GHz", "launches: 4 of 15.7 ms"):
                self.assertIn(text, said)

    def test_a_point_leads_to_its_line_and_back(self):
        line = self.held["kernels"]["kernels"][2]
        with self.opened(self.page) as tab:
            tab.mouse.click(*self.place_of(tab, line))
            self.wait(tab, "document.querySelectorAll('#kernel-table .tabulator-selected').length === 1")
            self.assertIn(line["name"], tab.inner_text("#kernel-table .tabulator-selected"))
            self.assertIn(line["name"], tab.inner_text("#kernel-detail h2"))
            self.wait(tab, "document.getElementById('kernels').getBoundingClientRect().top < 200")
            tab.click("text=Show in the roofline")
            self.wait(tab, "document.getElementById('roofline').getBoundingClientRect().top < 200")
            marked = [(x, y) for x, y, *_, border in self.points(tab) if border == 3]
            self.assertEqual(marked, [(line["flop_per_dram_byte"], line["flops"])])
            tab.click("#roofline-chosen button")
            self.wait(tab, "document.getElementById('kernels').getBoundingClientRect().top < 200")

    def test_a_chosen_line_of_each_kind_marks_its_point(self):
        with self.opened(self.page) as tab:
            tab.locator("#kernel-table .tabulator-row").first.click()
            for by in ("signatures", "ranges", "kernels"):
                self.wait(tab, "!document.getElementById('kernel-detail').hidden")
                tab.select_option("#kernel-by", by)
                self.wait(tab, "document.getElementById('kernel-detail').hidden")
                self.wait(tab, f"document.getElementById('kernel-count').textContent.startsWith('{len(self.held[by][by])} of ')")
                tab.locator("#kernel-table .tabulator-row").first.click()
                self.wait(tab, "!document.getElementById('kernel-detail').hidden")
                self.assertEqual(tab.evaluate("document.getElementById('roofline-by').value"), by)
                self.assertEqual([border for *_, border in self.points(tab)].count(3), 1)

    def test_the_chart_zooms_by_wheel_and_by_buttons(self):
        span = CHART + ".getOption().dataZoom.map(one => Math.round(one.end - one.start))"
        with self.opened(self.page) as tab:
            self.assertEqual(tab.evaluate(span), [100, 100])
            tab.click("#roofline-in")
            self.assertEqual(tab.evaluate(span), [60, 60])
            tab.click("#roofline-out")
            self.assertEqual(tab.evaluate(span), [100, 100])
            tab.locator("#roofline-chart").scroll_into_view_if_needed()
            box = tab.locator("#roofline-chart").bounding_box()
            tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            before = tab.evaluate("window.scrollY")
            tab.mouse.wheel(0, 300)  # the page's
            self.wait(tab, f"window.scrollY > {before}")
            self.assertEqual(tab.evaluate(span), [100, 100])
            tab.mouse.wheel(0, -300)
            self.wait(tab, f"window.scrollY === {before}")
            tab.keyboard.down("Control")
            tab.mouse.wheel(0, -300)
            tab.keyboard.up("Control")
            self.wait(tab, span + "[0] < 100")
            tab.click("#roofline-all")
            self.wait(tab, span + "[0] === 100")

    def test_the_chart_stays_zoomed_when_it_is_drawn_again(self):
        ends = CHART + ".getOption().dataZoom.map(one => [Math.round(one.start), Math.round(one.end)])"
        with self.opened(self.page) as tab:
            tab.evaluate(CHART + ".dispatchAction({type: 'dataZoom', dataZoomIndex: 0, start: 0, end: 40})")
            tab.click("#roofline-in")
            zoomed = [[8, 32], [20, 80]]  # each axis about its own middle
            self.assertEqual(tab.evaluate(ends), zoomed)
            tab.locator("#kernel-table .tabulator-row").first.click()
            self.wait(tab, "document.getElementById('roofline-chosen').textContent !== ''")
            self.assertEqual(tab.evaluate(ends), zoomed)
            tab.click("#theme")
            self.assertEqual(tab.evaluate(ends), zoomed)
            for event in ("beforeprint", "afterprint"):
                tab.evaluate(f"window.dispatchEvent(new Event('{event}'))")
                self.assertEqual(tab.evaluate(ends), zoomed)
            tab.select_option("#roofline-by", "ranges")  # other axes
            self.assertEqual(tab.evaluate(ends), [[0, 100], [0, 100]])

    def test_left_out_lines_are_reported(self):
        capture = self.folder / "counted.gpuprof"
        self.run_program(processes.path("BUILT_MADE_CAPTURES"), str(capture), "--counted", "5003", timeout=120)
        page = self.page_of(capture)
        held = report_pages.documents_of(page)["roofline"]
        self.assertEqual((len(held["kernels"]["kernels"]), held["left_out"]["kernels"], held["left_out"]["ranges"]), (5000, 3, 0))
        with self.opened(page) as tab:
            said = tab.inner_text("#roofline-count")
            self.assertIn(" of 5,003 lines", said)
            self.assertIn("3 lines with least time left out of this page", said)
            self.assertIn("3 lines of the roofline that are left out", tab.evaluate("kernelRows.sourceOf('flops', {grid: '', apart: 0})"))

    def test_without_peaks_the_chart_has_points_but_no_roof(self):
        page = self.page_of(self.h200("counted_auto"))
        with self.opened(page) as tab:
            self.assertEqual(self.roofs(tab), {})
            self.assertEqual(len(self.points(tab)), 4)
            self.assertIn("4 of 5 lines", tab.inner_text("#roofline-count"))


processes.main()

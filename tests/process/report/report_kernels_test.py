# SPDX-License-Identifier: Apache-2.0
"""The table of kernels in a real browser: filters, sources on hover, and what a click on a line opens."""
import json
import re

import processes
import report_pages
from report_browser import Browser

DETAIL = "document.getElementById('kernel-detail')"


class Table(Browser):
    def names(self, tab):
        return [row[0] for row in self.rows(tab)]

    def wait_for_lines(self, tab, shown, of):
        self.wait(tab, f"document.getElementById('kernel-count').textContent === '{shown} of {of} lines'")

    def test_the_table_filtered_by_range_shows_the_time_of_each_kernel_in_that_range(self):
        page = self.page_of(self.made_job())
        details = report_pages.documents_of(page)["details"]
        forward = next(place for place in details["ranges"] if place["name"] == "forward")
        with self.opened(page) as tab:
            self.wait_for_lines(tab, 3, 3)
            tab.select_option("#kernel-range", label="forward")
            self.wait_for_lines(tab, len(forward["kernels"]), 3)
            self.assertIn("launched there", tab.inner_text("#kernel-filter-note"))
            inside = tab.evaluate("[...document.querySelectorAll('#kernel-table .tabulator-row .tabulator-cell[tabulator-field=inside]')].map(cell => cell.textContent)")
            self.assertEqual(inside, ["882 us", "200 us"])
            tab.click("#kernel-clear")
            self.wait_for_lines(tab, 3, 3)
            self.assertEqual(tab.inner_text("#kernel-filter-note"), "")

    def test_is_filtered_by_graph(self):
        page = self.page_of(self.made_fault("tiny_kernels", "--mended"))
        details = report_pages.documents_of(page)["details"]
        with self.opened(page) as tab:
            shown = tab.evaluate("[...document.querySelectorAll('#kernel-graph option')].map(one => one.textContent)")
            self.assertEqual(shown, ["any"] + [place["name"] for place in details["graphs"]])
            self.assertGreater(len(shown), 1)
            kernels = len(details["kernels"])
            tab.select_option("#kernel-graph", label=shown[1])
            self.wait_for_lines(tab, len(details["graphs"][0]["kernels"]), kernels)

    def test_lines_may_be_kernels_signatures_or_ranges_and_the_search_matches_geometry(self):
        page = self.page_of(self.made_sweep())
        with self.opened(page) as tab:
            tab.select_option("#kernel-by", "signatures")
            self.wait(tab, "document.querySelector('#kernel-table .tabulator-row .tabulator-cell[tabulator-field=grid]').textContent.includes(' x ')")
            rates = tab.evaluate("[...document.querySelectorAll('#kernel-table .tabulator-row .tabulator-cell[tabulator-field=flops]')].map(cell => cell.textContent)")
            self.assertNotIn("", rates)
            tab.fill("#kernel-search", "256 x 1 x 1")
            self.wait_for_lines(tab, 7, 7)
            tab.fill("#kernel-search", "257 x 1 x 1")
            self.wait_for_lines(tab, 0, 7)
            tab.click("#kernel-clear")
            tab.select_option("#kernel-by", "ranges")
            self.wait_for_lines(tab, 1, 1)
            self.assertEqual(self.names(tab), ["gemm"])

    def test_the_table_can_be_filtered_by_the_bound_of_kernels(self):
        page = self.page_of(self.made_sweep())
        lines = report_pages.documents_of(page)["roofline"]["kernels"]["kernels"]
        latency = [line["name"] for line in lines if line["bound_by"] == "latency"]
        self.assertIn(len(latency), range(1, len(lines)))
        with self.opened(page) as tab:
            tab.select_option("#kernel-bound", "latency")
            self.wait_for_lines(tab, len(latency), len(lines))
            self.assertEqual(sorted(self.names(tab)), sorted(latency))

    def test_figures_say_their_source_and_error_on_hover(self):
        page = self.page_of(self.h200("mixed_sampled"))
        line = next(line for line in report_pages.documents_of(page)["roofline"]["kernels"]["kernels"] if line["dram_bytes_per_second"])
        name = line["name"].removeprefix("void ")
        with self.opened(page) as tab:
            row = tab.locator("#kernel-table .tabulator-row", has_text=name).first
            row.locator(".tabulator-cell[tabulator-field=dram]").hover()
            self.wait(tab, "document.querySelector('.tabulator-tooltip') !== null")
            said = tab.inner_text(".tabulator-tooltip")
            self.assertIn(line["sources"]["dram"], said)
            self.assertIn(f"standard error {100 * line['dram_bytes_per_second_error'] / line['dram_bytes_per_second']:.1f} %", said)

    def test_potential_gain_equals_that_of_the_findings(self):
        page = self.page_of(self.made_fault("misaligned_products"))
        findings = [one for one in report_pages.documents_of(page)["analyze"]["findings"] if one["where"]["kernel"]]
        self.assertNotEqual(findings, [])
        first = findings[0]
        with self.opened(page) as tab:
            row = tab.locator("#kernel-table .tabulator-row", has_text=first["where"]["kernel"].removeprefix("void ")[:40]).first
            gain = row.locator(".tabulator-cell[tabulator-field=gain]")
            highest = max(one["potential_gain_ms"]["high"] for one in findings if one["where"]["kernel"] == first["where"]["kernel"])
            self.assertTrue(gain.inner_text().endswith(tab.evaluate(f"words.time({1e6 * highest})")), gain.inner_text())
            gain.hover()
            self.wait(tab, f"(document.querySelector('.tabulator-tooltip') || {{textContent: ''}}).textContent.includes('{first['rule']}')")
            row.click()
            self.wait(tab, f"!{DETAIL}.hidden")
            self.assertIn(first["to_do"], tab.inner_text("#kernel-detail"))


    def test_the_search_matches_original_and_displayed_names(self):
        page = self.page_of(self.made_shape("start-end", 2))
        with self.opened(page) as tab:
            self.assertEqual(self.names(tab), ["ns::scale<float>(float*)"])
            for part, lines in (("ns::scale<FLOAT>", 1), ("void ns::(anonymous namespace)::scale", 1), ("ns::(anonymous namespace)::scalf", 0)):
                tab.fill("#kernel-search", part)
                self.wait_for_lines(tab, lines, 1)

    def test_the_gain_of_a_signature_is_shown_only_if_its_kernel_has_no_other_signature(self):
        page = self.page_of(self.made_fault("misaligned_products"))
        held = report_pages.documents_of(page)
        named = {one["where"]["kernel"] for one in held["analyze"]["findings"]}
        launches = {row["Name"]: row["Instances"] for row in held["stats"]["cuda_gpu_kern_sum"]["rows"]}
        expected = [row["Name"] in named and row["Instances"] == launches[row["Name"]] for row in held["stats"]["cuda_gpu_kern_gb_sum"]["rows"]]
        self.assertIn(True, expected)
        with self.opened(page) as tab:
            tab.select_option("#kernel-by", "signatures")
            self.wait_for_lines(tab, len(expected), len(expected))
            rows = tab.evaluate("Tabulator.findTable('#kernel-table')[0].getRows().map(row => row.getData()).map(row => [row.gain !== undefined, row.findings.length])")
            self.assertEqual([has for has, _ in rows], [findings > 0 for _, findings in rows])
            self.assertEqual(sorted(has for has, _ in rows), sorted(expected))

    def test_press_and_release_hit_the_same_row_even_if_the_layout_shifts_in_between(self):
        page = self.page_of(self.made_job())
        frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))))"
        with self.opened(page) as tab:
            row = tab.locator("#kernel-table .tabulator-row").first
            row.hover()
            tab.evaluate("window.pressed = document.querySelector('#kernel-table .tabulator-row'), 0")
            tab.mouse.down()
            # What Tabulator watches, and what it does when the table comes into view: a row that left the page loses the press.
            tab.evaluate("window.left = 0, new MutationObserver(all => { for (const one of all) left += [...one.removedNodes].includes(pressed) }).observe(pressed.parentNode, {childList: true})")
            tab.evaluate("document.getElementById('kernel-table').style.height = '300px', document.getElementById('kernels').style.minHeight = '900px', 0")
            tab.evaluate(frames)
            self.assertEqual(tab.evaluate("left"), 0)
            tab.mouse.up()
            self.wait(tab, f"!{DETAIL}.hidden")

    def test_the_table_adapts_its_width_to_its_place(self):
        page = self.page_of(self.made_job())
        width = "document.querySelector('#kernel-table .tabulator-header').clientWidth"
        with self.opened(page) as tab:
            wide = tab.evaluate("document.querySelector('#kernel-table .tabulator-col[tabulator-field=name]').offsetWidth")
            tab.set_viewport_size({"width": 1500, "height": 900})
            self.wait(tab, f"document.querySelector('#kernel-table .tabulator-col[tabulator-field=name]').offsetWidth > {wide} + 100 && {width} > 1300")


class Detail(Browser):
    def open_first(self, tab):
        tab.locator("#kernel-table .tabulator-row").first.click()
        self.wait(tab, f"!{DETAIL}.hidden")

    def option(self, tab, chart):
        return f"echarts.getInstanceByDom(document.getElementById('{chart}')).getOption()"

    def test_a_detail_has_durations_geometry_ranges_and_neighbors(self):
        page = self.page_of(self.made_job())
        details = report_pages.documents_of(page)["details"]
        line = details["kernels"][0]
        with self.opened(page) as tab:
            self.open_first(tab)
            bars = tab.evaluate(self.option(tab, "detail-histogram") + ".series[0].data.map(one => one[2])")
            self.assertEqual(bars, line["histogram"]["counts"])
            points = tab.evaluate(self.option(tab, "detail-series") + ".series.at(-1).data.map(one => [one[1], one[4]])")
            self.assertEqual(points, [[point[3] / point[1], point[1]] for point in line["points"]])
            self.assertGreater(tab.locator("#detail-histogram svg path").count(), len(bars) // 4)
            said = tab.inner_text("#kernel-detail")
            for one in line["geometries"]:
                for text in (one["grid"], one["block"], str(one["registers"]), ", ".join(one["limited_by"])):
                    self.assertIn(text, said)
            for text in ("Launched from", "forward", "backward", "Just before it", "Just after it"):
                self.assertIn(text, said)

    def test_a_detail_says_what_was_joined_and_what_was_left_out(self):
        page = self.page_of(self.h200("counted_auto"))
        line = report_pages.documents_of(page)["details"]["kernels"][0]
        self.assertGreater(line["joined_within_ns"], 0)
        self.assertGreater(line["left_out"], 0)
        with self.opened(page) as tab:
            self.open_first(tab)
            notes = tab.inner_text("#detail-notes")
            for text in ("are one point", "that reading counters slowed", "Not in the bars"):
                self.assertIn(text, notes)

    def test_a_detail_has_readings_with_spread_and_source(self):
        page = self.page_of(self.h200("mixed_sampled"))
        held = report_pages.documents_of(page)["stats"]
        name = held["cuda_gpu_kern_sum"]["rows"][0]["Name"]
        readings = [row for row in held["gpu_metrics_sum"]["rows"] if row["Name"] == name]
        self.assertNotEqual(readings, [])
        with self.opened(page) as tab:
            self.open_first(tab)
            shown = tab.evaluate("[...document.querySelectorAll('#kernel-detail table')].at(-1).innerText")
            for row in readings:
                self.assertIn(row["Metric"], shown)
            for title in ("Standard error", "Source", readings[0]["Source"]):
                self.assertIn(title, shown)

    def test_has_samples_over_the_time_of_a_launch(self):
        page = self.page_of(self.h200("mixed_sampled"))
        courses = report_pages.documents_of(page)["details"]["kernels"][0]["samples"]
        metric = next(course for course in courses if course["metric"].startswith("sm__warps_active"))
        with self.opened(page) as tab:
            self.open_first(tab)
            tab.select_option("#detail-metric", label=metric["metric"])
            self.assertEqual(tab.evaluate(self.option(tab, "detail-samples") + ".series[0].data.map(one => one[1])"), metric["means"])
            self.assertIn(metric["metric"], tab.get_attribute("#detail-samples", "aria-label"))
        without = self.page_of(self.h200("counted_auto"))
        with self.opened(without) as tab:
            self.open_first(tab)
            self.assertEqual(tab.locator("#detail-samples").count(), 0)

    def test_a_detail_opens_by_keyboard_and_closes_and_leads_to_neighbors(self):
        page = self.page_of(self.h200("counted_auto"))
        with self.opened(page) as tab:
            tab.focus("#kernel-table .tabulator-row button.name")
            tab.keyboard.press("Enter")
            self.wait(tab, f"!{DETAIL}.hidden")
            before = tab.inner_text("#kernel-detail h2")
            other = tab.inner_text("#kernel-detail ol button.name")
            tab.click("#kernel-detail ol button.name")
            self.wait(tab, f"{DETAIL}.querySelector('h2').textContent.includes('{other}')")
            self.assertNotEqual(tab.inner_text("#kernel-detail h2"), before)
            tab.click("#kernel-detail button:text('Close')")
            self.wait(tab, f"{DETAIL}.hidden")
            self.assertEqual(tab.locator("#kernel-table .tabulator-selected").count(), 0)

    def test_a_detail_fits_a_phone_in_both_themes(self):
        for capture in (self.h200("mixed_sampled"), self.made_job()):
            page = self.page_of(capture)
            for scheme in ("light", "dark"):
                with self.subTest(capture.name, scheme=scheme), self.opened(page, viewport={"width": 390, "height": 800}, color_scheme=scheme) as tab:
                    self.open_first(tab)
                    self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), 390)

    def test_hostile_names_are_shown_as_text(self):
        page = self.page_of(self.made() / "hostile.gpuprof")
        kernels = len(report_pages.documents_of(page)["stats"]["cuda_gpu_kern_sum"]["rows"])
        self.assertGreater(kernels, 5)
        with self.opened(page) as tab:
            names = tab.evaluate("Tabulator.findTable('#kernel-table')[0].getRows('active').map(row => row.getData().name)")
            self.assertIn("</script><img src=x onerror=alert(1)>", names)
            for at in range(kernels):
                tab.locator("#kernel-table .tabulator-row").nth(at).click()
                shown = names[at] if len(names[at]) <= 300 else names[at][:300] + "\u2026"
                self.wait(tab, f"document.querySelector('#kernel-detail h2').textContent === {json.dumps(shown)}")
            self.assertEqual(tab.evaluate("document.querySelectorAll('img, iframe').length"), 0)

    def test_places_and_neighbors_of_a_kernel_with_one_geometry_cover_all_launches(self):
        capture = self.folder / "training.gpuprof"
        self.run_program(processes.path("BUILT_MADE_CAPTURES"), str(capture), "--training", "2000", timeout=120)
        page = self.page_of(capture)
        held = report_pages.documents_of(page)
        line = held["stats"]["cuda_gpu_kern_gb_sum"]["rows"][0]
        whole = next(row for row in held["stats"]["cuda_gpu_kern_sum"]["rows"] if row["Name"] == line["Name"])
        self.assertLess(line["Instances"], whole["Instances"])
        with self.opened(page) as tab:
            tab.select_option("#kernel-by", "signatures")
            self.wait(tab, "Tabulator.findTable('#kernel-table')[0].getDataCount() === " + str(len(held["stats"]["cuda_gpu_kern_gb_sum"]["rows"])))
            self.open_first(tab)
            rows = tab.evaluate("[...document.querySelectorAll('#kernel-detail table')].find(one => one.innerText.includes('Range or graph')).innerText").splitlines()
            steps = next(row.split("\t") for row in rows if row.startswith("step\t"))
            self.assertEqual((int(steps[1]), steps[3]), (whole["Instances"], "100.0 %"))
            times = tab.evaluate("[...document.querySelectorAll('#kernel-detail ol')].map(one => [...one.querySelectorAll('li')].map(li => li.textContent))")
            self.assertEqual(len(times), 2)
            for text in times[0] + times[1]:
                often, of = re.search(r" (\d+) times?, ([\d.]+) %$", text).groups()
                self.assertAlmostEqual(float(of), 100 * int(often) / whole["Instances"], delta=0.06)

    def test_start_end_ranges_that_were_open_at_the_launch_are_listed(self):
        page = self.page_of(self.made_shape("start-end", 4))
        with self.opened(page) as tab:
            self.open_first(tab)
            shown = tab.inner_text("#kernel-detail")
            self.assertRegex(shown, r"request 0 \(start/end\)\t4\t")
            self.assertRegex(shown, r"request 1 \(start/end\)\t3\t")
            self.assertIn("on any thread, and overlap", shown)

    def test_a_name_of_64_kb_is_cut_and_found_in_the_timeline(self):
        page = self.page_of(self.made() / "hostile.gpuprof")
        with self.opened(page) as tab:
            tab.fill("#kernel-search", "xxxxxxxx")
            self.wait(tab, "document.getElementById('kernel-count').textContent.startsWith('1 of ')")
            self.open_first(tab)
            self.assertEqual(tab.inner_text("#kernel-detail h2"), 300 * "x" + "\u2026")
            self.assertIn("cut off", tab.inner_text("#kernel-detail"))
            tab.click("#kernel-detail button:text('Show in the timeline')")
            self.wait(tab, "document.getElementById('timeline-hits').textContent.startsWith('2 hit')")
            labels = tab.evaluate("[...document.querySelectorAll('#icicle .place')].map(one => Math.max(one.title.length, one.getAttribute('aria-label').length))")
            self.assertLess(max(labels), 400)


processes.main()

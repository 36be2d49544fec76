# SPDX-License-Identifier: Apache-2.0
"""Pages of gpuprof report in a real browser: what a user asks of a run is answered by what the page shows."""
import json

import processes
import report_pages
from report_browser import Browser


class Walk(Browser):
    def setUp(self):
        super().setUp()
        self.page = self.page_of(self.h200("counted_auto"))
        self.held = report_pages.documents_of(self.page)

    def test_the_summary_says_what_limits_the_program_and_what_to_do(self):
        with self.opened(self.page) as tab:
            self.assertIn(self.held["analyze"]["holds"]["sentence"], tab.inner_text("#holds"))
            shown = tab.evaluate("[...document.querySelectorAll('#findings li[data-rule]')].map(one => one.dataset.rule)")
            self.assertEqual(shown, [one["rule"] for one in self.held["analyze"]["findings"]])
            self.assertEqual(tab.locator("#ledger .ledger-bar").count(), len({line["device"] for line in self.held["analyze"]["ledger"]}) + (len(self.held["analyze"]["kinds"]) > 0))

    def test_the_table_of_kernels_sorts_searches_and_opens(self):
        stats = self.held["stats"]["cuda_gpu_kern_sum"]["rows"]
        with self.opened(self.page) as tab:
            longest = max(stats, key=lambda row: row["Total Time (ns)"])
            launches = "document.querySelector('#kernel-table .tabulator-row .tabulator-cell[tabulator-field=launches]').textContent"
            self.assertEqual(tab.evaluate(launches), f"{longest['Instances']:,}")
            tab.click("#kernel-table .tabulator-col[tabulator-field=launches] .tabulator-col-title")
            self.wait(tab, f"{launches} === '{max(row['Instances'] for row in stats):,}'")
            tab.type("#kernel-search", "no kernel has this name")
            self.wait(tab, f"document.getElementById('kernel-count').textContent === '0 of {len(stats)} lines'")
            tab.fill("#kernel-search", "")
            self.wait(tab, f"document.getElementById('kernel-count').textContent === '{len(stats)} of {len(stats)} lines'")
            tab.locator("#kernel-table .tabulator-row").first.click()
            self.wait(tab, "!document.getElementById('kernel-detail').hidden")
            self.assertIn("longest", tab.inner_text("#kernel-detail"))

    def test_table_roofline_and_timeline_are_linked(self):
        with self.opened(self.page) as tab:
            counted = self.held["roofline"]["kernels"]["kernels"]
            points = [line for line in counted if line.get("flops") and line.get("flop_per_dram_byte")]
            self.assertNotEqual(points, [])
            self.assertNotEqual(tab.locator("#roofline-chart svg path").count(), 0)
            tab.locator("#kernel-table .tabulator-row", has_text=points[0]["name"]).first.click()
            tab.click("text=Show in the timeline")
            self.wait(tab, "document.getElementById('timeline-search').value !== ''")
            tab.click("text=Show in the roofline")
            self.wait(tab, "document.getElementById('roofline').getBoundingClientRect().top < 200")

    def test_the_timeline_can_be_zoomed_and_moved_and_adds_up_a_selection(self):
        with self.opened(self.page) as tab:
            pixels = "document.getElementById('timeline-canvas').toDataURL()"
            tab.locator("#timeline-view").scroll_into_view_if_needed()
            whole = tab.evaluate(pixels)
            box = tab.locator("#timeline-canvas").bounding_box()
            tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            tab.mouse.wheel(0, -600)
            self.wait(tab, f"{pixels} !== '{whole}'")
            tab.focus("#timeline-view")
            zoomed = tab.evaluate(pixels)
            tab.keyboard.press("d")
            self.wait(tab, f"{pixels} !== '{zoomed}'")
            tab.click("#timeline-all")
            self.wait(tab, f"{pixels} === '{whole}'")
            tab.keyboard.down("Shift")
            tab.mouse.move(box["x"] + 200, box["y"] + 60)
            tab.mouse.down()
            tab.mouse.move(box["x"] + box["width"] - 5, box["y"] + 60, steps=4)
            tab.mouse.up()
            tab.keyboard.up("Shift")
            self.wait(tab, "document.getElementById('timeline-sum').textContent.includes('pieces')")

    def test_dark_by_the_system_and_by_the_button(self):
        background = "getComputedStyle(document.body).backgroundColor"
        with self.opened(self.page, color_scheme="dark") as tab:
            dark = tab.evaluate(background)
            tab.click("#theme")
            self.wait(tab, f"{background} !== '{dark}'")

    def test_a_phone_needs_no_sideways_scrolling(self):
        with self.opened(self.page, viewport={"width": 390, "height": 800}) as tab:
            tab.evaluate("document.querySelector('#findings li').append('name_of_a_kernel'.repeat(20))")
            self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), 390)


class Steps(Browser):
    def test_a_bar_shows_what_makes_a_step_as_long_as_it_is(self):
        page = self.page_of(self.repaired("growing_cache"))
        path = report_pages.documents_of(page)["analyze"]["critical_path"]
        with self.opened(page) as tab:
            self.assertIn(f"of {path['steps']} that were replayed", tab.inner_text("#path"))
            for at, which in enumerate(("median", "slowest")):
                parts = [value for key, value in path[which].items() if key.endswith("_ns") and key not in ("length_ns", "inferred_ns") and value > 0]
                shown = tab.evaluate(f"((bar) => [...bar.children].map((part) => part.getBoundingClientRect().width / bar.clientWidth))(document.querySelectorAll('#path .ledger-bar')[{at}])")
                self.assertEqual(len(shown), len(parts))
                for width, part in zip(shown, parts):
                    self.assertAlmostEqual(width, part / path[which]["length_ns"], delta=0.01)

    def test_without_steps_there_is_no_bar(self):
        with self.opened(self.page_of(self.h200("counted_auto"))) as tab:
            self.assertFalse(tab.locator("#path").is_visible())


class Captures(Browser):
    def test_captures_with_few_or_hostile_records_are_shown_without_errors(self):
        made = self.made()
        for name in ("hostile", "empty", "only_ranges", "odd", "lossy", "rare"):
            with self.subTest(name), self.opened(self.page_of(made / f"{name}.gpuprof")) as tab:
                self.assertTrue(tab.evaluate("document.getElementById('stop').hidden"), tab.inner_text("#stop"))
                self.assertEqual(tab.evaluate("document.querySelectorAll('img').length"), 0)

    def test_hostile_names_are_text_wherever_they_are_shown(self):
        name = "</script><img src=x onerror=alert(1)>"
        says = lambda selector: f"[...document.querySelectorAll('{selector}')].some(one => one.textContent.includes({json.dumps(name)}))"  # noqa: E731
        with self.opened(self.page_of(self.made() / "hostile.gpuprof")) as tab:
            tab.evaluate("[window.alerts = 0, window.alert = () => { ++alerts }].length")
            for table in ("kernel-table", "range-table"):
                tab.locator(f"#{table} .tabulator-row", has_text=name).first.locator(".tabulator-cell").first.hover()
                self.wait(tab, says(".tabulator-tooltip"))
                tab.click("#kernels-title")
                self.wait(tab, "document.querySelector('.tabulator-tooltip') === null")
            tab.locator("#kernel-table .tabulator-row", has_text=name).first.click()
            self.wait(tab, says("#kernel-detail h2") + " && " + says("#kernel-detail td"))
            self.assertTrue(tab.evaluate(f"[...document.querySelectorAll('#icicle .place')].some(one => one.title.includes({json.dumps(name)}))"))
            tab.fill("#timeline-search", name)
            tab.press("#timeline-search", "Enter")
            self.wait(tab, says("#timeline-at"))
            self.assertEqual(tab.evaluate("[alerts, document.querySelectorAll('img, iframe').length]"), [0, 0])

    def test_copies_and_calls_are_tables_that_open(self):
        page = self.page_of(self.made_job())
        stats = report_pages.documents_of(page)["stats"]
        with self.opened(page) as tab:
            for report in ("cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_api_sum"):
                rows = stats[report]["rows"]
                self.assertFalse(tab.locator(f"#{report}").is_visible())
                tab.locator("#calls summary").nth(("cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_api_sum").index(report)).click()
                # Laid out when it is opened, as wide as the page.
                self.wait(tab, f"document.querySelectorAll('#{report} .tabulator-row').length === {len(rows)}")
                self.wait(tab, f"document.querySelector('#{report} .tabulator-row').getBoundingClientRect().width > 900")
                self.assertEqual(len(self.rows(tab, report)[0]), len(rows[0]))

    def test_a_page_without_counters_says_how_to_get_them(self):
        with self.opened(self.page_of(self.made_fault("sync_in_loop"))) as tab:
            self.assertIn("gpuprof profile --metrics", tab.inner_text("#roofline-notes"))

    def test_pages_that_use_the_console_or_the_network_fail_the_walk(self):
        page = self.page_of(self.made_fault("sync_in_loop"))
        for what, script in (("a word", "console.log('a word')"), ("a failure", "setTimeout(() => { throw new Error('a failure') })"),
                             ("http://127.0.0.1:9/", "new Image().src = 'http://127.0.0.1:9/'")):
            with self.subTest(what), self.assertRaisesRegex(AssertionError, what), self.opened(page) as tab:
                tab.evaluate(f"(() => {{ {script} }})()")
                tab.wait_for_timeout(300)


processes.main()

# SPDX-License-Identifier: Apache-2.0
"""A page of several ranks in a browser: a rank is chosen, ranks stand beside each other."""
import json

import processes
import report_pages
from report_browser import READY, Browser


class Ranks(Browser):
    def setUp(self):
        super().setUp()
        self.page = self.page_of(self.made_ranks("--fleet", 0, ranks=8))
        self.held = report_pages.documents_of(self.page)

    def choose(self, tab, at):
        tab.select_option("#capture-choice", str(at))
        self.wait(tab, f"document.getElementById('capture').textContent === 'rank{at}.gpuprof'")
        self.wait(tab, READY)

    def test_the_chooser_can_switch_ranks_again_and_again(self):
        with self.opened(self.page) as tab:
            self.assertEqual(tab.locator("#capture-choice option").all_inner_texts(), [f"rank {rank}" for rank in range(8)])
            for at in (5, 0, 5):
                self.choose(tab, at)
                stats = self.held[f"capture-{at}-stats"]["cuda_gpu_kern_sum"]["rows"]
                self.assertEqual(len(self.rows(tab)), len(stats))
                longest = max(stats, key=lambda row: row["Total Time (ns)"])
                self.assertIn(longest["Name"], self.rows(tab)[0][0])
                self.assertEqual(tab.locator("#ledger .ledger-bar").count(), 2)  # of its GPU, and of the kinds of work
                self.assertEqual(tab.locator("#capture-choice").input_value(), str(at))
            gemm = lambda at: next(row["Total Time (ns)"] for row in self.held[f"capture-{at}-stats"]["cuda_gpu_kern_sum"]["rows"] if row["Name"].startswith("gemm("))  # noqa: E731
            self.assertNotEqual(gemm(5), gemm(0))
            tab.locator("#kernel-table .tabulator-row").first.click()
            self.wait(tab, "!document.getElementById('kernel-detail').hidden")

    def listeners(self, tab):
        """How many hear of what happens to the window and the document, by what that is."""
        session = tab.context.new_cdp_session(tab)
        counts = {}
        for thing in ("window", "document"):
            known = session.send("Runtime.evaluate", {"expression": thing})["result"]["objectId"]
            for one in session.send("DOMDebugger.getEventListeners", {"objectId": known})["listeners"]:
                counts[thing, one["type"]] = counts.get((thing, one["type"]), 0) + 1
        return counts

    def test_listeners_of_the_previous_rank_are_removed(self):
        with self.opened(self.page) as tab:
            before = self.listeners(tab)
            self.assertGreater(before["window", "resize"], 0)
            for at in (5, 2, 0):
                self.choose(tab, at)
            self.assertEqual(self.listeners(tab), before)

    def test_the_scroll_position_stays_when_the_rank_changes(self):
        with self.opened(self.page) as tab:
            tab.evaluate("document.getElementById('kernels').scrollIntoView()")
            before = tab.evaluate("document.getElementById('kernels').getBoundingClientRect().top")
            self.choose(tab, 3)
            self.assertAlmostEqual(tab.evaluate("document.getElementById('kernels').getBoundingClientRect().top"), before, delta=60)

    def test_the_slowest_rank_is_named_first_and_leads_to_its_parts(self):
        with self.opened(self.page) as tab:
            self.assertIn("rank 5 comes last", tab.inner_text("#ranks-slowest"))
            self.assertEqual(self.rows(tab, "ranks-table")[0][0], "5")
            tab.locator("#ranks-table .tabulator-row").first.click()
            self.wait(tab, "document.getElementById('capture').textContent === 'rank5.gpuprof'")
            self.wait(tab, READY)

    def test_tables_over_ranks_equal_those_of_stats(self):
        with self.opened(self.page) as tab:
            for report in ("ranks_collective_sum", "ranks_range_sum", "ranks_kern_sum"):
                tab.select_option("#ranks-report", report)
                lines = self.held["ranks"]["reports"][report]["rows"]
                self.wait(tab, f"document.querySelectorAll('#ranks-table .tabulator-row').length === {len(lines)}")
            self.assertIn("clocks:", self.held["ranks"]["reports"]["ranks_collective_sum"]["notes"][0])

    def test_a_step_is_shown_for_all_ranks_side_by_side(self):
        with self.opened(self.page) as tab:
            tab.fill("#ranks-step", "4")
            tab.locator("#ranks-step").blur()
            self.wait(tab, "document.getElementById('ranks-step-title').textContent === 'Step 4 on each rank'")
            self.assertEqual(tab.locator("#ranks-side .rank-row").count(), 8)
            period = tab.evaluate(f"words.time({self.held['ranks']['steps']['of'][5]['period_ns'][4]})")
            self.assertEqual(tab.locator("#ranks-side .rank-row").nth(5).locator(".facts").inner_text(), f"{period}, waits 0 ns")
            compute = [of["ns"]["compute"][4] for of in self.held["ranks"]["steps"]["of"]]
            self.assertEqual(max(range(8), key=compute.__getitem__), 5)
            widths = tab.evaluate("[...document.querySelectorAll('#ranks-side .rank-row')].map(row => row.querySelector('.ledger-bar span').getBoundingClientRect().width)")
            self.assertEqual(max(range(8), key=widths.__getitem__), 5)

    def test_the_heat_map_shows_time_or_waiting_and_a_click_shows_the_step(self):
        with self.opened(self.page) as tab:
            colors = "[...document.querySelectorAll('#ranks-chart svg path')].map(one => one.getAttribute('fill')).join()"
            scale = "[...document.querySelectorAll('#ranks-chart svg text')].map(one => one.textContent).join()"
            time = tab.evaluate(colors)
            tab.select_option("#ranks-value", "wait_ns")
            self.wait(tab, f"{colors} !== '{time}'")
            # All ranks but one wait as long for a held rank, so only the scale says how long.
            waiting = tab.evaluate(scale)
            tab.select_option("#ranks-value", "held_ns")
            self.wait(tab, f"{scale} !== '{waiting}'")
            tab.locator("#ranks-chart").scroll_into_view_if_needed()
            box = tab.locator("#ranks-chart").bounding_box()
            # Cells begin 90 pixels from the left and end 120 from the right.
            tab.mouse.click(box["x"] + 90 + (box["width"] - 210) * 6.5 / 10, box["y"] + box["height"] / 2)
            self.wait(tab, "document.getElementById('ranks-step-title').textContent === 'Step 6 on each rank'")

    def test_on_a_phone_nothing_scrolls_sideways(self):
        with self.opened(self.page, viewport={"width": 390, "height": 800}) as tab:
            self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), 390)

    def test_one_capture_has_no_chooser_and_no_ranks(self):
        with self.opened(self.page_of(self.h200("mixed_exact"))) as tab:
            for part in ("#capture-choice", "#ranks", "#to-ranks"):
                self.assertFalse(tab.locator(part).is_visible(), part)


class Chosen(Browser):
    def check_parts(self, tab, held):
        """Details, roofline and timeline are of this capture."""
        row = max(held["stats"]["cuda_gpu_kern_sum"]["rows"], key=lambda one: one["Total Time (ns)"])
        tab.locator("#kernel-table .tabulator-row").first.click()
        self.wait(tab, f"document.querySelector('#kernel-detail h2') !== null && document.querySelector('#kernel-detail h2').textContent === {json.dumps(row['Name'])}")
        line = next(one for one in held["details"]["kernels"] if one["name"] == row["Name"])
        self.assertGreater(sum(line["histogram"]["counts"]), 0)
        rows = tab.evaluate("[...document.querySelectorAll('#kernel-detail table')].map(one => one.rows.length - 1)")
        self.assertEqual(rows[0], len(line["geometries"]))
        self.assertIn(f"{row['Instances']:,}", tab.inner_text("#kernel-detail dl"))
        lines = held["roofline"]["kernels"]["kernels"]
        self.assertIn(f"of {len(lines)} lines", tab.inner_text("#roofline-count"))
        self.assertIn("Marked: ", tab.inner_text("#roofline-chosen"))
        titles = tab.evaluate("timelineRows.groups().map(one => one.title)")
        self.assertIn("GPU 0", titles)
        self.assertEqual("GPU 0 counters" in titles, len(held["timeline"]["counters"]) > 0)
        base = row["Name"].split("(")[0].split(" ")[-1].split("<")[0]
        tab.fill("#timeline-search", base)
        self.assertRegex(tab.inner_text("#timeline-hits"), r"^[1-9][\d,]* hits?$")

    def test_every_part_shows_the_chosen_capture(self):
        first, second = self.h200("counted_auto"), self.h200("mixed_exact")
        page = self.page_of(first, "--against", second)
        held = report_pages.documents_of(page)
        with self.opened(page) as tab:
            for at in (0, 1, 0):
                tab.select_option("#capture-choice", str(at))
                self.wait(tab, f"{READY} && document.getElementById('capture').textContent === '{(first, second)[at].name}'")
                self.assertFalse(tab.locator("#kernel-detail").is_visible())
                parts = {name: held[f"capture-{at}-{name}"] for name in ("stats", "details", "roofline", "timeline")}
                self.check_parts(tab, parts)


class Odd(Browser):
    def test_missing_ranks_are_reported_once(self):
        with self.opened(self.page_of(self.made_ranks("--fleet", 0, ranks=3))) as tab:
            self.assertEqual(tab.inner_text("#ranks-facts").count("the job has 8 ranks"), 1)

    def test_a_rank_with_damaged_data_is_reported(self):
        page = self.page_of(self.made_ranks("--fleet", 0, ranks=2))
        text = page.read_text()
        at = text.index('id="data-capture-1-stats">') + len('id="data-capture-1-stats">')
        page.write_text(text[:at] + "AAAA" + text[at + 4 :])
        with self.assertRaisesRegex(AssertionError, "Failed to fetch"), self.opened(page) as tab:
            tab.select_option("#capture-choice", "1")
            self.wait(tab, "!document.getElementById('stop').hidden")
            self.assertIn("damaged", tab.inner_text("#stop"))
            tab.select_option("#capture-choice", "0")
            self.wait(tab, READY)
            self.assertFalse(tab.locator("#stop").is_visible())
            self.assertEqual(len(self.rows(tab)), 3)

    def test_captures_without_steps_or_work_are_shown_without_a_message(self):
        with self.opened(self.page_of(self.made())) as tab:
            for at in range(tab.locator("#capture-choice option").count()):
                tab.select_option("#capture-choice", str(at))
                self.wait(tab, f"{READY} && !document.getElementById('capture-choice').disabled")
            self.assertEqual(tab.evaluate("document.querySelectorAll('img').length"), 0)


processes.main()

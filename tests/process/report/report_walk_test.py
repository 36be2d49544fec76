# SPDX-License-Identifier: Apache-2.0
"""A walk over the pages of recorded sessions: each part opens, does what it is asked, and has the figures of gpuprof stats."""
import pathlib

import processes
import report_pages
from report_browser import Browser

CHART = "echarts.getInstanceByDom(document.getElementById('roofline-chart'))"
TOO_OLD = "<script>delete window.DecompressionStream</script>"


class Walk(Browser):
    def walk(self, name):
        capture = self.h200(name)
        page = self.page_of(capture)
        held = report_pages.documents_of(page)
        stats = self.said("stats", "-r", "cuda_gpu_kern_sum", capture)
        with self.opened(page) as tab:
            for part in ("summary", "kernels", "roofline", "timeline", "ranges"):
                tab.click(f"nav a[href='#{part}']")
                self.assertTrue(tab.is_visible(f"#{part}"), part)
            self.check_table(tab, stats)
            self.check_timeline(tab)
            self.check_roofline(tab, held["roofline"])
            before = tab.evaluate("document.documentElement.dataset.theme")
            tab.click("#theme")
            self.assertNotEqual(tab.evaluate("document.documentElement.dataset.theme"), before)
            self.assertFalse(tab.is_visible("#stop"))

    def check_table(self, tab, stats):
        self.assertEqual(len(self.rows(tab)), len(stats))
        tab.click("#kernel-table .tabulator-col[tabulator-field=launches] .tabulator-col-title")
        launches = sorted((row["Instances"] for row in stats), reverse=True)
        self.wait(tab, f"JSON.stringify([...document.querySelectorAll('#kernel-table .tabulator-cell[tabulator-field=launches]')].map(one => Number(one.textContent.replace(/,/g, '')))) === '{str(launches).replace(' ', '')}'")
        tab.locator("#kernel-table .tabulator-row").first.click()
        self.wait(tab, "!document.getElementById('kernel-detail').hidden")
        name = tab.inner_text("#kernel-detail h2")
        [row] = [row for row in stats if " ".join(row["Name"].split()) == " ".join(name.split())]
        said = tab.inner_text("#kernel-detail dl")
        for field in ("Total Time (ns)", "Avg (ns)", "Max (ns)"):
            self.assertIn(tab.evaluate(f"words.time({row[field]})"), said, field)

    def check_timeline(self, tab):
        tab.click("nav a[href='#timeline']")
        tab.locator("#timeline-canvas").scroll_into_view_if_needed()
        span, whole = "timelineView.state.to - timelineView.state.from", tab.evaluate("timelineView.state.whole")
        box = tab.locator("#timeline-canvas").bounding_box()
        tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
        tab.mouse.wheel(0, -600)
        self.wait(tab, f"{span} < {whole / 2}")
        tab.click("#timeline-all")
        self.wait(tab, f"{span} === {whole}")
        tab.click("#timeline-add")
        self.assertIn("GPU 0: ", tab.inner_text("#timeline-sum"))

    def check_roofline(self, tab, held):
        if "missing" in held:
            self.assertIn(held["missing"], tab.inner_text("#roofline-notes"))
            return
        points = tab.evaluate(f"{CHART}.getOption().series.at(-1).data.map(one => one.value)")
        lines = [line for line in held["kernels"]["kernels"] if line.get("flops") and line.get("flop_per_dram_byte")]
        self.assertEqual(sorted(points), sorted([line["flop_per_dram_byte"], line["flops"]] for line in lines))
        if not points:
            return
        tab.locator("#roofline-chart").scroll_into_view_if_needed()
        x, y = tab.evaluate(f"{CHART}.convertToPixel({{xAxisIndex: 0, yAxisIndex: 0}}, {points[-1]})")  # the last is above the others
        box = tab.locator("#roofline-chart").bounding_box()
        tab.mouse.move(box["x"] + x, box["y"] + y)
        self.wait(tab, "document.querySelector('#roofline-chart .tip') !== null")
        self.assertIn("FLOP/s: ", tab.inner_text("#roofline-chart .tip"))

    def test_a_report_of_the_exact_capture_agrees_with_the_commands(self):
        self.walk("mixed_exact")

    def test_a_report_of_the_sampled_capture_agrees_with_the_commands(self):
        self.walk("mixed_sampled")

    def test_a_report_of_the_counted_capture_agrees_with_the_commands(self):
        self.walk("counted_auto")


class Training(Browser):
    """The two ranks of a recorded training: steps, ranges, counters, power, peaks, collectives."""
    JOB = pathlib.Path(processes.path("H200_CAPTURES")).parent / "h100"

    def test_both_ranks(self):
        with self.opened(self.page_of(self.JOB)) as tab:
            self.check_ranks(tab)
            at = tab.evaluate("[...document.querySelectorAll('#ranks-table .tabulator-row')].findIndex(one => one.querySelector('[tabulator-field=Rank]').textContent === '1')")
            tab.locator("#ranks-table .tabulator-row").nth(at).click()
            self.wait(tab, "document.documentElement.dataset.ready === 'yes' && document.getElementById('capture-choice').value === '1'")
            self.check_parts_of(tab, self.JOB / "ddp.rank1.gpuprof")

    def check_ranks(self, tab):
        said = self.said("analyze", self.JOB)
        late = next(one for one in said["findings"] + said["below_threshold"] if one["rule"] == "late_rank")
        self.assertIn(late["what"], tab.inner_text("#ranks-slowest"))
        rows = self.said("stats", "-r", "ranks_sum", self.JOB)
        work = sorted((row["Work Time (ns)"] for row in rows), reverse=True)
        self.assertEqual(len(work), 2)
        self.wait(tab, "document.querySelectorAll('#ranks-table .tabulator-row').length === 2")
        shown = tab.evaluate("[...document.querySelectorAll('#ranks-table .tabulator-row')].map(one => one.innerText)")
        for line, ns in zip(shown, work):
            self.assertIn(tab.evaluate(f"words.time({ns})"), line)
        self.assertEqual(tab.evaluate("document.querySelectorAll('#ranks-side .rank-row').length"), 2)

    def check_parts_of(self, tab, capture):
        first = self.said("stats", "-r", "cuda_gpu_kern_sum", capture)[0]
        self.assertIn(tab.evaluate(f"words.time({first['Total Time (ns)']})"), tab.locator("#kernel-table .tabulator-row").first.inner_text())
        places = tab.evaluate("[...document.querySelectorAll('#icicle .place')].map(one => one.innerText)")
        for name in ("step", "forward", "backward", "optimizer"):
            self.assertTrue(any(place.startswith(name) for place in places), (name, places))
        titles = tab.evaluate("timelineRows.groups().map(one => one.title)")
        for title in ("GPU 1", "GPU 1 counters", "GPU 1 power and clock", "NVTX"):
            self.assertIn(title, titles)
        watts = tab.evaluate("timelineRows.groups().find(one => one.title === 'GPU 1 power and clock').rows.find(one => one.label === 'Power').track")
        self.assertTrue(50 < watts["greatest"] < 800, watts["greatest"])
        steps = tab.evaluate("echarts.getInstanceByDom(document.getElementById('steps-chart')).getOption().series[0].data.length")
        self.assertEqual(steps, len(self.said("analyze", capture)["steps"]))


class Manners(Browser):
    def test_a_browser_that_is_too_old_gets_one_line(self):
        page = self.page_of(self.h200("mixed_exact"))
        with self.opened(page) as tab:
            text = page.read_text()
            page.write_text(text.replace("<head>", f"<head>{TOO_OLD}", 1))
            tab.goto(page.as_uri())
            self.wait(tab, "!document.getElementById('stop').hidden")
            self.assertIn("needs Chrome 90, Firefox 113, Safari 16.4", tab.inner_text("#stop"))
            self.assertFalse(tab.is_visible("main"))
            self.assertFalse(tab.is_visible("#stop + header nav"))

    def test_the_licenses_of_the_libraries_are_in_the_page(self):
        with self.opened(self.page_of(self.h200("mixed_exact"))) as tab:
            self.assertFalse(tab.is_visible("#licenses pre"))
            tab.click("#licenses summary")
            self.assertTrue(tab.is_visible("#licenses pre"))
            said = tab.evaluate("document.getElementById('licenses').textContent")
            for text in ("Apache License, Version 2.0", "Permission is hereby granted, free of charge", "Oli Folkerd", "Redistributions in binary form"):
                self.assertIn(text, said)


processes.main()

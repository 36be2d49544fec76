# SPDX-License-Identifier: Apache-2.0
"""Questions that a user has of a run, each answered by its page within three clicks with what the other commands say."""
import csv
import json
import os
import pathlib

import processes
import report_pages
from report_browser import Browser


class Asked:
    """A tab in which a question may cost three clicks."""
    def __init__(self, tab):
        self._tab, self._clicks = tab, 0

    def at(self, selector):
        """What is there, for one more click."""
        self._clicks += 1
        assert self._clicks <= 3, f"{selector} would be click {self._clicks}"
        return self._tab.locator(selector).first

    def click(self, selector):
        self.at(selector).click()

    def choose(self, selector, option):
        self.at(selector).select_option(option)

    def fill(self, selector, text):
        self.at(selector).fill(text)

    def press(self, selector, key):
        self.at(selector).press(key)

    def text(self, selector):
        return self._tab.locator(selector).first.inner_text()

    def cell(self, table, field):
        """Of the first line."""
        return self.text(f"#{table} .tabulator-row .tabulator-cell[tabulator-field={field}]")


class Questions(Browser):
    def setUp(self):
        super().setUp()
        self.recorded = self.h200("counted_auto")
        os.environ["GPUPROF_PEAKS_DIR"] = str(self.store_peaks())
        self.addCleanup(os.environ.pop, "GPUPROF_PEAKS_DIR")

    def store_peaks(self):
        """As `gpuprof peaks` leaves them, of the GPU on which that capture was recorded."""
        tables = self.folder / "tables.json"
        self.run_gpuprof("export", "-t", "json", "-o", tables, self.recorded)
        device = json.loads(tables.read_text())["tables"]["device"]
        uuid = device["rows"][0][[column["name"] for column in device["columns"]].index("uuid")]
        peaks = json.loads((pathlib.Path(processes.path("H200_CAPTURES")).parent / "peaks" / "h200.json").read_text())
        for gpu in peaks["gpus"]:
            gpu["measured_at"] = "2099-01-01T00:00:00Z"  # after the capture
            gpu["key"]["uuid"] = uuid
        store = self.folder / "peaks"
        store.mkdir()
        (store / f"{uuid}-measured.json").write_text(json.dumps(peaks))
        return store

    def said(self, command, capture):
        """What a command writes as JSON."""
        written = self.run_gpuprof(command, "-f", "json", capture).out
        return json.loads(written[written.index("{"):])

    def rows(self, capture, report):
        written = json.loads(self.run_gpuprof("stats", "-r", report, "-f", "json", capture).out)
        return written if isinstance(written, list) else written[report]

    def as_time(self, tab, ns):
        return tab.evaluate(f"words.time({ns})")

    def as_share(self, tab, part):
        return tab.evaluate(f"words.share({part})")

    def test_which_kernel_costs_most(self):
        most = max(self.rows(self.recorded, "cuda_gpu_kern_sum"), key=lambda row: row["Total Time (ns)"])
        with self.opened(self.page_of(self.recorded)) as tab:
            asked = Asked(tab)
            asked.click("nav a[href='#kernels']")
            self.assertEqual(asked.cell("kernel-table", "name"), most["Name"])
            self.assertEqual(asked.cell("kernel-table", "total"), self.as_time(tab, most["Total Time (ns)"]))

    def test_is_it_at_its_roof(self):
        most = max(self.said("roofline", self.recorded)["kernels"], key=lambda line: line["time_ns"])
        self.assertGreater(most["of_roof"], 0)
        with self.opened(self.page_of(self.recorded)) as tab:
            asked = Asked(tab)
            asked.click("nav a[href='#kernels']")
            self.assertEqual(asked.cell("kernel-table", "roof"), self.as_share(tab, most["of_roof"]))
            asked.click("#kernel-table .tabulator-row")
            self.assertIn(self.as_share(tab, most["of_roof"]), asked.text("#kernel-detail"))

    def test_what_is_the_gpu_idle_for_and_why(self):
        idle = [line for line in self.said("analyze", self.recorded)["ledger"]
                if line["bucket"] not in ("compute", "transfer", "communication")]
        longest = max(idle, key=lambda line: line["ns"])
        with self.opened(self.page_of(self.recorded)) as tab:
            name = tab.evaluate(f"theme.bucketName('{longest['bucket']}')")
            self.assertIn(f"{name} {self.as_share(tab, longest['share'])} ({self.as_time(tab, longest['ns'])})", Asked(tab).text("#ledger .legend"))

    def test_what_to_do_first(self):
        first = self.said("analyze", self.recorded)["findings"][0]
        with self.opened(self.page_of(self.recorded)) as tab:
            asked = Asked(tab)
            self.assertIn(first["what"], asked.text("#findings li[data-rule]"))
            self.assertIn(first["to_do"], asked.text("#findings li[data-rule]"))
            asked.click("#findings li[data-rule] summary")
            self.assertIn(first["arithmetic"], asked.text("#findings li[data-rule]"))

    def test_what_was_lost(self):
        for capture, nothing in ((self.recorded, True), (self.made() / "lossy.gpuprof", False)):
            lost = next(line for line in self.run_gpuprof("stats", capture).out.splitlines() if line.startswith("lost: "))
            self.assertEqual(lost == "lost: nothing", nothing)
            with self.subTest(capture.stem), self.opened(self.page_of(capture)) as tab:
                self.assertIn(lost, Asked(tab).text("#overview"))

    def test_which_step_was_slowest_and_where(self):
        capture = self.made_fault("late_module_load")
        lengths = sorted(step["total_ns"] for step in self.said("analyze", capture)["steps"])
        self.assertGreater(lengths[-1], 2 * lengths[len(lengths) // 2])
        with self.opened(self.page_of(capture)) as tab:
            asked = Asked(tab)
            asked.click("nav a[href='#timeline']")
            asked.click("#timeline-slowest")
            self.assertIn(self.as_time(tab, lengths[-1]), self.pointed_at(tab, "step"))

    def pointed_at(self, tab, name):
        """What the timeline tells of the bar with this name in the middle of the view."""
        tab.locator("#timeline-canvas").scroll_into_view_if_needed()
        box = tab.locator("#timeline-canvas").bounding_box()
        for down in range(2, int(box["height"]), 5):
            tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + down)
            tip = tab.evaluate("(tip => tip.hidden ? '' : tip.innerText)(document.getElementById('timeline-tip'))")
            if tip.startswith(name):
                return tip
        self.fail(f"no bar {name} in the middle")

    def test_which_range_has_most_gpu_time(self):
        capture = self.made_fault("sync_in_loop")
        ranges = self.rows(capture, "nvtx_gpu_proj_sum")
        most = max(ranges, key=lambda row: row["Total Proj Time (ns)"])
        with self.opened(self.page_of(capture)) as tab:
            asked = Asked(tab)
            asked.click("nav a[href='#ranges']")
            asked.choose("#range-by", "names")
            self.assertIn(asked.cell("range-table", "name"), [row["Range"] for row in ranges if row["Total Proj Time (ns)"] == most["Total Proj Time (ns)"]])
            self.assertEqual(asked.cell("range-table", "on_gpu"), self.as_time(tab, most["Total Proj Time (ns)"]))

    def test_did_rank_3_wait(self):
        job = self.made_ranks("--fleet", 0, ranks=8)
        starts = [self.starts_of_collectives(job / f"rank{rank}.gpuprof") for rank in range(8)]
        step = 4
        waited = max(of[step] for of in starts) - starts[3][step]
        page = self.page_of(job)
        # A part of it was for a rank that the profiler held, which is no wait for a late rank.
        held = report_pages.documents_of(page)["ranks"]["steps"]["of"][3]["held_ns"][step]
        self.assertGreater(waited, held)
        with self.opened(page) as tab:
            asked = Asked(tab)
            asked.click("nav a[href='#ranks']")
            asked.fill("#ranks-step", str(step))
            asked.press("#ranks-step", "Enter")
            self.wait(tab, f"document.getElementById('ranks-step-title').textContent === 'Step {step} on each rank'")
            [line] = [text for text in tab.evaluate("[...document.querySelectorAll('#ranks-side .rank-row')].map(one => one.innerText)") if text.startswith("rank 3\n")]
            self.assertIn(f"waits {self.as_time(tab, waited - held)}", line)

    def starts_of_collectives(self, capture):
        tables = self.folder / f"{capture.stem}-tables"
        self.run_gpuprof("export", capture, "--type", "csv", "-o", tables)
        with open(tables / "kernel.csv", newline="") as file:
            return sorted(int(row["start"]) for row in csv.DictReader(file) if row["stream"] == "20")

    def test_what_bounds_a_kernel_by_name(self):
        lines = self.said("roofline", self.recorded)["kernels"]
        self.assertGreater(len({line["bound_by"] for line in lines}), 2)
        with self.opened(self.page_of(self.recorded)) as tab:
            for line in lines:
                with self.subTest(line["name"]):
                    asked = Asked(tab)
                    asked.fill("#kernel-search", line["name"])
                    self.wait(tab, f"document.querySelector('#kernel-table .tabulator-cell').textContent === {json.dumps(line['name'])}")
                    self.assertEqual(asked.cell("kernel-table", "bound"), line["bound_by"])
                    asked.click("#kernel-table .tabulator-row")
                    self.assertIn(f"bound by\n{line['bound_by']}", asked.text("#kernel-detail"))

    def test_how_much_is_communication(self):
        capture = self.made_fault("exposed_comm")
        line = next(line for line in self.said("analyze", capture)["ledger"] if line["bucket"] == "communication")
        self.assertGreater(line["ns"], 0)
        with self.opened(self.page_of(capture)) as tab:
            name = tab.evaluate("theme.bucketName('communication')")
            self.assertIn(f"{name} {self.as_share(tab, line['share'])} ({self.as_time(tab, line['ns'])})", Asked(tab).text("#ledger .legend"))

    def test_what_the_profiler_itself_cost(self):
        said = self.said("analyze", self.recorded)
        cost = next(line for line in said["heading"] if line.startswith("cost: "))
        waited = next(line for line in said["ledger"] if line["bucket"] == "profiler")
        with self.opened(self.page_of(self.recorded)) as tab:
            self.assertIn(cost, Asked(tab).text("#overview"))
            self.assertIn(f"this profiler {self.as_share(tab, waited['share'])}", Asked(tab).text("#ledger .legend"))


processes.main()

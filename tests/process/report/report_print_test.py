# SPDX-License-Identifier: Apache-2.0
"""Pages on paper: a PDF of Chromium holds the charts as paths, tables as text, and the colors of the light theme."""
import re
import zlib

import processes
import report_pages
from report_browser import Browser


def streams_of(pdf):
    """(dictionary, bytes) of each stream of a PDF, unpacked where it is deflated."""
    for found in re.finditer(rb"<<((?:[^<>]|<<[^<>]*>>|<[^<>]*>)*)>>\s*stream\r?\n", pdf):
        length = int(re.search(rb"/Length (\d+)", found[1])[1])
        body = pdf[found.end():found.end() + length]
        yield found[1], zlib.decompress(body) if b"/FlateDecode" in found[1] else body


class Paper(Browser):
    def pdf_of(self, page, **context):
        """The PDF, and what the page was like while it was printed."""
        with self.opened(page, **context) as tab:
            tab.evaluate("window.addEventListener('beforeprint', () => { window.printed = {theme: document.documentElement.dataset.theme, rows: document.querySelectorAll('#kernel-table-on-paper tbody tr').length, "
                         "text: (document.getElementById('kernel-table-on-paper') || {textContent: ''}).textContent, widths: [...document.querySelectorAll('.chart svg')].map(one => one.clientWidth), "
                         "ends: [...document.querySelectorAll('#roofline-chart svg > g path, #roofline-chart svg > g text')].map(one => one.getBoundingClientRect().right - document.getElementById('roofline-chart').getBoundingClientRect().left)}; })")
            tab.locator("#kernel-table .tabulator-row").first.click()
            pdf = tab.pdf(format="A4")
            self.assertEqual(tab.locator(".on-paper").count(), 0)  # gone again
            return pdf, tab.evaluate("window.printed")

    def test_charts_are_paths_not_images(self):
        page = self.page_of(self.made_sweep())
        pdf, printed = self.pdf_of(page)
        streams = list(streams_of(pdf))
        images = [about for about, _ in streams if re.search(rb"/Subtype\s*/Image", about)]
        self.assertEqual(images, [])
        drawn = b"\n".join(body for about, body in streams if b"/Type" not in about and b"/FontFile" not in about)
        curves = len(re.findall(rb"(?:-?[\d.]+ ){6}c\b", drawn))
        self.assertGreaterEqual(curves, 4 * 7)  # seven points are circles
        self.assertGreaterEqual(len(printed["widths"]), 3)  # roofline, and durations of the open line
        self.assertLessEqual(max(printed["widths"]), 700)
        self.assertLessEqual(max(printed["ends"]), 700)  # drawn again for that width, not cut off
        self.assertGreater(max(printed["ends"]), 600)

    def test_steps_and_the_heat_map_are_paths_too(self):
        for what, page in (("steps", self.page_of(self.made_shape("steps", 20))), ("ranks", self.page_of(self.made_ranks("--fleet", 0, ranks=3)))):
            with self.subTest(what):
                with self.opened(page) as tab:
                    self.assertGreater(tab.locator(f"#{what}-chart svg path").count(), 3)
                pdf, printed = self.pdf_of(page)
                self.assertEqual([about for about, _ in streams_of(pdf) if re.search(rb"/Subtype\s*/Image", about)], [])
                self.assertLessEqual(max(printed["widths"]), 700)

    def test_tables_are_their_first_rows_and_do_not_scroll(self):
        capture = self.folder / "training.gpuprof"
        self.run_program(processes.path("BUILT_MADE_CAPTURES"), str(capture), "--training", "20000", timeout=120)
        page = self.page_of(capture)
        kernels = len(report_pages.documents_of(page)["stats"]["cuda_gpu_kern_sum"]["rows"])
        self.assertGreater(kernels, 40)
        _, printed = self.pdf_of(page)
        self.assertEqual(printed["rows"], 40)
        self.assertIn(f"The first 40 of {kernels} lines.", printed["text"])

    def test_a_printed_page_is_light_even_if_the_page_is_dark(self):
        page = self.page_of(self.made_job())
        with self.opened(page, color_scheme="dark") as tab:
            self.assertEqual(tab.evaluate("document.documentElement.dataset.theme"), "dark")
        _, printed = self.pdf_of(page, color_scheme="dark")
        self.assertEqual(printed["theme"], "light")
        self.assertGreater(printed["rows"], 0)

    def shown_on_paper(self, page, script):
        """What the script says of a page while it is printed. No event says that the room has become that of the paper."""
        with self.opened(page) as tab:
            tab.emulate_media(media="print")
            tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
            tab.evaluate("document.querySelector('main').style.width = '690px'")
            return tab.evaluate(f"({script})()")

    def test_ranks_keep_their_names_and_their_table(self):
        page = self.page_of(self.made_ranks("--fleet", 0, ranks=3))
        printed = self.shown_on_paper(page, "() => ({names: [...document.querySelectorAll('.rank-row > button')].filter(one => one.offsetWidth > 0).map(one => one.textContent), "
                                            "rows: document.querySelectorAll('#ranks-table-on-paper tbody tr').length, choice: document.getElementById('ranks-longest').offsetWidth})")
        self.assertEqual(printed, {"names": ["rank 0", "rank 1", "rank 2"], "rows": 3, "choice": 0})

    def test_a_printed_comparison_keeps_its_lines(self):
        base = self.compared(seed=1)
        page = self.page_of(base, "--against", self.compared(seed=2, slowed=1.2))
        lines = report_pages.documents_of(page)["comparison"]["compare"]["lines"]
        printed = self.shown_on_paper(page, "() => document.querySelectorAll('#comparison-table-on-paper tbody tr').length")
        self.assertEqual(printed, min(len(lines), 40))

    def test_the_icicle_fits_on_the_paper(self):
        page = self.page_of(self.made_job())
        printed = self.shown_on_paper(page, "() => { const view = document.getElementById('icicle'), right = view.getBoundingClientRect().right; "
                                            "return [...view.children].map(one => right - one.getBoundingClientRect().right); }")
        self.assertGreater(len(printed), 1)
        self.assertGreaterEqual(min(printed), 0)
        self.assertLess(min(printed), 3)

    def test_hostile_names_are_shown_as_text(self):
        page = self.page_of(self.made() / "hostile.gpuprof")
        _, printed = self.pdf_of(page)
        self.assertIn("<img src=x onerror=alert(1)>", printed["text"])


processes.main()

# SPDX-License-Identifier: Apache-2.0
"""Pages of gpuprof report for those without a mouse, or who see less: keys, focus, names of parts, contrast."""
import processes
from report_browser import READY, Browser

FOCUS = "document.activeElement"
# Of a text with what lies behind it: WCAG's contrast, of the least one found.
CONTRAST = """(selector) => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((one, i) => one * a + below[i] * (1 - a));
  const light = (rgb) => rgb.map(one => one / 255).map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4).reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (one) => one === null ? [255, 255, 255] : over(parts(getComputedStyle(one).backgroundColor), behind(one.parentElement));
  const all = [...document.querySelectorAll(selector)].filter(one => one.checkVisibility() && one.textContent.trim() !== '' && !one.disabled);
  return [all.length, Math.min(...all.map(one => {
    const back = behind(one), [a, b] = [over(parts(getComputedStyle(one).color), back), back].map(light);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }))];
}"""


class Keys(Browser):
    def tab_to(self, tab, selector):
        """As one who has no mouse."""
        for _ in range(300):
            tab.keyboard.press("Tab")
            if tab.evaluate(f"{FOCUS}.matches('{selector}')"):
                return
        self.fail(f"Tab does not come to {selector}")

    def test_a_column_is_sorted(self):
        column = "#kernel-table .tabulator-col[tabulator-field=launches]"
        with self.opened(self.page_of(self.h200("counted_auto"))) as tab:
            tab.focus("#kernel-clear")
            self.tab_to(tab, column)
            sort = f"document.querySelector('{column}').getAttribute('aria-sort')"
            self.assertEqual(tab.evaluate(sort), "none")
            tab.keyboard.press("Enter")
            self.wait(tab, f"{sort} === 'descending'")
            launches = tab.evaluate("[...document.querySelectorAll('#kernel-table [role=row] .tabulator-cell[tabulator-field=launches]')].map(one => Number(one.textContent.replace(/,/g, '')))")
            self.assertEqual(launches, sorted(launches, reverse=True))
            tab.keyboard.press("Space")
            self.wait(tab, f"{sort} === 'ascending'")
            self.assertTrue(tab.evaluate(f"{FOCUS}.matches('{column}')"))

    def test_details_take_the_focus_and_return_it_to_the_line_they_belong_to(self):
        with self.opened(self.page_of(self.h200("counted_auto"))) as tab:
            tab.focus("#kernel-clear")
            self.tab_to(tab, "#kernel-table .tabulator-row button.name")
            name = tab.evaluate(f"{FOCUS}.textContent")
            tab.keyboard.press("Enter")
            self.wait(tab, f"{FOCUS}.matches('#kernel-detail h2')")
            self.assertTrue(tab.evaluate(f"{FOCUS}.textContent.includes({name!r})"))
            # A neighbor: its button is gone, its details are there.
            self.tab_to(tab, "#kernel-detail ol button.name")
            other = tab.evaluate(f"{FOCUS}.textContent")
            tab.keyboard.press("Enter")
            self.wait(tab, f"{FOCUS}.matches('#kernel-detail h2') && {FOCUS}.textContent.includes({other!r})")
            self.tab_to(tab, "#kernel-detail .tools button:last-child")
            tab.keyboard.press("Enter")
            self.wait(tab, f"{FOCUS}.matches('#kernel-table .tabulator-row button.name') && {FOCUS}.textContent === {other!r}")
            self.assertFalse(tab.locator("#kernel-detail").is_visible())

    def test_a_click_leaves_the_focus_in_the_table(self):
        with self.opened(self.page_of(self.h200("counted_auto"))) as tab:
            tab.locator("#kernel-table .tabulator-row").first.click()
            self.wait(tab, "!document.getElementById('kernel-detail').hidden")
            self.assertFalse(tab.evaluate(f"{FOCUS}.matches('#kernel-detail *')"))

    def test_the_button_of_a_difference_opens_its_kernel(self):
        page = self.folder / "against.html"
        self.run_gpuprof("report", self.compared(seed=1), "--against", self.compared(seed=2, slowed=1.2), "-o", page)
        with self.opened(page) as tab:
            tab.focus("#comparison-kind")
            self.tab_to(tab, "#comparison-table button.name")
            name = tab.evaluate(f"{FOCUS}.textContent").split(" <")[0]
            tab.keyboard.press("Enter")
            self.wait(tab, f"{FOCUS}.matches('#kernel-detail h2') && {FOCUS}.textContent.includes({name!r})")

    def test_a_range_zooms_the_icicle(self):
        with self.opened(self.page_of(self.made_job())) as tab:
            tab.focus("#range-by")
            self.tab_to(tab, "#range-table button.name")
            name = tab.evaluate(f"{FOCUS}.textContent")
            tab.keyboard.press("Enter")
            self.wait(tab, f"(document.querySelector('#icicle .chosen') || {{}}).textContent === {name!r}")

    def check_names(self, tab):
        tables = tab.evaluate("""[...document.querySelectorAll('.tabulator')].map(one => [one.getAttribute('aria-label'), one.getAttribute('aria-owns'),
            one.contains(document.getElementById(one.getAttribute('aria-owns')))])""")
        self.assertGreater(len(tables), 2)
        for label, _, is_own in tables:
            self.assertTrue(label)
            self.assertTrue(is_own, label)
        self.assertEqual(len({owned for _, owned, _ in tables}), len(tables))
        ids = tab.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
        self.assertEqual(sorted(set(ids)), sorted(ids))

    def test_each_table_has_a_name_and_rows_of_its_own(self):
        page = self.folder / "against.html"
        self.run_gpuprof("report", self.compared(seed=1), "--against", self.compared(seed=2, slowed=1.2), "-o", page)
        with self.opened(page) as tab:
            self.check_names(tab)
        page = self.page_of(self.made_ranks("--profiled-job", 10, ranks=2))
        with self.opened(page) as tab:
            self.check_names(tab)
            tab.select_option("#capture-choice", "1")
            self.wait(tab, f"{READY} && !document.getElementById('capture-choice').disabled && document.querySelectorAll('.tabulator-row').length > 5")
            self.check_names(tab)

    def test_a_screen_reader_does_not_read_out_all_details(self):
        with self.opened(self.page_of(self.h200("counted_auto"))) as tab:
            self.assertEqual(tab.evaluate("[...document.querySelectorAll('#kernel-detail, #ranks-side')].filter(one => one.closest('[aria-live], [role=status]')).length"), 0)


class Contrast(Browser):
    TEXTS = ("body", "p", ".note", ".facts", "h1", "h2", "label", "a", "button", ".legend li", "#findings li *", ".tabulator-col-title", ".tabulator-cell", ".tabulator-cell *", "summary", "footer p")

    def check(self, tab, *selectors):
        for selector in selectors:
            count, least = tab.evaluate(f"({CONTRAST})({selector!r})")
            self.assertGreater(count, 0, selector)
            self.assertGreaterEqual(least, 4.5, selector)

    def test_contrast_of_texts_is_high_enough_in_both_themes(self):
        page = self.page_of(self.made_fault("misaligned_products"))
        against = self.folder / "against.html"
        self.run_gpuprof("report", self.compared(seed=1), "--against", self.compared(seed=2, slowed=1.2), "-o", against)
        for scheme in ("light", "dark"):
            with self.subTest(scheme), self.opened(page, color_scheme=scheme) as tab:
                self.check(tab, *self.TEXTS)
                tab.locator("#kernel-table .tabulator-row").first.click()
                self.wait(tab, "!document.getElementById('kernel-detail').hidden")
                self.check(tab, "#kernel-detail *", "#kernel-table .tabulator-selected .tabulator-cell", "#kernel-table .tabulator-selected button")
                tab.locator("#kernel-table .tabulator-row").nth(1).locator(".tabulator-cell").first.hover()
                self.wait(tab, "document.querySelector('.tabulator-tooltip') !== null")
                self.check(tab, ".tabulator-tooltip", "#kernel-table .tabulator-row:hover .tabulator-cell *")
                tab.fill("#kernel-search", "no kernel has this name")
                self.wait(tab, "document.querySelector('#kernel-table .tabulator-placeholder-contents') !== null")
                self.check(tab, ".tabulator-placeholder-contents")
            with self.subTest("comparison", scheme=scheme), self.opened(against, color_scheme=scheme) as tab:
                self.check(tab, "#comparison p", "#comparison-table .tabulator-cell", ".verdict.worse", "#kernel-table .verdict")

    def test_contrast_of_names_in_the_icicle_is_high_enough(self):
        with self.opened(self.page_of(self.many_ranges(40))) as tab:
            self.check(tab, "#icicle .place")


processes.main()

# SPDX-License-Identifier: Apache-2.0
"""A real browser in which tests open pages of gpuprof report."""
import contextlib
import pathlib
import sys

import processes
import report_pages

sys.path.insert(0, processes.path("EXPORT_TESTS"))
import clients  # noqa: E402

READY = "document.documentElement.dataset.ready === 'yes'"


class Browser(report_pages.Case):
    @contextlib.contextmanager
    def opened(self, page, **context):
        """The page as a user sees it. Its messages on the console are failures."""
        clients.on_path(clients.folder_of("perfetto_ui") / "python")
        from playwright.sync_api import sync_playwright

        said = []
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=clients.program("chromium", "chromium-browser"), args=["--no-sandbox"])
            tab = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, **context}).new_page()
            tab.on("console", lambda message: said.append(message.text))
            tab.on("pageerror", lambda failure: said.append(str(failure)))
            tab.on("request", lambda request: said.append(request.url) if not request.url.startswith(("file:", "data:", "blob:")) else None)
            tab.goto(pathlib.Path(page).as_uri())
            self.wait(tab, READY)
            yield tab
            browser.close()
        self.assertEqual(said, [])

    def wait(self, tab, expression):
        """Until it is true; the page's policy forbids what Playwright's own waiting does."""
        for _ in range(300):
            if tab.evaluate(expression):
                return
            tab.wait_for_timeout(100)
        self.fail(f"{expression} is not true after 30 s")

    def rows(self, tab, table="kernel-table"):
        """Texts of the cells in view, a list a row."""
        return tab.evaluate(f"[...document.querySelectorAll('#{table} .tabulator-row')].map(row => [...row.querySelectorAll('.tabulator-cell')].map(cell => cell.textContent))")

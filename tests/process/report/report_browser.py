# SPDX-License-Identifier: Apache-2.0
"""Opens pages of gpuprof report in a real browser, for tests."""
import contextlib
import functools
import os
import pathlib
import sys
import unittest

import firefox_tab
import processes
import report_pages

sys.path.insert(0, processes.path("EXPORT_TESTS"))
import clients  # noqa: E402

READY = "document.documentElement.dataset.ready === 'yes'"


@functools.cache
def _chromium_itself():
    """One for all tests of a file: each has a profile of its own in it."""
    clients.on_path(clients.folder_of("perfetto_ui") / "python")
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=clients.program(*clients.CHROMIUM), args=["--no-sandbox"])
    unittest.addModuleCleanup(playwright.stop)
    unittest.addModuleCleanup(browser.close)
    return browser


@contextlib.contextmanager
def _chromium(said, **context):
    profile = _chromium_itself().new_context(**context)
    tab = profile.new_page()
    tab.set_default_timeout(120_000)  # a machine that does much else
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda failure: said.append(str(failure)))
    tab.on("request", lambda request: said.append(request.url) if not request.url.startswith(("file:", "data:", "blob:")) else None)
    try:
        yield tab
    finally:
        profile.close()


def _firefox(said, **context):
    clients.on_path(clients.folder_of("firefox"))
    program = clients.program("firefox-esr", "firefox")
    if others := set(context) - {"viewport", "color_scheme"}:
        raise unittest.SkipTest(f"only Chromium pretends to have {', '.join(sorted(others))}")
    return firefox_tab.opened(program, said, **context)


BROWSERS = {"chromium": _chromium, "firefox": _firefox}


class Browser(report_pages.Case):
    @contextlib.contextmanager
    def opened(self, page, **context):
        """The page as a user sees it, in the browser of $REPORT_BROWSER. Its messages on the console are failures."""
        said = []
        with BROWSERS[os.environ.get("REPORT_BROWSER", "chromium")](said, **{"viewport": {"width": 1300, "height": 900}, **context}) as tab:
            tab.goto(pathlib.Path(page).as_uri())
            self.wait(tab, READY)
            yield tab
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

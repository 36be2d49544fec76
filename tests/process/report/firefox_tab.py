# SPDX-License-Identifier: Apache-2.0
"""A tab of Firefox, which it lets others lead by WebDriver BiDi. Has those words of Playwright's that the tests of pages use."""
import contextlib
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import time

from firefox_elements import Locator
from firefox_input import Keyboard, Mouse

PREFERENCES = {"browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
               "browser.aboutwelcome.enabled": False, "toolkit.telemetry.reportingpolicy.firstRun": False}
SCHEMES = {"dark": 0, "light": 1}


class Tab:
    def __init__(self, socket, said):
        self._socket, self._said, self._numbers = socket, said, itertools.count(1)
        self.send("session.new", capabilities={})
        self._context = self.send("browsingContext.getTree")["contexts"][0]["context"]
        self.send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"], contexts=[self._context])
        self.mouse, self.keyboard = Mouse(self._act), Keyboard(self._act)

    def send(self, method, **parameters):
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv(timeout=60))).get("id") != number:
            self._heard(answer)
        if answer["type"] == "error":
            raise AssertionError(f"{method}: {answer['message']}")
        return answer["result"]

    def _heard(self, event):
        if event.get("method") == "log.entryAdded":
            self._said.append(event["params"]["text"])
        elif event.get("method") == "network.beforeRequestSent":
            url = event["params"]["request"]["url"]
            if not url.startswith(("file:", "data:", "blob:")):
                self._said.append(url)

    def _act(self, source):
        self.send("input.performActions", context=self._context, actions=[source])

    def goto(self, url):
        self.send("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def evaluate(self, expression, argument=None):
        text = f"(async () => {{ let value = ({expression}); if (typeof value === 'function') value = value({json.dumps(argument)}); return JSON.stringify(await value) ?? 'null'; }})()"
        answer = self.send("script.evaluate", expression=text, target={"context": self._context}, awaitPromise=True)
        if answer["type"] == "exception":
            raise AssertionError(f"{expression}: {answer['exceptionDetails']['text']}")
        return json.loads(answer["result"]["value"])

    def wait_for_timeout(self, milliseconds):
        time.sleep(milliseconds / 1000)

    def set_viewport_size(self, size):
        self.send("browsingContext.setViewport", context=self._context, viewport=dict(size))

    def locator(self, selector, **having):
        return Locator(self, []).locator(selector, **having)

    # Of one element, as Playwright has them on the page, too.
    def __getattr__(self, name):
        if name in ("click", "hover", "focus", "fill", "type", "press", "select_option", "inner_text", "get_attribute", "is_visible", "is_disabled"):
            return lambda selector, *more, **named: getattr(self.locator(selector), name)(*more, **named)
        raise AttributeError(f"tabs of Firefox have no {name} yet: firefox_tab.py")


def _address(profile, process):
    """Where Firefox listens: it writes that into its profile."""
    for _ in range(600):
        with contextlib.suppress(OSError, ValueError, KeyError):
            told = json.loads((profile / "WebDriverBiDiServer.json").read_text())
            return f"ws://{told['ws_host']}:{told['ws_port']}/session"
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(f"Firefox does not listen: {(profile / 'output.txt').read_text()[-2000:]}")


@contextlib.contextmanager
def opened(program, said, viewport, color_scheme="light"):
    """A tab of a Firefox of its own. What its console says and what it asks of other machines goes into `said`."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, contextlib.ExitStack() as undo:
        profile = pathlib.Path(folder)
        preferences = {**PREFERENCES, "layout.css.prefers-color-scheme.content-override": SCHEMES[color_scheme]}
        (profile / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        output = undo.enter_context(open(profile / "output.txt", "w"))
        process = undo.enter_context(subprocess.Popen(
            [program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0", "about:blank"],
            env={**os.environ, "HOME": folder}, stdout=output, stderr=subprocess.STDOUT))
        undo.callback(process.kill)
        socket = undo.enter_context(connect(_address(profile, process), max_size=None, compression=None, proxy=None))
        tab = Tab(socket, said)
        tab.set_viewport_size(viewport)
        yield tab
        tab.evaluate("new Promise(done => setTimeout(done, 50))")  # what it has still to say
        process.terminate()

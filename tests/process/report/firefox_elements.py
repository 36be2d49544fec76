# SPDX-License-Identifier: Apache-2.0
"""Elements of a page in Firefox, under the words of Playwright's: each waits until what it asks of is there."""
import json
import time

# A path of selectors and positions, to elements. Of those with a text, the innermost.
FOUND = """(path => path.reduce((from, step) => {
  if (typeof step === 'number') return from.length ? [from.at(step)].filter(one => one) : [];
  if (typeof step === 'object') return from.filter(one => one.textContent.includes(step.text));
  const [, of, text] = /^text=/.test(step) ? [0, '*', step.slice(5)] : /^(.*):text\\('(.*)'\\)$/.exec(step) || [0, step, null];
  const all = from.flatMap(one => [...one.querySelectorAll(of)]);
  if (text === null) return all;
  const having = all.filter(one => one.textContent.includes(text) && one.checkVisibility());
  return having.filter(one => !having.some(other => other !== one && one.contains(other)));
}, [document]))"""


class Locator:
    """Elements that are looked for whenever something is asked of them."""
    def __init__(self, tab, path):
        self._tab, self._path = tab, path

    first = property(lambda self: self.nth(0))
    last = property(lambda self: self.nth(-1))

    def nth(self, at):
        return Locator(self._tab, [*self._path, at])

    def locator(self, selector, has_text=None):
        return Locator(self._tab, [*self._path, selector, *([] if has_text is None else [{"text": has_text}])])

    def _all(self, expression):
        return self._tab.evaluate(f"(all => {expression})({FOUND}({json.dumps(self._path)}))")

    def _of(self, expression):
        """Of the first element, when there is one."""
        for _ in range(300):
            if known := self._all(f"all.length ? [(one => {expression})(all[0])] : null"):
                return known[0]
            time.sleep(0.1)
        raise AssertionError(f"{self._path} is not on the page after 30 s")

    def count(self):
        return self._all("all.length")

    def is_visible(self):
        return self._all("all.length > 0 && all[0].checkVisibility({visibilityProperty: true}) && all[0].getClientRects().length > 0")

    def is_disabled(self):
        return self._of("one.disabled === true")

    def inner_text(self):
        return self._of("one.innerText")

    def get_attribute(self, name):
        return self._of(f"one.getAttribute({json.dumps(name)})")

    def focus(self):
        self._of("one.focus()")

    def scroll_into_view_if_needed(self):
        """Then it rests: what is drawn late above it moves it once more."""
        before = None
        while (box := self.bounding_box()) != before:
            self._of("(box => box.top < 0 || box.bottom > innerHeight ? one.scrollIntoView({block: 'center', behavior: 'instant'}) : 0)(one.getBoundingClientRect())")
            before = box
            time.sleep(0.1)

    def bounding_box(self):
        return self._of("(box => ({x: box.x, y: box.y, width: box.width, height: box.height}))(one.getBoundingClientRect())")

    def hover(self):
        """To its middle, when a pointer there would be over it."""
        for _ in range(300):
            self.scroll_into_view_if_needed()
            spot = self._of("""(box => { const x = box.x + box.width / 2, y = box.y + box.height / 2, hit = document.elementFromPoint(x, y);
              return hit && one.contains(hit) ? [x, y] : null; })(one.getBoundingClientRect())""")
            if spot:
                return self._tab.mouse.move(*spot)
            time.sleep(0.1)
        raise AssertionError(f"{self._path} cannot be reached by a pointer")

    def click(self):
        self.hover()
        self._tab.mouse.down()
        self._tab.mouse.up()

    def type(self, text):
        self.focus()
        for letter in text:
            self._tab.keyboard.press(letter)

    def press(self, keys):
        self.focus()
        self._tab.keyboard.press(keys)

    def _set(self, change):
        self._of(f"[one.focus(), {change}, one.dispatchEvent(new Event('input', {{bubbles: true}})), one.dispatchEvent(new Event('change', {{bubbles: true}}))]")

    def fill(self, text):
        self._set(f"one.value = {json.dumps(text)}")

    def select_option(self, value=None, label=None):
        self._set(f"[...one.options].find(option => option.value === {json.dumps(value)} || option.label === {json.dumps(label)}).selected = true")

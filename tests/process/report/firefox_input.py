# SPDX-License-Identifier: Apache-2.0
"""Keys and a mouse as WebDriver has them, under the words of Playwright's. Each is told what takes one source of input's actions."""

KEYS = {"Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008", "Control": "\ue009", "Alt": "\ue00a", "Escape": "\ue00c",
        "Space": " ", "PageUp": "\ue00e", "PageDown": "\ue00f", "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Delete": "\ue017"}


class Keyboard:
    def __init__(self, act):
        self._act = act

    def _do(self, kind, keys):
        self._act({"type": "key", "id": "keyboard", "actions": [{"type": kind, "value": KEYS.get(key, key)} for key in keys]})

    def down(self, key):
        self._do("keyDown", [key])

    def up(self, key):
        self._do("keyUp", [key])

    def press(self, keys):
        """One key, or several held together: Control+a."""
        parts = [keys] if len(keys) == 1 else keys.split("+")
        self._do("keyDown", parts)
        self._do("keyUp", parts[::-1])

    def type(self, text):
        for letter in text:
            self.press(letter)


class Mouse:
    def __init__(self, act):
        self._act, self._at = act, (0, 0)

    def _do(self, *actions):
        self._act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": list(actions)})

    def move(self, x, y, steps=1):
        old = self._at
        for step in range(1, steps + 1):
            self._at = tuple(round(begin + (end - begin) * step / steps) for begin, end in zip(old, (x, y)))
            self._do({"type": "pointerMove", "x": self._at[0], "y": self._at[1], "duration": 0})

    def down(self):
        self._do({"type": "pointerDown", "button": 0})

    def up(self):
        self._do({"type": "pointerUp", "button": 0})

    def click(self, x, y):
        self.move(x, y)
        self.down()
        self.up()

    def wheel(self, across, down):
        x, y = self._at
        self._act({"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": x, "y": y, "deltaX": round(across), "deltaY": round(down), "duration": 0}]})

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that docs/glossary.md has retired stand nowhere else: not in code, options, messages or prose."""
import pathlib
import re
import subprocess
import sys
import unittest

RETIRED = re.compile(
    r"\b(launch_sampler|wish(es)?|\w*_wish(es)?|wishes_|harvest\w*|complain(t|ts)?|giv(e|es|en|ing) back|give_back|gave back|let(s|ting)? go|let_go"
    r"|\w+_(choice|wish)|(report|stats|plan)_request|of late|by turns|comes? to rest|most_(?!common\b)\w+|\w+_at_most|gives_back)\b", re.IGNORECASE)
# Where they are told: what they were replaced by, and this test.
TELLS = {"docs/glossary.md", "tests/package/words_test.py"}
TEXT = (".cpp", ".hpp", ".h", ".c", ".cu", ".cuh", ".py", ".md", ".sh", ".txt", ".cmake", ".yml", ".in")


def retired_words(name, text):
    return [f"{name}:{number}: {found[0]}" for number, line in enumerate(text.splitlines(), 1) for found in RETIRED.finditer(line)]


class Words(unittest.TestCase):
    def test_retired_words_are_gone(self):
        root = pathlib.Path(sys.argv[1])
        names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True).stdout.split("\n")
        if names == [""]:
            self.skipTest("this is no checkout of git")
        found = []
        for name in names:
            if name.endswith(TEXT) and name not in TELLS and (root / name).is_file():
                found += retired_words(name, (root / name).read_text(errors="replace"))
        self.assertEqual(found, [])

    def test_they_are_known_where_they_stand(self):
        self.assertEqual(len(retired_words("a.md", "what was given back of late\nthe wishes_ of most_records")), 4)
        self.assertEqual(retired_words("a.md", "options, max_records, most_common, at most three"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

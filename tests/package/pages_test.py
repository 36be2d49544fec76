# SPDX-License-Identifier: Apache-2.0
"""pages_test.py ROOT: every link of a page leads to a file and to a heading there, and docs/README.md lists every page."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
# READMEs of other folders are found where the folder is.
LISTED = re.compile(r"docs/(?!README\.md).*\.md")


def anchors(text):
    """The anchors that GitHub makes of the headings."""
    titles = re.findall(r"^#+ +(.*?) *$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(text):
    """The targets of links to files of this tree, also where a link is broken into two lines."""
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)) if not re.match("[a-z]+:", target)]


def broken_links(page, text):
    for target in links(text):
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text())):
            yield f"{page.relative_to(ROOT)}: {target}"


class Pages(unittest.TestCase):
    def setUp(self):
        names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True).stdout.split()
        self.pages = [ROOT / name for name in names if (ROOT / name).is_file()]
        if not self.pages:
            self.skipTest("this is no checkout of git")

    def test_every_link_leads_somewhere(self):
        self.assertEqual([problem for page in self.pages for problem in broken_links(page, page.read_text())], [])

    def test_the_index_lists_every_page(self):
        index = ROOT / "docs/README.md"
        listed = {(index.parent / target.partition("#")[0]).resolve() for target in links(index.read_text())}
        self.assertEqual([str(page.relative_to(ROOT)) for page in self.pages if LISTED.fullmatch(str(page.relative_to(ROOT))) and page not in listed], [])
        self.assertIn("docs/README.md", links((ROOT / "README.md").read_text()))

    def test_broken_links_are_found(self):
        page = ROOT / "README.md"
        self.assertEqual(list(broken_links(page, "[a](no_such_page.md) [b](docs/README.md#no-such-heading) [c](LICENSE) [d](https://a.b)")),
                         ["README.md: no_such_page.md", "README.md: docs/README.md#no-such-heading"])
        self.assertEqual(anchors("## Why was `this` launch not read?\n```\n# no heading\n```"), {"why-was-this-launch-not-read"})


if __name__ == "__main__":
    unittest.main()

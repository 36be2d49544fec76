#!/usr/bin/env python3
"""The include check must catch what it is there for: each rule is broken once in a made-up tree."""
import pathlib
import tempfile
import unittest

import check_includes

TABLE = """
| layer | what it is | may include | vendor headers |
|---|---|---|---|
| base | x | | |
| cupti | x | base | cupti, cuda |
| session | x | base, cupti | |
"""


class IncludeRule(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "README.md").write_text(TABLE)
            for name, text in files.items():
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text)
            return check_includes.check(root)

    def test_downward_includes_are_allowed(self):
        self.assertEqual(self.problems({
            "session/a.cpp": '#include "cupti/api.hpp"\n#include "session/b.hpp"\n#include <vector>\n',
            "cupti/api.hpp": "#include <cupti.h>\n#include <cuda.h>\n"}), [])

    def test_upward_includes_are_caught(self):
        self.assertIn("base may not include layer session",
                      self.problems({"base/a.cpp": '#include "session/b.hpp"\n'})[0])

    def test_cupti_outside_its_rooms_is_caught(self):
        for header in ("cupti.h", "cupti_target.h", "generated_cuda_meta.h", "cuda.h", "nvtx3/nvToolsExt.h"):
            self.assertIn("is no room", self.problems({"session/a.cpp": f"#include <{header}>\n"})[0])

    def test_paths_relative_to_the_file_are_caught(self):
        self.assertIn("not relative", self.problems({"session/a.cpp": '#include "b.hpp"\n'})[0])
        self.assertIn("not relative", self.problems({"session/a.cpp": '#include "../base/b.hpp"\n'})[0])

    def test_unknown_folders_are_caught(self):
        self.assertIn("not in the table", self.problems({"other/a.cpp": "\n"})[0])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The include check must catch what it is there for: each rule is broken once in a made-up tree."""
import pathlib
import tempfile
import unittest

import check_includes

TABLE = """
| layer | what it is | may include | vendor headers |
|---|---|---|---|
| base | x | | |
| guest/cupti | x | base | cupti, cuda |
| guest/session | x | base, guest/cupti | |
| host/report | x | base | |
| tools/gpuprof | x | base | |
| tests | x | guest/cupti | nvtx3 |
"""

# Uses what the table grants.
KEPT = {"libgpuprof/guest/cupti/kept.hpp": '#include "base/kept.hpp"\n#include <cupti.h>\n#include <cuda.h>\n',
        "libgpuprof/guest/session/kept.cpp": '#include "base/kept.hpp"\n#include "guest/cupti/kept.hpp"\n',
        "libgpuprof/base/kept.hpp": "\n",
        "libgpuprof/host/report/kept.cpp": '#include "base/kept.hpp"\n',
        "tools/gpuprof/kept.cpp": '#include "base/kept.hpp"\n',
        "tests/unit/kept.cpp": '#include "guest/cupti/kept.hpp"\n#include <nvtx3/nvToolsExt.h>\n'}


class IncludeRule(unittest.TestCase):
    def problems(self, files, kept=KEPT):
        with tempfile.TemporaryDirectory() as folder:
            project = pathlib.Path(folder)
            for name, text in {"libgpuprof/README.md": TABLE, **kept, **files}.items():
                (project / name).parent.mkdir(parents=True, exist_ok=True)
                (project / name).write_text(text)
            return check_includes.check(project)

    def test_downward_includes_are_allowed(self):
        self.assertEqual(self.problems({
            "libgpuprof/guest/session/a.cpp": '#include "guest/cupti/kept.hpp"\n#include "guest/session/b.hpp"\n#include <vector>\n',
            "tools/gpuprof/a.cpp": '#include "output.hpp"\n'}), [])

    def test_upward_includes_are_caught(self):
        self.assertIn("base may not include layer guest/session",
                      self.problems({"libgpuprof/base/a.cpp": '#include "guest/session/b.hpp"\n'})[0])

    def test_tools_and_tests_must_follow_the_table_of_layers_too(self):
        self.assertIn("tools/gpuprof may not include layer guest/cupti",
                      self.problems({"tools/gpuprof/a.cpp": '#include "guest/cupti/kept.hpp"\n'})[0])
        self.assertIn("tests may not include layer base",
                      self.problems({"tests/unit/a.cpp": '#include "base/kept.hpp"\n'})[0])
        self.assertIn("is no room", self.problems({"tools/gpuprof/a.cpp": "#include <cupti.h>\n"})[0])

    def test_a_cupti_include_outside_of_the_allowed_folders_is_caught(self):
        for header in ("cupti.h", "cupti_target.h", "generated_cuda_meta.h", "cuda.h", "nvtx3/nvToolsExt.h"):
            self.assertIn("is no room", self.problems({"libgpuprof/guest/session/a.cpp": f"#include <{header}>\n"})[0])

    def test_paths_relative_to_the_file_are_caught(self):
        self.assertIn("not relative", self.problems({"libgpuprof/guest/session/a.cpp": '#include "b.hpp"\n'})[0])
        self.assertIn("not relative", self.problems({"libgpuprof/guest/session/a.cpp": '#include "../base/b.hpp"\n'})[0])

    def test_neither_half_includes_the_other(self):
        for layer, other in (("guest/session", "host/report"), ("host/report", "guest/session")):
            table = TABLE.replace(f"| {layer} | x | base", f"| {layer} | x | {other}, base")
            found = self.problems({"libgpuprof/README.md": table, f"libgpuprof/{layer}/a.cpp": f'#include "{other}/b.hpp"\n'})
            self.assertEqual(found, [f"libgpuprof/README.md: {layer} is granted {other}, which is of the other half"])

    def test_unknown_folders_are_caught(self):
        self.assertIn("not in the table", self.problems({"libgpuprof/other/a.cpp": "\n"})[0])
        self.assertIn("not in the table", self.problems({"tools/other/a.cpp": "\n"})[0])

    def test_unused_grants_are_caught(self):
        kept = {name: text for name, text in KEPT.items() if "session" not in name}
        self.assertEqual([p.split(": ")[1] for p in self.problems({}, kept)],
                         ["guest/session is granted base and does not use it", "guest/session is granted guest/cupti and does not use it"])


if __name__ == "__main__":
    unittest.main()

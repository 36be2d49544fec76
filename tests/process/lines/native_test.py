#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Native stacks: programs in C++ play sessions from known functions, and gpuprof lines names these."""
import ctypes
import json
import re
import shutil
import subprocess
import sys

import processes

LAUNCHES = 40
PYTHON = '''
import ctypes, os
library = ctypes.CDLL(os.environ["BUILT_PLAY_MODULE"])
play_session, words = library._Z12play_sessioniPPc, (ctypes.c_char_p * 3)(b"play", os.fsencode(os.environ["SESSION"]), None)
def leaf():
    if play_session(2, words) != 0: raise SystemExit("the session cannot be played")
leaf()
'''


def has_libunwind():
    try:
        ctypes.CDLL("libunwind.so.8")
        return True
    except OSError:
        return False


class Native(processes.Case):
    def setUp(self):
        super().setUp()
        self.capture, self.program = self.folder / "run.gpuprof", processes.path("BUILT_NATIVE_PROGRAM")

    def profile(self, *words, options=("--cudabacktrace", "all"), program=None, code=0, **plan):
        session = self.synthetic(**{"launches": LAUNCHES, "copies": 4, "waits": 1, **plan})
        run = self.run_program(processes.path("BUILT_GPUPROF"), "profile", "-f", "-o", self.capture, *options, "--", program or self.program, *words,
                               env={"SESSION": session, "LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS"), "GPUPROF_FLUSH_TIMEOUT_MS": "20000"}, timeout=120)
        self.assertEqual(run.code, code, run.err)
        return run

    def gpuprof(self, *words, code=0):
        run = self.run_program(processes.path("BUILT_GPUPROF"), *words)
        self.assertEqual(run.code, code, run.err)
        return run

    def rows(self, *options):
        rows = json.loads(self.gpuprof("lines", self.capture, "-f", "json", "--timeunit", "ns", *options).out)
        return {row["Function"]: row for row in rows}

    def folded(self):
        """The frames of each stack, outermost first, without what is innermost: the kernel, or the call."""
        out = self.folder / "stacks.folded"
        self.gpuprof("export", "--type", "folded", "--force-overwrite", "-o", out, self.capture)
        return [line.rpartition(" ")[0].split(";")[:-1] for line in out.read_text().splitlines() if not line.startswith("(no stack on thread ")]

    def test_functions_have_their_names_from_the_outermost_to_the_innermost(self):
        self.profile("nested")
        program = self.program.rpartition("/")[2]
        stacks = [[re.sub(r" \(.*", "", frame) for frame in stack if f"({program})" in frame] for stack in self.folded()]
        self.assertTrue(stacks)
        for stack in stacks:
            self.assertEqual(stack[-4:], ["main", "app::model::forward", "app::inner<int>", "app::play"])
        own = self.rows("--by", "function", "--own", self.program)
        self.assertEqual(own["app::play"]["native"], 1)
        self.assertEqual(own["app::play"]["Where"], "app::play")
        self.assertEqual(own["app::play"]["File"], self.program)
        self.assertEqual(own["app::play"]["GPU Time (ns)"], own["main"]["With Callees (ns)"])
        self.assertEqual(own["main"]["GPU Time (ns)"], 0)

    def test_frames_of_the_driver_and_of_the_profiler_are_left_out(self):
        self.profile("nested")
        for stack in self.folded():
            for library in ("libcuda.so", "libcupti.so", "libgpuprof.so"):
                self.assertFalse([frame for frame in stack if library in frame], stack)

    def test_whole_stacks_end_at_the_start_of_the_program(self):
        self.profile("nested")
        for stack in self.folded():
            self.assertNotIn("(callers not known)", stack)
            self.assertIn("_start", stack[0])

    def test_the_runtime_that_is_linked_in_and_the_stubs_of_kernels_are_not_the_programs_own(self):
        self.profile("runtime")
        with_time = {name for name, row in self.rows("--by", "function", "--own", self.program).items() if row["GPU Time (ns)"] > 0}
        self.assertEqual(with_time - {""}, {"app::starts"})  # "": work whose stack was beyond the limit
        self.assertIn("__device_stub__even", {frame.partition(" ")[0] for stack in self.folded() for frame in stack})

    def test_a_library_that_was_unloaded_keeps_its_names(self):
        self.profile("plugin", processes.path("BUILT_NATIVE_FIRST"), processes.path("BUILT_NATIVE_SECOND"), processes.path("BUILT_NATIVE_FIRST"))
        rows = self.rows("--by", "function", "--own", processes.path("BUILT_NATIVE_FIRST"), "--own", processes.path("BUILT_NATIVE_SECOND"))
        for name in ("work_of_first", "work_of_second"):
            self.assertGreater(rows[name]["With Callees (ns)"], 0, rows.keys())
            self.assertIn(name.rpartition("_")[2], rows[name]["File"])

    def test_a_stripped_program_has_addresses(self):
        stripped = self.folder / "stripped"
        shutil.copy(self.program, stripped)
        subprocess.run(["strip", stripped], check=True)
        self.profile("nested", program=stripped)
        rows = self.rows("--by", "function", "--own", stripped)
        self.assertTrue(any(rows))
        for name in filter(None, rows):
            self.assertRegex(name, r"^stripped\+0x[0-9a-f]+$")

    def test_another_build_of_a_program_does_not_name_its_functions(self):
        copy = self.folder / "copy"
        shutil.copy(self.program, copy)
        self.profile("nested", program=copy)
        self.assertIn("app::play", self.rows("--by", "function", "--own", copy))
        shutil.copy(processes.path("BUILT_NATIVE_FIRST"), copy)
        self.assertNotIn("app::play", self.rows("--by", "function", "--own", copy))
        copy.write_bytes(b"")
        self.assertNotIn("app::play", self.rows("--by", "function", "--own", copy))
        copy.unlink()
        self.assertTrue(all(name.startswith("copy+0x") for name in self.rows("--by", "function", "--own", copy) if name))

    def test_a_function_without_unwind_tables_ends_the_stack_and_this_is_shown(self):
        self.profile("blind")
        self.assertTrue(self.folded())
        for stack in self.folded():
            self.assertIn("app::play", " ".join(stack))
            known = [frame for frame in stack if frame.startswith("main ")]
            if not known:  # libunwind may guess its way through
                self.assertEqual(stack[0], "(callers not known)")

    def test_many_threads(self):
        self.profile("nested", threads=64, launches=400)
        self.assertTrue(self.folded())

    def test_the_number_of_stacks_is_bounded(self):
        run = self.profile("nested", launches=20000)
        said = self.gpuprof("lines", self.capture, "--by", "function")
        share = re.search(r"the stack of ([0-9.]+)\s?% of the launches was recorded", said.out + said.err)
        self.assertTrue(share, said.out + said.err)
        seconds = float(re.search(r"captured: .*?, ([0-9.,]+) m?s", said.out + said.err).group(1).replace(",", ""))
        self.assertLess(float(share.group(1)) / 100 * 40000, 20 + 220 + 1.2 * seconds * 1000, run.err)

    def test_libunwind_is_used_where_it_is(self):
        if not has_libunwind():
            self.skipTest("no libunwind.so.8")
        self.profile("late", launches=150)
        said = self.gpuprof("lines", self.capture, "--by", "function")
        share = re.search(r"the stack of ([0-9.]+)\s?% of the launches was recorded", said.out + said.err)
        self.assertGreater(float(share.group(1)) / 100 * 300 if share else 300, 60)  # libgcc's unwinder may give 40
        for stack in self.folded():
            own = [re.sub(r" \(.*", "", frame) for frame in stack if "(gpuprof_native_program)" in frame]
            self.assertIn(own, (["_start", "main", "app::inner<int>", "app::play"], ["_start", "main", "app::play"]))

    def test_a_finding_names_the_function(self):
        self.profile("nested")
        found = json.loads(self.gpuprof("analyze", self.capture, "--all", "--min-gain", "0%", "-f", "json").out)["findings"]
        named = [one["where"]["line"] for one in found if one["where"]["line"]]
        self.assertTrue(named, found)
        for name in named:
            self.assertNotIn(":0", name)
            self.assertRegex(name, "^(app|gpuprof|play_session)")

    def test_none_records_none(self):
        self.profile("nested", options=("--cudabacktrace", "none"))
        self.assertIn("--cudabacktrace all", self.gpuprof("lines", self.capture, code=1).err)

    def test_kernels_do_not_count_for_the_functions_that_copy(self):
        self.profile("nested", options=("--cudabacktrace", "memory"))
        self.folded()
        lines = (self.folder / "stacks.folded").read_text().splitlines()
        copies = [line for line in lines if "copies, fills and graphs" in line]
        self.assertTrue(copies)
        self.assertTrue([line for line in copies if "app::play" in line])
        kernels = [line for line in lines if line not in copies]
        self.assertTrue(kernels)
        for line in kernels:
            self.assertTrue(line.startswith("(no stack on thread "), line)
        where = [row["Where"] for row in self.rows("--by", "line").values() if row["GPU Time (ns)"] > 0]
        self.assertTrue([one for one in where if one.startswith("(no stack on thread ")], where)

    def test_a_wrong_value_is_one_line(self):
        run = self.profile("nested", options=("--cudabacktrace", "kernels"), code=2)
        self.assertIn('"kernels" is not accepted. Accepted: auto, none, all, or a list of kernel, memory, sync, other', run.err)

    def test_python_keeps_its_lines_and_has_native_frames_below(self):
        script = self.folder / "program.py"
        script.write_text(PYTHON)
        python = lambda *options: self.profile(script, program=sys.executable, options=("--python-backtrace", "all", *options))
        line_sum = lambda: {row["Where"]: row["Launches"] for row in json.loads(self.gpuprof("stats", "-r", "py_line_sum", "-f", "json", self.capture).out)}
        python("--cudabacktrace", "none")
        expected = line_sum()
        self.assertTrue(any(where.startswith("program.py:") for where in expected))
        python("--cudabacktrace", "all")
        self.assertEqual(line_sum(), expected)
        self.assertTrue(all(row["Where"].startswith("program.py:") for row in self.rows("--by", "line").values() if row["GPU Time (ns)"] > 0))
        stacks = [stack for stack in self.folded() if "play_session" in " ".join(stack)]
        self.assertTrue(stacks)
        for stack in stacks:
            place = [i for i, frame in enumerate(stack) if frame.startswith("leaf (program.py:")]
            inside = [i for i, frame in enumerate(stack) if frame.startswith("play_session")]
            self.assertLess(place[0], inside[0])
            self.assertFalse([frame for frame in stack if "PyEval" in frame or "Py_RunMain" in frame], stack)


processes.main()

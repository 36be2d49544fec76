# SPDX-License-Identifier: Apache-2.0
"""gp.profile, gp.range and the C API from Python, on a session that is played in the same process."""
import re
import unittest

import package
import processes


class Importing(package.Case):
    def test_the_import_loads_only_the_package_itself(self):
        found = self.lines("""
            import subprocess
            code = "import sys; before = set(sys.modules); import libgpuprof; print(sorted(set(sys.modules) - before)); print(libgpuprof.status().library)"
            subprocess.run([sys.executable, "-c", code], check=True)
            """)
        self.assertEqual(found, ["['libgpuprof']", ""])

    def test_the_version_of_the_package_equals_that_of_the_library(self):
        header = (package.SOURCE / "include/gpuprof/gpuprof.h").read_text()
        version = ".".join(re.findall(r"GPUPROF_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
        self.assertEqual(self.lines("gp.prefix(); gp.start(); print(gp.__version__, gp.status().library_version)"), [f"{version} {version}"])

    def test_every_listed_name_exists(self):
        self.assertEqual(self.lines("print([n for n in dir(gp) if n not in ('magics', 'load_ipython_extension') and not hasattr(gp, n)])"), ["[]"])
        self.assertEqual(self.lines("""
            try: gp.no_such
            except AttributeError as why: print(why)
            """), ["module 'libgpuprof' has no attribute 'no_such'"])


class Profile(package.Case):
    def test_a_profile_knows_the_lines_that_launched_the_work(self):
        found = self.lines("""
            def step():
                play()
            with gp.profile("run", trace="cuda,nvtx", python_backtrace="all") as prof:
                step()
            rows = prof.run.lines("function")
            print([(row["Where"].partition(":")[0], row["Function"], row["Launches"] > 200) for row in rows if row["GPU Time (ns)"] > 0])
            print([row["Function"] for row in rows if row["With Callees (ns)"] > 0 and row["GPU Time (ns)"] == 0])
            """)
        self.assertEqual(found, ["[('played.py', 'play', True)]", "['step', '<module>']"])

    def test_the_work_inside_a_profile_is_recorded(self):
        run = self.python("""
            with gp.profile("run", trace="cuda,nvtx") as prof:
                with gp.range("mine", flops=5e9, bytes=2e6, domain="own", color=0xff0000ff):
                    play()
            run = prof.run
            print(prof.path == os.path.abspath("run.gpuprof"), len(run.kernels), run.missing[:-1])
            mine = [row for row in run.ranges.rows() if row["name"] == "mine"]
            print(len(mine), mine[0]["domain"], mine[0]["declared_flops"], mine[0]["declared_bytes"], mine[0]["color"] == 0xff0000ff)
            print([row["trigger"] for row in run.windows.rows()][-1], "GPUPROF_TRACE" in os.environ)
            print(prof, gp.is_capturing(), gp.status().loaded_by, gp.status().library == os.path.join(gp.prefix(), "lib/libgpuprof.so.0"))
            """)
        self.assertEqual(run.out.splitlines(), ["True 205 []", "1 own 5000000000.0 2000000.0 True", "gpuprof_start False",
                                                f"<gp.profile: recorded into {self.folder}/run.gpuprof> False this package True"])
        self.assertNotIn("Warning", run.err)

    def test_a_schedule_records_its_steps(self):
        found = self.lines("""
            ready = []
            with gp.profile("run", schedule=gp.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1), on_ready=lambda p: ready.append(p.step_num)) as prof:
                for _ in range(12):
                    with gp.range("work"): pass
                    prof.step()
            windows = {row["index"]: row for row in prof.run.windows.rows()}.values()
            ranges = list(prof.run.ranges.rows())
            for window in windows:
                inside = [row for row in ranges if window["start"] <= row["start"] < window["end"]]
                print(len([row for row in inside if row["name"] == "work"]), len([row for row in inside if row["name"] == "step" and not row["still_open"]]))
            print(ready, len([row for row in ranges if row["name"] == "work"]))
            """)
        self.assertEqual(found, ["2 2", "2 2", "[5, 9] 4"])

    def test_a_schedule_may_start_at_once_and_never_end(self):
        self.assertEqual(self.lines("""
            ready = []
            with gp.profile("run", schedule=gp.schedule(active=2), on_ready=lambda p: ready.append(p.step_num)) as prof:
                for _ in range(5): prof.step()
            print(ready, len({row["index"] for row in prof.run.windows.rows()}))
            for wrong in (dict(active=0), dict(wait=-1)):
                try: gp.schedule(**wrong)
                except ValueError as why: print(why)
            """), ["[2, 4, 5] 3", "schedule(wait=0, warmup=0, active=0, repeat=0, skip_first=0) records nothing: active is at least 1, and nothing is negative",
                   "schedule(wait=-1, warmup=0, active=1, repeat=0, skip_first=0) records nothing: active is at least 1, and nothing is negative"])

    def test_a_profile_inside_another_one_becomes_part_of_it(self):
        run = self.python("""
            with gp.profile("outer") as outer:
                with gp.profile("inner") as inner:
                    play()
                print(gp.is_capturing(), inner.path)
            print(gp.is_capturing(), len(outer.run.kernels), os.path.exists("inner.gpuprof"))
            """)
        self.assertEqual(run.out.splitlines(), ["True None", "False 205 False"])
        self.assertEqual(run.err.count("a profile runs already: this one records into"), 1)

    def test_later_profiles_are_written_to_the_same_file(self):
        run = self.python("""
            with gp.profile("first", metrics="none"):
                with gp.range("a"): pass
            with gp.profile("second", metrics="auto") as later:
                with gp.range("b"): pass
            print(os.path.basename(later.path), [row["name"] for row in later.run.ranges.rows()], os.path.exists("second.gpuprof"))
            """)
        self.assertEqual(run.out.splitlines(), ["first.gpuprof ['a', 'b'] False"])
        self.assertIn("--metrics: cannot be set now, those of the first capture of this process hold", run.err)

    def test_after_a_profile_nothing_is_traced(self):
        """The library is not left on watch for the next capture."""
        self.assertEqual(self.lines("""
            import time
            with gp.profile("run") as prof: play()
            for _ in range(5):
                time.sleep(0.1)
                play()
            print(gp.totals().kernel_count, len(prof.run.kernels))
            with gp.profile("run") as prof: play()
            print(len({row["index"] for row in prof.run.windows.rows()}), len(prof.run.kernels))
            """), ["205 205", "2 410"])

    def test_a_schedule_without_calls_of_step_is_reported(self):
        run = self.python("""
            with gp.profile("run", schedule=gp.schedule(wait=1)) as prof: pass
            try:
                with gp.profile("run", schedule=gp.schedule(wait=1)) as prof: 1 / 0
            except ZeroDivisionError: print("raised")
            try: prof.run
            except FileNotFoundError as why: print(why)
            """)
        self.assertEqual(run.err.count("step() was never called"), 1)
        self.assertEqual(run.out.splitlines(), ["raised", "[Errno 2] nothing was recorded: there is no capture to read"])

    def test_cuda_may_be_in_use_before_the_profile_begins(self):
        self.assertEqual(self.lines("""
            play()
            with gp.profile("run") as prof:
                with gp.range("late"): play()
            print(len(prof.run.kernels) >= 200, [row["name"] for row in prof.run.ranges.rows() if row["name"] == "late"])
            """), ["True ['late']"])

    def test_a_forked_child_is_not_profiled(self):
        run = self.python("""
            with gp.profile("run") as prof:
                play()
                child = os.fork()
                if child == 0:
                    prof.step()
                    with gp.range("in the child"): pass
            if child == 0:
                with gp.profile("child") as own: pass
                print(own.path, gp.start(), gp.stop(), gp.flush(), gp.totals(), flush=True)
                os._exit(0)
            os.waitpid(child, 0)
            print(len(prof.run.kernels), "in the child" in prof.run.ranges["name"], os.path.exists("child.gpuprof"))
            """)
        self.assertEqual(run.out.splitlines(), ["None False False False None", "205 False False"])

    def test_an_exception_ends_capture_and_ranges(self):
        self.assertEqual(self.lines("""
            try:
                with gp.profile("run") as prof:
                    with gp.range("outer"):
                        with gp.range("inner"): raise ValueError("mine")
            except ValueError as why: print(why)
            print([(row["name"], row["still_open"], row["level"]) for row in prof.run.ranges.rows()], gp.is_capturing())
            """), ["mine", "[('outer', 0, 0), ('inner', 0, 1)] False"])

    def test_a_missing_folder_raises_an_error(self):
        run = self.python("""
            try:
                with gp.profile("none/run"): print("not reached")
            except FileNotFoundError as why: print(why)
            try:
                with gp.profile("/proc/self/run") as prof: print("not reached")
            except PermissionError as why: print(why)
            open("run.gpuprof", "w").close()
            with gp.profile("run") as prof: print("runs")
            print(prof.path)
            with gp.profile("run", force_overwrite=True) as prof: print("runs")
            """)
        self.assertEqual(run.out.splitlines(), [f"[Errno 2] there is no folder {self.folder}/none: make it, or choose another output",
                                                "[Errno 13] /proc/self cannot be written: choose another output", "runs", "None", "runs"])
        why = "nothing is recorded: " + str(self.folder) + "/run.gpuprof exists already. Choose another --output or replace it with --force-overwrite"
        self.assertIn("[gpuprof] " + why, run.err)
        self.assertIn("RuntimeWarning: " + why, run.err)

    @unittest.skipIf(__import__("os").getuid() == 0, "root may write everywhere")
    def test_a_folder_that_cannot_be_written_raises_an_error(self):
        (self.folder / "shut").mkdir(mode=0o500)
        self.assertIn("cannot be written", self.lines("""
            try:
                with gp.profile("shut/run"): print("not reached")
            except PermissionError as why: print(why)
            """)[0])

    def test_a_library_that_is_already_loaded_is_used(self):
        run = self.python("""
            with gp.profile("run", metrics="auto") as prof:
                play()
            print(os.path.realpath(gp.status().library), gp.status().loaded_by, prof.path)
            print(len(prof.run.kernels), sum("libgpuprof.so" in line for line in open("/proc/self/maps").read().split("\\n")) > 0)
            print(len({line.split()[-1] for line in open("/proc/self/maps") if "/libgpuprof.so" in line}))
            """, preload=[processes.path("BUILT_PRELOAD")], env={"GPUPROF_CAPTURE_RANGE": "cudaProfilerApi", "GPUPROF_OUTPUT": "preloaded"})
        library = processes.path("BUILT_LIBGPUPROF")
        self.assertEqual(run.out.splitlines(), [f"{library} preload, link or injection {self.folder}/run.gpuprof", "205 True", "1"])
        self.assertIn("--metrics: cannot be set now", run.err)
        self.assertIn("was loaded before, and its settings hold: give them to gpuprof profile", run.err)

    def test_a_child_that_profiles_itself(self):
        """The parent has set the injection variables of its own copy."""
        self.assertEqual(self.lines("""
            if len(sys.argv) > 1:
                with gp.profile("child") as prof: play()
                print(len(prof.run.kernels))
            else:
                with gp.profile("parent") as prof: play()
                import subprocess
                print(subprocess.run([sys.executable, sys.argv[0], "child"], capture_output=True, text=True).stdout.split()[-1], len(prof.run.kernels))
            """), ["205 205"])

    def test_without_a_gpu_the_program_runs(self):
        run = self.python("""
            for _ in range(3):
                with gp.profile("run") as prof:
                    with gp.range("mine"): print("runs")
            print(gp.totals(), gp.metrics(), gp.peaks(quick=True))
            try: gp.peaks(device=-1)
            except ValueError as why: print("ValueError")
            """, env={"LD_LIBRARY_PATH": ""})
        self.assertEqual(run.out.splitlines()[:3], ["runs"] * 3)
        self.assertEqual(run.out.splitlines()[-1], "ValueError")

    def test_a_function_is_profiled_at_each_call(self):
        self.assertEqual(self.lines("""
            @gp.profile("run")
            def work(n: int):
                "Its text."
                with gp.range("work"): return n + 1
            print(work(1), work(2), work.__doc__, len(gp.open("run.gpuprof").ranges))
            """), ["2 3 Its text. 2"])


class Live(package.Case):
    def test_start_stop_flush_totals(self):
        self.assertEqual(self.lines("""
            print(gp.stop(), gp.flush(), gp.totals(), gp.capture_path(), gp.is_capturing(), gp.metrics())
            print(gp.start("run"), gp.start(), gp.is_capturing())
            with gp.range("all of it"): play()
            print(gp.flush(), gp.stop(), gp.stop())
            now = gp.totals()
            print(now.kernel_count, now.kernel_ns, sum(now.kernels.column("count")), now.kernels[0].name, now.counters["lost.kernels"])
            print([row.name for row in now.ranges if row.name == "all of it"], "205 kernels" in repr(now), gp.capture_path() == os.path.abspath("run.gpuprof"))
            """), ["False False None None False None", "True True True", "True True False", "205 205000 205 _Z4evenPfi 0", "['all of it'] True True"])

    def test_a_call_without_effect_says_why(self):
        run = self.python("""
            import warnings
            print([gp.last_message()])
            gp.start("run")
            play()
            print([gp.last_message()], gp.metrics(), gp.last_message())
            print(gp.stop(), gp.stop(), gp.last_message())
            sys.stdout.flush()
            if os.fork() == 0:
                with warnings.catch_warnings(record=True) as said:
                    warnings.simplefilter("always")
                    print(gp.start(), [str(one.message) for one in said])
                    sys.stdout.flush()
                os._exit(0)
            os.wait()
            """)
        found = run.out.splitlines()
        no_counters = "gpuprof_take_metrics() has nothing to give: no counters are read. GPUPROF_METRICS=auto reads them"
        self.assertEqual(found[:3], ["['']", f"[''] None {no_counters}", "True False no capture is running: gpuprof_start() begins one"])
        self.assertIn("[gpuprof] " + no_counters, run.err)
        self.assertRegex(found[3], r"False \['no capture was started: process \d+ is not profiled: it was forked after its parent had begun to use CUPTI")

    def test_live_metrics_of_ranges_can_be_read(self):
        found = self.lines("""
            import time
            gp.start("run", metrics="auto")
            play()
            end = time.monotonic() + 20  # a launch that has no record yet holds the figures back, by 10 s at most
            while True:
                gp.flush()
                now = gp.metrics()
                if now is not None and now.all.launches > 0 or time.monotonic() > end: break
                time.sleep(0.1)
            print(now is not None and now.all.launches > 0, len(now.kernels) > 0, "name" in repr(now), now.range("no such"))
            gp.stop()
            """)
        self.assertEqual(found, ["True True True None"])

    def test_peaks_of_a_chosen_test_are_returned_and_an_unknown_test_is_refused(self):
        found = self.lines("""
            os.environ["REPLAY_SESSION"] = os.environ["PLAYED_SESSION"]
            roof = gp.peaks(tests="dram_read", quick=True)
            print(roof.gpu != "", [row.name for row in roof.tests], roof.tests[0].unit, roof.stored, gp.peaks(tests="dram_read").stored)
            try: gp.peaks(tests="no_such")
            except ValueError as why: print(why)
            """)
        self.assertIn('no peaks are measured: there is no peak test "no_such"', found[-1])
        self.assertIn("['dram_read'] B/s", found[0])

    def test_measuring_peaks_does_not_report_a_missing_capture(self):
        run = self.python("""
            os.environ["REPLAY_SESSION"] = os.environ["PLAYED_SESSION"]
            gp.peaks(tests="dram_read", quick=True)
            """)
        self.assertNotIn("nothing was recorded", run.err)


class Ranges(package.Case):
    def fast_or_ctypes(self):
        """The ways ranges are made: by the module, and through ctypes, as in a Python without the GIL."""
        yield "", "_fast"
        yield "sys.modules['libgpuprof._fast'] = None\n", "ctypes"

    def setUp(self):
        super().setUp()
        if package.built_module() is None:
            self.skipTest("there is no Python.h, so the module _fast is not built")

    def test_ranges_may_be_nested_kept_and_used_as_decorators(self):
        for before, way in self.fast_or_ctypes():
            with self.subTest(way):
                found = self.lines(before + """
kept = gp.range("kept", flops=1)
@gp.range("function")
def work(a, *, b):
    "Its text."
    return a + b
with gp.profile("run", force_overwrite=True) as prof:
    for _ in range(3):
        with kept:
            with gp.range("inner") as inner: pass
    print(work(1, b=2), work.__doc__, kept, kept.flops, inner.name)
    with gp.range("\\udc80 half"): pass
    with gp.range("named", domain="mine"): pass
    with gp.range("again", domain="mine"): pass
    gp.mark("a moment")
print([(row["name"], row["level"]) for row in prof.run.ranges.rows()][:2], len(prof.run.ranges))
print(prof.run.ranges["name"].count("kept"), {row["domain"] for row in prof.run.ranges.rows()} == {"", "mine"}, prof.run.marks["name"])
print(gp.status().ranges.split(",")[0])
""")
                self.assertEqual(found[0], "3 Its text. gp.range('kept') 1.0 inner")
                self.assertEqual(found[1:3], ["[('kept', 0), ('inner', 1)] 10", "3 True ['a moment']"])
                self.assertEqual(found[3], way)
                (self.folder / "run.gpuprof").unlink(missing_ok=True)

    def test_a_range_that_was_open_before_the_tool_came(self):
        for before, way in self.fast_or_ctypes():
            with self.subTest(way):
                self.assertEqual(self.lines(before + """
with gp.range("before"):
    with gp.profile("run", force_overwrite=True) as prof:
        with gp.range("inside"): pass
    with gp.range("after"): pass
gp.start()
with gp.range("alone"): pass
gp.stop()
print([(row["name"], row["level"]) for row in prof.run.ranges.rows()])
"""), ["[('inside', 0), ('alone', 0)]"])
                (self.folder / "run.gpuprof").unlink(missing_ok=True)

    def test_threads_have_ranges_of_their_own(self):
        self.assertEqual(self.lines("""
            import threading
            shared = gp.range("shared")
            def work():
                for _ in range(500):
                    with shared:
                        with gp.range("inner"): pass
            with gp.profile("run") as prof:
                threads = [threading.Thread(target=work) for _ in range(4)]
                [t.start() for t in threads]; [t.join() for t in threads]
            rows = list(prof.run.ranges.rows())
            print(len(rows), {(row["name"], row["level"]) for row in rows} == {("shared", 0), ("inner", 1)}, len({row["thread"] for row in rows}))
            """), ["4000 True 4"])

    def test_invalid_ranges_raise_errors(self):
        for before, way in self.fast_or_ctypes():
            with self.subTest(way):
                self.assertEqual(self.lines(before + """
for wrong in (lambda: gp.range(3), lambda: gp.range(), lambda: gp.range("a", domain=3), lambda: gp.mark(None)):
    try: wrong()
    except (TypeError, AttributeError) as why: print(type(why).__name__)
async def later(): pass
try: gp.range("a")(later)
except TypeError as why: print(why)
"""), ["TypeError", "TypeError", "TypeError", "TypeError",
                    "later may be suspended inside, and ranges of a thread nest: put `with gp.range(...)` around the parts of it that do not wait"])

    def test_any_nvtx_tool_sees_the_ranges(self):
        for before, way in self.fast_or_ctypes():
            with self.subTest(way):
                run = self.python(before + """
with gp.range("seen by others"):
    with gp.range("in a domain", domain="theirs"): pass
print(gp.status().library)
""", env={"NVTX_INJECTION64_PATH": processes.path("BUILT_NVTX_DUMP"), "NVTX_DUMP_FILE": str(self.folder / "seen")})
                seen = (self.folder / "seen").read_text()
                self.assertIn("seen by others", seen)
                self.assertRegex(seen, "theirs.*in a domain|in a domain.*theirs")
                self.assertEqual(run.out, "\n")

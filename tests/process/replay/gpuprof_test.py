# SPDX-License-Identifier: Apache-2.0
"""The shipped library in real processes: every way in, every way to end, and the faults of CUPTI and the driver."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import time
import uuid

import processes

THREADS, LAUNCHES, GRAPHS, NODES, COPIES = 4, 60, 2, 5, 3
KERNELS = THREADS * LAUNCHES + GRAPHS * NODES

# What the programs of the recorded sessions launched inside each of their push/pop ranges, see tests/replay/programs. In train_step the
# kernels of the backward pass are PyTorch's, launched by a thread that has no range open.
RECORDED_OPERATIONS = {
    "launch_loop": {"batch": 20 * 100},
    "copies_streams": {"asynchronous": 10 * 4 * 5, "synchronous": 10 * 4},
    "graph": {"kernels": 20 * 100, "mixed": 5 * (3 + 2)},
    "threads_nvtx": {"iteration": 8 * 25 * 2, "model:forward": 8 * 25 * 2, "innér": 8 * 25},
    "train_step": {"step 0": 72, "step 1": 42, "step 2": 42, "step 3": 42, "step 4": 42,
                   "data": 5 * 2, "forward": 157, "backward": 5, "optimiser": 68},
}
SESSIONS = pathlib.Path(processes.path("RECORDED_SESSIONS"))
PLAN = dict(threads=THREADS, launches=LAUNCHES, graphs=GRAPHS, nodes=NODES, copies=COPIES, kernel_ns=1000)


class Gpuprof(processes.Case):
    def setUp(self):
        super().setUp()
        self.capture = self.folder / "out.gpuprof"

    def profile(self, session, *options, env=None, beside=(), library=None, **settings):
        """Plays a session with libgpuprof_preload.so preloaded, and what is to be `beside` it; settings are GPUPROF_... variables."""
        # Tests that run at once do not share a GPU: its counters would be one process's at a time.
        gpu = "GPU-" + str(uuid.uuid5(uuid.NAMESPACE_URL, str(self.folder)))
        self.addCleanup(pathlib.Path(f"/tmp/gpuprof-{os.geteuid()}-{gpu}.lock").unlink, True)  # what was killed leaves it
        wanted = {"GPUPROF_OUTPUT": str(self.capture)[: -len(".gpuprof")], "REPLAY_GPU_UUID": gpu}
        wanted.update({"GPUPROF_" + k.upper(): str(v) for k, v in settings.items()})
        wanted.update(env or {})
        return self.play(session, *options, preload=[library or processes.path("BUILT_PRELOAD"), *beside], env=wanted)

    def report(self, name, *options, capture=None):
        """Rows of a report of `gpuprof stats`, as dictionaries."""
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", name, "-f", "json", *options,
                               capture or self.capture)
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out[run.out.index("[\n") if "[\n" in run.out else run.out.index("["):])

    def lost(self):
        """The line of a report that says what is missing."""
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "cuda_gpu_kern_sum", self.capture)
        return next(line for line in run.out.splitlines() if line.startswith("lost: "))

    def rows(self, table):
        """Of one table of the capture, as dictionaries."""
        run = self.run_program(sys.executable, processes.path("READ_CAPTURE"), self.capture, table)
        self.assertEqual(run.code, 0, run.err)
        return list(csv.DictReader(io.StringIO(run.out)))

    def kernels(self, **where):
        return sum(row["Instances"] for row in self.report("cuda_gpu_kern_sum", **where))


class WaysIn(Gpuprof):
    def check(self, run):
        self.assertEqual(run.code, 0, run.err)
        self.assertIn(f"launches={THREADS * LAUNCHES + GRAPHS} ", run.out)
        rows = {row["Name"]: row for row in self.report("cuda_gpu_kern_sum")}
        self.assertEqual(sum(row["Instances"] for row in rows.values()), KERNELS)
        self.assertEqual(rows["even(float*, int)"]["Instances"], THREADS * LAUNCHES // 2)
        self.assertEqual(rows["even(float*, int)"]["Total Time (ns)"], THREADS * LAUNCHES // 2 * 1000)

    def test_preloaded(self):
        self.check(self.profile(self.synthetic(**PLAN)))

    def test_the_main_library_works_if_it_is_preloaded_without_the_one_that_shares_cupti(self):
        """libgpuprof.so without what stands in front of CUPTI, as programs are told to for which sharing does not matter."""
        self.check(self.profile(self.synthetic(**PLAN), library=processes.path("BUILT_LIBGPUPROF")))

    def test_injected(self):
        library = processes.path("BUILT_LIBGPUPROF")
        self.check(self.play(self.synthetic(**PLAN), env={
            "CUDA_INJECTION64_PATH": library, "NVTX_INJECTION64_PATH": library,
            "GPUPROF_OUTPUT": str(self.folder / "out")}))

    def test_by_the_command(self):
        run = self.run_program(processes.path("BUILT_GPUPROF"), "profile", "-o", self.folder / "out", "--",
                               processes.path("BUILT_PLAY"), self.synthetic(**PLAN))
        self.check(run)
        # All that both have to say, in one line; a program that is built with a sanitizer gets one more.
        said = [line for line in run.err.splitlines() if "gpuprof" in line and "is built with AddressSanitizer" not in line]
        self.assertEqual(len(said), 1, run.err)
        self.assertRegex(said[0], rf"^\[gpuprof\] {KERNELS} kernels, .*; next: gpuprof stats {self.capture}$")

    def test_a_process_that_did_nothing_on_the_gpu_leaves_no_capture_beside_one_that_did(self):
        play = f"'{processes.path('BUILT_PLAY')}' '%s'; "
        nothing, work = play % self.synthetic(threads=1, launches=0, graphs=0, copies=0), play % self.synthetic(**PLAN)
        for script, left, said in ((work + nothing, 1, f"{KERNELS} kernels, "), (nothing, 1, "did nothing on the GPU while it was recorded: 0 kernels in ")):
            for old in self.folder.glob("job*.gpuprof"):
                old.unlink()
            run = self.run_program(processes.path("BUILT_GPUPROF"), "profile", "-o", self.folder / "job%p", "--", "sh", "-c", script)
            self.assertEqual(run.code, 0, run.err)
            self.assertEqual(len(list(self.folder.glob("job*.gpuprof"))), left, run.err)
            lines = [line for line in run.err.splitlines() if "gpuprof" in line and "is built with AddressSanitizer" not in line]
            self.assertEqual(len(lines), 1, run.err)
            self.assertIn(said, lines[0])

    def test_an_unknown_metric_keeps_the_program_from_starting(self):
        started = self.folder / "started"
        for names, words in ("dram__bytes_rea.sum", "did you mean dram__bytes_read.sum?"), ("basic,dram__bytes_read.smu", "has no suffix .smu"):
            run = self.run_program(processes.path("BUILT_GPUPROF"), "profile", "--peaks", "off", "--metrics", names, "-o", self.folder / "out", "--",
                                   "touch", started, env={"LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS"), "REPLAY_SESSION": self.synthetic(**PLAN)})
            self.assertEqual(run.code, 2, run.err)
            self.assertIn(words, run.err)
            self.assertEqual(run.err.count("\n"), 1)
            self.assertFalse(started.exists())

    def test_linked_through_another_library(self):
        """The C library then stands before libgpuprof.so, which finds no next dlsym behind itself."""
        run = self.run_program(processes.path("BUILT_LINKED_PROGRAM"), env={
            "LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS"), "REPLAY_SESSION": self.synthetic(**PLAN),
            "GPUPROF_OUTPUT": str(self.folder / "out")})
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(run.out.split(), ["cuInit=0", "start=0", "stop=0"], run.err)

    def test_a_program_built_with_the_address_sanitizer(self):
        """Started by the command, and by a shell into which the library is preloaded."""
        if os.environ.get("BUILT_PRELOAD_FIRST"):
            self.skipTest("the library itself is built with a sanitizer")
        source, program = self.folder / "sanitized.c", self.folder / "sanitized"
        source.write_text("#include <dlfcn.h>\n#include <stdio.h>\nint main(void) {\n"
                          "  void* driver = dlopen(\"libcuda.so.1\", RTLD_NOW);\n"
                          "  int (*begin)(unsigned) = (int (*)(unsigned))dlsym(driver, \"cuInit\");\n"
                          "  int (*captures)(void) = begin(0) == 0 ? (int (*)(void))dlsym(RTLD_DEFAULT, \"gpuprof_is_capturing\") : 0;\n"
                          "  printf(\"ran %d\\n\", captures != 0 ? captures() : -1);\n  return 0;\n}\n")
        built = subprocess.run([os.environ.get("CC", "cc"), "-fsanitize=address", "-o", program, source, "-ldl"], capture_output=True)
        if built.returncode != 0 or b"libasan" not in program.read_bytes():
            self.skipTest("this compiler has no AddressSanitizer as a library")
        env = {"LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS"), "REPLAY_SESSION": self.synthetic(**PLAN), "ASAN_OPTIONS": "detect_leaks=0"}
        for words, ran in ([program], "ran -1\n"), (["sh", "-c", str(program)], "ran 1\n"):  # injected: for the driver only
            run = self.run_program(processes.path("BUILT_GPUPROF"), "profile", "-f", "-o", self.folder / "out", "--", *words, env=env)
            self.assertEqual(run.out, ran, run.err)
            self.assertNotIn("link order", run.err)
            self.assertNotIn("does not come first", run.err)

    def ask(self, *words, **env):
        wanted = {"LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS"), "REPLAY_SESSION": self.synthetic(**PLAN),
                  "GPUPROF_OUTPUT": str(self.folder / "out"), **env}
        return self.run_program(processes.path("BUILT_ASKING_PROGRAM"), *words, preload=[processes.path("BUILT_PRELOAD")], env=wanted)

    def test_a_lookup_of_a_cupti_function_leaves_no_dlerror(self):
        """Also not where this libcupti lacks newer functions, which the library looks for."""
        run = self.ask(processes.path("BUILT_OLD_CUPTI"))
        self.assertEqual(run.code, 0, run.err)
        asked = [line for line in run.out.splitlines() if " found=1 " in line]
        self.assertEqual(len(asked), 3, run.out)
        for line in asked:
            self.assertTrue(line.endswith("errno=0 dlerror=none"), line)
        self.assertIn("cuptiProfilerInitialize found=0", run.out)

    def test_a_lookup_of_a_cupti_function_does_not_count_as_use_of_cupti(self):
        run = self.ask("libcupti.so.13", "fork")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("cuInit=0 profiled=1", run.out)

    def test_a_forked_child_that_is_not_profiled_reports_that(self):
        run = self.ask("libcupti.so.13", "begin")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("cuInit=0 profiled=0", run.out)
        self.assertEqual(run.err.count("[gpuprof]"), 1, run.err)
        self.assertRegex(run.err, r"^\[gpuprof\] process \d+ is not profiled: it was forked .*\n$")

    def test_the_library_may_be_preloaded_and_injected_at_once(self):
        library = processes.path("BUILT_LIBGPUPROF")
        self.check(self.profile(self.synthetic(**PLAN), env={"CUDA_INJECTION64_PATH": library,
                                                             "NVTX_INJECTION64_PATH": library}))

    def test_a_program_without_cuda_is_left_alone(self):
        run = self.run_program("/bin/ls", "/", preload=[processes.path("BUILT_PRELOAD")],
                               env={"GPUPROF_OUTPUT": str(self.folder / "out")})
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertFalse(self.capture.exists())


class Contents(Gpuprof):
    def test_unified_memory_is_advised_only_if_it_was_not_recorded(self):
        for trace, told in (("cuda,nvtx", True), ("cuda,nvtx,um", False)):
            self.capture.unlink(missing_ok=True)
            self.profile(self.synthetic(threads=1, launches=5), trace=trace)
            run = self.run_program(processes.path("BUILT_GPUPROF"), "analyze", "-f", "json", "--rule", "um_faults", self.capture)
            self.assertEqual(run.code, 0, run.err)
            self.assertEqual("--trace um" in str(json.loads(run.out)["not_looked_at"]), told, trace)

    def test_calls_of_gpuprof_step_are_steps_of_every_report(self):
        self.profile(self.synthetic(threads=1, launches=50, graphs=0, kernel_ns=1000), env={"REPLAY_STEPS": "1"})
        launched = [row["Kern Inst"] for row in self.report("nvtx_kern_sum") if row["NVTX Range"] == "gpuprof:step"]
        self.assertEqual(sum(launched), 50)
        summed = {row["Range"]: row for row in self.report("nvtx_sum")}
        self.assertEqual(summed["gpuprof:step"]["Instances"], 50)
        run = self.run_program(processes.path("BUILT_GPUPROF"), "analyze", "--all", "-f", "json", "--by", "step", self.capture)
        self.assertEqual(run.code, 0, run.err)
        steps = json.loads(run.out)["steps"]
        self.assertEqual(len(steps), 49)  # the last was open at the end
        self.assertEqual({step["ns"]["compute"] for step in steps}, {1000})

    def test_each_kernel_is_in_the_range_that_launched_it(self):
        self.profile(self.synthetic(**PLAN))
        launched = sum(row["Kern Inst"] for row in self.report("nvtx_kern_sum") if row["NVTX Range"].endswith("launch"))
        self.assertEqual(launched, THREADS * LAUNCHES)

    def test_a_run_that_recorded_nothing_names_the_trigger_that_never_came(self):
        session = self.synthetic(threads=1, launches=5)
        run = self.profile(session, capture_range="nvtx", nvtx_capture="stepp")
        self.assertEqual(run.err.count("[gpuprof]"), 1)
        self.assertIn('nothing was recorded: the range "stepp" of --nvtx-capture never began; the program\'s NVTX names are "step", ', run.err)
        self.assertFalse(self.capture.exists())

    def test_a_range_is_captured_by_the_name_that_reports_show(self):
        for name, launches in (("synthetic:launch", 5), ("launch@synthetic", 5), ("step:launch", 0)):
            with self.subTest(name):
                self.capture.unlink(missing_ok=True)
                run = self.profile(self.synthetic(threads=1, launches=5, graphs=0, copies=0, step_ns=2000000), capture_range="nvtx",
                                   nvtx_capture=name, capture_range_end="repeat")
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(self.kernels() if self.capture.exists() else 0, launches)

    def test_a_filter_that_matches_nothing_is_reported_with_the_kernels_that_ran(self):
        run = self.profile(self.synthetic(threads=1, launches=5), kernel_name="evn")
        self.assertIn('"evn" selects none of the 10 kernels that ran; their names are "even", ', run.err)

    def test_copies(self):
        self.profile(self.synthetic(**PLAN))
        self.assertEqual(sum(row["Count"] for row in self.report("cuda_gpu_mem_time_sum")), COPIES)

    def test_api_calls_on_request(self):
        self.profile(self.synthetic(**PLAN), trace="cuda,nvtx,cuda-api")
        self.assertEqual(sum(row["Num Calls"] for row in self.report("cuda_api_sum")), THREADS * LAUNCHES)

    def calls(self):
        return {row["Name"]: row["Num Calls"] for row in self.report("cuda_api_sum")}

    def test_calls_that_block_by_default(self):
        session = SESSIONS / "copies_streams.gprec"
        run = self.profile(session)
        self.assertEqual(run.code, 0, run.err)
        calls = self.calls()
        self.assertFalse([name for name in calls if "Launch" in name or "Async" in name], calls)
        stats = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "cuda_api_sum", self.capture)
        self.assertIn("blocking calls only", stats.out + stats.err)
        self.profile(session, trace="cuda,nvtx,cuda-api", force_overwrite=1)
        of_cupti = {name: count for name, count in self.calls().items() if name.startswith("cudaMemcpy") and "Async" not in name}
        self.assertGreater(sum(of_cupti.values()), 0)  # each of the runtime is one of the driver
        self.assertEqual(sum(count for name, count in calls.items() if name.startswith("cuMemcpy")), sum(of_cupti.values()))

    def test_each_thread_that_waits_is_in_the_capture_with_its_waits(self):
        run = self.profile(self.synthetic(**PLAN, waits=1), cuda_graph_trace="node")  # else the replay adds calls that make graphs
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.calls(), {"cuStreamSynchronize": THREADS * LAUNCHES})
        self.assertEqual(self.lost(), "lost: nothing")
        exported = self.run_program(processes.path("BUILT_GPUPROF"), "export", "-t", "json", "-o", self.folder / "tables", self.capture)
        self.assertEqual(exported.code, 0, exported.err)
        tables = json.loads((self.folder / "tables").read_text())["tables"]
        waiting, all_threads = ({row[[column["name"] for column in tables[table]["columns"]].index("os_thread")] for row in tables[table]["rows"]}
                                for table in ("api", "thread"))
        self.assertEqual(len(waiting), THREADS)
        self.assertLessEqual(waiting, all_threads)
        self.assertEqual(dict(tables["fact"]["rows"])["trace.api"], "blocking")

    def test_waits_in_each_capture_and_no_others(self):
        run = self.profile(self.synthetic(threads=1, launches=40, graphs=0, copies=0, waits=1, profiler_calls=1, step_ns=2000000),
                           capture_range="cudaProfilerApi")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual((self.kernels(), self.calls()), (10, {"cuStreamSynchronize": 10}))

    def test_waits_appear_once_if_cupti_records_all_calls(self):
        self.profile(self.synthetic(**PLAN, waits=1), trace="cuda,nvtx,blocking,cuda-api")
        self.assertEqual(self.calls(), {"cuLaunchKernel": THREADS * LAUNCHES})  # of waits this CUPTI has no records

    def test_the_capture_has_no_calls_if_they_are_not_traced(self):
        self.profile(SESSIONS / "copies_streams.gprec", trace="cuda,nvtx")
        stats = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "cuda_api_sum", self.capture)
        self.assertIn("the capture holds no CUDA API calls", stats.out + stats.err)

    def test_power_clocks_and_heat_are_read_ten_times_a_second(self):
        began = time.monotonic()
        run = self.profile(self.synthetic(threads=1, launches=100, step_ns=5_000_000))  # half a second
        self.assertEqual(run.code, 0, run.err)
        rows = self.rows("chip_state")
        self.assertGreaterEqual(len(rows), 2)
        self.assertLessEqual(len(rows), (time.monotonic() - began) / 0.1 + 2)
        for row in rows:
            self.assertEqual((row["device"], row["power_mw"], row["temperature_c"], row["limiters"]), ("0", "76500", "31", "1"))
            self.assertEqual(row["sm_clock_mhz"], "1000")

    def test_labels_are_stored_as_facts_of_the_capture(self):
        self.profile(self.synthetic(**PLAN), label="size=4096,type=bf16")
        run = self.run_program(processes.path("BUILT_GPUPROF"), "export", "-t", "json", "-o", self.folder / "tables", self.capture)
        self.assertEqual(run.code, 0, run.err)
        facts = dict(json.loads((self.folder / "tables").read_text())["tables"]["fact"]["rows"])
        self.assertEqual((facts["label.size"], facts["label.type"]), ("4096", "bf16"))
        self.assertEqual((facts["trace.api"], facts["trace.um"]), ("blocking", "off"))
        stats = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "cuda_gpu_kern_sum", self.capture)
        self.assertIn("labels: size=4096, type=bf16\n", stats.out)

    def test_contexts_modules_graphs_and_domains_that_come_and_go(self):
        times = 3000
        run = self.profile(self.synthetic(threads=1, launches=10, graphs=0, copies=0, churn=times, step_ns=50000))
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.lost(), "lost: nothing")
        self.assertEqual(self.kernels(), 10 + 2 * times)  # each a launch and a graph's, in a range of its own
        ranges = {row["NVTX Range"]: row["Kern Inst"] for row in self.report("nvtx_kern_sum")}
        self.assertEqual(ranges[f"domain {times - 1}:text {times - 1}"], 2)
        # The names of kernels go with their modules, and others come to stand there.
        named = {row["Name"] for row in self.report("cuda_gpu_kern_sum")}
        self.assertEqual([i for i in range(times) if f"made{i}(float *)" not in named and f"made{i}(float*)" not in named], [])

    def test_records_are_not_switched_off_while_code_is_unloaded(self):
        # CUPTI crashes then, now and then. The capture ends while the program unloads half of the time.
        session = self.synthetic(threads=1, launches=10, graphs=0, copies=0, churn=1200, step_ns=1000000)
        for turn in range(3):
            with self.subTest(turn):
                run = self.profile(session, duration=0.4, stats=1, force_overwrite=1, env={"REPLAY_UNLOAD_US": "500"})
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(self.lost(), "lost: nothing")
                self.assertNotIn("leave 0 ns", run.err)  # CUPTI has been left all the same

    def test_whole_graphs(self):
        self.profile(self.synthetic(**PLAN), cuda_graph_trace="graph")
        self.assertEqual(self.kernels(), THREADS * LAUNCHES)

    def test_kernels_of_whole_graphs_are_told_from_launches_by_nodes(self):
        plan = {**PLAN, "threads": 1, "graphs": 40}
        run = self.profile(self.synthetic(**plan), cuda_graph_trace="auto")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.lost(), "lost: nothing")
        self.assertEqual(self.kernels(), LAUNCHES + 40 * NODES)
        self.assertIn(f"{LAUNCHES + 40 * NODES} kernels", run.err)
        told = self.run_program(processes.path("BUILT_GPUPROF"), "stats", self.capture)
        self.assertRegex(told.out + told.err, r"graphs: the nodes of \d+ of 40 launches were recorded; what the others ran has their times")

    def test_copies_and_fills_of_whole_graphs_are_told_from_launches_by_nodes(self):
        counts = {}
        for level in "node", "auto":
            run = self.profile(processes.recorded("graph"), cuda_graph_trace=level, force_overwrite=1)
            self.assertEqual(run.code, 0, run.err)
            self.assertEqual(self.lost(), "lost: nothing")
            times = self.report("cuda_gpu_mem_time_sum")
            counts[level] = {row["Operation"]: row["Count"] for row in times}
            self.assertEqual([row["Operation"] for row in times if row.get("Inferred (%)")] != [], level == "auto")
            exported = self.run_program(processes.path("BUILT_GPUPROF"), "export", "-t", "json", "-o", self.folder / f"{level}.json", self.capture)
            self.assertEqual(exported.code, 0, exported.err)
            tables = json.loads((self.folder / f"{level}.json").read_text())["tables"]
            for name in "copy", "memset":
                at = [column["name"] for column in tables[name]["columns"]].index("time_of")
                self.assertEqual(any(row[at] for row in tables[name]["rows"]), level == "auto", (level, name))
        self.assertEqual(len(counts["node"]), 2)
        self.assertEqual(counts["auto"], counts["node"])

    def test_the_error_of_times_of_whole_graphs_holds(self):
        nodes, graphs = 40, 3000
        session = self.synthetic(threads=1, launches=0, copies=0, graphs=graphs, nodes=nodes, kernel_ns=1000, spread=40, step_ns=100_000)
        totals = {}
        for level in "node", "auto":
            run = self.profile(session, cuda_graph_trace=level, overhead_budget=0.1, force_overwrite=1)
            self.assertEqual(run.code, 0, run.err)
            self.assertEqual(self.lost(), "lost: nothing")
            totals[level] = {row["Name"]: row for row in self.report("cuda_gpu_kern_sum")}
            # All kernels run in these ranges, and there is nothing else.
            others = [{row["Operation"]: row for row in self.report("cuda_gpu_sum")},
                      {row["Kernel Name"]: row for row in self.report("nvtx_kern_sum") if row["NVTX Range"] == "step"}]
            for rows in others:
                for name, row in totals[level].items():
                    for column in "Inferred (%)", "Total Error (ns)":
                        self.assertEqual(rows[name].get(column), row.get(column), (name, column))
            self.capture.rename(self.folder / f"{level}.gpuprof")
        self.assertNotIn("Total Error (ns)", next(iter(totals["node"].values())))
        self.assertEqual(len(totals["auto"]), nodes)
        within = 0
        for name, told in totals["auto"].items():
            truth = float(totals["node"][name]["Total Time (ns)"])
            self.assertEqual(told["Instances"], graphs, name)
            self.assertGreater(told["Inferred (%)"], 0)
            self.assertLess(told["Total Error (ns)"], 0.2 * truth)
            within += abs(told["Total Time (ns)"] - truth) <= 2 * told["Total Error (ns)"]
        self.assertGreaterEqual(within, 0.85 * nodes)
        self.assertLess(min(row["Total Error (ns)"] / row["Total Time (ns)"] for row in totals["auto"].values()), 0.1)
        noise = {}
        for level in "node", "auto":
            run = self.run_program(processes.path("BUILT_GPUPROF"), "compare", "-f", "json", self.folder / "node.gpuprof", self.folder / f"{level}.gpuprof")
            self.assertEqual(run.code, 0, run.err)
            lines = [line for line in json.loads(run.out)["lines"] if line["kind"] in ("gpu", "kernel")]
            self.assertEqual(len(lines), 1 + nodes)
            self.assertFalse({line["verdict"] for line in lines} & {"better", "worse"})
            noise[level] = next(line["left_high"] - line["left_low"] for line in lines if line["kind"] == "gpu")
        self.assertGreater(noise["auto"], 1.05 * noise["node"])

    def test_a_phase_of_a_played_run_is_about_the_steps_in_it(self):
        run = self.profile(self.synthetic(threads=1, launches=300, graphs=0, copies=0, kernel_ns=200_000, step_ns=1_000_000))
        self.assertEqual(run.code, 0, run.err)
        begins = [int(row["Start (ns)"]) for row in self.report("nvtx_pushpop_trace") if row["Name"].endswith("step")]
        phase = "--filter-time", f"{begins[100] - 50_000_000}/{begins[200] - 1000}"
        def analyzed(*more):
            run = self.run_program(processes.path("BUILT_GPUPROF"), "analyze", "-f", "json", *phase, *more, self.capture)
            self.assertEqual(run.code, 0, run.err)
            return json.loads(run.out)
        steps, whole = analyzed(), analyzed("--all")
        self.assertEqual(len(steps["steps"]), len(whole["steps"]))
        part = steps["part"]
        self.assertAlmostEqual(part["before_ns"] + part["ns"] + part["behind_ns"], whole["window_ns"], delta=1)
        self.assertLess(part["ns"], whole["window_ns"])
        self.assertNotIn("part", whole)

    def test_late_records_of_the_last_graph_kernels_are_waited_for(self):
        # Its records fill several buffers, of which the first come back long before the last.
        nodes = 2600
        session = self.synthetic(threads=1, launches=1, graphs=1, nodes=nodes, copies=0, kernel_ns=40000)
        run = self.profile(session, env={"REPLAY_RECORDS_LATE_MS": "40"}, buffer_limit_mib="16")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.lost(), "lost: nothing")
        self.assertEqual(self.kernels(), 1 + nodes)

    def test_graphs_made_before_cupti_started_are_recorded_by_nodes(self):
        run = self.profile(self.synthetic(**PLAN), cuda_graph_trace="graph", env={"REPLAY_GRAPHS_EARLY": "1"})
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), KERNELS)
        self.assertIn("1 graph made before", run.err)
        self.assertEqual(self.lost(), "lost: nothing")

    def test_launches_that_kernels_make_from_the_gpu_are_reported_as_lost(self):
        for metrics in "none", "auto":
            with self.subTest(metrics):
                session = self.synthetic(threads=1, launches=20, graphs=0, copies=0)
                run = self.profile(session, metrics=metrics, env={"REPLAY_LAUNCHING_KERNELS": "1"}, force_overwrite="1")
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(self.lost(), "lost: what 20 kernels may have launched from the GPU "
                                              "(dynamic parallelism, graphs launched by a kernel)")

    def test_graphs_recorded_by_nodes_and_whole_graphs_may_alternate(self):
        churn = 20  # each turn launches a kernel, and a graph that is made and destroyed
        session = self.synthetic(threads=1, launches=20, graphs=0, copies=0, churn=churn, step_ns=2000000)
        run = self.profile(session, cuda_graph_trace="graph", env={"REPLAY_GRAPHS_EARLY": "2"})
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), 20 + churn + churn // 2)
        self.assertIn(f"{churn // 2} graphs made before", run.err)

    def test_whole_graphs_are_recorded_in_several_captures_of_one_run(self):
        for early in "0", "1":
            with self.subTest(early):
                run = self.profile(processes.recorded("graph"), capture_range="nvtx", nvtx_capture="kernels", capture_range_end="repeat:4",
                                   cuda_graph_trace="graph", env={"REPLAY_GRAPHS_EARLY": early}, force_overwrite="1")
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(self.lost(), "lost: nothing")

    def test_only_kernels_between_profiler_start_and_stop_are_recorded(self):
        session = self.synthetic(launches=80, graphs=0, copies=0, profiler_calls=1)
        run = self.profile(session, capture_range="cudaProfilerApi")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), 20)

    def test_cupti_is_left_after_a_capture_while_the_program_goes_on(self):
        # A second of launches follows, and each flush brings records of some.
        session = self.synthetic(threads=1, launches=2000, step_ns=1000000, kernel_ns=1000, graphs=0, profiler_calls=1)
        run = self.profile(session, capture_range="cudaProfilerApi", trace="cuda,nvtx,cuda-api", stats=1)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), 500)
        self.assertEqual(self.lost(), "lost: nothing")
        analyzed = self.run_program(processes.path("BUILT_GPUPROF"), "analyze", "-f", "json", self.capture)
        self.assertGreater(json.loads(analyzed.out)["cost"]["cost.leave_ns"], 0)

    def test_all_versions_of_cupti_from_12_0_on(self):
        # 12.0, 12.4, 12.6, 12.8, 12.9, 13.0 and its Update 1.
        for version in (19, 22, 24, 26, 27, 130000, 130001):
            with self.subTest(version):
                run = self.profile(self.synthetic(**PLAN), env={"REPLAY_CUPTI_VERSION": str(version)}, force_overwrite=1)
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(self.kernels(), KERNELS)
                self.assertEqual(self.lost(), "lost: nothing")

    def test_captures_work_with_cupti_versions_that_cannot_be_finalized_or_stopped(self):
        session = self.synthetic(threads=1, launches=2000, step_ns=1000000, kernel_ns=1000, graphs=0, profiler_calls=1)
        for version in (19, 22, 130000):
            with self.subTest(version):
                run = self.profile(session, env={"REPLAY_CUPTI_VERSION": str(version)}, capture_range="cudaProfilerApi", force_overwrite=1)
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(self.kernels(), 500)
                self.assertEqual(self.lost(), "lost: nothing")

    def test_the_ranges_of_recorded_sessions_have_the_expected_launches(self):
        for name, expected in RECORDED_OPERATIONS.items():
            with self.subTest(name):
                played = self.profile(processes.recorded(name), force_overwrite=1)
                self.assertEqual(played.code, 0, played.err)
                self.assertEqual(self.operations(), expected)

    def operations(self):
        """Kernels, copies and fills of each NVTX range that a thread pushed, by name."""
        return {row["Range"]: row["Total GPU Ops"] for row in self.report("nvtx_gpu_proj_sum")
                if row["Style"] == "PushPop"}

    def test_each_of_eight_recorded_threads_has_its_own_kernels(self):
        self.profile(processes.recorded("threads_nvtx"))
        rows = [row for row in self.report("nvtx_kern_sum") if row["NVTX Range"] == "iteration"]
        self.assertEqual([row["Kern Inst"] for row in rows], [50] * 8)
        self.assertEqual(len({row["TID"] for row in rows}), 8)

    def test_the_nodes_of_a_recorded_graph_are_in_the_range_that_launched_it(self):
        self.profile(processes.recorded("graph"))
        kernels = {row["NVTX Range"]: row["Kern Inst"] for row in self.report("nvtx_kern_sum")}
        self.assertEqual(kernels, {"kernels": 20 * 100, "mixed": 5 * 3})
        self.assertEqual(self.kernels(), 20 * 100 + 5 * 3 + 1)  # one was launched outside of graph and range

    def test_a_thousand_threads_that_launch_fit_the_default_limit(self):
        threads, launches = 1000, 10
        run = self.profile(self.synthetic(threads=threads, launches=launches, step_ns=100_000_000, graphs=0, copies=0),
                           flush_timeout_ms=60000)  # under the thread sanitizer it takes more than 3 s
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.lost(), "lost: nothing", run.err)
        self.assertEqual(self.kernels(), threads * launches)
        steps = [row for row in self.report("nvtx_kern_sum") if row["NVTX Range"] == "step"]
        self.assertEqual(sum(row["Kern Inst"] for row in steps), threads * launches)
        self.assertEqual(len({row["TID"] for row in steps}), threads)


class FewFilesLeft(Gpuprof):
    """A program that may open six more files once its capture has begun, and opens all of them again and again."""

    def check(self, **settings):
        session = self.synthetic(threads=2, launches=600, graphs=0, copies=0, step_ns=2_000_000)  # 1.2 s
        run = self.profile(session, env={"REPLAY_FILES_LEFT": "6", "REPLAY_FILES_AFTER": str(self.capture),
                                         "REPLAY_NVML_FILES": "4"}, **settings)
        self.assertEqual(run.code, 0, run.err)
        counts = processes.numbers(run.out)
        self.assertGreater(counts["files_tried"], 60)
        self.assertEqual(counts["files_opened"], counts["files_tried"], run.err)
        self.assertEqual(self.kernels(), 1200)
        return run

    @processes.timing
    def test_a_program_with_few_descriptors_left_can_open_all_its_files(self):
        self.check()

    @processes.timing
    def test_a_program_with_few_descriptors_left_can_open_all_its_files_beside_counters(self):
        run = self.check(metrics="auto")
        self.assertEqual(run.err.count("fewer than 64 descriptors left"), 1, run.err)


class Prefork(Gpuprof):
    """Children of a parent that has used NVTX or the C API, but not CUDA, are CUDA programs like any other."""
    CHILDREN = 3

    def setUp(self):
        super().setUp()
        if os.environ.get("BUILT_PRELOAD_FIRST"):
            self.skipTest("a sanitizer's own locks are not kept free at a fork: children of threads that allocate hang in it")

    def check(self, **how):
        run = self.profile(self.synthetic(**PLAN), "--prefork", self.CHILDREN, output=self.folder / "of-%p", **how)
        self.assertEqual(run.code, 0, run.err)
        captures = sorted(self.folder.glob("of-*.gpuprof"))
        self.assertEqual(len(captures), self.CHILDREN + 1)
        self.assertEqual(sorted(self.kernels(capture=c) for c in captures), [0] + self.CHILDREN * [KERNELS])
        for capture in captures:
            launched = sum(row["Kern Inst"] for row in self.report("nvtx_kern_sum", capture=capture) if row["NVTX Range"].endswith("launch"))
            self.assertIn(launched, (0, THREADS * LAUNCHES))

    def test_a_process_may_fork_after_nvtx_calls(self):
        self.check()

    def test_a_process_may_fork_after_calls_of_the_c_api(self):
        self.check(beside=[processes.path("BUILT_EARLY_START")])

    def test_a_process_may_fork_after_calls_of_the_c_api_with_an_unused_driver_loaded(self):
        driver = pathlib.Path(processes.path("BUILT_REPLAY_LIBS"), "libcuda.so.1")
        self.check(beside=[driver, processes.path("BUILT_EARLY_START")])


class WaysToEnd(Gpuprof):
    """The program ends as it does without the profiler, and the capture can be read."""

    def end(self, how, code, **settings):
        run = self.profile(self.synthetic(**PLAN), "--exit-with", how, "--exit-at", "0.5", **settings)
        self.assertEqual(run.code, code, run.err)
        return run

    def test_fork(self):
        self.assertIn("child=exited", self.end("fork", 0).out)
        self.assertEqual(self.kernels(), KERNELS)

    def test_device_reset(self):
        self.end("device-reset", 0)
        self.assertEqual(self.kernels(), KERNELS)

    def test_kernels_in_flight(self):
        self.end("in-flight", 0)
        seen = self.kernels()
        self.assertLess(seen, KERNELS)
        self.assertIn(f"{KERNELS - seen} kernels without time", self.lost())

    def test_the_program_may_call_exec(self):
        run = self.end("exec", 0, force_overwrite=1)
        self.assertIn("launches=", run.out)
        self.assertEqual(self.kernels(), KERNELS)

    def test_a_capture_survives_every_kind_of_kill(self):
        # A sanitizer's library takes its time to start: four times as long, and less is asked for.
        slow = bool(os.environ.get("BUILT_PRELOAD_FIRST"))
        for how, code in {"_exit": 0, "kill": -9, "throw": -6, "abort": -6}.items():
            with self.subTest(how):
                session = self.synthetic(threads=2, launches=1500, step_ns=2_000_000 if slow else 500_000)
                run = self.profile(session, "--exit-with", how, "--exit-at", "0.9", force_overwrite=1,
                                   flush_interval_ms=50)
                self.assertEqual(run.code, code, run.err)
                self.assertGreater(self.kernels(), 100 if slow else 1000)

    # Work of graphs is in the file after two flushes, half a second apart. It was there after 1.5 to 2 s.
    @processes.timing
    def test_what_is_killed_loses_a_second_of_its_graphs_at_most(self):
        launches, nodes = 4000, 20
        session = self.synthetic(threads=1, launches=0, copies=0, graphs=launches, nodes=nodes, kernel_ns=2000, step_ns=1_000_000)
        self.profile(session, "--exit-with", "kill", "--exit-at", "0.9")
        self.assertGreater(self.kernels(), (0.9 * launches - 1300) * nodes)

    def test_the_driver_may_shut_down_before_the_library(self):
        run = self.profile(self.synthetic(threads=1, launches=1500, step_ns=500_000), flush_interval_ms=50,
                           env={"REPLAY_DRIVER_TEARDOWN": "early"})
        self.assertEqual(run.code, 0, run.err)
        self.assertGreater(self.kernels(), 1000)

    def test_a_slow_flush_loses_nothing(self):
        run = self.profile(self.synthetic(**PLAN), env={"REPLAY_SLOW_FLUSH_MS": "50"})
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), KERNELS)

    # 292,000 records a second must leave 16 MiB of buffers as fast as they come.
    @processes.timing
    def test_a_graph_that_fills_all_buffers_while_a_flush_lasts(self):
        session = self.synthetic(threads=1, launches=1, graphs=2000, nodes=146, step_ns=500_000, kernel_ns=2000)
        run = self.profile(session, buffer_limit_mib=16, flush_timeout_ms=20000, env={"REPLAY_SLOW_FLUSH_MS": "700"})
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual((self.kernels(), self.lost()), (2000 * 146 + 1, "lost: nothing"))


class Canceled(Gpuprof):
    """Threads that somebody has canceled go on until the program says where they may end: never inside of the profiler."""
    def setUp(self):
        super().setUp()
        if "tsan" in os.environ.get("BUILT_PRELOAD_FIRST", ""):
            self.skipTest("the thread sanitizer cannot have a thread end by cancellation inside of its own functions")

    def ends_well(self, session, *options, env=None, **settings):
        run = self.profile(session, *options, env={"REPLAY_CANCELED": "1", **(env or {})}, force_overwrite=1, **settings)
        self.assertEqual(run.code, 0, run.err)
        return run

    def test_a_thread_may_be_canceled_in_each_callback(self):
        self.ends_well(self.synthetic(**PLAN))
        self.assertEqual((self.kernels(), self.lost()), (KERNELS, "lost: nothing"))

    def test_a_thread_may_be_canceled_in_a_callback_that_switches_captures(self):
        session = self.synthetic(threads=1, launches=2000, step_ns=1000000, kernel_ns=1000, graphs=0, profiler_calls=1)
        self.ends_well(session, capture_range="cudaProfilerApi")
        self.assertEqual(self.kernels(), 500)

    def test_threads_may_be_canceled_while_ranges_on_several_threads_switch_captures(self):
        self.ends_well(self.synthetic(**PLAN), capture_range="nvtx", nvtx_capture="launch@*", capture_range_end="repeat")

    def test_a_thread_may_be_canceled_while_a_callback_waits_for_a_filter_answer(self):
        self.ends_well(self.synthetic(**PLAN), kernel_name="even")
        self.assertEqual(self.kernels(), THREADS * LAUNCHES // 2)

    def test_a_thread_may_be_canceled_in_a_callback_that_logs_a_line(self):
        for fault in ("REPLAY_FATAL_AFTER", "REPLAY_HELD_BY"):
            self.assertIn("[gpuprof] kernel tracing", self.ends_well(self.synthetic(**PLAN), env={fault: "100"}).err)

    def test_a_thread_may_be_canceled_in_a_callback_at_the_end_of_a_context(self):
        self.ends_well(self.synthetic(**PLAN), "--exit-with", "device-reset", "--exit-at", "0.5")
        self.assertEqual(self.kernels(), KERNELS)

    def test_threads_may_be_canceled_in_a_callback_while_counters_are_read(self):
        for metrics in ("exact,basic", "auto"):
            self.ends_well(self.synthetic(threads=2, launches=500, step_ns=1000000), "--exit-with", "device-reset",
                           "--exit-at", "0.9", metrics=metrics)


class Faults(Gpuprof):
    """One clear line, the program untouched."""

    def untouched(self, **env):
        session = self.synthetic(**PLAN)
        without_us = self.play(session, env=env)
        run = self.profile(session, env=env)
        self.assertEqual((run.code, run.out), (without_us.code, without_us.out), run.err)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn(f"launches={THREADS * LAUNCHES + GRAPHS} ", run.out)
        self.assertNotIn("broke the contract", run.err)
        return run.err

    def only_line(self, text, err):
        """The one line that begins with this text."""
        lines = [line for line in err.splitlines() if line.startswith("[gpuprof] " + text)]
        self.assertEqual(len(lines), 1, err)
        return lines[0]

    def test_cupti_is_held_by_another_tool(self):
        self.assertIn("Nsight Systems", self.untouched(REPLAY_HELD_BY="Nsight Systems"))

    def test_a_cupti_that_is_too_old_is_reported(self):
        # A toolkit on this machine may hold a newer one, which then finds no driver.
        self.assertRegex(self.untouched(REPLAY_CUPTI_VERSION="18"), "too old|kernel tracing is off")

    def test_any_call_of_cupti_may_fail(self):
        for call in ("cuptiSubscribe_v2", "cuptiEnableCallback", "cuptiActivityRegisterCallbacks",
                     "cuptiActivityEnable:1", "cuptiActivityEnable:2", "cuptiActivitySetAttribute",
                     "cuptiActivityFlushAll", "cuptiActivityGetNumDroppedRecords", "cuptiFinalize",
                     "cuptiUnsubscribe", "cuptiActivityDisable", "cuptiGetCallbackName"):
            with self.subTest(call):
                if self.capture.exists():
                    self.capture.unlink()
                self.untouched(REPLAY_FAIL=call + "=999")

    def test_a_failed_kind_is_named_and_the_rest_is_traced(self):
        self.assertIn("will be missing", self.untouched(REPLAY_FAIL="cuptiActivityEnable:2=999"))
        self.assertEqual(self.kernels(), KERNELS)

    def test_missing_rights_are_reported(self):
        line = self.only_line("kernel tracing is off: ", self.untouched(REPLAY_FAIL="cuptiActivityEnable=35"))
        self.assertIn("cuptiActivityEnable failed, this user may not read GPU performance counters", line)
        self.assertIn("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", line)
        self.assertIn("The program is not affected; NVTX ranges are still recorded.", line)
        self.assertEqual(sum(row["Instances"] for row in self.report("nvtx_sum")), 2 * THREADS * LAUNCHES)
        self.assertEqual(self.report("cuda_gpu_kern_sum"), [])

    def test_dropped_records_are_reported(self):
        err = self.untouched(REPLAY_DROP="10")
        seen = self.kernels()
        self.assertLess(seen, KERNELS)
        self.assertIn("launches without a record", err)
        self.assertIn("25 records dropped by cupti", self.lost())  # every tenth of 250 kernels and 3 copies

    def test_records_before_a_fatal_cupti_error_are_kept(self):
        err = self.untouched(REPLAY_FATAL_AFTER="100")
        line = self.only_line("kernel tracing ends here: CUPTI has shut itself down", err)
        self.assertIn("replayed fatal error", line)
        self.assertIn("What was traced so far is kept; the program goes on.", line)
        self.assertLess(self.kernels(), KERNELS)
        # How many launches had been noted by then, and still owed a record, is a matter of time.
        self.assertEqual("launches without a record" in err, self.lost() != "lost: nothing")
        self.assertEqual(sum(row["Instances"] for row in self.report("nvtx_sum")), 2 * THREADS * LAUNCHES)


if __name__ == "__main__":
    if "BUILT_LIBGPUPROF" not in os.environ or "BUILT_GPUPROF" not in os.environ:
        raise SystemExit("libgpuprof.so and the command are not part of this build")
    processes.main()

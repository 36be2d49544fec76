"""The shipped library in real processes: every way in, every way to end, and the faults of CUPTI and the driver."""
import json
import os
import processes

THREADS, LAUNCHES, GRAPHS, NODES, COPIES = 4, 60, 2, 5, 3
KERNELS = THREADS * LAUNCHES + GRAPHS * NODES
PLAN = dict(threads=THREADS, launches=LAUNCHES, graphs=GRAPHS, nodes=NODES, copies=COPIES, kernel_ns=1000)


class Gpuprof(processes.Case):
    def setUp(self):
        super().setUp()
        self.capture = self.folder / "out.gpuprof"

    def profile(self, session, *options, env=None, **settings):
        """Plays a session with libgpuprof.so preloaded; settings are GPUPROF_... variables."""
        wanted = {"GPUPROF_OUTPUT": str(self.capture)[: -len(".gpuprof")]}
        wanted.update({"GPUPROF_" + k.upper(): str(v) for k, v in settings.items()})
        wanted.update(env or {})
        return self.play(session, *options, preload=[processes.path("BUILT_LIBGPUPROF")], env=wanted)

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

    def test_injected(self):
        library = processes.path("BUILT_LIBGPUPROF")
        self.check(self.play(self.synthetic(**PLAN), env={
            "CUDA_INJECTION64_PATH": library, "NVTX_INJECTION64_PATH": library,
            "GPUPROF_OUTPUT": str(self.folder / "out")}))

    def test_by_the_command(self):
        self.check(self.run_program(processes.path("BUILT_GPUPROF"), "profile", "-o", self.folder / "out", "--",
                                    processes.path("BUILT_PLAY"), self.synthetic(**PLAN)))

    def test_preloaded_and_injected_at_once(self):
        library = processes.path("BUILT_LIBGPUPROF")
        self.check(self.profile(self.synthetic(**PLAN), env={"CUDA_INJECTION64_PATH": library,
                                                             "NVTX_INJECTION64_PATH": library}))

    def test_a_program_without_cuda_is_left_alone(self):
        run = self.run_program("/bin/ls", "/", preload=[processes.path("BUILT_LIBGPUPROF")],
                               env={"GPUPROF_OUTPUT": str(self.folder / "out")})
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertFalse(self.capture.exists())


class Contents(Gpuprof):
    def test_each_kernel_is_in_the_range_that_launched_it(self):
        self.profile(self.synthetic(**PLAN))
        launched = sum(row["Kern Inst"] for row in self.report("nvtx_kern_sum") if row["NVTX Range"].endswith("launch"))
        self.assertEqual(launched, THREADS * LAUNCHES)

    def test_copies(self):
        self.profile(self.synthetic(**PLAN))
        self.assertEqual(sum(row["Count"] for row in self.report("cuda_gpu_mem_time_sum")), COPIES)

    def test_api_calls_on_request(self):
        self.profile(self.synthetic(**PLAN), trace="cuda,nvtx,cuda-api")
        self.assertEqual(sum(row["Num Calls"] for row in self.report("cuda_api_sum")), THREADS * LAUNCHES)

    def test_whole_graphs(self):
        self.profile(self.synthetic(**PLAN), cuda_graph_trace="graph")
        self.assertEqual(self.kernels(), THREADS * LAUNCHES)

    def test_between_profiler_start_and_stop(self):
        session = self.synthetic(launches=80, graphs=0, copies=0, profiler_calls=1)
        run = self.profile(session, capture_range="cudaProfilerApi")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), 20)

    def test_an_older_cupti(self):
        run = self.profile(self.synthetic(**PLAN), env={"REPLAY_CUPTI_VERSION": "24"})
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), KERNELS)

    def test_recorded_sessions(self):
        sessions = processes.all_recorded()
        for session in sessions:
            with self.subTest(session):
                played = self.profile(session, force_overwrite=1)
                self.assertEqual(played.code, 0, played.err)
                self.assertEqual(self.kernels(), processes.numbers(played.out)["kernels"])
        if not sessions:
            self.skipTest("no recorded sessions")


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

    def test_exec(self):
        run = self.end("exec", 0, force_overwrite=1)
        self.assertIn("launches=", run.out)
        self.assertEqual(self.kernels(), KERNELS)

    def test_killed_in_many_ways(self):
        for how, code in {"_exit": 0, "kill": -9, "throw": -6, "abort": -6}.items():
            with self.subTest(how):
                session = self.synthetic(threads=2, launches=1500, step_ns=500_000)
                run = self.profile(session, "--exit-with", how, "--exit-at", "0.9", force_overwrite=1,
                                   flush_interval_ms=50)
                self.assertEqual(run.code, code, run.err)
                self.assertGreater(self.kernels(), 1000)

    def test_a_driver_that_goes_first(self):
        run = self.profile(self.synthetic(threads=1, launches=1500, step_ns=500_000), flush_interval_ms=50,
                           env={"REPLAY_DRIVER_TEARDOWN": "early"})
        self.assertEqual(run.code, 0, run.err)
        self.assertGreater(self.kernels(), 1000)

    def test_a_slow_flush(self):
        run = self.profile(self.synthetic(**PLAN), env={"REPLAY_SLOW_FLUSH_MS": "50"})
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), KERNELS)


class Faults(Gpuprof):
    """One clear line, the program untouched."""

    def untouched(self, **env):
        run = self.profile(self.synthetic(**PLAN), env=env)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn(f"launches={THREADS * LAUNCHES + GRAPHS} ", run.out)
        self.assertNotIn("broke the contract", run.err)
        return run.err

    def test_cupti_is_held_by_another_tool(self):
        self.assertIn("Nsight Systems", self.untouched(REPLAY_HELD_BY="Nsight Systems"))

    def test_cupti_is_too_old(self):
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

    def test_rights_are_missing(self):
        self.assertIn("[gpuprof]", self.untouched(REPLAY_FAIL="cuptiActivityEnable=35"))

    def test_dropped_records_are_told(self):
        err = self.untouched(REPLAY_DROP="10")
        seen = self.kernels()
        self.assertLess(seen, KERNELS)
        self.assertIn("launches without a record", err)
        self.assertIn("25 records dropped by cupti", self.lost())  # every tenth of 250 kernels and 3 copies

    def test_cupti_gives_up_half_way(self):
        self.assertIn("[gpuprof]", self.untouched(REPLAY_FATAL_AFTER="100"))


if __name__ == "__main__":
    if "BUILT_LIBGPUPROF" not in os.environ or "BUILT_GPUPROF" not in os.environ:
        raise SystemExit("libgpuprof.so and the command are not part of this build")
    processes.main()

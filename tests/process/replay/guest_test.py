# SPDX-License-Identifier: Apache-2.0
"""The shipped library in programs that leave it little: no reader of stderr, no memory, floating-point exceptions that end them. They end
as they do without it."""
import concurrent.futures
import itertools
import os
import sys
import unittest
import uuid

import processes

LIBRARY = processes.path("BUILT_LIBGPUPROF")
# Runs the rest of its arguments with a stderr that nobody reads any more.
WITHOUT_READER = ("import os, signal, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 2); signal.signal(signal.SIGPIPE, signal.SIG_DFL); "
                  "os.execv(sys.argv[1], sys.argv[1:])")


class Guest(processes.Case):
    def settings(self, name="out", **settings):
        wanted = {"GPUPROF_OUTPUT": str(self.folder / name), "GPUPROF_FORCE_OVERWRITE": "1",
                  "REPLAY_GPU_UUID": "GPU-" + str(uuid.uuid5(uuid.NAMESPACE_URL, str(self.folder / name)))}
        wanted.update({"GPUPROF_" + k.upper(): str(v) for k, v in settings.items()})
        return wanted


class BrokenStandardError(Guest):
    def check(self, env=None, **settings):
        session = processes.recorded("launch_loop")
        run = self.run_program(sys.executable, "-c", WITHOUT_READER, processes.path("BUILT_PLAY"), session,
                               env={**self.settings(**settings), **(env or {})}, preload=[LIBRARY])
        self.assertEqual(run.code, 0)
        return run

    def test_statistics_at_exit(self):
        self.check(stats=1)

    def test_an_unknown_variable_before_main(self):
        self.check(metrix=1)

    def test_a_capture_range_that_never_comes(self):
        self.check(capture_range="nvtx", nvtx_capture="never")

    def test_cupti_held_by_another_tool(self):
        self.check(env={"REPLAY_HELD_BY": "Nsight Systems"})


class FloatingPointTraps(Guest):
    def test_floating_point_traps_do_not_end_the_threads_of_the_library(self):
        for metrics in "none", "auto", "sampled", "exact":
            with self.subTest(metrics):
                run = self.play(processes.recorded("launch_loop"), env=self.settings(metrics=metrics, stats=1),
                                preload=[processes.path("BUILT_FLOAT_TRAPS"), LIBRARY])
                self.assertEqual(run.code, 0, run.err)


class NoMemory(Guest):
    SESSIONS = "launch_loop", "graph", "threads_nvtx", "train_step"
    # One in so many allocations of the library fails, after so many that did not.
    FAILURES = (2, 0), (5, 0), (20, 0), (3, 300), (7, 1000), (50, 200)

    def outcome(self, session, metrics, failures, seed):
        name = f"{session}-{metrics}-{failures[0]}-{failures[1]}-{seed}"
        env = self.settings(name, metrics=metrics, stats=1, overhead_budget=50)
        env["FAILING_MEMORY"] = f"{failures[0]},{failures[1]},{seed}"
        run = self.play(processes.recorded(session), env=env, preload=[processes.path("BUILT_FAILING_MEMORY"), LIBRARY])
        return name, run

    @unittest.skipIf(os.environ.get("BUILT_PRELOAD_FIRST"), "a sanitizer has an allocator of its own")
    def test_a_program_out_of_memory_ends_as_it_does_without_the_library(self):
        cases = list(itertools.product(self.SESSIONS, ("none", "auto"), self.FAILURES, range(3)))
        self.assertEqual(len(cases), 144)
        with concurrent.futures.ThreadPoolExecutor(8) as several:
            runs = list(several.map(lambda case: self.outcome(*case), cases))
        wrong = [(name, run.code, run.err[-300:]) for name, run in runs if run.code != 0]
        self.assertEqual(wrong, [])
        # Else the allocator would not have failed.
        self.assertTrue(any("bad_alloc" in run.err for _, run in runs))

    @unittest.skipIf(os.environ.get("BUILT_PRELOAD_FIRST"), "a sanitizer has an allocator of its own")
    def test_records_lost_for_lack_of_memory_are_counted(self):
        counted = 0
        # The profiler starts with some 300 allocations, more where there is a GPU: what fails is a later step.
        for seed, before in itertools.product(range(6), (300, 330, 400, 500)):
            name, run = self.outcome("launch_loop", "none", (100, before), seed)
            capture = self.folder / f"{name}.gpuprof"
            if not capture.exists():
                continue
            shown = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "cuda_gpu_kern_sum", capture)
            self.assertEqual(shown.code, 0, shown.err)
            is_told = "steps without memory" in next(line for line in shown.out.splitlines() if line.startswith("lost: "))
            if is_told:
                self.assertIn("[gpuprof] records were lost: std::bad_alloc", run.err)
            counted += is_told
        self.assertGreater(counted, 0)


processes.main()

# SPDX-License-Identifier: Apache-2.0
"""The shipped library in programs that leave it little: no reader of stderr, floating-point exceptions that end them. They end as they do
without it."""
import sys
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

    def test_nothing_recorded(self):
        self.check(capture_range="nvtx", nvtx_capture="never")

    def test_cupti_held_by_another_tool(self):
        self.check(env={"REPLAY_HELD_BY": "Nsight Systems"})


class FloatingPointTraps(Guest):
    def test_no_thread_of_ours_is_ended(self):
        for metrics in "none", "auto", "sampled", "exact":
            with self.subTest(metrics):
                run = self.play(processes.recorded("launch_loop"), env=self.settings(metrics=metrics, stats=1),
                                preload=[processes.path("BUILT_FLOAT_TRAPS"), LIBRARY])
                self.assertEqual(run.code, 0, run.err)


processes.main()

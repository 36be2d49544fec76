# SPDX-License-Identifier: Apache-2.0
"""A program that uses CUPTI itself beside the shipped library, in real processes: both get all that is theirs."""
import pathlib
import shutil

import processes
from gpuprof_test import Gpuprof

THREADS, LAUNCHES, GRAPHS, NODES = 4, 2000, 20, 5
KERNELS = THREADS * LAUNCHES + GRAPHS * NODES
PLAN = dict(threads=THREADS, launches=LAUNCHES, graphs=GRAPHS, nodes=NODES, copies=3, kernel_ns=1000, step_ns=100000)
WAYS = ("BUILT_LINKED_CLIENT", "BUILT_OPENING_CLIENT")
FAULTS = ("kernels_twice", "kernels_at_the_wrong_time", "correlation_data_lost", "user_data_lost", "callbacks_not_asked_for",
          "buffers_of_others", "callback_still_on")


class Sharing(Gpuprof):
    def setUp(self):
        super().setUp()
        self.counts = self.folder / "counts"

    def run_both(self, way="BUILT_LINKED_CLIENT", session=None, alone=False, options=(), env=None, **settings):
        """The counts of the program's own client, and the run; `alone`: without libgpuprof."""
        self.capture.unlink(missing_ok=True)
        client = [processes.path(way)]
        wanted = {"REPLAY_SECOND_OUTPUT": str(self.counts), **{k: str(v) for k, v in (env or {}).items()}}
        session = session or self.synthetic(**PLAN)
        run = self.play(session, *options, preload=client, env=wanted) if alone else \
            self.profile(session, *options, beside=client, env=wanted, **settings)
        self.assertEqual(run.code, 0, run.err)
        self.assertNotIn("broke the contract", run.err)
        text = self.counts.read_text()
        self.assertNotIn("failed:", text)
        n = processes.numbers(text)
        for fault in FAULTS:
            self.assertNotIn(fault, n, text)
        self.assertEqual(n["owed"], 0, text)
        self.assertLessEqual(n["enters"] - n["exits"], THREADS * n["sessions"])  # calls under way when a session ends
        return n, run

    def check_capture(self, kernels=KERNELS, samples=False):
        self.assertEqual(self.kernels(), kernels, self.lost())
        # Samples may come too late where a thread has no core in time: other tests look for them.
        self.assertRegex(self.lost(), r"^lost: (nothing|\d+ sampling overflows?\b)" if samples else "nothing")

    @processes.timing
    def test_one_session_of_the_other_client_in_the_middle_of_ours(self):
        for way in WAYS:
            with self.subTest(way):
                n, run = self.run_both(way, env=dict(REPLAY_SECOND_GAP_MS=50, REPLAY_SECOND_SESSION_MS=60))
                self.assertGreater(n["records_10"], 100)
                self.assertLess(n["records_10"], KERNELS)
                self.check_capture()
                self.assertIn("asks CUPTI for records, too", run.err)

    def test_several_sessions_of_the_other_client(self):
        sessions = dict(REPLAY_SECOND_GAP_MS=10, REPLAY_SECOND_SESSION_MS=15, REPLAY_SECOND_SESSIONS=4)
        for after in ("keep", "unsubscribe", "finalize"):
            with self.subTest(after):
                for repeat in (1, 4, 16):  # on a busy machine a short program ends before they are held
                    n, _ = self.run_both(options=("--repeat", str(repeat)), env=dict(sessions, REPLAY_SECOND_AFTER=after))
                    self.assertGreater(n["records_10"], 100)
                    self.check_capture(KERNELS * repeat)
                    if n["sessions"] >= 3:
                        break
                self.assertGreaterEqual(n["sessions"], 3)

    def test_a_session_of_the_other_client_that_lasts_as_long_as_the_program(self):
        n, _ = self.run_both(env=dict(REPLAY_SECOND_KINDS="1,2,4,5,10"))
        self.assertGreater(n["records_10"], KERNELS / 2)
        self.assertGreater(n["records_4"], 100)
        self.check_capture()
        self.assertEqual(self.report("cuda_api_sum"), [])  # theirs alone

    def test_waits_are_in_our_capture_whatever_the_other_client_does(self):
        session = self.synthetic(**PLAN, waits=1)
        alone, _ = self.run_both(session=session, alone=True)
        n, _ = self.run_both(session=session)
        self.assertEqual(n["records_10"], alone["records_10"])
        self.check_capture()
        self.assertEqual({row["Name"]: row["Num Calls"] for row in self.report("cuda_api_sum")}, {"cuStreamSynchronize": THREADS * PLAN["launches"]})

    def test_a_few_large_buffers_are_filled_one_after_the_other(self):
        n, _ = self.run_both(env=dict(REPLAY_SECOND_BUFFER_BYTES=1 << 20, REPLAY_SECOND_GAP_MS=20, REPLAY_SECOND_SESSION_MS=80))
        self.assertGreater(n["records_10"], 100)
        self.assertLess(n["requests"], 8)

    def test_the_other_client_may_have_a_clock_of_its_own(self):
        n, _ = self.run_both(env=dict(REPLAY_SECOND_CLOCK=1, REPLAY_SECOND_GAP_MS=50, REPLAY_SECOND_SESSION_MS=60))
        self.assertGreater(n["records_10"], 100)
        self.check_capture()
        trace = self.report("cuda_gpu_trace")
        first, last = (pick(row["Start (ns)"] for row in trace) for pick in (min, max))
        self.assertLess(last - first, 30e9)  # all on one clock
        self.assertEqual(self.report("cuda_gpu_kern_sum")[0]["Med (ns)"], 1000)

    def test_the_other_client_gets_records_while_counters_pause(self):
        n, run = self.run_both(env=dict(REPLAY_SECOND_GAP_MS=50, REPLAY_SECOND_SESSION_MS=60, REPLAY_SECOND_SESSIONS=2),
                               metrics="auto", overhead_budget="50")
        self.assertGreater(n["records_10"], 100)
        self.check_capture(samples=True)
        self.assertIn("counters pause", run.err)

    def test_whole_graph_records_are_not_forced_on_the_other_client(self):
        n, _ = self.run_both(cuda_graph_trace="graph", session=self.synthetic(threads=1, launches=200, graphs=100, nodes=5, step_ns=500000),
                             env=dict(REPLAY_SECOND_GAP_MS=0))
        self.assertNotIn("records_51", n)

    def test_the_other_client_may_bring_its_own_libcupti(self):
        own = self.folder / "libcupti.so.13"
        shutil.copy(pathlib.Path(processes.path("BUILT_REPLAY_LIBS"), "libcupti.so.13"), own)
        n, _ = self.run_both("BUILT_OPENING_CLIENT", env=dict(REPLAY_SECOND_LIBRARY=own, REPLAY_SECOND_GAP_MS=50, REPLAY_SECOND_SESSION_MS=60))
        self.assertGreater(n["records_10"], 100)
        self.check_capture()

    def test_without_a_capture_of_ours_the_other_client_gets_its_records(self):
        n, _ = self.run_both(env=dict(REPLAY_SECOND_GAP_MS=20, REPLAY_SECOND_SESSION_MS=60), capture_range="nvtx", nvtx_capture="never")
        self.assertGreater(n["records_10"], 100)
        self.assertFalse(self.capture.exists())

    def test_the_other_client_works_without_the_library(self):
        for way in WAYS:
            with self.subTest(way):
                n, _ = self.run_both(way, alone=True, env=dict(REPLAY_SECOND_GAP_MS=20, REPLAY_SECOND_SESSION_MS=60))
                self.assertGreater(n["records_10"], 100)

    def test_a_client_that_does_not_trace_keeps_its_cupti(self):
        """The replay ends a program in which cuptiFinalize is called while PM sampling is enabled."""
        session = self.synthetic(threads=1, launches=2000, step_ns=1000000, kernel_ns=1000, graphs=0, profiler_calls=1)
        for way in ("BUILT_LINKED_SAMPLER", "BUILT_OPENING_SAMPLER"):
            with self.subTest(way):
                self.counts.unlink(missing_ok=True)
                run = self.profile(session, beside=[processes.path(way)], capture_range="cudaProfilerApi", force_overwrite=1,
                                   env={"REPLAY_SECOND_OUTPUT": str(self.counts)})
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(self.counts.read_text(), "code=0\n")
                self.check_capture(500)

    def test_libraries_loaded_later_share_cupti_with_the_preloaded_main_library(self):
        """torch.profiler is loaded by Python: its names of CUPTI are bound to ours."""
        n, _ = self.run_both("BUILT_LATE_CLIENT", library=processes.path("BUILT_LIBGPUPROF"),
                             env=dict(REPLAY_SECOND_GAP_MS=50, REPLAY_SECOND_SESSION_MS=60,
                                      REPLAY_LATE_LIBRARY=processes.path("BUILT_LINKED_CLIENT")))
        self.assertGreater(n["records_10"], 100)
        self.check_capture()

    def test_a_program_linked_against_cupti_gets_a_warning_with_only_the_main_library_preloaded(self):
        for way, is_told in ("BUILT_LINKED_CLIENT", True), ("BUILT_OPENING_CLIENT", False):
            run = self.profile(self.synthetic(**PLAN), beside=[processes.path(way)], library=processes.path("BUILT_LIBGPUPROF"),
                               env={"REPLAY_SECOND_OUTPUT": str(self.counts), "REPLAY_SECOND_GAP_MS": "100"}, force_overwrite=1)
            self.assertEqual(run.code, 0, run.err)
            self.assertEqual("Preload libgpuprof_preload.so" in run.err, is_told, run.err)

    def test_without_sharing_the_first_client_has_cupti_and_the_other_reports_that(self):
        """As before there was sharing: who comes first has CUPTI, and the other says so."""
        client = [processes.path("BUILT_OPENING_CLIENT")]
        run = self.profile(self.synthetic(**PLAN), beside=client, share_cupti="no",
                           env={"REPLAY_SECOND_OUTPUT": str(self.counts), "REPLAY_SECOND_GAP_MS": "100"})
        self.assertEqual(run.code, 0, run.err)
        if "failed:subscribe=39" in self.counts.read_text():
            self.check_capture()
        else:  # a busy machine: the client came first
            self.assertIn("CUPTI is held by", run.err)


if __name__ == "__main__":
    processes.main()

# SPDX-License-Identifier: Apache-2.0
"""The shipped library reading counters around launches, in real processes: values, what is left out, refusals, endings."""
import importlib.util
import json
import os
import pathlib
import re
import sys
import time

import processes
from gpuprof_test import Gpuprof, THREADS

SETTINGS = dict(metrics="auto", overhead_budget="90")
# With steps of 1 ms: time may be sampled for 3 s before any launch is read, on a machine that is busy, and a wait of the program hoped for half of one more.
LONG = 7000
FUSED = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
PLAIN = "even(float*, int)", "odd(float*, int)"
# Under sanitizers, on a machine that is busy, many a launch takes longer than others may wait for it.
IS_SLOWED = bool(os.environ.get("BUILT_PRELOAD_FIRST"))
# A program that has the cores for itself waits for them less than that.
MAX_WAIT_MS = 100
PRODUCT = "gemm_bf16(float*, int)"


reader = importlib.util.spec_from_file_location("read_capture", pathlib.Path(__file__).parents[3] / "examples/read_capture.py")
read_capture = importlib.util.module_from_spec(reader)
reader.loader.exec_module(read_capture)


class Counters(Gpuprof):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "ranges.txt"
        self.waited = self.folder / "waited.txt"

    def counted(self, session, *options, env=None, **settings):
        wanted = {"REPLAY_COUNTER_LOG": str(self.log), "REPLAY_WAITED": str(self.waited), **(env or {})}
        self.waited.unlink(True)
        run = self.profile(session, *options, env=wanted, **{**SETTINGS, **settings})
        self.assertNotIn("broke the contract", run.err)
        return run

    def ranges(self):
        """What the replay libcupti counted: a dictionary for each range."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [processes.numbers(line) for line in lines if line.startswith("range ")]

    def metrics(self):
        """{(kernel, metric): row} of everything that was read."""
        return {(row["Name"], row["Metric"]): row for row in self.report("gpu_metrics_sum")}

    def tables(self):
        return read_capture.Capture(self.capture).tables

    def waited_ms(self):
        """How long the threads of the programs of the last session were ready to run and had no core."""
        return sum(map(int, self.waited.read_text().split())) if self.waited.exists() else 0

    def was_slowed(self):
        return IS_SLOWED or self.waited_ms() > MAX_WAIT_MS

    def check_in_time(self, done):
        """What a session is long enough for, but not where each of its steps takes twenty times as long, or where others have
        the cores: it may read less there, and nothing else."""
        self.assertTrue(done or self.was_slowed())
        if not done:
            print(f"not in time, having waited for a core for {self.waited_ms()} ms", file=sys.stderr)

    def check_that_nearly_every_is_read(self, samples, launches):
        """A launch is given up after 2 ms: each millisecond without a core may cost one, and half are read in any case."""
        least = launches / 2 if IS_SLOWED else max(launches / 2, 0.95 * launches - self.waited_ms())
        self.assertGreater(samples, least, f"of {launches}, having waited for a core for {self.waited_ms()} ms")

    def losses(self):
        """{what: how many} of the line that says what is missing."""
        found = re.findall(r"([\d,]+) ([a-z ]+?)s?(?:, |$)", self.lost().removeprefix("lost: ").split(". ")[0])
        return {what: int(number.replace(",", "")) for number, what in found}

    def losses_of_launches(self):
        """Samples are lost where the thread that decodes them is late: windows_test looks for them."""
        return {what: number for what, number in self.losses().items() if what != "sampling overflow"}

    def check_that_few_are_lost(self, launched):
        """Around a rewritten kernel no others are recorded: who had to wait for too long beside one is counted as lost."""
        if "whatever came last" in self.lost():  # at its end a program is not held up for as long as that may take
            return self.check_in_time(False)
        lost = self.losses_of_launches()
        self.assertEqual(self.kernels() + lost.get("kernel", 0), launched, self.lost())
        # Where steps take twenty times as long also what nobody read out of rings that were full.
        self.check_in_time(lost.keys() <= {"kernel"})
        self.check_in_time(lost.get("kernel", 0) < 20)

    def roofline(self, *options, code=0):
        run = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", *options, self.capture)
        self.assertEqual(run.code, code, run.err)
        return json.loads(run.out)

    def lines_of_even(self):
        """Of the roofline by signature, by what it says of the arguments."""
        lines = self.roofline("--by", "signature")["signatures"]
        return {line.get("arguments"): line for line in lines if line["name"] == "even(float*, int)"}


class Values(Counters):
    # 10 SMs, kernels of 1000 ns: see the rule in README.md.
    def session(self, launches=LONG, **more):
        return self.synthetic(threads=1, launches=launches, step_ns=1000000, **more)

    def test_every_pass_is_read_of_each_kind_of_launch(self):
        run = self.counted(self.session())
        self.assertEqual(run.code, 0, run.err)
        read = {key: row for key, row in self.metrics().items() if row.get("Source", "exact") == "exact"}
        kernels = {name for name, _ in read}
        self.assertIn("even(float*, int)", kernels)
        for kernel in kernels:
            self.assertEqual(len([metric for name, metric in read if name == kernel]), 23, kernel)
        bytes_read = read["even(float*, int)", "dram__bytes_read.sum"]["Avg"]
        self.assertGreater(bytes_read, 0)
        self.assertEqual(read["even(float*, int)", "dram__bytes_write.sum"]["Avg"] * 2, bytes_read)
        fused = read["even(float*, int)", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]["Avg"]
        self.assertEqual(fused * 16, bytes_read)  # 4 w and 64 w
        report = self.roofline()
        self.assertGreater(report["flop_exact_share"], 0.99)
        row = next(k for k in report["kernels"] if k["name"] == "even(float*, int)")
        self.assertAlmostEqual(row["flops"] * row["avg_ns"] * 1e-9 / (2.75 * fused), 1, places=4)  # 2 x 4 w + 2 w + w

    def test_a_launch_without_a_record_names_the_launch_whose_time_it_has(self):
        run = self.counted(self.session())
        self.assertEqual(run.code, 0, run.err)
        kernels = {kernel["correlation"]: kernel for kernel in self.tables()["kernel"]}
        others = [kernel for kernel in kernels.values() if kernel["time_of"]]
        self.check_in_time(others)
        for kernel in others:
            own = kernels[kernel["time_of"]]
            self.assertEqual(own["time_of"], 0)
            self.assertEqual(own["shape"], kernel["shape"])
            self.assertLessEqual(kernel["duration"], own["duration"])

    @processes.timing
    def test_launches_whose_times_differ_are_told_apart_by_the_values_of_their_arguments(self):
        run = self.counted(self.session(launches=LONG, kernel_ns=10000, lengths=2), env={"REPLAY_ARGUMENTS": "2"})
        self.assertEqual(run.code, 0, run.err)
        lines = self.lines_of_even()
        whole = next(k for k in self.roofline()["kernels"] if k["name"] == "even(float*, int)")
        self.assertEqual(whole["launches"], sum(line["launches"] for line in lines.values()))
        early = lines.pop("unknown")  # nobody knew yet that they differ
        self.assertLess(early["launches"], 2500)
        self.assertEqual(len(lines), 2)
        for arguments, line in lines.items():
            self.assertEqual(len(arguments), 8)
            self.assertGreater(line["samples"], 0)
            self.assertGreater(line["flop_exact_share"], 0.99)
        # The same work in once and twice the time.
        rates = sorted(line["flops"] for line in lines.values())
        self.assertAlmostEqual(rates[1] / rates[0], 2, places=3)

    def test_calls_of_the_profiler_are_not_recorded_as_calls_of_the_program(self):
        launches = 3000
        run = self.counted(self.session(launches=launches, kernel_ns=10000, lengths=2), env={"REPLAY_ARGUMENTS": "2"},
                           flush_interval_ms="50", trace="cuda,nvtx,cuda-api")
        self.assertEqual(run.code, 0, run.err)
        self.assertGreater(len(self.lines_of_even()), 1)  # it has asked for the arguments of kernels
        calls = {row["Name"]: row["Num Calls"] for row in self.report("cuda_api_sum")}
        self.assertEqual(calls, {"cuLaunchKernel": launches})

    def test_launches_with_equal_times_share_a_signature_despite_different_arguments(self):
        for different in ("2", "0"):
            with self.subTest(different):
                run = self.counted(self.session(kernel_ns=10000), env={"REPLAY_ARGUMENTS": different}, force_overwrite="1")
                self.assertEqual(run.code, 0, run.err)
                line, = self.lines_of_even().values()
                # Where our thread gets no core for 2 ms while kernel records are off, a launch goes on: it is counted as lost.
                lost = int((re.search(r"([\d,]+) kernels?", self.lost()) or ["", "0"])[1].replace(",", ""))
                self.assertLessEqual(lost, LONG / 100, run.err)
                self.assertIn(LONG / 2 - line["launches"], range(lost + 1), self.lost() + run.err)
                self.assertGreater(line["samples"], 0)
                self.assertEqual(line["flop_exact_share"], 1)

    def test_launches_with_different_times_that_arguments_cannot_tell_apart_are_left_to_samples(self):
        # Times are known soon: until then nobody can tell that they differ.
        run = self.counted(self.session(launches=LONG, kernel_ns=100000, lengths=2), env={"REPLAY_ARGUMENTS": "0"}, flush_interval_ms="50")
        self.assertEqual(run.code, 0, run.err)
        lines = self.lines_of_even()
        self.assertEqual(lines["others"]["samples"], 0)
        self.assertGreater(lines["others"]["dram_bytes_per_second"], 0)
        self.assertEqual(len(lines), 2 + 32)  # before it was known, and after so many values

    def outcomes(self):
        """Launches that were read, that were not because the GPU was busy, and whose readings were dropped since something else ran."""
        readings = self.roofline()["readings"]
        return readings["launches_read"], readings["skipped_busy"], readings["missed"]

    def test_nearly_every_launch_is_read_in_mode_exact_and_others_are_counted(self):
        run = self.counted(self.session(launches=2000), metrics="exact,basic")
        self.assertEqual(run.code, 0, run.err)
        read, busy, disturbed = self.outcomes()
        samples = sum(self.metrics()[name, "dram__bytes_read.sum"]["Samples"] for name in PLAIN)
        self.check_that_nearly_every_is_read(samples, 2000)
        # Into a range that is dropped another launch may have come.
        self.assertAlmostEqual(samples + disturbed, sum(r["kernels"] >= 1 for r in self.ranges()), delta=3)
        self.assertAlmostEqual(read + busy + disturbed, 2000 + 1, delta=3)  # and a graph

    def test_mode_exact_reports_its_slowdown_after_two_seconds_and_how_to_limit_it(self):
        line = re.compile(r"^\[gpuprof\] --metrics exact reads every launch alone: the program takes about ([0-9.]+) times as long "
                          r"\((\d+) launches read in ([0-9.]+) s\)\. --launch-count, --kernel-name or --capture-range limit what is read$", re.M)
        run = self.counted(self.session(launches=3500), metrics="exact")
        self.assertEqual(run.code, 0, run.err)
        said, = line.findall(run.err)
        self.assertGreaterEqual(float(said[0]), 1)
        self.assertTrue(0 < int(said[1]) < 3500, said)
        self.assertGreaterEqual(float(said[2]), 2)
        shorter = self.counted(self.session(launches=20), metrics="exact", force_overwrite="1")
        self.assertEqual(line.findall(shorter.err), [])

    def test_a_graph_launch_is_read_as_one_workload(self):
        run = self.counted(self.session(launches=20, graphs=400, nodes=5), metrics="exact,basic")
        self.assertEqual(run.code, 0, run.err)
        in_ranges = [r["kernels"] for r in self.ranges()].count(5)
        graphs = [row for (name, metric), row in self.metrics().items() if name.startswith("[CUDA graph") and metric == "dram__bytes_read.sum"]
        self.assertEqual(len(graphs), 1)
        self.check_that_nearly_every_is_read(graphs[0]["Samples"], 400)
        disturbed = self.outcomes()[2]  # of 20 other launches too
        self.assertLessEqual(graphs[0]["Samples"], in_ranges)
        self.assertGreaterEqual(graphs[0]["Samples"] + disturbed, in_ranges)
        # The capture says which readings are of a whole graph.
        tables = self.tables()
        of_graphs = {kernel["correlation"] for kernel in tables["kernel"] if kernel["graph"]}
        for launch in tables["read_launch"]:
            self.assertEqual(launch["whole_graph"], launch["correlation"] in of_graphs)

    def test_no_counters_are_read_by_default(self):
        run = self.profile(self.session(launches=50), env={"REPLAY_COUNTER_LOG": str(self.log)})
        self.assertEqual(run.code, 0, run.err)
        self.assertFalse(self.log.exists())

    def test_launches_of_all_threads_are_in_the_trace_or_counted_as_lost(self):
        run = self.counted(self.synthetic(threads=THREADS, launches=2 * LONG, step_ns=1000000, graphs=0))
        self.assertEqual(run.code, 0, run.err)
        self.check_in_time(self.ranges())
        self.check_that_few_are_lost(THREADS * 2 * LONG)

    def test_launches_of_other_threads_wait_while_cupti_is_slow(self):
        run = self.counted(self.synthetic(threads=THREADS, launches=2 * LONG, step_ns=1000000, graphs=0), env={"REPLAY_PUSH_US": "20000"})
        self.assertEqual(run.code, 0, run.err)
        self.check_in_time(self.ranges())
        self.check_that_few_are_lost(THREADS * 2 * LONG)


class Groups(Counters):
    """One configuration after another: rewritten kernels, counters of the hardware, operations of the tensor path."""

    def setUp(self):
        super().setUp()
        if IS_SLOWED:
            self.skipTest("a session is too short for all configurations where each step takes twenty times as long")

    def read(self, launches=LONG, **env):
        # Every fourth launch is a product, of which alone the tensor passes tell something.
        run = self.counted(self.synthetic(threads=1, launches=launches, step_ns=1000000, products=1, graphs=0, copies=0), env=env)
        self.assertEqual(run.code, 0, run.err)
        self.check_in_time(self.kernels() == launches)
        self.check_that_few_are_lost(launches)
        return run

    def cycles(self):
        """What each start of the first pass began: (whether it rewrites kernels, {pass: names of its ranges})."""
        found = []
        for line in self.log.read_text().splitlines():
            words = dict(word.split("=") for word in line.split() if "=" in word)
            if line.startswith("start") and words["pass"] == "0":
                found.append((words["rewrites"] == "1", {}))
            if line.startswith("start"):
                found[-1][1][int(words["pass"])] = []
            elif line.startswith("range"):
                found[-1][1][int(words["pass"])].append(words["name"])
        return found

    @processes.timing  # what a pass reads depends on the launches that came until it began
    def test_groups_that_sampling_cannot_count_are_read_first_and_tensor_operations_last(self):
        self.read(REPLAY_NO_CODE="1")
        first, second, third = self.cycles()[:3]
        self.assertTrue(first[0])
        self.assertEqual({number: sorted(names) for number, names in first[1].items()}, {0: ["0", "1", "2"]})
        self.assertFalse(second[0])
        self.assertEqual({number: sorted(names) for number, names in second[1].items()}, {0: ["0", "1", "2"]})
        self.assertFalse(third[0])
        # Of the product alone. One path of six is counted along with the hardware's counters.
        self.assertEqual(third[1], {number: ["0"] for number in range(5)})

    def test_tensor_operations_known_from_the_machine_code_are_not_read(self):
        self.read()
        self.assertEqual([list(passes) for _, passes in self.cycles()], [[0]] * len(self.cycles()))
        counted = self.metrics()[PRODUCT, "sm__ops_path_tensor_src_bf16_dst_fp32.sum"]["Avg"]
        self.assertEqual(counted, self.metrics()[PRODUCT, "dram__bytes_read.sum"]["Avg"] * 64)  # 4096 w and 64 w

    @processes.timing  # all groups must be read within the seconds that are played
    def test_operations_that_no_kernel_executed_are_zero_and_others_are_counted(self):
        self.read(REPLAY_NO_CODE="1")
        read = {key: row for key, row in self.metrics().items() if row.get("Source", "exact") == "exact"}
        tensor = {metric for _, metric in read if metric.startswith("sm__ops_path_tensor_")}
        self.assertEqual(len(tensor), 6)
        for kernel in (*PLAIN, PRODUCT):
            self.assertEqual(len([metric for name, metric in read if name == kernel]), 23, kernel)
        for kernel in PLAIN:
            # 4 w and 64 w, of two groups.
            self.assertEqual(read[kernel, FUSED]["Avg"] * 16, read[kernel, "dram__bytes_read.sum"]["Avg"])
            self.assertEqual([read[kernel, metric]["Avg"] for metric in tensor], 6 * [0])
        counted = {metric for metric in tensor if read[PRODUCT, metric]["Avg"] > 0}
        self.assertEqual(counted, {"sm__ops_path_tensor_src_bf16_dst_fp32.sum"})
        # None on CUDA cores, which is no reason to take it for not rewritten.
        self.assertEqual(read[PRODUCT, FUSED]["Avg"], 0)
        self.assertEqual(self.roofline()["flop_exact_share"], 1)


class Refused(Counters):
    """The driver refuses calls whose parameters nobody may read, between others (tests/replay/player/refused_calls.hpp)."""

    def check(self, launches, **settings):
        session = self.synthetic(threads=1, launches=launches, step_ns=1000000, kernel_ns=10000, lengths=2, graphs=0)
        run = self.counted(session, env={"REPLAY_ARGUMENTS": "2", "REPLAY_REFUSED": "3"}, **settings)
        self.assertEqual(run.code, 0, run.err)
        self.check_that_few_are_lost(launches)

    def test_failed_calls_are_never_read_in_mode_auto(self):
        self.check(LONG, flush_interval_ms="50")
        # Launches with two values of an argument are still told apart, and only those are.
        lines = self.lines_of_even()
        self.assertEqual(len(lines), 3)
        self.assertIn("unknown", lines)

    def test_failed_calls_are_never_read_in_mode_exact(self):
        self.check(1000, metrics="exact,basic")

    def test_failed_calls_are_never_read_in_mode_sampled(self):
        self.check(1000, metrics="sampled")


class LeftOut(Counters):
    def test_collective_launches_are_never_read_nor_cooperative_ones_beside_them(self):
        run = self.counted(self.synthetic(threads=1, launches=1500, step_ns=1000000, cooperative=20, collectives=20, captured=20),
                           metrics="exact,basic")
        self.assertEqual(run.code, 0, run.err)
        names = {name for name, _ in self.metrics()}
        self.assertTrue(names)
        # A cooperative kernel may wait for other GPUs where a collective was seen.
        self.assertFalse([n for n in names if "nccl" in n or "together" in n])

    def test_cooperative_launches_are_read_if_no_collective_was_seen(self):
        run = self.counted(self.synthetic(threads=1, launches=1500, step_ns=1000000, cooperative=20), metrics="exact,basic")
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue([n for n, _ in self.metrics() if "together" in n])

    def test_graphs_are_not_read_if_a_collective_was_seen(self):
        run = self.counted(self.synthetic(threads=1, launches=1500, step_ns=1000000, collectives=20, graphs=10, nodes=5), metrics="exact,basic")
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue(self.ranges())
        self.assertNotIn(5, [r["kernels"] for r in self.ranges()])

    def test_reading_stays_within_the_overhead_budget(self):
        run = self.counted(self.synthetic(threads=1, launches=3000, step_ns=1000000),
                           env={"REPLAY_PUSH_US": "200000", "REPLAY_POP_US": "200000"}, overhead_budget="1")
        self.assertEqual(run.code, 0, run.err)
        # A second may be spent at once: some pushes and pops of 0.2 s, and the last that was begun.
        self.assertLessEqual(len(self.ranges()), 8)


class Refusals(Counters):
    def refused(self, env, line, **settings):
        run = self.counted(self.synthetic(threads=2, launches=1000, step_ns=1000000, graphs=0), env=env, **settings)
        self.assertEqual(run.code, 0, run.err)
        said = [text for text in run.err.splitlines() if line in text]
        self.assertEqual(len(said), 1, run.err)
        self.assertEqual(len([text for text in run.err.splitlines() if "are off" in text or "is off" in text]), 1, run.err)
        self.assertEqual(self.kernels(), 2000)
        self.assertEqual(self.ranges(), [])

    def test_missing_rights_are_reported_once_for_both_engines(self):
        self.refused({"REPLAY_FAIL": "cuptiProfilerGetCounterAvailability=35,cuptiPmSamplingGetCounterAvailability=35"}, "NVreg_RestrictProfilingToAdminUsers=0")

    def test_counters_held_by_another_tool_are_reported(self):
        self.refused({"REPLAY_FAIL": "cuptiRangeProfilerStart=26"}, "another tool holds them", metrics="exact")

    def test_a_virtual_gpu_is_reported_once_for_both_engines(self):
        self.refused({"REPLAY_COUNTERS_UNSUPPORTED": "vGpu"}, "virtual GPU")

    def test_an_unknown_metric_is_reported(self):
        run = self.counted(self.synthetic(threads=1, launches=400, step_ns=1000000), metrics="exact,dram__bytes_reed.sum")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("dram__bytes_reed.sum is not read", run.err)


class NeverIdle(Counters):
    """Programs that a reading could stop for ever: it has to do without them."""

    def finished(self, session, mode, kernels, *options, within_s=20, **settings):
        began = time.monotonic()
        run = self.counted(session, *options, metrics=mode, force_overwrite="1", **settings)
        self.assertEqual(run.code, 0, run.err)
        self.check_in_time(time.monotonic() - began < within_s)
        self.check_that_few_are_lost(kernels)
        self.check_in_time(not self.losses_of_launches())

    def test_launches_do_not_wait_beside_a_long_kernel_and_all_kernels_are_recorded(self):
        # 1.6 s of launches on two streams. A kernel runs from 0.4 to 3.4 s, and time is sampled before any launch is read.
        session = self.synthetic(threads=2, launches=1600, step_ns=1000000, graphs=0, copies=0, long_ns=3000000000)
        for mode in ("sampled", "auto", "exact,basic"):
            with self.subTest(mode):
                self.finished(session, mode, 2 * 1600 + 1)
                if mode == "exact,basic":
                    self.check_in_time(self.ranges())  # before
                else:
                    self.assertEqual(self.ranges(), [])
                self.log.unlink(True)

    def test_a_kernel_longer_than_the_time_its_thread_waits_is_not_read(self):
        session = self.synthetic(threads=1, launches=300, step_ns=6000000, graphs=0, copies=0, kernel_ns=4000000)
        for mode in ("auto", "exact,basic"):
            with self.subTest(mode):
                self.finished(session, mode, 300)
                read = [row["Samples"] for row in self.metrics().values() if row.get("Source", "exact") == "exact"]
                self.assertLess(max(read, default=0), 15)  # of 150: where the reader came late, and found that it had ended
                self.log.unlink(missing_ok=True)

    def test_counters_are_not_switched_during_a_stream_capture_of_another_thread(self):
        # Captures of 6 ms, with pauses of 9 ms between them, all the time.
        session = self.synthetic(threads=1, launches=LONG, step_ns=1000000, graphs=0, copies=0, captures=300)
        for mode in ("sampled", "auto", "exact,basic"):
            with self.subTest(mode):
                self.finished(session, mode, LONG)
                if mode == "sampled":
                    self.assertEqual(self.ranges(), [])
                else:
                    self.check_in_time(self.ranges())
                self.log.unlink(missing_ok=True)

    def test_a_context_may_be_destroyed_while_a_launch_of_another_thread_is_read_in_it(self):
        session = self.synthetic(threads=2, launches=4000, step_ns=200000, graphs=0, copies=0)
        for share in ("0.3", "0.5", "0.7"):
            with self.subTest(share):
                self.finished(session, "exact,basic", 2 * 4000, "--exit-with", "device-reset", "--exit-at", share)
                self.check_in_time(self.ranges())
                self.log.unlink(True)


class Endings(Counters):
    def test_no_ending_breaks_a_contract_or_hangs(self):
        # Readings are slow, so that one is under way.
        slow = {"REPLAY_PUSH_US": "30000", "REPLAY_NO_CODE": "1"}
        session = self.synthetic(threads=2, launches=1200, step_ns=1000000, products=1)
        for mode, env in (("auto", slow), ("exact,basic", {})):
            for how in ("normal", "_exit", "kill", "throw", "abort", "fork", "device-reset", "in-flight"):
                with self.subTest(mode + " " + how):
                    # The file is written every 50 ms: what is killed leaves most of it.
                    run = self.counted(session, "--exit-with", how, "--exit-at", "0.7", env=env, metrics=mode,
                                       force_overwrite="1", flush_interval_ms="50")
                    self.assertNotIn("hangs", run.err)
                    self.assertGreater(self.kernels(), 0)
                    if mode != "auto":  # which a busy machine may not get to
                        self.check_in_time(self.ranges())
                    self.log.unlink(True)


if __name__ == "__main__":
    processes.main()

# SPDX-License-Identifier: Apache-2.0
"""The shipped library sampling whole GPUs in windows of time, in real processes: alone, alternately with launches, refusals, endings."""
import concurrent.futures
import json
import os
import pathlib
import re
import time
import uuid

import processes
from counters_test import FUSED, LONG, Counters


class Windows(Counters):
    def log_lines(self, first):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.startswith(first)]

    def cost_ms(self):
        """What the report says that sampling has cost."""
        run = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", self.capture)
        return json.loads(run.out)["cost"]["cost.sampling_ns"] / 1e6

    def session(self, launches=2000, **more):
        return self.synthetic(**{**dict(threads=1, launches=launches, step_ns=1000000, kernel_ns=100000, graphs=0), **more})


class Sampled(Windows):
    LEAST_WINDOWS = 5  # in a burst

    @processes.timing
    def test_no_launch_is_held_up(self):
        run = self.counted(self.session(), metrics="sampled")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.ranges(), [])
        self.assertEqual(self.kernels(), 2000)
        self.check_in_time(not self.losses())
        self.check_in_time(len(self.log_lines("sampling start")) > 10)  # 90 % of the time may be spent
        self.assertEqual(len(self.log_lines("sampling start")), len(self.log_lines("sampling stop")))

    def test_samples_add_up_to_the_counts_of_the_kernels(self):
        run = self.counted(self.session(), metrics="sampled")
        self.assertEqual(run.code, 0, run.err)
        read = self.metrics()
        copied = read["even(float*, int)", "dram__bytes_read.sum"]
        self.assertIn(copied["Source"], ("sampled", "fitted"))
        exact = self.counted(self.session(launches=400), metrics="exact,basic", force_overwrite="1")
        self.assertEqual(exact.code, 0, exact.err)
        self.assertAlmostEqual(copied["Avg"] / self.metrics()["even(float*, int)", "dram__bytes_read.sum"]["Avg"], 1, places=3)

    def test_matrix_products_get_flop_from_samples_and_their_machine_code(self):
        run = self.counted(self.session(products=1), metrics="sampled")
        self.assertEqual(run.code, 0, run.err)
        report = self.roofline()
        product = next(k for k in report["kernels"] if k["name"] == "gemm_bf16(float*, int)")
        self.assertEqual(product["flop_source"], "sampled")  # all of it: there is nothing but tensor instructions
        per_launch = product["flops"] * product["avg_ns"] * 1e-9
        read = product["dram_bytes_per_second"] * product["avg_ns"] * 1e-9 * 64 / 96
        self.assertAlmostEqual(per_launch / (read * 64), 1, delta=0.02)  # 4096 w and 64 w
        self.assertEqual(product["flops_by_precision"]["fp32"], 0)
        self.assertGreater(product["flops_error"], 0)
        other = next(k for k in report["kernels"] if k["name"] == "even(float*, int)")
        self.assertEqual(other["flop_source"], "not measured")  # FP32 that nobody counted
        self.assertIsNone(other["flops"])
        self.assertEqual(other["flops_by_precision"]["tensor_bf16"], 0)
        self.assertAlmostEqual(report["flop_known_share"], product["time_share"], places=4)

    @processes.timing
    def test_windows_keep_to_the_budget(self):
        run = self.counted(self.session(launches=4000, kernel_ns=1000000), metrics="sampled", overhead_budget="1")
        self.assertEqual(run.code, 0, run.err)
        # 100 ms at once and 40 of 4 s; with the pause of 20 ms after it a window of 7 costs 1.4. Without a limit there are 147.
        self.assertLessEqual(len(self.log_lines("sampling start")), 105)
        self.check_in_time(len(self.log_lines("sampling start")) >= self.LEAST_WINDOWS)
        self.check_in_time(len(self.log_lines("sampling enable")) in (1, 2))  # the second from 4.3 s on
        self.check_in_time(self.cost_ms() <= 145)
        self.assertGreater(self.cost_ms(), len(self.log_lines("sampling start")) * 7 * 0.05)  # what lies between windows costs, too

    @processes.timing
    def test_graphs_are_recorded_by_nodes_in_windows_and_not_between_them(self):
        graphs, nodes = 5000, 40
        run = self.counted(self.synthetic(threads=1, launches=0, copies=0, graphs=graphs, nodes=nodes, kernel_ns=10000, step_ns=1000000),
                           metrics="sampled", overhead_budget="1", cuda_graph_trace="auto", env={"REPLAY_NODES_US": "300", "REPLAY_DECODE_US": "100"})
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), graphs * nodes)
        seen = self.roofline()["samples_in_time"]
        self.check_in_time(seen["windows"] >= self.LEAST_WINDOWS)
        # Samples in which a graph has the times of another launch are of no use.
        self.check_in_time(seen["intervals_not_recorded"] < 0.1 * seen["intervals"])
        by_nodes = re.search(r"the nodes of ([\d,]+) of 5,000 launches", "\n".join(self.roofline()["overview"]))
        self.check_in_time(int(by_nodes[1].replace(",", "")) < 0.4 * graphs)

    @processes.timing
    def test_windows_have_as_many_samples_as_fit_into_one_call_of_the_decoder(self):
        run = self.counted(self.session(kernel_ns=1000000), metrics="sampled", overhead_budget="1")
        self.assertEqual(run.code, 0, run.err)
        counted = json.loads(self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", self.capture).out)["readings"]
        self.assertGreater(counted["sampling_windows"], 2)
        # 7.2 ms of 20 us, also of the first, whose setup takes longer than a window. The last may have been cut.
        self.check_in_time(320 <= counted["samples"] / counted["sampling_windows"] <= 512)

    @processes.timing
    def test_the_cpu_time_of_sampling_is_a_second_and_a_half_at_first_and_5_percent_of_a_core(self):
        def seconds(session, budget):
            run = self.counted(session, metrics="sampled", overhead_budget=budget, env={"REPLAY_DECODE_US": "100"}, force_overwrite="1")
            self.assertEqual(run.code, 0, run.err)
            report = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", self.capture)
            return json.loads(report.out)["cost"]["cost.counter_cpu_ns"] / 1e9
        bounded = seconds(self.session(launches=9000), "1")
        self.assertLess(bounded, 1.75)  # and setting up and releasing, once
        self.check_in_time(bounded > 0.2)
        # With 20 % a whole core is allowed, so windows follow each other after short pauses.
        self.check_in_time(seconds(self.session(launches=9000), "20") > 2)

    @processes.timing
    def test_counters_are_released_while_the_budget_is_spent(self):
        session = self.session(launches=8000, kernel_ns=1000000)
        run = self.counted(session, metrics="sampled", overhead_budget="1")
        self.assertEqual(run.code, 0, run.err)
        # The first burst lasts for 2.5 s. Then one begins whenever the 18 ms that it takes are earned, at 10 ms a second.
        bursts = len(self.log_lines("sampling enable"))
        self.assertEqual(len(self.log_lines("sampling disable")), bursts)
        self.check_in_time(2 <= bursts <= 6)
        if bursts < 2:
            return
        report = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", self.capture)
        lost = json.loads(report.out)["cost"]
        self.check_in_time("cost.counters_lost_error_ns" in lost)  # the second burst has a second without counters on both sides
        if "cost.counters_lost_error_ns" in lost:  # the player launches once a millisecond, whoever counts
            self.check_in_time(lost["cost.counters_lost_ns"] < 3 * lost["cost.counters_lost_error_ns"] + 200_000_000)
        lines = [line.split()[1] for line in self.log_lines("sampling")]
        first, second = [i for i, word in enumerate(lines) if word == "enable"][:2]
        self.assertEqual(lines[second - 1], "disable")
        self.check_in_time(lines[first:second].count("start") >= self.LEAST_WINDOWS)

    @processes.timing
    def test_a_run_of_six_seconds_says_what_it_lost_and_one_of_a_second_that_it_cannot(self):
        for launches, is_known in (6000, True), (1000, False):
            with self.subTest(launches):
                run = self.counted(self.session(launches=launches, kernel_ns=900000), metrics="sampled", overhead_budget="1", force_overwrite="1")
                self.assertEqual(run.code, 0, run.err)
                report = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", self.capture)
                line = next(line for line in (report.out + report.err).splitlines() if line.startswith("cost: "))
                self.check_in_time(("by the rate of its launches it lost" in line) == is_known)
                self.check_in_time(("what it lost to counters cannot be told in a run of" in line) != is_known)

    @processes.timing
    def test_a_gpu_that_works_little_is_sampled_at_the_lowest_price(self):
        run = self.counted(self.session(launches=4000), metrics="sampled", overhead_budget="1")
        self.assertEqual(run.code, 0, run.err)
        # A tenth of the time: a fifth of the price, which is the least, and so no end of windows in 4 s.
        self.check_in_time(self.cost_ms() <= 4200 * 0.05 * 0.2 + 10)
        self.check_in_time(len(self.log_lines("sampling start")) >= 42)

    @processes.timing
    def test_an_idle_gpu_is_hardly_sampled(self):
        run = self.counted(self.session(launches=40, step_ns=100000000), metrics="sampled", overhead_budget="20")
        self.assertEqual(run.code, 0, run.err)
        # 0.1 % of the time: a window at first, and then one for every ten launches.
        self.assertLessEqual(len(self.log_lines("sampling start")), 6)
        self.check_in_time(self.log_lines("sampling start"))

    @processes.timing
    def test_a_generous_budget_enables_sampling_only_once(self):
        run = self.counted(self.session(launches=3000), metrics="sampled", overhead_budget="20")
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue(self.log_lines("sampling enable"))
        # Where each step takes twenty times as long the GPU is idle for whole windows, and sampling is released.
        self.check_in_time(len(self.log_lines("sampling enable")) == 1)
        self.check_in_time(len(self.log_lines("sampling start")) > 20)

    def test_sampling_uses_the_interval_of_the_option(self):
        run = self.counted(self.session(), metrics="sampled", pm_sampling_interval="100us")
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue(all("interval=100000" in line for line in self.log_lines("sampling start")))

    @processes.timing
    def test_sampling_runs_only_inside_captures(self):
        run = self.counted(self.session(profiler_calls=1), metrics="sampled", capture_range="cudaProfilerApi")
        self.assertEqual(run.code, 0, run.err)
        self.assertLessEqual(self.kernels(), 600)
        self.check_in_time(len(self.log_lines("sampling start")) > 1)
        self.assertLess(len(self.log_lines("sampling start")), 30)  # half a second of two
        self.assertEqual(len(self.log_lines("sampling enable")), len(self.log_lines("sampling disable")))  # CUPTI is left after it


class Kept(Windows):
    @processes.timing
    def test_the_counter_availability_is_asked_once_for_all_processes(self):
        session = self.session(launches=LONG)
        self.assertEqual(self.counted(session, metrics="auto").code, 0)
        kept = self.folder / "cache/gpuprof/counters"
        self.assertEqual(len(list(kept.iterdir())), 2)  # of each engine
        unanswered = {"REPLAY_FAIL": "cuptiProfilerGetCounterAvailability=999,cuptiPmSamplingGetCounterAvailability=999"}
        self.log.unlink(True)
        run = self.counted(session, metrics="auto", force_overwrite="1", env=unanswered)
        self.assertEqual((run.code, len(list(kept.iterdir()))), (0, 2))
        self.assertNotIn("are off", run.err)
        self.check_in_time(self.ranges())
        self.check_in_time(self.log_lines("sampling start"))

    @processes.timing
    def test_a_cache_folder_that_cannot_be_written_changes_nothing(self):
        (self.folder / "cache").write_text("no folder")
        run = self.counted(self.session(launches=800), metrics="sampled")
        self.assertEqual(run.code, 0, run.err)
        self.assertNotIn("cache", run.err)
        self.check_in_time(self.log_lines("sampling start"))


class Processes(Windows):
    def test_one_of_two_processes_samples_a_gpu_and_the_other_names_that_process(self):
        second = {"GPUPROF_OUTPUT": str(self.folder / "second"), "REPLAY_COUNTER_LOG": str(self.folder / "second_log")}
        sessions = self.session(launches=4000), self.session(launches=300)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            holder = pool.submit(self.counted, sessions[0], metrics="sampled", overhead_budget="90")
            while not self.log_lines("sampling start") and not holder.done():
                time.sleep(0.01)
            refused = self.counted(sessions[1], metrics="sampled", env=second)
        self.assertEqual((holder.result().code, refused.code), (0, 0))
        self.assertRegex(refused.err, r"sampling in time is off: gpuprof in process \d+ \(gpuprof-play\) reads the counters of this GPU")
        self.assertFalse((self.folder / "second_log").exists())
        self.assertEqual(holder.result().err.count("reads the counters"), 0)


class Ranks(Windows):
    """What a rank of a job does by the clock of the day: turns are of a second, the first rank has every other one."""

    @processes.timing
    def test_a_rank_reads_launches_only_in_its_own_turns(self):
        run = self.counted(self.session(launches=9000), env={"RANK": "1", "WORLD_SIZE": "3"})
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue((self.folder / "out.rank1.gpuprof").exists(), os.listdir(self.folder))
        read = [r["at"] / 1e9 for r in self.ranges()]
        self.check_in_time(read)
        # A round that began in its turn may last 0.65 s longer, and more where the machine is busy.
        foreign = [at for at in read if int(at) % 4 not in (1, 2, *((3,) if self.was_slowed() else ()))]
        self.assertEqual(foreign, [])

    def rank(self, session, number):
        """Of two, on a GPU of its own."""
        gpu = "GPU-" + str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.folder}/{number}"))
        self.addCleanup(pathlib.Path(f"/tmp/gpuprof-{os.geteuid()}-{gpu}.lock").unlink, True)
        return self.counted(session, env={
            "RANK": str(number), "WORLD_SIZE": "2", "REPLAY_GPU_UUID": gpu, "REPLAY_COUNTER_LOG": str(self.folder / f"log{number}")})

    @processes.timing
    def test_a_rank_does_not_read_again_what_another_rank_has_read(self):
        session = self.session(launches=9000)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for run in pool.map(lambda number: self.rank(session, number), (0, 1)):
                self.assertEqual(run.code, 0, run.err)
        captures = [self.folder / f"out.rank{number}.gpuprof" for number in (0, 1)]
        read = [{(row["Name"], row["Metric"]) for row in self.report("gpu_metrics_sum", capture=capture) if row.get("Source", "exact") == "exact"}
                for capture in captures]
        self.check_in_time(read[0] | read[1])
        self.check_in_time(not read[0] & read[1])
        for capture in captures:
            report = json.loads(self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", capture).out)
            self.check_in_time(report["flop_exact_share"] > 0.99)
        self.assertEqual([f for f in os.listdir(self.folder) if f.endswith(".readings")], [])


class Turns(Windows):
    @processes.timing
    def test_counters_are_used_even_if_their_setup_took_long(self):
        run = self.counted(self.session(launches=5000), env={"REPLAY_START_MS": "600"}, overhead_budget="8")
        self.assertEqual(run.code, 0, run.err)
        self.check_in_time(self.ranges())

    @processes.timing
    def test_launches_and_windows_take_turns(self):
        run = self.counted(self.session(launches=LONG), metrics="auto")
        self.assertEqual(run.code, 0, run.err)
        self.check_that_few_are_lost(LONG)
        self.check_in_time(self.ranges())
        self.check_in_time(self.log_lines("sampling start"))
        # Exact figures alone have no column that says so.
        self.check_in_time(self.metrics().get(("even(float*, int)", "dram__bytes_read.sum"), {}).get("Source", "exact") == "exact")

    @processes.timing
    def test_a_run_of_three_seconds_is_read_only_with_the_set_explain(self):
        for name in ("roofline", "explain"):
            run = self.counted(self.session(launches=3000), metrics="auto", set=name, overhead_budget="1", force_overwrite="1")
            self.assertEqual(run.code, 0, run.err)
            with self.subTest(name):
                self.check_in_time(bool(self.ranges()) == (name == "explain"))
                said = "no launch was read: with this --overhead-budget, that begins after 20 s. --set explain reads from the start"
                notes = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "cuda_gpu_kern_sum", self.capture).out
                self.assertEqual(said in notes, name == "roofline" and not self.ranges())
        # Both groups: rewritten kernels, and the hardware's counters.
        read = {metric for (_, metric), row in self.metrics().items() if row.get("Source", "exact") == "exact"}
        self.check_in_time({FUSED, "dram__bytes_read.sum"} <= read)

    @processes.timing
    def test_collectives_are_sampled_because_they_cannot_be_read(self):
        run = self.counted(self.session(launches=500, collectives=2000), metrics="auto")
        self.assertEqual(run.code, 0, run.err)
        found = [row for (name, metric), row in self.metrics().items() if "nccl" in name and metric == "dram__bytes_read.sum"]
        self.check_in_time(found)
        if not found:
            return
        self.assertEqual(len(found), 1)
        self.assertIn(found[0]["Source"], ("sampled", "fitted"))
        of = {metric: row for (name, metric), row in self.metrics().items() if "nccl" in name}
        self.assertAlmostEqual(of["dram__bytes_read.sum"]["Avg"] / of["dram__bytes_write.sum"]["Avg"], 2, places=2)
        self.assertGreater(of["dram__bytes_read.sum"]["Error"], 0)

    @processes.timing
    def test_launches_of_all_threads_are_in_the_trace_or_counted_as_lost(self):
        run = self.counted(self.session(threads=4, launches=LONG, step_ns=1000000, kernel_ns=10000), metrics="auto")
        self.assertEqual(run.code, 0, run.err)
        self.check_that_few_are_lost(4 * LONG)


class Begins(Windows):
    @processes.timing
    def test_a_capture_that_began_before_cuda_has_readings_and_samples(self):
        run = self.counted(self.session(launches=LONG), beside=[processes.path("BUILT_EARLY_START")], metrics="auto")
        self.assertEqual(run.code, 0, run.err)
        self.check_that_few_are_lost(LONG)
        self.check_in_time(self.ranges())
        self.check_in_time(self.log_lines("sampling start"))


class Refusals(Windows):
    def refused(self, env, words, metrics="sampled"):
        run = self.counted(self.session(launches=1000), env=env, metrics=metrics)
        self.assertEqual(run.code, 0, run.err)
        # One reason that keeps both engines from counting is said once.
        said = [text for text in run.err.splitlines() if "sampling in time is off" in text or "counters are off" in text]
        self.assertEqual(len(said), 1, run.err)
        self.assertIn(words, said[0])
        self.assertEqual(self.kernels() + self.losses().get("kernel", 0), 1000)
        self.check_in_time(self.kernels() == 1000)

    def test_missing_rights_are_reported(self):
        self.refused({"REPLAY_FAIL": "cuptiPmSamplingEnable=35"}, "NVreg_RestrictProfilingToAdminUsers=0")
        run = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", self.capture)
        self.assertEqual(run.code, 1)
        self.assertRegex(run.err, "holds no hardware counters: they were asked for, .*gpuprof status says whether they can be read here")

    def test_counters_held_by_another_tool_are_reported(self):
        self.refused({"REPLAY_FAIL": "cuptiPmSamplingStart=26"}, "another tool holds them")

    def test_a_virtual_gpu_is_reported(self):
        self.refused({"REPLAY_COUNTERS_UNSUPPORTED": "vGpu"}, "virtual GPU")

    @processes.timing
    def test_launches_are_read_if_sampling_is_impossible(self):
        self.refused({"REPLAY_FAIL": "cuptiPmSamplingEnable=999"}, "GPU 0", metrics="auto")
        self.check_in_time(self.ranges())

    def test_a_failure_in_the_middle_of_a_window_is_reported_once(self):
        self.refused({"REPLAY_FAIL": "cuptiPmSamplingDecodeData:3=999"}, "cuptiPmSamplingDecodeData")

    def test_an_overflow_of_the_sampling_buffer_is_counted_as_lost(self):
        run = self.counted(self.session(), env={"REPLAY_SAMPLING_OVERFLOW": "5"}, metrics="sampled")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("sampling overflows", self.lost())


    @processes.timing
    def test_a_sample_that_covers_several_intervals_is_counted_as_lost(self):
        run = self.counted(self.session(launches=4000), env={"REPLAY_LONG_SAMPLE": "2"}, metrics="sampled", pm_sampling_interval="100us")
        self.assertEqual(run.code, 0, run.err)
        self.check_in_time("sampling overflows" in self.lost())
        lengths = {row["duration"] for row in self.tables()["sample"]}
        self.assertLessEqual(max(lengths, default=0), 200000)


class Endings(Windows):
    def test_a_cupti_that_has_shut_itself_down_is_not_called_again(self):
        for mode in ("sampled", "auto"):
            with self.subTest(mode):
                run = self.counted(self.session(), env={"REPLAY_FATAL_AFTER": "400"}, metrics=mode, force_overwrite="1")
                self.assertEqual(run.code, 0, run.err)
                self.assertIn("CUPTI has shut itself down", run.err)
                after = run.err[run.err.index("CUPTI has shut itself down"):]
                self.assertNotIn("is off", after)  # whatever was asked would have been refused
                self.log.unlink(True)

    def test_a_program_that_ends_while_counters_are_planned(self):
        for mode in ("sampled", "auto"):
            with self.subTest(mode):
                run = self.counted(self.session(launches=300), env={"REPLAY_PLAN_US": "20000"}, metrics=mode, force_overwrite="1")
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(self.kernels(), 300)

    @processes.timing
    def test_no_ending_breaks_a_contract_or_hangs(self):
        for mode in ("sampled", "auto"):
            for how in ("normal", "_exit", "kill", "throw", "abort", "fork", "device-reset", "in-flight"):
                with self.subTest(mode + " " + how):
                    run = self.counted(self.session(launches=1200, threads=2), "--exit-with", how, "--exit-at", "0.7", metrics=mode, force_overwrite="1",
                                       flush_interval_ms="50")
                    self.assertNotIn("hangs", run.err)
                    # Sudden ends leave what was written by then; others write the rest.
                    check = self.check_in_time if how in ("_exit", "kill", "throw", "abort") else self.assertTrue
                    check(self.kernels() > 0)


if __name__ == "__main__":
    processes.main()

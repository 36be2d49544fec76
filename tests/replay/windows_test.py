"""The shipped library sampling whole GPUs in windows of time, in real processes: alone, by turns with launches, refusals, endings."""
import os
import re

import processes
from counters_test import Counters


class Windows(Counters):
    def log_lines(self, first):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if line.startswith(first)]

    def cost_ms(self):
        """What the report says that sampling has cost."""
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "gpu_metrics_sum", self.capture)
        line = next(line for line in run.out.splitlines() if line.startswith("cost: "))
        return float(re.search(r"sampling ([0-9.]+) ms", line).group(1))

    def session(self, launches=2000, **more):
        return self.synthetic(**{**dict(threads=1, launches=launches, step_ns=1000000, kernel_ns=100000, graphs=0), **more})


class Sampled(Windows):
    # In a burst: what is held is paid for by its time, and decoding takes several times as long under sanitizers.
    LEAST_WINDOWS = 2 if os.environ.get("BUILT_PRELOAD_FIRST") else 5

    def test_no_launch_is_held_up(self):
        run = self.counted(self.session(), metrics="sampled")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.ranges(), [])
        self.assertEqual(self.kernels(), 2000)
        self.assertEqual(self.lost(), "lost: nothing")
        self.assertGreater(len(self.log_lines("sampling start")), 10)  # 90 % of the time may be spent
        self.assertEqual(len(self.log_lines("sampling start")), len(self.log_lines("sampling stop")))

    def test_samples_add_up_to_what_the_kernels_count(self):
        run = self.counted(self.session(), metrics="sampled")
        self.assertEqual(run.code, 0, run.err)
        read = self.metrics()
        copied = read["even(float*, int)", "dram__bytes_read.sum"]
        self.assertIn(copied["Source"], ("sampled", "fitted"))
        exact = self.counted(self.session(launches=40), metrics="exact,basic", force_overwrite="1")
        self.assertEqual(exact.code, 0, exact.err)
        self.assertAlmostEqual(copied["Avg"] / self.metrics()["even(float*, int)", "dram__bytes_read.sum"]["Avg"], 1, places=3)

    def test_windows_keep_to_the_budget(self):
        run = self.counted(self.session(launches=3000), metrics="sampled", overhead_budget="1")
        self.assertEqual(run.code, 0, run.err)
        # 31 ms at once, which 3 s and 1 % do not add to; with the pause of 20 ms after it a window of 50 costs 3.5.
        self.assertLessEqual(len(self.log_lines("sampling start")), 9)
        self.assertGreaterEqual(len(self.log_lines("sampling start")), self.LEAST_WINDOWS)
        self.assertEqual(len(self.log_lines("sampling enable")), 1)  # one burst
        self.assertLessEqual(self.cost_ms(), 33)
        self.assertGreater(self.cost_ms(), len(self.log_lines("sampling start")) * 50 * 0.05)  # what lies between windows costs, too

    def test_nothing_is_held_when_the_budget_is_spent(self):
        session = self.session(launches=8000)
        run = self.counted(session, metrics="sampled", overhead_budget="1")
        self.assertEqual(run.code, 0, run.err)
        # 80 ms are earned after 8 s: the first burst, and one more after the 6.2 s that it takes to earn both.
        self.assertEqual(len(self.log_lines("sampling enable")), 2)
        self.assertEqual(len(self.log_lines("sampling disable")), 2)
        lines = [line.split()[1] for line in self.log_lines("sampling")]
        first, second = (i for i, word in enumerate(lines) if word == "enable")
        self.assertEqual(lines[second - 1], "disable")
        self.assertGreaterEqual(lines[first:second].count("start"), self.LEAST_WINDOWS)

    def test_a_generous_budget_sets_sampling_up_once(self):
        run = self.counted(self.session(launches=3000), metrics="sampled", overhead_budget="20")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(len(self.log_lines("sampling enable")), 1)
        self.assertGreater(len(self.log_lines("sampling start")), 20)

    def test_the_interval_is_the_one_asked_for(self):
        run = self.counted(self.session(), metrics="sampled", pm_sampling_interval="100us")
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue(all("interval=100000" in line for line in self.log_lines("sampling start")))

    def test_nothing_runs_outside_captures(self):
        run = self.counted(self.session(profiler_calls=1), metrics="sampled", capture_range="cudaProfilerApi")
        self.assertEqual(run.code, 0, run.err)
        self.assertLessEqual(self.kernels(), 600)
        self.assertGreater(len(self.log_lines("sampling start")), 1)
        self.assertLess(len(self.log_lines("sampling start")), 12)  # half a second of two
        self.assertEqual(len(self.log_lines("sampling enable")), len(self.log_lines("sampling disable")))  # CUPTI is left after it


class Turns(Windows):
    def test_launches_and_windows_take_turns(self):
        run = self.counted(self.session(launches=4000), metrics="auto")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), 4000)
        self.assertGreater(len(self.ranges()), 0)
        self.assertGreater(len(self.log_lines("sampling start")), 0)
        # Exact figures alone have no column that says so.
        self.assertEqual(self.metrics()["even(float*, int)", "dram__bytes_read.sum"].get("Source", "exact"), "exact")

    def test_what_cannot_be_read_around_launches_is_sampled(self):
        run = self.counted(self.session(launches=500, collectives=2000), metrics="auto")
        self.assertEqual(run.code, 0, run.err)
        found = [row for (name, metric), row in self.metrics().items() if "nccl" in name and metric == "dram__bytes_read.sum"]
        self.assertEqual(len(found), 1)
        self.assertIn(found[0]["Source"], ("sampled", "fitted"))
        of = {metric: row for (name, metric), row in self.metrics().items() if "nccl" in name}
        self.assertAlmostEqual(of["dram__bytes_read.sum"]["Avg"] / of["dram__bytes_write.sum"]["Avg"], 2, places=2)
        self.assertGreater(of["dram__bytes_read.sum"]["Error"], 0)

    def test_threads_lose_no_launch_of_the_trace(self):
        run = self.counted(self.session(threads=4, launches=1500, step_ns=1000000, kernel_ns=10000), metrics="auto")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), 6000)
        self.assertEqual(self.lost(), "lost: nothing")


class Begins(Windows):
    def test_a_capture_that_began_before_cuda_has_both(self):
        run = self.counted(self.session(), beside=[processes.path("BUILT_EARLY_START")], metrics="auto")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), 2000)
        self.assertGreater(len(self.ranges()), 0)
        self.assertGreater(len(self.log_lines("sampling start")), 0)


class Refusals(Windows):
    def refused(self, env, words, metrics="sampled"):
        run = self.counted(self.session(launches=1000), env=env, metrics=metrics)
        self.assertEqual(run.code, 0, run.err)
        said = [text for text in run.err.splitlines() if "sampling in time is off" in text]
        self.assertEqual(len(said), 1, run.err)
        self.assertIn(words, said[0])
        self.assertEqual(self.kernels(), 1000)

    def test_no_rights(self):
        self.refused({"REPLAY_FAIL": "cuptiPmSamplingEnable=35"}, "NVreg_RestrictProfilingToAdminUsers=0")

    def test_held_by_another_tool(self):
        self.refused({"REPLAY_FAIL": "cuptiPmSamplingStart=26"}, "another tool holds them")

    def test_virtual_gpu(self):
        self.refused({"REPLAY_COUNTERS_UNSUPPORTED": "vGpu"}, "virtual GPU")

    def test_launches_are_read_where_time_cannot_be_sampled(self):
        self.refused({"REPLAY_FAIL": "cuptiPmSamplingEnable=999"}, "GPU 0", metrics="auto")
        self.assertGreater(len(self.ranges()), 0)

    def test_a_failure_in_the_midst_of_a_window_is_said_once(self):
        self.refused({"REPLAY_FAIL": "cuptiPmSamplingDecodeData:3=999"}, "cuptiPmSamplingDecodeData")

    def test_a_buffer_that_ran_over_is_a_loss(self):
        run = self.counted(self.session(), env={"REPLAY_SAMPLING_OVERFLOW": "5"}, metrics="sampled")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("sampling overflows", self.lost())


class Endings(Windows):
    def test_nothing_is_asked_of_a_cupti_that_has_shut_itself_down(self):
        for mode in ("sampled", "auto"):
            with self.subTest(mode):
                run = self.counted(self.session(), env={"REPLAY_FATAL_AFTER": "400"}, metrics=mode, force_overwrite="1")
                self.assertEqual(run.code, 0, run.err)
                self.assertIn("CUPTI has shut itself down", run.err)
                self.assertNotIn("is off", run.err)  # whatever was asked would have been refused
                self.log.unlink()

    def test_a_program_that_ends_while_counters_are_planned(self):
        for mode in ("sampled", "auto"):
            with self.subTest(mode):
                run = self.counted(self.session(launches=300), env={"REPLAY_PLAN_US": "20000"}, metrics=mode, force_overwrite="1")
                self.assertEqual(run.code, 0, run.err)
                self.assertEqual(self.kernels(), 300)

    def test_no_ending_breaks_a_contract_or_hangs(self):
        for mode in ("sampled", "auto"):
            for how in ("normal", "_exit", "kill", "throw", "abort", "fork", "device-reset", "in-flight"):
                with self.subTest(mode + " " + how):
                    run = self.counted(self.session(launches=1200, threads=2), "--exit-with", how, "--exit-at", "0.7", metrics=mode, force_overwrite="1",
                                       flush_interval_ms="50")
                    self.assertNotIn("hangs", run.err)
                    self.assertGreater(self.kernels(), 0)


if __name__ == "__main__":
    processes.main()

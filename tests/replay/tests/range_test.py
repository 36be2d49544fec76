# SPDX-License-Identifier: Apache-2.0
"""Counters of the replayed GPU as a client sees them: what they come to, and which misuse is seen."""
import math

import processes

SMS = 10  # of the synthetic GPU
ROOFLINE = ["gpu__time_duration.sum", "sm__cycles_active.avg", "sm__cycles_elapsed.avg.per_second",
            "sm__warps_active.avg.pct_of_peak_sustained_active", "dram__bytes_read.sum", "dram__bytes_write.sum",
            "lts__t_bytes.sum", "sm__pipe_tensor_cycles_active.avg"]
SASS = ["smsp__sass_thread_inst_executed_op_%s_pred_on.sum" % op for op in ("ffma", "fmul", "fadd", "integer", "dfma")]


def truth(metric, name, ns, blocks, threads):
    """The rule of cupti/counters.md, written a second time."""
    work = blocks * threads * (1 + sum(name.encode()) % 9)
    active = 1.5 * ns * min(blocks, SMS) / SMS
    warps = min(64, math.ceil(threads / 32) * math.ceil(blocks / SMS))
    is_bf16 = "gemm" in name and "bf16" in name
    return {"gpu__time_duration.sum": ns,
            "sm__cycles_active.avg": active,
            "sm__cycles_elapsed.avg.per_second": 1.5e9,
            "sm__warps_active.avg.pct_of_peak_sustained_active": 100 * warps / 64,
            "sm__warps_active.avg.per_cycle_active": warps,
            "dram__bytes_read.sum": 64 * work,
            "dram__bytes_write.sum": 32 * work,
            "dram__bytes_read.sum.per_second": 64 * work / ns * 1e9,
            "lts__t_bytes.sum": 128 * work,
            "lts__t_sector_hit_rate.pct": 75,
            "sm__pipe_tensor_cycles_active.avg": 4096 * work / 1024 / SMS if is_bf16 else 0,
            "sm__ops_path_tensor_src_bf16_dst_fp32.sum": 4096 * work if is_bf16 else 0,
            "sm__ops_path_tensor_src_fp64.sum": 0,
            SASS[0]: 4 * work, SASS[1]: 2 * work, SASS[2]: work, SASS[3]: 8 * work, SASS[4]: 0}[metric]


class Ranges(processes.Case):
    def profile(self, session, *options, metrics=("gpu__time_duration.sum",), **settings):
        """Plays a session with the client injected; returns the run and the lines of its output."""
        output = self.folder / "counted"
        env = {"CUDA_INJECTION64_PATH": processes.path("BUILT_RANGE_CLIENT"), "REPLAY_CLIENT_OUTPUT": str(output),
               "REPLAY_CLIENT_METRICS": ",".join(metrics)}
        env.update({k: str(v) for k, v in settings.items()})
        run = self.play(session, *options, env=env)
        return run, output.read_text().splitlines() if output.exists() else []

    def counted(self, session, metrics, **settings):
        """The launches, as tuples, and by range the values of all metrics."""
        run, lines = self.profile(session, metrics=metrics, **settings)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual([line for line in lines if line.startswith("failed")], [])
        launches = [line.split()[1:] for line in lines if line.startswith("launch ")]
        ranges = {words[1]: [float(w) for w in words[2:]] for words in map(str.split, lines) if words[0] == "range"}
        return launches, ranges, lines

    def kernels_only(self, **plan):
        return self.synthetic(graphs=0, copies=0, **plan)

    def check(self, metrics, pass_of=None, **settings):
        """Each pass counts a launch: the first of a range, and those that follow it."""
        pass_of = pass_of or [0] * len(metrics)
        passes = max(pass_of) + 1
        launches, ranges, lines = self.counted(self.kernels_only(launches=12, kernel_ns=4000), metrics, **settings)
        self.assertIn(f"passes={passes}", lines)
        self.assertEqual(len(ranges), 12 if passes == 1 else 1)
        for index, values in ranges.items():
            for metric, its_pass, value in zip(metrics, pass_of, values):
                _, name, _, blocks, threads, _ = launches[int(index) + its_pass]
                self.assertAlmostEqual(value, truth(metric, name, 4000, int(blocks), int(threads)), msg=metric,
                                       delta=1e-9 * abs(value))
        return launches


class Values(Ranges):
    def test_values_follow_from_the_launch(self):
        launches = self.check(ROOFLINE + ["sm__warps_active.avg.per_cycle_active", "dram__bytes_read.sum.per_second"])
        self.assertEqual({(name, blocks, threads) for _, name, _, blocks, threads, _ in launches},
                         {("_Z4evenPfi", "8", "128"), ("_Z3oddPfi", "8", "128")})
        functions = {name: function for _, name, function, *_ in launches}
        self.assertEqual(len(set(functions.values())), 2)

    def test_instructions_are_counted_in_a_pass_of_their_own(self):
        session = self.kernels_only(launches=12, kernel_ns=4000)
        launches, ranges, _ = self.counted(session, SASS, REPLAY_CLIENT_UNTRACED=1)
        self.assertEqual(len(ranges), 12)
        for index, values in ranges.items():
            self.assertEqual(values, [truth(m, launches[int(index)][1], 4000, 8, 128) for m in SASS])

    def test_the_launch_of_a_rewritten_kernel_returns_after_the_kernel_has_ended(self):
        # Popping at once would be noticed otherwise.
        session = self.kernels_only(launches=2, kernel_ns=50000000)
        run, _ = self.profile(session, metrics=SASS, REPLAY_CLIENT_UNTRACED=1, REPLAY_CLIENT_MISUSE="pop while busy")
        self.assertEqual(run.code, 0, run.err)

    def test_nothing_is_rewritten_while_kernels_are_recorded(self):
        _, ranges, _ = self.counted(self.kernels_only(launches=3), SASS)
        self.assertEqual(ranges, {str(i): [0] * len(SASS) for i in range(3)})

    def test_metrics_of_several_passes_are_read_over_several_launches(self):
        self.check(["lts__t_bytes.sum", SASS[0]], [0, 1], REPLAY_CLIENT_UNTRACED=1)
        self.check(["sm__ops_path_tensor_src_bf16_dst_fp32.sum", "sm__ops_path_tensor_src_fp64.sum", "lts__t_bytes.sum"],
                   [0, 1, 0])

    def test_a_rate_of_two_passes_combines_both_launches(self):
        # Even and odd kernels weigh differently: hits of the one over lookups of the other.
        _, ranges, _ = self.counted(self.kernels_only(launches=4), ["lts__t_sector_hit_rate.pct"])
        weight = {name: 1 + sum(name.encode()) % 9 for name in ("_Z4evenPfi", "_Z3oddPfi")}
        self.assertAlmostEqual(ranges["0"][0], 75 * weight["_Z4evenPfi"] / weight["_Z3oddPfi"])

    def test_all_kernels_of_a_graph_launch_add_up(self):
        _, ranges, _ = self.counted(self.synthetic(launches=0, copies=0, graphs=1, nodes=5, kernel_ns=2000),
                                    ["gpu__time_duration.sum", "lts__t_bytes.sum"])
        one = truth("lts__t_bytes.sum", "_Z4nodePf", 2000, 8, 128)
        self.assertEqual(ranges, {"0": [5 * 2000, 5 * one]})

    def test_cooperative_collective_and_captured_launches_are_recognized_by_their_calls(self):
        launches, ranges, lines = self.counted(self.kernels_only(launches=2, cooperative=3, collectives=4, captured=5),
                                               ["gpu__time_duration.sum"])
        names = [name for _, name, *_ in launches]
        self.assertEqual(names, ["_Z4evenPfi", "_Z3oddPfi"] + 4 * ["_Z17ncclDevKernel_Sumv"] + 5 * ["_Z8capturedPf"])
        self.assertEqual(lines.count("cooperative 8"), 3)
        self.assertEqual(len(ranges), 2 + 3 + 4)  # none while the stream was captured

    def test_records_keep_their_times_and_follow_a_wait_kernel_of_cupti(self):
        launches, _, lines = self.counted(self.kernels_only(launches=5, kernel_ns=1234), ["lts__t_bytes.sum"])
        records = [line.split()[1:] for line in lines if line.startswith("record ")]
        self.assertEqual(records, [record for correlation, name, *_ in launches
                                   for record in ([correlation, "WaitNs", "80000"], [correlation, name, "1234"])])

    def test_tensor_operations_of_a_recorded_program_equal_those_of_its_matrix_products(self):
        log = self.folder / "log"
        launches, ranges, _ = self.counted(
            processes.recorded("train_step"),
            ["sm__ops_path_tensor_src_tf32_dst_fp32.sum", "sm__pipe_tensor_cycles_active.avg"], REPLAY_COUNTER_LOG=log)
        products = 0
        for index, (operations, cycles) in ranges.items():
            correlation, name, _, blocks, threads, _ = launches[int(index)]
            self.assertIn(f" name={index} kernels=1 correlation={correlation} ", log.read_text())
            weight = 1 + sum(name.encode()) % 9
            expected = 4096 * int(blocks) * int(threads) * weight if "nvjet" in name else 0
            self.assertEqual(operations, expected, name)
            self.assertAlmostEqual(cycles, expected / 512 / 132, msg=name)
            products += expected > 0
        self.assertGreater(products, 10)

    def test_ranges_beyond_the_capacity_are_dropped_and_counted(self):
        _, ranges, lines = self.counted(self.kernels_only(launches=8), ["gpu__time_duration.sum"], REPLAY_CLIENT_RANGES=3)
        self.assertEqual(sorted(ranges), ["0", "1", "2"])
        self.assertIn("dropped=2", lines)

    def test_the_log_lists_all_calls(self):
        log = self.folder / "log"
        launches, _, _ = self.counted(self.kernels_only(launches=2), ["gpu__time_duration.sum"], REPLAY_COUNTER_LOG=log)
        self.assertEqual([line.rpartition(" at=")[0] for line in log.read_text().splitlines()], [
            "enable context=1", "start context=1 pass=0 rewrites=0",
            f"range context=1 pass=0 name=0 kernels=1 correlation={launches[0][0]} ns=1000",
            f"range context=1 pass=0 name=1 kernels=1 correlation={launches[1][0]} ns=1000",
            "stop context=1 all=1", "disable context=1"])


class Refusals(Ranges):
    def refused(self, function, code, **settings):
        run, lines = self.profile(self.kernels_only(launches=3), **settings)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn(f"failed:{function}={code}", lines)

    def test_refused_calls_return_the_codes_of_the_real_library(self):
        for misuse, function, code in [
                ("wrong size", "cuptiProfilerInitialize", 1),
                ("not initialized", "cuptiProfilerGetCounterAvailability", 15),
                ("kernel replay", "cuptiRangeProfilerSetConfig", 7),
                ("image not initialized", "cuptiRangeProfilerSetConfig", 1),
                ("second context", "cuptiRangeProfilerStart", 26)]:
            with self.subTest(misuse):
                self.refused(function, code, REPLAY_CLIENT_MISUSE=misuse)

    def test_unknown_metrics_and_unreadable_metrics_are_refused_with_a_code(self):
        self.refused("cuptiProfilerHostConfigAddMetrics", 1, metrics=["nosuch__metric.sum"])
        self.refused("cuptiProfilerHostConfigAddMetrics", 1, metrics=["lts__t_bytes"])

    def test_any_call_can_be_made_to_fail(self):
        for function, code in [("cuptiProfilerGetCounterAvailability", 35), ("cuptiRangeProfilerStart", 35),
                               ("cuptiRangeProfilerStart", 26), ("cuptiRangeProfilerEnable", 2)]:
            with self.subTest(function):
                self.refused(function, code, REPLAY_FAIL=f"{function}={code}")


class Misuse(Ranges):
    def broken(self, misuse, *words, **settings):
        settings.setdefault("metrics", ["gpu__time_duration.sum"])
        # Kernels of half a second: the GPU works when their launch returns, on a machine that is slow, too.
        kernel_ns = 500000000 if misuse.endswith("busy") else 1000
        run, _ = self.profile(self.kernels_only(launches=3, kernel_ns=kernel_ns), REPLAY_CLIENT_MISUSE=misuse, **settings)
        self.assertEqual(run.code, -6, run.err)
        self.assertIn("the client broke the contract: ", run.err)
        for word in words:
            self.assertIn(word, run.err)

    def test_calls_in_the_wrong_order_end_the_program(self):
        for misuse, *words in [
                ("push without start", "PushRange", "without Start"), ("start without config", "without SetConfig"),
                ("start twice", "twice"), ("config while started", "SetConfig", "between Start and Stop"),
                ("pop without push", "PopRange", "without an open range"), ("push twice", "\"0\" open"),
                ("decode while started", "DecodeData", "between"), ("stop in range", "Stop", "\"0\" open"),
                ("disable while started", "without Stop"), ("use after disable", "after cuptiRangeProfilerDisable"),
                ("deinitialize twice", "DeInitialize"), ("finalize", "cuptiFinalize"),
                ("same name", "\"same\""), ("other metrics", "the first Start")]:
            with self.subTest(misuse):
                self.broken(misuse, *words)

    def test_profiler_calls_while_the_gpu_works_end_the_program(self):
        for misuse, *words in [
                ("start while busy", "RangeProfilerStart", "the GPU works"), ("push while busy", "PushRange", "the GPU works"),
                ("pop while busy", "PopRange", "a kernel of the range runs"), ("stop while busy", "RangeProfilerStop", "the GPU works"),
                ("disable while busy", "RangeProfilerDisable", "the GPU works")]:
            with self.subTest(misuse):
                self.broken(misuse, *words)

    def test_calls_on_two_threads_at_once_end_the_program(self):
        self.broken("two threads", "another thread", REPLAY_PUSH_US=200000)

    def test_use_of_a_destroyed_context_ends_the_program(self):
        run, _ = self.profile(self.kernels_only(launches=20), "--exit-with", "device-reset", "--exit-at", "0.5")
        self.assertEqual(run.code, -6, run.err)
        self.assertIn("after its context was destroyed", run.err)


processes.main()

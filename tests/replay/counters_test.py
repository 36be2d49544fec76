"""The shipped library reading counters around launches, in real processes: values, what is left out, refusals, endings."""
import json
import processes
from gpuprof_test import Gpuprof, THREADS, LAUNCHES

SETTINGS = dict(metrics="auto", overhead_budget="90")


class Counters(Gpuprof):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "ranges.txt"

    def counted(self, session, *options, env=None, **settings):
        wanted = {"REPLAY_COUNTER_LOG": str(self.log), **(env or {})}
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

    def roofline(self, *options, code=0):
        run = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", *options, self.capture)
        self.assertEqual(run.code, code, run.err)
        return json.loads(run.out)


class Values(Counters):
    # 10 SMs, kernels of 1000 ns: see the rule in README.md.
    def session(self, launches=3000, **more):
        return self.synthetic(threads=1, launches=launches, step_ns=1000000, **more)

    def test_every_pass_is_read_of_each_kind_of_launch(self):
        run = self.counted(self.session())
        self.assertEqual(run.code, 0, run.err)
        read = {key: row for key, row in self.metrics().items() if row.get("Source", "exact") == "exact"}
        kernels = {name for name, _ in read}
        self.assertIn("even(float*, int)", kernels)
        for kernel in kernels:
            self.assertEqual(len([metric for name, metric in read if name == kernel]), 24, kernel)
        bytes_read = read["even(float*, int)", "dram__bytes_read.sum"]["Avg"]
        self.assertGreater(bytes_read, 0)
        self.assertEqual(read["even(float*, int)", "dram__bytes_write.sum"]["Avg"] * 2, bytes_read)
        fused = read["even(float*, int)", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]["Avg"]
        self.assertEqual(fused * 16, bytes_read)  # 4 w and 64 w
        report = self.roofline()
        self.assertGreater(report["flop_counted_share"], 0.99)
        row = next(k for k in report["kernels"] if k["name"] == "even(float*, int)")
        self.assertAlmostEqual(row["flops"] * row["avg_ns"] * 1e-9 / (2.75 * fused), 1, places=4)  # 2 x 4 w + 2 w + w

    def test_launches_are_told_apart_by_the_values_of_their_arguments(self):
        run = self.counted(self.session(), env={"REPLAY_ARGUMENTS": "2"})
        self.assertEqual(run.code, 0, run.err)
        report = self.roofline("--by", "signature")
        lines = [line for line in report["signatures"] if line["name"] == "even(float*, int)"]
        self.assertEqual(len({line["arguments"] for line in lines}), 2)
        self.assertEqual(len(lines[0]["arguments"]), 8)
        for line in lines:
            self.assertGreater(line["samples"], 0)
            self.assertGreater(line["flop_counted_share"], 0.99)
        whole = next(k for k in self.roofline()["kernels"] if k["name"] == "even(float*, int)")
        self.assertEqual(whole["launches"], sum(line["launches"] for line in lines))

    def test_a_kernel_whose_arguments_never_come_again_is_still_read(self):
        run = self.counted(self.session(), env={"REPLAY_ARGUMENTS": "0"})
        self.assertEqual(run.code, 0, run.err)
        lines = [line for line in self.roofline("--by", "signature")["signatures"] if line["name"] == "even(float*, int)"]
        others = next(line for line in lines if line["arguments"] == "others")
        self.assertGreater(others["samples"], 0)
        self.assertEqual(others["flop_counted_share"], 1)
        self.assertEqual(sum(line["launches"] for line in lines) - others["launches"], 32)

    def test_every_launch_is_read_in_mode_exact(self):
        run = self.counted(self.session(launches=300), metrics="exact,basic")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual([r["kernels"] for r in self.ranges()].count(1), 300)
        self.assertEqual(self.metrics()["even(float*, int)", "dram__bytes_read.sum"]["Samples"], 150)

    def test_a_graph_launch_is_read_as_one_workload(self):
        run = self.counted(self.session(launches=20, graphs=30, nodes=5), metrics="exact,basic")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual([r["kernels"] for r in self.ranges()].count(5), 30)
        graphs = [row for (name, metric), row in self.metrics().items() if name.startswith("[CUDA graph") and metric == "dram__bytes_read.sum"]
        self.assertEqual(len(graphs), 1)
        self.assertEqual(graphs[0]["Samples"], 30)

    def test_nothing_is_read_without_being_asked_for(self):
        run = self.profile(self.session(launches=50), env={"REPLAY_COUNTER_LOG": str(self.log)})
        self.assertEqual(run.code, 0, run.err)
        self.assertFalse(self.log.exists())

    def test_threads_lose_no_launch_of_the_trace(self):
        run = self.counted(self.synthetic(threads=THREADS, launches=LAUNCHES * 5, step_ns=200000, graphs=0))
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), THREADS * LAUNCHES * 5)
        self.assertEqual(self.lost(), "lost: nothing")
        self.assertGreater(len(self.ranges()), 0)


FUSED = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
PLAIN = "even(float*, int)", "odd(float*, int)"
PRODUCT = "gemm_bf16(float*, int)"


class Shared(Counters):
    """Counters and rewritten kernels, six passes and one, of one configuration."""

    def read(self, launches=1000, **env):
        # Every fourth launch is a product, of which alone the tensor passes tell something.
        run = self.counted(self.synthetic(threads=1, launches=launches, step_ns=1000000, products=1, graphs=0, copies=0), env=env)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(self.kernels(), launches)
        return run

    def events(self):
        """What the range profiler did until it was given back for the first time."""
        lines = self.log.read_text().splitlines()
        return lines[:lines.index("disable context=1")]

    def ranges_of_passes(self, events):
        """{pass: names of its ranges} of one cycle."""
        found = {}
        for line in events:
            words = dict(word.split("=") for word in line.split()[1:])
            if line.startswith("start"):
                self.assertNotIn(int(words["pass"]), found, "one cycle")
                found[int(words["pass"])] = []
            elif line.startswith("range"):
                found[int(words["pass"])].append(words["name"])
        return found

    def test_one_start_reads_both_and_what_has_no_tensor_work_is_read_once_in_each(self):
        self.read()
        events = self.events()
        self.assertEqual(len([e for e in events if e.startswith("enable")]), 1)
        passes = self.ranges_of_passes(events)
        self.assertEqual(sorted(passes), list(range(7)))
        self.assertEqual(sorted(passes[0]), ["0", "1", "2"])
        product = passes[1]
        self.assertEqual(len(product), 1)
        for number in range(2, 6):
            self.assertEqual(passes[number], product)
        self.assertEqual(sorted(passes[6]), ["0", "1", "2"])

    def test_operations_that_nothing_ran_are_none_and_others_are_counted(self):
        self.read()
        read = {key: row for key, row in self.metrics().items() if row.get("Source", "exact") == "exact"}
        tensor = {metric for _, metric in read if metric.startswith("sm__ops_path_tensor_")}
        self.assertEqual(len(tensor), 6)
        for kernel in (*PLAIN, PRODUCT):
            self.assertEqual(len([metric for name, metric in read if name == kernel]), 24, kernel)
        for kernel in PLAIN:
            # 4 w and 64 w, of passes before and after.
            self.assertEqual(read[kernel, FUSED]["Avg"] * 16, read[kernel, "dram__bytes_read.sum"]["Avg"])
            self.assertEqual([read[kernel, metric]["Avg"] for metric in tensor], 6 * [0])
        counted = {metric for metric in tensor if read[PRODUCT, metric]["Avg"] > 0}
        self.assertEqual(counted, {"sm__ops_path_tensor_src_bf16_dst_fp32.sum"})
        # None on CUDA cores, which is no reason to take it for not rewritten.
        self.assertEqual(read[PRODUCT, FUSED]["Avg"], 0)
        self.assertEqual(self.roofline()["flop_counted_share"], 1)

    def test_where_passes_come_in_another_order_each_is_read_apart(self):
        run = self.read(launches=2500, REPLAY_REWRITING_FIRST="1")
        said = [line for line in run.err.splitlines() if "in another pass than was assumed" in line]
        self.assertEqual(len(said), 1, run.err)
        read = {key: row for key, row in self.metrics().items() if row.get("Source", "exact") == "exact"}
        for kernel in PLAIN:
            self.assertEqual(read[kernel, FUSED]["Avg"] * 16, read[kernel, "dram__bytes_read.sum"]["Avg"])
        # After the first the passes of rewriting have a start of their own.
        starts = [line for line in self.log.read_text().splitlines() if line.startswith("enable")]
        self.assertGreaterEqual(len(starts), 3)


class LeftOut(Counters):
    def test_cooperative_collective_and_captured_launches_are_never_read(self):
        run = self.counted(self.synthetic(threads=1, launches=200, step_ns=1000000, cooperative=20, collectives=20, captured=20),
                           metrics="exact,basic")
        self.assertEqual(run.code, 0, run.err)
        names = {name for name, _ in self.metrics()}
        self.assertTrue(names)
        self.assertFalse([n for n in names if "nccl" in n])

    def test_graphs_are_left_alone_where_a_collective_was_seen(self):
        run = self.counted(self.synthetic(threads=1, launches=100, step_ns=1000000, collectives=20, graphs=10, nodes=5), metrics="exact,basic")
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue(self.ranges())
        self.assertNotIn(5, [r["kernels"] for r in self.ranges()])

    def test_the_budget_is_kept(self):
        run = self.counted(self.synthetic(threads=1, launches=3000, step_ns=1000000),
                           env={"REPLAY_PUSH_US": "200000", "REPLAY_POP_US": "200000"}, overhead_budget="1")
        self.assertEqual(run.code, 0, run.err)
        # A second may be spent at once: some pushes and pops of 0.2 s, and the last that was begun.
        self.assertLessEqual(len(self.ranges()), 8)


class Refusals(Counters):
    def refused(self, env, line, **settings):
        run = self.counted(self.synthetic(threads=2, launches=400, step_ns=1000000, graphs=0), env=env, **settings)
        self.assertEqual(run.code, 0, run.err)
        said = [text for text in run.err.splitlines() if "counters are off" in text]
        self.assertEqual(len(said), 1, run.err)
        self.assertIn(line, said[0])
        self.assertEqual(self.kernels(), 800)
        self.assertEqual(self.ranges(), [])

    def test_no_rights(self):
        self.refused({"REPLAY_FAIL": "cuptiProfilerGetCounterAvailability=35,cuptiPmSamplingGetCounterAvailability=35"}, "NVreg_RestrictProfilingToAdminUsers=0")

    def test_held_by_another_tool(self):
        self.refused({"REPLAY_FAIL": "cuptiRangeProfilerStart=26"}, "another tool holds them")

    def test_virtual_gpu(self):
        self.refused({"REPLAY_COUNTERS_UNSUPPORTED": "vGpu"}, "virtual GPU")

    def test_unknown_metric(self):
        run = self.counted(self.synthetic(threads=1, launches=400, step_ns=1000000), metrics="auto,dram__bytes_reed.sum")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("dram__bytes_reed.sum is not read", run.err)


class Endings(Counters):
    def test_no_ending_breaks_a_contract_or_hangs(self):
        for how in ("normal", "_exit", "kill", "throw", "abort", "fork", "device-reset", "in-flight"):
            with self.subTest(how):
                # A second and a half, in which the file is written every 50 ms: what is killed leaves most of it.
                run = self.counted(self.synthetic(threads=2, launches=1500, step_ns=1000000), "--exit-with", how, "--exit-at", "0.7",
                                   force_overwrite="1", flush_interval_ms="50")
                self.assertNotIn("hangs", run.err)
                self.assertGreater(self.kernels(), 0)


if __name__ == "__main__":
    processes.main()

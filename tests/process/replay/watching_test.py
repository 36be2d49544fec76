# SPDX-License-Identifier: Apache-2.0
"""A program that asks what it achieves while it runs, with the shipped library in real processes."""
import json
import processes
from gpuprof_test import Gpuprof

SETTINGS = dict(metrics="auto", overhead_budget="90", flush_interval_ms="50")


def w(mangled):
    """Of README.md's rule, for the synthetic session's 8 blocks of 128 threads."""
    return 8 * 128 * (1 + sum(mangled.encode()) % 9)


class Watching(Gpuprof):
    def setUp(self):
        super().setUp()
        self.answer = self.folder / "achieved.json"

    # 10 SMs, kernels of 1000 ns: 6 seconds of them, since time may be sampled for 3 before any launch is read.
    def session(self, **more):
        return self.synthetic(threads=1, launches=6000, step_ns=1000000, graphs=0, **more)

    def watched(self, session, preload=True, env=None, **settings):
        """What the program was last told, None when it never was; and the run."""
        libraries = [processes.path("BUILT_PRELOAD")] if preload else []
        wanted = {"GPUPROF_OUTPUT": str(self.capture)[: -len(".gpuprof")], "REPLAY_WATCH_OUTPUT": str(self.answer)}
        wanted.update({"GPUPROF_" + k.upper(): str(v) for k, v in {**SETTINGS, **settings}.items()})
        run = self.play(session, preload=libraries + [processes.path("BUILT_WATCHER")], env={**wanted, **(env or {})})
        self.assertEqual(run.code, 0, run.err)
        self.assertNotIn("broke the contract", run.err)
        return (json.loads(self.answer.read_text()) if self.answer.exists() else None), run

    def check(self, told):
        self.assertEqual(told["sizes fit"], 1)
        self.assertGreater(told["readings"], 0)
        for name in ("_Z4evenPfi", "_Z3oddPfi"):
            kernel = told["kernels"][name]
            self.assertAlmostEqual(kernel["flops"] / (11 * w(name) / 1e-6), 1, places=6)  # 2 x 4 w + 2 w + w in 1000 ns
            self.assertAlmostEqual(kernel["precisions"]["fp32"], kernel["flops"], delta=1)
            self.assertEqual(kernel["precisions"]["tensor_bf16"], 0)
            self.assertAlmostEqual(kernel["dram_bytes_per_second"] / (96 * w(name) / 1e-6), 1, places=6)
            self.assertAlmostEqual(kernel["l2_bytes_per_second"] / (128 * w(name) / 1e-6), 1, places=6)
            self.assertAlmostEqual(kernel["sm_clock_hz"] / 1.5e9, 1, places=6)
            self.assertEqual(kernel["flops_source"], "counted")
        both = (w("_Z4evenPfi") + w("_Z3oddPfi")) / 2
        for name in ("step", "synthetic:launch"):
            line = told["ranges"][name]
            self.assertAlmostEqual(line["flops"] / (11 * both / 1e-6), 1, places=3)  # one more of one than of the other
            self.assertAlmostEqual(line["dram_bytes_per_second"] / (96 * both / 1e-6), 1, places=3)
            self.assertAlmostEqual(line["seconds"], line["launches"] * 1e-6, places=9)
            self.assertGreater(line["exact_share"], 0.99)
        self.assertGreater(told["all"]["launches"], 2000)

    @processes.timing  # what is sampled and read must come within the seconds that are played
    def test_the_program_reads_what_its_kernels_and_ranges_achieve(self):
        told, _ = self.watched(self.session())
        self.check(told)
        self.assertEqual(told["has_peaks"], 0)
        self.assertIsNone(told["all"]["of_peak"])
        self.assertEqual(told["all"]["bound_by"], "")

    @processes.timing  # what is sampled and read must come within the seconds that are played
    def test_the_c_api_finds_a_library_that_cuda_has_injected(self):
        library = processes.path("BUILT_LIBGPUPROF")
        told, _ = self.watched(self.session(), preload=False,
                               env={"CUDA_INJECTION64_PATH": library, "NVTX_INJECTION64_PATH": library})
        self.check(told)

    def test_live_metrics_equal_those_of_the_capture(self):
        told, _ = self.watched(self.session(), metrics="exact,basic")
        run = self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", self.capture)
        self.assertEqual(run.code, 0, run.err)
        for row in json.loads(run.out)["kernels"]:
            line = told["kernels"][{"even(float*, int)": "_Z4evenPfi", "odd(float*, int)": "_Z3oddPfi"}[row["name"]]]
            self.assertIsNone(line["flops"])  # the set has none
            self.assertEqual(line["flops_source"], "not measured")
            self.assertAlmostEqual(line["dram_bytes_per_second"] / row["dram_bytes_per_second"], 1, places=6)

    # Of kernels of 100 us, so that samples of 20 us tell them apart.
    def sampled_session(self, launches=2500, **more):
        return self.synthetic(**{**dict(threads=1, launches=launches, step_ns=1000000, kernel_ns=100000, graphs=0), **more})

    @processes.timing  # what is sampled and read must come within the seconds that are played
    def test_sampled_live_metrics_need_no_held_launches(self):
        told, _ = self.watched(self.sampled_session(), metrics="sampled")
        self.assertEqual(told["readings"], 0)
        for name in ("_Z4evenPfi", "_Z3oddPfi"):
            kernel = told["kernels"][name]
            self.assertAlmostEqual(kernel["dram_bytes_per_second"] / (96 * w(name) / 1e-4), 1, places=2)
            self.assertAlmostEqual(kernel["l2_bytes_per_second"] / (128 * w(name) / 1e-4), 1, places=2)
            self.assertAlmostEqual(kernel["sm_clock_hz"] / 1.5e9, 1, places=2)
            self.assertGreater(kernel["occupancy"], 0)
            self.assertIsNone(kernel["flops"])
            self.assertEqual(kernel["exact_share"], 0)
        both = (w("_Z4evenPfi") + w("_Z3oddPfi")) / 2
        self.assertAlmostEqual(told["ranges"]["step"]["dram_bytes_per_second"] / (96 * both / 1e-4), 1, places=2)

    @processes.timing  # what is sampled and read must come within the seconds that are played
    def test_kernels_that_are_never_read_have_live_metrics_from_samples(self):
        told, _ = self.watched(self.sampled_session(launches=500, collectives=4500))
        nccl = [line for name, line in told["kernels"].items() if "nccl" in name]
        self.assertEqual(len(nccl), 1)
        self.assertGreater(nccl[0]["dram_bytes_per_second"], 0)
        self.assertGreater(nccl[0]["sm_clock_hz"], 0)
        self.assertEqual(nccl[0]["readings"], 0)

    @processes.timing  # so many launches must come within the seconds that are played
    def test_samples_give_no_live_metrics_if_filters_leave_out_kernels(self):
        told, _ = self.watched(self.sampled_session(), metrics="sampled", kernel_name="even")
        self.assertGreater(told["kernels"]["_Z4evenPfi"]["launches"], 1000)
        self.assertIsNone(told["kernels"]["_Z4evenPfi"]["dram_bytes_per_second"])

    def test_times_and_zero_counts_are_known_even_if_counters_are_refused(self):
        told, run = self.watched(self.session(), env={"REPLAY_FAIL": "cuptiProfilerGetCounterAvailability=35,cuptiPmSamplingGetCounterAvailability=35"})
        self.assertIn("counters are off", run.err)
        self.assertGreater(told["ranges"]["step"]["launches"], 2000)
        self.assertEqual(told["ranges"]["step"]["exact_share"], 0)
        for figure in ("flops", "dram_bytes_per_second", "sm_clock_hz", "occupancy"):
            self.assertIsNone(told["ranges"]["step"][figure])
        self.assertEqual(set(told["ranges"]["step"]["precisions"].values()), {0})
        self.assertNotIn("fp32", told["ranges"]["step"]["precisions"])

    def test_without_metrics_there_are_no_live_values_and_one_line_says_how_to_get_them(self):
        told, run = self.watched(self.synthetic(threads=1, launches=300, step_ns=1000000), metrics="none")
        self.assertIsNone(told)
        self.assertEqual(run.err.count("GPUPROF_METRICS=auto"), 1, run.err)

    def test_without_the_library_there_are_no_live_values(self):
        told, run = self.watched(self.synthetic(threads=1, launches=100, step_ns=1000000), preload=False)
        self.assertEqual((told, run.err), (None, ""))


if __name__ == "__main__":
    processes.main()

# SPDX-License-Identifier: Apache-2.0
"""Samples of the replayed GPU as a client sees them: what they come to, and which misuse is seen."""
import collections
import math

import processes

SMS = 10  # of the synthetic GPU
SAMPLED = ["sm__cycles_active.avg", "sm__cycles_elapsed.avg", "sm__warps_active.avg", "dram__bytes_read.sum",
           "dram__bytes_write.sum", "lts__t_bytes.sum", "sm__pipe_tensor_cycles_active.avg"]
STALE = 1000000000  # the first sample begins so long before the start

Sample = collections.namedtuple("Sample", "start end values")
Kernel = collections.namedtuple("Kernel", "name start end blocks threads")


def counts(kernel):
    """The rule of README.md for all that a kernel counts, written a second time."""
    ns = kernel.end - kernel.start
    work = kernel.blocks * kernel.threads * (1 + sum(kernel.name.encode()) % 9)
    active = 1.5 * ns * min(kernel.blocks, SMS) / SMS
    warps = min(64, math.ceil(kernel.threads / 32) * math.ceil(kernel.blocks / SMS))
    return dict(zip(SAMPLED, [active, 0, active * warps, 64 * work, 32 * work, 128 * work, 0]))


def truth(metric, sample, kernels):
    """What a sample reads: the shares of the kernels that ran in it; cycles elapse without them."""
    if metric == "sm__cycles_elapsed.avg":
        return 1.5 * (sample.end - sample.start)
    total = 0
    for kernel in kernels:
        overlap = min(sample.end, kernel.end) - max(sample.start, kernel.start)
        if overlap > 0:
            total += counts(kernel)[metric] * overlap / (kernel.end - kernel.start)
    return total


class Samples(processes.Case):
    def sample(self, session, *options, metrics=SAMPLED, **settings):
        """Plays a session with the client injected; returns the run and the lines of its output."""
        output = self.folder / "sampled"
        env = {"CUDA_INJECTION64_PATH": processes.path("BUILT_SAMPLING_CLIENT"), "REPLAY_CLIENT_OUTPUT": str(output),
               "REPLAY_CLIENT_METRICS": ",".join(metrics)}
        env.update({k: str(v) for k, v in settings.items()})
        run = self.play(session, *options, env=env)
        return run, output.read_text().splitlines() if output.exists() else []

    def sampled(self, session, **settings):
        """The samples, the kernels, and (reason, overflow) of each decode."""
        self.log = self.folder / "log"
        run, lines = self.sample(session, REPLAY_COUNTER_LOG=self.log, **settings)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual([line for line in lines if line.startswith("failed")], [])
        words = [line.split() for line in lines]
        samples = [Sample(int(w[1]), int(w[2]), [float(v) for v in w[3:]]) for w in words if w[0] == "sample"]
        kernels = [Kernel(w[1], *map(int, w[2:])) for w in words if w[0] == "record"]
        decodes = [(int(w[1]), int(w[2])) for w in words if w[0] == "decode"]
        return samples, kernels, decodes

    def kernels_only(self, **plan):
        return self.synthetic(graphs=0, copies=0, **plan)

    def logged(self):
        """The numbers of the line with which sampling ended."""
        return processes.numbers(self.log.read_text().splitlines()[-1])


class Values(Samples):
    def check(self, session, **settings):
        """Each sample reads what the kernels' records say, and all of them together the kernels' counts."""
        samples, kernels, decodes = self.sampled(session, **settings)
        self.assertGreater(len(kernels), 0)
        self.assertEqual(self.logged()["late"], 0)
        for sample in samples:
            for metric, value in zip(SAMPLED, sample.values):
                wanted = truth(metric, sample, kernels)
                self.assertAlmostEqual(value, wanted, msg=metric, delta=1e-6 + 1e-9 * abs(wanted))
        for i, metric in enumerate(SAMPLED):
            if metric != "sm__cycles_elapsed.avg":
                wanted = sum(counts(kernel)[metric] for kernel in kernels)
                self.assertAlmostEqual(sum(s.values[i] for s in samples), wanted, msg=metric, delta=1e-6 * wanted + 1e-6)
        return samples, kernels, decodes

    def test_samples_of_long_kernels_have_the_right_values(self):
        samples, _, _ = self.check(self.kernels_only(launches=20, kernel_ns=350000, step_ns=400000))
        self.assertEqual({s.end - s.start for s in samples[1:]}, {20000})

    def test_samples_of_kernels_shorter_than_a_sample_have_the_right_values(self):
        self.check(self.kernels_only(launches=300, kernel_ns=3000))

    def test_kernels_of_several_threads_at_once_add_up(self):
        self.check(self.kernels_only(threads=3, launches=50, kernel_ns=90000, step_ns=100000))

    def test_samples_of_kernels_in_a_graph_have_the_right_values(self):
        self.check(self.synthetic(launches=0, copies=0, graphs=5, nodes=7, kernel_ns=8000))

    def test_all_samples_can_be_decoded_at_the_end(self):
        samples, _, decodes = self.check(self.kernels_only(launches=200), REPLAY_CLIENT_DECODE_MS=0,
                                         REPLAY_CLIENT_SAMPLES=10)
        full, drained = (1, 0), (2, 0)
        self.assertEqual(decodes, (len(decodes) - 1) * [full] + [drained])
        self.assertEqual(len(decodes), math.ceil(len(samples) / 10))

    def test_samples_are_contiguous_and_the_first_one_is_stale(self):
        samples, kernels, _ = self.sampled(self.kernels_only(launches=50))
        self.assertEqual([a.end for a in samples[:-1]], [b.start for b in samples[1:]])
        self.assertEqual(samples[0].end - samples[0].start, STALE + 20000)
        self.assertLess(samples[1].start, kernels[0].start)
        self.assertGreater(samples[-1].end, kernels[-1].end)

    def test_a_second_start_drops_the_samples_of_the_first(self):
        samples, _, _ = self.check(self.kernels_only(launches=50), REPLAY_CLIENT_MISUSE="start again")
        self.assertEqual([s.end - s.start for s in samples].count(STALE + 20000), 1)
        self.assertGreaterEqual(self.logged()["samples"], len(samples) + 2000 // 20)

    def test_cycles_also_elapse_while_the_gpu_is_idle(self):
        samples, _, _ = self.sampled(self.kernels_only(launches=2, step_ns=2000000))
        idle = [s for s in samples[1:] if s.values[0] == 0]
        self.assertGreater(len(idle), 50)
        self.assertEqual({s.values[1] for s in idle}, {30000})

    def test_rates_refer_to_the_time_of_a_sample(self):
        metrics = ["sm__cycles_elapsed.avg.per_second", "dram__bytes_read.sum", "dram__bytes_read.sum.per_second",
                   "sm__cycles_active.avg", "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
                   "gpu__time_duration.sum"]
        samples, _, _ = self.sampled(self.kernels_only(launches=20, kernel_ns=100000), metrics=metrics)
        for clock, read, rate, active, share, time in (s.values for s in samples[1:]):
            self.assertAlmostEqual(clock, 1.5e9, delta=1)
            self.assertAlmostEqual(rate, read / 20e-6, delta=1)
            self.assertAlmostEqual(share, 100 * active / 30000)
            self.assertEqual(time, 20000)

    def test_samples_of_a_recorded_program_can_be_decoded_in_time(self):
        _, kernels, _ = self.sampled(processes.recorded("train_step"))
        self.assertGreater(len(kernels), 10)
        self.assertEqual(self.logged()["late"], 0)

    def test_a_second_gpu_idles(self):
        samples, kernels, _ = self.sampled(self.kernels_only(launches=50), REPLAY_CLIENT_DEVICE=1, REPLAY_GPU_COUNT=2)
        self.assertEqual(len(kernels), 50)
        self.assertEqual({s.values[3] for s in samples}, {0})

    def test_the_log_lists_all_calls(self):
        samples, _, _ = self.sampled(self.kernels_only(launches=20))
        self.assertEqual([line.rpartition(" at=")[0] for line in self.log.read_text().splitlines()], [
            "sampling enable device=0", "sampling start device=0 interval=20000",
            f"sampling stop device=0 samples={len(samples)}",
            f"sampling disable device=0 samples={len(samples)} decoded={len(samples)} late=0"])


class Overflow(Samples):
    BUFFER = 20 * 4096  # room for 20 samples

    def test_the_latest_samples_are_kept(self):
        samples, kernels, decodes = self.sampled(self.kernels_only(launches=200), REPLAY_CLIENT_DECODE_MS=0,
                                                 REPLAY_CLIENT_BUFFER=self.BUFFER)
        self.assertEqual(len(samples), 20)
        self.assertEqual(decodes, [(2, 1)])
        self.assertEqual({s.end - s.start for s in samples}, {20000})
        self.assertGreater(samples[-1].end, kernels[-1].end)
        self.assertEqual(self.logged()["decoded"], 20)
        self.assertGreater(self.logged()["samples"], 100)

    def test_a_full_buffer_that_keeps_the_oldest_samples_cannot_be_read(self):
        run, lines = self.sample(self.kernels_only(launches=200), REPLAY_CLIENT_DECODE_MS=0,
                                 REPLAY_CLIENT_BUFFER=self.BUFFER, REPLAY_CLIENT_KEEP="oldest")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("failed:cuptiPmSamplingDecodeData=8", lines)
        self.assertIn("decode 0 1", lines)
        self.assertFalse([line for line in lines if line.startswith("sample ")])

    def test_a_buffer_that_keeps_the_oldest_samples_works_until_it_is_full(self):
        samples, _, decodes = self.sampled(self.kernels_only(launches=200), REPLAY_CLIENT_KEEP="oldest")
        self.assertGreater(len(samples), 100)
        self.assertEqual({overflow for _, overflow in decodes}, {0})

    def test_a_decoder_that_is_too_slow_loses_samples(self):
        samples, _, decodes = self.sampled(self.kernels_only(launches=2000), REPLAY_CLIENT_BUFFER=self.BUFFER,
                                           REPLAY_CLIENT_SAMPLES=16, REPLAY_DECODE_US=50)
        self.assertIn(1, [overflow for _, overflow in decodes])
        self.assertLess(len(samples), self.logged()["samples"])

    def test_an_overflow_can_be_requested(self):
        samples, _, decodes = self.sampled(self.kernels_only(launches=1000), REPLAY_SAMPLING_OVERFLOW=2)
        self.assertEqual([overflow for _, overflow in decodes], [i % 2 for i in range(len(decodes))])
        self.assertLess(len(samples), self.logged()["samples"])
        self.assertEqual(len(samples), self.logged()["decoded"])
        self.assertTrue(any(a.end < b.start for a, b in zip(samples, samples[1:])))


class Refusals(Samples):
    def refused(self, function, code, **settings):
        run, lines = self.sample(self.kernels_only(launches=3), **settings)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn(f"failed:{function}={code}", lines)

    def test_refused_calls_return_the_codes_of_the_real_library(self):
        for misuse, function, code in [
                ("wrong size", "cuptiPmSamplingEnable", 1),
                ("no such device", "cuptiPmSamplingEnable", 1),
                ("not initialized", "cuptiPmSamplingGetCounterAvailability", 15),
                ("not initialized", "cuptiPmSamplingEnable", 15),
                ("no interval", "cuptiPmSamplingSetConfig", 1),
                ("trigger by clock", "cuptiPmSamplingSetConfig", 27),
                ("enable twice", "cuptiPmSamplingEnable", 7)]:
            with self.subTest(misuse):
                self.refused(function, code, REPLAY_CLIENT_MISUSE=misuse)

    def test_ranges_and_samples_exclude_each_other(self):
        for misuse, function in [
                ("range while started", "cuptiRangeProfilerStart"),
                ("range while started", "cuptiProfilerGetCounterAvailability"),
                ("availability while started", "cuptiPmSamplingGetCounterAvailability"),
                ("sample beside ranges", "cuptiPmSamplingSetConfig"),
                ("sample beside ranges", "cuptiPmSamplingGetCounterAvailability")]:
            with self.subTest(f"{misuse}: {function}"):
                self.refused(function, 26, REPLAY_CLIENT_MISUSE=misuse)

    def test_sampling_works_after_the_ranges_have_ended(self):
        _, lines = self.sample(self.kernels_only(launches=20), REPLAY_CLIENT_MISUSE="sample beside ranges")
        self.assertEqual(lines.count("failed:cuptiPmSamplingSetConfig=26"), 1)
        self.assertTrue([line for line in lines if line.startswith("sample ")])

    def test_metrics_that_cannot_be_sampled_are_refused(self):
        for metric in ("sm__ops_path_tensor_src_fp64.sum", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                       "sm__cycles_active", "nosuch__metric.sum"):
            with self.subTest(metric):
                self.refused("cuptiProfilerHostConfigAddMetrics", 1, metrics=["sm__cycles_active.avg", metric])

    def test_metrics_of_two_passes_are_refused(self):
        self.refused("cuptiPmSamplingSetConfig", 27, metrics=["lts__t_sector_hit_rate.pct"])

    def test_calls_after_a_fatal_error_are_refused(self):
        self.refused("cuptiPmSamplingStop", 15, REPLAY_FATAL_AFTER=1)

    def test_any_call_can_be_made_to_fail(self):
        for function, code in [("cuptiPmSamplingGetCounterAvailability", 35), ("cuptiPmSamplingEnable", 35),
                               ("cuptiPmSamplingStart", 26), ("cuptiPmSamplingDecodeData", 999)]:
            with self.subTest(function):
                self.refused(function, code, REPLAY_FAIL=f"{function}={code}")


class Misuse(Samples):
    def broken(self, misuse, *words, **settings):
        run, _ = self.sample(self.kernels_only(launches=3), REPLAY_CLIENT_MISUSE=misuse, **settings)
        self.assertEqual(run.code, -6, run.err)
        self.assertIn("the client broke the contract: ", run.err)
        for word in words:
            self.assertIn(word, run.err)

    def test_calls_in_the_wrong_order_end_the_program(self):
        for misuse, *words in [
                ("start without config", "without SetConfig"), ("start twice", "twice without Stop"),
                ("stop without start", "Stop", "without Start"), ("decode before start", "before Start"),
                ("decode after config", "before Start"),
                ("config while started", "SetConfig", "between Start and Stop"),
                ("disable while started", "without Stop"), ("use after disable", "after cuptiPmSamplingDisable"),
                ("finalize", "cuptiFinalize", "sampler")]:
            with self.subTest(misuse):
                self.broken(misuse, *words)

    def test_bad_counter_images_end_the_program(self):
        for misuse, *words in [("small image", "another size"), ("image not initialized", "not initialized"),
                               ("full image", "full image")]:
            with self.subTest(misuse):
                self.broken(misuse, *words, REPLAY_CLIENT_SAMPLES=10)

    def test_calls_on_two_threads_at_once_end_the_program(self):
        self.broken("two threads", "another thread")


processes.main()

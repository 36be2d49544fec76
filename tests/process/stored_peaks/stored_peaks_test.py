# SPDX-License-Identifier: Apache-2.0
"""Stored peaks in captures, before captures and in the C interface, with the shipped library in real processes."""
import json
import os
import pathlib
import uuid

import processes

PLAN = dict(threads=2, launches=20)


class StoredPeaks(processes.Case):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "peaks"
        self.capture = self.folder / "out.gpuprof"
        self.session = self.synthetic(**PLAN)
        # Tests that run at once do not share a GPU: its counters would be one process's at a time.
        self.gpu = {"REPLAY_GPU_UUID": "GPU-" + str(uuid.uuid5(uuid.NAMESPACE_URL, str(self.folder)))}
        self.addCleanup(pathlib.Path(f"/tmp/gpuprof-{os.geteuid()}-{self.gpu['REPLAY_GPU_UUID']}.lock").unlink, True)
        # What gpuprof-play has of itself: the pretended driver, NVML and CUPTI.
        self.pretended = {**self.gpu, "REPLAY_GPU_MHZ": "1000", "REPLAY_SESSION": self.session, "LD_LIBRARY_PATH": processes.path("BUILT_REPLAY_LIBS"),
                          "GPUPROF_PEAKS_DIR": str(self.store)}
        self.no_gpu = {"CUDA_VISIBLE_DEVICES": "", "GPUPROF_PEAKS_DIR": str(self.store)}

    def store_peaks(self):
        """The file in which they are now."""
        run = self.run_program(processes.path("BUILT_MAKE_STORED_PEAKS"), self.store, env=self.pretended)
        self.assertEqual(run.code, 0, run.err)
        return pathlib.Path(run.out.strip())

    def profile(self, **settings):
        env = {**self.gpu, "GPUPROF_OUTPUT": str(self.folder / "out"), "GPUPROF_PEAKS_DIR": str(self.store)}
        env.update(settings)
        run = self.play(self.session, preload=[processes.path("BUILT_PRELOAD")], env=env)
        self.assertEqual(run.code, 0, run.err)
        return run

    def rows(self):
        run = self.run_program(processes.path("BUILT_SHOW_CAPTURE_PEAKS"), self.capture)
        self.assertEqual((run.code, run.err), (0, ""))
        return {row["test"]: row for row in map(json.loads, run.out.splitlines())}

    def stats(self, capture=None):
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-r", "cuda_gpu_kern_sum",
                               capture or self.capture)
        self.assertEqual(run.code, 0, run.err)
        return run.out

    def lines_on_peaks(self, err):
        return [line for line in err.splitlines() if "peaks" in line]


class InCaptures(StoredPeaks):
    def test_stored_peaks_are_in_the_capture(self):
        self.store_peaks()
        run = self.profile()
        self.assertEqual(self.lines_on_peaks(run.err), [])
        rows = self.rows()
        self.assertIn("h2d", rows)
        self.assertNotIn("tensor_fp4", rows)  # was not measured
        self.assertEqual(rows["tensor_bf16"], {
            "device": 0, "test": "tensor_bf16", "group": "tensor_cores", "title": rows["tensor_bf16"]["title"],
            "unit": "FLOP/s", "clock": "SM clock per SM", "method": "wgmma m64n256k16", "operands": "random",
            "measured_at": "2026-01-01T12:00:00Z", "per_clock": 50, "per_clock_theory": 64, "burst": 100,
            "burst_spread": 0.01, "burst_sm_clock_mhz": 1000, "sustained": 80, "sustained_sm_clock_mhz": 1000,
            "sustained_watts": 300, "theory": 128, "limiters": 0x24, "remark": ""})
        self.assertEqual(rows["l2_read"]["remark"], "one line on what lessens it")
        self.assertEqual(rows["dram_read"]["measured_at"], "2026-02-01T12:00:00Z")
        self.assertIn("\npeaks: GPU 0 measured 2026-02-01T12:00:00Z\n", self.stats())

    def test_without_stored_peaks_nothing_is_reported(self):
        for made in (False, True):
            with self.subTest(folder=made):
                if made:
                    self.store.mkdir()
                self.capture.unlink(missing_ok=True)
                self.assertEqual(self.lines_on_peaks(self.profile().err), [])
                self.assertEqual(self.rows(), {})
                self.assertNotIn("peaks", self.stats())

    def test_peaks_of_another_state_of_the_gpu_are_not_used(self):
        self.store_peaks()
        run = self.profile(REPLAY_GPU_MIG="1")
        self.assertEqual(self.lines_on_peaks(run.err), [])
        self.assertEqual(self.rows(), {})

    def test_a_damaged_store_gives_one_line_and_the_capture_is_complete(self):
        file = self.store_peaks()
        whole = file.read_text()
        damaged = [whole[:500], "damage", "", "{\"format\": 1, \"gpus\": 7}", "[" * 100_000]
        for text in damaged:
            with self.subTest(text[:30]):
                file.write_text(text)
                self.capture.unlink(missing_ok=True)
                lines = self.lines_on_peaks(self.profile().err)
                self.assertEqual(len(lines), 1, lines)
                self.assertIn("the capture has no peaks", lines[0])
                self.assertIn(str(file), lines[0])
                self.assertEqual(self.rows(), {})
                self.assertIn("lost: nothing", self.stats())

    def test_the_log_level_hides_the_line(self):
        self.store_peaks().write_text("damage")
        self.assertEqual(self.profile(GPUPROF_LOG_LEVEL="warning").err, "")


class WhileItRuns(StoredPeaks):
    @processes.timing  # what is sampled and read must come within the seconds that are played
    def test_the_live_metrics_show_shares_of_the_stored_peaks_and_none_of_one_that_is_exceeded(self):
        # Samples come first, and operations of CUDA cores after them: time for both on a loaded machine.
        session = self.synthetic(threads=1, launches=10000, step_ns=1000000, graphs=0)
        self.store_peaks()
        told = self.folder / "achieved.json"
        run = self.play(session, preload=[processes.path("BUILT_PRELOAD"), processes.path("BUILT_WATCHER")], env={
            **self.gpu, "GPUPROF_OUTPUT": str(self.folder / "out"), "GPUPROF_PEAKS_DIR": str(self.store), "GPUPROF_METRICS": "auto",
            "GPUPROF_OVERHEAD_BUDGET": "90", "GPUPROF_FLUSH_INTERVAL_MS": "50", "REPLAY_WATCH_OUTPUT": str(told)})
        self.assertEqual(run.code, 0, run.err)
        achieved = json.loads(told.read_text())
        self.assertEqual(achieved["has_peaks"], 1)
        line = achieved["ranges"]["step"]
        # 50 FLOP in a clock on each of 10 SMs; 100 B/s of DRAM, which is far exceeded, so that is no roof.
        self.assertAlmostEqual(line["precisions_of_peak"]["fp32"] / (line["flops"] / (50 * 10 * line["sm_clock_hz"])), 1, places=6)
        self.assertGreater(line["dram_bytes_per_second"], 105)
        self.assertIsNone(line["dram_of_peak"])
        self.assertNotEqual(line["bound_by"], "DRAM")


class Beforehand(StoredPeaks):
    def profile_with_peaks(self, *command, env, options=("--peaks", "on")):
        return self.run_program(processes.path("BUILT_GPUPROF"), "profile", *options, "-o", self.folder / "out",
                                "--", *command, env={"GPUPROF_LIBRARY": processes.path("BUILT_LIBGPUPROF"), **env},
                                timeout=400)  # every test on a pretended GPU, perhaps with a sanitizer

    def test_stored_peaks_are_used_and_copied_into_the_capture(self):
        self.store_peaks()
        run = self.profile_with_peaks(processes.path("BUILT_PLAY"), self.session, env=self.pretended)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("gpuprof: peaks of GPU 0: measured 2026-01-01T12:00:00Z, stored in ", run.err)
        self.assertIn("tensor_bf16", self.rows())

    def test_missing_peaks_are_measured_first(self):
        run = self.profile_with_peaks(processes.path("BUILT_PLAY"), self.session, env=self.pretended)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("gpuprof: peaks of GPU 0: measured now, stored in ", run.err)
        self.assertIn("fp32", self.rows())

    def test_one_line_says_that_peaks_cannot_be_stored(self):
        self.store.write_text("a file where the folder should be")
        run = self.profile_with_peaks("sh", "-c", "exit 7", env=self.pretended)
        self.assertEqual(run.code, 7)
        self.assertEqual(len(self.lines_on_peaks(run.err)), 1, run.err)
        self.assertRegex(run.err, r"gpuprof: peaks of GPU 0: the peaks are not stored: cannot write ")

    def test_a_failed_measurement_gives_one_line_and_the_program_runs(self):
        run = self.profile_with_peaks("sh", "-c", "exit 7", env=self.no_gpu)
        self.assertEqual(run.code, 7)
        lines = self.lines_on_peaks(run.err)
        self.assertEqual(len(lines), 1, run.err)
        self.assertRegex(lines[0], r"^gpuprof: no peaks: .*The program is profiled all the same$")

    def test_a_wrong_command_line_measures_nothing(self):
        run = self.run_program(processes.path("BUILT_GPUPROF"), "profile", "--peaks", "on", "no-such-program", env=self.no_gpu)
        self.assertEqual(run.code, 127)
        self.assertEqual(len(run.err.splitlines()), 1, run.err)

    def test_the_environment_of_the_program_has_no_variables_of_the_measurement(self):
        run = self.profile_with_peaks("sh", "-c", "env", env={**self.no_gpu, "NVTX_INJECTION64_PATH": "/opt/other.so"})
        self.assertNotIn("GPUPROF_PEAKS=", run.out)
        self.assertIn("NVTX_INJECTION64_PATH=/opt/other.so", run.out)

    def test_peaks_are_measured_with_counters_unless_they_are_stored(self):
        lines = []
        for _ in range(2):
            run = self.profile_with_peaks("true", env=self.pretended, options=("--metrics", "auto"))
            self.assertEqual(run.code, 125, run.err)  # of nothing recorded
            lines.append(self.lines_on_peaks(run.err))
        self.assertEqual([len(said) for said in lines], [1, 0], lines)
        self.assertRegex(lines[0][0], r"gpuprof: peaks of GPU 0: measured now, stored in .*--peaks off")

    def test_peaks_are_not_measured_without_counters_or_in_jobs_or_if_the_option_is_off(self):
        ranks = {"RANK": "1", "WORLD_SIZE": "2"}
        for options, env in [((), {}), (("--metrics", "auto"), ranks), (("--metrics", "auto", "--peaks", "off"), {})]:
            with self.subTest(options=options, env=env):
                run = self.profile_with_peaks("true", env={**self.pretended, **env}, options=options)
                self.assertEqual(run.code, 125, run.err)  # of nothing recorded
                self.assertEqual(self.lines_on_peaks(run.err), [])
                self.assertFalse(self.store.exists())

    def test_a_machine_without_a_gpu_gives_no_line_if_peaks_were_not_requested(self):
        run = self.profile_with_peaks("sh", "-c", "exit 7", env=self.no_gpu, options=("--metrics", "auto"))
        self.assertEqual(run.code, 7)
        self.assertEqual(self.lines_on_peaks(run.err), [])


class CInterface(StoredPeaks):
    def ask(self, *words, env=None):
        run = self.run_program(processes.path("BUILT_C_INTERFACE"), *words, env=env or self.pretended)
        self.assertEqual(run.code, 0, run.err)
        return run

    def assert_inactive(self, run, words):
        lines = [line for line in run.err.splitlines() if "no peaks are measured" in line]
        self.assertEqual(len(lines), 1, run.err)
        self.assertEqual(run.out.splitlines(), ["status=1", "peaks=none", "why=" + lines[0].removeprefix("[gpuprof] ")], run.err)
        self.assertIn(words, lines[0])

    def test_without_a_gpu_the_call_is_inactive_and_says_why_once(self):
        for words in ([], ["tensor_bf16"], ["memory", "refresh"]):
            with self.subTest(words):
                run = self.ask(*words, env=self.no_gpu)
                self.assert_inactive(run, "no peaks are measured: there is no ")
                self.assertEqual(len(run.err.splitlines()), 1, run.err)

    def test_invalid_arguments(self):
        run = self.ask("invalid", env=self.no_gpu)
        self.assertEqual(run.out.splitlines(), [
            "no place 2 peaks is NULL",
            "too small 2 struct_size fits no version of gpuprof_peaks_options: set it to sizeof(gpuprof_peaks_options)",
            "no device 2 device is negative: GPUs are counted from 0",
            *(f"{what} 2 {line.removeprefix('[gpuprof] ')}" for what, line in zip(("no test", "no name"), run.err.splitlines(), strict=True))])
        self.assertIn("tensor_bf16", run.err.splitlines()[0])

    def test_stored_peaks_are_returned_even_while_a_capture_runs(self):
        file = self.store_peaks()
        out = self.ask().out.splitlines()
        self.assertEqual([out[0], out[1], out[3]], ["status=0", "gpu=Pretended GPU", "stored=1"])
        self.assertIn(str(file), out[4])
        self.assertEqual(out[5:7], ["remarks=first line", "second line"])
        rows = {line.split("|")[0]: line.split("|") for line in out[7:]}
        self.assertEqual(rows["tensor_bf16"][2:], [
            "FLOP/s", "1", "SM clock per SM", "50", "64", "100", "0.01", "1000", "80", "1000", "300", "128", "36",
            "wgmma m64n256k16", "random", "", "2026-01-01T12:00:00Z"])
        self.assertEqual(rows["tensor_fp4"][3], "0")
        self.assertEqual(rows["tensor_fp4"][-2], "this chip has no such units")
        self.assertEqual(rows["l2_read"][-2], "one line on what lessens it")
        self.assertEqual(rows["dram_read"][-1], "2026-02-01T12:00:00Z")

    def test_tests_are_chosen_by_name_and_group(self):
        self.store_peaks()
        names = [line.split("|")[0] for line in self.ask("latency,fp64").out.splitlines() if "|" in line]
        self.assertEqual(names, ["fp64", "launch_latency", "launch_throughput", "graph_node", "synchronize"])

    def test_nothing_is_measured_while_a_capture_runs(self):
        self.assert_inactive(self.ask(), "call gpuprof_stop() first")
        self.store_peaks()
        self.assert_inactive(self.ask("fp64", "refresh"), "call gpuprof_stop() first")

    def test_the_call_outside_captures_measures_and_stores_but_its_work_is_in_no_capture(self):
        for name, words, more in (["stopped", ["stop-first"], {}],
                                  ["armed", [], {"GPUPROF_CAPTURE_RANGE": "cudaProfilerApi"}]):
            with self.subTest(name):
                store = self.folder / name
                env = {**self.pretended, **more, "GPUPROF_PEAKS_DIR": str(store),
                       "GPUPROF_OUTPUT": str(self.folder / name)}
                out = self.ask("fp32,launch_latency", *words, env=env).out.splitlines()
                self.assertEqual([out[0], out[3]], ["status=0", "stored=0"])
                self.assertEqual(len(list(store.iterdir())), 1)
                self.assertIn("stored=1", self.ask("fp32", env=env).out)
                capture = self.folder / (name + ".gpuprof")
                if capture.exists():
                    self.assertNotRegex(self.stats(capture), r"captured: .*\b(kernel|cop)")

    def test_a_damaged_store_is_reported(self):
        self.store_peaks().write_text("damage")
        self.assert_inactive(self.ask(), "the stored peaks cannot be read")

    def test_a_forked_child_is_not_profiled(self):
        self.store_peaks()
        for env in (self.pretended, self.no_gpu):
            out = self.ask("fork", env=env).out
            self.assertIn("child=1\n", out)
            self.assertRegex(out, r"in the child=process \d+ is not profiled: it was forked after its parent had begun to use CUPTI")


if __name__ == "__main__":
    processes.main()

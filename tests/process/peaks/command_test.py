# SPDX-License-Identifier: Apache-2.0
"""gpuprof peaks from end to end on a GPU that is not there: the full table, and everything that can go wrong with it.

What the fake GPU can be asked for is listed in tests/replay/driver/README.md. After every run its ledger must show
that all was released and nothing was done wrongly, however the run ended.
"""
import json
import os
import pathlib
import processes
import unittest

CUDA_CORES = ["fp64", "fp32", "fp16", "bf16", "int32", "special"]
TENSOR_CORES = ["tensor_fp64", "tensor_tf32", "tensor_fp16", "tensor_fp16_acc16", "tensor_bf16", "tensor_fp8", "tensor_int8",
                "tensor_fp6", "tensor_fp4"]
MEMORY = ["dram_read", "dram_write", "dram_copy", "dram_triad", "l2_read", "l2_write", "shared_read", "shared_write", "l1_read"]
LINKS = ["h2d", "d2h", "h2d_d2h", "h2d_pageable", "d2h_pageable", "p2p"]
LATENCY = ["launch_latency", "launch_throughput", "graph_node", "synchronize"]
EVERYTHING = CUDA_CORES + TENSOR_CORES + MEMORY + LINKS + LATENCY
SUSTAINED = {"fp64", "fp32", "dram_read", "dram_copy", *TENSOR_CORES} - {"tensor_fp6", "tensor_fp4"}


class Peaks(processes.Case):
    def setUp(self):
        super().setUp()
        self.ledger = self.folder / "ledger"
        self.libraries = processes.path("BUILT_REPLAY_LIBS")
        self.session = processes.recorded("graph")

    def peaks(self, *options, store=None, environment=None, **gpu):
        """Runs gpuprof peaks; gpu: REPLAY_GPU_... variables in lower case."""
        asked = {"free_mib": 200, "l2_mib": 4, "ledger": self.ledger, **gpu}
        self.ledger.unlink(missing_ok=True)
        env = {"LD_LIBRARY_PATH": self.libraries, "REPLAY_SESSION": self.session, "LC_ALL": "C",
               "GPUPROF_PEAKS_DIR": str(store or self.folder / "store"),
               # The driver's memory is the host's: LeakSanitizer would look through gigabytes.
               "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}
        env.update({"REPLAY_GPU_" + name.upper(): str(value) for name, value in asked.items()})
        env.update(environment or {})
        run = self.run_program(processes.path("BUILT_GPUPROF"), "peaks", *options, env=env)
        self.check_ledger(run)
        return run

    def leave_out_nvml(self):
        libraries = self.folder / "libraries"
        libraries.mkdir()
        (libraries / "libcuda.so.1").symlink_to(pathlib.Path(self.libraries, "libcuda.so.1"))
        self.libraries = str(libraries)

    def check_ledger(self, run):
        if not self.ledger.exists():
            return
        lines = self.ledger.read_text().splitlines()
        self.assertEqual([line for line in lines if not line.startswith("launches ")], [], run.err)

    def launches(self):
        return int(self.ledger.read_text().split()[-1]) if self.ledger.exists() else 0

    def measured(self, *options, code=0, **gpu):
        """The one GPU of `gpuprof peaks --json`."""
        run = self.peaks("--json", *options, **gpu)
        self.assertEqual(run.code, code, run.err)
        (gpu,) = json.loads(run.out)["gpus"]
        return gpu

    def results(self, *options, **gpu):
        return {r["test"]: r for r in self.measured(*options, **gpu)["results"]}

    def one_line(self, run, words, code=1):
        self.assertEqual(run.code, code, run.err)
        self.assertEqual(run.out, "")
        self.assertEqual(run.err.count("\n"), 1, run.err)
        self.assertIn(words, run.err)

    def check_failed(self, result, words):
        self.assertEqual(result["outcome"], "failed", result)
        self.assertIn(words, result["remark"])
        self.assertNotIn("\n", result["remark"])
        for figure in ("per_clock", "burst", "sustained"):
            self.assertNotIn(figure, result)


class FullTable(Peaks):
    def test_every_test_is_measured_and_stored(self):
        gpu = self.measured()
        results = {r["test"]: r for r in gpu["results"]}
        self.assertEqual(list(results), EVERYTHING)
        self.assertEqual(gpu["name"], "NVIDIA H200")
        for name, r in results.items():
            with self.subTest(name):
                if name in ("tensor_fp6", "tensor_fp4", "p2p"):
                    self.assertEqual(r["outcome"], "unavailable")
                    self.assertNotIn("burst", r)
                    continue
                self.assertEqual(r["outcome"], "measured", r.get("remark"))
                self.assertGreater(r["burst"]["value"], 0)
                self.assertEqual("sustained" in r, name in SUSTAINED)
                self.assertTrue(r["method"])
                if name in LATENCY + LINKS:
                    continue
                self.assertEqual(r["operands"], "random")
                self.assertLessEqual(r["per_clock"]["value"], r["per_clock_theory"] * 1.005)
                self.assertLess(r["burst"].get("spread", 0), 0.02)
                if not name.startswith(("l2_", "dram_")):
                    self.assertAlmostEqual(r["per_clock"]["value"] / r["per_clock_theory"], 0.985, delta=0.002)
                    self.assertAlmostEqual(r["burst"]["value"] / r["theory"], 0.985, delta=0.005)
                    self.assertAlmostEqual(r["burst"]["sm_clock_mhz"], 1980, delta=3)
                if "sustained" in r:
                    # Launches take a microsecond, and over so little DRAM kernels take 15.
                    self.assertAlmostEqual(r["sustained"]["value"] / r["burst"]["value"], 1,
                                           delta=0.08 if name.startswith("dram_") else 0.03)
        self.assertIn("L2-biased", results["dram_read"]["remark"])
        self.assertEqual(results["tensor_bf16"]["method"], "wgmma m64n256k16")
        (stored,) = (self.folder / "store").iterdir()
        self.assertEqual(json.loads(stored.read_text())["gpus"][0]["results"], gpu["results"])

        again = self.peaks("--json")
        self.assertEqual(json.loads(again.out)["gpus"], [gpu])
        self.assertIn("--refresh measures anew", again.err)
        self.assertEqual(self.launches(), 0)

    def test_quick_has_no_sustained_figures(self):
        results = self.results("--quick")
        self.assertEqual(list(results), EVERYTHING)
        for r in results.values():
            self.assertNotIn("sustained", r)
            self.assertEqual(r["effort"], "quick")
        self.assertEqual(results["fp32"]["burst"]["samples"], 4)

    def test_only_the_chosen_tests_run(self):
        results = self.results("--quick", "--only", "l2_read,fp64")
        self.assertEqual(list(results), ["fp64", "l2_read"])
        self.one_line(self.peaks("--only", "tensor_bf61"), "tensor_bf16", code=2)

    def test_every_test_that_allows_it_has_a_sustained_figure(self):
        results = self.results("--sustained", "--only", "int32,l1_read,h2d")
        self.assertIn("sustained", results["int32"])
        self.assertIn("sustained", results["l1_read"])
        self.assertNotIn("sustained", results["h2d"])

    def test_the_clock_is_the_one_that_the_kernel_measured(self):
        slow = self.results("--quick", "--only", "fp64,tensor_int8", mhz=1410)
        for r in slow.values():
            self.assertAlmostEqual(r["burst"]["sm_clock_mhz"], 1410, delta=3)
            self.assertAlmostEqual(r["per_clock"]["value"] / r["per_clock_theory"], 0.985, delta=0.002)
            self.assertAlmostEqual(r["burst"]["value"] / r["theory"], 0.985 * 1410 / 1980, delta=0.005)

    def test_a_neighbor_in_between_shows_as_spread(self):
        noisy = self.results("--quick", "--only", "fp64,dram_write", noise=0.3)
        for r in noisy.values():
            self.assertGreater(r["burst"]["spread"], 0.15)
        self.assertAlmostEqual(noisy["fp64"]["burst"]["value"] / noisy["fp64"]["theory"], 0.985, delta=0.01)

    def test_zeros_are_named_and_not_stored(self):
        results = self.results("--quick", "--zeros", "--only", "fp64,tensor_bf16,l2_read,dram_copy")
        self.assertEqual({r["operands"] for r in results.values()}, {"zeros"})
        self.assertFalse((self.folder / "store").exists())


class Chips(Peaks):
    def methods(self, chip, **gpu):
        results = self.results("--quick", "--refresh", "--only", "cuda_cores,tensor_cores", chip=chip, **gpu)
        return {name: r.get("method") for name, r in results.items() if r["outcome"] == "measured"}

    def test_every_generation_runs_its_own_instructions(self):
        turing = self.methods("7.5")
        self.assertEqual(turing["tensor_fp16"], "mma.sync m16n8k8")
        self.assertEqual(turing["tensor_int8"], "mma.sync m8n8k16")
        self.assertEqual(set(turing), set(CUDA_CORES) - {"bf16"} | {"tensor_fp16", "tensor_fp16_acc16", "tensor_int8"})
        ampere = self.methods("8.0")
        self.assertEqual(ampere["tensor_fp64"], "mma.sync m8n8k4")
        self.assertEqual(ampere["tensor_tf32"], "mma.sync m16n8k8")
        self.assertNotIn("tensor_fp8", ampere)
        self.assertEqual(self.methods("8.9")["tensor_fp8"], "mma.sync m16n8k32")
        blackwell = self.methods("10.0")
        self.assertEqual(set(blackwell), set(CUDA_CORES + TENSOR_CORES))
        for name in set(TENSOR_CORES) - {"tensor_fp64"}:
            self.assertTrue(blackwell[name].startswith("tcgen05.mma m128n256"), blackwell[name])
        self.assertNotIn("tensor_int8", self.methods("10.3"))
        consumer = self.methods("12.0")
        self.assertEqual(consumer["tensor_fp4"], "mma.sync m16n8k64")
        self.assertEqual(consumer["tensor_fp6"], "mma.sync m16n8k32")

    def test_a_chip_newer_than_all_targets_still_runs_what_can_be_compiled(self):
        results = self.results("--quick", chip="13.0")
        for name in CUDA_CORES + ["tensor_bf16", "tensor_int8", "dram_read", "l2_read", "h2d", "launch_latency"]:
            self.assertEqual(results[name]["outcome"], "measured", results[name].get("remark"))
            self.assertNotIn("per_clock_theory", results[name] if name != "dram_read" else {})
        for name in ("tensor_fp64", "tensor_fp8", "tensor_fp6", "tensor_fp4"):
            self.assertEqual(results[name]["outcome"], "unavailable")

    def test_without_ptx_support_in_the_driver_a_newer_chip_says_why_tests_are_unavailable(self):
        results = self.results("--quick", chip="13.0", no_ptx=1)
        for name in CUDA_CORES + TENSOR_CORES + MEMORY + LATENCY:
            self.assertEqual(results[name]["outcome"], "unavailable", name)
            self.assertTrue(results[name]["remark"])
        self.assertEqual(results["fp64"]["remark"], "no kernel was built for this chip (compute capability 13.0)")
        for name in ("h2d", "d2h", "h2d_d2h", "h2d_pageable", "d2h_pageable"):
            self.assertEqual(results[name]["outcome"], "measured")


class WrongResults(Peaks):
    def test_kernels_with_wrong_results_have_no_figure(self):
        wrong = {"cores_fp64": "fp64", "cores_bf16": "bf16", "wgmma_fp8": "tensor_fp8", "wgmma_fp16_acc16": "tensor_fp16_acc16",
                 "mma_fp64": "tensor_fp64", "dram_read": "dram_read", "dram_write": "dram_write", "dram_triad": "dram_triad",
                 "l2_read": "l2_read", "l2_write": "l2_write", "l1_read": "l1_read", "shared_read": "shared_read",
                 "shared_write": "shared_write"}
        results = self.results("--quick", "--only", "cuda_cores,tensor_cores,memory", code=1, wrong=",".join(wrong))
        for name, r in results.items():
            with self.subTest(name):
                if name in wrong.values():
                    self.check_failed(r, "its result is wrong")
                else:
                    self.assertNotEqual(r["outcome"], "failed", r.get("remark"))

    def test_copies_with_differences_have_no_figure(self):
        results = self.results("--quick", "--only", "links,int32", "--device", "0", code=1, count=2, wrong="copy")
        for name in [*(set(LINKS) - {"p2p"}), "p2p_to_1"]:
            self.check_failed(results[name], "its result is wrong: the copy differs")
        self.check_failed(results["p2p"], "no copy to another GPU worked")
        self.assertEqual(results["int32"]["outcome"], "measured")

    def test_blocks_with_different_results_have_no_figure(self):
        results = self.results("--quick", "--only", "special,tensor_int8,l2_read,int32", code=1,
                               differs="cores_special,wgmma_int8,l2_read")
        for name in ("special", "tensor_int8"):
            self.check_failed(results[name], "blocks that computed the same differ")
        self.check_failed(results["l2_read"], "it did not read what was written")  # each block something else
        self.assertEqual(results["int32"]["outcome"], "measured")

    def test_more_than_theory_is_a_broken_test(self):
        results = self.results("--quick", "--only", "fp64,int32,tensor_bf16,dram_read", code=1,
                               fast="cores_fp64:1.03,wgmma_bf16:1.1,dram_read:1.2")
        for name in ("fp64", "tensor_bf16", "dram_read"):
            self.check_failed(results[name], "the test is wrong here")
        self.assertEqual(results["int32"]["outcome"], "measured")

    def test_a_kernel_that_does_not_answer_fails_its_test_after_a_second(self):
        results = self.results("--quick", "--only", "latency", code=1, wrong="tell_host")
        self.check_failed(results["launch_latency"], "did not answer within a second")
        for name in ("launch_throughput", "graph_node", "synchronize"):
            self.assertEqual(results[name]["outcome"], "measured")

    def test_dram_above_theory_is_a_broken_test_also_without_nvml(self):
        self.leave_out_nvml()
        results = self.results("--quick", "--only", "dram_read", code=1, fast="dram_read:1.2")
        self.check_failed(results["dram_read"], "the test is wrong here")

    def test_link_rates_above_theory_mean_a_broken_test(self):
        results = self.results("--quick", "--only", "h2d,h2d_d2h", code=1, fast="copy:1.5")
        for name in ("h2d", "h2d_d2h"):
            self.check_failed(results[name], "the test is wrong here")

    def test_a_wrong_result_in_the_warm_up_fails_only_that_test(self):
        results = self.results("--quick", "--only", "fp32,int32", code=1, wrong="cores_fp32")
        self.check_failed(results["fp32"], "its result is wrong")
        self.assertEqual(results["int32"]["outcome"], "measured")


class Memory(Peaks):
    def test_dram_tests_fail_with_a_reason_if_memory_is_too_small(self):
        results = self.results("--quick", "--only", "dram_read,dram_triad,l2_read", code=1, free_mib=100)
        for name in ("dram_read", "dram_triad"):
            self.check_failed(results[name], "too little free memory")
        self.assertEqual(results["l2_read"]["outcome"], "measured")

    def test_dram_is_measured_with_a_smaller_buffer_and_a_remark(self):
        result = self.results("--quick", "--only", "dram_write", free_mib=300)["dram_write"]
        self.assertEqual(result["outcome"], "measured")
        self.assertRegex(result["remark"], "^L2-biased: 1[0-9]{2} MiB instead of 4096 ")
        self.assertLess(result["buffer_bytes"], 120 << 20)

    def test_a_failed_allocation_fails_only_its_own_test(self):
        results = self.results("--quick", "--only", "fp64,h2d,h2d_pageable,l2_read", code=1, limit_mib=60)
        self.check_failed(results["h2d"], "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY: too little free memory")
        for name in ("fp64", "h2d_pageable", "l2_read"):
            self.assertEqual(results[name]["outcome"], "measured", results[name].get("remark"))

    def test_missing_pinned_memory_fails_only_the_tests_that_need_it(self):
        results = self.results("--quick", "--only", "h2d,d2h_pageable,launch_latency,synchronize", code=1,
                               fail="cuMemHostAlloc=2")
        for name in ("h2d", "launch_latency"):
            self.check_failed(results[name], "cuMemHostAlloc failed with CUDA_ERROR_OUT_OF_MEMORY")
        for name in ("d2h_pageable", "synchronize"):
            self.assertEqual(results[name]["outcome"], "measured")

    def test_no_memory_at_all_gives_one_line(self):
        self.one_line(self.peaks(fail="cuMemAlloc_v2=2"), "CUDA_ERROR_OUT_OF_MEMORY")


class Lost(Peaks):
    WANTED = "fp64,l2_read,dram_write,h2d,graph_node,synchronize"

    def lost_at(self, call, *options):
        run = self.peaks("--json", "--refresh", "--only", self.WANTED, *options, lost=call + "=719")
        self.assertEqual(run.code, 1, run.err)
        return run

    def test_tests_before_the_loss_of_a_gpu_keep_their_figures(self):
        run = self.lost_at("cuLaunchKernel:60", "--quick")
        results = json.loads(run.out)["gpus"][0]["results"]
        outcomes = [r["outcome"] for r in results]
        self.assertIn("failed", outcomes)
        first = outcomes.index("failed")
        self.assertGreater(first, 0, "the test before it keeps its figure")
        self.check_failed(results[first], "cuLaunchKernel failed with CUDA_ERROR_LAUNCH_FAILED")
        for r in results[first + 1:]:
            self.check_failed(r, "not measured: the GPU does not answer any more since " + results[first]["test"])
        healed = self.results("--quick", "--only", self.WANTED)
        self.assertEqual({r["outcome"] for r in healed.values()}, {"measured"})

    def test_nothing_is_stored_or_left_behind_wherever_the_gpu_is_lost(self):
        for call in ("cuDevicePrimaryCtxRetain:1", "cuCtxPushCurrent_v2:1", "cuStreamCreate:1", "cuModuleLoadData:1",
                     "cuLaunchKernel:1", "cuMemcpyDtoH_v2:40", "cuMemAlloc_v2:4", "cuMemHostAlloc:1", "cuStreamCreate:2",
                     "cuEventElapsedTime:2", "cuGraphCreate:2", "cuGraphAddKernelNode_v2:300", "cuGraphLaunch:5"):
            with self.subTest(call):
                run = self.lost_at(call, "--quick")
                if not run.out:
                    self.assertEqual(run.err.count("\n"), 1, run.err)
                    continue
                for r in json.loads(run.out)["gpus"][0]["results"]:
                    if r["outcome"] != "measured":
                        self.check_failed(r, "")

    def test_a_gpu_may_be_lost_in_a_sustained_run(self):
        # The first launch of so many iterations: of all calls the last third are of sustained runs.
        self.results("--only", "fp64,tensor_int8")
        run = self.peaks("--json", "--refresh", "--only", "fp64,tensor_int8", lost=f"cuLaunchKernel:{self.launches() - 3}=719")
        self.assertEqual(run.code, 1)
        fp64, int8 = json.loads(run.out)["gpus"][0]["results"]
        self.assertIn("sustained", fp64)
        self.check_failed(int8, "cuLaunchKernel failed with CUDA_ERROR_LAUNCH_FAILED")

    def test_a_call_that_fails_once_fails_only_one_test(self):
        for call in ("cuGraphInstantiateWithFlags:1=801", "cuGraphCreate:2=801", "cuGraphAddKernelNode_v2:7=801"):
            with self.subTest(call):
                results = self.results("--quick", "--refresh", "--only", "graph_node,synchronize", code=1, fail=call)
                self.assertEqual(results["graph_node"]["outcome"], "failed")
                self.assertEqual(results["synchronize"]["outcome"], "measured")


class Surroundings(Peaks):
    def test_without_nvml_there_is_a_remark_and_all_figures(self):
        self.leave_out_nvml()
        gpu = self.measured("--quick", "--only", "fp64,dram_read,h2d")
        self.assertIn("There is no NVML", gpu["remarks"][0])
        for r in gpu["results"]:
            self.assertEqual(r["outcome"], "measured", r.get("remark"))
            self.assertNotIn("watts", r["burst"])

    def test_a_machine_without_a_gpu_gives_one_line(self):
        self.one_line(self.peaks(environment={"REPLAY_SESSION": ""}), "there is no GPU to measure")

    def test_a_busy_gpu_is_refused_and_its_processes_are_named(self):
        run = self.peaks(percent=87, processes="1:1073741824")
        self.one_line(run, "87 % busy")
        self.assertIn("(pid 1, 1.0 GiB)", run.err)
        self.assertIn("--force", run.err)
        self.assertEqual(self.launches(), 0)

    def test_force_measures_with_a_remark_and_stores_nothing(self):
        gpu = self.measured("--quick", "--force", "--only", "fp64", percent=87, processes="1:1073741824")
        self.assertIn("87 % busy", gpu["remarks"][0])
        self.assertEqual(gpu["results"][0]["outcome"], "measured")
        self.assertFalse((self.folder / "store").exists())

    def test_a_mig_slice_is_measured_with_remarks(self):
        gpu = self.measured("--quick", "--only", "fp64", mig=1, sms=16)
        self.assertTrue(gpu["key"]["uuid"].startswith("MIG-"))
        self.assertEqual(gpu["key"]["sm_count"], 16)
        self.assertTrue(any("slice" in line for line in gpu["remarks"]), gpu["remarks"])
        self.assertAlmostEqual(gpu["results"][0]["per_clock"]["value"], 0.985 * 128, delta=0.5)

    def test_a_store_that_cannot_be_written_gives_one_line(self):
        (self.folder / "file").write_text("")
        run = self.peaks("--quick", "--only", "fp64", store=self.folder / "file" / "store")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("FP64 FMA", run.out)
        self.assertEqual(run.err.count("\n"), 1, run.err)

    def test_all_gpus_are_measured_unless_some_are_named(self):
        run = self.peaks("--quick", "--only", "fp64", count=3)
        self.assertEqual(run.code, 0, run.err)
        self.assertRegex(run.out, "GPU 0 +GPU 1 +GPU 2 +spread")

    def test_two_gpus_stand_side_by_side(self):
        run = self.peaks("--quick", "--only", "fp64", "--device", "0,1", count=2)
        self.assertEqual(run.code, 0, run.err)
        self.assertRegex(run.out, "GPU 0 +GPU 1 +spread")

    def test_peer_copies_are_measured_in_one_direction_and_in_both(self):
        results = self.results("--quick", "--only", "p2p", "--device", "0", count=2)
        self.assertEqual(list(results), ["p2p", "p2p_to_1", "p2p_both_1"])
        for r in results.values():
            self.assertEqual(r["outcome"], "measured", r.get("remark"))
        self.assertAlmostEqual(results["p2p_both_1"]["burst"]["value"] / results["p2p"]["burst"]["value"], 2, delta=0.02)


processes.main()

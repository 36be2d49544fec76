# SPDX-License-Identifier: Apache-2.0
"""Files of tests/data/foreign, through every reader: the answers that they must give. README.md there says what is odd in each."""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import tempfile

import import_cases

FOREIGN = pathlib.Path(__file__).resolve().parents[2] / "data" / "foreign"


class Foreign(import_cases.Case):
    def taken(self, name, *options, notes=()):
        return self.imported(FOREIGN / name, *options, "--force-overwrite", notes=notes)

    def analysis(self, capture, *options):
        run = self.gpuprof("analyze", "-f", "json", "--min-gain", "0.01%", *options, capture)
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out)

    def buckets(self, capture, *options):
        """Microseconds of each bucket of the ledger, of all GPUs."""
        times = collections.Counter()
        for line in self.analysis(capture, *options)["ledger"]:
            times[line["bucket"]] += line["ns"] / 1000
        return {bucket: round(us, 3) for bucket, us in times.items() if us > 0}

    def assert_busy(self, capture, busy_us, window_us):
        report = self.analysis(capture)
        self.assertEqual(round(report["window_ns"] / 1000, 3), window_us)
        times = {line["bucket"]: line["ns"] / 1000 for line in report["ledger"]}
        self.assertAlmostEqual(times.get("compute", 0), busy_us, places=3)


class Devices(Foreign):
    def test_gpus_come_from_the_work_and_not_from_their_descriptions(self):
        for name in ("00_base.json", "01_device_id_mismatch.json", "01_no_device_props.json"):
            with self.subTest(name):
                self.assert_busy(self.taken(name), 150, 500)
        self.assertIn("compute", self.buckets(self.taken("01_nsys_no_target_info_gpu.sqlite")))

    def test_of_two_gpus_the_one_without_a_description_counts_too(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        trace["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "k_c", "pid": 5, "tid": 7, "ts": 1200, "dur": 100,
                                     "args": {"device": 5, "context": 2, "stream": 7, "correlation": 9}})
        (self.folder / "two.json").write_text(json.dumps(trace))
        capture = self.imported(self.folder / "two.json")
        self.assertEqual(self.buckets(capture)["compute"], 250)
        self.assertIn("on GPU X, a GPU without a name", self.overview(capture))


class Sizes(Foreign):
    def test_registers_that_no_kernel_has_are_not_known(self):
        trace = json.loads((FOREIGN / "02_registers_minus_one.json").read_text())
        for registers in (-1, 0, 1 << 27, (1 << 32) - 1, 1 << 63, "many"):
            for block in ([128, 1, 1], [-1, 1, 1], [1 << 31, 1 << 31, 4], [0, 0, 0], [1 << 40, 1, 1]):
                with self.subTest(registers=registers, block=block):
                    trace["traceEvents"][0]["args"].update({"registers per thread": registers, "block": block, "shared memory": registers})
                    (self.folder / "odd.json").write_text(json.dumps(trace))
                    capture = self.imported(self.folder / "odd.json", "--force-overwrite")
                    self.assert_busy(capture, 100, 100)
                    self.assertEqual(self.gpuprof("compare", capture, capture).code, 0)
        self.assertEqual(self.gpuprof("report", capture, "-o", self.folder / "page.html").code, 0)


class Ranges(Foreign):
    def test_a_step_holds_what_helper_threads_launch_in_ranges_of_their_own(self):
        capture = self.taken("03_step_loses_helper_ranges.json")
        report = self.analysis(capture)
        ranges = {row["range"]: row["inclusive_ns"] for row in report["ranges"]}
        for step in ("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"):
            self.assertEqual((ranges[step]["compute"], ranges[step]["communication"]), (300_000, 300_000))
            self.assertNotIn("between_steps", ranges[step])

    def test_a_kernel_is_in_no_range_that_had_ended(self):
        capture = self.taken("07_overlap_ranges.json")
        sums = {(row["NVTX Range"], row["Kernel Name"]) for row in self.report("nvtx_kern_sum", capture)}
        self.assertEqual(sums, {("first", "k_in_first"), ("second", "k_in_both"), ("second", "k_in_second")})

    def test_operators_of_emit_nvtx_are_told_apart_by_their_names_only(self):
        run = self.gpuprof("analyze", self.taken("13_emit_nvtx_like.json"))
        self.assertNotIn("op_id", run.out)

    def test_a_data_loader_with_a_range_inside_is_data_loading(self):
        times = self.buckets(self.taken("14_data_loading_inner_range.json"))
        self.assertEqual(times["data_loading"], 3410)
        self.assertNotIn("cpu_work", times)

    def test_declared_work_of_nested_ranges_counts_once(self):
        capture = self.taken("15_declared_nested.json", "--flops", "step=3e12", "--flops", "forward=1e12")
        self.assertEqual(self.declared(capture), {"step": 3e12 / 500e-6, "forward": 1e12 / 100e-6})
        # A fifth of the time says nothing of the whole.
        capture = self.taken("15_declared_nested.json", "--flops", "forward=1e12")
        self.assertEqual(self.declared(capture), {"step": None, "forward": 1e12 / 100e-6})

    def declared(self, capture):
        run = self.gpuprof("roofline", "--by", "range", "-f", "json", capture)
        return {row["name"]: row["flops"] for row in json.loads(run.out)["ranges"]}


class Causes(Foreign):
    def test_a_short_launch_loads_no_module(self):
        times = self.buckets(self.taken("04_first_kernel_after_event.json"))
        self.assertNotIn("module_load", times)
        self.assertGreater(times["dependency"], 460_000)

    def test_hip_calls_have_the_kinds_of_cuda_calls(self):
        hip, cuda = (self.taken(f"06_{name}_waits.json", notes=notes) for name, notes in
                     (("hip", ["GPUs of AMD: hardware counters, peaks and roofs are for those of NVIDIA"]), ("cuda", [])))
        self.assertEqual(self.buckets(hip), self.buckets(cuda))


class Times(Foreign):
    def test_windows_of_traces_that_count_from_zero_or_below(self):
        for name, busy, window in (("05_kernel_at_zero_nobase.json", 150, 190), ("05_first_at_zero_nobase.json", 150, 500), ("00_base.json", 150, 500)):
            for shift in (0, -30, -1, -5_000_000_000):
                with self.subTest(name, shift=shift):
                    trace = json.loads((FOREIGN / name).read_text())
                    trace.pop("baseTimeNanoseconds", None)
                    earliest = min(event["ts"] for event in trace["traceEvents"])
                    for event in trace["traceEvents"]:
                        event["ts"] += shift - (earliest if name.startswith("00") else 0)
                    (self.folder / "shifted.json").write_text(json.dumps(trace))
                    capture = self.imported(self.folder / "shifted.json", "--force-overwrite")
                    self.assert_busy(capture, busy, window)
                    for row in self.report("nvtx_pushpop_sum", capture):
                        self.assertEqual((row["Range"], row["Total Time (ns)"]), ("step", 500_000))
                        self.assertEqual(len(self.report("nvtx_kern_sum", capture)), 2)

    def test_impossible_times_are_left_out_and_counted(self):
        lost = "1 kernel of impossible times"
        for name, more in (("12_236_years.json", ""), ("12_negative_dur.json", "1 API call of impossible times, ")):
            with self.subTest(name):
                capture = self.taken(name, notes=[more + lost])
                self.assert_busy(capture, 150, 500)
                self.assertIn(lost, self.overview(capture))

    def test_a_time_of_zero_among_absolute_ones_is_impossible(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        del trace["baseTimeNanoseconds"]
        for event in trace["traceEvents"]:
            event["ts"] += 1_700_000_000_000_000
        trace["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "k_zero", "pid": 0, "tid": 7, "ts": 0.000, "dur": 100,
                                     "args": {"device": 0, "context": 1, "stream": 7, "correlation": 77}})
        (self.folder / "zero.json").write_text(json.dumps(trace))
        self.assert_busy(self.imported(self.folder / "zero.json", notes=["1 kernel of impossible times"]), 150, 500)

    def test_a_kernel_over_its_successors_in_one_stream(self):
        for graph, kept in ((None, 0), (5, 1)):
            trace = json.loads((FOREIGN / "00_base.json").read_text())
            events = trace["traceEvents"]
            args = {"device": 0, "context": 1, "stream": 7, "grid": [1, 1, 1], "block": [32, 1, 1]}
            for i, (start, length) in enumerate(((1200, 250), (1210, 10), (1230, 10), (1250, 10)), 50):
                events.append({"ph": "X", "cat": "kernel", "name": f"k{i}", "pid": 0, "tid": 7, "ts": start, "dur": length,
                               "args": {**args, "correlation": i, **({"graph id": graph} if graph else {})}})
            (self.folder / "over.json").write_text(json.dumps(trace))
            capture = self.imported(self.folder / "over.json", "--force-overwrite", notes=[] if graph else ["1 kernel of impossible times"])
            self.assert_busy(capture, 150 + (250 if kept else 30), 500)


class Identifiers(Foreign):
    def test_identifiers_of_64_bits_stay_apart(self):
        tables = self.tables(self.taken("10_wide_ids.json"))
        names = {row["range"]: row["name"] for row in tables["range_begin"]}
        self.assertEqual({k["kernel_name"]: names.get(k["range"]) for k in tables["kernel"]}, {"k_one": "r1", "k_two": "r2", "k_three": None})
        self.assertEqual(len({k["stream"] for k in tables["kernel"]}), 3)

    def test_threads_of_64_bits_and_of_several_processes_stay_apart(self):
        trace = {"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": f"r{i}", "pid": pid, "tid": tid, "ts": 10 * i, "dur": 50}
                                 for i, (pid, tid) in enumerate([(1, 7), (1, 7 + (1 << 32)), (2, 7), (1, "7"), (1, "main"), (1, -9), (1, (1 << 32) - 9)])]}
        (self.folder / "threads.json").write_text(json.dumps(trace))
        tables = self.tables(self.imported(self.folder / "threads.json", notes=["2 processes"]))
        self.assertEqual(len({row["os_thread"] for row in tables["thread"]}), len(tables["thread"]))
        self.assertEqual(len(tables["thread"]), 6)  # "7" is 7

    def test_equal_numbers_of_several_processes_join_nothing(self):
        tables = self.tables(self.taken("11_merged_ranks.json", notes=["2 processes"]))
        self.assertEqual([k["range"] for k in tables["kernel"]], [0, 0])

    def test_threads_that_are_texts(self):
        capture = self.taken("16_tids_as_text.json", "--cpu-ops")
        tables = self.tables(capture)
        self.assertEqual([row["os_thread"] for row in tables["thread"]], [25738])
        names = {row["range"]: row["name"] for row in tables["range_begin"]}
        self.assertEqual([names[k["range"]] for k in tables["kernel"]], ["ProfilerStep#1"])


class Losses(Foreign):
    def test_launches_without_a_record_are_counted(self):
        lost = "20 launches without a kernel record"
        self.assertIn(lost, self.overview(self.taken("08_all_gpu_records_lost.json", notes=[lost])))

    def test_launches_into_a_stream_capture_are_no_loss(self):
        trace = json.loads((FOREIGN / "08_all_gpu_records_lost.json").read_text())
        for name, ts in (("cudaStreamBeginCapture", 1005), ("cudaStreamEndCapture", 1400)):
            trace["traceEvents"].append({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 100, "tid": 100, "ts": ts, "dur": 2, "args": {"correlation": ts}})
        (self.folder / "captured.json").write_text(json.dumps(trace))
        self.imported(self.folder / "captured.json")

    def test_a_path_of_windows_does_not_end_the_file(self):
        self.assert_busy(self.taken("09_windows_u.json", notes=["1 operator, which --cpu-ops takes as ranges"]), 150, 500)

    def test_a_wrong_check_sum_costs_nothing(self):
        capture = self.taken("16_gz_crc.json.gz", notes=["is complete, but something in it may be wrong (incorrect data check)"])
        self.assert_busy(capture, 150, 500)

    def test_files_that_are_not_read_are_named(self):
        for name, content, words in (("a.zip", b"PK\x03\x04" + bytes(30), "is a zip archive"), ("a.json.zst", b"\x28\xb5\x2f\xfd" + bytes(9), "zstd"),
                                     ("a.json.xz", b"\xfd7zXZ\x00" + bytes(9), "xz"), ("a.tar", b"x" * 257 + b"ustar" + bytes(300), "tar archive"),
                                     ("a.ncu-rep", b"NVR", "Nsight Compute"), ("a.qdrep", b"xx", "nsys export"), ("a.pftrace", b"\x0a\x01", "Perfetto")):
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                self.refused(self.folder / name, words)
        self.refused(FOREIGN / "16_nsys_without_cuda_tables.sqlite", "nothing of CUDA or NVTX was recorded")

    def test_a_pipe_is_refused(self):
        os.mkfifo(self.folder / "pipe")
        self.refused(self.folder / "pipe", "is a pipe")

    def test_a_table_that_is_not_known_is_told(self):
        self.taken("18_nsys_nvtx_events_v2.sqlite", notes=["does not know: NVTX_EVENTS_V2"])

    def test_of_two_traces_in_one_file_the_second_is_told(self):
        capture = self.taken("18_concatenated.json", notes=["holds another trace behind its end", "1 further trace in the file"])
        self.assert_busy(capture, 150, 500)

    def test_a_base_time_that_is_a_text(self):
        (window,) = self.tables(self.taken("18_base_string.json"))["window"]
        self.assertEqual(window["start"], 1_750_000_000_000_000_000 + 1_000_000)


class Streams(Foreign):
    def test_stream_0_stays_stream_0(self):
        out = self.folder / "trace.json"
        run = self.gpuprof("export", self.taken("17_stream0_and_7.json"), "--type", "chrome", "-o", out)
        self.assertEqual(run.code, 0, run.err)
        events = json.loads(out.read_text())["traceEvents"]
        self.assertEqual({e["name"]: (e["tid"], e["args"]["stream"]) for e in events if e.get("cat") == "kernel"}, {"k_on_0": (0, 0), "k_on_7": (7, 7)})


class RoundTrip(Foreign):
    def test_calls_that_an_export_has_made_do_not_come_back(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        for event in trace["traceEvents"]:
            if event["name"] == "cudaLaunchKernel":
                event["args"]["made by gpuprof"] = "of a launch whose call was not recorded"
        (self.folder / "made.json").write_text(json.dumps(trace))
        capture = self.imported(self.folder / "made.json")
        self.assertEqual([row["Name"] for row in self.report("cuda_api_sum", capture)], ["cudaDeviceSynchronize"])
        self.assertEqual(len(self.report("nvtx_kern_sum", capture)), 2)
        self.assertEqual(self.facts(capture)["trace.api"], "blocking")


class Communication(Foreign):
    def test_kernels_of_deep_ep_under_any_namespace(self):
        self.assertEqual(self.buckets(self.taken("17_deepep.json"))["communication"], 1800)


class Damaged(Foreign):
    """GPUPROF_DAMAGED_FILES=10000 tries more."""
    HOSTILE = ["0", "-1", "1", "255", "256", "4294967295", "4294967296", "-2147483648", "134217728", "9223372036854775807", "-9223372036854775808",
               "18446744073709551615", "9000000000000000", "-9000000000000000", "1e18", "1e400", "NaN", "null", '"x"', "[]", "{}", "0.0001"]

    def test_no_number_or_byte_of_a_file_makes_a_command_crash(self):
        random.seed(33)
        files = sorted(file for file in FOREIGN.iterdir() if file.suffix in (".json", ".sqlite"))
        for i in range(int(os.environ.get("GPUPROF_DAMAGED_FILES", 60))):
            file = files[i % len(files)]
            damaged = self.folder / f"damaged{file.suffix}"
            damaged.write_bytes(self.with_numbers(file.read_bytes()) if file.suffix == ".json" and i % 3 else self.with_bytes(file.read_bytes()))
            if self.survives("import", damaged, "-o", self.folder / "out", "--force-overwrite", "--cpu-ops") != 0:
                continue
            capture = self.folder / "out.gpuprof"
            self.survives("analyze", capture)
            self.survives("compare", capture, capture)
            if i % 4 == 0:
                self.survives("report", capture, "-o", self.folder / "page.html", "--force-overwrite")
            capture.write_bytes(self.with_bytes(capture.read_bytes()))
            self.survives("analyze", capture)

    def with_numbers(self, content):
        parts = re.split(rb"(?<=[ \[:])(-?[0-9.]+)", content)
        for _ in range(random.randint(1, 4)):
            parts[random.randrange(len(parts) // 2) * 2 + 1] = random.choice(self.HOSTILE).encode()
        return b"".join(parts)

    def with_bytes(self, content):
        damaged = bytearray(content)
        for _ in range(random.randint(1, 8)):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        return bytes(damaged[:random.randrange(len(damaged))] if random.random() < 0.2 else damaged)

    def survives(self, *words):
        run = self.gpuprof(*words)
        if run.code not in (0, 1, 2):
            kept = pathlib.Path(tempfile.mkdtemp(prefix="gpuprof-damaged-"))
            shutil.copytree(self.folder, kept, dirs_exist_ok=True, ignore=shutil.ignore_patterns("cache"))
            self.fail(f"{words} ended with {run.code}: {run.err[-500:]}; see {kept}")
        return run.code


import_cases.main()

# SPDX-License-Identifier: Apache-2.0
"""Files of tests/data/foreign, through every reader: the answers that they must give. README.md there says what is odd in each."""
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import tempfile

import capture_blocks
import import_cases
import nsys_files

FOREIGN = pathlib.Path(__file__).resolve().parents[2] / "data" / "foreign"


class Foreign(import_cases.Case):
    def taken(self, name, *options, notes=()):
        return self.imported(FOREIGN / name, *options, "--force-overwrite", notes=notes)

    def returned(self, file, *options):
        """The capture of a file that gpuprof has exported."""
        run = self.run_import(file, "--force-overwrite", *options)
        self.assertEqual(run.code, 0, run.err)
        return self.folder / "out.gpuprof"

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
    def test_gpus_are_taken_from_the_work_and_not_from_their_descriptions(self):
        for name in ("00_base.json", "01_device_id_mismatch.json", "01_no_device_props.json"):
            with self.subTest(name):
                self.assert_busy(self.taken(name), 150, 500)
        self.assertIn("compute", self.buckets(self.taken("01_nsys_no_target_info_gpu.sqlite")))

    def test_a_gpu_without_a_description_counts_beside_one_that_has_a_description(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        trace["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "k_c", "pid": 5, "tid": 7, "ts": 1200, "dur": 100,
                                     "args": {"device": 5, "context": 2, "stream": 7, "correlation": 9}})
        (self.folder / "two.json").write_text(json.dumps(trace))
        capture = self.imported(self.folder / "two.json")
        self.assertEqual(self.buckets(capture)["compute"], 250)
        self.assertIn("on GPU X, a GPU without a name", self.overview(capture))

    def test_the_only_gpu_has_the_only_description_whatever_its_number(self):
        self.assertIn("on GPU X,", self.overview(self.taken("01_device_id_mismatch.json")))

    def test_the_heading_names_the_gpus_that_have_worked(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        trace["deviceProperties"] = [{"id": i, "name": "GPU X" if i < 3 else "GPU Y", "numSms": 80} for i in range(4)]
        expected = {0: "on GPU X (of 4 GPUs),", 2: "on 2 x GPU X (of 4 GPUs),", 3: "on 2 x GPU X, GPU Y (of 4 GPUs),", 1: "on 3 x GPU X, GPU Y,"}
        for device, heading in expected.items():
            trace["traceEvents"].append({"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": device, "tid": 7, "ts": 1300 + device, "dur": 1,
                                         "args": {"device": device, "context": device + 1, "stream": 7, "bytes": 8}})
            (self.folder / "several.json").write_text(json.dumps(trace))
            capture = self.imported(self.folder / "several.json", "--force-overwrite")
            for run in self.gpuprof("stats", capture), self.gpuprof("analyze", capture), self.gpuprof("stats", "-r", "nvtx_sum", capture):
                self.assertIn(heading, run.out)


class Sizes(Foreign):
    def test_impossible_register_counts_are_treated_as_unknown(self):
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


    def test_missing_sizes_are_treated_as_unknown_and_not_as_zero(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        (kernel, *_) = [event for event in trace["traceEvents"] if event["cat"] == "kernel"]
        for size in ("grid", "block", "registers per thread"):
            args = dict(kernel["args"])
            del kernel["args"][size]
            trace["traceEvents"].append({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": 1400,
                                         "dur": 10, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 99}})
            (self.folder / "sizes.json").write_text(json.dumps(trace))
            capture = self.imported(self.folder / "sizes.json", "--force-overwrite")
            kernel["args"] = args
            rows = {row["Name"]: row for row in self.report("cuda_gpu_trace", capture)}
            column = {"grid": "GrdX", "block": "BlkX", "registers per thread": "Reg/Trd"}[size]
            self.assertIsNone(rows[kernel["name"]][column], size)
            for other in {"GrdX", "BlkX", "Reg/Trd"} - {column}:
                self.assertIsNotNone(rows[kernel["name"]][other], other)
            self.assertIsNone(rows["[CUDA memcpy Host-to-Device]"]["Bytes (MB)"])
            self.assertEqual(self.report("cuda_gpu_mem_size_sum", capture), [])
            report = self.analysis(capture)
            self.assertNotIn("small_copies", [one["rule"] for one in report["findings"] + report["below_threshold"]])

    SUFFIX = {"chrome": "json", "sqlite": "sqlite"}

    def shared_memory(self, capture):
        """Of k_a, in every format: what its cells hold, and whether its launch has a theoretical occupancy."""
        (row,) = [row for row in self.report("cuda_gpu_trace", capture) if row["Name"] == "k_a"]
        made = {}
        for kind in "chrome", "sqlite":
            made[kind] = self.folder / f"back.{self.SUFFIX[kind]}"
            self.assertEqual(self.gpuprof("export", capture, "--type", kind, "-o", made[kind], "--force-overwrite").code, 0)
        (event,) = [e for e in json.loads(made["chrome"].read_text())["traceEvents"] if e["name"] == "k_a"]
        with contextlib.closing(sqlite3.connect(made["sqlite"])) as database:
            (sizes,) = database.execute("SELECT DISTINCT staticSharedMemory, dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchall()
        page = self.folder / "page.html"
        self.assertEqual(self.gpuprof("report", capture, "-o", page, "--force-overwrite").code, 0)
        return row["StcSMem (MB)"], row["DymSMem (MB)"], event["args"].get("shared memory"), *sizes

    def test_shared_memory_that_is_not_said_is_not_zero(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        for said, expected in ((2048, (0, 0.002, 2048, 0, 2048)), (0, (0, 0, 0, 0, 0)), (None, (None,) * 5), (-1, (None,) * 5), (1 << 40, (None,) * 5)):
            with self.subTest(said):
                for event in trace["traceEvents"]:
                    if event["cat"] == "kernel":
                        event["args"].pop("shared memory", None)
                        event["args"].update({} if said is None else {"shared memory": said})
                (self.folder / "shared.json").write_text(json.dumps(trace))
                capture = self.imported(self.folder / "shared.json", "--force-overwrite")
                self.assertEqual(self.shared_memory(capture), expected)
                for suffix in self.SUFFIX.values():
                    os.replace(self.folder / f"back.{suffix}", self.folder / f"returned.{suffix}")
                    self.assertEqual(self.shared_memory(self.returned(self.folder / f"returned.{suffix}")), expected, suffix)

    def test_shared_memory_that_a_database_does_not_hold_is_not_zero(self):
        for columns in ("staticSharedMemory", "dynamicSharedMemory"), ("staticSharedMemory",):
            file = self.folder / "nsys.sqlite"
            file.unlink(missing_ok=True)
            out = nsys_files.NsysFile(file)
            out.target()
            out.kernel("k_a", 100, 10, 1)
            for column in columns:
                out.file.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN {column}")
            out.close()
            self.assertEqual(self.shared_memory(self.imported(file, "--force-overwrite")), (None,) * 5)


class Ranges(Foreign):
    def test_a_step_includes_launches_that_helper_threads_make_in_ranges_of_their_own(self):
        capture = self.taken("03_step_loses_helper_ranges.json")
        report = self.analysis(capture)
        ranges = {row["range"]: row["inclusive_ns"] for row in report["ranges"]}
        for step in ("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"):
            self.assertEqual((ranges[step]["compute"], ranges[step]["communication"]), (300_000, 300_000))
            self.assertNotIn("between_steps", ranges[step])

    def test_a_kernel_is_not_in_a_range_that_ended_before_its_launch(self):
        capture = self.taken("07_overlap_ranges.json")
        sums = {(row["NVTX Range"], row["Kernel Name"]) for row in self.report("nvtx_kern_sum", capture)}
        self.assertEqual(sums, {("first", "k_in_first"), ("second", "k_in_both"), ("second", "k_in_second")})

    def test_operators_of_emit_nvtx_are_distinguished_only_by_their_names(self):
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
        times = self.buckets(self.taken("04_first_kernel_after_event.json"), "--all")
        self.assertNotIn("module_load", times)
        self.assertGreater(times["dependency"], 460_000)

    def test_hip_calls_have_the_kinds_of_cuda_calls(self):
        hip, cuda = (self.taken(f"06_{name}_waits.json", notes=notes) for name, notes in
                     (("hip", ["GPUs of AMD: hardware counters, peaks and roofs are for those of NVIDIA"]), ("cuda", [])))
        self.assertEqual(self.buckets(hip), self.buckets(cuda))


class Times(Foreign):
    def test_traces_whose_times_start_at_zero_or_below_have_the_right_window(self):
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

    def test_a_kernel_at_time_zero_among_absolute_times_is_left_out_with_a_note(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        del trace["baseTimeNanoseconds"]
        for event in trace["traceEvents"]:
            event["ts"] += 1_700_000_000_000_000
        trace["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "k_zero", "pid": 0, "tid": 7, "ts": 0.000, "dur": 100,
                                     "args": {"device": 0, "context": 1, "stream": 7, "correlation": 77}})
        (self.folder / "zero.json").write_text(json.dumps(trace))
        self.assert_busy(self.imported(self.folder / "zero.json", notes=["1 kernel of impossible times"]), 150, 500)

    def test_a_kernel_that_overlaps_its_successors_on_one_stream_is_kept_only_inside_a_graph(self):
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

    def test_equal_ids_in_several_processes_are_not_joined(self):
        lost = "2 launches that several processes may have made"
        capture = self.taken("11_merged_ranks.json", notes=["2 processes", lost])
        self.assertIn(lost, self.overview(capture))
        self.assertEqual([k["range"] for k in self.tables(capture)["kernel"]], [0, 0])

    def test_work_that_names_its_process_joins_the_calls_of_that_process(self):
        trace = json.loads((FOREIGN / "11_merged_ranks.json").read_text())
        for swapped in (False, True):
            for event in trace["traceEvents"]:
                if event["cat"] == "kernel":
                    event["pid"] = 100 + event["args"]["device"]
            trace["traceEvents"].reverse()
            (self.folder / "merged.json").write_text(json.dumps(trace))
            tables = self.tables(self.imported(self.folder / "merged.json", "--force-overwrite", notes=["2 processes"]))
            names = {row["range"]: row["name"] for row in tables["range_begin"]}
            self.assertEqual({k["kernel_name"]: names.get(k["range"]) for k in tables["kernel"]}, {"k_rank0": "rank0_step", "k_rank1": "rank1_step"}, swapped)

    def test_identifiers_of_64_bits_in_a_database_of_nsys_stay_apart(self):
        file = nsys_files.NsysFile(self.folder / "wide.sqlite")
        for i, name in enumerate(("one", "two")):
            wide, at = 7 + (i << 32), 1000 * i
            file.range(name, at, at + 500)
            file.call("cudaLaunchKernel_v7000", at + 10, 10, wide)
            file.kernel(f"k_{name}", at + 30, 30, wide, contextId=wide, streamId=wide)
        file.close()
        tables = self.tables(self.imported(self.folder / "wide.sqlite", notes=["does not say when"]))
        names = {row["range"]: row["name"] for row in tables["range_begin"]}
        self.assertEqual({k["kernel_name"]: names.get(k["range"]) for k in tables["kernel"]}, {"k_one": "one", "k_two": "two"})
        for column in ("stream", "context", "correlation"):
            self.assertEqual(len({k[column] for k in tables["kernel"]}), 2, column)

    def test_thread_ids_may_be_texts(self):
        capture = self.taken("16_tids_as_text.json", "--cpu-ops")
        tables = self.tables(capture)
        self.assertEqual([row["os_thread"] for row in tables["thread"]], [25738])
        names = {row["range"]: row["name"] for row in tables["range_begin"]}
        self.assertEqual([names[k["range"]] for k in tables["kernel"]], ["ProfilerStep#1"])


class Losses(Foreign):
    def test_launches_without_a_record_are_counted(self):
        lost = "20 launches without a kernel record"
        self.assertIn(lost, self.overview(self.taken("08_all_gpu_records_lost.json", notes=[lost])))

    def test_launches_into_a_stream_capture_are_not_counted_as_lost(self):
        trace = json.loads((FOREIGN / "08_all_gpu_records_lost.json").read_text())
        for name, ts in (("cudaStreamBeginCapture", 1005), ("cudaStreamEndCapture", 1400)):
            trace["traceEvents"].append({"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 100, "tid": 100, "ts": ts, "dur": 2, "args": {"correlation": ts}})
        (self.folder / "captured.json").write_text(json.dumps(trace))
        self.imported(self.folder / "captured.json")

    def test_a_windows_path_does_not_end_the_file(self):
        self.assert_busy(self.taken("09_windows_u.json", notes=["1 operator, which --cpu-ops takes as ranges"]), 150, 500)

    def test_a_wrong_checksum_loses_no_records(self):
        capture = self.taken("16_gz_crc.json.gz", notes=["is complete, but something in it may be wrong (incorrect data check)"])
        self.assert_busy(capture, 150, 500)

    def test_files_that_are_not_read_are_named(self):
        for name, content, words in (("a.zip", b"PK\x03\x04" + bytes(30), "is a zip archive"), ("a.json.zst", b"\x28\xb5\x2f\xfd" + bytes(9), "zstd"),
                                     ("a.json.xz", b"\xfd7zXZ\x00" + bytes(9), "xz"), ("a.tar", b"x" * 257 + b"ustar" + bytes(300), "tar archive"),
                                     ("a.ncu-rep", b"NVR", "Nsight Compute"), ("a.qdrep", b"xx", "nsys export"), ("a.pftrace", b"\x0a\x01", "Perfetto")):
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                self.refused(self.folder / name, words)
        for content, words in ({"rocprofiler-sdk-tool": []}, "rocprofv3"), ({"schema": "1.1.0-chakra.0.0.4", "nodes": []}, "execution trace of PyTorch"):
            (self.folder / "other.json").write_text(json.dumps(content))
            self.refused(self.folder / "other.json", words)
        self.refused(FOREIGN / "16_nsys_without_cuda_tables.sqlite", "nothing of CUDA or NVTX was recorded")

    def test_a_pipe_is_refused(self):
        os.mkfifo(self.folder / "pipe")
        self.refused(self.folder / "pipe", "is a pipe")

    def test_an_unknown_table_is_reported(self):
        self.taken("18_nsys_nvtx_events_v2.sqlite", notes=["does not know: NVTX_EVENTS_V2"])

    def test_a_second_trace_in_one_file_is_reported(self):
        capture = self.taken("18_concatenated.json", notes=["holds another trace behind its end", "1 further trace in the file"])
        self.assert_busy(capture, 150, 500)

    def test_the_base_time_may_be_a_text(self):
        (window,) = self.tables(self.taken("18_base_string.json"))["window"]
        self.assertEqual(window["start"], 1_750_000_000_000_000_000 + 1_000_000)


class Streams(Foreign):
    def test_stream_0_stays_stream_0(self):
        out = self.folder / "trace.json"
        run = self.gpuprof("export", self.taken("17_stream0_and_7.json"), "--type", "chrome", "-o", out)
        self.assertEqual(run.code, 0, run.err)
        events = json.loads(out.read_text())["traceEvents"]
        self.assertEqual({e["name"]: (e["tid"], e["args"]["stream"]) for e in events if e.get("cat") == "kernel"}, {"k_on_0": (0, 0), "k_on_7": (7, 7)})

    def test_ranges_are_exported_to_gpu_rows_only_if_they_came_from_there(self):
        for category, expected in (("gpu_user_annotation", 1), ("overhead", 0)):
            trace = json.loads((FOREIGN / "00_base.json").read_text())
            trace["traceEvents"] += [
                {"ph": "X", "cat": category, "name": "step", "pid": 0, "tid": 7, "ts": 1030, "dur": 400, "args": {}},
                {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 100, "tid": 100, "ts": 1001, "dur": 490, "args": {}}]
            (self.folder / "annotated.json").write_text(json.dumps(trace))
            capture = self.imported(self.folder / "annotated.json", "--cpu-ops", "--force-overwrite", notes=[category])
            out = self.folder / "out.json"
            self.assertEqual(self.gpuprof("export", capture, "--type", "chrome", "-o", out, "--force-overwrite").code, 0)
            events = json.loads(out.read_text())["traceEvents"]
            count = collections.Counter((e["cat"], e["name"]) for e in events if e.get("cat") in ("gpu_user_annotation", "cpu_op", "user_annotation"))
            self.assertEqual(count, collections.Counter({("user_annotation", "step"): 1, ("cpu_op", "aten::mm"): 1, ("gpu_user_annotation", "step"): expected}) +
                             collections.Counter())


class RoundTrip(Foreign):
    def test_calls_that_an_export_made_up_are_not_imported(self):
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

    def with_arguments(self, **arguments):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        for event in trace["traceEvents"]:
            if event["cat"] == "kernel":
                event["name"] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
                event["args"].update({"Collective name": "allreduce", "In msg nelems": 1_000_000, "Out msg nelems": 1_000_000, "Group size": 4,
                                      "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]", **arguments})
        (self.folder / "nccl.json").write_text(json.dumps(trace))
        return self.report("nccl_sum", self.imported(self.folder / "nccl.json", "--force-overwrite"))

    def test_collectives_have_the_rates_of_their_messages(self):
        # Kernels of 100 and 50 us: 75 is the median. A ring of n ranks sends a message 2 (n - 1) / n times, or (n - 1) / n times.
        (row,) = self.with_arguments()
        self.assertEqual([row[c] for c in ("Instances", "Message (MB)", "Group Size", "Type", "Group", "Collective")],
                         [2, 4.0, 4, "Float", "0 [0, 1, 2, 3]", "allreduce"])
        self.assertAlmostEqual(row["Message Rate (MB/s)"], 4 / 75e-6, delta=1)
        self.assertAlmostEqual(row["Bus Rate (MB/s)"], 1.5 * 4 / 75e-6, delta=1)
        for name, arguments, size, share in (("_allgather_base", {"Out msg nelems": 4_000_000}, 16.0, 0.75), ("broadcast", {}, 4.0, 1),
                                             ("reduce_scatter_tensor", {"In msg nelems": 4_000_000, "dtype": "BFloat16"}, 8.0, 0.75),
                                             ("all_to_all", {"Group size": None}, 4.0, None), ("allreduce", {"dtype": "new"}, None, None)):
            with self.subTest(name, **arguments):
                (row,) = self.with_arguments(**{"Collective name": name, **arguments})
                self.assertEqual(row["Message (MB)"], size)
                if share is None:
                    self.assertIsNone(row["Bus Rate (MB/s)"])
                else:
                    self.assertAlmostEqual(row["Bus Rate (MB/s)"], share * size / 75e-6, delta=1)

    def test_hostile_arguments_of_collectives(self):
        for arguments in ({"In msg nelems": 1 << 62, "Out msg nelems": -1}, {"Group size": -4}, {"Group size": 1 << 62}, {"Collective name": 'a"b\\'},
                          {"Process Group Ranks": [0, [1]]}, {"dtype": '"}{'}, {"In msg nelems": None, "Out msg nelems": None}):
            with self.subTest(**arguments):
                self.assertEqual(len(self.with_arguments(**arguments)), 1)

    def test_input_shapes_of_operators_become_their_payload(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        trace["traceEvents"].append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 100, "tid": 100, "ts": 1001, "dur": 490,
                                     "args": {"Input Dims": [[64, 3], [], ["x"]]}})
        (self.folder / "shapes.json").write_text(json.dumps(trace))
        out = self.folder / "out.json"
        self.assertEqual(self.gpuprof("export", self.imported(self.folder / "shapes.json", "--cpu-ops"), "--type", "chrome", "-o", out).code, 0)
        (event,) = [e for e in json.loads(out.read_text())["traceEvents"] if e["name"] == "aten::mm"]
        self.assertEqual(event["args"]["payload"], '{"Input Dims":[[64, 3], [], []]}')

    def test_operators_keep_the_numbers_that_join_backward_and_forward(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        operators = {"aten::mm": {"Sequence number": 7, "Fwd thread id": 0, "Input Dims": [[2, 3]]}, "MmBackward0": {"Sequence number": 7, "Fwd thread id": 1},
                     "aten::view": {"Sequence number": -1}}
        for i, (name, arguments) in enumerate(operators.items()):
            trace["traceEvents"].append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 100, "tid": 100, "ts": 1001 + 20 * i, "dur": 4, "args": arguments})
        trace["traceEvents"].append({"ph": "X", "cat": "user_annotation", "name": "aten::add, seq = 12, op_id = 5", "pid": 100, "tid": 100, "ts": 1090, "dur": 4})
        (self.folder / "operators.json").write_text(json.dumps(trace))
        expected = {"aten::mm": (7, None), "MmBackward0": (7, 1), "aten::view": (None, None), "aten::add": (12, None)}
        payloads = {"aten::mm": '{"Input Dims":[[2, 3]],"Sequence number":7}', "MmBackward0": '{"Sequence number":7,"Fwd thread id":1}',
                    "aten::view": None, "aten::add": None}
        capture = self.imported(self.folder / "operators.json", "--cpu-ops")
        for _ in range(2):  # also of what comes back
            out = self.folder / "out.json"
            self.assertEqual(self.gpuprof("export", capture, "--type", "chrome", "-o", out, "--force-overwrite").code, 0)
            found = {e["name"]: e["args"] for e in json.loads(out.read_text())["traceEvents"] if e.get("cat") == "cpu_op"}
            self.assertEqual({name: (args.get("Sequence number"), args.get("Fwd thread id")) for name, args in found.items()}, expected)
            self.assertEqual({name: args.get("payload") for name, args in found.items()}, payloads)
            capture = self.returned(out, "--cpu-ops")

    def test_counters_that_say_nothing_of_time_are_told_in_one_line(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        trace["traceEvents"] = [event for event in trace["traceEvents"] if event["cat"] != "kernel"]
        for i in range(2):
            trace["traceEvents"].append({"ph": "X", "cat": "cuda_profiler_range", "name": "k_a", "pid": 0, "tid": 0, "ts": 1000 + i * 100, "dur": 100,
                                         "args": {"smsp__inst_executed.sum": 5 + i}})
        (self.folder / "counters.json").write_text(json.dumps(trace))
        capture = self.imported(self.folder / "counters.json", notes=["has hardware counters of 2 kernels (cuda_profiler_range), which are not taken", "2 launches"])
        self.assertEqual(self.facts(capture)["import.left_out"], "2 cuda_profiler_range")

    def test_sm_limits_of_the_device_are_imported(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        trace["deviceProperties"] = [{"id": 0, "name": "NVIDIA A100-PG509-200", "computeMajor": 8, "computeMinor": 0, "maxThreadsPerMultiprocessor": 2048,
                                      "numSms": 108, "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 166912, "sharedMemPerMultiprocessor": 167936}]
        (self.folder / "limits.json").write_text(json.dumps(trace))
        (device,) = self.tables(self.imported(self.folder / "limits.json"))["device"]
        self.assertEqual([device[c] for c in ("max_threads_per_sm", "registers_per_sm", "shared_bytes_per_sm", "reserved_shared_bytes")],
                         [2048, 65536, 167936, 1024])

    def test_communication_that_holds_the_program_is_a_finding(self):
        run = self.gpuprof("analyze", "-f", "json", self.taken("17_deepep.json"))
        self.assertIn("exposed_comm", [one["rule"] for one in json.loads(run.out)["findings"]])

    def test_ranks_of_hosts_without_a_name_are_reported_in_one_line(self):
        captures = []
        for rank in range(8):
            trace = json.loads((FOREIGN / "00_base.json").read_text())
            trace["distributedInfo"] = {"rank": rank, "world_size": 8}
            for event in trace["traceEvents"]:
                if event["cat"] == "kernel":
                    event["name"] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
            (self.folder / f"rank{rank}.json").write_text(json.dumps(trace))
            run = self.gpuprof("import", self.folder / f"rank{rank}.json", "-o", self.folder / f"rank{rank}")
            self.assertEqual(run.code, 0, run.err)
            captures.append(self.folder / f"rank{rank}.gpuprof")
        run = self.gpuprof("stats", *captures)
        lines = [line for line in (run.out + run.err).splitlines() if "clocks" in line]
        self.assertEqual(len(lines), 1, run.out + run.err)
        self.assertIn("do not say on which host", lines[0])


class Damaged(Foreign):
    """GPUPROF_DAMAGED_FILES=10000 tries more."""
    HOSTILE = ["0", "-1", "1", "255", "256", "4294967295", "4294967296", "-2147483648", "134217728", "9223372036854775807", "-9223372036854775808",
               "18446744073709551615", "9000000000000000", "-9000000000000000", "1e18", "1e308", "1e400", "NaN", "null", '"x"', "[]", "{}", "0.0001"]

    def test_no_command_crashes_on_damaged_numbers_or_bytes_in_a_file(self):
        random.seed(33)
        files = sorted(file for file in FOREIGN.iterdir() if file.suffix in (".json", ".sqlite")) + sorted(FOREIGN.parent.glob("h[12]00/*.gpuprof"))
        for i in range(int(os.environ.get("GPUPROF_DAMAGED_FILES", 60))):
            file = files[i % len(files)]
            damaged = self.folder / f"damaged{file.suffix}"
            of_text = (self.with_numbers, self.without_members, self.with_lines, self.with_bytes)
            damage = random.choice(of_text if file.suffix == ".json" else (self.with_bytes, self.with_words))
            damaged.write_bytes(damage(file.read_bytes()))
            capture = damaged
            if file.suffix != ".gpuprof":
                capture = self.folder / "out.gpuprof"
                if self.survives("import", damaged, "-o", capture, "--force-overwrite", "--cpu-ops") != 0:
                    continue
            self.survives("analyze", capture)
            self.survives("compare", capture, capture)
            if i % 4 == 0:
                self.survives("report", capture, "-o", self.folder / "page.html", "--force-overwrite")
            if capture != damaged:
                capture.write_bytes(self.with_bytes(capture.read_bytes()))
                self.survives("analyze", capture)

    def test_no_value_of_a_column_makes_a_command_crash(self):
        """Check sums are right here, so the commands get to see the value."""
        content = (FOREIGN.parent / "h100/ddp.rank0.gpuprof").read_bytes()
        capture = self.folder / "out.gpuprof"
        for i, (table, place) in enumerate(capture_blocks.columns(content)):
            with self.subTest(table=table, place=place):
                capture.write_bytes(capture_blocks.with_value(content, table, place, (1 << 64) - 1))
                self.survives("analyze", capture)
                if i % 4 == 0:
                    self.survives("report", capture, "-o", self.folder / "page.html", "--force-overwrite")

    def with_numbers(self, content):
        parts = re.split(rb"(?<=[ \[:])(-?[0-9.]+)", content)
        for _ in range(random.randint(1, 4)):
            parts[random.randrange(len(parts) // 2) * 2 + 1] = random.choice(self.HOSTILE).encode()
        return b"".join(parts)

    def without_members(self, content):
        members = [found.span() for found in re.finditer(rb'"[\w ]+": ("[^"]*"|[-\d.]+|\[[^\[\]]*\])(, )?', content)]
        for begin, end in sorted(random.sample(members, min(len(members), random.randint(1, 8))), reverse=True):
            content = content[:begin] + content[end:]
        return content

    def with_lines(self, content):
        """Events twice, or in another order."""
        events = re.split(rb"(?<=\}, )", content)
        for _ in range(random.randint(1, 4)):
            events.insert(random.randrange(len(events)), random.choice(events))
        return b"".join(events)

    def with_words(self, content):
        """Numbers of 4 and 8 bytes."""
        damaged = bytearray(content)
        for _ in range(random.randint(1, 4)):
            size = random.choice((4, 8))
            value = random.choice((0, 1, 1 << 31, 1 << 32, 1 << 63, (1 << 64) - 1)) % (1 << 8 * size)
            at = random.randrange(len(damaged) - size)
            damaged[at:at + size] = value.to_bytes(size, random.choice(("little", "big")))
        return bytes(damaged)

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

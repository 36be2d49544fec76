# SPDX-License-Identifier: Apache-2.0
"""gpuprof import of torch.profiler's traces: what was put in comes out, also of traces that no JSON parser takes."""
import json

import import_cases
from kineto_files import BASE, PID, KinetoFile


def trace(**how):
    """Two steps; the backward pass on a thread of its own."""
    out = KinetoFile(**how)
    out.metadata("process_name", PID, 0, name="python")
    out.metadata("thread_name", PID, PID, name="thread 9001 (python)")
    out.metadata("thread_name", 0, 7, name="stream 7 ")
    # As in real files, the GPU's events may stand before the calls that launched them.
    out.kernel("void gemm<float>(float*)", 10_000_001, 1_111, 1, **{"graph id": 0, "graph node id": 0})
    out.kernel("ncclDevKernel_AllReduce", 20_000_002, 2_222, 2, stream=20)
    out.kernel("void gemm<float>(float*)", 30_000_003, 3_333, 3, grid=[8, 1, 1])
    out.annotation("ProfilerStep#1", 1_000_000, 8_000_500)
    out.annotation("forward", 2_000_000, 1_000_000)
    out.annotation("aten::mm", 2_100_000, 500_000, category="cpu_op")
    out.call("cudaLaunchKernel", 2_200_123, 5_000, 1)
    out.call("cudaLaunchKernel", 5_000_000, 5_000, 2)
    out.call("cuLaunchKernelEx", 5_500_000, 5_000, 3, category="cuda_driver", tid=9002)
    out.call("cudaMemcpyAsync", 6_000_000, 5_000, 4)
    out.call("cudaStreamSynchronize", 6_500_000, 900_000, 6)
    out.event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 40_000_000, 4_444, 0, 7, device=0, context=1, stream=7, correlation=4, bytes=4096,
              **{"memory bandwidth (GB/s)": 0.9})
    out.event("gpu_memset", "Memset (Device)", 50_000_000, 555, 0, 7, device=0, context=1, stream=7, correlation=5, bytes=64)
    out.event("cuda_sync", "Stream Sync", 6_600_000, 700_000, 0, 1000007, cuda_sync_kind="Stream Sync", stream=7, correlation=6, device=0, context=1)
    out.annotation("forward", 10_000_000, 9_000_000, tid=7, category="gpu_user_annotation")
    out.annotation("train.py(1)", 0, 9_000_000, category="python_function")
    out.events.append({"ph": "s", "id": 1, "pid": PID, "tid": PID, "ts": "@2200.123@", "cat": "ac2g", "name": "ac2g"})
    out.events.append({"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": PID, "tid": PID, "ts": "@1@", "args": {"Bytes": 1}})
    out.annotation("PyTorch Profiler (0)", 0, 60_000_000, category="Trace", tid=PID)
    return out


NOT_TAKEN = "1 Trace, 1 ac2g, 1 cpu_instant_event, 1 gpu_user_annotation, 1 python_function; and 1 operator, which --cpu-ops takes as ranges"
LEFT_OUT = "1 Trace, 1 ac2g, 1 cpu_instant_event, 1 cpu_op, 1 gpu_user_annotation, 1 python_function"


class Import(import_cases.Case):
    def test_imported_tables_have_the_values_of_the_trace(self):
        for name in ("trace.json", "trace.json.gz"):
            with self.subTest(name):
                capture = self.imported(trace(rank=3).write(self.folder / name), "--force-overwrite", notes=[NOT_TAKEN])
                tables = self.tables(capture)
                self.assertEqual([(k["start"] - BASE, k["duration"], k["launched"] - BASE, k["stream"], k["kernel_name"]) for k in tables["kernel"]],
                                 [(10_000_001, 1_111, 2_200_123, 7, "void gemm<float>(float*)"), (20_000_002, 2_222, 5_000_000, 20, "ncclDevKernel_AllReduce"),
                                  (30_000_003, 3_333, 5_500_000, 7, "void gemm<float>(float*)")])
                names = {row["range"]: row["name"] for row in tables["range_begin"]}
                self.assertEqual([names.get(k["range"]) for k in tables["kernel"]], ["forward", "ProfilerStep#1", None])
                threads = {row["thread"]: (row["os_thread"], row["name"]) for row in tables["thread"]}
                self.assertEqual([threads[k["thread"]] for k in tables["kernel"]],
                                 [(PID, "python"), (PID, "python"), (9002, "")])
                shapes = {(s["grid_x"], s["grid_y"], s["block_x"], s["registers_per_thread"], s["dynamic_shared_bytes"]) for s in tables["shape"]}
                self.assertEqual(shapes, {(4, 2, 256, 32, 1024), (8, 1, 256, 32, 1024)})
                (copy,), (fill,), (wait,), (device,) = tables["copy"], tables["memset"], tables["sync"], tables["device"]
                self.assertEqual([copy[c] for c in ("duration", "bytes", "kind", "source_kind", "destination_kind", "asynchronous")], [4_444, 4096, 1, 2, 3, True])
                self.assertEqual([fill[c] for c in ("duration", "bytes", "kind", "thread")], [555, 64, 3, 0])
                self.assertEqual((wait["duration"], wait["type"], wait["stream"]), (700_000, 3, 7))
                self.assertEqual([device[c] for c in ("name", "compute_major", "sm_count", "memory_bytes")], ["NVIDIA H100 80GB HBM3", 9, 132, 85_000_000_000])
                facts = self.facts(capture)
                self.assertEqual([facts[k] for k in ("environment.RANK", "environment.WORLD_SIZE", "host", "process.id", "driver.cuda_version", "import.format",
                                                     "import.left_out")], ["3", "8", "node9", str(PID), "12.4", "Kineto trace", LEFT_OUT])

    def test_reports_of_an_import_have_the_numbers_of_the_source(self):
        capture = self.imported(trace().write(self.folder / "trace.json"), notes=["no place for"])
        sums = self.by_name("cuda_gpu_kern_sum", capture)
        self.assertEqual((sums["void gemm<float>(float*)"]["Instances"], sums["void gemm<float>(float*)"]["Total Time (ns)"]), (2, 4_444))
        self.assertEqual(self.by_name("nvtx_pushpop_sum", capture, "Range")["ProfilerStep#1"]["Total Time (ns)"], 8_000_500)
        in_ranges = {(row["NVTX Range"], row["Kernel Name"]): row["Total Time (ns)"] for row in self.report("nvtx_kern_sum", capture)}
        self.assertEqual(in_ranges[("forward", "void gemm<float>(float*)")], 1_111)
        self.assertEqual(self.by_name("cuda_api_sum", capture)["cudaStreamSynchronize"]["Total Time (ns)"], 900_000)

    def test_operators_become_ranges_on_request(self):
        capture = self.imported(trace().write(self.folder / "trace.json"), "--cpu-ops", notes=["no place for"])
        tables = self.tables(capture)
        names = {row["range"]: (row["domain"], row["name"], row["level"]) for row in tables["range_begin"]}
        self.assertEqual(names[tables["kernel"][0]["range"]], ("cpu_op", "aten::mm", 2))

    def test_work_that_an_annotation_declares(self):
        out = KinetoFile()
        out.annotation("step", 0, 1000, flops=1.5e12)
        (row,) = self.tables(self.imported(out.write(self.folder / "t.json")))["range_begin"]
        self.assertEqual(row["declared_flops"], 1.5e12)

    def test_old_traces_count_from_the_epoch_in_whole_microseconds(self):
        out = KinetoFile(base=0)
        out.call("cudaLaunchKernel", 1_600_000_000_000_000_000, 5_000, 1, category="Runtime")
        out.kernel("k", 1_600_000_000_000_100_000, 3_000, 1)
        out.events[-1]["cat"] = "Kernel"
        text = out.text().replace(".000", "")
        (kernel,) = self.tables(self.imported(out.write(self.folder / "trace.json", text)))["kernel"]
        self.assertEqual((kernel["start"], kernel["duration"], kernel["launched"]), (1_600_000_000_000_100_000, 3_000, 1_600_000_000_000_000_000))

    def test_times_are_read_in_every_notation(self):
        out = KinetoFile()
        for i, (ts, dur) in enumerate([("5", "1"), ("5.1", "1.25"), ('"6.001"', '"2"'), ("7.0015", "0.0004"), ("8e0", "1.5e1"), ("-1.5", "1")], 1):
            out.kernel(f"k{i}", 0, 0, i)
            out.events[-1].update(ts=f"@{ts}@", dur=f"@{dur}@")
        text = out.text().replace("\\", "").replace('"@', "").replace('@"', "")
        kernels = {k["kernel_name"]: (k["start"] - BASE, k["duration"]) for k in self.tables(self.imported(out.write(self.folder / "t.json", text)))["kernel"]}
        self.assertEqual(kernels, {"k1": (5000, 1000), "k2": (5100, 1250), "k3": (6001, 2000), "k4": (7002, 0), "k5": (8000, 15000), "k6": (-1500, 1000)})

    def test_a_bare_list_of_events_and_a_base_time_at_the_end_are_accepted(self):
        out = KinetoFile()
        out.kernel("k", 1000, 500, 1)
        document = json.loads(out.text())
        (self.folder / "list.json").write_text(json.dumps(document["traceEvents"]))
        (kernel,) = self.tables(self.imported(self.folder / "list.json"))["kernel"]
        self.assertEqual((kernel["start"], kernel["duration"]), (1000, 500))
        late = {"traceEvents": document["traceEvents"], "baseTimeNanoseconds": BASE}
        (self.folder / "late.json").write_text(json.dumps(late))
        (kernel,) = self.tables(self.imported(self.folder / "late.json", "--force-overwrite"))["kernel"]
        self.assertEqual(kernel["start"], BASE + 1000)

    def test_names_with_escapes_and_of_any_bytes(self):
        names = ['quotes " and \\', "line\nbreak\t\x01", "\u6f22\u5b57 \U0001f680", "</script>", "x" * 3_000_000, "bad \udcff\udc80"]
        out = KinetoFile()
        for i, name in enumerate(names, 1):
            out.kernel(name, i * 1000, 10, i)
        for escapes in (True, False):
            text = json.dumps(json.loads(out.text()), ensure_ascii=False) if not escapes else None
            if escapes:
                document = json.loads(out.text())
                document["traceEvents"] = document["traceEvents"][:-1]
                text = json.dumps(document)
            capture = self.imported(out.write(self.folder / "t.json", text), "--force-overwrite")
            shown = {k["kernel_name"] for k in self.tables(capture)["kernel"]}
            self.assertLessEqual(set(names[:4]), shown)
            self.assertEqual("bad \ufffd\ufffd" in shown, not escapes)
            self.assertIn(1 << 20, {len(name) for name in shown})  # the capture's limit

    def test_values_that_json_does_not_allow_are_accepted(self):
        out = KinetoFile()
        out.kernel("first", 1000, 10, 1)
        out.kernel("second", 2000, 20, 2)
        text = out.text().replace('"est. achieved occupancy %": 6', '"est. achieved occupancy %": NaN, "x": -Infinity, "y": inf').replace("first", "fir\nst\x02")
        capture = self.imported(out.write(self.folder / "t.json", text))
        self.assertEqual({k["kernel_name"] for k in self.tables(capture)["kernel"]}, {"fir\nst\x02", "second"})


class Bad(import_cases.Case):
    def test_a_cut_trace_is_imported_as_far_as_it_goes(self):
        out = KinetoFile()
        for i in range(1, 20_001):
            out.kernel("k", i * 1000, 10, i)
        for name in ("t.json", "t.json.gz"):
            with self.subTest(name):
                file = out.write(self.folder / name)
                data = file.read_bytes()
                file.write_bytes(data[: len(data) // 2])
                capture = self.imported(file, "--force-overwrite", notes=["was cut at character", "not taken from the file: 1 rest of the file"])
                kernels = sum(row["Instances"] for row in self.report("cuda_gpu_kern_sum", capture))
                self.assertGreater(kernels, 8_000)
                self.assertLess(kernels, 12_000)
                self.assertEqual(self.run_import(file, "--force-overwrite", "--strict").code, 1)

    def test_a_file_that_is_not_a_trace_is_refused_in_one_line(self):
        for name, text in (("a", "{}"), ("b", '{"traceEvents": []}'), ("c", '{"traceEvents": [{"ph": "X", "cat": "tf_op", "ts": 1, "dur": 1}]}'), ("d", "[1, 2]"),
                           ("e", "{" * 100_000), ("f", "[" * 100_000), ("g", '{"a": }'), ("h", '{"x": "' + "y" * 100), ("i", '[{"ph":"X","args":{"grid":[[[')):
            with self.subTest(name):
                file = self.folder / f"{name}.json"
                file.write_text(text)
                self.refused(file, "holds no event of torch.profiler")

    def test_events_without_required_fields_are_counted(self):
        out = KinetoFile()
        out.kernel("k", 1000, 10, 1)
        out.kernel("k", 2000, 10, 2)
        del out.events[-1]["dur"]
        out.kernel("k", 3000, 10, 3)
        out.events[-1]["ts"] = "soon"
        out.kernel("k", 4000, 10, 4)
        out.events[-1]["args"] = {}
        out.events.append({"ph": "X", "cat": "kernel"})
        out.events.append({"ph": "X", "cat": "user_annotation", "name": None, "ts": 5, "dur": 1, "pid": "x", "tid": "main thread"})
        capture = self.imported(out.write(self.folder / "t.json"), notes=["not taken from the file: 3 kernels without time"])
        self.assertEqual(sum(row["Instances"] for row in self.report("cuda_gpu_kern_sum", capture)), 2)
        self.assertIn("lost: 3 kernels without time", self.overview(capture))

    def test_the_pid_option_is_refused_for_traces(self):
        self.refused(trace().write(self.folder / "t.json"), "--pid is for databases of nsys", "--pid", "3")

    def test_events_of_several_processes_are_reported(self):
        out = trace()
        out.pid = 77
        out.call("cudaLaunchKernel", 9_000_000, 5_000, 99)
        self.imported(out.write(self.folder / "t.json"), notes=["2 processes", "no place for", "1 launch without a kernel record"])


class Large(import_cases.Case):
    def test_a_long_trace_is_imported_with_little_memory(self):
        kernels = 300_000
        event = ('{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%d.%03d,"dur":1.%03d,"args":{"device":0,"context":1,"stream":7,"correlation":%d,'
                 '"grid":[%d,1,1],"block":[256,1,1]}},\n{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":%d.001,"dur":0.9,'
                 '"args":{"correlation":%d}}')
        with open(self.folder / "t.json", "w") as file:
            file.write('{"traceEvents": [\n')
            # From the end to the beginning: nothing may rely on the order.
            for i in range(kernels, 0, -1):
                file.write(event % (i % 50, i * 3 + 2, i % 1000, i % 1000, i, i % 7 + 1, i * 3, i) + (",\n" if i > 1 else ""))
            file.write("]}\n")
        capture = self.imported(self.folder / "t.json", "--memory-limit", "0.25")
        sums = self.report("cuda_gpu_kern_sum", capture)
        self.assertEqual(sum(row["Instances"] for row in sums), kernels)
        self.assertEqual(sum(row["Total Time (ns)"] for row in sums), sum(1000 + i % 1000 for i in range(1, kernels + 1)))
        queued = self.report("cuda_kern_exec_sum", capture)
        self.assertEqual(sum(row["Count"] for row in queued), kernels)


import_cases.main()

# SPDX-License-Identifier: Apache-2.0
"""gpuprof import of nsys exports: what was put in comes out, whatever the version."""
import json
import sqlite3

import import_cases
from nsys_files import EPOCH, PID, NsysFile, global_pid, training

VERSIONS = ("2022", "2023", "2026")


class Import(import_cases.Case):
    def file(self, version="2023", name="run.sqlite"):
        return NsysFile(self.folder / name, version)

    def everything(self, version):
        """Two ranges, a launch in each, one of another thread, copies, a fill, a wait."""
        out = self.file(version)
        out.target()
        out.range("step", 1000, 9000)
        out.range("forward", 2000, 5000)
        out.call("cudaLaunchKernel_v7000", 2500, 100, 1)
        out.call("cudaLaunchKernel_v7000", 5500, 100, 2)
        out.call("cudaLaunchKernel_v7000", 3000, 100, 3, tid=4712)
        out.call("cudaMemcpyAsync_v3020", 6000, 200, 4)
        out.call("cudaMemset_v3020", 6300, 200, 5)
        out.call("cuStreamSynchronize", 7000, 1500, 6, eventClass=1, returnValue=700)
        out.kernel("void scale<float>(float*, int)", 10_000, 111, 1, mangled="_Z5scaleIfEvPT_i")
        out.kernel("void scale<float>(float*, int)", 20_000, 222, 2, mangled="_Z5scaleIfEvPT_i", gridX=8)
        out.kernel("other(int)", 30_000, 333, 3, streamId=13, graphNodeId=(5 << 32) + 2)
        out.copy(40_000, 444, 4, 4096, 1, 1, 2)
        out.add("CUPTI_ACTIVITY_KIND_MEMSET", start=50_000, end=50_055, deviceId=0, contextId=1, streamId=7, correlationId=5,
                globalPid=global_pid(PID), value=255, bytes=64, memKind=2)
        out.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=7000, end=8400, deviceId=0, contextId=1, streamId=7, correlationId=6,
                globalPid=global_pid(PID), deprecatedSyncType=3, syncType=3, eventId=0)
        out.close()
        return self.folder / "run.sqlite"

    def test_tables_have_the_values_of_the_source_for_every_version_of_nsys(self):
        for version in VERSIONS:
            with self.subTest(version):
                for file in self.folder.iterdir():
                    file.unlink()
                capture = self.imported(self.everything(version))
                tables = self.tables(capture)
                kernels = tables["kernel"]
                self.assertEqual([(k["start"] - EPOCH, k["duration"], k["launched"] - EPOCH, k["stream"], k["correlation"]) for k in kernels],
                                 [(10_000, 111, 2500, 7, 1), (20_000, 222, 5500, 7, 2), (30_000, 333, 3000, 13, 3)])
                self.assertEqual({k["kernel_name"] for k in kernels}, {"void scale<float>(float*, int)", "other(int)"})
                ranges = {row["range"]: row["name"] for row in tables["range_begin"]}
                self.assertEqual([ranges.get(k["range"]) for k in kernels], ["forward", "step", None])
                threads = {row["thread"]: row["os_thread"] for row in tables["thread"]}
                self.assertEqual([threads[k["thread"]] for k in kernels], [4711, 4711, 4712])
                parents = {row["name"]: (ranges.get(row["parent"]), row["level"]) for row in tables["range_begin"]}
                self.assertEqual(parents, {"step": (None, 0), "forward": ("step", 1)})
                self.assertEqual(kernels[2]["node"], 0 if version == "2022" else (5 << 32) + 2)
                self.assertEqual(kernels[2]["graph"], 0 if version == "2022" else 5)
                (copy,), (fill,), (wait,) = tables["copy"], tables["memset"], tables["sync"]
                self.assertEqual([copy[c] for c in ("duration", "bytes", "kind", "source_kind", "destination_kind", "asynchronous")],
                                 [444, 4096, 1, 2, 3, True])
                self.assertEqual([fill[c] for c in ("duration", "bytes", "value", "kind", "asynchronous")], [55, 64, 255, 3, False])
                self.assertEqual((wait["duration"], wait["type"]), (1400, 3))
                calls = {row["name"]: row for row in tables["api"]}
                self.assertEqual((calls["cuStreamSynchronize"]["domain"], calls["cuStreamSynchronize"]["result"]), (1, 700))
                (device,) = tables["device"]
                self.assertEqual([device[c] for c in ("name", "uuid", "chip", "sm_count", "max_sm_clock_khz", "pci_bus")],
                                 ["NVIDIA H200", "GPU-00000000-0000-0000-0000-000000000001", "GH100", 132, 1980000, "0000:01:00.0"])
                facts = self.facts(capture)
                self.assertEqual((facts["host"], facts["process.id"], facts["process.program"]), ("node7", str(PID), f"/usr/bin/train{PID}"))
                self.assertEqual(facts["import.format"], f"nsys sqlite, schema 3.7.2, nsys {version}.4.4")
                (window,) = tables["window"]
                self.assertEqual((window["start"], window["end"]), (EPOCH, EPOCH + 1_000_000_000))

    def test_reports_of_an_import_have_the_numbers_of_the_source(self):
        capture = self.imported(self.everything("2023"))
        sums = self.by_name("cuda_gpu_kern_sum", capture)
        self.assertEqual((sums["void scale<float>(float*, int)"]["Instances"], sums["void scale<float>(float*, int)"]["Total Time (ns)"]), (2, 333))
        self.assertEqual({row["Name"] for row in self.report("cuda_gpu_kern_sum:base", capture)}, {"scale", "other"})
        calls = self.by_name("cuda_api_sum", capture)
        self.assertEqual((calls["cudaLaunchKernel"]["Num Calls"], calls["cuStreamSynchronize"]["Total Time (ns)"]), (3, 1500))
        ranges = self.by_name("nvtx_pushpop_sum", capture, "Range")
        self.assertEqual((ranges["step"]["Total Time (ns)"], ranges["forward"]["Total Time (ns)"]), (8000, 3000))
        in_ranges = {(row["NVTX Range"], row["Kernel Name"]): row["Total Time (ns)"] for row in self.report("nvtx_kern_sum", capture)}
        self.assertEqual(in_ranges[("forward", "void scale<float>(float*, int)")], 111)
        self.assertEqual(in_ranges[("step", "void scale<float>(float*, int)")], 333)
        copies = self.by_name("cuda_gpu_mem_time_sum", capture, "Operation")
        self.assertEqual(copies["[CUDA memcpy Host-to-Device]"]["Total Time (ns)"], 444)
        self.assertIn("lost: nothing", self.overview(capture))

    def test_nvtx_rows_with_all_fields_are_imported(self):
        out = self.file()
        out.target()
        thread = global_pid(PID) | PID
        out.add("NVTX_EVENTS", start=10, eventType=75, text="model", globalTid=thread, domainId=3)
        out.add("NVTX_EVENTS", start=11, eventType=33, text="io", category=9, globalTid=thread, domainId=3)
        out.add("NVTX_EVENTS", start=12, eventType=39, text="worker", globalTid=global_pid(PID) | 4712)
        out.range("registered is not used", 100, 200, text=None, textId=out.string("registered"), domainId=3, category=9, color=0xff00ff00)
        out.range("numbers", 300, 400, uint64Value=-(2**63))  # as SQLite stores 2^63
        out.range("signed", 500, 600, int64Value=-5)
        out.range("real", 700, 800, doubleValue=1.5)
        out.range("declared", 900, 1000, jsonText='{"gpuprof":{"flops":2e12,"bytes":5e9}}')
        out.range("handed over", 1100, 2500, kind=60, endGlobalTid=global_pid(PID) | 4712, rangeId=1)
        out.range("never ends", 3000, None)
        out.add("NVTX_EVENTS", start=3100, eventType=34, text="here", globalTid=thread, domainId=3)
        out.add("NVTX_EVENTS", start=3200, eventType=99, text="?", globalTid=thread)
        out.close()
        capture = self.imported(self.folder / "run.sqlite", notes=["not taken from process 4711: 1 NVTX event of unknown kind"])
        tables = self.tables(capture)
        begins = {row["name"]: row for row in tables["range_begin"]}
        self.assertEqual([begins["registered"][c] for c in ("domain", "category", "color")], ["model", 9, 0xff00ff00])
        self.assertEqual((begins["numbers"]["payload"], begins["numbers"]["payload_bits"]), (1, 2**63))
        self.assertEqual((begins["signed"]["payload"], begins["signed"]["payload_bits"]), (2, 2**64 - 5))
        self.assertEqual((begins["real"]["payload"], begins["real"]["payload_bits"]), (3, 0x3ff8000000000000))
        self.assertEqual((begins["declared"]["payload"], begins["declared"]["declared_flops"], begins["declared"]["declared_bytes"]), (4, 2e12, 5e9))
        self.assertEqual(begins["handed over"]["style"], 1)
        ends = {row["range"]: row for row in tables["range_end"]}
        threads = {row["thread"]: (row["os_thread"], row["name"]) for row in tables["thread"]}
        self.assertEqual(threads[ends[begins["handed over"]["range"]]["thread"]], (4712, "worker"))
        self.assertNotIn(begins["never ends"]["range"], ends)
        self.assertEqual([(m["name"], m["domain"], m["time"] - EPOCH) for m in tables["mark"]], [("here", "model", 3100)])
        self.assertEqual([(c["domain"], c["category"], c["name"]) for c in tables["category"]], [("model", 9, "io")])
        self.assertIn("1 NVTX events of unknown kind".replace("events", "event"), self.overview(capture).replace("events", "event"))

    def test_rows_in_any_order_are_imported_in_order(self):
        out = self.file()
        out.target()
        for i in (5, 1, 4, 2, 3):
            out.kernel("k", i * 1000, i, i)
            out.call("cudaLaunchKernel_v7000", i * 100, 10, i)
            out.range(f"r{i}", i * 100 - 5, i * 100 + 5)
        out.close()
        kernels = self.tables(self.imported(self.folder / "run.sqlite"))["kernel"]
        self.assertEqual([k["correlation"] for k in kernels], [1, 2, 3, 4, 5])
        self.assertEqual(len({k["range"] for k in kernels} - {0}), 5)

    def test_ranges_of_two_domains_may_overlap(self):
        out = self.file()
        out.target()
        out.range("a", 100, 300)
        out.range("b", 200, 400, domainId=1)
        for i, moment in enumerate((150, 250, 350, 450), 1):
            out.call("cudaLaunchKernel_v7000", moment, 10, i)
            out.kernel("k", 1000 + moment, 1, i)
        out.close()
        tables = self.tables(self.imported(self.folder / "run.sqlite"))
        names = {row["range"]: row["name"] for row in tables["range_begin"]}
        self.assertEqual([names.get(k["range"]) for k in tables["kernel"]], ["a", "b", "b", None])

    def test_each_process_of_the_source_becomes_a_capture_of_its_own(self):
        out = self.file()
        out.target(pids=(4711, 4800))
        for pid, length in ((4711, 100), (4800, 200)):
            out.kernel("k", 1000, length, 1, pid=pid)
            out.call("cudaLaunchKernel_v7000", 500, 10, 1, pid=pid, tid=pid)
        out.close()
        run = self.run_import(self.folder / "run.sqlite")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("2 processes, each becomes a capture of its own; --pid takes one of them: 4711, 4800", run.err)
        for pid, length in ((4711, 100), (4800, 200)):
            capture = self.folder / f"out.{pid}.gpuprof"
            self.assertEqual(self.by_name("cuda_gpu_kern_sum", capture)["k"]["Total Time (ns)"], length)
            self.assertEqual(self.facts(capture)["process.program"], f"/usr/bin/train{pid}")
        capture = self.imported(self.folder / "run.sqlite", "--pid", "4800")
        self.assertEqual(self.by_name("cuda_gpu_kern_sum", capture)["k"]["Total Time (ns)"], 200)
        run = self.gpuprof("import", self.folder / "run.sqlite", "-o", "none", "--pid", "1")
        self.assertEqual(run.code, 1)
        self.assertIn("no records of CUDA or NVTX of process 1; nothing is written, --pid takes 4711, 4800", run.err)

    def test_processes_known_only_by_name_get_no_capture(self):
        out = self.file()
        out.target(pids=(1, 2, PID))
        out.add("NVTX_EVENTS", start=10, eventType=75, text="domain", globalTid=global_pid(2) | 2, domainId=3)
        out.kernel("k", 1000, 10, 1)
        out.close()
        tables = self.tables(self.imported(self.folder / "run.sqlite"))
        self.assertEqual(len(tables["kernel"]), 1)

    def test_migrations_of_managed_memory_are_imported(self):
        out = self.file()
        out.target()
        out.copy(1000, 50, 0, 65536, 11, 4, 2, virtualAddress=4096)
        out.copy(2000, 60, 0, 4096, 12, 2, 4, virtualAddress=8192)
        out.close()
        tables = self.tables(self.imported(self.folder / "run.sqlite"))
        self.assertNotIn("copy", tables)
        self.assertEqual([(m["counter"], m["value"], m["duration"]) for m in tables["unified_memory"]], [(1, 65536, 50), (2, 4096, 60)])

    def test_whole_graphs_are_imported(self):
        out = self.file()
        out.target()
        out.call("cudaGraphLaunch_v10000", 500, 10, 9)
        out.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", start=1000, end=1500, deviceId=0, contextId=1, streamId=7, correlationId=9, globalPid=global_pid(PID),
                graphId=3, graphExecId=4)
        out.close()
        (graph,) = self.tables(self.imported(self.folder / "run.sqlite"))["graph"]
        self.assertEqual((graph["duration"], graph["graph"], graph["launched"] - EPOCH), (500, 3, 500))

    def test_allocations_are_imported(self):
        out = self.file()
        out.target()
        for operation in (0, 1):
            out.add("CUDA_GPU_MEMORY_USAGE_EVENTS", start=100 + operation, globalPid=global_pid(PID), deviceId=0, contextId=1, address=4096, bytes=512,
                    memKind=2, memoryOperationType=operation, correlationId=1)
        out.close()
        rows = self.tables(self.imported(self.folder / "run.sqlite"))["memory"]
        self.assertEqual([(r["operation"], r["bytes"], r["kind"], r["address"]) for r in rows], [(1, 512, 3, 4096), (2, 512, 3, 4096)])

    def test_the_smallest_database_that_feeds_a_report_is_imported(self):
        file = self.folder / "small.sqlite"
        db = sqlite3.connect(file)
        db.executescript("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'k');"
                         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 1);")
        db.commit()
        db.close()
        capture = self.imported(file, notes=["does not say when it was recorded"])
        self.assertEqual(self.by_name("cuda_gpu_kern_sum", capture)["k"]["Total Time (ns)"], 20)

    def test_declared_work_gives_a_roofline_of_ranges(self):
        training(self.folder / "run.sqlite", 4000)
        capture = self.imported(self.folder / "run.sqlite", "--flops", "forward=2e9", "--flops", "nothing=1", notes=["no range is called 'nothing'"])
        self.assertEqual({row["declared_flops"] for row in self.tables(capture)["range_begin"] if row["name"] == "forward"}, {2e9})
        run = self.gpuprof("roofline", "--by", "range", "-f", "json", capture)
        self.assertEqual(run.code, 0, run.err)
        ranges = {row["name"]: row for row in json.loads(run.out)["ranges"]}
        gpu_ns = sum(1500 + i % 1300 for i in range(4000) if i // 20 % 2 == 0)
        self.assertEqual(ranges["forward"]["flop_source"], "declared")
        self.assertAlmostEqual(ranges["forward"]["flops"] / (100 * 2e9 / gpu_ns * 1e9), 1)
        self.assertIsNone(ranges["backward"]["flops"])
        for words in ("forward", "=5", "forward=", "forward=-1", "forward=many"):
            run = self.run_import(self.folder / "run.sqlite", "--flops", words)
            self.assertEqual((run.code, run.err.count("\n")), (2, 1), run.err)
        capture = self.imported(self.folder / "run.sqlite", "--force-overwrite")
        run = self.gpuprof("roofline", "--by", "range", capture)
        self.assertEqual(run.code, 1)
        self.assertIn("holds no hardware counters", run.err)

    def test_a_source_with_only_ranges_is_imported(self):
        out = self.file()
        out.range("alone", 100, 400)
        out.target()
        out.close()
        capture = self.imported(self.folder / "run.sqlite")
        self.assertEqual(self.by_name("nvtx_sum", capture, "Range")["alone"]["Total Time (ns)"], 300)


import_cases.main()

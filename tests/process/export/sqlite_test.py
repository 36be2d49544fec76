# SPDX-License-Identifier: Apache-2.0
"""gpuprof export --type sqlite with Python's sqlite3: what `gpuprof stats` and the raw tables say, texts, numbers that refer to rows."""
import collections
import contextlib
import csv
import json
import pathlib
import re
import signal
import sqlite3
import struct
import subprocess
import time

import export_cases
import processes

csv.field_size_limit(1 << 20)

# Table of ours or nsys' -> the table of the capture that it has a row for each row of.
TABLES = {
    "CUPTI_ACTIVITY_KIND_KERNEL": "kernel", "CUPTI_ACTIVITY_KIND_MEMSET": "memset", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "graph",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "api", "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "sync", "CUDA_GPU_MEMORY_USAGE_EVENTS": "memory",
    "GPUPROF_FACTS": "fact", "GPUPROF_CLOCKS": "clock", "GPUPROF_METRICS": "metric", "GPUPROF_READINGS": "read_launch",
    "GPUPROF_READING_VALUES": "reading_value", "GPUPROF_SAMPLES": "sample", "GPUPROF_SAMPLING_WINDOWS": "sampling_window", "GPUPROF_PEAKS": "peak",
}
# Columns that hold the number of a row elsewhere.
REFERENCES = [
    *((f"CUPTI_ACTIVITY_KIND_KERNEL.{c}", "StringIds.id") for c in ("demangledName", "shortName", "mangledName")),
    *((f"CUPTI_ACTIVITY_KIND_{t}.deviceId", "TARGET_INFO_GPU.id") for t in ("KERNEL", "MEMCPY", "MEMSET", "SYNCHRONIZATION")),
    *((f"CUPTI_ACTIVITY_KIND_{t}.gpuprofRangeId", "NVTX_EVENTS.rangeId") for t in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE")),
    *((f"CUPTI_ACTIVITY_KIND_{t}.globalPid", "PROCESSES.globalPid") for t in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE", "SYNCHRONIZATION")),
    ("CUPTI_ACTIVITY_KIND_KERNEL.launchType", "ENUM_CUDA_KERNEL_LAUNCH_TYPE.id"),
    ("CUPTI_ACTIVITY_KIND_RUNTIME.nameId", "StringIds.id"), ("CUPTI_ACTIVITY_KIND_RUNTIME.eventClass", "ENUM_NSYS_EVENT_CLASS.id"),
    ("CUPTI_ACTIVITY_KIND_MEMCPY.copyKind", "ENUM_CUDA_MEMCPY_OPER.id"), ("CUPTI_ACTIVITY_KIND_MEMCPY.srcKind", "ENUM_CUDA_MEM_KIND.id"),
    ("CUPTI_ACTIVITY_KIND_MEMCPY.dstKind", "ENUM_CUDA_MEM_KIND.id"), ("CUPTI_ACTIVITY_KIND_MEMSET.memKind", "ENUM_CUDA_MEM_KIND.id"),
    ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.syncType", "ENUM_CUPTI_SYNC_TYPE.id"), ("NVTX_EVENTS.eventType", "ENUM_NSYS_EVENT_TYPE.id"),
    ("CUDA_GPU_MEMORY_USAGE_EVENTS.memKind", "ENUM_CUDA_MEM_KIND.id"),
    ("CUDA_GPU_MEMORY_USAGE_EVENTS.memoryOperationType", "ENUM_CUDA_DEV_MEM_EVENT_OPER.id"), ("ThreadNames.nameId", "StringIds.id"),
    ("GPUPROF_READING_VALUES.metricId", "GPUPROF_METRICS.id"), ("GPUPROF_READING_VALUES.correlationId", "GPUPROF_READINGS.correlationId"),
    ("GPUPROF_READINGS.correlationId", "CUPTI_ACTIVITY_KIND_KERNEL.correlationId"), ("GPUPROF_SAMPLES.metricId", "GPUPROF_METRICS.id"),
    ("GPUPROF_KERNEL_CODE.mangledName", "StringIds.id"), ("GPUPROF_PEAKS.deviceId", "TARGET_INFO_GPU.id"),
    ("GPUPROF_DECLARED_WORK.rangeId", "NVTX_EVENTS.rangeId"),
]
# What nsys' nvtx_kern_sum does with API calls, done with launches.
KERNELS_IN_RANGES = """
    SELECT coalesce(d.text || ':', '') || r.text, r.globalTid & 0xffffff, s.value, count(DISTINCT k.rowid), count(DISTINCT r.rowid), sum(k.end - k.start)
    FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.demangledName
    JOIN NVTX_EVENTS r ON r.eventType = 59 AND r.globalTid = k.gpuprofLaunchTid AND k.gpuprofLaunchStart BETWEEN r.start AND ifnull(r.end, 1 << 62)
    LEFT JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = r.domainId AND d.globalTid >> 24 = r.globalTid >> 24
    GROUP BY 1, 2, 3"""


class Sqlite(export_cases.Case):
    def all_captures(self):
        return self.captures() + [self.made("rare")]

    @contextlib.contextmanager
    def opened(self, capture, *options):
        file = self.export(capture, "sqlite", *options)
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)) as database:
            yield database

    @contextlib.contextmanager
    def exported(self, capture):
        with self.subTest(capture.name), self.opened(capture) as database:
            yield database

    def raw(self, capture):
        """Rows of the capture's tables, by name."""
        folder = self.export(capture, "csv")
        tables = collections.defaultdict(list)
        for file in folder.glob("*.csv"):
            with open(file, newline="", encoding="utf-8") as text:
                tables[file.stem] = list(csv.DictReader(text))
        return tables


def one(database, statement):
    return database.execute(statement).fetchone()[0]


class Contents(Sqlite):
    def test_every_row_of_the_capture_is_in_the_database(self):
        for capture in self.all_captures():
            with self.exported(capture) as database:
                raw = self.raw(capture)
                for table, of in TABLES.items():
                    recorded = " WHERE gpuprofIsMade IS NULL" if of == "api" else ""
                    self.assertEqual(one(database, f"SELECT count(*) FROM {table}{recorded}"), len(raw[of]), table)
                moved = sum(row["counter"] in ("1", "2", "8") for row in raw["unified_memory"])
                self.assertEqual(one(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"), len(raw["copy"]) + moved)
                for types, of in (("59, 60", "range_begin"), ("34", "mark"), ("33", "category")):
                    self.assertEqual(one(database, f"SELECT count(*) FROM NVTX_EVENTS WHERE eventType IN ({types})"), len(raw[of]))

    def test_times_equal_those_of_the_capture(self):
        for capture in self.all_captures():
            with self.exported(capture) as database:
                raw = self.raw(capture)
                epoch = one(database, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")
                for table, of in (("KERNEL", "kernel"), ("MEMSET", "memset"), ("RUNTIME", "api"), ("SYNCHRONIZATION", "sync"), ("GRAPH_TRACE", "graph")):
                    recorded = " WHERE gpuprofIsMade IS NULL" if of == "api" else ""
                    rows = database.execute(f"SELECT start + {epoch}, end - start, correlationId FROM CUPTI_ACTIVITY_KIND_{table}{recorded}").fetchall()
                    self.assertEqual(rows, sorted(rows, key=lambda row: row[0]))
                    self.assertEqual(sorted(rows), sorted((int(row["start"]), int(row["duration"]), int(row["correlation"])) for row in raw[of]))
                launched = database.execute(f"SELECT correlationId, gpuprofLaunchStart + {epoch}, gpuprofRangeId, gpuprofTimeOf FROM CUPTI_ACTIVITY_KIND_KERNEL")
                known = [tuple(int(row[c]) or None for c in ("correlation", "launched", "range", "time_of")) for row in raw["kernel"]]
                self.assertEqual(collections.Counter(launched.fetchall()), collections.Counter(known))

    def test_sums_are_those_of_stats(self):
        for capture in self.all_captures():
            with self.exported(capture) as database:
                of_kernels = dict((name, (count, total)) for name, count, total in database.execute(
                    "SELECT s.value, count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds s ON s.id = demangledName GROUP BY 1"))
                # Stats has another length for launches that counting slowed down.
                exact = "counted" not in capture.name and "exact" not in capture.name
                expected = {shown(row["Name"]): (row["Instances"], row["Total Time (ns)"] if exact else of_kernels[shown(row["Name"])][1])
                            for row in self.stats(capture, "cuda_gpu_kern_sum")}
                self.assertEqual(of_kernels, expected)
                moved = dict((name, (count, total)) for name, count, total in database.execute(
                    "SELECT '[CUDA memcpy ' || label || ']', count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMCPY JOIN ENUM_CUDA_MEMCPY_OPER e "
                    "ON e.id = copyKind GROUP BY 1 UNION ALL SELECT '[CUDA memset]', count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_MEMSET HAVING count(*)"))
                self.assertEqual(moved, {row["Operation"]: (row["Count"], row["Total Time (ns)"]) for row in self.stats(capture, "cuda_gpu_mem_time_sum")})

    def test_launches_lie_in_the_same_ranges_as_in_stats(self):
        for capture in self.all_captures():
            with self.exported(capture) as database:
                expected = [(shown(row["NVTX Range"]), row["TID"], shown(row["Kernel Name"]), row["Kern Inst"], row["NVTX Inst"], row["Total Time (ns)"])
                            for row in self.stats(capture, "nvtx_kern_sum") if row["Style"] == "PushPop"]
                # Operators of PyTorch are ranges here; stats has them in torch_op_sum alone.
                found = [row for row in database.execute(KERNELS_IN_RANGES) if not row[0].startswith("torch:")]
                self.assertEqual(sorted(found), sorted(expected))

    def test_texts_are_utf8(self):
        for capture in self.all_captures():
            with self.exported(capture) as database:
                database.text_factory = bytes
                tables = [name.decode() for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]
                self.assertGreater(len(tables), 40)
                for table in tables:
                    for row in database.execute(f"SELECT * FROM {table}"):
                        for text in row:
                            if isinstance(text, bytes):
                                self.assertNotIn(b"\0", text)
                                text.decode("utf-8")  # throws
        with self.opened(self.made("hostile")) as database:
            self.assertEqual(one(database, "SELECT count(*) FROM StringIds WHERE value = 'bad \ufffd\ufffd bytes \ufffd'"), 1)

    def test_references_to_rows_of_other_tables_are_valid(self):
        for capture in self.all_captures():
            with self.exported(capture) as database:
                for column, target in REFERENCES:
                    if target == "TARGET_INFO_GPU.id" and capture.name == "rare.gpuprof":
                        continue
                    (table, name), (other, key) = column.split("."), target.split(".")
                    lost = one(database, f"SELECT count(*) FROM {table} WHERE {name} NOTNULL AND {name} NOT IN (SELECT {key} FROM {other} WHERE {key} NOTNULL)")
                    self.assertEqual(lost, 0, column)

    def test_rare_records_have_all_their_columns(self):
        with self.opened(self.made("rare")) as database:
            rows = lambda statement: database.execute(statement).fetchall()
            self.assertEqual(rows("SELECT uint64Value, int64Value, doubleValue, jsonText, category, color, text, end > start, endGlobalTid & 0xffffff "
                                  "FROM NVTX_EVENTS WHERE eventType IN (34, 60) OR rangeId IN (SELECT rangeId FROM GPUPROF_DECLARED_WORK) ORDER BY start"),
                             [(-(1 << 63), None, None, None, 5, 0xff00ff00, "batch", 1, 4301), (None, -1, None, None, 5, 0xff00ff00, "batch", 1, None),
                              (None, None, None, '{"size": 3}', 5, 0xff00ff00, "batch", 1, None), (None, None, 0.25, None, None, None, "loss", None, None)])
            self.assertEqual(rows("SELECT e.text, d.text FROM NVTX_EVENTS e JOIN NVTX_EVENTS d USING (domainId) WHERE e.eventType = 33 AND d.eventType = 75"),
                             [("loading", "data")])
            self.assertEqual(rows("SELECT text FROM NVTX_EVENTS WHERE eventType = 39 ORDER BY globalTid"), [("main",), ("worker",)])
            self.assertEqual(rows("SELECT clusterX, clusterY, clusterZ, maxActiveClusters, label FROM CUPTI_ACTIVITY_KIND_KERNEL "
                                  "JOIN ENUM_CUDA_KERNEL_LAUNCH_TYPE e ON e.id = launchType WHERE clusterX NOTNULL"), [(2, 1, 1, 66, "Coop Single Device")])
            self.assertEqual(rows("SELECT srcDeviceId, dstDeviceId FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind = 10 OR dstDeviceId NOTNULL"), [(0, 1)])
            self.assertEqual(rows("SELECT copyKind, virtualAddress, bytes, globalPid NOTNULL, correlationId FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE copyKind > 10"),
                             [(11, 0x7f0000000000, 65536, 1, None), (11, 0x7f0000010000, 65536, 1, None), (11, 0x7f0000000000, 65536, 1, None),
                              (12, 0x7f0000010000, 65536, 1, None)])
            self.assertEqual(rows("SELECT label, address & 0xffffffffffff, bytes FROM CUDA_GPU_MEMORY_USAGE_EVENTS JOIN ENUM_CUDA_DEV_MEM_EVENT_OPER e "
                                  "ON e.id = memoryOperationType"), [("Allocation", 0xf00000000000, 512), ("Deallocation", 0xf00000000000, 512)])
            self.assertEqual(rows("SELECT DISTINCT returnValue FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE eventClass = 1"), [(1,)])
            self.assertEqual(rows("SELECT graphId, gpuprofLaunchStart FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"), [(3, 30000)])
            self.assertEqual(rows("SELECT value, bytes, gpuprofAsynchronous FROM CUPTI_ACTIVITY_KIND_MEMSET"), [(7, 4096, 0)])

    def test_a_process_number_beyond_24_bits_is_reported(self):
        out = self.folder / "large_pid.sqlite"
        run = self.run_export(self.made("large_pid"), "sqlite", "-o", out)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("process 16781516 has a number beyond 24 bits", run.err)
        with contextlib.closing(sqlite3.connect(out)) as database:
            self.assertEqual(database.execute("SELECT pid, globalPid >> 24 & 0xffffff FROM PROCESSES").fetchall(), [(16781516, 4300)])
            self.assertEqual(len(database.execute(KERNELS_IN_RANGES).fetchall()), 4)

    def test_readings_and_samples_have_their_metrics(self):
        for capture in self.all_captures():
            with self.exported(capture) as database:
                raw = self.raw(capture)
                names = {row["metric"]: row["name"] for row in raw["metric"]}
                for table, of in (("GPUPROF_READING_VALUES", "reading_value"), ("GPUPROF_SAMPLES", "sample")):
                    expected = collections.Counter((names[row["metric"]], float(row["value"])) for row in raw[of])
                    found = collections.Counter(database.execute(f"SELECT m.name, v.value FROM {table} v JOIN GPUPROF_METRICS m ON m.id = v.metricId").fetchall())
                    self.assertEqual(found, expected)
                counters = {row["name"]: int(row["value"]) for row in raw["counter"]}
                self.assertEqual(dict(database.execute("SELECT name, value FROM GPUPROF_COUNTERS")), counters)


class Queries(Sqlite):
    """Those of the documentation."""

    def queries(self):
        page = pathlib.Path(processes.path("EXPORT_TESTS")).parents[2] / "docs" / "export" / "sqlite.md"
        found = re.findall(r"```sql\n(.*?)```", page.read_text(), re.S)
        self.assertEqual(len(found), 3)
        return found

    def test_kernels_by_range_and_waits_by_stream(self):
        by_range, by_stream, _ = self.queries()
        with self.opened(self.made("rare")) as database:
            self.assertEqual([row[:3] for row in database.execute(by_range)], [("forward", "scale", 5), ("forward", "gemm", 1), ("step", "scale", 1)])
            self.assertEqual(database.execute(by_stream).fetchall(), [(0, 7, 7, 5.0, 5.0)])

    def test_counters_by_kernel_are_those_of_stats(self):
        for name in ("mixed_exact", "counted_auto"):
            capture = pathlib.Path(processes.path("H200_CAPTURES"), name + ".gpuprof")
            with self.exported(capture) as database:
                found = {row[:2]: row[2:] for row in database.execute(self.queries()[2])}
                sums = self.stats(capture, "gpu_metrics_sum")
                self.assertGreater(len(sums), 10)
                for row in sums:
                    readings, mean = found.get((row["Name"], row["Metric"]), (0, 0.0))
                    self.assertEqual(readings, row["Samples"])
                    self.assertAlmostEqual(mean, row["Avg"] or 0.0, delta=1e-8 * abs(mean))


class File(Sqlite):
    def test_the_roofline_equals_that_of_the_command(self):
        for capture in pathlib.Path(processes.path("H200_CAPTURES")).glob("*.gpuprof"):
            with self.exported(capture) as database:
                told = json.loads(self.run_program(processes.path("BUILT_GPUPROF"), "roofline", "-f", "json", "--by", "kernel", capture).out)
                rows = database.execute("SELECT name, launches, flopPerSecond, dramBytesPerSecond, flopSource, id FROM GPUPROF_ROOFLINE"
                                        " WHERE kind = 'kernel' ORDER BY id").fetchall()
                self.assertGreater(len(rows), 2)
                self.assertEqual([(r[0], r[1]) for r in rows], [(k["name"], k["launches"]) for k in told["kernels"]])
                for row, kernel in zip(rows, told["kernels"]):
                    for number, column in ((row[2], "flops"), (row[3], "dram_bytes_per_second")):
                        self.assertEqual(number is None, kernel[column] is None, kernel)
                        if number is not None:
                            self.assertAlmostEqual(number, kernel[column], delta=1e-9 * abs(number))
                    self.assertEqual(row[4], kernel["flop_source"])
                    parts = dict(database.execute("SELECT precision, flopPerSecond FROM GPUPROF_ROOFLINE_FLOP WHERE id = ?", (row[5],)))
                    self.assertEqual(set(parts), {p for p, f in kernel["flops_by_precision"].items() if f is not None})

    def test_the_database_can_be_read_in_a_folder_without_write_permission(self):
        file = self.export(self.made("odd"), "sqlite")
        head = file.read_bytes()[:100]
        page_size, write_version, read_version = struct.unpack(">HBB", head[16:20])
        self.assertEqual((page_size, write_version, read_version), (16384, 1, 1))  # 2 would be WAL
        self.assertEqual([f.name for f in self.folder.iterdir() if f.name.startswith("odd.sqlite")], ["odd.sqlite"])
        with self.opened(self.made("odd")) as database:
            self.assertEqual(one(database, "PRAGMA integrity_check"), "ok")

    def test_indexes_are_created_only_on_request(self):
        count = "SELECT count(*) FROM sqlite_master WHERE type = 'index'"
        with self.opened(self.training(100_000)) as database:
            self.assertEqual(one(database, count), 0)
        with self.opened(self.training(100_000), "--index") as database:
            self.assertGreater(one(database, count), 5)
            plan = database.execute("EXPLAIN QUERY PLAN SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = 7").fetchone()[3]
            self.assertIn("GPUPROF_KERNEL_CORRELATION", plan)
            self.assertEqual(one(database, "PRAGMA integrity_check"), "ok")

    def test_the_database_lists_what_a_cut_capture_lacks(self):
        whole = self.training(100_000).read_bytes()
        cut = self.folder / "cut.gpuprof"
        cut.write_bytes(whole[: len(whole) * 2 // 3])
        out = self.folder / "cut.sqlite"
        run = self.run_export(cut, "sqlite", "-o", out)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("missing from", run.err)
        with contextlib.closing(sqlite3.connect(out)) as database:
            self.assertGreater(one(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"), 30_000)
            self.assertIn("the file was cut", "\n".join(line for line, in database.execute("SELECT missing FROM GPUPROF_LOSSES")))

    def test_each_launch_has_one_call_recorded_or_made(self):
        launches = " UNION ".join(f"SELECT correlationId, gpuprofLaunchStart AS start, gpuprofLaunchTid AS globalTid FROM CUPTI_ACTIVITY_KIND_{work} "
                                  "WHERE gpuprofLaunchStart NOTNULL AND gpuprofLaunchTid NOTNULL" for work in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"))
        made = 0
        for capture in self.all_captures():
            with self.exported(capture) as database:
                self.assertEqual(database.execute(f"SELECT correlationId FROM ({launches}) WHERE correlationId NOT IN (SELECT correlationId FROM "
                                                  "CUPTI_ACTIVITY_KIND_RUNTIME)").fetchall(), [])
                rows = database.execute("SELECT correlationId, start, globalTid, end - start FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE gpuprofIsMade").fetchall()
                self.assertLessEqual({row[:3] for row in rows}, set(database.execute(launches).fetchall()))
                self.assertEqual({row[3] for row in rows} - {0}, set())
                self.assertEqual(len({row[0] for row in rows}), len(rows))
                self.assertEqual(one(database, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE gpuprofIsMade AND correlationId IN "
                                               "(SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE gpuprofIsMade IS NULL)"), 0)
                made += len(rows)
        self.assertGreater(made, 0)

    def test_calls_that_the_export_makes_up_are_marked(self):
        out = self.folder / "odd.sqlite"
        run = self.run_export(self.made("odd"), "sqlite", "-o", out)
        self.assertIn("4 launches have no call in the capture", run.err)
        with contextlib.closing(sqlite3.connect(out)) as database:
            self.assertEqual(database.execute("SELECT DISTINCT value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId").fetchall(),
                             [("kernel launch (call not recorded)",)])

    def test_an_interrupted_export_leaves_nothing(self):
        run = subprocess.Popen([processes.path("BUILT_GPUPROF"), "export", self.training(1_000_000), "--type", "sqlite", "-o", self.folder / "whole.sqlite"],
                               stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not any("unfinished" in f.name for f in self.folder.iterdir()):
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        err = run.communicate()[1]
        self.assertEqual(run.returncode, 128 + signal.SIGINT, err)
        self.assertIn("interrupted, nothing was written", err)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_full_disk_leaves_nothing(self):
        # A limit of the size of files fails writes as a full disk does.
        out = self.folder / "full.sqlite"
        run = subprocess.run(["bash", "-c", f"ulimit -f 2048; exec {processes.path('BUILT_GPUPROF')} export "
                              f"{self.training(100_000)} --type sqlite -o {out}"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, rf"cannot write {out}: .+; nothing is left of it")
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


def shown(name):
    """A name of `gpuprof stats` as exports have it: bytes that are no UTF-8, and zero bytes, are replaced."""
    return name.replace("\0", "\ufffd")


export_cases.main()

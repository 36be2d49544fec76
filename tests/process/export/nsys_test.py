# SPDX-License-Identifier: Apache-2.0
"""The real `nsys stats` and `nsys analyze` on exports to SQLite: no message, and the rows of `gpuprof stats`. Fetched by clients.sh."""
import contextlib
import csv
import pathlib
import re
import shutil
import sqlite3

import clients
import export_cases
import processes

csv.field_size_limit(1 << 20)

SHARED = ("cuda_api_gpu_sum", "cuda_api_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_kern_sum", "cuda_gpu_mem_size_sum", "cuda_gpu_mem_time_sum",
          "cuda_gpu_sum", "cuda_gpu_trace", "cuda_kern_exec_sum", "nvtx_gpu_proj_sum", "nvtx_kern_sum", "nvtx_pushpop_sum", "nvtx_pushpop_trace",
          "nvtx_startend_sum", "nvtx_sum", "um_sum", "um_total_sum")
OTHERS = ("cuda_api_trace", "cuda_kern_exec_trace", "nvtx_gpu_proj_trace", "um_cpu_page_faults_sum")
RULES = ("cuda_memcpy_async", "cuda_memcpy_sync", "cuda_memset_sync", "cuda_api_sync", "gpu_gaps", "gpu_time_util")
BY_LAUNCH = ("nvtx_gpu_proj_sum", "nvtx_kern_sum")  # they join ranges to work through API calls
OF_SUMS = ("Time (%)", "Avg", "Med", "StdDev")  # rounded: nsys rounds a half up, gpuprof the number as it is stored

# In a replay ranges have the times of the replay and API calls those of the recording, and one recording has no calls of the driver: calls
# are put where the launches were seen.
CALLS_WHERE_LAUNCHES_ARE = """
    CREATE TEMP TABLE launches AS SELECT correlationId, min(start) AS start, globalTid FROM (
        SELECT correlationId, gpuprofLaunchStart AS start, gpuprofLaunchTid AS globalTid FROM CUPTI_ACTIVITY_KIND_KERNEL
        UNION ALL SELECT correlationId, gpuprofLaunchStart, gpuprofLaunchTid FROM CUPTI_ACTIVITY_KIND_MEMCPY
        UNION ALL SELECT correlationId, gpuprofLaunchStart, gpuprofLaunchTid FROM CUPTI_ACTIVITY_KIND_MEMSET)
        WHERE start NOTNULL GROUP BY correlationId;
    DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME;
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue)
        SELECT start, start, 0, globalTid, correlationId, 0, 0 FROM launches"""


def rows_of(file):
    """Rows by column; [] when a report has nothing to say."""
    if not file.exists():
        return []
    text = file.read_bytes().decode("utf-8", "replace").replace("\0", "\ufffd")  # as exports have names
    rows = [row for row in csv.reader(text.splitlines(True)) if row]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def number(text):
    return float(text) if text else 0.0


class Nsys(export_cases.Case):
    @classmethod
    def setUpClass(cls):
        cls.nsys = clients.folder_of("nsys") / "usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64/nsys"

    def run_nsys(self, command, names, file, *options):
        """What it says; it exits with 0 whatever happens to a report."""
        run = self.run_program(self.nsys, command, *options, "-f", "csv", "-r", ",".join(names), file, env={"HOME": str(self.folder), "TMPDIR": str(self.folder)})
        said = run.out + run.err
        self.assertEqual(run.code, 0, said)
        for word in ("SKIPPED", "ERROR", "Traceback", "could not be", "does not contain"):
            self.assertNotIn(word, said)
        return said

    def reports_of_nsys(self, file, names, *options):
        base = self.folder / f"nsys-{file.stem}"
        self.run_nsys("stats", names, file, "-o", base, "--force-overwrite", "true", *options)
        files = {name: list(self.folder.glob(f"{base.name}_{name}*.csv")) for name in names}  # a filter is part of the name
        return {name: rows_of(files[name][-1]) if files[name] else [] for name in names}

    def reports_of_gpuprof(self, capture, names, *options):
        base = self.folder / f"gpuprof-{capture.stem}"
        run = self.run_program(processes.path("BUILT_GPUPROF"), "stats", "-f", "csv", "-o", base, "--force-overwrite", "-r", ",".join(names), *options, capture)
        self.assertEqual(run.code, 0, run.err)
        return {name: rows_of(base.with_name(f"{base.name}_{name}.csv")) for name in names}

    def assert_same(self, report, of_nsys, of_gpuprof, left_out=()):
        """Whatever the order, which differs where totals are equal; nsys has room for 24 bits of a process' or thread's number."""
        for row in of_gpuprof:
            row.update({column: str(int(row[column]) & 0xffffff) for column in ("PID", "TID") if column in row})
        exact = [c for c in (of_nsys or of_gpuprof or [{}])[0] if not any(word in c for word in OF_SUMS) and c not in left_out]
        in_order = lambda rows: sorted(rows, key=lambda row: [row[c] for c in exact])
        self.assertEqual([[row[c] for c in exact] for row in in_order(of_nsys)], [[row[c] for c in exact] for row in in_order(of_gpuprof)], report)
        for ours, theirs in zip(in_order(of_gpuprof), in_order(of_nsys)):
            for column in set(theirs) - set(exact) - set(left_out):
                self.assertAlmostEqual(number(ours[column]), number(theirs[column]), delta=0.10001, msg=f"{report}: {column} of {theirs}")

    def exported(self, capture):
        return self.export(capture, "sqlite")


class Messages(Nsys):
    def test_every_report_runs_without_a_message(self):
        for capture in self.captures() + [self.made("rare")]:
            with self.subTest(capture.name):
                file = self.exported(capture)
                reports = self.reports_of_nsys(file, SHARED + OTHERS)
                with contextlib.closing(sqlite3.connect(file)) as database:
                    count = lambda what: database.execute(f"SELECT count(*) FROM {what}").fetchone()[0]
                    self.assertEqual(len(reports["cuda_api_trace"]), count("CUPTI_ACTIVITY_KIND_RUNTIME"))
                    self.assertEqual(len(reports["cuda_kern_exec_trace"]), count("CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME USING (correlationId)"))
                projected = sum(int(row["Range Instances"]) for row in reports["nvtx_gpu_proj_sum"])
                self.assertEqual(len([row for row in reports["nvtx_gpu_proj_trace"] if row["Style"]]), projected)

    def test_every_rule_runs_without_a_message(self):
        for capture in self.captures() + [self.made("rare")]:
            with self.subTest(capture.name):
                self.run_nsys("analyze", RULES, self.exported(capture))

    def test_rules_find_what_is_there(self):
        said = self.run_nsys("analyze", RULES, self.exported(self.of_session("train_step")))
        self.assertIn("Pageable,Device", said)  # cuda_memcpy_async
        self.assertIn("cudaStreamSynchronize_v3020", said)  # cuda_api_sync
        self.assertIn("In-Use (%)", said)  # gpu_time_util
        said = self.run_nsys("analyze", RULES, self.exported(self.made("rare")))
        self.assertRegex(said, r"1400,18000,Device,Pinned,.*,cudaMemcpy_v3020")  # cuda_memcpy_sync


class Rows(Nsys):
    """Row by row what `gpuprof stats` says. Where the two differ on purpose, the reason stands here."""

    def compared(self, capture, skipped=(), left_out={}):
        names = [name for name in SHARED if name not in skipped]
        theirs, ours = self.reports_of_nsys(self.exported(capture), names), self.reports_of_gpuprof(capture, names)
        for name in names:
            getattr(self, "check_" + name, self.check)(name, theirs[name], ours[name], **({"left_out": left_out[name]} if left_out.get(name) else {}))
        return theirs

    def check(self, name, theirs, ours):
        if name in ("cuda_api_sum", "cuda_api_gpu_sum"):  # calls that the export has made of launches take no time
            theirs = [row for row in theirs if not row.get("Name", row.get("Operation")).endswith("(call not recorded)")]
        for row in theirs:
            for column in ("Name", "Operation", "API Name"):
                if name.startswith(("cuda_api", "cuda_kern_exec")) and column in row:  # nsys takes a version of four digits off, not one of five
                    row[column] = re.sub(r"_v\d{5}$", "", row[column])
        self.assert_same(name, theirs, ours)

    def check_cuda_gpu_trace(self, name, theirs, ours):
        """nsys lists migrations, and no graphs; its throughput comes from a whole number of operations a second."""
        theirs = [row for row in theirs if not row["Name"].startswith("[CUDA memcpy Unified")]
        ours = [row for row in ours if not row["Name"].startswith("[CUDA graph")]
        for row in ours:  # registers that are not known are 0 there
            row["Reg/Trd"] = row["Reg/Trd"] or ("0" if row["GrdX"] else "")
        self.assert_same(name, theirs, ours, left_out=["Throughput (MB/s)"])
        for of_nsys, of_gpuprof in zip(theirs, sorted(ours, key=lambda row: int(row["Start (ns)"]))):
            expected = number(of_gpuprof["Throughput (MB/s)"])
            self.assertAlmostEqual(number(of_nsys["Throughput (MB/s)"]), expected, delta=0.002 + expected * int(of_nsys["Duration (ns)"]) / 1e9)

    def check_nvtx_kern_sum(self, name, theirs, ours):
        """nsys lists kernels that no range launched, too; a start/end range has all kernels of the process here, those of its thread there."""
        self.assert_same(name, *([row for row in rows if row["Style"] == "PushPop"] for rows in (theirs, ours)))

    def check_nvtx_gpu_proj_sum(self, name, theirs, ours, left_out=()):
        self.assert_same(name, *([row for row in rows if row["Style"] == "PushPop"] for rows in (theirs, ours)), left_out=left_out)

    def check_um_sum(self, name, theirs, ours):
        """A capture has no page faults, and nsys writes nothing for no bytes."""
        for row in theirs:
            row["Virtual Address"] = row["Virtual Address"].lower()
            for column in ("HtoD Migration", "DtoH Migration"):
                row[column + " Size (MB)"] = row.pop(column + " size (MB)") or "0.000"
        self.assert_same(name, theirs, ours, left_out=["CPU Page Faults", " GPU Page Faults"])

    def check_um_total_sum(self, name, theirs, ours):
        """nsys knows no addresses without page faults."""
        for row in theirs + ours:
            for column in list(row):
                if "Faults" in column or "Address" in column:
                    del row[column]
                else:
                    row[column] = row[column] or "0.000"
        self.assert_same(name, theirs, ours)

    def test_rows_of_recorded_sessions_equal_those_of_stats(self):
        for session in processes.all_recorded():
            name = pathlib.Path(session).stem
            with self.subTest(name):
                self.compared(self.of_session(name), skipped=BY_LAUNCH)

    def test_rows_of_ranges_in_recorded_sessions_equal_those_of_stats(self):
        for session in processes.all_recorded():
            name = pathlib.Path(session).stem
            with self.subTest(name):
                capture = self.of_session(name)
                moved = self.folder / f"{name}-moved.sqlite"
                shutil.copy(self.exported(capture), moved)
                with contextlib.closing(sqlite3.connect(moved)) as database:
                    database.executescript(CALLS_WHERE_LAUNCHES_ARE)
                theirs, ours = self.reports_of_nsys(moved, BY_LAUNCH), self.reports_of_gpuprof(capture, BY_LAUNCH)
                self.check_nvtx_kern_sum("nvtx_kern_sum", theirs["nvtx_kern_sum"], ours["nvtx_kern_sum"])
                # nsys counts a launch of a graph once, gpuprof its nodes.
                counts = ["Total GPU Ops", "Avg GPU Ops"] if name == "graph" else []
                self.check_nvtx_gpu_proj_sum("nvtx_gpu_proj_sum", theirs["nvtx_gpu_proj_sum"], ours["nvtx_gpu_proj_sum"], left_out=counts)

    def test_rows_of_rare_records_equal_those_of_stats(self):
        theirs = self.compared(self.made("rare"))
        self.assertEqual(len(theirs["um_sum"]), 2)
        self.assertEqual({row["NVTX Range"] for row in theirs["nvtx_kern_sum"]}, {"step", "model:forward"})

    def test_rows_of_captures_with_counters_equal_those_of_stats(self):
        # Stats has another length for launches that counting slowed down.
        for name, skipped in (("mixed_sampled", ()), ("mixed_exact", ()), ("counted_auto", ("cuda_api_gpu_sum", "cuda_gpu_kern_gb_sum", "cuda_gpu_kern_sum", "cuda_gpu_sum", "cuda_kern_exec_sum"))):
            with self.subTest(name):
                self.compared(pathlib.Path(processes.path("H200_CAPTURES"), name + ".gpuprof"), skipped=skipped)

    def test_rows_of_sessions_with_only_default_calls_equal_those_of_stats(self):
        for session in processes.all_recorded():
            name = pathlib.Path(session).stem
            with self.subTest(name):
                run = self.profile(session)
                self.assertEqual(run.code, 0, run.err)
                # nsys counts a launch of a graph once, gpuprof its nodes.
                counts = ["Total GPU Ops", "Avg GPU Ops"] if name == "graph" else []
                self.compared(self.capture, left_out={"nvtx_gpu_proj_sum": counts})

    def test_rows_of_two_ranks_with_only_default_calls_equal_those_of_stats(self):
        for rank in (0, 1):
            theirs = self.compared(pathlib.Path(processes.path("H200_CAPTURES")).with_name("h100") / f"ddp.rank{rank}.gpuprof")
            self.assertGreater(len(theirs["nvtx_kern_sum"]), 10)
            self.assertGreater(sum(int(row["Count"]) for row in theirs["cuda_kern_exec_sum"]), 1000)

    def test_rows_of_made_captures_equal_those_of_stats(self):
        for name in ("hostile", "odd", "empty", "large_pid"):
            with self.subTest(name):
                self.compared(self.made(name), skipped=BY_LAUNCH)

    def test_nsys_ends_a_range_that_was_never_closed_at_its_last_nvtx_event(self):
        # gpuprof has it last to the end of the capture.
        theirs = self.reports_of_nsys(self.exported(self.made("only_ranges")), ["nvtx_sum"])["nvtx_sum"]
        ours = self.reports_of_gpuprof(self.made("only_ranges"), ["nvtx_sum"])["nvtx_sum"]
        self.assertEqual({row["Range"]: row["Total Time (ns)"] for row in theirs}, {"step": "3000", "forward": "1000", "never ends": "0"})
        self.assert_same("nvtx_sum", [row for row in theirs if row["Range"] != "never ends"], [row for row in ours if row["Range"] != "never ends"],
                         left_out=["Time (%)"])

    def test_rows_within_a_time_filter_equal_those_of_stats(self):
        capture = self.made("rare")
        names = ["cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_api_sum", "nvtx_sum"]
        theirs = self.reports_of_nsys(self.exported(capture), names, "--filter-time", "9us/17500ns")
        ours = self.reports_of_gpuprof(capture, names, "--filter-time", "9us/17500ns")
        for name in names:
            self.assertGreater(len(theirs[name]), 0, name)
            for row in ours[name]:
                if name == "nvtx_sum":  # nsys filters the rows that name domains, too
                    row["Range"] = row["Range"].removeprefix("model:")
            self.check(name, theirs[name], ours[name])

    def test_rows_within_a_range_filter_count_only_calls_in_the_range(self):
        theirs = self.reports_of_nsys(self.exported(self.made("rare")), ["cuda_api_sum"], "--filter-nvtx", "forward@model")["cuda_api_sum"]
        self.assertEqual({row["Name"]: row["Num Calls"] for row in theirs}, {"cudaLaunchKernel": "5", "cuLaunchKernelEx": "1"})


export_cases.main()

# SPDX-License-Identifier: Apache-2.0
"""The rules of nsys by their names: row by row what the real `nsys analyze` lists on the export to SQLite. Fetched by clients.sh."""
import contextlib
import csv
import shutil
import sqlite3

import clients
import export_cases
import processes

ALL = -1
# nsys passes over graphs that were traced as a whole; gpuprof counts them as work of the GPU.
GRAPHS_AS_WORK = """
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET(start, end, deviceId, contextId, streamId, globalPid, value, bytes)
        SELECT start, end, deviceId, contextId, streamId, globalPid, 0, 0 FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"""
DEFAULTS = {"rows": 50, "gap": 500, "chunks": 30, "threshold": 50}


def rows_of(text):
    """Rows as dictionaries, of a CSV with other lines around it: from the header of a rule on."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith(("Duration (ns),", "Row#,"))]
    if not starts:
        return []
    table = []
    for line in lines[starts[0]:]:
        if not line.strip():
            break
        table.append(line)
    return list(csv.DictReader(table))


class Rules(export_cases.Case):
    @classmethod
    def setUpClass(cls):
        cls.nsys = clients.folder_of("nsys") / "usr/lib/x86_64-linux-gnu/nsight-systems/target-linux-x64/nsys"

    def of_nsys(self, file, rule, **options):
        asked = ":".join([rule] + [f"{name}={value}" for name, value in options.items()])
        run = self.run_program(self.nsys, "analyze", "-f", "csv", "-r", asked, file, env={"HOME": str(self.folder), "TMPDIR": str(self.folder)})
        self.assertEqual(run.code, 0, run.out + run.err)
        for word in ("SKIPPED", "ERROR", "Traceback"):
            self.assertNotIn(word, run.out + run.err)
        return rows_of(run.out)

    def exported(self, capture):
        file = self.folder / f"{capture.stem}-work.sqlite"
        if not file.exists():
            shutil.copyfile(self.export(capture, "sqlite"), file)
            with contextlib.closing(sqlite3.connect(file)) as database, database:
                if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE'").fetchone():
                    database.executescript(GRAPHS_AS_WORK)
        return file

    def of_gpuprof(self, capture, rule, **options):
        asked = {**DEFAULTS, **options}
        run = self.run_program(processes.path("BUILT_NSYS_RULE_ROWS"), capture, rule, *(str(asked[name]) for name in DEFAULTS))
        self.assertEqual(run.code, 0, run.err)
        rows = rows_of(run.out)
        for row in rows:  # nsys has room for 24 bits; its sizes are bytes in CSV, ours MB
            row.update({column: str(int(row[column]) & 0xffffff) for column in ("PID", "TID") if column in row})
        return rows

    def assert_same(self, capture, rule, left_out=(), **options):
        theirs = self.of_nsys(self.exported(capture), rule, **options)
        ours = self.of_gpuprof(capture, rule, **options)
        self.assertEqual(len(theirs), len(ours), rule)
        if theirs:
            self.assertEqual(list(theirs[0]), list(ours[0]))
        # Of rows of one length nsys says nothing about the order, and it numbers them by it.
        columns = [c for c in (theirs or [{}])[0] if c not in left_out and c != "Row#"]
        in_order = lambda rows: sorted([row[c] for c in columns] for row in rows)
        self.assertEqual(in_order(theirs), in_order(ours), rule)
        by = "In-Use (%)" if rule == "gpu_time_util" else "Duration (ns)"
        self.assertEqual([row[by] for row in theirs], [row[by] for row in ours], rule)
        return ours

    def captures_with_calls(self):
        return [self.of_session("train_step"), self.made("rare"), self.job_rank(0)]

    def test_rows_of_copies_fills_and_waits_equal_those_of_nsys(self):
        listed = dict.fromkeys(("cuda_memcpy_async", "cuda_memcpy_sync", "cuda_api_sync"), 0)
        for capture in self.captures_with_calls():
            for rule in (*listed, "cuda_memset_sync"):
                with self.subTest(capture=capture.name, rule=rule):
                    found = len(self.assert_same(capture, rule, rows=ALL))
                    listed[rule] = max(found, listed.get(rule, 0))
        for rule in ("cuda_memcpy_async", "cuda_memcpy_sync", "cuda_api_sync"):
            self.assertGreater(listed[rule], 0, rule)

    def test_gaps_equal_those_of_nsys(self):
        for capture in self.captures_with_calls() + [self.training(20_000)]:
            with self.subTest(capture.name):
                self.assert_same(capture, "gpu_gaps", rows=ALL, gap=0)
                self.assert_same(capture, "gpu_gaps")
        self.assertGreater(len(self.of_gpuprof(self.training(20_000), "gpu_gaps", gap=0, rows=ALL)), 100)

    def test_time_in_use_equals_that_of_nsys(self):
        for capture in self.captures_with_calls() + [self.training(20_000)]:
            for options in ({}, {"chunks": 7, "threshold": 90}, {"chunks": 1000, "threshold": 99}, {"chunks": 1, "threshold": 100}):
                with self.subTest(capture.name, **options):
                    # Of a GPU with several contexts nsys names the one that its database comes upon.
                    self.assert_same(capture, "gpu_time_util", ["Context ID"] if capture.stem == "rare" else [], rows=ALL, **options)

    def test_only_the_longest_rows_are_kept(self):
        everything = self.of_gpuprof(self.training(20_000), "gpu_gaps", gap=0, rows=ALL)
        self.assertEqual(self.of_gpuprof(self.training(20_000), "gpu_gaps", gap=0, rows=7), everything[:7])
        self.assertEqual(len(self.of_gpuprof(self.training(20_000), "gpu_gaps", gap=0)), 50)


class Mistakes(export_cases.Case):
    def refused(self, *arguments):
        run = self.run_program(processes.path("BUILT_NSYS_RULE_ROWS"), *arguments)
        self.assertEqual(run.code, 1)
        self.assertEqual(run.out, "")
        return run.err

    def test_mistakes_of_the_user_are_reported(self):
        capture = self.made("only_ranges")
        self.assertIn("did you mean gpu_gaps?", self.refused(capture, "gpu_gap"))
        self.assertIn("1 to 1000 chunks, not 1001", self.refused(capture, "gpu_time_util", "50", "500", "1001"))
        self.assertIn("record with --trace cuda,nvtx,cuda-api", self.refused(capture, "cuda_api_sync"))

    def test_calls_recorded_by_default_are_enough_only_for_rules_on_blocking_calls(self):
        run = self.profile(processes.recorded("graph"))
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("only those that do were recorded; record with --trace cuda,nvtx,cuda-api", self.refused(self.capture, "cuda_memcpy_async"))
        # The session has no callbacks of waits: that none was made is an answer.
        run = self.run_program(processes.path("BUILT_NSYS_RULE_ROWS"), self.capture, "cuda_api_sync")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(len(run.out.strip().splitlines()), 1)

    def test_a_capture_without_work_has_no_rows(self):
        run = self.run_program(processes.path("BUILT_NSYS_RULE_ROWS"), self.made("empty"), "gpu_gaps")
        self.assertEqual((run.code, run.out.strip()), (0, "Row#,Duration (ns),Start (ns),PID,Device ID,Context ID"))


export_cases.main()

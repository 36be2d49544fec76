# SPDX-License-Identifier: Apache-2.0
"""gp.open(): tables of captures, read with and without an Arrow library, and what the command says as objects."""
import csv
import re
import shutil
import subprocess

import package
import processes

H200 = package.DATA / "h200/counted_auto.gpuprof"
RANKS = package.DATA / "h100"


class Captures(package.Case):
    def exported(self, capture, table):
        """The same table by `gpuprof export --type csv`."""
        folder = self.folder / "csv"
        if not folder.exists():
            subprocess.run([processes.path("BUILT_GPUPROF"), "export", capture, "--type", "csv", "-o", folder], check=True, capture_output=True)
        with open(folder / f"{table}.csv", newline="") as file:
            return list(csv.reader(file))

    def test_tables_equal_those_of_the_csv_export(self):
        """Every value of every table, and the names of columns."""
        for capture in (H200, RANKS / "ddp.rank0.gpuprof"):
            self.folder.joinpath("csv").exists() and shutil.rmtree(self.folder / "csv")
            written = self.python("""
                import csv
                run = gp.open(sys.argv[1])
                for name in run.tables:
                    with open(f"{name}.txt", "w", newline="") as file:
                        out = csv.writer(file)
                        table = run.table(name)
                        out.writerow([column.name for column in table.columns])
                        for row in table.rows():
                            out.writerow([int(v) if isinstance(v, bool) else v for v in row.values()])
                    print(name, len(table))
                """, capture).out.split("\n")[:-1]
            self.assertGreater(len(written), 8)
            for line in written:
                name, count = line.split()
                theirs = self.exported(capture, name)
                with open(self.folder / f"{name}.txt", newline="") as file:
                    ours = list(csv.reader(file))
                with self.subTest(capture=capture.name, table=name):
                    self.assertEqual(ours[0], theirs[0])
                    self.assertEqual(len(ours), int(count) + 1)
                    self.assertEqual([[_number(v) for v in row] for row in ours], [[_number(v) for v in row] for row in theirs])

    def test_columns_can_be_read_without_an_arrow_library(self):
        self.assertEqual(self.lines("""
            run = gp.open(sys.argv[1])
            durations = run.kernels["duration"]
            print(type(durations).__name__, durations.format, len(durations), sum(durations))
            names = run.kernels["kernel_name"]
            print(len(names), sorted(set(names))[0])
            print([(c.name, c.type, c.unit) for c in run.kernels.columns][:2], len(run.kernels.columns))
            print([c.name for c in run.kernels.select("stream", "duration").columns])
            try: run.kernels["begin"]
            except KeyError as why: print("begin" in str(why))
            """, H200), ["memoryview q 7500 2083720594", "7500 counted_copy",
                         "[('start', 'int64', 'ns of CLOCK_REALTIME'), ('duration', 'int64', 'ns')] 15", "['stream', 'duration']", "True"])

    def test_a_view_stays_valid_after_its_table_is_gone(self):
        self.assertEqual(self.lines("""
            import gc
            view = gp.open(sys.argv[1]).kernels["duration"]
            before = sum(view); gc.collect()
            rest = [bytearray(1 << 20) for _ in range(50)]
            print(before == sum(view))
            """, H200), ["True"])

    def test_ranks_can_be_opened_by_folder_or_pattern(self):
        self.assertEqual(self.lines("""
            for what in (sys.argv[1], sys.argv[1] + "/ddp.*.gpuprof", [sys.argv[1] + "/ddp.rank1.gpuprof", sys.argv[1] + "/ddp.rank0.gpuprof"]):
                run = gp.open(what)
                ranks = run.kernels["rank"]
                print(len(run.paths), len(run.kernels), ranks[0], ranks[-1], run.kernels.columns[-1].name, len(run.kernels["kernel_name"]))
            """, RANKS), ["2 2762 0 1 rank 2762", "2 2762 0 1 rank 2762", "2 2762 1 0 rank 2762"])

    def test_ranges_have_durations(self):
        self.assertEqual(self.lines("""
            steps = [row for row in gp.open(sys.argv[1]).ranges.rows() if row["name"] == "step" and not row["domain"]]
            print(len(steps), sum(row["duration"] for row in steps))
            """, RANKS / "ddp.rank0.gpuprof"), ["5 1214628386"])  # as gpuprof stats -r nvtx_sum

    def test_captures_that_cannot_be_opened_raise_errors(self):
        (self.folder / "text").write_text("text")
        (self.folder / "empty").mkdir()
        self.assertEqual(self.lines("""
            for path in ("none.gpuprof", "text", "empty", "no*.gpuprof"):
                try: gp.open(path)
                except Exception as why: print(type(why).__name__, why)
            try: gp.open(sys.argv[1]).table("kernels").columns
            except ValueError as why: print(str(why)[:60])
            try: gp.open(sys.argv[1]).kernel
            except AttributeError as why: print(str(why)[:50])
            """, H200), ["FileNotFoundError [Errno 2] cannot open 'none.gpuprof': No such file or directory",
                         "ValueError 'text' is not a gpuprof capture", "FileNotFoundError [Errno 2] there is no capture in 'empty'",
                         "FileNotFoundError [Errno 2] there is no capture in 'no*.gpuprof'",
                         "a capture has no table 'kernels'; there are tables, missing,", "a run has no 'kernel': table('kernel') for a table"])

    def test_a_cut_capture_says_what_is_missing(self):
        whole = H200.read_bytes()
        (self.folder / "cut.gpuprof").write_bytes(whole[:len(whole) // 2])
        found = self.lines("run = gp.open('cut.gpuprof'); print(len(run.kernels) < 7500); print(*run.missing, sep='\\n'); print(gp.open(sys.argv[1]).missing, len(gp.open(sys.argv[1]).table('missing')), len(run.table('missing')) > 0)", H200)
        self.assertEqual(found[0], "True")
        self.assertIn("is cut off", "".join(found[1:-1]))
        self.assertEqual(found[-1], "[] 0 True")

    def test_reports_equal_those_of_the_command(self):
        found = self.lines("""
            run = gp.open(sys.argv[1])
            rows = run.stats("cuda_gpu_kern_sum")
            print(len(rows), rows[0]["Name"], rows[0]["Instances"], rows.column("Instances")[-1])
            analysis = run.analyze()
            print(analysis.holds.bucket, [row.bucket for row in analysis.ledger][:2], analysis.findings[0].rule)
            print(run.analyze(min_gain=0.5).findings == [], run.analyze(fail_on="gpu_idle>1%").passed, run.analyze(fail_on="gpu_idle>90%").passed)
            roof = run.roofline()
            print(roof.kernels[0].name, roof.kernels[0].launches, roof.has_peaks)
            print("The GPU is busy" in repr(analysis), "<table>" in analysis._repr_html_(), "TFLOP/s" in repr(roof))
            compared = gp.compare(sys.argv[2] + "/ddp.rank0.gpuprof", sys.argv[2] + "/ddp.rank1.gpuprof", fail_on="step>3%")
            print(compared.passed, compared.lines[0].kind, "per step" in repr(compared))
            """, H200, RANKS)
        self.assertEqual(found, ["5 counted_copy 1500 1500", "compute ['compute', 'transfer'] gpu_idle", "True False True",
                                 "counted_copy 1500 False", "True True True", "None run True"])

    def test_what_if_equals_the_command(self):
        found = self.lines("""
            import glob
            alone = gp.open(sys.argv[1] + "/ddp.rank0.gpuprof").whatif(scale={"regex:nccl": 0.5}, cpu={"forward": 0, "backward": 0.5})
            print(alone.forecast.least_step_ns < alone.replayed_step_ns, *alone.forecast["with"])
            print("-> " in repr(alone), alone.held_by.kernels_ns > 0)
            ranks = gp.open(sorted(glob.glob(sys.argv[1] + "/ddp.rank*.gpuprof")))
            print([row.name for row in ranks.whatif().ranks], "<table>" in ranks.whatif(limit=3)._repr_html_())
            try: ranks.whatif(rank=5, drop="copies")
            except gp.Error as why: print(why)
            """, RANKS)
        self.assertEqual(found, ["True --scale regex:nccl=0.5 --cpu forward=0 --cpu backward=0.5", "True True", "['0', '1'] True",
                                 "gpuprof whatif: no capture is of rank 5"])

    def test_an_error_of_the_command_is_raised_with_its_own_text(self):
        found = self.lines("""
            run = gp.open(sys.argv[1])
            for ask in (lambda: run.stats("none"), lambda: run.analyze(no_such=1), lambda: run.stats("um_sum")):
                try: print(ask())
                except gp.Error as why: print(why)
            """, H200)
        self.assertIn("there is no report 'none'", found[0])
        self.assertIn("--no-such", " ".join(found))

    def test_names_of_html_are_escaped(self):
        self.assertEqual(self.lines("from libgpuprof.reports import Rows; print(Rows([{'<b>': '<i>&'}])._repr_html_())"),
                         ["<table><thead><tr><th style=\"text-align:left\">&lt;b&gt;</th></tr></thead><tbody><tr><td style=\"text-align:left\">&lt;i&gt;&amp;"
                          "</td></tr></tbody></table>"])

    @package.needs("pyarrow")
    def test_pyarrow_reads_a_table_without_a_copy(self):
        self.assertEqual(self.lines("""
            import pyarrow as pa
            table = pa.table(gp.open(sys.argv[1]).kernels)
            column = table["duration"]
            print(table.num_rows, column.num_chunks, table.schema.field("duration").metadata[b"unit"].decode(), sum(column.to_pylist()))
            table.validate(full=True)
            begins = sorted(part.chunk(0).buffers()[1].address for part in table.columns)
            print(begins[-1] - begins[0] < 7500 * 100)  # one block of memory
            job = pa.table(gp.open(sys.argv[2]).kernels)
            job.validate(full=True)
            print(job.num_rows, job["rank"].unique().to_pylist())
            del table, column
            capsule = gp.open(sys.argv[1]).kernels.__arrow_c_stream__()
            del capsule  # taken by nobody
            """, H200, RANKS), ["7500 1 ns 2083720594", "True", "2762 [0, 1]"])

    @package.needs("pyarrow")
    def test_a_build_without_arrow_names_a_python_command_that_writes_parquet(self):
        shutil.copy(H200, self.folder / "run.gpuprof")
        told = self.run_program(processes.path("BUILT_GPUPROF"), "export", "--type", "parquet", "run.gpuprof")
        if told.code == 0:
            self.skipTest("this build writes Parquet itself")
        code = re.search(r"python3 -c '(.*?)'", told.err)
        self.assertTrue(code, told.err)
        self.python(code[1])
        self.assertEqual(self.lines("import pyarrow.parquet as pq; print(pq.read_table('kernels.parquet').num_rows)"), ["7500"])

    @package.needs("pandas")
    def test_pandas(self):
        self.assertEqual(self.lines("""
            frame = gp.open(sys.argv[1]).kernels.to_pandas()
            print(frame.shape, frame.duration.sum(), frame.kernel_name.dtype, frame.dtypes["start"])
            job = gp.open(sys.argv[2]).kernels.to_pandas()
            print(job.shape, job["rank"].value_counts().sort_index().to_dict(), job.kernel_name.dtype)
            print(gp.open(sys.argv[1]).marks.to_pandas().shape)
            """, H200, RANKS)[:2], ["(7500, 14) 2083720594 category int64", "(2762, 15) {0: 1381, 1: 1381} category"])

    @package.needs("polars", "duckdb", "pyarrow")
    def test_polars_and_duckdb(self):
        self.assertEqual(self.lines("""
            import duckdb, polars as pl, pyarrow as pa
            job = gp.open(sys.argv[1])
            frame = pl.DataFrame(job.kernels)
            print(frame.shape, frame["duration"].sum() == sum(job.kernels["duration"]))
            kernels = job.kernels.select("rank", "duration", "kernel_name")
            found = duckdb.sql("select rank, sum(duration)::bigint from kernels group by 1 order by 1").fetchall()
            print(found == [(i, sum(gp.open(path).kernels["duration"])) for i, path in enumerate(job.paths)])
            """, RANKS), ["(2762, 15) True", "True"])


def _number(text):
    try:
        return float(text)
    except ValueError:
        return text

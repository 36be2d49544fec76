# SPDX-License-Identifier: Apache-2.0
"""gpuprof export --type parquet, read by DuckDB, Polars and pyarrow: numbers of `gpuprof stats`, ranks beside each other, bad input."""
import collections
import pathlib
import shutil
import signal
import subprocess
import time

import clients
import parquet_tables
import processes

RANGE_STYLES = {0: "PushPop", 1: "StartEnd"}
COPIES = {1: "Host-to-Device", 2: "Device-to-Host", 8: "Device-to-Device", 9: "Host-to-Host", 10: "Peer-to-Peer"}


def setUpModule():
    if not pathlib.Path(processes.path("BUILT_GPUPROF")).with_name("export-parquet").exists():
        clients.missing("export-parquet", "this build has no Arrow: pip install pyarrow, then cmake -DGPUPROF_PYARROW=FOLDER")
    clients.on_path(clients.folder_of("parquet"))


class Case(parquet_tables.Case):
    def ask(self, folder, sql):
        """Rows, with every table of the folder as a view."""
        import duckdb
        with duckdb.connect() as connection:
            for table in folder.iterdir():
                if table.is_dir():
                    connection.execute(f"CREATE VIEW \"{table.name}\" AS FROM read_parquet('{table}/**/*.parquet', hive_partitioning = true)")
            found = connection.execute(sql)
            heads = [column[0] for column in found.description]
            return [dict(zip(heads, row)) for row in found.fetchall()]

    def values(self, folder, sql):
        return [tuple(row.values()) for row in self.ask(folder, sql)]


class Numbers(Case):
    def test_kernels_are_those_of_stats(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                out = self.export(capture, "parquet")
                found = {row[0]: row[1:] for row in self.values(out, "SELECT name, count(*), sum(duration) FROM kernel GROUP BY 1")}
                sums = self.stats(capture, "cuda_gpu_kern_sum")
                self.assertEqual({name: row[0] for name, row in found.items()}, {row["Name"]: row["Instances"] for row in sums})
                if "counted" in capture.name or "exact" in capture.name:
                    continue  # stats puts other durations in place of those that counting has lengthened
                self.assertEqual({name: row[1] for name, row in found.items()}, {row["Name"]: row["Total Time (ns)"] for row in sums})

    def test_kernels_by_grid_and_block(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                out = self.export(capture, "parquet")
                found = self.values(out, "SELECT name, format('{:4d} {:4d} {:4d}', grid_x, grid_y, grid_z), count(*) FROM kernel GROUP BY ALL")
                sums = self.stats(capture, "cuda_gpu_kern_gb_sum")
                squeeze = lambda text: " ".join(text.split())
                count = {}
                for row in sums:  # blocks of one grid together
                    key = row["Name"], squeeze(row["GridXYZ"])
                    count[key] = count.get(key, 0) + row["Instances"]
                self.assertEqual({(name, squeeze(grid)): n for name, grid, n in found}, count)

    def test_ranges_are_those_of_stats(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                out = self.export(capture, "parquet")
                found = self.values(out, "SELECT style, coalesce(domain, '') || ':' || name, count(*), sum(duration) FROM range GROUP BY ALL")
                found = {(RANGE_STYLES[style], name): (count, ns) for style, name, count, ns in found}
                sums = {(row["Style"], row["Range"]): (row["Instances"], row["Total Time (ns)"]) for row in self.stats(capture, "nvtx_sum")}
                sums = {(style, name if ":" in name else ":" + name): row for (style, name), row in sums.items()}
                self.assertEqual(found, sums)

    def test_copies_are_those_of_stats(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                out = self.export(capture, "parquet")
                sums = {row["Operation"]: (row["Count"], row["Total Time (ns)"]) for row in self.stats(capture, "cuda_gpu_mem_time_sum")}
                if (out / "copy").exists():
                    for kind, count, ns in self.values(out, "SELECT kind, count(*), sum(duration) FROM copy GROUP BY 1"):
                        self.assertEqual(sums.pop(f"[CUDA memcpy {COPIES[kind]}]"), (count, ns))
                if (out / "memset").exists():
                    self.assertEqual([sums.pop("[CUDA memset]")], self.values(out, "SELECT count(*), sum(duration) FROM memset"))
                self.assertEqual([name for name in sums if "Unified" not in name], [])

    def test_calls_are_those_of_stats(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                out = self.export(capture, "parquet")
                sums = collections.Counter()  # stats leaves CUPTI's version of a name away
                for row in self.stats(capture, "cuda_api_sum"):
                    sums[row["Name"].split("_v")[0]] += row["Num Calls"]
                found = self.values(out, "SELECT split_part(name, '_v', 1), count(*) FROM api GROUP BY 1") if (out / "api").exists() else []
                self.assertEqual(dict(found), sums)

    def test_kernels_have_the_range_and_step_in_which_they_were_launched(self):
        out = self.export(self.training(2000), "parquet")
        rows = self.values(out, "SELECT range_path, range_name, step, count(*) FROM kernel GROUP BY ALL ORDER BY step, 1")
        self.assertEqual(rows, [(f"step/{name}", name, step, 100) for step in range(10) for name in ("backward", "forward")])
        begin = self.values(out, "SELECT count(*) FROM kernel k JOIN range r USING (rank, range) WHERE k.launched BETWEEN r.start AND r.start + r.duration")
        self.assertEqual(begin, [(2000,)])
        self.assertEqual(self.values(out, "SELECT count(*) FROM (SELECT start - lag(start) OVER () AS d FROM kernel) WHERE d < 0"), [(0,)])

    def test_polars_and_pyarrow_read_the_same(self):
        import polars
        import pyarrow.parquet
        for capture in self.captures():
            with self.subTest(capture.name):
                out = self.export(capture, "parquet")
                rows, ns = self.values(out, "SELECT count(*), sum(duration)::BIGINT FROM kernel")[0]
                frame = polars.scan_parquet(out / "kernel", hive_partitioning=True).collect()
                table = pyarrow.parquet.read_table(out / "kernel")
                self.assertEqual((len(frame), table.num_rows), (rows, rows))
                self.assertEqual(frame["rank"].to_list(), [0] * rows)
                self.assertEqual(frame["duration"].sum(), ns or 0)
                self.assertEqual(frame["name"].cast(str).to_list(), table["name"].to_pylist())

    def test_a_file_says_which_run_it_comes_from(self):
        import pyarrow.parquet
        file = pyarrow.parquet.ParquetFile(self.export(self.fleet(0, 3), "parquet") / "kernel/rank=3/part-0.parquet")
        about = {key.decode(): value.decode() for key, value in file.metadata.metadata.items()}
        self.assertEqual((about["rank"], about["world_size"], about["host"], about["process.id"]), ("3", "8", "node1", "5003"))
        self.assertTrue(file.metadata.created_by.startswith("gpuprof "))
        column = {file.metadata.row_group(0).column(i).path_in_schema: file.metadata.row_group(0).column(i) for i in range(file.metadata.num_columns)}
        self.assertIn("DELTA_BINARY_PACKED", column["start"].encodings)
        self.assertEqual(column["name"].compression, "ZSTD")
        self.assertTrue(column["start"].has_column_index)

    def test_names_are_written_as_in_all_other_exports(self):
        out = self.export(self.made("hostile"), "parquet")
        names = {name for name, in self.values(out, "SELECT name FROM kernel")}
        self.assertIn("bad \ufffd\ufffd bytes \ufffd", names)
        self.assertIn("</script><img src=x onerror=alert(1)>", names)
        self.assertIn("x" * (64 << 10), names)


class Ranks(Case):
    def test_eight_ranks_are_one_table(self):
        import polars
        out = self.job()
        self.assertEqual(self.values(out, "SELECT rank, count(*) FROM kernel GROUP BY 1 ORDER BY 1"), [(rank, 60) for rank in range(8)])
        self.assertEqual(self.values(out, "SELECT rank, host FROM capture ORDER BY 1"), [(rank, "node1" if rank < 4 else "node2") for rank in range(8)])
        frame = polars.scan_parquet(out / "kernel", hive_partitioning=True).collect()
        self.assertEqual(frame["rank"].value_counts().sort("rank")["count"].to_list(), [60] * 8)
        self.assertEqual([f.name for f in out.iterdir() if "unfinished" in f.name], [])

    def test_ranks_that_export_at_the_same_time(self):
        out, files = self.folder / "job", [self.fleet(0, rank) for rank in range(8)]
        runs = [subprocess.Popen([processes.path("BUILT_GPUPROF"), "export", file, "--type", "parquet", "-o", out], stderr=subprocess.PIPE, text=True)
                for file in files]
        for run in runs:
            err = run.communicate()[1]
            self.assertEqual(run.returncode, 0, err)
        self.assertEqual(self.values(out, "SELECT count(*), count(DISTINCT rank) FROM kernel"), [(480, 8)])

    def test_a_rank_is_not_replaced_unless_asked(self):
        out = self.folder / "job"
        for rank in (0, 1):
            self.export(self.fleet(0, rank), "parquet", name="job")
        other = self.fleet(1, 1)
        run = self.run_export(other, "parquet", "-o", out)
        self.assertEqual((run.code, run.err.count("\n")), (1, 1), run.err)
        self.assertIn("rank=1", run.err)
        self.assertIn("--force-overwrite", run.err)
        day = "SELECT rank, min(start) // 86400000000000 FROM kernel GROUP BY 1 ORDER BY 1"
        self.assertEqual(self.values(out, day), [(0, 19675), (1, 19675)])
        self.export(other, "parquet", name="job")  # which overwrites
        self.assertEqual(self.values(out, day), [(0, 19675), (1, 19676)])

    def test_runs_are_a_column(self):
        out = self.week()
        self.assertEqual(self.values(out, "SELECT run, count(*), count(DISTINCT rank) FROM kernel GROUP BY 1 ORDER BY 1"),
                         [("monday", 480, 8), ("tuesday", 480, 8)])
        run = self.run_export(self.fleet(0, 0), "parquet", "-o", out)
        self.assertEqual((run.code, run.err.count("\n")), (1, 1), run.err)
        self.assertIn("--run", run.err)
        run = self.run_export(self.fleet(0, 0), "parquet", "-o", out, "--run", "a/b")
        self.assertEqual(run.code, 2, run.err)
        self.assertEqual(self.run_export(self.fleet(0, 0), "csv", "-o", self.folder / "csv", "--run", "monday").code, 2)

    def test_the_queries_of_the_documentation_page_give_the_right_answers(self):
        self.check_page(self.ask)


class Faults(Case):
    def test_the_smallest_integer_is_read_back_as_a_number(self):
        out = self.export(self.made("lossy"), "parquet", name="least")
        self.assertEqual([row["payload_bits"] for row in self.ask(out, "SELECT payload_bits FROM mark")], [-(1 << 63)])

    def test_a_cut_capture_says_what_is_missing(self):
        whole = self.training(100_000).read_bytes()
        cut = self.folder / "cut.gpuprof"
        cut.write_bytes(whole[: len(whole) * 2 // 3])
        out = self.folder / "cut"
        run = self.run_export(cut, "parquet", "-o", out)
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("missing from", run.err)
        self.assertIn("whatever came last", self.ask(out, "SELECT missing FROM capture")[0]["missing"])
        self.assertEqual(self.run_export(cut, "parquet", "-o", self.folder / "strict", "--strict").code, 1)

    def test_damage_inside_a_capture_is_reported(self):
        damaged = bytearray(self.training(100_000).read_bytes())
        for at in range(len(damaged) // 2, len(damaged) // 2 + 64):
            damaged[at] ^= 0xFF
        file = self.folder / "damaged.gpuprof"
        file.write_bytes(damaged)
        run = self.run_export(file, "parquet", "-o", self.folder / "out")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("damaged", run.err)
        self.assertIn("damaged", self.ask(self.folder / "out", "SELECT missing FROM capture")[0]["missing"])

    def test_an_interrupted_export_leaves_nothing(self):
        out = self.folder / "out"
        run = subprocess.Popen([processes.path("BUILT_GPUPROF"), "export", self.training(3_000_000), "--type", "parquet", "-o", out],
                               stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not out.exists():
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        err = run.communicate()[1]
        self.assertEqual(run.returncode, 128 + signal.SIGINT, err)
        self.assertIn("interrupted, nothing was written", err)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_killed_export_command_leaves_no_files(self):
        out = self.folder / "out"
        run = subprocess.Popen([processes.path("BUILT_GPUPROF"), "export", self.training(3_000_000), "--type", "parquet", "-o", out])
        while run.poll() is None and not out.exists():
            time.sleep(0.01)
        run.kill()
        run.wait()
        end = time.monotonic() + 30
        while out.exists() and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_interrupted_rank_leaves_the_others(self):
        out = self.export(self.fleet(0, 0), "parquet", name="job")
        run = subprocess.Popen([processes.path("BUILT_GPUPROF"), "export", self.training(3_000_000, 1), "--type", "parquet", "-o", out],
                               stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not any("unfinished" in f.name for f in out.iterdir()):
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)
        err = run.communicate()[1]
        self.assertEqual(run.returncode, 128 + signal.SIGTERM, err)
        self.assertEqual([f.name for f in out.iterdir() if "unfinished" in f.name], [])
        self.assertEqual(self.values(out, "SELECT DISTINCT rank FROM kernel"), [(0,)])

    def test_a_full_disk_leaves_nothing(self):
        # A limit of the size of files fails writes as a full disk does.
        out = self.folder / "full"
        run = subprocess.run(["bash", "-c", f"ulimit -f 64; exec {processes.path('BUILT_GPUPROF')} export "
                              f"{self.training(100_000)} --type parquet -o {out}"], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1), run.stderr)
        self.assertIn("cannot write", run.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_place_that_cannot_be_written_is_named(self):
        run = self.run_export(self.made("odd"), "parquet", "-o", "/proc/none/x")
        self.assertEqual((run.code, run.err.count("\n")), (1, 1), run.err)
        self.assertIn("cannot write /proc/none/x", run.err)

    def test_nothing_is_added_to_a_folder_that_holds_other_files(self):
        out = self.folder / "mine"
        out.mkdir()
        (out / "thesis.txt").write_text("mine")
        run = self.run_export(self.made("odd"), "parquet", "-o", out, "--force-overwrite")
        self.assertEqual((run.code, run.err.count("\n")), (1, 1), run.err)
        self.assertEqual([f.name for f in out.iterdir()], ["thesis.txt"])

    def test_the_memory_limit_is_kept(self):
        run = self.run_export(self.training(3_000_000), "parquet", "-o", self.folder / "out", "--memory-limit", "0.03")
        self.assertEqual(run.code, 1, run.err)
        self.assertIn("--memory-limit", run.err)
        self.assertEqual(list(self.folder.iterdir()), [])


class Program(Case):
    """The command without its program, or with one that does not start."""

    def alone(self, program=None):
        """A copy of the command, with this as its export-parquet."""
        command = self.folder / "bin" / "gpuprof"
        command.parent.mkdir()
        shutil.copy(processes.path("BUILT_GPUPROF"), command)
        if program is not None:
            command.with_name("export-parquet").write_text(program)
            command.with_name("export-parquet").chmod(0o755)
        return self.run_program(command, "export", self.made("odd"), "--type", "parquet", "-o", self.folder / "out")

    def test_without_the_parquet_program_one_line_says_how_to_get_it(self):
        run = self.alone()
        self.assertEqual((run.code, run.err.count("\n")), (1, 1), run.err)
        self.assertIn("pip install pyarrow==26", run.err)
        self.assertIn("-DGPUPROF_PYARROW", run.err)
        self.assertFalse((self.folder / "out").exists())

    def test_a_parquet_program_built_for_another_arrow_version_is_one_line(self):
        # What the loader does when it does not find libparquet.so.2600.
        run = self.alone("#!/bin/sh\nexit 127\n")
        self.assertEqual((run.code, run.err.count("\n")), (1, 1), run.err)
        self.assertIn("built against Arrow", run.err)

    def test_a_parquet_program_that_crashes_is_one_line(self):
        run = self.alone("#!/bin/sh\nkill -SEGV $$\n")
        self.assertEqual((run.code, run.err.count("\n")), (1, 1), run.err)
        self.assertIn("nothing was written", run.err)


parquet_tables.export_cases.main()

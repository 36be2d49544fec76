# SPDX-License-Identifier: Apache-2.0
"""gpuprof import of what is damaged, hostile or larger than memory, and outputs that cannot be written: one line, nothing half done."""
import os
import signal
import sqlite3
import subprocess
import time

import import_cases
import processes
from nsys_files import NsysFile, training


class Bad(import_cases.Case):
    def test_a_file_that_is_not_a_database_is_refused_in_one_line(self):
        contents = {"text.sqlite": (b"hello", "is neither a database"), "empty.sqlite": (b"", "is empty"),
                    "old.nsys-rep": (b"\x01\x02", "nsys export --type sqlite"), "mine.sqlite": (b"\x89GPUP\r\n\x1a" + bytes(20), "is a capture of gpuprof already")}
        for name, (content, words) in contents.items():
            with self.subTest(name):
                (self.folder / name).write_bytes(content)
                self.refused(self.folder / name, words)
        self.refused(self.folder / "none.sqlite", "No such file")
        self.refused(self.folder, "cannot read")

    def test_a_database_of_another_program_is_refused(self):
        file = self.folder / "other.sqlite"
        db = sqlite3.connect(file)
        db.execute("CREATE TABLE t (a)")
        db.commit()
        self.refused(file, "holds no table of nsys")

    def test_a_file_without_records_is_refused(self):
        out = NsysFile(self.folder / "run.sqlite")
        out.target()
        out.table("CUPTI_ACTIVITY_KIND_KERNEL")
        out.close()
        self.refused(self.folder / "run.sqlite", "holds no records of CUDA or NVTX; nothing is written")

    def test_a_file_that_is_only_a_header_is_refused(self):
        file = self.folder / "header.sqlite"
        file.write_bytes(b"SQLite format 3\0" + os.urandom(2000))
        self.refused(file, "cannot read")

    def test_a_cut_file_is_imported_up_to_the_cut(self):
        training(self.folder / "whole.sqlite", 30_000)
        whole = (self.folder / "whole.sqlite").read_bytes()
        file = self.folder / "cut.sqlite"
        file.write_bytes(whole[: len(whole) * 6 // 10])
        run = self.run_import(file)
        if run.code == 1:  # SQLite may refuse it from the start
            self.assertRegex(run.err, "cannot read .*nothing is written")
            return
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("is damaged", run.err)
        self.assertEqual(self.run_import(file, "--strict", "--force-overwrite").code, 1)

    def test_damage_within_a_table_is_reported_with_the_number_of_rows_read_before_it(self):
        training(self.folder / "whole.sqlite", 30_000)
        data = bytearray((self.folder / "whole.sqlite").read_bytes())
        pages = len(data) // 4096
        for page in range(pages // 2, pages // 2 + 3):
            data[page * 4096: page * 4096 + 64] = b"\xff" * 64
        file = self.folder / "damaged.sqlite"
        file.write_bytes(data)
        run = self.run_import(file)
        self.assertEqual(run.code, 0, run.err)
        self.assertRegex(run.err, r"is damaged: \w+ cannot be read beyond its first [\d,]+ rows")
        self.assertEqual(self.run_import(file, "--strict", "--force-overwrite").code, 1)
        capture = self.folder / "out.gpuprof"
        self.assertIn("kernels", self.overview(capture))

    def test_null_values_texts_instead_of_numbers_and_names_of_any_bytes_are_imported(self):
        out = NsysFile(self.folder / "hostile.sqlite")
        out.target()
        names = ["quotes \" ' \\", "</script>", "line\nbreak \x01", b"bad \xff\x80 bytes", "x" * 65536, "\U0001f680"]
        for i, name in enumerate(names, 1):
            out.kernel(name, i * 1000, 10, i)
        out.kernel("no time", None or 0, 0, 90, start=None, end=None)
        out.kernel("no name", 50_000, 10, 91, demangledName=None, shortName=None)
        out.kernel("unknown name", 51_000, 10, 92, demangledName=123456, shortName=None)
        out.kernel("texts", 52_000, 10, "abc", gridX="many", deviceId="x", streamId=None)
        out.kernel("backwards", 53_000, -10, 2**40 + 7)
        out.call(b"\xff\xfe", 10, 10, 1)
        out.range(b"\xc3(", 5, 30)
        out.close()
        capture = self.imported(self.folder / "hostile.sqlite", notes=["not taken from process 4711: 1 kernel of impossible times, 1 kernel without time"])
        kernels = self.tables(capture)["kernel"]
        self.assertEqual(len(kernels), len(names) + 3)
        shown = {k["kernel_name"] for k in kernels}
        self.assertIn("bad \ufffd\ufffd bytes", shown)
        self.assertIn("x" * 65536, shown)
        self.assertIn("lost: 1 kernel of impossible times, 1 kernel without time", self.overview(capture))
        self.assertEqual(sum(row["Instances"] for row in self.report("cuda_gpu_kern_sum", capture)), len(names) + 3)

    def test_missing_string_table(self):
        out = NsysFile(self.folder / "run.sqlite")
        out.kernel("k", 100, 10, 1)
        out.target()
        out.file.execute("DROP TABLE StringIds")
        out.close()
        capture = self.imported(self.folder / "run.sqlite")
        self.assertEqual(sum(row["Instances"] for row in self.report("cuda_gpu_kern_sum", capture)), 1)


class Outputs(import_cases.Case):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "run.sqlite"
        out = NsysFile(self.source)
        out.target()
        out.kernel("k", 100, 10, 1)
        out.close()

    def test_the_default_output_lies_beside_the_source_and_has_its_name(self):
        run = self.gpuprof("import", self.source)
        self.assertEqual(run.code, 0, run.err)
        self.assertTrue((self.folder / "run.gpuprof").exists())

    def test_an_existing_file_is_replaced_only_on_request(self):
        (self.folder / "out.gpuprof").write_text("mine")
        run = self.run_import(self.source)
        self.assertEqual((run.code, (self.folder / "out.gpuprof").read_text()), (1, "mine"))
        self.assertIn("--force-overwrite", run.err)
        self.assertEqual(self.run_import(self.source, "--force-overwrite").code, 0)
        self.assertEqual(self.by_name("cuda_gpu_kern_sum", self.folder / "out.gpuprof")["k"]["Instances"], 1)

    def test_a_place_that_cannot_be_written_is_named(self):
        run = self.gpuprof("import", self.source, "-o", "/proc/none/x")
        self.assertEqual(run.code, 1)
        self.assertIn("/proc/none", run.err)
        self.assertEqual(run.err.count("\n"), 1)

    def test_a_full_disk_leaves_nothing(self):
        training(self.folder / "large.sqlite", 200_000)
        # A limit of the size of files fails writes as a full disk does.
        run = subprocess.run(["bash", "-c", f"ulimit -f 64; trap '' XFSZ; exec {processes.path('BUILT_GPUPROF')} import {self.folder}/large.sqlite "
                              f"-o {self.folder}/full"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("nothing is written", run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertEqual({f.name for f in self.folder.iterdir()}, {"run.sqlite", "large.sqlite"})

    def test_an_interrupted_import_leaves_nothing(self):
        training(self.folder / "large.sqlite", 400_000)
        run = subprocess.Popen([processes.path("BUILT_GPUPROF"), "import", self.folder / "large.sqlite", "-o", self.folder / "cut"],
                               stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not any("unfinished" in f.name for f in self.folder.iterdir()):
            time.sleep(0.005)
        run.send_signal(signal.SIGINT)
        err = run.communicate()[1]
        self.assertEqual(run.returncode, 128 + signal.SIGINT, err)
        self.assertIn("interrupted, nothing was written", err)
        self.assertEqual({f.name for f in self.folder.iterdir()}, {"run.sqlite", "large.sqlite"})

    def test_more_rows_than_memory_holds_at_once(self):
        kernels = 400_000  # several runs of each table
        training(self.folder / "large.sqlite", kernels)
        capture = self.imported(self.folder / "large.sqlite", "--memory-limit", "0.25")
        sums = self.report("cuda_gpu_kern_sum", capture)
        self.assertEqual(sum(row["Instances"] for row in sums), kernels)
        self.assertEqual(sum(row["Total Time (ns)"] for row in sums), sum(1500 + i % 1300 for i in range(kernels)))
        ranges = {row["NVTX Range"]: 0 for row in self.report("nvtx_kern_sum", capture, "--limit", "0")}
        for row in self.report("nvtx_kern_sum", capture, "--limit", "0"):
            ranges[row["NVTX Range"]] += row["Kern Inst"]
        self.assertEqual(ranges, {"step": kernels, "forward": kernels // 2, "backward": kernels // 2})
        if os.environ.get("BUILT_PRELOAD_FIRST"):
            self.skipTest("a program under a sanitizer ends where its memory does")
        run = self.run_import(self.folder / "large.sqlite", "--memory-limit", "0.01", "--force-overwrite")
        self.assertEqual(run.code, 1, run.err)
        self.assertIn("--memory-limit", run.err)


import_cases.main()

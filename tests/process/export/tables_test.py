# SPDX-License-Identifier: Apache-2.0
"""gpuprof export --type csv and json: every row of every table, whatever stands in names; and what all exports have in common."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import time

import clients
import export_cases
import processes

csv.field_size_limit(1 << 20)


def rows_of(file):
    with open(file, newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


class Tables(export_cases.Case):
    def test_csv_holds_every_kernel_and_copy(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                folder = self.export(capture, "csv")
                kernels = rows_of(folder / "kernel.csv") if (folder / "kernel.csv").exists() else []
                sums = self.stats(capture, "cuda_gpu_kern_sum")
                self.assertEqual(len(kernels), sum(row["Instances"] for row in sums))
                for row in sums:
                    of_name = [int(k["duration"]) for k in kernels if k["kernel_name"] == row["Name"]]
                    if "hostile" not in capture.name and of_name and "counted" not in capture.name and "exact" not in capture.name:
                        self.assertEqual(sum(of_name), row["Total Time (ns)"])

    def test_json_and_csv_have_the_same_content(self):
        for capture in self.captures():
            with self.subTest(capture.name):
                folder, document = self.export(capture, "csv"), json.loads(self.export(capture, "json").read_text(encoding="utf-8"))
                self.assertEqual(document["schema_version"], 1)
                files = {f.stem for f in folder.glob("*.csv")}
                self.assertEqual(files, set(document["tables"]))
                for name, table in document["tables"].items():
                    rows = rows_of(folder / f"{name}.csv")
                    self.assertEqual(len(rows), len(table["rows"]))
                    heads = [column["name"] for column in table["columns"]]
                    for row, values in zip(rows, table["rows"]):
                        self.assertEqual(list(row), heads)
                        for column, text, value in zip(table["columns"], row.values(), values):
                            if column["type"] in ("i64", "u64"):
                                self.assertEqual(int(text), int(value))
                            elif column["type"] == "text":
                                self.assertEqual(text.replace("\r\n", "\n"), value.replace("\r\n", "\n"))

    def test_json_matches_its_schema(self):
        clients.on_path(clients.folder_of("jsonschema"))
        import jsonschema
        schema = json.loads(pathlib.Path(processes.path("EXPORT_TESTS"), "../../../docs/export/capture.schema.json").read_text())
        check = jsonschema.Draft202012Validator(schema)
        for name in ("hostile", "odd", "empty", "only_ranges"):
            check.validate(json.loads(self.export(self.made(name), "json").read_text(encoding="utf-8")))
        self.assertFalse(check.is_valid({"schema_version": 1, "made_by": "gpuprof", "tables": {"kernel": {"rows": []}}}))

    def test_bytes_that_are_not_utf8_are_replaced(self):
        names = {row["kernel_name"] for row in rows_of(self.export(self.made("hostile"), "csv") / "kernel.csv")}
        self.assertIn("bad \ufffd\ufffd bytes \ufffd", names)
        self.assertIn("</script><img src=x onerror=alert(1)>", names)


class Outputs(export_cases.Case):
    def test_an_existing_file_is_replaced_only_on_request(self):
        out = self.folder / "there.json"
        out.write_text("mine")
        run = self.run_export(self.made("odd"), "json", "-o", out)
        self.assertEqual((run.code, out.read_text()), (1, "mine"))
        self.assertIn("--force-overwrite", run.err)
        self.assertEqual(run.err.count("\n"), 1)

    def test_a_folder_that_holds_other_files_is_never_replaced(self):
        out = self.folder / "mine"
        out.mkdir()
        (out / "thesis.txt").write_text("mine")
        run = self.run_export(self.made("odd"), "csv", "-o", out, "--force-overwrite")
        self.assertEqual(run.code, 1, run.err)
        self.assertEqual((out / "thesis.txt").read_text(), "mine")

    def test_an_unknown_type_is_answered_with_the_nearest_and_the_known_types(self):
        run = self.run_export(self.made("odd"), "jsn")
        self.assertEqual(run.code, 2)
        self.assertIn("did you mean json?", run.err)
        self.assertIn("csv", run.err)

    def test_an_export_never_overwrites_its_own_capture(self):
        copy = self.folder / "run.json"
        copy.write_bytes(self.made("odd").read_bytes())
        run = self.run_export(copy, "json", "--force-overwrite")
        self.assertEqual(run.code, 1)
        self.assertEqual(copy.read_bytes(), self.made("odd").read_bytes())

    def test_a_cut_capture_is_exported_up_to_the_cut(self):
        whole = self.training(100_000).read_bytes()
        cut = self.folder / "cut.gpuprof"
        cut.write_bytes(whole[: len(whole) * 2 // 3])
        run = self.run_export(cut, "csv", "-o", self.folder / "cut")
        self.assertEqual(run.code, 0, run.err)
        self.assertIn("missing from", run.err)
        kernels = rows_of(self.folder / "cut" / "kernel.csv")
        self.assertGreater(len(kernels), 30_000)
        self.assertLess(len(kernels), 100_000)
        run = self.run_export(cut, "csv", "-o", self.folder / "strict", "--strict")
        self.assertEqual(run.code, 1, run.err)

    def test_records_lost_while_recording_are_reported_as_missing(self):
        for strict, code in (((), 0), (("--strict",), 1)):
            run = self.run_export(self.made("lossy"), "json", "-o", self.folder / "out.json", "--force-overwrite", *strict)
            self.assertEqual(run.code, code, run.err)
            self.assertRegex(run.err, r"missing from .*: 5 kernels lost while recording")

    def test_an_interrupted_export_leaves_nothing(self):
        for kind in ("json", "csv"):
            out = self.folder / f"whole.{kind}"
            run = subprocess.Popen([processes.path("BUILT_GPUPROF"), "export", self.training(3_000_000), "--type", kind, "-o", out],
                                   stderr=subprocess.PIPE, text=True)
            while run.poll() is None and not any("unfinished" in f.name for f in self.folder.iterdir()):
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            err = run.communicate()[1]
            self.assertEqual(run.returncode, 128 + signal.SIGINT, err)
            self.assertIn("interrupted, nothing was written", err)
            self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_folder_that_appears_during_the_export_is_not_replaced(self):
        out = self.folder / "out"
        run = subprocess.Popen([processes.path("BUILT_GPUPROF"), "export", self.training(1_000_000), "--type", "csv", "-o", out],
                               stderr=subprocess.PIPE, text=True)
        while run.poll() is None and not any("unfinished" in f.name for f in self.folder.iterdir()):
            time.sleep(0.01)
        out.mkdir()
        (out / "thesis").write_text("mine")
        err = run.communicate()[1]
        self.assertEqual(run.returncode, 1, err)
        self.assertEqual([f.name for f in self.folder.iterdir()], ["out"])
        self.assertEqual((out / "thesis").read_text(), "mine")

    def test_an_output_that_is_not_a_regular_file_is_not_replaced(self):
        run = self.run_export(self.made("odd"), "json", "-o", "/dev/null", "--force-overwrite")
        self.assertEqual(run.code, 1, run.err)
        self.assertIn("/dev/null is no regular file", run.err)

    def test_a_place_that_cannot_be_written_is_named(self):
        run = self.run_export(self.made("odd"), "json", "-o", "/proc/none/x.json")
        self.assertEqual(run.code, 1)
        self.assertIn("cannot write /proc/none/x.json", run.err)

    @processes.unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_a_full_disk_leaves_nothing(self):
        # A limit of the size of files fails writes as a full disk does.
        out = self.folder / "full.json"
        run = subprocess.run(["bash", "-c", f"ulimit -f 64; exec {processes.path('BUILT_GPUPROF')} export "
                              f"{self.training(100_000)} --type json -o {out}"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("cannot write", run.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


export_cases.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpuprof sweep over captures whose rates are known: sweep_test.py GPUPROF SWEPT_CAPTURES"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

GPUPROF, SWEPT_CAPTURES = sys.argv[1:3]
GEMMS = {256: 9, 512: 90, 1024: 340, 2048: 640, 4096: 700, 8192: 690, 16384: 560}  # TFLOP/s
RELUS = {65536: 0.2, 262144: 0.7, 1048576: 1.6, 4194304: 2.7, 16777216: 3.1, 67108864: 3.2, 268435456: 3.15}  # TB/s


class Sweep(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.kept.name)
        subprocess.run([SWEPT_CAPTURES, cls.folder], check=True)
        cls.gemms = [f"gemm{size}.gpuprof" for size in GEMMS]
        cls.relus = [f"relu{size}.gpuprof" for size in RELUS]

    @classmethod
    def tearDownClass(cls):
        cls.kept.cleanup()

    def sweep(self, *arguments):
        return subprocess.run([GPUPROF, "sweep", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)

    def json_of(self, *arguments):
        done = self.sweep(*arguments, "-f", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def assert_fails(self, done, code, words):
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(words, done.stderr)

    def assert_gemms(self, found):
        self.assertEqual([point["size"] for point in found["points"]], list(GEMMS))
        for point in found["points"]:
            self.assertAlmostEqual(point["flops"] / 1e12 / GEMMS[point["size"]], 1, places=2)
        self.assertEqual(found["plateau"]["labels"], ["4096", "8192"])
        self.assertAlmostEqual(found["plateau"]["value"] / 695e12, 1, places=4)
        self.assertEqual((found["plateau"]["of"], found["plateau"]["fastest"]), ("flops", "4096"))
        self.assertEqual((found["reached"], found["leaves_roof"]), ("2048", "16384"))
        self.assertEqual(found["turns"], [{"from": "1024", "to": "2048", "turns": "memory to compute"}])

    def test_a_matrix_product_is_swept_over_its_label(self):
        found = self.json_of(*reversed(self.gemms), "--over", "size", "--kernel", "gemm_bf16")
        self.assert_gemms(found)
        point = found["points"][4]
        self.assertEqual((point["flop_source"], point["byte_source"], point["bound_by"]), ("counted", "counted", "tensor BF16"))
        self.assertAlmostEqual(point["of_roof"], 700 / 830, places=3)
        self.assertAlmostEqual(point["time_per_call_ns"], 2 * 4096**3 / 700e12 * 1e9, delta=1)
        self.assertEqual((point["calls"], found["calls_are"], found["notes"]), (6, "launches", []))
        roofs = {roof["name"]: roof["burst"] for roof in found["roofs"]}
        self.assertEqual(roofs["tensor BF16"], 830e12)
        self.assertAlmostEqual(roofs["DRAM"] / 3.6e12, 1, places=6)  # of a copy: as much written as read

    def test_a_relu_is_judged_by_its_bytes(self):
        found = self.json_of(*self.relus, "--over", "size", "--range", "step")
        self.assertEqual(found["plateau"]["of"], "dram_bytes_per_second")
        self.assertEqual(found["plateau"]["labels"], ["16777216", "67108864", "268435456"])
        self.assertAlmostEqual(found["plateau"]["value"] / 3.15e12, 1, places=3)
        self.assertEqual((found["reached"], found["leaves_roof"], found["turns"]), ("16777216", None, []))
        self.assertEqual((found["subject"], found["calls_are"], found["points"][0]["calls"]), ("range step", "ranges", 6))

    def test_the_sweep_of_all_kernels_includes_more_than_one_kernel(self):
        all_of_it = self.json_of("gemm256.gpuprof", "--over", "size")["points"][0]
        one = self.json_of("gemm256.gpuprof", "--over", "size", "--kernel", "regex:^gemm")["points"][0]
        self.assertEqual((all_of_it["calls"], one["calls"]), (7, 6))

    def test_payloads_of_every_kind_divide_one_capture_into_points(self):
        for file, over in (("unsigned", "payload"), ("real", "payload"), ("json", "payload.m"), ("json", "payload.shape.m")):
            with self.subTest(file=file, over=over):
                found = self.json_of(f"payload_{file}.gpuprof", "--over", over)
                self.assert_gemms(found)
                self.assertEqual((found["subject"], {point["calls"] for point in found["points"]}), ("range gemm", {4}))

    def test_declared_work_of_ranges_replaces_counters(self):
        found = self.json_of("declared.gpuprof", "--over", "payload", "--range", "gemm")
        self.assertAlmostEqual(found["plateau"]["value"] / 695e12, 1, places=4)
        self.assertEqual({point["flop_source"] for point in found["points"]}, {"declared"})
        self.assertEqual((found["points"][0]["of_roof"], found["points"][0]["dram_bytes_per_second"]), (None, None))
        found = self.json_of("declared.gpuprof", "--over", "payload", "--range", "relu")
        self.assertAlmostEqual(found["plateau"]["value"] / 3.15e12, 1, places=3)
        self.assertEqual({point["byte_source"] for point in found["points"]}, {"declared"})
        self.assertEqual({point["flops"] for point in found["points"]}, {None})

    def test_without_counters_the_sweep_shows_times(self):
        done = self.sweep("uncounted.gpuprof", "uncounted2048.gpuprof", "--over", "size", "--kernel", "gemm_bf16")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("GPU time/call (us)", done.stdout)
        self.assertNotIn("TFLOP/s", done.stdout)
        self.assertIn("no plateau: neither FLOP nor DRAM bytes are known", done.stdout)

    def test_captures_that_do_not_fit_are_named(self):
        found = self.json_of(*self.gemms, "unlabeled.gpuprof", "relu65536.gpuprof", "again4096.gpuprof", "other.gpuprof", "no_such.gpuprof",
                             "--over", "size", "--kernel", "gemm_bf16")
        notes = "\n".join(found["notes"])
        self.assertIn("left out: unlabeled.gpuprof: has no label 'size'", notes)
        self.assertIn("left out: relu65536.gpuprof holds no kernel 'gemm_bf16'", notes)
        self.assertIn("no_such.gpuprof", notes)
        self.assertIn("different programs: another (other.gpuprof), made (gemm256.gpuprof)", notes)
        self.assertIn("several captures of a size, their mean is shown: 4096 (2)", notes)
        point = next(point for point in found["points"] if point["size"] == 4096)
        self.assertEqual((point["captures"], point["calls"]), (2, 12))
        self.assertAlmostEqual(point["flops"] / 690e12, 1, places=4)
        self.assertAlmostEqual(point["flops_spread"], 20 / 690, places=4)

    def test_some_of_many_captures_that_do_not_fit_are_named(self):
        notes = self.json_of("gemm256.gpuprof", *self.relus, "--over", "size", "--kernel", "gemm_bf16")["notes"]
        self.assertEqual(len([note for note in notes if "relu" in note]), 6)
        self.assertIn("left out: 1 more capture for such reasons", notes)

    def test_labels_that_are_not_numbers_are_categories(self):
        found = self.json_of("gemm8192.gpuprof", "named.gpuprof", "gemm256.gpuprof", "--over", "size", "--kernel", "gemm_bf16")
        self.assertEqual([point["label"] for point in found["points"]], ["8192", "large", "256"])
        self.assertEqual((found["has_sizes"], found["reached"], found["points"][1]["size"]), (False, None, None))
        self.assertIn("'large' is no number", found["notes"][0])

    def test_one_size_gives_a_table_without_a_plateau(self):
        done = self.sweep("gemm256.gpuprof", "--over", "size")
        self.assertEqual(done.returncode, 0)
        self.assertIn("no plateau: one size shows none", done.stdout)

    def test_csv_has_all_columns_and_its_notes_go_to_stderr(self):
        done = self.sweep(*self.gemms, "unlabeled.gpuprof", "--over", "size", "--kernel", "gemm_bf16", "-f", "csv")
        self.assertIn("left out: unlabeled.gpuprof", done.stderr)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([int(row["size"]) for row in rows], list(GEMMS))
        self.assertEqual([row["label"] for row in rows if row["on_plateau"] == "yes"], ["4096", "8192"])
        self.assertEqual(rows[3]["remarks"], "90 %")

    def picture(self, *arguments):
        path = self.folder / "picture.svg"
        done = self.sweep(*arguments, "--force-overwrite", "-o", path.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        return xml.parse(path).getroot()

    def test_the_picture_has_roofs_plateau_and_points(self):
        root = self.picture(*self.gemms, "--over", "size", "--kernel", "gemm_bf16")
        texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        for text in ("tensor BF16 roof 830.0 TFLOP/s", "DRAM roof 3.60 TB/s", "plateau 695.0 TFLOP/s", "leaves the roof at 16384",
                     "90 % of the plateau at 2048", "knee: memory | compute", *map(str, GEMMS)):
            self.assertIn(text, texts)
        circles = [float(circle.get("cx")) for circle in root.iter("{http://www.w3.org/2000/svg}circle") if len(circle)]
        self.assertEqual(len(circles), 2 * len(GEMMS))  # FLOP and bytes
        steps = [after - before for before, after in zip(circles[:7], circles[1:7])]
        self.assertLess(max(steps) - min(steps), 0.3)  # powers of two: equal distances

    def test_a_picture_of_declared_work_states_its_source(self):
        root = self.picture("declared.gpuprof", "--over", "payload", "--range", "relu")
        self.assertIn("what ranges declare", " ".join(element.text or "" for element in root.iter()))

    def test_a_cut_capture_is_read_up_to_the_cut(self):
        whole = (self.folder / "gemm4096.gpuprof").read_bytes()
        for share in (0.1, 0.5, 0.9):
            (self.folder / "cut.gpuprof").write_bytes(whole[:int(len(whole) * share)])
            done = self.sweep("gemm256.gpuprof", "cut.gpuprof", "--over", "size")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("cut.gpuprof", done.stdout)  # in a note

    def test_hostile_labels_stay_text(self):
        root = self.picture("gemm256.gpuprof", "hostile.gpuprof", "--over", "size", "--kernel", "gemm_bf16")
        names = {element.tag.split("}")[1] for element in root.iter()}
        self.assertFalse(names & {"script", "img", "foreignObject"})
        done = self.sweep("hostile.gpuprof", "--over", "size")
        self.assertFalse([c for c in done.stdout if ord(c) < 32 and c != "\n"])
        found = self.json_of("hostile.gpuprof", "--over", "size")
        self.assertEqual(found["points"][0]["label"], '</text><script>alert(1)</script>\n"&\x01')

    def test_impossible_requests_are_reported_in_one_line(self):
        self.assert_fails(self.sweep("unlabeled.gpuprof", "--over", "size"), 1, "unlabeled.gpuprof: has no label 'size'; gpuprof profile --label size=VALUE")
        self.assert_fails(self.sweep("unlabeled.gpuprof", "relu65536.gpuprof", "--over", "width"), 1, "the same or the like of all 2 captures")
        self.assert_fails(self.sweep("gemm256.gpuprof", "--over", "payload"), 1, "no NVTX range has a payload")
        self.assert_fails(self.sweep("unlabeled.gpuprof", "--over", "payload"), 1, "there are no NVTX ranges")
        self.assert_fails(self.sweep("payload_json.gpuprof", "--over", "payload"), 1, "name one: --over payload.FIELD, of shape.m, shape.n")
        self.assert_fails(self.sweep("payload_json.gpuprof", "--over", "payload.shape.q"), 1, "did you mean 'shape.")
        self.assert_fails(self.sweep("payload_unsigned.gpuprof", "--over", "payload.m"), 1, "plain values, without fields")
        self.assert_fails(self.sweep("declared.gpuprof", "--over", "payload"), 1, "name one with --range: gemm, relu")
        self.assert_fails(self.sweep("gemm256.gpuprof", "--over", "size", "--range", "stop"), 1, "did you mean 'step'")
        self.assert_fails(self.sweep("no_such.gpuprof", "--over", "size"), 1, "no_such.gpuprof")
        self.assert_fails(self.sweep("gemm256.gpuprof", "--over", "size", "-o", "gemm512.gpuprof"), 1, "gemm512.gpuprof")

    def test_a_wrong_command_line_is_2(self):
        self.assert_fails(self.sweep("gemm256.gpuprof", "--over", "size", "-f", "svgz"), 2, "did you mean svg?")
        self.assert_fails(self.sweep("gemm256.gpuprof", "--over", "size", "--kernel", "regex:("), 2, "--kernel")
        self.assertEqual(self.sweep("gemm256.gpuprof").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

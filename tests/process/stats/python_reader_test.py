#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/read_capture.py, which knows the description of the format alone, agrees with gpuprof on every kernel.

python_reader_test.py GPUPROF READ_CAPTURE CAPTURES
"""
import csv
import importlib.util
import io
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

GPUPROF, READER = sys.argv[1:3]
CAPTURES = sorted(pathlib.Path(sys.argv[3], "h200").glob("*.gpuprof"))
MADE_UP = pathlib.Path(sys.argv[3], "capture_v1.gpuprof")  # 40 rows of nonsense in each table of version 1.0
spec = importlib.util.spec_from_file_location("read_capture", READER)
read_capture = importlib.util.module_from_spec(spec)
spec.loader.exec_module(read_capture)


def stats(capture, report):
    run = subprocess.run([GPUPROF, "stats", "-r", report + ":mangled", "-f", "csv", str(capture)], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(run.stdout)))


class Reader(unittest.TestCase):
    def test_every_kernel_of_every_stored_capture_is_read(self):
        self.assertGreaterEqual(len(CAPTURES), 3)
        for path in CAPTURES:
            with self.subTest(path.name):
                capture = read_capture.Capture(path)
                self.assertTrue(capture.is_complete)
                ours = sorted((start, ns, name) for start, ns, name in capture.kernels())
                # Copies and fills have no grid. Starts are counted from the capture's.
                lines = [row for row in stats(path, "cuda_gpu_trace") if row["GrdX"]]
                theirs = sorted((int(row["Start (ns)"]), int(row["Duration (ns)"]), row["Name"]) for row in lines)
                self.assertEqual(len(ours), len(theirs))
                from_first = ours[0][0] - theirs[0][0]
                self.assertEqual([(start - from_first, ns, name) for start, ns, name in ours], theirs)

    def test_the_oldest_version(self):
        tables = read_capture.Capture(MADE_UP).tables
        self.assertGreater(len(tables), 20)
        self.assertEqual({len(rows) for name, rows in tables.items() if name not in ("schema", "end")}, {40})

    def test_cut_and_damaged_captures_are_read_up_to_the_damage(self):
        whole = CAPTURES[-1].read_bytes()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.gpuprof")
            path.write_bytes(whole[:-30])
            self.assertFalse(read_capture.Capture(path).is_complete)
            first = 16 + 40 + struct.unpack_from("<I", whole, 16 + 16)[0]  # behind the schema, which nothing stands in for
            for at in range(first, len(whole), len(whole) // 40):
                path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
                damaged = read_capture.Capture(path)
                said = subprocess.run([GPUPROF, "stats", "-r", "cuda_gpu_trace", "-f", "csv", str(path)], capture_output=True, text=True)
                lines = [row for row in csv.DictReader(io.StringIO(said.stdout)) if row["GrdX"]]
                self.assertEqual(len(damaged.tables["kernel"]), len(lines), at)

    def test_the_reader_works_on_the_command_line(self):
        path = str(CAPTURES[-1])
        run = subprocess.run([sys.executable, READER, path, "kernels"], capture_output=True, text=True, check=True)
        self.assertEqual(run.stdout.count("\n"), 1 + len(read_capture.Capture(path).tables["kernel"]))
        self.assertIn("closed\n", subprocess.run([sys.executable, READER, path], capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

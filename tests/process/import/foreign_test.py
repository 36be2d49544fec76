# SPDX-License-Identifier: Apache-2.0
"""Files of tests/data/foreign, through every reader: the answers that they must give. README.md there says what is odd in each."""
import json
import pathlib

import import_cases

FOREIGN = pathlib.Path(__file__).resolve().parents[2] / "data" / "foreign"


class Foreign(import_cases.Case):
    def taken(self, name, *options, notes=()):
        return self.imported(FOREIGN / name, *options, "--force-overwrite", notes=notes)

    def analysis(self, capture, *options):
        run = self.gpuprof("analyze", "-f", "json", "--min-gain", "0.01%", *options, capture)
        self.assertEqual(run.code, 0, run.err)
        return json.loads(run.out)

    def buckets(self, capture, *options):
        """Microseconds of each bucket of the ledger."""
        return {line["bucket"]: round(line["ns"] / 1000, 3) for line in self.analysis(capture, *options)["ledger"] if line["ns"] > 0}

    def assert_busy(self, capture, busy_us, window_us):
        report = self.analysis(capture)
        self.assertEqual(round(report["window_ns"] / 1000, 3), window_us)
        times = {line["bucket"]: line["ns"] / 1000 for line in report["ledger"]}
        self.assertAlmostEqual(times.get("compute", 0), busy_us, places=3)


class Devices(Foreign):
    def test_gpus_come_from_the_work_and_not_from_their_descriptions(self):
        for name in ("00_base.json", "01_device_id_mismatch.json", "01_no_device_props.json"):
            with self.subTest(name):
                self.assert_busy(self.taken(name), 150, 500)
        self.assertIn("compute", self.buckets(self.taken("01_nsys_no_target_info_gpu.sqlite")))

    def test_of_two_gpus_the_one_without_a_description_counts_too(self):
        trace = json.loads((FOREIGN / "00_base.json").read_text())
        trace["traceEvents"].append({"ph": "X", "cat": "kernel", "name": "k_c", "pid": 5, "tid": 7, "ts": 1200, "dur": 100,
                                     "args": {"device": 5, "context": 2, "stream": 7, "correlation": 9}})
        (self.folder / "two.json").write_text(json.dumps(trace))
        capture = self.imported(self.folder / "two.json")
        self.assertEqual(self.buckets(capture)["compute"], 250)
        self.assertIn("on GPU X, a GPU without a name", self.overview(capture))


class Sizes(Foreign):
    def test_registers_that_no_kernel_has_are_not_known(self):
        trace = json.loads((FOREIGN / "02_registers_minus_one.json").read_text())
        for registers in (-1, 0, 1 << 27, (1 << 32) - 1, 1 << 63, "many"):
            for block in ([128, 1, 1], [-1, 1, 1], [1 << 31, 1 << 31, 4], [0, 0, 0], [1 << 40, 1, 1]):
                with self.subTest(registers=registers, block=block):
                    trace["traceEvents"][0]["args"].update({"registers per thread": registers, "block": block, "shared memory": registers})
                    (self.folder / "odd.json").write_text(json.dumps(trace))
                    capture = self.imported(self.folder / "odd.json", "--force-overwrite")
                    self.assert_busy(capture, 100, 100)
                    self.assertEqual(self.gpuprof("compare", capture, capture).code, 0)
        self.assertEqual(self.gpuprof("report", capture, "-o", self.folder / "page.html").code, 0)


import_cases.main()

# SPDX-License-Identifier: Apache-2.0
"""What the reports say of captures of an H200 whose truth is known: tests/data/h200/README.md."""
import csv
import io
import json
import pathlib
import subprocess
import sys
import unittest

COMMAND = sys.argv.pop(1)
CAPTURES = pathlib.Path(__file__).resolve().parents[2] / "data/h200"
FLOP = CAPTURES.parent / "flop"
CYCLES, CLOCK = "sm__cycles_active.avg", "sm__cycles_elapsed.avg.per_second"


def run(*words):
    done = subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def number(text):
    return float(text.replace(",", ""))


def metrics(capture):
    lines = [line for line in run("stats", "-r", "gpu_metrics_sum", "-f", "csv", CAPTURES / capture).splitlines() if "," in line]
    return {(row["Name"], row["Metric"]): row for row in csv.DictReader(io.StringIO("\n".join(lines)))}


class Sampled(unittest.TestCase):
    """Kernels of 3 to 60 us, told apart by least squares, against the same kernels counted one by one."""

    def compare(self, metric, kernels):
        sampled, exact = metrics("mixed_sampled.gpuprof"), metrics("mixed_exact.gpuprof")
        compared = 0
        for (kernel, name), truth in exact.items():
            if name != metric or kernels not in kernel:
                continue
            wanted, found = number(truth["Avg"]), sampled[kernel, name]
            if metric == CYCLES and "read" in kernel:  # as long at any clock
                wanted *= number(sampled[kernel, CLOCK]["Avg"]) / number(exact[kernel, CLOCK]["Avg"])
            off, error = number(found["Avg"]) - wanted, number(found["Error"])
            with self.subTest(kernel):
                self.assertLessEqual(abs(off), 0.05 * wanted)
                self.assertLessEqual(abs(off), 3 * error + 0.01 * wanted)
                self.assertLess(error, 0.05 * wanted)
            compared += 1
        return compared

    def test_active_cycles(self):
        self.assertEqual(self.compare(CYCLES, "mixed_"), 8)

    def test_bytes_read_from_memory_equal_those_of_the_source(self):
        self.assertEqual(self.compare("dram__bytes_read.sum", "mixed_read"), 4)

    def test_bytes_of_the_l2_cache_equal_those_of_the_source(self):
        self.assertEqual(self.compare("lts__t_bytes.sum", "mixed_read"), 4)

    def test_nothing_is_lost(self):
        self.assertIn("lost: nothing", run("stats", "-r", "cuda_gpu_kern_sum", CAPTURES / "mixed_sampled.gpuprof"))


class KnownFlop(unittest.TestCase):
    """Operations of PyTorch, divided among launches from samples, against their arithmetic."""

    @classmethod
    def setUpClass(cls):
        with open(FLOP / "known_flop.tsv", newline="") as file:
            cls.truth = list(csv.DictReader(file, delimiter="\t"))
        cls.figures = {row["operation"]: cls.rows_of(row["operation"]) for row in cls.truth}

    @staticmethod
    def rows_of(operation):
        """Figure and error of a call for each geometry and arguments. Launches with other arguments may be among "unknown"."""
        done = run("roofline", "--by", "signature", "--filter-nvtx", "op\\/" + operation, "-f", "json", "--limit", "0", FLOP / "known_flop.gpuprof")
        rows = [row for row in json.loads(done)["signatures"] if row["arguments"] != "unknown"]
        longest = max(rows, key=lambda row: row["avg_ns"])
        if longest["flops"] is None:
            return None
        return longest["flops"] * longest["avg_ns"] * 1e-9, (longest["flops_error"] or 0) * longest["avg_ns"] * 1e-9

    def judged(self, unit):
        """(distance from the truth, error), each as a share of the truth."""
        return {row["operation"]: (abs(found[0] / float(row["flop"]) - 1), found[1] / float(row["flop"]))
                for row in self.truth if row["unit"] == unit and float(row["flop"]) > 0
                and (found := self.figures[row["operation"]]) is not None}

    def test_two_errors_hold_95_percent(self):
        judged = {**self.judged("tensor"), **self.judged("fp32")}
        outside = {name: of for name, of in judged.items() if of[0] > 2 * of[1]}
        self.assertGreaterEqual(len(judged), 24)
        self.assertLessEqual(len(outside), 0.05 * len(judged), outside)

    def test_tensor_flop_need_no_fit_between_other_kernels(self):
        judged = self.judged("tensor")
        self.assertEqual(len(judged), 18)
        for name in ("flash_fwd", "flash_bwd", "convolution", "head_dw", "proj_fwd", "proj_dw"):
            self.assertLess(judged[name][0], 0.0005, name)
        for name, (off, error) in judged.items():
            self.assertLess(off, 0.02, name)
            self.assertLess(error, 0.01, name)

    def test_code_that_mostly_computes_addresses_has_no_figure(self):
        for operation in ("mul_strided", "column_sums", "row_sums", "cast_to_fp32"):
            self.assertIsNone(self.figures[operation], operation)

    def test_copies_have_no_flop(self):
        for operation in ("copy_strided", "fill_fp32", "cast_to_bf16"):
            self.assertEqual(self.figures[operation], (0, 0), operation)


class Counted(unittest.TestCase):
    def setUp(self):
        self.report = json.loads(run("roofline", "-f", "json", CAPTURES / "counted_auto.gpuprof"))
        self.kernels = {row["name"]: row for row in self.report["kernels"]}

    def test_operations_of_cuda_cores_are_those_in_the_source(self):
        threads, rounds = 264 * 256, 20000
        for name, operations, kind in (("counted_fp32_fma", 2, "fp32"), ("counted_fp32_add_multiply", 2, "fp32"),
                                       ("counted_fp64_fma", 2, "fp64"), ("counted_fp16_pairs", 4, "fp16")):
            row = self.kernels[name]
            self.assertAlmostEqual(row["flops"] * row["avg_ns"] * 1e-9 / (operations * threads * rounds), 1, delta=0.0005, msg=name)
            self.assertGreater(row["flops_by_precision"][kind] / row["flops"], 0.9995)
        self.assertGreater(self.report["flop_exact_share"], 0.999)

    def test_a_copy_moves_the_expected_number_of_bytes(self):
        row = self.kernels["counted_copy"]
        self.assertAlmostEqual(row["dram_bytes_per_second"] * row["avg_ns"] * 1e-9 / 2**32, 1, delta=0.01)
        self.assertEqual(row["flops"], 0)

    def test_launches_read_without_records_are_in_the_trace(self):
        self.assertEqual(sum(row["launches"] for row in self.kernels.values()), 7500)


if __name__ == "__main__":
    unittest.main(verbosity=2)

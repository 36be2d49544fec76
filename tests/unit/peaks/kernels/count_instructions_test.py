#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The count must catch what it is there for: each kind of mistake is made once in made-up machine code."""
import unittest

import count_instructions
import expected
import machine_code
import work_figures

IMAGE = "tensor_mma_block_scale"  # three kernels for one target
ROW = expected.rows_of(IMAGE)[0]
OPCODE = next(iter(ROW.counts))


def disassembly(kernel, *lines):
    """Text as of nvdisasm -c. A line is a label with a colon, or an instruction."""
    text, address = [f'\t.section\t.text.{kernel},"ax",@progbits', f"{kernel}:"], 0
    for line in lines:
        if line.endswith(":"):
            text.append(line)
        else:
            text.append(f"        /*{address:04x}*/                   {line} ;")
            address += 16
    return "\n".join(text) + "\n"


def in_loop(*body):
    return ("MOV R1, c[0x0][0x28]", ".L_x_1:", *body, "@!P0 BRA `(.L_x_1)", "EXIT", ".L_x_9:", "BRA `(.L_x_9)")


def right_lines(row):
    measured = [f"{pattern.replace('*', '')} R4, R8" for pattern, count in row.counts.items() for _ in range(count)]
    return in_loop(*measured) if row.in_loop else (*measured, "EXIT")


def right_text(row):
    return disassembly(row.kernel, *right_lines(row))


def right_image(image, target):
    rows = [row for row in expected.rows_of(image) if target in row.targets.split()]
    return machine_code.kernels_in("".join(map(right_text, rows)))


def problems_with(*lines):
    """Of an image whose first kernel is this."""
    kernels = right_image(IMAGE, "120a") | machine_code.kernels_in(disassembly(ROW.kernel, *lines))
    return count_instructions.problems_of_image(IMAGE, {"120a": kernels}, {"120a"})


class Table(unittest.TestCase):
    def test_a_kernel_has_one_row_for_a_target(self):
        for rows in expected.ROWS.values():
            pairs = [(row.kernel, target) for row in rows for target in row.targets.split()]
            self.assertEqual(len(pairs), len(set(pairs)))

    def test_code_that_matches_the_table_has_no_problems(self):
        for image in expected.ROWS:
            by_target = {target: right_image(image, target) for target in expected.targets_of(image)}
            self.assertEqual(count_instructions.problems_of_image(image, by_target, set(expected.ALL.split())), [])


class Counting(unittest.TestCase):
    def assert_one(self, problems, text):
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(text, problems[0])

    def test_merged_instructions_are_missed(self):
        self.assert_one(problems_with(*in_loop(*[f"{OPCODE} R4, R8"] * 31)), f"its loop has 31 {OPCODE}, not 32")

    def test_instructions_outside_the_loop_do_not_count(self):
        for lines in (("MOV R1, R2", f"{OPCODE} R4, R8", *in_loop(*[f"{OPCODE} R4, R8"] * 31)),
                      (*in_loop(*[f"{OPCODE} R4, R8"] * 31), f"{OPCODE} R4, R8")):
            self.assert_one(problems_with(*lines), "has 31")

    def test_code_without_a_loop_is_caught(self):
        self.assert_one(problems_with(*[f"{OPCODE} R4, R8"] * 32, "EXIT"), "there is no loop")

    def test_other_instructions_of_the_same_unit_are_not_counted(self):
        found = problems_with(*in_loop(*["QMMA.16832.F16.E4M3.E4M3 R4, R8"] * 32))
        self.assert_one(found, "there is no loop with")

    def test_an_outer_or_inner_loop_changes_nothing(self):
        waiting = (".L_x_5:", "SYNCS.PHASECHK R1", "@!P1 BRA `(.L_x_5)")
        self.assertEqual(problems_with(".L_x_0:", *in_loop(*waiting, *[f"{OPCODE} R4, R8"] * 32),
                                       "BRA `(.L_x_0)"), [])

    def test_predicated_instructions_are_caught(self):
        self.assert_one(problems_with(*in_loop(*[f"{OPCODE} R4, R8"] * 31, f"@P2 {OPCODE} R4, R8")), "predicated")

    def test_spills_are_caught(self):
        right = right_lines(ROW)
        self.assert_one(problems_with("STL.64 [R1], R4", *right), "it spills registers")
        self.assertIn("its loop spills", problems_with(*in_loop("LDL R4, [R1]", *[f"{OPCODE} R4, R8"] * 32))[0])

    def test_spills_are_allowed_only_where_the_table_allows_them_and_never_in_the_loop(self):
        row = next(r for r in expected.rows_of("tensor_mma") if r.is_for("mma_fp64", "103a"))
        opcode = next(iter(row.counts))

        def problems(*lines):
            kernel = machine_code.kernels_in(disassembly("mma_fp64", *lines))["mma_fp64"]
            return count_instructions.problems_of_kernel(kernel, row, "103a")
        self.assertEqual(problems("STL.64 [R1], R4", *right_lines(row)), [])
        self.assert_one(problems(*in_loop("STL.64 [R1], R4", *[f"{opcode} R4, R8"] * 32)), "its loop spills")

    def test_a_loop_with_too_many_other_instructions_is_caught(self):
        crowd = ["HADD2.F32 R1, R2"] * 64
        self.assert_one(problems_with(*in_loop(*crowd, *[f"{OPCODE} R4, R8"] * 32)), "other instructions (64 HADD2.F32")


class Presence(unittest.TestCase):
    def test_missing_and_unknown_kernels_are_caught(self):
        kernels = right_image(IMAGE, "120a")
        kernels["mma120_fp5"] = kernels.pop(ROW.kernel)
        self.assertEqual(count_instructions.problems_of_image(IMAGE, {"120a": kernels}, {"120a"}),
                         [f"{IMAGE}: {ROW.kernel} for sm_120a: there is none",
                          f"{IMAGE}: mma120_fp5 for sm_120a is not in the table"])

    def test_a_missing_target_is_caught_unless_the_compiler_does_not_know_it(self):
        self.assertEqual(count_instructions.problems_of_image(IMAGE, {}, {"120a"}),
                         [f"{IMAGE}: there is no code for sm_120a"])
        self.assertEqual(count_instructions.problems_of_image(IMAGE, {}, {"90a"}), [])


class WorkFigures(unittest.TestCase):
    def setUp(self):
        self.images = {image: {target: right_image(image, target) for target in expected.targets_of(image)}
                       for image in expected.ROWS}

    def problems_about(self, name, text):
        listed = work_figures.read(text)
        found = work_figures.problems(listed, self.images, count_instructions.code_to_count)
        return [p for p in found if p.startswith(f"{name} ")]

    def test_right_figures_pass(self):
        # 32 of 16 x 8 x 32 a warp; 16 of 64 x 256 x 16 a warpgroup; 16 of 128 x 256 x 16 a block; 1024 a thread.
        for line in ("tensor_mma mma_fp8 256 2097152", "tensor_wgmma wgmma_bf16 256 16777216",
                     "tensor_tcgen05 tcgen05_bf16 128 16777216", "cuda_cores cores_fp32 256 524288"):
            self.assertEqual(self.problems_about(line.split()[1], line), [])

    def test_wrong_figures_are_caught(self):
        found = self.problems_about("mma_fp8", "tensor_mma mma_fp8 256 4194304")
        self.assertEqual(found, ["mma_fp8 for sm_89: its instructions do 2097152 operations in an iteration, "
                                 "it is listed with 4194304"])

    def test_a_listed_kernel_has_to_exist(self):
        self.assertIn("for no target", self.problems_about("mma_fp5", "tensor_mma mma_fp5 256 1")[0])

    def test_a_compiled_kernel_has_to_be_listed(self):
        self.assertIn("never run", self.problems_about("wgmma_fp8", "")[0])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels that the build has to refuse: bad_kernels_test.py CMAKE NVCC TOOLS (exit 77 without nvcc or tools)."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import count_instructions
import expected
import machine_code

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]


def compile_kernels(source, image, *flags):
    """As the build does."""
    return subprocess.run(
        [CMAKE, f"-DNVCC={NVCC}", f"-DSOURCE={HERE / source}", f"-DIMAGE={image}",
         f"-DFLAGS={';'.join(('-gencode', 'arch=compute_90a,code=sm_90a', *flags))}",
         f"-DINCLUDE={ROOT / 'libgpuprof'}", "-P", ROOT / "tools" / "cmake" / "compile_kernels.cmake"],
        capture_output=True, text=True)


class BadKernels(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.image = pathlib.Path(folder.name) / "bad.fatbin"

    def problems_of(self, kernel):
        """Under the name of a right kernel, so with its row."""
        row = next(r for rows in expected.ROWS.values() for r in rows if r.is_for(kernel, "90a"))
        return count_instructions.problems_of_kernel(self.code[kernel], row, "90a")

    def test_merged_chains_and_hoisted_loads_are_reported(self):
        done = compile_kernels("merged.cu", self.image)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.code = DISASSEMBLER.kernels_of([self.image])["bad"]["90a"]
        self.assertIn("its loop has 8 HMMA.16816.F32, not 32", self.problems_of("mma_fp16"))
        self.assertEqual(self.problems_of("l1_read"), ["there is no loop with LDG.E.128.STRONG.SM in it"])

    def test_serialized_warpgroup_multiplications_do_not_compile(self):
        done = compile_kernels("serialized.cu", self.image, "-DGPUPROF_BATCHES_IN_FLIGHT=1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ptxas serializes wgmma", " ".join(done.stderr.split()))  # CMake breaks lines
        self.assertFalse(self.image.exists())

    def test_the_same_in_order_compiles(self):
        done = compile_kernels("serialized.cu", self.image, "-DGPUPROF_BATCHES_IN_FLIGHT=0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.image.exists())


if __name__ == "__main__":
    CMAKE, NVCC, tools = sys.argv[1:]
    if not NVCC:
        count_instructions.skip("there is no nvcc")
    try:
        DISASSEMBLER = machine_code.Disassembler(NVCC, tools)
    except machine_code.NoDisassembler as missing:
        count_instructions.skip(missing)
    unittest.main(argv=sys.argv[:1])

# SPDX-License-Identifier: Apache-2.0
"""What the machine code of each peak kernel has to be: the table that count_instructions.py compares with.

A row is a kernel, targets, and how many of which instructions its measured loop has (or, for kernels without a loop, all
of it). Opcodes are nvdisasm's, with all modifiers; * stands for anything. A kernel has one row for every target that it
exists for.
"""
import dataclasses
import pathlib
import re

ALL = "75 80 86 89 90a 100a 103a 120a"
FROM_80 = "80 86 89 90a 100a 103a 120a"

# What comes after the last target compiles the PTX of these.
HAVE_PTX = ("cuda_cores", "latency", "memory", "tensor_mma")

MAX_BYTES = 400_000  # of all images together

# Not in the loop: ptxas leaves the slow DMMA of sm_103 32 registers, and the time of the start has to wait on the stack.
SPILLS_OUTSIDE_LOOP = {("mma_fp64", "103a")}


@dataclasses.dataclass(frozen=True)
class Row:
    kernel: str
    targets: str
    counts: dict
    in_loop: bool = True
    max_others: int | None = None  # in the loop besides these and NOP: loop control, moves
    operations: int | None = None  # of one instruction for the whole block, where its opcode does not say

    def is_for(self, kernel, target):
        return kernel == self.kernel and target in self.targets.split()


def body(kernel, targets, counts):
    return Row(kernel, targets, counts, in_loop=False)


def cores(kernel, targets, counts, max_others=12):
    return Row(kernel, targets, counts, max_others=max_others)


def mma(kernel, targets, opcode):
    # 4 chains, 8 rounds. On sm_89 ptxas puts a uniform instruction that does nothing after each QMMA.
    return Row(kernel, targets, {opcode: 32}, max_others=40)


def wgmma(kernel, opcode):
    return Row(kernel, "90a", {opcode: 16}, max_others=40)


def tcgen05(kernel, targets, opcode, k):
    return Row(kernel, targets, {opcode: 16}, operations=2 * 128 * 256 * k)


def constant(name, source):
    """`constexpr int name = 4` of a source of kernels."""
    folder = pathlib.Path(__file__).resolve().parents[4] / "libgpuprof" / "guest" / "peaks" / "kernels"
    return int(re.search(rf"\b{name} = (\d+)\b", (folder / source).read_text())[1])


IN_FLIGHT = constant("in_flight", "memory.cu")
MIXED_IN_FLIGHT = constant("mixed_in_flight", "memory.cu")
L2_IN_FLIGHT = constant("l2_in_flight", "memory.cu")

# image -> rows
ROWS = {
    "cuda_cores": [
        cores("cores_fp32", ALL, {"FFMA": 1024}),
        cores("cores_fp32_pairs", "100a 103a", {"FFMA2": 512}),
        cores("cores_fp32_pairs", "120a", {"FFMA": 1024}),  # has no FFMA2
        cores("cores_fp64", ALL, {"DFMA": 256}, max_others=40),
        # Two pipes share the work where there are two: half the rate if ptxas used one.
        cores("cores_fp16", "75 86 89 100a 103a 120a", {"HFMA2": 512}),
        cores("cores_fp16", "80 90a", {"HFMA2": 256, "HFMA2.MMA": 256}),
        cores("cores_bf16", "80 86 89 100a 103a 120a", {"HFMA2.BF16_V2": 512}),
        cores("cores_bf16", "90a", {"HFMA2.BF16_V2": 256, "HFMA2.MMA.BF16_V2": 256}),
        cores("cores_int32", ALL, {"IMAD": 512}),
        cores("cores_special", ALL, {"MUFU.EX2": 256}, max_others=256 + 12),  # each with a negation
    ],
    "latency": [
        body("nothing", ALL, {"LDG*": 0, "STG*": 0}),
        body("tell_host", ALL, {"STG.E.STRONG.SYS": 1}),
    ],
    "memory": [
        # Two ways through these: zeros and what is not.
        body("memory_fill", ALL, {"STG.E.128*": 2 * IN_FLIGHT}),
        body("dram_write", ALL, {"STG.E.128*": 2 * IN_FLIGHT}),
        body("dram_read", ALL, {"LDG.E.NA.128.CONSTANT*": IN_FLIGHT}),
        body("dram_copy", ALL, {"LDG.E.NA.128.CONSTANT*": MIXED_IN_FLIGHT, "STG.E.EF.128*": MIXED_IN_FLIGHT}),
        body("dram_triad", ALL, {"LDG.E.NA.128.CONSTANT*": 2 * MIXED_IN_FLIGHT, "FFMA": 4 * MIXED_IN_FLIGHT,
                                 "STG.E.EF.128*": MIXED_IN_FLIGHT}),
        Row("l2_read", ALL, {"LDG.E.128.STRONG.GPU": L2_IN_FLIGHT}),
        Row("l2_write", ALL, {"STG.E.128.STRONG.GPU": L2_IN_FLIGHT}),
        Row("l1_read", "75", {"LDG.E.128.STRONG.CTA": 16}),
        Row("l1_read", FROM_80, {"LDG.E.128.STRONG.SM": 16}),
        Row("shared_read", "75", {"LDS.U.128": 16}),
        Row("shared_read", FROM_80, {"LDS.128": 16}),
        Row("shared_write", ALL, {"STS.128": 16}),
    ],
    "tensor_mma": [
        mma("mma_turing_fp16", "75", "HMMA.1688.F32"),
        mma("mma_turing_fp16_acc16", "75", "HMMA.1688.F16"),
        mma("mma_turing_int8", "75", "IMMA.8816.S8.S8"),
        mma("mma_fp16", FROM_80, "HMMA.16816.F32"),
        mma("mma_fp16_acc16", FROM_80, "HMMA.16816.F16"),
        mma("mma_bf16", FROM_80, "HMMA.16816.F32.BF16"),
        mma("mma_tf32", FROM_80, "HMMA.1688.F32.TF32"),
        mma("mma_int8", FROM_80, "IMMA.16832.S8.S8"),
        mma("mma_fp64", "80 86 89", "DMMA.884"),
        mma("mma_fp64", "90a 100a 103a 120a", "DMMA.8x8x4"),
        mma("mma_fp64_large", "90a", "DMMA.16x8x16"),
        mma("mma_fp8", "89", "QMMA.16832.F32.E4M3.E4M3"),
    ],
    "tensor_mma_block_scale": [
        mma("mma120_fp8", "120a", "QMMA.16832.F32.E4M3.E4M3"),
        mma("mma120_fp6", "120a", "QMMA.16832.F32.E3M2.E3M2"),
        mma("mma120_fp4", "120a", "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X"),
    ],
    "tensor_wgmma": [
        wgmma("wgmma_bf16", "HGMMA.64x256x16.F32.BF16"),
        wgmma("wgmma_fp16", "HGMMA.64x256x16.F32"),
        wgmma("wgmma_fp16_acc16", "HGMMA.64x256x16.F16"),
        wgmma("wgmma_tf32", "HGMMA.64x256x8.F32.TF32"),
        wgmma("wgmma_fp8", "QGMMA.64x256x32.F32.E4M3.E4M3"),
        wgmma("wgmma_int8", "IGMMA.64x256x32.S8.S8"),
    ],
    "tensor_tcgen05": [
        tcgen05("tcgen05_bf16", "100a 103a", "UTCHMMA", k=16),
        tcgen05("tcgen05_fp16", "100a 103a", "UTCHMMA", k=16),
        tcgen05("tcgen05_fp16_acc16", "100a 103a", "UTCHMMA", k=16),
        tcgen05("tcgen05_tf32", "100a 103a", "UTCHMMA", k=8),
        tcgen05("tcgen05_fp8", "100a 103a", "UTCQMMA", k=32),
        tcgen05("tcgen05_fp6", "100a 103a", "UTCQMMA", k=32),
        tcgen05("tcgen05_fp4", "100a", "UTCOMMA.4X", k=64),
        tcgen05("tcgen05_fp4", "103a", "UTCOMMA.BLOCK16", k=64),
        tcgen05("tcgen05_int8", "100a", "UTCIMMA", k=32),  # sm_103 has none
    ],
}


def rows_of(image):
    return ROWS.get(image, [])


def targets_of(image):
    return {target for row in rows_of(image) for target in row.targets.split()}

# SPDX-License-Identifier: Apache-2.0
"""Holds list_instructions against nvdisasm, on the peak kernels or on cubins that are named.

Usage: disassembled_test.py --program list_instructions --kernels FOLDER [--nvcc NVCC] --tools FOLDER [CUBIN ...]
"""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kernels"))
from machine_code import INSTRUCTION, SECTION, Disassembler, NoDisassembler

# As in model/kernel_code.hpp.
BITS = {name: 1 << bit for name, bit in {
    "fp64": 0, "fp32": 1, "fp16": 2, "float_other": 3,
    "mma_fp16": 8, "mma_bf16": 9, "mma_tf32": 10, "mma_fp64_m8n8k4": 11, "mma_fp64": 12, "mma_fp8": 13,
    "mma_fp6": 14, "mma_fp4": 15, "mma_int8": 16, "mma_int4": 17, "mma_bit": 18,
    "mma_fp16_short": 19, "mma_bf16_short": 20, "mma_tf32_short": 21, "mma_int8_short": 22,
    "wgmma_fp16": 24, "wgmma_bf16": 25, "wgmma_tf32": 26, "wgmma_fp8": 27, "wgmma_int8": 28, "wgmma_bit": 29,
    "tcgen05_fp16_bf16_tf32": 32, "tcgen05_fp8_fp6_fp4": 33, "tcgen05_fp4": 34, "tcgen05_int8": 35,
    "sparse_tensor": 40, "narrow_wgmma": 41, "shuffle": 48, "barrier": 49, "add_in_memory": 50}.items()}
PLAIN = {**dict.fromkeys(("FADD", "FMUL", "FFMA", "FADD2", "FMUL2", "FFMA2"), "fp32"),
         **dict.fromkeys(("DADD", "DMUL", "DFMA"), "fp64"), "BMMA": "mma_bit", "BGMMA": "wgmma_bit", "OMMA": "mma_fp4",
         "UTCHMMA": "tcgen05_fp16_bf16_tf32", "UTCQMMA": "tcgen05_fp8_fp6_fp4", "UTCOMMA": "tcgen05_fp4",
         "UTCIMMA": "tcgen05_int8", "IGMMA": "wgmma_int8", "QGMMA": "wgmma_fp8",
         **dict.fromkeys(("FMNMX", "FSETP", "DSETP", "HSETP2", "HMNMX2"), "float_other"),
         **dict.fromkeys(("SHFL", "REDUX"), "shuffle"), "BAR": "barrier", "RED": "add_in_memory", "REDG": "add_in_memory"}


# On the FMA pipes: FP32 operations of each for a thread.
FMA = {"FADD": 1, "FMUL": 1, "FFMA": 2, "FADD2": 2, "FMUL2": 2, "FFMA2": 4, "IMAD": 0, "IDP": 0, "HADD2": 0, "HMUL2": 0, "HFMA2": 0}


def type_of(words):
    return "tf32" if "TF32" in words else "bf16" if "BF16" in words else "fp16"


def classes_of(opcode, operands):
    """Names of classes, from what nvdisasm prints."""
    name, *words = opcode.split(".")
    if name in ("HADD2", "HMUL2", "HFMA2"):
        first = operands.split(",")[1].strip().lstrip("-|")
        return [] if first.split(".")[0].rstrip("|") == "RZ" else ["fp16"]
    found = []
    if name == "HMMA":
        type = type_of(words)
        found = ["mma_" + type + ("_short" if words[0] == ("1684" if type == "tf32" else "1688") else "")]
    elif name == "IMMA":
        found = ["mma_int4" if "S4" in words or "U4" in words else "mma_int8_short" if words[0] in ("8816", "16816") else "mma_int8"]
    elif name == "DMMA":
        found = ["mma_fp64_m8n8k4" if words[0] in ("884", "8x8x4") else "mma_fp64"]
    elif name == "QMMA":
        found = ["mma_fp8" if {"E4M3", "E5M2"} & set(words) else "mma_fp6"]
    elif name == "HGMMA":
        found = ["wgmma_" + type_of(words)]
    elif name == "MUFU":
        found = [] if words[0] == "RCP" else ["float_other"]
    elif name in ("ATOM", "ATOMG"):
        found = [] if "CAS" in words else ["add_in_memory"]
    elif name in PLAIN:
        found = [PLAIN[name]]
    if name.endswith("MMA") and "SP" in words:
        found.append("sparse_tensor")
    if name in ("HGMMA", "IGMMA", "QGMMA"):
        shape = next(word for word in words if word.startswith("64x"))
        if int(shape.split("x")[1]) < 64:
            found.append("narrow_wgmma")
    return found


def fma_of(sm, opcode, operands):
    """How often the FMA pipes count one, its FP32 and its FP16 operations, from what nvdisasm prints of it."""
    name = opcode.split(".")[0]
    if name not in FMA:
        return 0, 0, 0
    halves = 0 if not name.startswith("H") or not classes_of(opcode, operands) else 4 if name == "HFMA2" else 2
    if sm == 90 and name.startswith("H"):  # counted in both halves of the pipe, or on another pipe
        return 0 if "MMA" in opcode.split(".") else 2, FMA[name], halves
    return 1, FMA[name], halves


def disassembled(text):
    """function -> (bits, counts of FMA pipes), from the text of nvdisasm -c."""
    functions, current = {}, None
    target = re.search(r"EF_CUDA_SM(\d+)|\.target\s+sm_(\d+)", text)
    sm = int(target[1] or target[2])
    for line in text.splitlines():
        if section := re.match(r"\s*\.section\s+\.text\.([^,\"]+)", line) or SECTION.match(line):
            current = section[1]
            functions.setdefault(current, (0, (0, 0, 0)))
        elif current is not None and (found := INSTRUCTION.match(line)):
            bits, counts = functions[current]
            for name in classes_of(found[3], found[4]):
                bits |= BITS[name]
            functions[current] = bits, tuple(map(sum, zip(counts, fma_of(sm, found[3], found[4]))))
    return functions


def listed(program, cubins):
    """(cubin, function) -> (bits, counts of FMA pipes), as the library sees them."""
    found = {}
    for start in range(0, len(cubins), 100):
        out = subprocess.run([program, *map(str, cubins[start:start + 100])], capture_output=True, text=True, check=True)
        for line in out.stdout.splitlines():
            cubin, name, _, bits, _, counts = line.split("\t")
            found[cubin, name] = int(bits, 16), tuple(map(int, counts.split()))
    return found


def names_of(bits):
    return [name for name, bit in BITS.items() if bits & bit] or ["nothing"]


def compare(program, disassembler, cubins):
    """Prints each function that differs; how many did, and what was seen."""
    ours = listed(program, cubins)
    seen, wrong = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        texts = pool.map(lambda cubin: disassembler.output_of("nvdisasm", "-c", cubin), cubins)
        for cubin, text in zip(cubins, texts):
            for function, (expected, counts) in disassembled(text).items():
                seen.update(names_of(expected))
                got, got_counts = ours.get((str(cubin), function), (0, (0, 0, 0)))
                # What a function calls counts as its own: more is right there.
                if got & expected == expected and ((got, got_counts) == (expected, counts) or "CALL.ABS" in text):
                    continue
                wrong += 1
                print(f"{cubin.name}: {function}: {names_of(got)} {got_counts}, but nvdisasm: {names_of(expected)} {counts}")
    return wrong, seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--kernels", type=pathlib.Path)
    parser.add_argument("--nvcc", default="")
    parser.add_argument("--tools", required=True)
    parser.add_argument("cubins", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        disassembler = Disassembler(arguments.nvcc, arguments.tools)
    except NoDisassembler as missing:
        print(f"skipped: {missing}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        cubins = arguments.cubins
        if not cubins:
            for fatbin in sorted(arguments.kernels.glob("*.fatbin")):
                if fatbin.stat().st_size > 0:
                    disassembler.output_of("cuobjdump", "-xelf", "all", fatbin.resolve(), folder=folder)
            cubins = sorted(pathlib.Path(folder).glob("*.cubin"))
        wrong, seen = compare(arguments.program, disassembler, cubins)
    print(f"{len(cubins)} cubins; functions with " + ", ".join(f"{name} {count}" for name, count in sorted(seen.items())))
    if not arguments.cubins and not {"mma_fp16", "wgmma_bf16", "tcgen05_int8", "fp32", "fp64", "nothing"} <= set(seen):
        print("the peak kernels should have more than that")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

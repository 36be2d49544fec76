# SPDX-License-Identifier: Apache-2.0
"""Reads the machine code in fatbins: which kernels there are for each target, their instructions, their loops."""
import concurrent.futures
import dataclasses
import fnmatch
import pathlib
import re
import shutil
import subprocess
import tempfile

SECTION = re.compile(r"\s*\.section\s+\.text\.(\w+)")
LABEL = re.compile(r"(\.L\w+):")
INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(@!?\w+\s+)?([A-Z][\w.]*)([^;]*);")
JUMP_TARGET = re.compile(r"`\((\.L\w+)\)")
CUBIN = re.compile(r"\.sm_(\w+)\.cubin$")


@dataclasses.dataclass(frozen=True)
class Instruction:
    address: int
    opcode: str  # with all its modifiers: HMMA.16816.F32
    is_predicated: bool
    jumps_to: str | None  # a label

    def matches(self, pattern):
        return fnmatch.fnmatchcase(self.opcode, pattern)


class Kernel:
    def __init__(self):
        self.instructions = []
        self.labels = {}  # name -> address

    def loops(self):
        """(first, last) address of each: from where a jump back goes to, to the jump."""
        found = set()
        for i in self.instructions:
            target = self.labels.get(i.jumps_to)
            # A jump to itself is what follows EXIT.
            if target is not None and target < i.address:
                found.add((target, i.address))
        return found

    def innermost_loop_with(self, patterns):
        """The instructions of the shortest loop that has any of these, or []."""
        wanted = [i.address for i in self.instructions if any(i.matches(p) for p in patterns)]
        for first, last in sorted(self.loops(), key=lambda loop: loop[1] - loop[0]):
            if any(first <= address <= last for address in wanted):
                return [i for i in self.instructions if first <= i.address <= last]
        return []


def kernels_in(disassembly):
    """name -> Kernel, from the text of nvdisasm -c."""
    kernels, kernel, labels = {}, None, []
    for line in disassembly.splitlines():
        if section := SECTION.match(line):
            kernel, labels = kernels.setdefault(section[1], Kernel()), []
        elif kernel is None:
            continue
        elif label := LABEL.match(line):
            labels.append(label[1])
        elif found := INSTRUCTION.match(line):
            address = int(found[1], 16)
            kernel.labels.update((name, address) for name in labels)
            labels = []
            jump = JUMP_TARGET.search(found[4])
            kernel.instructions.append(Instruction(address, found[3], bool(found[2]), jump and jump[1]))
    return kernels


class NoDisassembler(Exception):
    """Says what is missing."""


class Disassembler:
    """nvdisasm and cuobjdump: beside nvcc, on PATH, or where tools/test.sh puts them."""

    def __init__(self, nvcc, folder):
        beside = [str(pathlib.Path(nvcc).resolve().parent)] if nvcc else []
        self.programs = {}
        for name in ("nvdisasm", "cuobjdump"):
            for place in (*beside, None, str(pathlib.Path(folder).absolute() / "bin")):
                if program := shutil.which(name, path=place):
                    self.programs[name] = program
                    break
            else:
                raise NoDisassembler(f"there is no {name} beside nvcc, on PATH or in {folder}/bin")

    def output_of(self, program, *arguments, folder="."):
        done = subprocess.run([self.programs[program], *map(str, arguments)], capture_output=True, text=True, cwd=folder)
        if done.returncode != 0:
            raise RuntimeError(f"{program} cannot read {arguments[-1]}: {done.stderr.strip()}")
        return done.stdout

    def kernels_of(self, fatbins):
        """fatbin's name -> target ("90a") -> name of a kernel -> Kernel. Two at a time."""
        with tempfile.TemporaryDirectory() as name:
            cubins = []
            for fatbin in fatbins:
                self.output_of("cuobjdump", "-xelf", "all", fatbin.resolve(), folder=name)
                made = set(pathlib.Path(name).glob("*.cubin")) - {cubin for _, cubin in cubins}
                cubins += [(fatbin.stem, cubin) for cubin in sorted(made)]
            with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
                texts = pool.map(lambda pair: self.output_of("nvdisasm", "-c", pair[1]), cubins)
                found = {fatbin.stem: {} for fatbin in fatbins}
                for (image, cubin), text in zip(cubins, texts):
                    found[image][CUBIN.search(cubin.name)[1]] = kernels_in(text)
        return found

    def ptx_targets_of(self, fatbin):
        return re.findall(r"\.sm_(\w+)\.ptx", self.output_of("cuobjdump", "-lptx", fatbin))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The binary interface of gpuprof.h, peaks.h and libgpuprof.so is what abi.txt says: sizes, offsets, values of enums, symbols.

GPUPROF_UPDATE_GOLDEN=1 writes abi.txt anew. A field that moves, a value or symbol that goes breaks programs that are built: new fields go to the
end of their struct."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

COMPILER, INCLUDE, LIBRARY, VERSION = sys.argv[1:5]
STORED = pathlib.Path(__file__).with_name("abi.txt")
HEADERS = [pathlib.Path(INCLUDE) / "gpuprof" / name for name in ("gpuprof.h", "peaks.h")]


def text_of_headers():
    return re.sub(r"/\*.*?\*/", "", "".join(header.read_text() for header in HEADERS), flags=re.S)


def structs(text):
    """{name: fields} in the order of the header."""
    found = {}
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.S):
        found[name] = [re.search(r"(\w+)$", part.strip())[1] for line in body.split(";") for part in line.split(",") if part.strip()]
    return found


def enumerators(text):
    return [name for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text, re.S) for name in re.findall(r"(\w+) =", body)]


def layout(text):
    lines = []
    for name, fields in structs(text).items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        lines += [f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));' for field in fields]
    lines += [f'printf("{name} = %d\\n", {name});' for name in enumerators(text)]
    program = '#include <gpuprof/peaks.h>\n#include <stdio.h>\nint main(void) {\n' + "\n".join(lines) + "\nreturn 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        source, built = pathlib.Path(folder) / "abi.c", pathlib.Path(folder) / "abi"
        source.write_text(program)
        subprocess.run([COMPILER, "-std=c11", f"-I{INCLUDE}", source, "-o", built], check=True)
        return subprocess.run([built], check=True, capture_output=True, text=True).stdout.splitlines()


def symbols():
    lines = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(name for name in (line.split()[-1].split("@")[0] for line in lines) if name.startswith("gpuprof_"))


class Abi(unittest.TestCase):
    def test_the_binary_interface_is_as_stored(self):
        text = text_of_headers()
        found = layout(text) + [f"symbol {name}" for name in symbols()]
        if os.environ.get("GPUPROF_UPDATE_GOLDEN"):
            STORED.write_text("\n".join(found) + "\n")
        self.assertEqual(STORED.read_text().splitlines(), found)
        self.assertGreater(len(structs(text)), 8)

    def test_every_struct_begins_with_its_size(self):
        for name, fields in structs(text_of_headers()).items():
            self.assertEqual(fields[0], "struct_size", name)

    def test_the_header_has_the_version_of_the_library(self):
        found = dict(re.findall(r"#define GPUPROF_VERSION_(\w+) (\d+)", HEADERS[0].read_text()))
        self.assertEqual([found["MAJOR"], found["MINOR"], found["PATCH"]], VERSION.split("."))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

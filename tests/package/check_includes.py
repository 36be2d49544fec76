#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every #include of the project against the table of layers in libgpuprof/README.md, and the table against them."""
import pathlib
import re
import sys

VENDOR = {
    "cupti": re.compile(r"(cupti|generated_cu|nvperf)"),
    "nvtx3": re.compile(r"nvtx3/"),
    "cuda": re.compile(r"(cuda|driver_types|nvml)"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def read_table(readme):
    """layer -> (layers it may include, vendor headers it may include)"""
    table = {}
    for line in readme.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 4 or cells[0] in ("layer", "---"):
            continue
        words = lambda cell: {word.strip() for word in cell.split(",") if word.strip()}
        table[cells[0]] = (words(cells[2]), words(cells[3]))
    return table


def vendor_of(header):
    return next((name for name, pattern in VENDOR.items() if pattern.match(header)), None)


def row_of(path, table):
    """The row for a path: the longest that it begins with."""
    return next((name for name in ("/".join(path.parts[:depth]) for depth in (3, 2, 1)) if name in table), None)


def row_of_file(path, table):
    """The row for a file, by its path in the project: a layer of libgpuprof, or a folder beside it."""
    return row_of(path.relative_to("libgpuprof") if path.parts[0] == "libgpuprof" else path, table)


def half_of(layer):
    return next((half for half in ("guest", "host") if layer.startswith(half + "/")), None)


def is_layer(row):
    return not row.startswith(("tools", "tests"))


def rule_broken_by(project, layer, quote, header, table):
    """None when the include is allowed, else why it is not."""
    allowed, rooms = table[layer]
    vendor = vendor_of(header)
    if vendor is not None and quote == "<":
        return None if vendor in rooms else f"{layer} is no room for {vendor} headers"
    if quote == "<":
        return None
    target = row_of(pathlib.PurePath(header), table)
    if is_layer(layer):
        if "/" not in header or target is None:
            return "the path is not relative to libgpuprof/"
        return None if target in (layer, *allowed) else f"layer {layer} may not include layer {target}"
    if "/" in header and target in table and (project / "libgpuprof" / header).exists():
        return None if target in allowed else f"{layer} may not include layer {target}"
    return None  # its own


def check(project):
    table = read_table(project / "libgpuprof/README.md")
    if not table:
        return ["libgpuprof/README.md has no table of layers"]
    problems, used = [], {layer: set() for layer in table}
    paths = [p for folder in ("libgpuprof", "tools", "tests") for p in sorted((project / folder).rglob("*"))]
    for path in paths:
        if path.suffix not in (".hpp", ".cpp", ".h", ".c", ".cu"):
            continue
        layer = row_of_file(path.relative_to(project), table)
        if layer not in table:
            problems.append(f"{path}: its folder is not in the table of libgpuprof/README.md")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            used[layer].add(vendor_of(found[2]) if found[1] == "<" else row_of(pathlib.PurePath(found[2]), table))
            broken = rule_broken_by(project, layer, found[1], found[2], table)
            if broken:
                problems.append(f"{path}:{number}: {found[2]}: {broken}")
    for layer, (allowed, rooms) in table.items():
        for grant in sorted((allowed | rooms) - used[layer]):
            problems.append(f"libgpuprof/README.md: {layer} is granted {grant} and does not use it")
        for grant in sorted(allowed):
            if {half_of(layer), half_of(grant)} == {"guest", "host"}:
                problems.append(f"libgpuprof/README.md: {layer} is granted {grant}, which is of the other half")
    return problems


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1]))
    print("\n".join(found) if found else "every include agrees with the table of layers")
    sys.exit(1 if found else 0)

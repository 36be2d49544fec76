#!/usr/bin/env python3
"""Checks every #include below libgpuprof/ against the table of layers in libgpuprof/README.md."""
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
    """layer -> (layers it may include, vendor rooms it may enter)"""
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


def complaint_about(layer, quote, header, table):
    """None when the include is allowed, else why it is not."""
    allowed, rooms = table[layer]
    vendor = vendor_of(header)
    if vendor is not None and quote == "<":
        return None if vendor in rooms else f"layer {layer} is no room for {vendor} headers"
    if quote == "<":
        return None
    target = header.split("/")[0]
    if "/" not in header or target not in table:
        return "the path is not relative to libgpuprof/"
    if target != layer and target not in allowed:
        return f"layer {layer} may not include layer {target}"
    return None


def check(root):
    table = read_table(root / "README.md")
    problems = []
    if not table:
        problems.append("README.md has no table of layers")
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".hpp", ".cpp", ".h", ".c")):
        layer = path.relative_to(root).parts[0]
        if layer not in table:
            problems.append(f"{path}: folder {layer} is not in the table of README.md")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            complaint = complaint_about(layer, found[1], found[2], table)
            if complaint:
                problems.append(f"{path}:{number}: {found[2]}: {complaint}")
    return problems


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1]))
    print("\n".join(found) if found else "every include agrees with the table of layers")
    sys.exit(1 if found else 0)

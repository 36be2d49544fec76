#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a capture without gpuprof: every table, or the kernels as CSV.

    read_capture.py CAPTURE            tables and how many rows they hold
    read_capture.py CAPTURE TABLE      the rows of one as CSV
    read_capture.py CAPTURE kernels    start, duration and name of each kernel

Written from docs/capture-format.md alone, as a start for readers in other languages; needs libzstd.
"""
import collections
import csv
import ctypes
import struct
import sys

FILE_MAGIC = bytes.fromhex("89475055500D0A1A")
BLOCK_MAGIC = bytes.fromhex("B76770626C6F636B")
BLOCK_HEADER = struct.Struct("<8sHHIIIQQ")
COLUMN = struct.Struct("<HBBIQQQ")
SCHEMA, END = 0, 22
# The columns of the table that describes all others.
SCHEMA_COLUMNS = {0: ("table", "u16"), 1: ("column", "u16"), 2: ("table_name", "text"), 3: ("column_name", "text"), 4: ("type", "text"),
                  5: ("unit", "text"), 6: ("refers_to", "text")}
MODULO = (1 << 64) - 1

zstd = ctypes.CDLL("libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & MODULO
    return value


def decompressed(frame, length):
    """None: the frame is damaged."""
    content = ctypes.create_string_buffer(max(length, 1))
    return content.raw[:length] if zstd.ZSTD_decompress(content, length, frame, len(frame)) == length else None


def blocks(data):
    """Table, rows and content of each block that is whole; what is damaged is passed over."""
    at = 16
    while at + BLOCK_HEADER.size <= len(data):
        magic, table, _, rows, stored, length, _, checksum = BLOCK_HEADER.unpack_from(data, at)
        if magic != BLOCK_MAGIC or checksum != fnv1a(data[at:at + 32]):
            at = data.find(BLOCK_MAGIC, at + 1)
            if at < 0:
                return
            continue
        frame = data[at + BLOCK_HEADER.size:at + BLOCK_HEADER.size + stored]
        at += BLOCK_HEADER.size + stored
        content = decompressed(frame, length) if len(frame) == stored else None
        if content is not None:
            yield table, rows, content


def numbers(transform, width, base, seed, step, residuals, rows):
    """The values of a column, modulo 2^64."""
    residual = [sum(residuals[plane * rows + i] << 8 * plane for plane in range(width)) for i in range(rows)]
    if transform == 0:
        return [base + r & MODULO for r in residual]
    values = []
    for r in residual:
        if transform == 1:
            seed = seed + base + r & MODULO
        else:
            step = step + base + r & MODULO
            seed = seed + step & MODULO
        values.append(seed)
    return values


def typed(values, kind):
    if kind[0] == "i":
        return [v - (1 << 64) if v >> 63 else v for v in values]
    if kind == "f64":
        return [struct.unpack("<d", struct.pack("<Q", v))[0] for v in values]
    return [bool(v) for v in values] if kind == "bool" else values


def columns_of(content, rows, described):
    """The columns of a block by name; those that are not in it are left out: they are zero or empty."""
    (count,) = struct.unpack_from("<H", content)
    at = 2 + count * COLUMN.size
    found = {}
    for i in range(count):
        place, transform, width, text_bytes, base, seed, step = COLUMN.unpack_from(content, 2 + i * COLUMN.size)
        values = numbers(transform, width, base, seed, step, content[at:at + width * rows], rows)
        at += width * rows
        texts = content[at:at + text_bytes]
        at += text_bytes
        if place not in described:
            continue
        name, kind = described[place]
        if kind == "text":  # the values are lengths
            start, values_of_text = 0, []
            for length in values:
                values_of_text.append(texts[start:start + length].decode(errors="replace"))
                start += length
            found[name] = values_of_text
        else:
            found[name] = typed(values, kind)
    return found


class Capture:
    """Tables by name, each a list of dictionaries, and whether the file was closed."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if data[:8] != FILE_MAGIC or struct.unpack_from("<H", data, 8)[0] != 1:
            raise ValueError(f"{path} is no capture of format 1")
        described, names = {SCHEMA: SCHEMA_COLUMNS}, {SCHEMA: "schema"}
        self.tables, self.is_complete = collections.defaultdict(list), False
        found = list(blocks(data))
        for table, rows, content in found:  # of the two schemas one may be damaged
            if table == SCHEMA:
                columns = columns_of(content, rows, SCHEMA_COLUMNS)
                for i in range(rows):
                    described.setdefault(columns["table"][i], {})[columns["column"][i]] = (columns["column_name"][i], columns["type"][i])
                    names[columns["table"][i]] = columns["table_name"][i]
        for table, rows, content in found:
            if table not in described:
                continue  # of a newer version
            defaults = {name: "" if kind == "text" else 0 for name, kind in described[table].values()}
            columns = columns_of(content, rows, described[table])
            for i in range(rows):
                self.tables[names[table]].append({**defaults, **{name: values[i] for name, values in columns.items()}})
            self.is_complete = self.is_complete or table == END

    def texts(self):
        return {row["id"]: row["text"] for row in self.tables["name"]}

    def kernels(self):
        """Start (ns of CLOCK_REALTIME), duration (ns) and mangled name of each."""
        texts = self.texts()
        names = {shape["id"]: texts.get(shape["name"], "") for shape in self.tables["shape"]}
        return [(k["start"], k["duration"], names.get(k["shape"], "")) for k in self.tables["kernel"]]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.strip())
    capture = Capture(sys.argv[1])
    out = csv.writer(sys.stdout, lineterminator="\n")
    if len(sys.argv) == 2:
        for name, rows in capture.tables.items():
            print(f"{name}: {len(rows)} rows")
        print("closed" if capture.is_complete else "not closed: its program was killed, or still runs")
    elif sys.argv[2] == "kernels":
        out.writerow(["start", "duration", "name"])
        out.writerows(capture.kernels())
    else:
        rows = capture.tables[sys.argv[2]]
        out.writerow(rows[0].keys() if rows else [])
        out.writerows(row.values() for row in rows)


if __name__ == "__main__":
    main()

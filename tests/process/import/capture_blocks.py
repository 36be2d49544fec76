# SPDX-License-Identifier: Apache-2.0
"""Captures with a wrong value in blocks whose check sums are right, as docs/capture-format.md describes them."""
import ctypes
import struct

MAGIC = bytes.fromhex("B76770626C6F636B")
SCHEMA, END = 0, 22  # tables that describe the file
CHECKSUM_FLAG = 201

zstd = ctypes.CDLL("libzstd.so.1")
for function, result in (("ZSTD_createCCtx", ctypes.c_void_p), ("ZSTD_compress2", ctypes.c_size_t), ("ZSTD_compressBound", ctypes.c_size_t),
                         ("ZSTD_decompress", ctypes.c_size_t), ("ZSTD_CCtx_setParameter", ctypes.c_size_t)):
    getattr(zstd, function).restype = result
zstd.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
zstd.ZSTD_compress2.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
zstd.ZSTD_CCtx_setParameter.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
context = zstd.ZSTD_createCCtx()
zstd.ZSTD_CCtx_setParameter(context, CHECKSUM_FLAG, 1)


def fnv(content):
    sum = 0xCBF29CE484222325
    for byte in content:
        sum = (sum ^ byte) * 0x100000001B3 % (1 << 64)
    return sum


class Block:
    def __init__(self, header, frame):
        self.table, _, self.rows, _, length, self.number = struct.unpack("<HHIIIQ", header[8:32])
        content = ctypes.create_string_buffer(max(length, 1))
        zstd.ZSTD_decompress(content, length, frame, len(frame))
        self.content = bytearray(content.raw[:length])

    def columns(self):
        """Their places in the table."""
        (count,) = struct.unpack_from("<H", self.content)
        return [struct.unpack_from("<H", self.content, 2 + 32 * i)[0] for i in range(count)]

    def set_column(self, place, value):
        """In all rows, whatever type the column has."""
        head = struct.unpack_from("<H", self.content)[0]
        at, kept = 2 + 32 * head, []
        for i in range(head):
            fields = list(struct.unpack_from("<HBBIQQQ", self.content, 2 + 32 * i))
            size = fields[2] * self.rows + fields[3]
            body = self.content[at:at + size]
            at += size
            if fields[0] == place and fields[3] == 0:  # the lengths of texts stay
                fields, body = [place, 0, 0, 0, value, 0, 0], b""
            kept.append((struct.pack("<HBBIQQQ", *fields), body))
        self.content = bytearray(struct.pack("<H", head) + b"".join(fields for fields, _ in kept) + b"".join(body for _, body in kept))

    def written(self):
        content = bytes(self.content)
        frame = ctypes.create_string_buffer(zstd.ZSTD_compressBound(len(content)))
        length = zstd.ZSTD_compress2(context, frame, len(frame), content, len(content))
        header = MAGIC + struct.pack("<HHIIIQ", self.table, 0, self.rows, length, len(content), self.number)
        return header + struct.pack("<Q", fnv(header)) + frame.raw[:length]


def read(content):
    """The file header, and the blocks."""
    at, blocks = 16, []
    while content[at:at + 8] == MAGIC:
        (length,) = struct.unpack_from("<I", content, at + 16)
        blocks.append(Block(content[at:at + 40], content[at + 40:at + 40 + length]))
        at += 40 + length
    return content[:16], blocks


def with_value(content, table, place, value):
    """The same capture; all rows of a table have `value` in one column."""
    head, blocks = read(content)
    for block in blocks:
        if block.table == table and place in block.columns():
            block.set_column(place, value)
    return head + b"".join(block.written() for block in blocks)


def columns(content):
    """(table, place in it) of every column."""
    return sorted({(block.table, place) for block in read(content)[1] for place in block.columns() if block.table not in (SCHEMA, END)})

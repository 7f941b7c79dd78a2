"""Recordings of ach record as tests make them, from the format in ach.1."""
import struct, zlib


def record(kind, channel, t_ns, number, body):
    head = struct.pack("<IIHHqQ", len(body), zlib.crc32(body), kind, channel, t_ns, number)
    return struct.pack("<I", zlib.crc32(head)) + head + body


def channel(number, name, count, size, kind):
    return record(2, number, 1000, 0, struct.pack("<IIII", count, size, 0o640, kind) + name)


def recording(path, *records):
    with open(path, "wb") as out:
        out.write(b"achrec1\n" + record(1, 0, 1000, 1763164800000000000, b"") + b"".join(records))
        out.write(record(5, 0, 3000, sum(r[12] == 3 for r in records), b""))

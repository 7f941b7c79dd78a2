#!/usr/bin/env python3
"""A recording of the versions before the present ones, and what ach makes of it.

    old_recording.py write FILE PREFIX      a message of each old type, from the layouts in test/abi/messages_old.abi
    old_recording.py expect PREFIX          the same messages in their present form, a line of JSON each
"""
import json, re, struct, sys, zlib

LAYOUTS = "test/abi/messages_old.abi"
# struct, type number, version that it had, name; of the e-stop a raise and a lowering
TYPES = [("msg_joint_state", 1, 2, "joint-state"), ("msg_imu", 3, 2, "imu"), ("msg_ft", 4, 2, "force-torque"),
         ("msg_gripper_state", 5, 2, "gripper-state"), ("msg_battery", 7, 2, "battery"), ("msg_clock", 9, 2, "clock"),
         ("msg_estop", 11, 1, "estop"), ("msg_estop", 11, 1, "estop")]
GROUPS = {"header": "msg_header", "common": "msg_common", "refs_refused": "msg_refused"}
NEW_COMMON = {"boot": [0, 0], "base_chan": 0, "base_seq": 0, "base_level": "run", "latches": "-", "frames_withheld": 0,
              "period_ns": 0}
NEW_ESTOP = {"boot": [0, 0], "chan": [0, 0], "seen": [0, 0], "until_ns": 0, "uid": 0, "pid": 0}
FORMATS = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i32": "i", "i64": "q", "f64": "d", "word": "I", "flags": "I"}


class Field:
    def __init__(self, line):
        got = re.match(r"(\w+) at (\d+): (\w+) (\w+)(?:\[(\d+)\])?, (\d+) bytes(?: of which (\w+) count)?", line)
        self.struct, offset, self.kind, self.name, count, size, self.used = got.groups()
        self.offset, self.count, self.size = int(offset), int(count or 0), int(size)
        self.words = line.rsplit(" = ", 1)[1].strip().split("|") if " = " in line else []


def read_layouts():
    fields, sizes = {}, {}
    for line in open(LAYOUTS):
        if " size " in line:
            name, _, size = line.split()
            sizes[name] = int(size)
        else:
            field = Field(line)
            fields.setdefault(field.struct, []).append(field)
    return fields, sizes


class Maker:
    """Fills an old message with values that differ, and keeps what they are as JSON has them."""

    def __init__(self, fields, sizes, level):
        self.fields, self.sizes, self.level, self.n = fields, sizes, level, 0

    def element(self, field, owner):
        self.n += 1
        if field.kind == "group":
            name = GROUPS.get(field.name) or ("msg_clock_bus" if owner == "msg_clock" else "msg_bus")
            return self.make(name)
        if field.kind in ("name", "text"):
            size = field.size // max(field.count, 1)
            return f"t{self.n}".encode().ljust(size, b"\0"), f"t{self.n}"
        value = self.n
        shown = value
        if field.kind == "word":
            value = self.level if field.name == "level" and owner == "msg_estop" else 1
            shown = field.words[value]
        elif field.kind == "flags":
            value, shown = 3, "|".join(field.words[:2])
        elif field.name == "reserved":
            value = 0
        elif field.kind == "f64":
            value = shown = self.n + 0.5
        elif field.name in {f.used for f in self.fields[owner]}:
            value = shown = 2
        return struct.pack("<" + FORMATS[field.kind], value), shown

    def make(self, name):
        body, shown = b"", {}
        for field in self.fields[name]:
            assert len(body) == field.offset, field.name
            made = [self.element(field, name) for _ in range(max(field.count, 1))]
            body += b"".join(m[0] for m in made)
            if field.name != "reserved":
                values = [m[1] for m in made]
                shown[field.name] = values[:2 if field.used else None] if field.count else values[0]
        assert len(body) == self.sizes[name], name
        return body, shown


def messages():
    fields, sizes = read_layouts()
    for i, (name, number, version, kind) in enumerate(TYPES):
        body, shown = Maker(fields, sizes, 0 if i == len(TYPES) - 1 else 2).make(name)
        body = struct.pack("<IHHI", number, version, 0, len(body)) + body[12:]
        yield i, name, number, kind, body, shown


def record(kind, channel, t_ns, number, body):
    head = struct.pack("<IIHHqQ", len(body), zlib.crc32(body), kind, channel, t_ns, number)
    return struct.pack("<I", zlib.crc32(head)) + head + body


def channel(number, name, count, size, kind):
    return record(2, number, 1000, 0, struct.pack("<IIII", count, size, 0o640, kind) + name)


def recording(path, *records):
    with open(path, "wb") as out:
        out.write(b"achrec1\n" + record(1, 0, 1000, 1763164800000000000, b"") + b"".join(records))
        out.write(record(5, 0, 3000, sum(r[12] == 3 for r in records), b""))


def write(path, prefix):
    made = list(messages())
    recording(path, *[channel(i, f"{prefix}-{kind}-{i}".encode(), 64, len(body), number)
                      for i, _, number, kind, body, _ in made],
              *[record(3, i, 2000 + i, 7, body) for i, _, _, _, body, _ in made])


def expect(prefix):
    for i, name, number, kind, _, shown in messages():
        if "common" in shown:
            shown["common"].update(NEW_COMMON)
        if name == "msg_joint_state":
            shown["lifecycle"] = ["down"] * shown["count"]
        if name == "msg_estop":
            del shown["seen_seq"]  # seen at channels that are not those of today
            shown.update(NEW_ESTOP, kind="lower" if shown["level"] == "run" else "raise")
        shown["header"].update(type=number, version="present", size="present")
        line = {"channel": f"{prefix}-{kind}-{i}", "number": 7, "t_ns": 2000 + i, "message": {"type": kind, **shown}}
        print(json.dumps(line, sort_keys=True))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], sys.argv[3])
    else:
        expect(sys.argv[2])

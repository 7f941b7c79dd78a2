"""log_python.py: python-can writes and reads logs, for test_log_python.sh.

    make FORMAT LOG SEED    random frames of every kind that python-can writes in FORMAT, to LOG; prints what they are
    frames FORMAT SEED      the same frames as lines of candump -L
    read LOG                the frames that python-can reads from LOG

Frames are printed as lines: microseconds since the first, bus, frame, direction.
"""
import random
import sys

import can
from can.io import trc

LENGTHS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64]
KINDS = {
    "log": ["data", "fd", "remote", "error"],
    "asc": ["data", "fd", "remote", "error"],
    "blf": ["data", "fd", "remote", "error"],
    "trc": ["data"],
    "trc1": ["data"],
    "csv": ["data", "remote", "error"],
}
COUNT = 4000


def frame(kind, us, number):
    extended = random.random() < 0.5
    m = can.Message(
        timestamp=us / 1e6,
        # Short identifiers are where writers differ.
        arbitration_id=random.choice([random.randrange(1 << 29), random.randrange(1 << 18)]) if extended
        else random.randrange(1 << 11),
        is_extended_id=extended, channel=random.randrange(4), is_rx=random.random() < 0.5)
    if kind == "data":
        m.data = bytearray(random.randbytes(number % 9))
        m.dlc = len(m.data)
    elif kind == "fd":
        m.is_fd = True
        m.bitrate_switch, m.error_state_indicator = random.random() < 0.5, random.random() < 0.5
        m.data = bytearray(random.randbytes(LENGTHS[number % 16]))
        m.dlc = len(m.data)
    elif kind == "remote":
        m.is_remote_frame = True
        m.dlc = number % 9
    else:
        m = can.Message(timestamp=m.timestamp, is_error_frame=True, channel=m.channel, is_extended_id=False)
    return m


def frames(form, seed):
    random.seed(seed)
    us = 1436509052249713
    for number in range(COUNT):
        yield frame(random.choice(KINDS[form]), us, number)
        us += random.choice([0, 1, 100, 12345, 3456789])


def text(m):
    if m.is_error_frame:
        return "20000080#0000000000000000"
    name = f"{m.arbitration_id:08X}" if m.is_extended_id else f"{m.arbitration_id:03X}"
    if m.is_remote_frame:
        return f"{name}#R{m.dlc or ''}"
    if m.is_fd:
        flags = 4 | (1 if m.bitrate_switch else 0) | (2 if m.error_state_indicator else 0)
        return f"{name}##{flags}" + m.data.hex().upper()
    return f"{name}#" + m.data.hex().upper()


def direction(m):
    return "-" if m.is_error_frame else "R" if m.is_rx else "T"


def lossy(form, m):
    """What python-can's writer of FORMAT keeps: bus, frame, direction."""
    bus, what, way = f"can{m.channel}", text(m), direction(m)
    if form == "log" and m.is_remote_frame:
        what = what.split("#")[0] + "#R"
    if form == "asc" and m.is_error_frame:
        bus = "can0"
    if form in ("csv", "trc1"):
        bus, way = "can0", "-"
    return bus, what, way


def show(rows):
    first = None
    for t, bus, what, way in rows:
        us = round(t * 1e6)
        first = us if first is None else first
        print(us - first, bus, what, way)


def make(form, path, seed):
    messages = list(frames(form, seed))
    writer = trc.TRCWriter(path) if form == "trc1" else can.Logger(path)
    if form == "trc1":
        writer.file_version = trc.TRCFileVersion.V1_0
    for m in messages:
        writer.on_message_received(m)
    writer.stop()
    if form == "trc1":  # in whole milliseconds
        first = round(messages[0].timestamp * 1e6)
        for m in messages:
            m.timestamp = first / 1e6 + round((m.timestamp - messages[0].timestamp) * 1e3) / 1e3
    show((m.timestamp, *lossy(form, m)) for m in messages)


def read(path):
    reader = can.ASCReader(path, relative_timestamp=False) if path.endswith(".asc") else can.LogReader(path)
    less = 1 if path.endswith(".trc") else 0  # its channels count from 1
    show((m.timestamp, f"can{m.channel - less}" if isinstance(m.channel, int) else m.channel or "-", text(m), direction(m))
         for m in reader)


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3], int(sys.argv[4]))
elif sys.argv[1] == "frames":
    for m in frames(sys.argv[2], int(sys.argv[3])):
        us = round(m.timestamp * 1e6)
        way = "" if m.is_error_frame else " " + direction(m)
        print(f"({us // 1000000}.{us % 1000000:06}) can{m.channel} {text(m)}{way}")
else:
    read(sys.argv[2])

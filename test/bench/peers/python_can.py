"""python_can.py: what python-can does, for test/bench/peers/logs.

    make FRAMES LOG...  writes the same random frames to each LOG
    read LOG FRAMES     reads LOG, expects so many frames, and prints the seconds that it took
"""
import random
import sys
import time

import can


def make(count, *paths):
    random.seed(1)
    writers = [can.Logger(path) for path in paths]
    for number in range(count):
        message = can.Message(timestamp=1700000000 + number * 0.0005, arbitration_id=random.randrange(1 << 11),
                              is_extended_id=False, data=random.randbytes(8), channel=0, is_rx=True)
        for writer in writers:
            writer.on_message_received(message)
    for writer in writers:
        writer.stop()


def read(path, count):
    start = time.perf_counter()
    found = sum(1 for _ in can.LogReader(path))
    print(time.perf_counter() - start)
    if found != count:
        sys.exit(f"python-can read {found} of {count} frames of {path}")


command, words = sys.argv[1], sys.argv[2:]
if command == "make":
    make(int(words[0]), *words[1:])
else:
    read(words[0], int(words[1]))

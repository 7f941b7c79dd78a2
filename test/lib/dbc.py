"""The beginning of every comparison of a page's vectors with a DBC file (dbc.sh): PAGE DBC."""
import sys

import canmatrix.formats

frames = {f.arbitration_id.id: f for m in canmatrix.formats.loadp(sys.argv[2]).values() for f in m.frames}
block = open(sys.argv[1], encoding="utf-8").read().split("```vectors\n")[1].split("```")[0]
compared = 0


def signals(frame):
    """Of a node's frame as that of node 1."""
    number, data = frame.split("#")
    number, data = int(number, 16) & ~15 | 1, bytes.fromhex(data)
    assert frames[number].size == len(data), frame
    return {name: float(s.phys_value) for name, s in frames[number].decode(data).items()}


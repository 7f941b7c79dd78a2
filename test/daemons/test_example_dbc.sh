#!/bin/bash
# hw-docs/example.dbc: the page's vectors, decoded by canmatrix, which shares nothing with the codec.
# shellcheck disable=SC2317 # called by name
set -eu
cd "$(dirname "$0")/../.."
. test/scripts/lib.sh
lib_tmp
page=hw-docs/example.md dbc=hw-docs/example.dbc

# Debian's own interpreter: the package is for that one.

agrees() { # DBC
	/usr/bin/python3 -B -W ignore - "$page" "$1" <<'PYTHON'
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
    assert {s.unit for s in frames[number].signals} <= {"rad", "rad/s"}
    return {name: float(s.phys_value) for name, s in frames[number].decode(data).items()}


def same(a, b, line):
    global compared
    compared += 1
    assert abs(a - b) < 0.0005, line


for line in block.splitlines():
    left, right = line.split(" = ") if " = " in line else ("#", "")
    words, answer = left.split(), right.split()
    if left.startswith("#") or right.startswith("E"):
        continue
    if words[0] == "encode":
        same(signals(right)["Velocity"], float(words[3]), line)
    else:
        got = signals(words[1])
        assert abs(got["Position"] - float(answer[1])) < 1e-9, line
        same(got["Velocity"], float(answer[3]), line)
assert compared == 13 and set(frames) == {0x191, 0x211}, compared
PYTHON
}

differs() { # SED-COMMAND: and the comparison notices
	sed "$1" "$dbc" >"$lib_folder/changed.dbc"
	! cmp -s "$dbc" "$lib_folder/changed.dbc" && ! agrees "$lib_folder/changed.dbc" 2>"$lib_folder/said"
}

lib_case 'page and file agree' agrees "$dbc"
lib_case 'another byte order' differs 's/0|32@1-/7|32@0-/'
lib_case 'no sign' differs 's/0|16@1-/0|16@1+/'
lib_case 'another unit of length' differs 's/0.000001/0.00001/'
lib_case 'another place' differs 's/32|16@1-/16|16@1-/'
lib_case 'another identifier' differs 's/BO_ 529/BO_ 530/'
lib_case 'another length' differs 's/State: 6/State: 8/'
lib_end

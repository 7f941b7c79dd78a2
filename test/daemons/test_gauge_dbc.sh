#!/bin/bash
# hw-docs/gauge.dbc: the page's vectors, decoded by canmatrix, which shares nothing with the codec.
# shellcheck disable=SC2317 # called by name
set -eu
cd "$(dirname "$0")/../.."
. test/scripts/lib.sh
lib_tmp
page=hw-docs/gauge.md dbc=hw-docs/gauge.dbc

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
    return {name: int(s.phys_value) for name, s in frames[number].decode(data).items()}


for line in block.splitlines():
    left, right = line.split(" = ")
    words, answer = left.split(), right.split()
    if right.startswith("E"):
        continue
    compared += 1
    if words[0] == "ask":
        assert signals(right) == {"What": int(words[2]), "Index": int(words[3])}, line
    elif words[0] == "reply":
        assert signals(words[1]) == dict(zip(["What", "Index", "Value"], map(int, answer[1::2]))), line
    else:
        values = [int(answer[i]) for i in (0, 1, 2, 6)]
        assert signals(words[1]) == dict(zip(["X", "Y", "Z", "Number"], values)), line
assert compared == 12 and set(frames) == {0x2A1, 0x2C1, 0x2E1}, compared
PYTHON
}

differs() { # SED-COMMAND: and the comparison notices
	sed "$1" "$dbc" >"$lib_folder/changed.dbc"
	! cmp -s "$dbc" "$lib_folder/changed.dbc" && ! agrees "$lib_folder/changed.dbc" 2>"$lib_folder/said"
}

lib_case 'page and file agree' agrees "$dbc"
lib_case 'another byte order' differs 's/16|32@1-/23|32@0-/'
lib_case 'no sign' differs 's/32|16@1-/32|16@1+/'
lib_case 'another place' differs 's/48|8@1+/40|8@1+/'
lib_case 'another identifier' differs 's/BO_ 673/BO_ 674/'
lib_case 'another length' differs 's/Sample: 7/Sample: 8/'
lib_end

#!/bin/bash
# hw-docs/devices/example.dbc agrees with the vectors of its page.
set -eu
. test/lib/dbc.sh example

dbc_comparison=$(
	cat <<'PYTHON'
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
assert {s.unit for f in frames.values() for s in f.signals} == {"rad", "rad/s"}
assert compared == 13 and set(frames) == {0x191, 0x211}, compared
PYTHON
)

lib_case 'page and file agree' agrees "$dbc_file"
lib_case 'another byte order' differs 's/0|32@1-/7|32@0-/'
lib_case 'no sign' differs 's/0|16@1-/0|16@1+/'
lib_case 'another unit of length' differs 's/0.000001/0.00001/'
lib_case 'another place' differs 's/32|16@1-/16|16@1-/'
lib_case 'another identifier' differs 's/BO_ 529/BO_ 530/'
lib_case 'another length' differs 's/State: 6/State: 8/'
lib_end

#!/bin/bash
# hw-docs/devices/gauge.dbc agrees with the vectors of its page.
set -eu
. test/lib/dbc.sh gauge

dbc_comparison=$(
	cat <<'PYTHON'
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
)

lib_case 'page and file agree' agrees "$dbc_file"
lib_case 'another byte order' differs 's/16|32@1-/23|32@0-/'
lib_case 'no sign' differs 's/32|16@1-/32|16@1+/'
lib_case 'another place' differs 's/48|8@1+/40|8@1+/'
lib_case 'another identifier' differs 's/BO_ 673/BO_ 674/'
lib_case 'another length' differs 's/Sample: 7/Sample: 8/'
lib_end

#!/bin/bash
# hw-docs/devices/amc.dbc agrees with the vectors of its page.
set -eu
. test/lib/dbc.sh amc

dbc_comparison=$(
	cat <<'PYTHON'
names = set()
for line in block.splitlines():
    if not line.startswith("pdo "):
        continue
    (_, name, frame), answer = line.split(" = ")[0].split(), line.split(" = ")[1].split()
    number, data = int(frame.split("#")[0], 16), bytes.fromhex(frame.split("#")[1])
    assert frames[number].name == name and frames[number].size == len(data), line
    got = {signal: float(s.phys_value) for signal, s in frames[number].decode(data).items()}
    assert got == dict(zip(answer[::2], map(float, answer[1::2]))), (line, got)
    names.add(name)
    compared += 1
assert compared == 9 and names == {f.name for f in frames.values()}, compared
PYTHON
)

lib_case 'page and file agree' agrees "$dbc_file"
lib_case 'another byte order' differs 's/16|32@1-/23|32@0-/'
lib_case 'no sign' differs 's/48|16@1-/48|16@1+/'
lib_case 'another place' differs 's/SG_ TargetCurrent : 16|/SG_ TargetCurrent : 8|/'
lib_case 'another identifier' differs 's/BO_ 738/BO_ 748/'
lib_case 'another length' differs 's/Tpdo5: 4/Tpdo5: 8/'
lib_end

#!/bin/bash
# hw-docs/devices/dmu.dbc and mti.dbc agree with the vectors of hw-docs/devices/imu.md.
set -eu
. test/lib/dbc.sh imu

dbc_comparison=$(
	cat <<'PYTHON'
import math

kind = "dmu" if 0x40 in frames else "mti"
ours = {"dmu": ["dmu", "krang"], "mti": ["mti"]}[kind]


def exactly(text):
    number, data = text.split("#")
    number, data = int(number, 16), bytes.fromhex(data)
    assert frames[number].size == len(data), text
    return number, {name: float(s.phys_value) for name, s in frames[number].decode(data).items()}


def close(got, wanted):
    assert len(got) == len(wanted) and all(abs(g - w) < 1e-6 for g, w in zip(got, wanted)), (line, got, wanted)


for line in block.splitlines():
    left, right = line.split(" = ")
    words, answer = left.split(), right.split()
    if words[0] == "toggle" and kind == "dmu":
        assert exactly(right) == (0x90, {"Toggle": 15}), line
        compared += 1
    if words[0] not in ours or right == "nothing":
        continue
    got = dict(map(exactly, words[1:]))
    value = {a: i for i, a in enumerate(answer)}
    of = lambda key, n: [float(x) for x in answer[value[key] + 1:value[key] + 1 + n]]
    if words[0] == "krang":
        m, a, d = math.radians(-45), got[0x50], got[0x40]
        close([math.atan2(a["X"] * math.cos(m) - a["Y"] * math.sin(m), a["Z"])], of("pitch", 1))
        close([math.radians(d["dP"] * math.sin(m) + d["dQ"] * math.cos(m))], of("rate", 1))
    elif kind == "dmu":
        a, d = got[0x50], got[0x40]
        assert a["Sequence"] == d["Sequence"], line
        close([math.radians(d[k]) for k in ("dQ", "dP", "dR")], of("rate", 3))
        close([a[k] * 9.80665 for k in "XYZ"], of("acceleration", 3))
        close([d["Status"] + 256 * a["Status"]], of("status", 1))
    else:
        close([got[0x32][k] for k in "XYZ"], of("rate", 3))
        close([got[0x34][k] for k in "XYZ"], of("acceleration", 3))
        close([got.get(0x11, {"Status": 0})["Status"]], of("status", 1))
        if "orientation" in value:
            close([got[0x21][k] for k in "WXYZ"], of("orientation", 4))
        if "temperature" in value:
            close([got[0x51]["Temperature"] + 273.15], of("temperature", 1))
    compared += 1
assert compared == {"dmu": 9, "mti": 3}[kind], compared
PYTHON
)

dbc_file=hw-docs/devices/dmu.dbc
lib_case 'dmu: page and file agree' agrees "$dbc_file"
lib_case 'dmu: another byte order' differs 's/16|16@1-/23|16@0-/'
lib_case 'dmu: no sign' differs 's/16|16@1-/16|16@1+/'
lib_case 'dmu: another factor' differs 's/(0.0003,0)/(0.0004,0)/'
lib_case 'dmu: dP about x' differs 's/SG_ dQ/SG_ dX/; s/SG_ dP/SG_ dQ/; s/SG_ dX/SG_ dP/'
lib_case 'dmu: another identifier' differs 's/BO_ 144/BO_ 145/'
dbc_file=hw-docs/devices/mti.dbc
lib_case 'mti: page and file agree' agrees "$dbc_file"
lib_case 'mti: another byte order' differs 's/ X : 7|16@0-/ X : 0|16@1-/'
lib_case 'mti: another length' differs 's/RateOfTurn: 6/RateOfTurn: 8/'
lib_case 'mti: another place' differs 's/ W : 7|/ W : 23|/'
lib_case 'mti: another identifier' differs 's/BO_ 52 /BO_ 53 /'
lib_end

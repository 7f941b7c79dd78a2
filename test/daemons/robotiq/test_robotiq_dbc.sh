#!/bin/bash
# hw-docs/devices/robotiq.dbc agrees with the vectors of its page.
set -eu
. test/lib/dbc.sh robotiq

dbc_comparison=$(
	cat <<'PYTHON'
ids = {"request": 0x60B, "reply": 0x58B, "tpdo1": 0x18B, "tpdo2": 0x28B, "rpdo1": 0x20B}
assert set(frames) == set(ids.values())
bits = {1: ["gACT", "gMOD", "gGTO", "gIMC", "gSTA"], 2: ["gDTA", "gDTB", "gDTC", "gDTS"], 3: ["gFLT"]}


def read(name, data):
    frame = frames[ids[name]]
    assert frame.size == len(data), name
    return {key: s.phys_value for key, s in frame.decode(data).items()}


def register(name, index, n, value):
    """Of an SDO, which has this register in it and no other."""
    got = read(name, bytes([0x4F, index & 255, index >> 8, n, value, 0, 0, 0]))
    assert got.pop("Object") == index | n << 16 and got.pop("Command") == 0x4F
    return {key: float(v) for key, v in got.items()}


for line in block.splitlines():
    left, right = line.split(" = ")
    words, answer = left.split(), right.split()
    if words[0] == "state":
        numbers = list(map(float, answer))
        names = ["gACT", "gGTO", "gMOD", "gIMC", "gSTA", "gFLT"]
        names += [k + f for f in "ABCS" for k in ("gDT", "gPR", "gPO", "gCU")]
        wanted = {k: v * 0.1 if k[:3] == "gCU" else v for k, v in zip(names, numbers)}
        data = bytes.fromhex("".join(words[1:]))
        got = {}
        for n, value in enumerate(data, 1):
            got.update(register("reply", 0x2000, n, value))
        pdos = {k: float(v) for k, v in {**read("tpdo1", data[:8]), **read("tpdo2", data[8:] + b"\0")}.items()}
        for values in (got, pdos):
            assert values.keys() == wanted.keys(), (line, values.keys() ^ wanted.keys())
            assert all(abs(values[k] - wanted[k]) < 1e-9 for k in wanted), (line, values, wanted)
        compared += 1
    if words[0] == "command":
        names = ["rACT", "rGTO", "rATR", "rMOD", "rICF", "rICS"]
        names += [k + f for f in "ABCS" for k in ("rPR", "rSP", "rFR")]
        wanted = dict(zip(names, map(float, words[1:])), rGLV=0)
        data, got = bytes.fromhex(right), {}
        for n, value in enumerate(data, 1):
            got.update(register("request", 0x2200, n, value))
        assert got == wanted, (line, got)
        rpdo = {k: float(v) for k, v in read("rpdo1", data[:8]).items()}
        assert rpdo == {k: wanted[k] for k in rpdo} and len(rpdo) == 12, (line, rpdo)
        compared += 1
    if words[0] == "write" and words[1] == "11":
        got = read("request", bytes.fromhex(right.split("#")[1]))
        assert got["Command"] == 0x2F and got["Object"] == 0x2200 | int(words[2]) << 16, line
        compared += 1
assert compared == 11, compared
PYTHON
)

lib_case 'page and file agree' agrees "$dbc_file"
lib_case 'another place of a bit' differs 's/gGTO m73728 : 35/gGTO m73728 : 34/'
lib_case 'another register' differs 's/rPRA m270848 /rPRA m336384 /'
lib_case 'another factor' differs 's/(0.1,0)/(0.01,0)/'
lib_case 'another place in a PDO' differs 's/gPOA : 32|/gPOA : 40|/'
lib_case 'another identifier' differs 's/BO_ 1419/BO_ 1420/'
lib_end

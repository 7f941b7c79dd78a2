#!/bin/bash
# hw-docs/devices/ati.dbc agrees with the vectors of its page.
set -eu
. test/lib/dbc.sh ati

dbc_comparison=$(
	cat <<'PYTHON'
LBF, G, INCH = 4.4482216152605, 9.80665, 0.0254
FORCE = {1: LBF, 2: 1, 3: 1000 * LBF, 4: 1000, 5: G, 6: G / 1000}
TORQUE = {1: LBF * INCH, 2: LBF * 12 * INCH, 3: 1, 4: 0.001, 5: G / 100, 6: 1000}
OPCODES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15}


def of(text, place=None):
    """Of any base as that of base 20; of a row the message of its place."""
    number, data = text.split("#")
    opcode, data = int(number, 16) & 15, bytes.fromhex(data)
    if place is not None:
        opcode = 2 + place
    frame = frames[0x200 | opcode]
    assert frame.size == len(data), text
    return {name: s.phys_value for name, s in frame.decode(data).items()}


def close(got, wanted):
    assert len(got) == len(wanted) and all(abs(float(g) - float(w)) <= 1e-6 * max(1, abs(float(w)))
                                           for g, w in zip(got, wanted)), (line, got, wanted)


for line in block.splitlines():
    left, right = line.split(" =")
    words, answer = left.split(), right.split()
    if right[1:] in ("nothing", "EPROTO", "EMSGSIZE") or words[0] in ("mount", "weight"):
        continue
    if words[0] == "ask":
        number, data = right[1:].split("#")
        assert 0x200 | int(number, 16) & 15 in frames and len(data) <= 2, line
        if number[-1] == "6":
            close(of(right[1:]).values(), [words[3]])
    elif words[0] == "sample":
        evens, odds = of(words[1]), of(words[2])
        assert evens["Status"] == int(answer[1], 16), line
        close([{**evens, **odds}["Gauge%d" % i] for i in range(6)], answer[3:9])
    elif words[0] == "row":
        close(of(words[2], int(words[1])).values(), answer)
    elif words[0] == "serial":
        letters = int(of(words[1])["Letters"]).to_bytes(8, "big").decode("latin1")
        letters = "".join(c if " " <= c <= "~" else " " if c == "\0" else "?" for c in letters).rstrip()
        assert letters == right[1:], line
    elif words[0] == "units":
        got = of(words[1])
        close([FORCE.get(int(got["Force"]), 0), TORQUE.get(int(got["Torque"]), 0)], answer)
    elif words[0] == "firmware":
        got = of(words[1])
        close([got["Major"], got["Minor"], got["Build"]], right[1:].split("."))
    else:
        close(of(words[1]).values(), answer)
    compared += 1
assert compared == 35 and set(frames) == {0x200 | o for o in OPCODES}, compared
PYTHON
)

lib_case 'page and file agree' agrees "$dbc_file"
lib_case 'another byte order' differs 's/23|16@0-/16|16@1-/'
lib_case 'no sign' differs 's/39|16@0-/39|16@0+/'
lib_case 'evens and odds exchanged' differs 's/Gauge4/Gauge5/'
lib_case 'integers in the matrix' differs '/SIG_VALTYPE_ 515 Gauge3/d'
lib_case 'force and torque exchanged' differs 's/Force : 7|8/Torx : 7|8/; s/Torque : 15/Force : 15/; s/Torx/Torque/'
lib_case 'another identifier' differs 's/BO_ 519/BO_ 521/'
lib_case 'another length' differs 's/Odds: 6/Odds: 8/'
lib_end

#!/bin/bash
# hw-docs/devices/hubo.dbc agrees with the vectors of its page.
set -eu
. test/lib/dbc.sh hubo

dbc_comparison=$(
	cat <<'PYTHON'
NAMES = {"one": 0, "two": 0, "neck": 2, "wrist": 4, "hand": 4}
FLAGS = ["Driver", "Control", "CurrentMode", "LimitSwitch", "Jam", "Saturated", "BigError", "EncoderError",
         "DriverFault", "Fail0_", "Fail1_", "BelowLower", "AboveUpper", "Velocity", "Acceleration",
         "Temperature"]
seen = set()


def of(text, number=None):
    """As the message of this identifier; shorter frames are filled up."""
    own, data = text.split("#")
    frame = frames[int(own, 16) if number is None else number]
    seen.add(frame.arbitration_id.id)
    return {n: float(s.phys_value) for n, s in frame.decode(bytes.fromhex(data).ljust(frame.size, b"\0")).items()}


def same(got, wanted):
    assert len(got) == len(wanted) and all(abs(g - float(w)) < 6e-4 for g, w in zip(got, wanted)), (line, got, wanted)


def signed(got, motor):
    return got["Size%d" % motor] * (1 - 2 * got["Negative%d" % motor])


for line in block.splitlines():
    left, right = line.split(" = ")
    words = left.split()
    if right in ("EMSGSIZE", "ERANGE", "EINVAL"):
        continue
    if words[0] == "reference" and words[1] in ("two", "wrist"):
        got = of(right, 0x10 if words[1] == "two" else 0x34)
        numbers = [w for w in words[3:] if w != "repeat"]
        same([signed(got, i) for i in range(len(numbers))], numbers)
    elif words[0] == "reference" and words[1] == "neck":
        same(list(of(right, 0x32).values()), words[3:])
    elif words[0] == "command":
        got = of(right)
        assert got["Board"] == int(words[2], 16) and "%02X" % int(got["Code"]) == right[6:8], line
    elif words[0] == "sensor":
        got = of(right)
        assert got["Sensor"] == int(words[1]) and got["What"] == {"force": 0x12, "tilt": 0x22, "imu": 0}[words[2]], line
    elif words[0] == "encoders" and words[1] in ("two", "neck") or right.startswith("0: ") and words[1] == "hand":
        same(list(of(words[2], {"two": 0x60, "neck": 0x82, "hand": 0x84}[words[1]]).values()), right[3:].split())
    elif words[0] == "status" and words[1] == "two":
        got = of(words[2])
        for motor, wanted in enumerate(right.split()):
            flags, home = (int(x, 16) for x in wanted.split("/"))
            assert got["Home%d" % motor] == home, line
            assert sum(int(got[n + str(motor)]) << i for i, n in enumerate(FLAGS)) == flags, line
    elif words[0] == "status" and words[1] == "hand":
        same(list(of(words[2]).values()), [int(x.split("/")[0], 16) for x in right.split()])
    elif words[0] == "currents" and words[1] == "two":
        got = of(words[2])
        same([got["High0"] + got["Low0"], got["High1"] + got["Low1"], got["Temperature"]], right.split())
    elif words[0] == "currents" and words[1] == "hand":
        same(list(of(words[2]).values()), right.split()[:5])
    elif words[0] in ("force", "tilt", "imu", "power"):
        same(list(of(words[1]).values()), right.split())
    else:
        continue
    compared += 1
assert seen == set(frames), set(frames) - seen
assert compared == 68, compared
PYTHON
)

lib_case 'page and file agree' agrees "$dbc_file"
lib_case 'another scale' differs 's/Fz : 32|16@1- (0.1/Fz : 32|16@1- (0.01/'
lib_case 'no sign' differs 's/My : 16|16@1-/My : 16|16@1+/'
lib_case 'a sign elsewhere' differs 's/Negative1 : 47/Negative1 : 46/'
lib_case 'two flags exchanged' differs 's/Jam0 : 8/X : 8/; s/Saturated0 : 9/Jam0 : 9/; s/ X : 8/ Saturated0 : 8/'
lib_case 'another identifier' differs 's/BO_ 110/BO_ 111/'
lib_case 'another byte order' differs 's/Motor1 : 32|32@1-/Motor1 : 39|32@0-/'
lib_end

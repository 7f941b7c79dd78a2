#!/bin/bash
# hw-docs/devices/pylon.dbc and orion.dbc agree with the vectors of hw-docs/devices/bms.md.
set -eu
. test/lib/dbc.sh bms

dbc_comparison=$(
	cat <<'PYTHON'
kind = "orion" if 0x36 in frames else "pylon"
ALARMS = (("OverVoltage", 1), ("UnderVoltage", 2), ("OverTemperature", 4), ("UnderTemperature", 8),
          ("DischargeCurrent", 16), ("ChargeCurrent", 16), ("System", 128), ("System2", 128))


def exactly(text):
    number, data = text.split("#")
    number, data = int(number, 16), bytes.fromhex(data)
    size = frames[number].size
    assert size == len(data) or (number, len(data)) in ((0x351, 6), (0x355, 6)), text
    return number, {n: float(s.phys_value) for n, s in frames[number].decode(data.ljust(size, b"\0")[:size]).items()}


def close(got, wanted, within=1e-6):
    assert all(abs(g - float(w)) < within for g, w in zip(got, wanted)) and len(got) == len(wanted), (line, got, wanted)


def alarms(of, prefix):
    bits = 0
    for name, bit in ALARMS:
        bits |= bit if of[prefix + name] else 0
    return bits


for line in block.splitlines():
    left, right = line.split(" = ")
    words, answer = left.split(), right.split()
    if words[0] == "keep-alive" and kind == "pylon":
        assert exactly(right) == (0x305, {"Zero": 0}), line
        compared += 1
    if words[0] != kind or right in ("nothing", "checksum", "length") or words[1].startswith("136"):
        continue
    got = dict(map(exactly, words[1:]))
    value = {a: i for i, a in enumerate(answer)}
    of = lambda key, n=1: answer[value[key] + 1:value[key] + 1 + n]
    if kind == "orion":
        c = got[0x36]
        close([c["Cell"], c["Voltage"], c["OpenVoltage"], c["Resistance"] / 1000],
              of("cell") + of("voltage") + of("open") + of("resistance"))
        assert c["Shunting"] == (of("shunting") == ["yes"]), line
        data = bytes.fromhex(words[1].split("#")[1])
        assert c["Checksum"] == (0x36 + 8 + sum(data[:7])) % 256, line
    else:
        limits, charge, measured, a = got[0x351], got[0x355], got[0x356], got[0x359]
        close([abs(limits["ChargeLimit"]), abs(limits["DischargeLimit"])], of("limits", 2))
        close([measured["Voltage"], measured["Current"], measured["Temperature"] + 273.15],
              of("voltage") + of("current") + of("temperature"))
        close([charge["Charge"] / 100], of("charge"), 0.01)
        assert of("health") == ["nan" if charge["Health"] > 100 else "%.2f" % (charge["Health"] / 100)], line
        p = got.get(0x35C, {"Charge": 1, "Discharge": 1})
        refused = (0 if p["Charge"] else 32) | (0 if p["Discharge"] else 64)
        assert of("alarms", 3) == ["%02x" % x for x in (alarms(a, ""), alarms(a, "Warn"), refused)], (line, a)
    compared += 1
assert compared == {"pylon": 6, "orion": 2}[kind], compared
PYTHON
)

dbc_file=hw-docs/devices/pylon.dbc
lib_case 'pylon: page and file agree' agrees "$dbc_file"
lib_case 'pylon: another byte order' differs 's/Current : 16|16@1-/Current : 23|16@0-/'
lib_case 'pylon: no sign' differs 's/Current : 16|16@1-/Current : 16|16@1+/'
lib_case 'pylon: another factor' differs 's/(0.01,0)/(0.1,0)/'
lib_case 'pylon: another bit' differs 's/ UnderVoltage : 2|/ UnderVoltage : 5|/'
lib_case 'pylon: permits exchanged' differs 's/ Discharge : 6|/ Discharge : 5|/'
lib_case 'pylon: another identifier' differs 's/BO_ 857/BO_ 858/'
dbc_file=hw-docs/devices/orion.dbc
lib_case 'orion: page and file agree' agrees "$dbc_file"
lib_case 'orion: another byte order' differs 's/ Voltage : 15|16@0+/ Voltage : 8|16@1+/'
lib_case 'orion: the flag in the resistance' differs 's/30|15@0+/31|16@0+/'
lib_case 'orion: another place' differs 's/47|16/39|16/'
lib_end

"""test_pcio_dbc.py PAGE DBC MODULE...: the page's vectors and tables, decoded by canmatrix with a DBC file that
describes the modules.  Shares nothing with the codec.  A line for each difference, then how much was compared."""
import re
import struct
import sys

import canmatrix.formats

COMMANDS = {"reset": 0, "home": 1, "halt": 2, "watchdog": 7, "set": 8, "get": 10, "move": 11, "start": 15}
MOTIONS = {"ramp": 4, "step": 6, "velocity": 7, "current": 8}
MOTIONS.update({name + "+state": number + 10 for name, number in list(MOTIONS.items())})
FORMS = {"f32": "<f", "u8": "<B", "u16": "<H", "i16": "<h", "u32": "<I", "i32": "<i"}

differences = 0
compared = 0


def compare(where, what, expected, got):
    global differences, compared
    compared += 1
    if expected != got:
        differences += 1
        print(f"{where}: {what}: the page says {expected}, the DBC file {got}")


def camel(name):
    return "".join(word.capitalize() for word in re.split("[- ]", name))


def section(page, name):
    body = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
    lines = [line for line in body.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def single(text):
    """As a module would round it."""
    return struct.unpack("<f", struct.pack("<f", float(text)))[0]


class Bus:
    def __init__(self, path):
        self.frames = {}
        for matrix in canmatrix.formats.loadp(path).values():
            for frame in matrix.frames:
                self.frames[frame.arbitration_id.id] = frame

    def decode(self, number, data):
        """The signals; bits past the frame's end are 0, for the file knows one length only."""
        return self.frames[number].decode(data.ljust(8, b"\0"))


def values(signals):
    return {name: signal.raw_value for name, signal in signals.items()}


def word_of(signals, prefix):
    """A word from the one-bit signals it was cut into."""
    return sum(s.raw_value << (s.signal.start_bit - 16) for n, s in signals.items() if n.startswith(prefix))


def named_bits(rows):
    return sum(1 << int(row[0]) for row in rows)


class Page:
    def __init__(self, path):
        text = open(path, encoding="utf-8").read()
        self.parameters = {row[1]: row for row in section(text, "Parameters")}
        self.bits = {"state": section(text, "State word"), "config": section(text, "Config word")}
        self.shorts = section(text, "Short state")
        block = text.split("```vectors\n")[1].split("```")[0]
        self.vectors = [line for line in block.splitlines() if not line.startswith("#")]


def parameter(where, page, signals, name, text):
    if name in page.bits:
        compare(where, name, int(float(text)) & named_bits(page.bits[name]), word_of(signals, camel(name)))
        return
    real = page.parameters[name][2] == "f32"
    compare(where, name, single(text) if real else int(text), values(signals)[camel(name)])


def said(where, page, frame, words, request):
    """A frame and the words of the page for it: MODULE COMMAND [NAME] ..."""
    number, data = int(frame.split("#")[0], 16), bytes.fromhex(frame.split("#")[1])
    module, command, rest = words[0], words[1], words[2:]
    base = 0x0A0 if not request else 0x0C0 if command == "get" else 0x0E0
    compare(where, "identifier", 0x100 if module == "all" else base + int(module), number)
    signals = BUS.decode(number, data)
    got = values(signals)
    compare(where, "command", COMMANDS[command], got["Command"])
    if command in ("get", "set"):
        compare(where, "parameter", int(page.parameters[rest[0]][0], 16), got[camel(command) + "Parameter"])
    if command == "move":
        compare(where, "motion", MOTIONS[rest[0]], got["Motion"])
    if len(rest) > 1 and rest[1] == "status":
        compare(where, "status", int(rest[2], 16), got["MoveStatus" if command == "move" else "SetStatus"])
    elif command in ("get", "set") and len(rest) > 1:
        parameter(where, page, signals, rest[0], rest[1])
    elif command == "move" and request:
        unit = {"ramp": "Position", "step": "Position"}.get(rest[0].split("+")[0], camel(rest[0].split("+")[0]))
        compare(where, "value", single(rest[1]), got["Move" + unit])
        if "ms" in rest:
            compare(where, "time", int(rest[3]), round(signals["MoveTime"].phys_value * 1000))
    elif command == "move":
        compare(where, "position", single(rest[1]), got["MovePosition"])
        short = sum(got["Short" + camel(row[1])] << int(row[0]) for row in page.shorts)
        compare(where, "short state", int(rest[3], 16), short)
        compare(where, "inputs, outputs", [int(rest[5], 16), int(rest[7], 16)], [got["Inputs"], got["Outputs"]])


def vectors(page):
    for line in page.vectors:
        left, right = [part.strip() for part in re.split(" = ?", line, maxsplit=1)]
        words = left.split()
        if re.match("E[A-Z]+$", right):
            continue
        try:
            if words[0] == "encode":
                said(line, page, right, words[1:], True)
            elif words[0] == "decode":
                said(line, page, words[1], right.split(), False)
        except KeyError as error:
            compare(line, "signal", str(error), "none")


def tables(page, modules):
    """Every parameter of the page as a reply, and as a setting if it is one; nothing else in the file."""
    for module in modules:
        expected = set("Command SetParameter SetStatus GetParameter Motion MoveStatus MovePosition Inputs Outputs".split())
        settings = set("Command SetParameter Motion MovePosition MoveVelocity MoveCurrent MoveTime".split())
        for name, (number, _, kind, unit, settable) in page.parameters.items():
            value = 2.75 if kind == "f32" else 0x7A if kind == "u8" else -0x1234 if kind[0] == "i" else 0x7B3C
            data = bytes([10, int(number, 16)]) + struct.pack(FORMS[kind], value)
            names = [camel(name)]
            if name in page.bits:
                names = [camel(name) + camel(row[1]) for row in page.bits[name]]
            signals = BUS.decode(0x0A0 + module, data)
            compare(f"0A0 + {module} {name}", "signals", set(names) | {"Command", "GetParameter"}, set(signals))
            parameter(f"0A0 + {module}", page, signals, name, str(value))
            if name not in page.bits:
                compare(f"0A0 + {module} {name}", "unit", unit, signals[camel(name)].signal.unit)
            expected |= set(names)
            if settable:
                settings |= set(names)
                signals = BUS.decode(0x0E0 + module, b"\x08" + data[1:])
                parameter(f"0E0 + {module}", page, signals, name, str(value))
        expected |= {"Short" + camel(row[1]) for row in page.shorts}
        compare(f"0A0 + {module}", "all signals", expected, {s.name for s in BUS.frames[0x0A0 + module].signals})
        compare(f"0E0 + {module}", "all signals", settings, {s.name for s in BUS.frames[0x0E0 + module].signals})


def bits(page):
    for name, rows in page.bits.items():
        for row in rows:
            data = bytes([10, int(page.parameters[name][0], 16)]) + struct.pack("<I", 1 << int(row[0]))
            got = values(BUS.decode(0x0A0 + MODULES[0], data))
            on = [signal for signal in got if signal.startswith(camel(name)) and got[signal]]
            compare(f"{name} bit {row[0]}", "name", [camel(name) + camel(row[1])], on)


PAGE = Page(sys.argv[1])
BUS = Bus(sys.argv[2])
MODULES = [int(module) for module in sys.argv[3:]]
ids = {base + module for base in (0x0A0, 0x0C0, 0x0E0) for module in MODULES} | {0x100}
compare("the file", "identifiers", ids, set(BUS.frames))
if set(MODULES) == set(range(1, 32)):
    vectors(PAGE)
bits(PAGE)
tables(PAGE, MODULES)
print(f"{compared} compared, {differences} differ")
sys.exit(differences > 0 or compared < 200)

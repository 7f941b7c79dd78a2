#!/bin/bash
# test_canopen_tshark.sh: what our CANopen code writes, as the dissector of Wireshark reads it.
set -eu
. test/scripts/lib.sh

lib_tmp
say=${BUILD:-build}/test/can/canopen/canopen_say
seed=${TEST_SEED:-$RANDOM}

if ! command -v tshark >/dev/null; then
	lib_ignore canopen_tshark "tshark is not installed"
	lib_end
	exit
fi

# capture: a capture file of the frames.
capture() {
	python3 - "$lib_folder/said" "$lib_folder/frames.pcap" <<'END'
import struct, sys

CAN_SOCKETCAN = 227
with open(sys.argv[2], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, CAN_SOCKETCAN))
    for n, line in enumerate(open(sys.argv[1])):
        ident, data = line.split()[0].split("#")
        data = bytes.fromhex(data)
        frame = struct.pack(">IBBBB", int(ident, 16), len(data), 0, 0, 0) + data
        out.write(struct.pack("<IIII", n, 0, len(frame), len(frame)) + frame)
END
}

# agrees [SED]: said and read are the same; with SED what was said is changed before.
agrees() {
	"$say" "$seed" | sed -E "${1:-}" >"$lib_folder/said"
	capture
	python3 - "$lib_folder" "$seed" <<'END'
import subprocess, sys

folder, seed = sys.argv[1:]
said = [line.split() for line in open(f"{folder}/said")]
keys = sorted({pair.split("=")[0] for line in said for pair in line[1:]})
command = ["tshark", "-r", f"{folder}/frames.pcap", "-d", "can.subdissector,canopen"]
command += ["-T", "fields", "-E", "separator=;"]
for key in keys:
    command += ["-e", "canopen." + key]
run = subprocess.run(command, capture_output=True, text=True, check=True)
read = [dict(zip(keys, line.split(";"))) for line in run.stdout.splitlines()]
assert len(read) == len(said) > 200, f"{len(read)} frames of {len(said)}"
for line, got in zip(said, read):
    for key, value in (pair.split("=") for pair in line[1:]):
        number = lambda text: int(text, 16 if text.startswith("0x") else 10)
        # The dissector shows bytes that do not count, too, and says how many (n).
        same = got[key].startswith(value) if "bytes" in key else got[key] and number(got[key]) == number(value)
        if not same:
            sys.exit(f"TEST_SEED={seed}: {line[0]}: {key} is {got[key]}, not {value}")
END
}

differs() { ! agrees "$1" >/dev/null 2>&1; }

lib_case 'the dissector reads what was written' agrees
lib_case 'another index is noticed' differs 's/sdo.main_idx=0x/&1/'
lib_case 'another command is noticed' differs 's/nmt_ctrl.cd=0x80/nmt_ctrl.cd=0x81/'
lib_case 'another length is noticed' differs 's/sdo.n=3/sdo.n=2/'
lib_case 'other bytes are noticed' differs 's/sdo.data.bytes=0/sdo.data.bytes=1/'
lib_end

#!/bin/bash
# vm_joyd.sh: joyd and a joystick of the kernel's uinput, which moves a simulated turntable.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH ENDPLATE_PREFIX=vmjoyd.
pad=$lib_folder/pad

says() { [[ $(ach echo "$ENDPLATE_PREFIX$1-state" --last) == *"$2"* ]]; } # DEVICE TEXT: in the newest state
velocity() { ach echo "${ENDPLATE_PREFIX}table-state" --last | awk '/^velocity/ { print $3 }'; }
turns() { awk '{ exit !($1 > 0.1) }' <<<"$(velocity)"; }
rests() { awk '{ exit !($1 < 0.001 && $1 > -0.001) }' <<<"$(velocity)"; }

# Makes a joystick and sends the events that are written to the FIFO, as TYPE CODE VALUE, until its end.  Its event
# device is linked to $lib_folder/joystick.
joystick() {
	python3 - "$pad" "$lib_folder/joystick" <<'PYTHON'
import fcntl, glob, os, struct, sys

EV_KEY, EV_ABS, ABS_X, ABS_Y, BTN_TL, BTN_EAST = 1, 3, 0, 1, 0x136, 0x131
ui = os.open("/dev/uinput", os.O_WRONLY)
for bit in EV_KEY, EV_ABS:
    fcntl.ioctl(ui, 0x40045564, bit)  # UI_SET_EVBIT
for key in BTN_TL, BTN_EAST:
    fcntl.ioctl(ui, 0x40045565, key)  # UI_SET_KEYBIT
for axis in ABS_X, ABS_Y:
    fcntl.ioctl(ui, 0x40045567, axis)  # UI_SET_ABSBIT
    fcntl.ioctl(ui, 0x401C5504, struct.pack("=HHiiiiii", axis, 0, 0, -128, 127, 0, 0, 0))  # UI_ABS_SETUP
fcntl.ioctl(ui, 0x405C5503, struct.pack("=HHHH80sI", 3, 1, 2, 3, b"joystick", 0))  # UI_DEV_SETUP
fcntl.ioctl(ui, 0x5501)  # UI_DEV_CREATE
name = bytearray(64)
fcntl.ioctl(ui, 0x8040552C, name)  # UI_GET_SYSNAME
sysname = name.split(b"\0")[0].decode()
event = os.path.basename(glob.glob(f"/sys/devices/virtual/input/{sysname}/event*")[0])
os.symlink(f"/dev/input/{event}", sys.argv[2] + ".new")
os.rename(sys.argv[2] + ".new", sys.argv[2])
with open(sys.argv[1], encoding="utf-8") as commands:
    for line in commands:
        for words in line.split(), (0, 0, 0):
            os.write(ui, struct.pack("qqHHi", 0, 0, *(int(word, 0) for word in map(str, words))))
PYTHON
}
plug() {
	rm -f "$pad"
	mkfifo "$pad"
	joystick >"$lib_folder/pad.log" 2>&1 &
	exec {pen}>"$pad"
	vm_until says stick 'state = ready'
}
unplug() { exec {pen}>&-; }
event() { echo "$*" >&"$pen"; }
hold() { event 1 0x136 "$1"; }
stick() { event 3 1 "$1"; }

begin() {
	modprobe -a uinput evdev || { lib_ignore joyd "no uinput here"; exit 0; }
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	cat >"$lib_folder/robot.yaml" <<-END
		robot: test
		buses: {table: {interface: vcan3}}
		devices:
		  table: {driver: exampled, bus: table, settings: {tick: 20ms}, limits: {velocity: 2, acceleration: 4}}
		  stick:
		    driver: joyd
		    # an emulated machine is slow
		    settings: {output: table, source: none, device: $lib_folder/joystick, axes: [table=ABS_Y*-1],
		      idle: 60s, frozen: 1s, tick: 20ms}
	END
	robotsim run "$lib_folder/robot.yaml" >"$lib_folder/sim" 2>&1 &
	exampled --name table --config "$lib_folder/robot.yaml" >"$lib_folder/table" 2>&1 &
	joyd --name stick --config "$lib_folder/robot.yaml" >"$lib_folder/joyd" 2>&1 &
	vm_until says table 'common.lifecycle = disarmed'
	vm_until says stick 'state = absent'
	plug
	vm_until achctl arm --unsupervised
	vm_until says table 'common.lifecycle = holding'
}

test_joystick() {
	begin
	stick -128
	hold 1
	vm_until says stick 'state = refused' # not centred
	stick 0
	vm_until says stick 'state = in-charge'
	stick -128
	vm_until turns
	hold 0
	vm_until says stick 'state = ready'
	vm_until rests
	vm_until says table 'common.lifecycle = holding'
	stick 0
	hold 1
	vm_until says stick 'state = in-charge'
	stick -128
	vm_until turns
	unplug # while it is held
	vm_until says stick 'state = absent'
	vm_until rests
	plug
	stick 0
	vm_until says table 'common.lifecycle = holding'
	event 1 0x131 1 # stop
	event 1 0x131 0
	vm_until says table 'common.level = estop'
}

lib_functions "$lib_folder/log" "${1:-}"

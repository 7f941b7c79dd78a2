#!/bin/bash
# The driver and a simulated ODrive on a soft wire, armed by hand; then the same robot killed on the virtual clock.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. "${ENDPLATE_KIT:-.}/test/lib/device.sh"
device_robot odrive odrive odrive.yaml

# ---- words for the tests ----

near() { awk -v is="$(field "$1")" -v to="$2" -v by="$3" 'BEGIN { exit !(is - to < by && to - is < by) }'; }
drive() { robotsim report odrive.0 | grep -oE "\\b$1 [^ ,]+" | cut -d' ' -f2; }
drive_is() { [ "$(drive "$1")" = "$2" ]; }
restart() { # INCARNATION
	start odrived --set lock_memory=no
	lib_until is header.incarnation "$1"
	lib_until lib_not is common.lifecycle starting
}
follow() { # MODE VALUE: a reference, again and again, from now on
	ach put "${p}odrive-ref" --json "{\"mode\":[\"$1\"],\"$1\":[$2]}" --valid 20 --hz 200 2>>"$lib_folder/said" &
	controller=$!
	started+=("$controller")
}
unfollow() {
	kill "$controller"
	wait "$controller" || true
}
killed() {
	kill -KILL "$driver"
	wait "$driver" 2>/dev/null || true
}

# ---- one life, in order ----

begin 'found, disarmed, idle'
restart 1
lib_until is common.lifecycle disarmed
lib_until near position 1 0.001
drive_is state 1

begin 'its version and its watchdog were asked for'
logged 'info: disarmed'
lib_not logged 'watchdog'

begin 'armed: its loop is closed where it stands'
lib_until achctl arm --unsupervised >/dev/null 2>&1
lib_until is common.lifecycle holding
lib_until drive_is state 8
lib_until is status enabled
drive_is position 1.000000

begin 'follows a position'
follow position 3
lib_until near position 3 0.002
unfollow

begin 'follows a velocity'
follow velocity 2
lib_until near velocity 2 0.02
unfollow
lib_until near velocity 0 0.01
lib_until is common.lifecycle holding

begin 'idle at the e-stop, closed again when it is armed'
achctl estop >/dev/null
lib_until drive_is state 1
lib_until is common.lifecycle disarmed
lib_until achctl arm --unsupervised >/dev/null 2>&1
lib_until drive_is state 8
lib_until is common.lifecycle holding

begin 'killed for long: its watchdog disarms it, the next driver clears that'
killed
lib_until drive_is state 1
drive_is errors 0x1000000
restart 2
lib_until drive_is state 8
drive_is errors 0x0
lib_until is status enabled
is common.lifecycle holding
lib_not logged 'axis-error\|errors:'

begin 'an error is a fault, in words, until a person clears it'
robotsim fault odrive.0 over-current
lib_until is common.lifecycle fault
lib_until logged 'the drive is in state 1, errors: over-current'
lib_until logged 'it was disarmed for: over-current'
achctl request odrive clear 2>&1 | grep -q over-current # it is still there
robotsim fault --clear odrive.0 over-current
drive_is state 1
is common.lifecycle fault
achctl request odrive clear >/dev/null
lib_until is status enabled
lib_until is common.lifecycle holding

begin 'silence is a fault, and no end'
robotsim fault odrive.0 silent
lib_until is common.lifecycle fault
lib_until logged 'the encoder of the drive has been silent'
robotsim fault --clear odrive.0 silent
lib_until is common.lifecycle holding

begin 'another program is noticed'
printf '(0.000000) odrive 007#01000000\n' >"$lib_folder/other.log"
canreplay --map odrive=wire:odrive "$lib_folder/other.log" >/dev/null
lib_until logged 'another program sends 0x007'
lib_until logged 'the drive is in state 1, errors: none'
achctl request odrive clear >/dev/null
lib_until is common.lifecycle holding

begin 'idle when it is asked to stop'
stop
lib_until is common.lifecycle down
lib_until drive_is state 1
begin 'on the virtual clock, killed at full speed: taken over without a jump'

# ---- on the virtual clock ----

kill -KILL "${started[@]}" 2>/dev/null || true
wait 2>/dev/null || true
here=$PWD
export ENDPLATE_RUN=$lib_folder/virtual ENDPLATE_PREFIX=${p}v-
cat >"$lib_folder/killed.launch" <<LAUNCH
include: $here/odrive.yaml
clock: none
arm: auto
daemons:
  canwire:
  robotsim:
  record: {program: canrecord, needs: canwire, args: [-o, $lib_folder/wire.log, "wire:odrive"]}
  odrive: {object: $here/odrived.so}
  put:
    program: ach
    needs: odrive
    alive: process
    args: [put, ${p}v-odrive-ref, --json, '{"mode":["position"],"position":[60]}', --valid, 20, --hz, 100]
LAUNCH
achstart --virtual --kill odrive@1.5s --for 2.5s "$lib_folder/killed.launch" >>"$lib_folder/driver" 2>&1
grep -q 'odrive.: ready .*, incarnation 2' "$lib_folder/driver"
python3 - "$lib_folder/wire.log" <<'PYTHON'
import re
import struct
import sys

TURNS_S = 6 / 6.2832
frames = [(float(t), int(i, 16), bytes.fromhex(data))
          for t, i, data in re.findall(r"\(([0-9.]+)\) \S+ (\w{3})#([0-9A-F]*)$", open(sys.argv[1]).read(), re.M)]
closed = [t for t, i, data in frames if i == 0x001 and data[4] == 8]
inputs = [(t, struct.unpack("<f", data[:4])[0]) for t, i, data in frames if i == 0x00C]
steps = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(inputs[1:], inputs[2:])]
assert len(closed) > 20 and all(data[4] == 8 for t, i, data in frames if i == 0x001 and t > closed[0])
assert [i for t, i, data in frames if i == 0x007] == [0x007], "the loop was closed once"
assert max(dt for dt, step in steps) < 0.03 and max(step for dt, step in steps) > 0.8 * TURNS_S * 0.005
for dt, step in steps:
    assert abs(step) <= TURNS_S * dt + 0.002, (dt, step)
PYTHON
begin end

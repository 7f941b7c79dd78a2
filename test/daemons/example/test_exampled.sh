#!/bin/bash
# The smallest driver and a simulated turntable on a soft wire, armed by hand.  With OBJECT=FILE.so drvhost runs the
# driver.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. "${ENDPLATE_KIT:-.}/test/lib/device.sh"
device_robot table table daemons/example/table.yaml

# ---- words for the tests ----

near() { awk -v is="$(field "$1")" -v to="$2" -v by="$3" 'BEGIN { exit !(is - to < by && to - is < by) }'; }
# Of the turntable itself.
table_near() {
	robotsim report table.1 | tr -d '\n,' | awk -v to="$2" -v by="$3" -v key="$1" '
		{ for (i = 1; i < NF; i++) if ($i == key) is = $(i + 1) }
		END { exit !(is != "" && is - to < by && to - is < by) }'
}

restart() { # INCARNATION
	# shellcheck disable=SC2086 # two words
	start ${OBJECT:+drvhost }${OBJECT:-exampled} --set lock_memory=no
	lib_until is header.incarnation "$1"
	lib_until lib_not is common.lifecycle starting
}

level() { # LEVEL: without achstart
	case $1 in
	run) lib_until achctl arm --unsupervised >/dev/null 2>&1 ;;
	*) achctl "$1" >/dev/null ;;
	esac
}

follow() { # MODE VALUE: a reference, again and again, from now on
	ach put "${p}table-ref" --json "{\"mode\":[\"$1\"],\"$1\":[$2]}" --valid 20 --hz 200 2>>"$lib_folder/said" &
	controller=$!
	started+=("$controller")
}

unfollow() {
	kill "$controller"
	wait "$controller" || true
}

more() { [ "$(field "$1")" -gt "$2" ]; }

# ---- one life, in order ----

begin 'found, and disarmed'
restart 1
lib_until is common.lifecycle disarmed
lib_until is common.level estop
lib_until near position 0 0.001
lib_until is header.flags simulated

begin 'nothing moves disarmed'
follow velocity 1
lib_until more common.refs_taken 20
lib_until is common.lifecycle disarmed
lib_until table_near velocity 0 0.0001
lib_until table_near position 0 0.0001
unfollow

begin 'armed by hand'
level run
lib_until is common.lifecycle holding
lib_until is common.epoch 1
lib_until near velocity 0 0.001

begin 'follows a velocity'
follow velocity 0.5
lib_until near velocity 0.5 0.002
lib_until table_near velocity 0.5 0.002
lib_until is common.lifecycle active

begin 'holds without a reference'
unfollow
lib_until is common.lifecycle holding
lib_until near velocity 0 0.001

begin 'follows a position'
follow position 3
lib_until near position 3 0.001
lib_until near velocity 0 0.001
unfollow
follow position -0.25
lib_until table_near position -0.25 0.001
unfollow

begin 'stops at the e-stop'
follow velocity 1
lib_until near velocity 1 0.002
level estop # the same epoch: a raise
lib_until is common.lifecycle disarmed
lib_until table_near velocity 0 0.0001
level run
lib_until near velocity 1 0.002
unfollow

begin 'its own watchdog stops it when the driver is killed'
follow velocity 1
lib_until near velocity 1 0.002
kill -KILL "$driver"
wait "$driver" || true
lib_until table_near velocity 0 0.0001

# The controller goes on as if nothing had happened: its references are for the one before.
begin 'references for its predecessor are not taken'
restart 2
lib_until is common.lifecycle holding # armed, as it was before
lib_until more common.refs_refused.other_incarnation 20
lib_until is common.refs_taken 0
lib_until table_near velocity 0 0.0001
unfollow
follow velocity 1
lib_until near velocity 1 0.002
lib_until is header.incarnation 2
unfollow

begin 'silence is a fault, and no end'
robotsim fault table.1 silent
lib_until is common.lifecycle fault
lib_until is header.flags 'partial|simulated'
lib_until logged "the turntable has been silent"
robotsim fault --clear table.1 silent
lib_until is common.lifecycle holding

# On the wire: within its limit, 20 mrad/s in a tick, and the last word is 0.
begin 'braked when it is asked to stop'
lib_until near velocity 0 0.001
canwire dump table --as logger >"$lib_folder/dump" &
dumper=$!
started+=("$dumper")
lib_until test -s "$lib_folder/dump"
follow velocity 1
lib_until near velocity 1 0.002
stop
lib_until is common.lifecycle down
lib_until table_near velocity 0 0.0001
unfollow
kill "$dumper"
wait "$dumper" || true
python3 - "$lib_folder/dump" <<'PYTHON'
import re
import sys

turns = [(float(t), int.from_bytes(bytes.fromhex(data), "little", signed=True))
         for t, data in re.findall(r"\(([0-9.]+)\) \S+ 211#([0-9A-F]{4})$", open(sys.argv[1]).read(), re.M)]
values = [value for _, value in turns]
assert max(values) == 1000 and min(values) >= -20 and values[-1] == 0, values
for (t0, before), (t1, after) in zip(turns, turns[1:]):
    if t1 - t0 >= 0.05 and after == 0:
        continue  # the driver was held up for so long that it begins again at rest
    ticks = int((t1 - t0) / 0.005) + 1  # more than one where the machine was too busy to send
    assert abs(after - before) <= 20 * ticks, (before, after, t1 - t0)
PYTHON
begin end

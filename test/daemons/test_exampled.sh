#!/bin/bash
# The smallest driver and a simulated turntable on a soft wire, armed by hand.
# shellcheck disable=SC2317 # called by name
set -eu
cd "$(dirname "$0")/../.."
. test/scripts/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
PATH=$build:$PATH
export ENDPLATE_RUN=$lib_folder/run XDG_RUNTIME_DIR=$lib_folder ENDPLATE_PREFIX=t$$-
unset NOTIFY_SOCKET
p=$ENDPLATE_PREFIX
started=() step=

# One story, told in order: what follows a step that failed would mean nothing.
begin() {
	[ -z "$step" ] || lib_case "$step" true
	step=$1
}

end() {
	[ "$step" = end ] || { lib_case "$step" false; cat "$lib_folder/driver"; }
	kill -KILL "${started[@]}" 2>/dev/null || true
	wait 2>/dev/null
	rm -rf "$lib_folder" /dev/shm/ach*-"$p"*
	lib_end
}
trap end EXIT

cat >"$lib_folder/lab.yaml" <<'ROBOT'
robot: lab
buses:
  table: {interface: wire:table}
devices:
  table:
    driver: exampled
    bus: table
    settings: {lock_memory: no}
    limits: {velocity: 2, acceleration: 4}
ROBOT
canwire run --outage 0 table 2>"$lib_folder/canwire" &
started+=($!)
robotsim run "$lib_folder/lab.yaml" 2>"$lib_folder/robotsim" &
started+=($!)

# ---- words for the tests; a minute is longer than anything here takes ----

patiently() { # COMMAND...: until it succeeds
	local i
	for ((i = 0; i < 3000; i++)); do
		! "$@" 2>>"$lib_folder/said" || return 0
		sleep 0.02
	done
	echo "never: $*"
	ach echo "${p}table-state" --last | grep -v 'bus\['
	return 1
}

field() { ach echo "${p}table-state" --last | sed -n "s/^$1 = \([^ ]*\).*/\1/p"; }
is() { [ "$(field "$1")" = "$2" ]; }
told() { ach echo "${p}table-event" --last | grep -q "$1"; }
near() { awk -v is="$(field "$1")" -v to="$2" -v by="$3" 'BEGIN { exit !(is - to < by && to - is < by) }'; }
# Of the turntable itself.
table_near() {
	robotsim report table.1 | tr -d '\n,' | awk -v to="$2" -v by="$3" -v key="$1" '
		{ for (i = 1; i < NF; i++) if ($i == key) is = $(i + 1) }
		END { exit !(is != "" && is - to < by && to - is < by) }'
}

start() {
	exampled --name table --config "$lib_folder/lab.yaml" 2>>"$lib_folder/driver" &
	driver=$!
	started+=("$driver")
	patiently is header.incarnation "$1"
	patiently lib_not is common.lifecycle starting
}

stop() {
	kill "$driver"
	wait "$driver"
}

level() { # LEVEL: without achstart
	case $1 in
	run) patiently achctl arm --alone >/dev/null 2>&1 ;;
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
start 1
patiently is common.lifecycle disarmed
patiently is common.level estop
patiently near position 0 0.001
patiently is header.flags simulated

begin 'nothing moves disarmed'
follow velocity 1
patiently more common.refs_taken 20
patiently is common.lifecycle disarmed
patiently table_near velocity 0 0.0001
patiently table_near position 0 0.0001
unfollow

begin 'armed by hand'
level run
patiently is common.lifecycle holding
patiently is common.epoch 1
patiently near velocity 0 0.001

begin 'follows a velocity'
follow velocity 0.5
patiently near velocity 0.5 0.002
patiently table_near velocity 0.5 0.002
patiently is common.lifecycle active

begin 'holds without a reference'
unfollow
patiently is common.lifecycle holding
patiently near velocity 0 0.001

begin 'follows a position'
follow position 3
patiently near position 3 0.001
patiently near velocity 0 0.001
unfollow
follow position -0.25
patiently table_near position -0.25 0.001
unfollow

begin 'stops at the e-stop'
follow velocity 1
patiently near velocity 1 0.002
level estop # the same epoch: a raise
patiently is common.lifecycle disarmed
patiently table_near velocity 0 0.0001
level run
patiently near velocity 1 0.002
unfollow

begin 'its own watchdog stops it when the driver is killed'
follow velocity 1
patiently near velocity 1 0.002
kill -KILL "$driver"
wait "$driver" || true
patiently table_near velocity 0 0.0001

# The controller goes on as if nothing had happened: its references are for the one before.
begin 'references for its predecessor are not taken'
start 2
patiently is common.lifecycle holding # armed, as it was before
patiently more common.refs_refused.other_incarnation 20
patiently is common.refs_taken 0
patiently table_near velocity 0 0.0001
unfollow
follow velocity 1
patiently near velocity 1 0.002
patiently is header.incarnation 2
unfollow

begin 'silence is a fault, and no end'
robotsim fault table.1 silent
patiently is common.lifecycle fault
patiently is header.flags 'partial|simulated'
patiently told fault
robotsim fault --clear table.1 silent
patiently is common.lifecycle holding

# On the wire: within its limit, 20 mrad/s in a tick, and the last word is 0.
begin 'braked when it is asked to stop'
patiently near velocity 0 0.001
canwire dump table --as logger >"$lib_folder/dump" &
dumper=$!
started+=("$dumper")
patiently test -s "$lib_folder/dump"
follow velocity 1
patiently near velocity 1 0.002
stop
patiently is common.lifecycle down
patiently table_near velocity 0 0.0001
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

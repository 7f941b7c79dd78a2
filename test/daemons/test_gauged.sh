#!/bin/bash
# The driver that asks, and a simulated force gauge on a soft wire.
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
  wrist: {interface: wire:wrist}
devices:
  gauge:
    driver: gauged
    bus: wrist
    settings: {lock_memory: no}
    sim: {z: 12}
ROBOT
canwire run --outage 0 wrist 2>"$lib_folder/canwire" &
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
	ach echo "${p}gauge-state" --last | grep -v 'bus\['
	return 1
}

field() { ach echo "${p}gauge-state" --last | sed -n "s/^$1 = \(.*\)/\1/p"; }
is() { [ "$(field "$1")" = "$2" ]; }
told() { grep -q "$1" "$lib_folder/driver"; }
asked() { robotsim report gauge.1 | grep -o 'asked [0-9]*' | tr -dc 0-9; }
request() { # WORDS VERB: it says so
	achctl request gauge "$2" 2>&1 | grep -qF "$1"
}
start() {
	: >"$lib_folder/driver"
	gauged --name gauge --config "$lib_folder/lab.yaml" 2>>"$lib_folder/driver" &
	driver=$!
	started+=("$driver")
}

# ---- one life, in order ----

begin 'asks for its factors and the stream, and measures'
start
patiently is force '0 0 12 N'
patiently is common.lifecycle active
patiently is header.flags simulated
is torque 'nan nan nan N m'
is saturated 0

begin 'a bias is answered when the gauge has answered'
request biased bias
patiently is force '0 0 0 N'
robotsim set gauge.1 z=14
patiently is force '0 0 2 N'
robotsim set gauge.1 x=900
patiently is saturated 1

begin 'a verb that it does not have is refused'
request 'gauged does not do that' home

begin 'three tries, then it is said that there is no answer'
robotsim fault gauge.1 deaf
before=$(asked)
request 'the gauge did not answer, or refused' bias
[ "$(asked)" -eq $((before + 3)) ]
is common.lifecycle active # it streams all the same
robotsim fault --clear gauge.1 deaf
robotsim set gauge.1 x=0
patiently request biased bias # once its reply is no longer owed

begin 'a refusal is an answer'
robotsim fault gauge.1 refuses
before=$(asked)
request 'the gauge did not answer, or refused' bias
[ "$(asked)" -eq $((before + 1)) ]
robotsim fault --clear gauge.1 refuses

begin 'silence is a fault, and afterwards it is asked again'
robotsim fault gauge.1 silent
patiently is common.lifecycle fault
patiently told 'the gauge has been silent'
robotsim fault --clear gauge.1 silent
patiently is common.lifecycle active
patiently is force '0 0 14 N' # it has forgotten the bias

begin 'no answer at the start is a fault until there is one'
kill "$driver"
wait "$driver"
robotsim fault gauge.1 deaf
start
patiently told 'no answer in 3 tries'
patiently is common.lifecycle fault
robotsim fault --clear gauge.1 deaf
patiently is common.lifecycle active
patiently told 'no-answer is over'
kill "$driver"
wait "$driver"
begin end

#!/bin/bash
# test_achctl_unsupervised.sh: achctl arm --unsupervised, with a driver that was started by hand.
set -eu
. test/scripts/lib.sh

export SUDO_USER=ann LC_ALL=C PATH=$build:$PATH
unset NO_COLOR
lib_tmp
lib_go_first
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-ctla-$$-
p=$ENDPLATE_PREFIX
started=()
cleanup() {
	kill -9 "${started[@]}" 2>/dev/null || true
	rm -rf "$lib_folder" /dev/shm/achshm-"$p"* /dev/shm/achbell-"$p"*
}
trap cleanup EXIT
robot=config/robots/waist.yaml

is() { # FIELD VALUE: of the waist's newest state
	[ "$(ach echo "${p}waist-state" --last --json | python3 -c 'import json, sys
print(json.loads(sys.stdin.readline())["common"][sys.argv[1]])' "$1")" = "$2" ]
}
newest() { ach info --for 0 --json "${p}waist-state" | sed 's/.*"last_seq":\([0-9]*\).*/\1/'; }
later() { # the waist has looked again, and again
	local from
	from=$(newest)
	lib_until test_newer "$from"
}
test_newer() { [ "$(newest)" -gt $(($1 + 40)) ]; }

lib_case no_driver lib_says 111 '' 'achctl arm: no driver publishes a state here' achctl arm --unsupervised
begin() { # COMMAND...
	"$@" >>"$lib_folder/said" 2>&1 &
	started+=($!)
}
mkdir -p "$ENDPLATE_RUN"
begin canwire run torso
lib_until canwire stats torso
begin robotsim run "$robot"
begin hubo-daemon --name clock --config "$robot"
waist() {
	begin pciod --name waist --config "$robot"
	waist=$!
	lib_until is lifecycle disarmed
}
waist
lib_case disarmed is level estop
lib_case without lib_matches 111 '*no achstart runs this robot*' achctl arm
lib_case arm lib_says 0 'armed: level run, epoch 1, by ann; taken by 2 drivers' '' achctl arm --unsupervised
lib_case armed is level run
lib_case hold lib_says 0 'level hold, epoch 1, by ann' '' achctl hold
lib_case held is level hold
lib_case again lib_matches 0 '{"ok":true,"level":"run","epoch":2,"taken":2}' achctl arm --unsupervised --json
lib_case estop lib_says 0 'level estop, epoch 2, by ann' '' achctl estop
lib_until is lifecycle disarmed
# A driver that does not take it: the request has no effect, neither then nor later.
refuses() { # begins again if the state of the waist was too old by the time achctl read it
	kill -CONT "$waist"
	achctl estop && later && is lifecycle disarmed || return 1
	kill -STOP "$waist"
	lib_matches 1 '*refused: not taken by waist (estop)' achctl arm --unsupervised --within 500ms
}
stopped() {
	lib_until refuses || return 1
	kill -CONT "$waist"
	later && is level estop
}
lib_case refused stopped
broken() { # channels that cannot be used are created again
	ach rm "${p}estop"
	ach mk --type estop -o 666 -t "${p}estop-b"
	lib_until is lifecycle disarmed
	lib_until achctl arm --unsupervised >/dev/null && is level run
}
lib_case broken broken
lib_end

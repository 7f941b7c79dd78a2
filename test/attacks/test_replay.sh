#!/bin/bash
# test_replay.sh: a recording of an arm command, played back.
#
# While a person arms the robot the e-stop channels are recorded.  Later the robot is stopped, and the recording is
# played: it must not arm, no matter which user plays it, and not with --force either.
# waits: mostly
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh
tape=$folder/tape

# The robot is up and stopped; $tape holds the messages that armed it.
taped() {
	rm -f "$tape"
	robot_up
	spawn root ach record -o "$tape" "${p}estop" "${p}estop-b"
	lib_until test -s "$tape"
	robot_armed
	end INT
	ach echo "$tape" | grep -qE '^kind += lower'
	chmod 644 "$tape"
	as robot ach put --json '{"kind":"raise","level":"estop","who":"robot"}' "${p}estop" # and nothing in estop-b
	level_is estop
}

test_play_refuses_a_live_robot() {
	taped
	lib_matches 111 '*a live robot listens to it*' as robot ach play "$tape"
	level_is estop
}

test_a_forced_play_does_not_arm() {
	taped
	as robot ach play --force "$tape"
	level_is estop
	as robot ach play --force --as-replay --loop 3 "$tape"
	level_is estop
	robot_armed
}

# An operator can play it into estop-b only, where every message counts as a raise.
test_an_operator_who_plays_it_stops_the_robot() {
	taped
	robot_armed
	lib_not as operator ach play --force "$tape"
	level_is run
	as operator ach play --force --only "${p}estop" --map "${p}estop=${p}estop-b" "$tape"
	level_is estop
}

# The channels have been recreated since: their ids and message numbers differ.
test_channels_made_again_do_not_take_it() {
	taped
	as robot ach rm "${p}estop" "${p}estop-b"
	level_is estop
	as robot ach play --force "$tape"
	level_is estop
	robot_armed
}

lib_functions "$folder/log" "${1:-}"

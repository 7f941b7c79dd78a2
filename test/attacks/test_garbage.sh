#!/bin/bash
# test_garbage.sh: messages in the channels of the e-stop that are not e-stop messages.
#
# An operator may write estop-b; the robot's user writes estop by mistake.  Whatever they write stops the robot, for
# every process alike; it is reported once, and the next arm command works.
# waits: mostly
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

hex() { head -c "$1" /dev/zero | tr '\0' Z | od -An -v -tx1 | tr -d ' \n'; } # BYTES

# The operator puts 4 bytes.  Drivers stop, and achctl says the same.
test_four_bytes_of_an_operator_stop_all() {
	robot_up
	robot_armed
	as operator ach put --hex "$(hex 4)" "${p}estop-b"
	level_is estop
	still_alive
	robot_armed
}

# After one message of 600 bytes achstart must not write estop-b, and log that, 50 times a second.
test_a_long_message_is_reported_once() {
	local before
	robot_up
	robot_armed
	as operator ach put --hex "$(hex 600)" "${p}estop-b"
	level_is estop
	before=$(messages estop-b)
	level_is estop # a quarter of a second later
	[ "$(messages estop-b)" = "$before" ]
	[ "$(count 'achstart warning estop: ')" = 1 ]
	[ "$(count 'waist warning estop-invalid: ')" = 1 ]
	robot_armed
}

# Long messages on both channels, then a lowering made by hand: it does not arm, and achctl estop still works.
test_a_lowering_behind_garbage_does_not_arm() {
	local channel
	robot_up
	robot_armed
	for channel in estop estop-b; do
		as robot ach put --hex "$(hex 800)" "$p$channel"
	done
	level_is estop
	for channel in estop estop-b; do
		as robot ach put --json '{"kind":"lower","level":"run","epoch":99,"who":"x"}' "$p$channel"
	done
	level_is estop
	raises operator
	robot_armed
}

# More garbage than the channel holds.
test_a_flood_of_garbage_keeps_no_raise_out() {
	robot_up
	robot_armed
	spawn operator ach put --hex "$(hex 40)" --hz 2000 "${p}estop-b"
	level_is estop
	raises operator
	end
	still_alive
	[ "$(count 'achstart warning estop: ')" -lt 20 ] # of some thousand messages
	[ "$(count 'waist warning estop-invalid: ')" -lt 20 ]
	robot_armed
}

lib_functions "$folder/log" "${1:-}"

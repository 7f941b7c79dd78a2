#!/bin/bash
# test_truncate.sh: files of channels that are truncated, overwritten or removed under a running robot.
#
# Users who may only read, operators, movers and strangers try: nothing changes.  The robot's user does it by mistake:
# no process gets a signal, and the robot can be armed again.  The memory itself: test/channels/ach/test_truncate.c.
# waits: mostly
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

test_other_users_cannot_truncate() {
	local user plate before
	robot_up
	robot_armed
	before=$(sha256sum "$ACH_DIR"/*)
	for user in operator armer mover stranger other; do
		for plate in "$ACH_DIR"/achshm-*; do
			denied "$user" truncate -s 0 "$plate"
			denied "$user" dd if=/dev/zero of="$plate" conv=notrunc status=none
			denied "$user" rm -f "$plate"
			denied "$user" chmod 666 "$plate"
		done
	done
	[ "$(sha256sum "$ACH_DIR"/*)" = "$before" ]
	level_is run
	still_alive
}

# Every channel, one after the other; for the e-stop's the robot may stop.
test_the_robots_user_truncates_every_file() {
	local plate
	robot_up
	robot_armed
	for plate in "$ACH_DIR"/achshm-*; do
		as robot truncate -s 0 "$plate"
	done
	lib_until all_channels_work
	lib_not grep -qE 'signal|given up|failed' "$folder/said"
	raises robot
	robot_armed
}
all_channels_work() {
	local name
	for name in estop estop-b waist-ref waist-state waist-event clock; do
		as robot ach info --for 0 "$p$name" || return 1
	done
}

# waist is critical: it is not given up for a channel that is broken when it starts.
test_a_truncated_reference_channel_does_not_end_a_critical_driver() {
	robot_up
	robot_armed
	as robot truncate -s 0 "$ACH_DIR/achshm-${p}waist-ref"
	killed_and_back waist
	lib_until as mover ach put --json '{"mode":["position"],"position":[-1]}' --valid 1 "${p}waist-ref"
	lib_not grep -qE 'given up|failed' "$folder/said"
}

lib_functions "$folder/log" "${1:-}"

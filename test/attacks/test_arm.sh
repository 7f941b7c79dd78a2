#!/bin/bash
# test_arm.sh: arm commands that were refused or got no reply from achstart, and epochs that make no sense.
# waits: mostly
#
# A refused arm command has no effect at any later time, whatever dies and starts meanwhile.  The number of an epoch
# decides nothing: a wrong one keeps no person from arming.
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

epoch() { state --last | grep -oE '"epoch":[0-9]+' | cut -d: -f2; }
is_next() { [ "$(epoch)" -gt "$1" ] && [ "$(epoch)" -lt $(($1 + 1000)) ]; } # EPOCH: each attempt to arm has another

# Both channels are removed while achstart is stopped, and a person arms.  The command is refused.  Then achstart goes
# on and the driver is killed: its successor must not find the command and obey it.
test_a_refused_arm_has_no_effect_later() {
	robot_up
	kill -STOP "$(<"$folder/achstart")"
	as robot ach rm "${p}estop" "${p}estop-b"
	lib_not as robot achctl arm --within 500ms
	kill -CONT "$(<"$folder/achstart")"
	level_is estop
	killed_and_back waist
	level_is estop
	robot_armed
}

# The same with the channels in place: achctl raises before it says that the robot is not armed.
test_an_arm_that_was_not_answered_has_no_effect_later() {
	robot_up
	kill -STOP "$(<"$folder/achstart")"
	lib_not as robot achctl arm --within 500ms
	kill -CONT "$(<"$folder/achstart")"
	level_is estop
	killed_and_back waist
	level_is estop
	robot_armed
}

# A driver that is not fit: refused, and not armed when it is fit again.
test_an_arm_refused_for_a_fault_has_no_effect_later() {
	robot_up
	as robot robotsim fault waist.15 tow-error
	lib_until state_has '"lifecycle":"fault"'
	lib_until lib_matches 1 '*refused*waist*' as robot achctl arm
	as robot robotsim fault --clear waist.15 tow-error
	lib_until as robot achctl clear waist
	level_is estop
	killed_and_back waist
	level_is estop
}

test_epochs_outlive_the_channels() {
	local before
	robot_up
	robot_armed
	before=$(epoch)
	as robot ach rm "${p}estop" "${p}estop-b"
	level_is estop
	robot_armed
	is_next "$before"
}

# 2^64 - 1, first by an operator, then by the robot's user on the other channel.
test_an_absurd_epoch_locks_no_person_out() {
	local max='{"kind":"raise","level":"estop","epoch":18446744073709551615,"who":"x"}' before
	robot_up
	robot_armed
	before=$(epoch)
	as operator ach put --json "$max" "${p}estop-b"
	level_is estop
	robot_armed
	is_next "$before"
	before=$(epoch)
	as robot ach put --json "$max" "${p}estop"
	level_is estop
	robot_armed
	is_next "$before"
}

# A lowering by hand, with one thing wrong: the channel, the time, the ids, the boot, the place.
test_a_forged_lowering_does_not_arm() {
	robot_up
	robot_armed
	raises robot
	as operator ach put --json "$(lowering)" "${p}estop-b"
	level_is estop
	for wrong in 'until_ns 1' 'chan [1,2]' 'boot [1,2]' 'seen place'; do
		[ "$wrong" != 'seen place' ] || wrong="seen [$(($(messages estop) - 1)),$(messages estop-b)]"
		as robot ach put --json "$(lowering "${wrong% *}" "${wrong#* }")" "${p}estop"
		level_is estop
	done
	robot_armed
}

# A correct lowering by the robot's user arms: the cases above fail because of their one wrong field.
test_the_robots_user_arms_by_hand() {
	robot_up
	robot_armed
	raises robot
	as robot ach put --json "$(lowering)" "${p}estop"
	level_is run
}

# ---- arm: auto ----

test_auto_arms_a_new_robot() {
	robot_auto
}

# An operator stops the robot; everything is killed; he stops it again; it is started: it stays stopped.
test_auto_does_not_override_a_stop() {
	robot_auto
	raises operator
	kill_all
	as robot achctl estop --robot bench || true
	start
	ready
	level_is estop
	said 'arm: auto does not count'
	robot_armed
}

# Killed, not stopped by a person: it does not move by itself either.
test_auto_does_not_arm_what_was_killed() {
	robot_auto
	kill_all
	start
	ready
	level_is estop
}

# He stops it while it comes up.
test_auto_does_not_override_a_stop_during_the_start() {
	robot_up 'arm: auto'
	kill_all
	as robot ach rm "${p}estop" "${p}estop-b"
	rm -f "$ENDPLATE_RUN/epoch"
	start
	lib_until as operator achctl estop
	ready
	level_is estop
}

# No process and no channel is left to take the raise: achctl reports that.
test_a_raise_is_not_reported_by_dead_drivers() {
	robot_up
	kill_all
	as robot ach rm "${p}estop" "${p}estop-b"
	lib_matches 111 '*NOT RAISED*' as operator achctl estop
}

lib_functions "$folder/log" "${1:-}"

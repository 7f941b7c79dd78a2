#!/bin/bash
# test_names.sh: a stranger, or the user of another robot, creates the channels of the robot's names first.
#
# In a folder that every user may write, as /dev/shm is, he can keep an ordinary user's robot from starting, with a line
# that names him; he never owns what moves or stops it.  root's achstart replaces his channels.  In a folder of the
# robot's own he cannot.  test_files.sh has the same for drivers and for looser modes.
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

first() { as "$1" ach mk --mode 666 -m 64 -n 4096 "$p$2"; } # USER CHANNEL
owner() { stat -c %u "$ACH_DIR/achshm-$p$1"; }
gone() { ! kill -0 "$(<"$folder/achstart")"; }

test_a_robot_does_not_start_on_foreign_channels() {
	local user name
	for user in stranger other; do
		for name in estop estop-b waist-ref; do
			lib_cleanup
			launch
			first "$user" "$name"
			start
			lib_until gone
			said "$p$name"
			said "uid ${uids[$user]}"
			[ -z "$(pids)" ]
		done
	done
}

test_root_replaces_foreign_channels() {
	local name
	lib_cleanup
	launch
	for name in estop estop-b waist-ref; do
		first stranger "$name"
	done
	start root
	ready
	for name in estop estop-b waist-ref; do
		[ "$(owner "$name")" = 0 ]
		denied stranger ach put --hex 00 "$p$name"
	done
}

# While the robot runs its user removes a channel by mistake, and the stranger is faster than achstart.
test_a_channel_replaced_while_it_runs_is_not_believed() {
	robot_up
	robot_armed
	kill -STOP "$(<"$folder/achstart")"
	as robot ach rm "${p}estop" "${p}estop-b"
	first stranger estop
	first stranger estop-b
	lib_until state_has '"level":"estop"'
	as stranger ach put --json '{"kind":"lower","level":"run","epoch":9,"until_ns":9223372036854775807}' "${p}estop"
	kill -CONT "$(<"$folder/achstart")"
	[ "$(state --follow --count 50 | levels)" = estop ]
	lib_not as robot achctl arm
	ach rm "${p}estop" "${p}estop-b" # by root
	robot_armed
	still_alive
}

# ACH_DIR in the folder of the robot, as the unit sets it.
test_no_other_user_comes_first_in_a_folder_of_the_robot() {
	lib_cleanup
	export ACH_DIR=$ENDPLATE_RUN/chan
	launch
	start
	ready
	lib_not first stranger estop
	lib_not first operator estop
	as operator achctl estop
	level_is estop
	kill_all
	find "$ACH_DIR" -name 'achshm-*' -printf '%f\n' | sed 's/^achshm-//' | xargs ach rm
	lib_not first stranger estop
}

lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# test_cut_files.sh: the files of channels, cut or removed by the robot's user while the robot runs.
#
# No process notices in its memory.  The robot stops where the e-stop is hit, and can be armed again; no daemon is given
# up because of a file that achstart replaces; operators keep their rights in channels that were made again.
# shellcheck disable=SC2317 # called by name
set -eu -o pipefail
. test/attacks/lib.sh

cut_file() { as robot truncate -s 0 "$ACH_DIR/achshm-$p$1"; } # CHANNEL

# Processes that have the memory open go on; achctl has to open the channel, and must show the right level and arm.
test_a_robot_whose_estop_files_were_cut_is_armed_again() {
	local channel
	robot_up
	for channel in estop estop-b; do
		robot_armed
		cut_file "$channel"
		level_is estop
		still_alive
	done
	robot_armed
}

# A driver that finds such a file exits; achstart must not give it up.
test_a_driver_whose_reference_file_was_cut_comes_back() {
	local channel
	robot_up
	robot_armed
	for channel in waist-ref waist-req waist-rep; do
		cut_file "$channel"
		killed_and_back waist
		robot_armed # three deaths in a second raise hold
	done
	as mover ach put --json '{"mode":["none"]}' --valid 20 "${p}waist-ref"
}

# estop-b is removed while achstart is stopped, and a driver starts: it creates the channel.
test_operators_may_write_what_a_driver_made_again() {
	local clock
	robot_up
	clock=$(pid_of clock)
	kill -STOP "$(<"$folder/achstart")"
	kill -KILL "$clock"
	lib_until grep -q 'State:.Z' "/proc/$clock/status" # it has let go of its claims
	as robot ach rm "${p}estop-b"
	spawn robot ENDPLATE_OPERATORS="$operators" hubo-daemon --name clock --config "$folder/waist.yaml"
	lib_until test -e "$ACH_DIR/achshm-${p}estop-b"
	as operator ach put --json '{"kind":"raise","level":"estop","who":"x"}' "${p}estop-b"
	end KILL
}

# The reason is named, with and without a group that writes references.
test_a_full_folder_of_channels_is_named() {
	local left
	install -d "$folder/full"
	mount -t tmpfs -o size=16k,mode=1777 full "$folder/full"
	trap 'umount "$folder/full"' EXIT
	head -c 16k /dev/zero >"$folder/full/filler"
	lib_cleanup
	launch
	install -d -o "${uids[robot]}" "$ENDPLATE_RUN"
	for left in all 'no group moving'; do
		[ "$left" = all ] || sed -i '/^moving:/d' "$folder/waist.launch"
		lib_matches 111 '*fatal: channel *: No space left on device*' \
			as robot env ACH_DIR="$folder/full" achstart --real "$folder/waist.launch"
	done
}

lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# test_mover.sh: a member of the group moving: a controller with faults, or a hostile one.
#
# He may write references, and that is all: the loop of the driver checks and limits them.  He can destroy the memory of
# the reference channel; then the robot holds.
# waits: mostly
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

# Position -1 rad for 2 s at 100 Hz, in the background.
writes_references() {
	spawn mover ach put --json '{"mode":["position"],"position":[-1]}' --valid 20 --hz 100 --for "${1:-2}" \
		"${p}waist-ref"
}
position() { as robot robotsim report --json waist.15 | grep -oE '"position":-?[0-9.e+-]+' | cut -d: -f2; }
moved() { # FROM
	awk -v a="$(position)" -v b="$1" 'BEGIN { exit !(a != "" && b != "" && (a - b > 0.05 || b - a > 0.05)) }'
}
at_rest() { [ "$(position)" = "$(sleep 0.1 && position)" ]; }

test_a_mover_moves_an_armed_robot() {
	local before
	robot_up
	robot_armed
	before=$(position)
	writes_references 30
	lib_until moved "$before"
	end
}

test_a_mover_moves_nothing_that_is_not_armed() {
	local before
	robot_up
	before=$(position)
	[ -n "$before" ]
	writes_references
	wait "$spawned"
	[ "$(position)" = "$before" ]
	level_is estop
}

test_a_mover_neither_arms_nor_lowers() {
	local channel
	robot_up
	lib_matches 1 '*the group arming:*' as mover achctl arm
	for channel in estop waist-req waist-state clock; do
		denied mover ach put --hex 00 "$p$channel"
		denied mover ach rm "$p$channel"
	done
	lib_matches 1 '*the group arming:*' as mover achctl request waist home
	level_is estop
	raises mover
}

# References that are not valid: none moves, the driver counts them and lives.
test_bad_references_move_nothing() {
	local before bad
	robot_up
	robot_armed
	lib_until at_rest
	before=$(position)
	[ -n "$before" ]
	for bad in '"position":[null]' '"position":[-1]' '"position":[-1],"header.valid_until_ns":1' \
		'"position":[-1],"header.valid_until_ns":9223372036854775807' \
		'"position":[-1],"header.for_incarnation":77,"header.valid_until_ns":9223372036854775807'; do
		lib_not as mover ach put --json "{\"mode\":[\"position\"],$bad}" "${p}waist-ref"
	done
	as mover ach put --hex "$(head -c 9000 /dev/zero | od -An -v -tx1 | tr -d ' \n')" "${p}waist-ref"
	level_is run
	state_has '"refs_taken":0,'
	[ "$(position)" = "$before" ]
	still_alive
}

refused() { state --last | grep -oE "\"$1\":[0-9]+" | cut -d: -f2; } # COUNTER
refused_more() { [ "$(refused "$1")" -gt "$2" ]; } # COUNTER THAN

# He gives it a long life, to be able to go away; or keeps one from before the driver was restarted.
test_a_reference_does_not_outlive_its_writer_or_its_driver() {
	local before far count
	robot_up
	robot_armed
	lib_until at_rest
	before=$(position)
	for far in 300 3600000 1e11; do
		count=$(refused too_far)
		lib_not as mover ach put --json '{"mode":["position"],"position":[-1]}' --valid "$far" "${p}waist-ref"
		lib_until refused_more too_far "$count"
	done
	killed_and_back waist # it is not armed now, and does not take the old ones once it is
	robot_armed
	count=$(refused other_incarnation)
	lib_not as mover ach put --json '{"mode":["position"],"position":[-1],"header.for_incarnation":1}' --valid 20 \
		"${p}waist-ref"
	lib_until refused_more other_incarnation "$count"
	state_has '"refs_taken":0,'
	lib_until at_rest
	lib_not moved "$before"
}

# Recorded references are over: times are those of the boot's clock, and play does not change them.
test_recorded_references_move_nothing() {
	local before taken past
	robot_up
	robot_armed
	rm -f "$folder/tmp/refs"
	spawn mover ach record -o "$folder/tmp/refs" "${p}waist-ref"
	lib_until test -s "$folder/tmp/refs"
	as mover ach put --json '{"mode":["position"],"position":[-1]}' --valid 20 --hz 100 --for 0.3 "${p}waist-ref" ||
		true # one may come too late
	end INT
	lib_until at_rest
	before=$(position) taken=$(refused refs_taken) past=$(refused past)
	[ "$taken" -gt 0 ]
	as mover ach play --force "$folder/tmp/refs"
	[ "$(refused refs_taken)" = "$taken" ]
	refused_more past "$past"
	lib_not moved "$before"
	level_is run
	still_alive
}

# Whatever a reference asks for, no command exceeds the limit of 0.43 rad/s.
test_a_greedy_reference_is_limited() {
	local before
	robot_up
	robot_armed
	before=$(position)
	spawn mover ach put --json '{"mode":["position"],"position":[-99]}' --valid 20 --hz 200 "${p}waist-ref"
	lib_until moved "$before"
	state --follow --count 100 | grep -oE '"velocity":\[-?[0-9.e+-]+' | cut -d'[' -f2 |
		awk '{ if ($1 < -0.45 || $1 > 0.45) { print "too fast:", $1; bad = 1 } } END { exit bad || !NR }'
	end
}

# He overwrites the memory of waist-ref: the driver goes on, the channel is made again, and he can write it.
test_a_scribbled_reference_channel_is_made_again() {
	robot_up
	robot_armed
	as mover scribble over "${p}waist-ref"
	lib_until as mover ach put --json '{"mode":["position"],"position":[-1]}' --valid 1 "${p}waist-ref"
	still_alive
	raises operator
}

# He stops inside put: other movers cannot write, and everything else goes on.
test_a_writer_stopped_inside_put_stops_no_driver() {
	robot_up
	robot_armed
	spawn mover scribble sit "${p}waist-ref"
	level_is run
	raises operator
	still_alive
	end KILL
	lib_until as mover ach put --json '{"mode":["position"],"position":[-1]}' --valid 1 "${p}waist-ref"
}

lib_functions "$folder/log" "${1:-}"

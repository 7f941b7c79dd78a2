#!/bin/bash
# test_operator.sh: a hostile member of the group operators.
# waits: mostly
#
# He may look, and stop the robot.  He may write the memory of estop-b, so he can destroy what lies in it; that stops
# the robot and keeps no other person from stopping it.  He can neither arm, nor move, nor take back a stop of the
# robot's user.
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

# "by uid 1: why", or "by clock: why, uid 1" if a driver was the first to copy the raise.
status_names_operator() { [[ $(as operator achctl status) == *"estop, epoch "*", by "*"uid ${uids[operator]}"* ]]; }
operator_looks() { [[ $(as operator achctl --json status || true) == *'"robot":"bench"'* ]]; }

# He calls himself root; events name him by his user id.
test_an_operator_looks_and_stops() {
	robot_up
	robot_armed
	lib_until operator_looks
	as operator ach echo --last "${p}waist-state" >/dev/null
	raises operator
	lib_until status_names_operator
	lib_until logged "by uid ${uids[operator]}: operator pressed the button"
}

test_an_operator_does_not_arm() {
	robot_up
	lib_matches 1 '*the group arming:*' as operator achctl arm
	lib_not as operator achctl arm --unsupervised
	denied operator ach put --json "$(lowering_first)" "${p}estop"
	as operator ach put --json "$(lowering_first)" "${p}estop-b"
	level_is estop
}
lowering_first() { echo '{"kind":"lower","level":"run","epoch":1,"until_ns":9223372036854775807,"who":"root"}'; }

test_an_armer_arms() {
	robot_up
	lib_until as armer achctl arm --who root
	level_is run
	logged "armed by uid ${uids[armer]} (root)"
}

test_an_operator_moves_nothing() {
	local channel
	robot_up
	robot_armed
	for channel in estop waist-ref waist-req waist-state waist-event waist-rep clock bus-torso achstart-event; do
		denied operator ach put --hex 00 "$p$channel"
		denied operator ach rm "$p$channel"
		denied operator ach chmod 666 "$p$channel"
	done
	for request in home clear reset activate 'set tick 1s'; do
		# shellcheck disable=SC2086 # words
		lib_matches 1 '*the group arming:*' as operator achctl request waist $request
	done
	level_is run
	still_alive
}

# He overwrites all of the memory of estop-b.
test_an_operator_who_scribbles_stops_the_robot() {
	robot_up
	robot_armed
	as operator scribble over "${p}estop-b"
	level_is estop
	still_alive
	raises robot
	robot_armed
}

# The robot's user raises; the operator takes messages of estop-b back, and writes a lowering there.
test_an_operator_does_not_take_back_a_raise_of_the_robots_user() {
	robot_up
	robot_armed
	raise_as robot hold
	level_is hold
	as operator scribble back "${p}estop-b" || true
	as operator ach put --json "$(lowering)" "${p}estop-b" || true
	level_is estop # the robot noticed
	killed_and_back waist
	level_is estop
}

# He keeps a writer stopped inside put, on the one channel that every operator may write.
test_a_writer_stopped_inside_put_keeps_no_raise_out() {
	robot_up
	robot_armed
	spawn operator scribble sit "${p}estop-b"
	lib_until is_stopped
	kill -STOP "$(<"$folder/achstart")" # else achstart would raise for him
	raise_as operator estop
	kill -CONT "$(<"$folder/achstart")"
	level_is estop
	end KILL
	robot_armed
}
is_stopped() { grep -q '^State:.T' "/proc/$spawned/status"; }

# The same as an accident of the robot's user, on the other one; then on both, with achstart stopped as well.
test_nothing_in_the_way_of_a_raise() {
	local first
	robot_up
	robot_armed
	spawn robot scribble sit "${p}estop"
	lib_until is_stopped
	first=$spawned
	spawn operator scribble sit "${p}estop-b"
	lib_until is_stopped
	raises robot
	kill -KILL "$first"
	end KILL
	robot_armed
}

# achctl estop works whatever lies in the channels, also while achstart is stopped: row by row.
test_achctl_estop_works_whatever_lies_there() {
	local row
	robot_up
	for row in 'rm:ach rm' 'garbage:ach put --hex 5a5a5a5a' 'scribbled:scribble over' \
		'plates truncated:truncate -s 0' 'plates removed:rm'; do
		robot_armed
		kill -STOP "$(<"$folder/achstart")"
		for channel in estop estop-b; do
			# shellcheck disable=SC2086 # words
			case $row in
			plates*) as robot ${row#*:} "$ACH_DIR/achshm-$p$channel" ;;
			*) as robot ${row#*:} "$p$channel" ;;
			esac
		done
		raise_as robot estop
		kill -CONT "$(<"$folder/achstart")"
		level_is estop
		still_alive
	done
}

lib_functions "$folder/log" "${1:-}"

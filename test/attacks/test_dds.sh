#!/bin/bash
# test_dds.sh: a participant of the DDS domain, through achdds.
#
# He may send whatever he likes.  The bridge is an operator: it can stop the robot for him, and moves nothing, unless
# its plan subscribes to references and its user is in the group moving.
# waits: mostly
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh
cp "$build/achdds" "$build/test/dds/ear" "$folder/bin/"
unset ROS_DOMAIN_ID CYCLONEDDS_URI EAR_KEYS
domain=$(($$ % 100 + 1))

position() { as robot robotsim report --json waist.15 | grep -oE '"position":-?[0-9.e+-]+' | cut -d: -f2; }
moved() { # FROM
	awk -v a="$(position)" -v b="$1" 'BEGIN { exit !(a != "" && b != "" && (a - b > 0.05 || b - a > 0.05)) }'
}
stayed() { [ -n "$1" ] && [ "$(position)" = "$1" ]; } # FROM

# USER LINE...: a bridge of that user, whose plan has these lines
bridge() {
	rm -f "$folder/tmp/state" "$folder/tmp/state.new"
	printf '%s\n' "domain: $domain" 'publish: {/joint_states: {channel: waist-state}}' "${@:2}" >"$folder/plan"
	spawn "$1" achdds --state "$folder/tmp/state" "$folder/plan" 2>"$folder/bridge"
	lib_until test -s "$folder/tmp/state"
}
moves='subscribe: {/waist/command: {device: waist, type: sensor_msgs/JointState, who: anyone}}'
stops='subscribe: {/stop: {estop: yes, type: std_msgs/String, who: local}}'
has() { [ "$(grep -oE "\"$1\":[0-9]+" "$folder/tmp/state" | head -n 1 | cut -d: -f2)" -gt "$2" ]; } # KEY THAN

# The attacker: a user who has no right to the robot.
sends() { # TOPIC TYPE HEX [garbage]: in the background
	local be
	be stranger
	"${be[@]}" ear "$domain" "${4:-write}" 50 <<<"$1 $2 reliable $3" >"$folder/sent" &
}
# An empty stamp and frame, then joint 15, -1 rad.
reference=$(printf %s 00010000 0000000000000000 01000000 00000000 01000000 03000000 31350000 01000000 000000000000f0bf \
	00000000 00000000)
refer() { sends rt/waist/command sensor_msgs::msg::dds_::JointState_ "$reference"; }
raise() { sends rt/stop endplate_msgs::msg::dds_::EstopRaise_ "000100000${1}0000000400000063617400"; } # LEVEL
stop() { sends rt/stop std_msgs::msg::dds_::String_ 00010000080000006e6f77206e6f7700 "${1:-write}"; }

test_a_bridge_without_the_right_moves_nothing() {
	local before
	robot_up
	robot_armed
	before=$(position)
	bridge operator "$moves"
	refer
	lib_until has refused 20
	lib_until grep -q 'not allowed' "$folder/bridge" # a driver that is late refuses before
	stayed "$before"
	level_is run
	end
}

test_a_bridge_of_a_mover_without_subscription_moves_nothing() {
	local before be
	robot_up
	robot_armed
	before=$(position)
	bridge mover
	refer
	be stranger
	"${be[@]}" ear "$domain" read <<<'rt/joint_states sensor_msgs::msg::dds_::JointState_ best' >"$folder/seen" &
	lib_until grep -q ^rt "$folder/seen" # they have found each other
	lib_not grep matched "$folder/sent"
	stayed "$before"
	end
}

test_a_bridge_of_a_mover_moves_an_armed_robot_within_its_limits() {
	local before
	robot_up
	before=$(position)
	bridge mover "$moves"
	refer
	lib_until has refused 5 # it is not armed
	stayed "$before"
	robot_armed
	lib_until moved "$before"
	level_is run
	end
}

test_on_lo_keys_of_the_group_moving_move_the_robot_and_no_other_user_does() {
	local before file be lines=(security:) keys=$folder/keys
	scripts/dds-keys --group "${uids[mover]}" "$keys" robot
	scripts/dds-keys --group "$moving" "$keys" controller 'publish=rt/waist/*,ros_discovery_info'
	denied operator cat "$keys/controller/key.pem"
	denied stranger cat "$keys/controller/key.pem"
	denied mover cat "$keys/ca/ca.key"
	for file in identity_ca.pem certificate.pem key.pem permissions_ca.pem governance.p7s permissions.p7s; do
		lines+=("  ${file%.*}: $keys/robot/$file")
	done
	robot_up
	robot_armed
	before=$(position)
	bridge mover "${lines[@]}" "${moves/anyone/secured}"
	refer # without keys
	be mover
	EAR_KEYS=$keys/controller "${be[@]}" ear "$domain" read >"$folder/seen" \
		<<<'rt/joint_states sensor_msgs::msg::dds_::JointState_ best' &
	lib_until grep -q ^rt "$folder/seen" # one with keys has been admitted meanwhile
	lib_not grep matched "$folder/sent"
	stayed "$before"
	EAR_KEYS=$keys/controller "${be[@]}" ear "$domain" write 50 >"$folder/sent" \
		<<<"rt/waist/command sensor_msgs::msg::dds_::JointState_ reliable $reference" &
	lib_until moved "$before"
	level_is run
	end
}

test_who_local_lets_no_user_move_the_robot() {
	printf '%s\n' "${moves/anyone/local}" >"$folder/plan"
	lib_matches 100 '*: who: local would let any user of this machine move waist; *' \
		as mover achdds --check "$folder/plan"
}

test_garbage_moves_nothing() {
	local before
	robot_up
	robot_armed
	before=$(position)
	bridge mover "$moves"
	sends rt/waist/command sensor_msgs::msg::dds_::JointState_ '' garbage
	lib_until has malformed 300
	kill -0 "$spawned"
	stayed "$before"
	level_is run
	end
}

test_a_participant_stops_the_robot_and_lowers_nothing() {
	robot_up
	robot_armed
	bridge operator "$stops"
	stop
	level_is estop
	lib_matches 1 '*' as operator achctl arm
	kill "$!"
	end
}

test_a_hold_arrives_and_no_message_lowers_it() {
	robot_up
	robot_armed
	bridge operator 'subscribe: {/stop: {estop: yes, type: endplate_msgs/EstopRaise, who: local}}'
	raise 1
	lib_until state_has '"level":"hold"'
	kill "$!" # on and on it would fill the channel, which is an estop
	level_is hold
	grep -F 'topic /stop: cat' <<<"$(as robot ach echo --json "${p}estop-b")"
	raise 2
	level_is estop
	kill "$!"
	raise 1
	lib_until grep matched "$folder/sent"
	level_is estop
	end
}

test_a_raise_to_run_stops_the_robot() {
	robot_up
	robot_armed
	bridge operator 'subscribe: {/stop: {estop: yes, type: endplate_msgs/EstopRaise, who: local}}'
	raise 0
	level_is estop
	end
}

test_garbage_on_the_topic_of_the_stop_stops_the_robot() {
	robot_up
	robot_armed
	bridge operator "$stops"
	stop garbage
	level_is estop
	end
}

lib_functions "$folder/log" "${1:-}"

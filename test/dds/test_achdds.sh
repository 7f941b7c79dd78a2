#!/bin/bash
# achdds: every mapped type to and from another vendor's DDS, references and raises from outside, readers that lag,
# bytes that are not messages, and a bridge that is killed.
# limit: 300 s
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
folder=$(mktemp -d)
export LC_ALL=C PATH=$build:$build/test/dds:$PATH ENDPLATE_PREFIX=dds$$- ENDPLATE_RUN=$folder/run
unset NOTIFY_SOCKET LOGS_DIRECTORY ROS_DOMAIN_ID XDG_RUNTIME_DIR CYCLONEDDS_URI
p=$ENDPLATE_PREFIX
lib_folder=$folder
domain=$(($$ % 100 + 1))
cleanup() {
	lib_left
	lib_remove_channels "$p"
	rm -rf "$folder"
}
trap cleanup EXIT

lib_left() { # the robot of a test before
	local state
	[ ! -s "$folder/achstart" ] || kill -KILL "$(<"$folder/achstart")" 2>/dev/null || true
	for state in "$ENDPLATE_RUN"/state/*; do
		[ ! -f "$state" ] || kill -9 "$(sed -n 's/^pid //p' "$state")" 2>/dev/null || true
	done
}

fresh() {
	lib_left
	lib_remove_channels "$p"
	rm -rf "$folder/achstart" "$ENDPLATE_RUN" "$folder"/state* "$folder"/got* "$folder/said"
	mkdir -m 700 "$ENDPLATE_RUN"
}

# [PROGRAM]: a bridge with the plan of standard input; its process is $bridge
start() {
	{ echo "domain: $domain" && cat; } >"$folder/plan"
	"${1:-achdds}" --state "$folder/state" "$folder/plan" 2>>"$folder/said" &
	bridge=$!
	lib_until test -s "$folder/state"
}
stop() { kill -TERM "$bridge" && wait "$bridge"; }
# LIST TOPIC KEY: a number of the state
count() {
	/usr/bin/python3 - "$folder/state" "$@" <<-'END'
		import json, sys
		file, list, topic, key = sys.argv[1:]
		print(sum(one[key] for one in json.load(open(file))[list] if one["topic"] == topic))
	END
}
more() { [ "$(count "$1" "$2" "$3")" -gt "$4" ]; } # LIST TOPIC KEY THAN
newest() { ach echo --json --last "$p$1"; }
lines() { [ "$(grep -c "$1" "$2")" -ge "$3" ]; } # PATTERN FILE N

test_every_type_goes_out_to_another_vendor() {
	local n
	fresh
	every put
	start < <(echo publish: && every plan)
	n=$(every topics | wc -l)
	[ "$n" -ge 30 ]
	fast "$domain" read < <(every topics) >>"$folder/got" &
	lib_until lines '^matched' "$folder/got" "$n"
	: >"$folder/got"
	every put
	lib_until lines '^rt' "$folder/got" "$n"
	# Encapsulation, and the stamp, which is that of now.
	sed -n 's/^\(rt[^ ]*\) 00010000.\{16\}/\1 /p' "$folder/got" | sort >"$folder/got.bytes"
	every expect | sort | diff - "$folder/got.bytes" >"$folder/diff" || { cut -c 1-200 "$folder/diff" && return 1; }
	stop
}

test_stamps_are_of_the_wall_clock() {
	local hex now sec
	fresh
	start <<<'publish: {/joint_states: {channel: joint-state, qos: sensor}}'
	every drive 30 &
	fast "$domain" read <<<'rt/joint_states sensor_msgs::msg::dds_::JointState_ best' >"$folder/got" &
	lib_until lines '^rt' "$folder/got" 5
	hex=$(tail -n 2 "$folder/got" | head -n 1 | cut -d' ' -f2)
	now=$(date +%s)
	# little endian
	sec=$((16#${hex:14:2}${hex:12:2}${hex:10:2}${hex:8:2}))
	[ $((now - sec)) -le 60 ] && [ $((sec - now)) -le 1 ]
	stop
}

inputs='subscribe:
  /in/joint: {device: joint, type: sensor_msgs/JointState, who: anyone}
  /in/array: {device: array, type: std_msgs/Float64MultiArray, who: anyone}
  /in/twist: {device: twist, type: geometry_msgs/Twist, who: anyone}
  /in/ownjoint: {device: ownjoint, type: endplate_msgs/JointRef, who: anyone}
  /in/gripper: {device: gripper, type: endplate_msgs/GripperRef, who: anyone}
  /in/ownbalance: {device: ownbalance, type: endplate_msgs/BalanceRef, who: anyone, valid: 20ms}'

test_every_reference_and_raise_comes_in_from_another_vendor() {
	local device
	fresh
	every drive 100 7 &
	start <<<"$inputs
  /in/estop: {estop: yes, type: std_msgs/String, who: local}
  /in/raise: {estop: yes, type: endplate_msgs/EstopRaise, who: local}"
	fast "$domain" write 50 < <(every inputs) >>"$folder/got" &
	for device in joint array twist ownjoint gripper ownbalance; do
		lib_until more subscribe "/in/$device" taken 0
		newest "$device-ref" >"$folder/ref"
		grep -q '"for_incarnation":7,' "$folder/ref"
	done
	for device in estop raise; do
		lib_until more subscribe "/in/$device" taken 0
		[ "$(count subscribe "/in/$device" malformed)" = 0 ]
	done
	newest joint-ref | grep -F '"mode":["position","position"],"position":[0.5,-0.25]'
	newest array-ref | grep -F '"mode":["position","position"],"position":[0.5,-0.25]'
	newest twist-ref | grep -F '"speed":0.5,"turn_rate":0.25'
	# The validity counts from the reception.
	newest ownbalance-ref | /usr/bin/python3 -c 'import json, sys
h = json.load(sys.stdin)["header"]
assert h["valid_until_ns"] - h["t_publish_ns"] == 20000000, h'
	stop
}

test_a_foreign_reference_is_not_taken_unless_the_plan_says_so() {
	fresh
	every drive 100 &
	start <<<"$(grep -v array <<<"$inputs")"
	fast "$domain" write 50 < <(every inputs) >>"$folder/got" &
	lib_until more subscribe /in/joint taken 20
	lib_not newest array-ref
	lib_not grep 'matched rt/in/array' "$folder/got"
	stop
}

test_a_restarted_driver_gets_no_reference_of_before() {
	local drive
	fresh
	every drive 100 1 &
	drive=$!
	start <<<"$inputs"
	fast "$domain" write 100 < <(every inputs) >>"$folder/got" &
	lib_until more subscribe /in/joint taken 20
	kill -KILL "$drive"
	every drive 100 2 &
	lib_until more subscribe /in/joint restarted 10
	lib_until more subscribe /in/joint taken "$(count subscribe /in/joint taken)"
	newest joint-ref | grep -F '"for_incarnation":2,'
	stop
}

test_references_of_a_second_writer_are_refused() {
	fresh
	every drive 100 &
	start <<<"$inputs"
	fast "$domain" write 100 < <(every inputs) >>"$folder/got" &
	lib_until more subscribe /in/joint taken 5
	[ "$(count subscribe /in/joint other_writer)" = 0 ]
	ear "$domain" write 100 < <(every inputs) >>"$folder/got2" &
	lib_until more subscribe /in/joint other_writer 20
	stop
}

test_a_rate_lets_the_newest_through() {
	fresh
	every drive 100 &
	start <<<'publish: {/joint_states: {channel: joint-state, rate: 5}}'
	lib_until more publish /joint_states published 10
	# 100 a second were put; those of a second are at least 5 and at most 6.
	[ $(($(count publish /joint_states limited) / $(count publish /joint_states published))) -ge 10 ]
	[ "$(count publish /joint_states missed)" = 0 ]
	stop
}

test_a_reader_that_lags_delays_no_other() {
	local slow before
	fresh
	every drive 100 &
	start <<<'publish: {/joint_states: {channel: joint-state}}'
	echo 'rt/joint_states sensor_msgs::msg::dds_::JointState_ reliable' >"$folder/topic"
	ear "$domain" read <"$folder/topic" >"$folder/got.slow" &
	slow=$!
	ear "$domain" read <"$folder/topic" >"$folder/got" &
	lib_until lines '^rt' "$folder/got.slow" 1
	lib_until lines '^rt' "$folder/got" 1
	kill -STOP "$slow"
	before=$(wc -l <"$folder/got")
	lib_until lines '^rt' "$folder/got" $((before + 200))
	[ "$(count publish /joint_states dropped)" = 0 ]
	kill -CONT "$slow"
	# What it gets then is the newest, not the history of its absence.
	before=$(wc -l <"$folder/got.slow")
	lib_until lines '^rt' "$folder/got.slow" $((before + 20))
	stop
}

test_garbage_is_counted_and_moves_nothing() {
	local program=achdds
	fresh
	[ ! -x "$build/san-address-undefined/achdds" ] || program=$build/san-address-undefined/achdds
	every drive 100 &
	start "$program" <<<"$inputs"
	ear "$domain" garbage 500 < <(every inputs | grep -vE 'in/(estop|raise)') >"$folder/got" &
	for device in joint array twist ownjoint gripper ownbalance; do
		lib_until more subscribe "/in/$device" malformed 300
	done
	kill -0 "$bridge"
	stop
	lib_not grep -i sanitizer "$folder/said"
}

# Samples of a real relay, with some bytes changed, and the same for the questions and answers about its clock.
test_garbage_for_a_relay_is_counted_and_moves_nothing() {
	local program=achdds type=endplate_msgs::msg::dds_::Relay before
	fresh
	[ ! -x "$build/san-address-undefined/achdds" ] || program=$build/san-address-undefined/achdds
	printf 'endplate/k/%s best\n' "imu ${type}_" "joint_href ${type}_" "clock/ask ${type}Ask_" >"$folder/topics"
	every put
	start <<<'relay: {name: k, send: [imu, joint-ref]}'
	ear "$domain" read <"$folder/topics" >"$folder/got" &
	lib_until lines ^matched "$folder/got" 3
	every put
	for topic in imu joint_href clock/ask; do lib_until lines "^endplate/k/$topic" "$folder/got" 1; done
	stop
	while read -r topic rest; do
		echo "$topic $rest $(awk -v t="$topic" '$1 == t { print $2; exit }' "$folder/got")"
	done <"$folder/topics" >"$folder/samples"
	echo "endplate/k/clock/answer ${type}Answer_ best $(printf '00010000%080d' 0)" >>"$folder/samples"
	fresh
	every drive 100 &
	start "$program" <<<'relay: {name: k, receive: [imu, joint-ref], who: anyone}'
	ear "$domain" garbage 500 <"$folder/samples" >"$folder/got" &
	lib_until relay_malformed imu 300
	lib_until relay_malformed joint-ref 300
	kill -0 "$bridge"
	stop
	lib_not grep -i sanitizer "$folder/said"
	lib_not newest imu # no clock of a relay was measured
	lib_not newest joint-ref
}
relay_malformed() { # CHANNEL THAN
	/usr/bin/python3 - "$folder/state" "$@" <<-'END'
		import json, sys
		file, channel, than = sys.argv[1:]
		counts = {one["channel"]: one["malformed"] for one in json.load(open(file))["receive"]}
		sys.exit(counts[channel] <= int(than))
	END
}

# Any program that reaches the port can send these.
test_malformed_packets_are_counted_and_fill_no_log() {
	fresh
	start <<<'publish: {/joint_states: {channel: joint-state}}'
	/usr/bin/python3 - $((7400 + 250 * domain + 10)) <<-'END'
		import random, socket, sys
		random.seed(1)
		udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for _ in range(3000):
		    # A header, then a submessage that is longer than the packet.
		    packet = b"RTPS\2\1\1\x10" + random.randbytes(12) + b"\x15\5\xff\0" + random.randbytes(40)
		    udp.sendto(packet, ("127.0.0.1", int(sys.argv[1])))
	END
	lib_until malformed_packets 100
	kill -0 "$bridge"
	stop
	[ "$(wc -l <"$folder/said")" -le 10 ]
	grep -E ' [0-9]+ malformed packets, 0 other warnings of the DDS library; the last: ' "$folder/said"
}
malformed_packets() { [ "$(grep -oE '"malformed_packets":[0-9]+' "$folder/state" | cut -d: -f2)" -gt "$1" ]; } # THAN

test_a_wrong_file_is_refused_by_its_line() {
	fresh
	printf 'publish:\n  /imu: {channel: a, rat: 5}\n' >"$folder/plan"
	lib_says 100 '' "achdds: fatal: $folder/plan:2: rat: unknown key of a topic; did you mean rate?" \
		achdds "$folder/plan"
	echo 'interface: nowhere0' >"$folder/plan"
	lib_says 111 '' 'achdds: fatal: interface nowhere0: No such device' achdds "$folder/plan"
	echo 'publish: {/imu: {channel: a}}' >"$folder/plan"
	lib_says 0 '' '' achdds --check "$folder/plan"
}

# ---- beside a robot ----

plan() {
	cat <<-END
		domain: $domain
		publish:
		  /joint_states: {channel: waist-state}
		  /rosout: {channel: "*-event"}
		  /diagnostics: {channel: "*-state", rate: 5}
		subscribe:
		  /waist/command: {device: waist, type: sensor_msgs/JointState, who: anyone}
		  /stop: {estop: yes, type: std_msgs/String, who: local}
	END
}

robot_up() { # [PLAN]
	fresh
	"${1:-plan}" >"$folder/plan"
	cat >"$folder/waist.launch" <<-END
		include: $PWD/config/robots/waist.yaml
		arm: auto
		daemons:
		  canwire:
		  robotsim:
		  clock: {dead_after: 9s}
		  waist: {dead_after: 9s}
		  dds: {program: achdds, args: [--name, dds, --state, $folder/state, $folder/plan], alive: watchdog}
	END
	achstart --real "$folder/waist.launch" >"$folder/said" 2>&1 &
	echo $! >"$folder/achstart"
	lib_until level_is run
}
level_is() { newest waist-state | grep -q "\"level\":\"$1\""; }
pid_of() { sed -n 's/^pid //p' "$ENDPLATE_RUN/state/$1"; }

test_a_ros_user_sees_moves_and_stops_a_robot() {
	local before
	robot_up
	cat >"$folder/topics" <<-END
		rt/joint_states sensor_msgs::msg::dds_::JointState_ reliable
		rt/rosout rcl_interfaces::msg::dds_::Log_ reliable
		rt/diagnostics diagnostic_msgs::msg::dds_::DiagnosticArray_ reliable
		ros_discovery_info rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_ reliable
	END
	fast "$domain" read <"$folder/topics" >"$folder/got" &
	lib_until lines '^rt/joint_states' "$folder/got" 10
	lib_until lines '^rt/diagnostics' "$folder/got" 3
	grep -q 'matched ros_discovery_info' "$folder/got"
	before=$(position)
	# An empty stamp and frame, then joint 15, -0.3 rad.
	fast "$domain" write 100 >"$folder/got2" <<-END &
		rt/waist/command sensor_msgs::msg::dds_::JointState_ reliable $(printf %s 00010000 0000000000000000 \
			01000000 00000000 01000000 03000000 31350000 01000000 333333333333d3bf 00000000 00000000)
	END
	lib_until more subscribe /waist/command taken 10
	lib_until moved
	fast "$domain" write 5 >"$folder/got3" <<-END &
		rt/stop std_msgs::msg::dds_::String_ reliable 00010000080000006e6f77206e6f7700
	END
	lib_until level_is estop
	grep -q 'topic /stop: now now' <<<"$(ach echo --json "${p}estop-b")"
	lib_until lines '^rt/rosout' "$folder/got" 1
}
position() { newest waist-state | grep -oE '"position":.-?[0-9.e-]+' | grep -oE -- '-?[0-9.e-]+$'; }
moved() { awk -v a="$(position)" -v b="$before" 'BEGIN { exit !(a - b > 0.05 || b - a > 0.05) }'; }

test_a_killed_bridge_comes_back_and_the_robot_does_not_notice() {
	local waist clock pid before
	robot_up
	fast "$domain" read <<<'rt/joint_states sensor_msgs::msg::dds_::JointState_ reliable' >"$folder/got" &
	lib_until lines '^rt/joint_states' "$folder/got" 10
	waist=$(pid_of waist) clock=$(pid_of clock)
	for _ in 1 2 3 4 5 6 7 8; do
		pid=$(pid_of dds)
		sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
		kill -KILL "$pid"
		lib_until other_pid "$pid"
	done
	before=$(grep -c '^rt/joint_states' "$folder/got")
	lib_until lines '^rt/joint_states' "$folder/got" $((before + 10))
	[ "$(pid_of waist),$(pid_of clock)" = "$waist,$clock" ]
	# Of its 64 messages the oldest may be overwritten before they are read.
	ach echo --json "${p}waist-state" >"$folder/states"
	[ "$(wc -l <"$folder/states")" -ge 32 ]
	lib_not grep -v '"level":"run"' "$folder/states"
}
other_pid() { [ -n "$(pid_of dds)" ] && [ "$(pid_of dds)" != "$1" ] && kill -0 "$(pid_of dds)"; }

ways() {
	echo "domain: $domain"
	echo 'subscribe: {/way: {device: waist, type: trajectory_msgs/JointTrajectory, who: anyone}}'
}
end_writer() {
	[ -n "$writer" ] || return 0
	kill "$writer"
	wait "$writer" || true
}
# [POSITION SECONDS]...: joint 15 through these points, from now on until the next call; a message every 2 s.
send_way() {
	end_writer
	fast "$domain" write 0.5 >"$folder/got" < <(/usr/bin/python3 - "$@" <<-'END'
		import struct, sys
		points = [(float(p), float(s)) for p, s in zip(sys.argv[1::2], sys.argv[2::2])]
		head = bytes.fromhex("00000000000000000100000000000000")
		cdr = head + struct.pack("<II4sI", 1, 3, b"15", len(points))
		form = ["<I4xd3IiI", "<Id3IiI"] # the first is aligned otherwise
		cdr += b"".join(struct.pack(form[i > 0], 1, p, 0, 0, 0, int(s), int(s % 1 * 1e9))
		                for i, (p, s) in enumerate(points))
		print("rt/way trajectory_msgs::msg::dds_::JointTrajectory_ reliable", "00010000" + cdr.hex())
	END
	) &
	writer=$!
}
said() { ach echo --json "${p}dds-event" | grep -q "\"text\":\"/way: .*$1"; }
is_near() { awk -v a="$(position)" -v b="$1" 'BEGIN { exit !((a - b) ^ 2 < 1e-4) }'; }

test_a_trajectory_is_followed_replaced_refused_and_stopped() {
	local before writer='' at
	robot_up ways
	before=$(position)
	at=$(awk -v a="$before" 'BEGIN { print a - 0.2 }')
	send_way -9 1
	lib_until said 'joint 15: position -9 is outside its range, -2.8224 to -0.0576' # with the margin
	send_way -1 0.1 # too fast
	lib_until said 'joint 15: waypoint 0 cannot be reached in 0.1 s; give it 1.9'
	is_near "$before"
	send_way "$before" 0 "$(awk -v a="$before" 'BEGIN { print a - 0.1 }')" 0.8 "$at" 1.6
	lib_until is_near "$at"
	send_way -2.5 20
	before=$at
	lib_until moved
	send_way
	lib_until said 'the trajectory has ended: stopped'
	lib_not is_near -2.5
	[ "$(count subscribe /way malformed)" = 0 ]
	end_writer
}

lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# test_stranger.sh: a user of the machine who has no right over the robot, and the user of another robot.
#
# Neither can look, stop, arm or move.  A second robot beside the first one is an accident that is refused with a clear
# line, also under another user.
# waits: mostly
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

test_a_stranger_commands_nothing() {
	local user
	robot_up
	robot_armed
	for user in stranger other; do
		lib_matches 111 '*Permission denied*' as "$user" achctl status
		lib_matches 111 '*NOT RAISED*' as "$user" achctl estop
		lib_matches 111 '*Permission denied*' as "$user" achctl arm
		lib_matches 111 '*Permission denied*' as "$user" achctl restart waist
		lib_matches 111 '*Permission denied*' as "$user" achctl stop
	done
	level_is run
	still_alive
}

# Neither while the folder of channels is open to every user, as /dev/shm is.
test_a_stranger_touches_no_channel() {
	local user channel channels
	robot_up
	robot_armed
	channels=("$ACH_DIR"/achshm-*)
	for user in stranger other; do
		for channel in "${channels[@]##*/}"; do
			denied "$user" ach echo --last "${channel#achshm-}"
			denied "$user" ach put --hex 00 "${channel#achshm-}"
			denied "$user" ach rm "${channel#achshm-}"
			denied "$user" ach chmod 666 "${channel#achshm-}"
			denied "$user" rm -f "$ACH_DIR/$channel"
			denied "$user" mv "$ACH_DIR/$channel" "$ACH_DIR/x"
		done
	done
	level_is run
	still_alive
}

# He guesses the ids of the memory, and tries there.
test_a_stranger_touches_no_memory() {
	local id ids
	robot_up
	robot_armed
	mapfile -t ids < <(awk '$6 ~ /^.SYSV/ { print $5 }' "/proc/$(pid_of waist)/maps" | sort -u)
	[ ${#ids[@]} -ge 5 ]
	for id in "${ids[@]}"; do
		denied stranger ipcrm -m "$id"
	done
	level_is run
	still_alive
}

test_a_stranger_touches_no_process_and_no_file() {
	local pid
	robot_up
	robot_armed
	while read -r pid; do
		denied stranger kill -STOP "$pid"
	done < <(cat "$folder/achstart" "$folder/pids")
	denied stranger ls "$ENDPLATE_RUN"
	chmod 755 "$ENDPLATE_RUN" # by mistake
	denied stranger flock -n "$ENDPLATE_RUN/lock" true
	denied stranger rm -f "$ENDPLATE_RUN/lock"
	denied stranger ls "$ENDPLATE_RUN/state"
	denied stranger robotsim report
	lib_not as stranger canwire stats torso
	lib_matches 111 '*Permission denied*' as stranger achctl arm
	level_is run
	still_alive
}

# Another user starts a robot with the same channels.
test_a_second_robot_with_the_same_channels_is_refused() {
	local user
	robot_up
	robot_armed
	for user in robot other; do
		lib_matches 111 '*' second "$user"
	done
	level_is run
	still_alive
}
second() { # USER
	install -d -o "${uids[$1]}" "$folder/second"
	ENDPLATE_RUN=$folder/second timeout 60 setpriv --reuid="${uids[$1]}" --regid="${uids[$1]}" --clear-groups \
		achstart --real "$folder/waist.launch"
}

# The drivers of one device exclude each other by a claim, also one that root starts by hand.
test_a_second_driver_of_a_device_is_refused() {
	local user
	robot_up
	robot_armed
	for user in robot root; do
		lib_matches 112 '*pciod*process *uid*' as "$user" pciod --name waist --config "$folder/waist.yaml"
	done
	level_is run
	still_alive
}

# Garbage from users who can connect to the control socket.
test_garbage_for_achstart() {
	robot_up
	robot_armed
	as operator python3 -c 'import os, random, socket
os.chdir(os.environ["ENDPLATE_RUN"])
random.seed(1)
for i in range(200):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("control")
    try:
        s.sendall(random.choice([b"arm\t", b"", b"stop\t\t", b"status\t"]) + random.randbytes(i * 10) + b"\n" * (i % 2))
    except OSError:
        pass'
	level_is run
	still_alive
}

lib_functions "$folder/log" "${1:-}"

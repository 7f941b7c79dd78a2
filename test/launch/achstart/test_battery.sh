#!/bin/bash
# battery.launch: a battery that sends once in a second is neither killed nor restarted, and its last state outlives the
# robot.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
lib_tmp
PATH=$(realpath "$BUILD"):$PATH
export PATH

lib_need_namespaces battery

said() { # TIMES WORDS
	[ "$(grep -cF -- "$2" "$lib_folder/said")" -eq "$1" ] || { cat "$lib_folder/said"; return 1; }
}

test_30_s_without_a_restart() {
	lib_alone 'timeout -s KILL 100 achstart --virtual --seed 1 --for 30s test/launch/battery.launch; ls /dev/shm'
	said 1 'achstart[battery]: ready'
	said 1 'achstart[battery]: exit status 0, up 30.'
	said 0 killed
	said 1 'the charge is 19 %, the threshold is 20 %'
	said 1 'the charge is 9 %, the threshold is 10 %'
	said 0 achshm # on a virtual clock nothing is kept
}

test_a_pack_of_2_s_without_a_restart() {
	sed 's/cells: 15/period: 2s/' test/launch/battery.yaml >"$lib_folder/slow.yaml"
	sed 's/battery.yaml/slow.yaml/' test/launch/battery.launch >"$lib_folder/slow.launch"
	lib_alone "timeout -s KILL 100 achstart --virtual --seed 1 --for 30s $lib_folder/slow.launch"
	said 1 'achstart[battery]: ready'
	said 1 'achstart[battery]: exit status 0, up 30.'
	said 0 killed
}

test_the_same_battery_after_a_kill() {
	lib_alone 'timeout -s KILL 100 achstart --virtual --seed 1 --for 30s --kill battery@10.3s \
		test/launch/battery.launch'
	said 2 'achstart[battery]: ready'
	said 0 'not ready within'
}

test_its_last_state_outlives_the_robot() {
	# shellcheck disable=SC2016 # for the shell inside
	lib_alone '
		run() {
			achstart --real test/launch/battery.launch & started=$!
			for _ in $(seq 300); do
				! ach echo battery-state --last 2>/dev/null | grep -q "header.incarnation = $1" ||
					! ach echo battery-state --last | grep -q "lifecycle = active" || break
				sleep 0.1
			done
			achctl stop
			wait $started
		}
		run 1
		ls /dev/shm
		ach echo battery-state --last
		ach echo battery-event | grep text
		run 2
		ach echo battery-state --last'
	said 1 achshm-battery-state
	said 1 achshm-battery-event
	said 0 achshm-imu
	said 1 'header.incarnation = 1'
	said 1 'header.incarnation = 2' # and the next process continues it
	said 2 'voltage = 4'
	said 1 'the charge is 19 %, the threshold is 20 %"'
}

lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# vm_robotsim.sh: robotsim on SocketCAN: two modules beside each other on one vcan, asked by can-utils; an interface
# that comes later, and goes and comes back.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
robotsim=$(realpath "${BUILD:-build}/robotsim")

reports() { "$robotsim" report | grep -F -- "$1" >/dev/null; } # TEXT

on() { [ "$("$robotsim" report | grep -c 'controller error-active')" -eq 2 ]; }

play() { # INTERFACE
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	cat >"$lib_folder/robot.yaml" <<-END
		robot: test
		buses: {torso: {interface: $1, bitrate: 1000000}}
		devices:
		  waist:
		    driver: pciod
		    bus: torso
		    settings: {modules: "torso:14,15"}
	END
	"$robotsim" run "$lib_folder/robot.yaml" >"$lib_folder/played" 2>&1 &
	vm_until reports 'waist.15'
}

# INTERFACE FRAME ANSWER...: what comes of it, in any order, and nothing else.
asks() {
	local interface=$1 frame=$2

	shift 2
	vm_reader "$interface" "$lib_folder/heard" candump -L "$interface"
	cansend "$interface" "$frame"
	vm_until vm_lines "$lib_folder/heard" $(($# + 1))
	vm_stop "$vm_pid"
	printf '%s\n' "$frame" "$@" | sort >"$lib_folder/wanted"
	cut -d ' ' -f 3 "$lib_folder/heard" | sort | diff "$lib_folder/wanted" -
}

test_two_modules() {
	play vcan3
	vm_until on
	asks vcan3 0CE#0A20 0AE#0A200E
	asks vcan3 0CF#0A20 0AF#0A200F
	asks vcan3 0EF#02 0AF#02
	asks vcan3 100#02
	asks vcan3 0CD#0A20
	is "$("$robotsim" report waist.14 --json | grep -o '"in":[0-9]*')" = '"in":2'
	is "$("$robotsim" report waist.15 --json | grep -o '"in":[0-9]*')" = '"in":3'
}

test_moves() {
	play vcan4
	vm_until on
	cansend vcan4 0EE#0B110000803E
	vm_until reports 'velocity 0.25'
	cansend vcan4 100#02
	vm_until reports 'words homed,halted,brake'
}

test_comes_later_and_again() {
	play vcan30
	reports 'controller absent'
	vm_vcan vcan30
	vm_until on
	asks vcan30 0CF#0A20 0AF#0A200F
	ip link set vcan30 down
	vm_until reports 'controller stopped'
	ip link set vcan30 up
	vm_until on
	asks vcan30 0CF#0A20 0AF#0A200F
}

lib_functions "$lib_folder/log" "${1:-}"

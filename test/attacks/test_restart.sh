#!/bin/bash
# test_restart.sh: what a restarted process must not forget.
# waits: mostly
#
# Processes are killed at the worst moment.  The next process is at the same level or a higher one, and as long as a
# latch waits for a person it follows no reference and resets no module.
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

report() { as robot robotsim report --json waist.15; }
halted() { [[ $(report) == *halted,* ]]; }
where() { report | grep -oE '"(position|resets|homings)":-?[0-9.e+-]+' | xargs; } # it is, and how often it was reset

# An e-stop, then 70 raises to hold: more than the 64 messages that the channel keeps.  The estop is not in it any more.
test_seventy_holds_do_not_hide_an_estop() {
	robot_up
	robot_armed
	raises operator
	as operator ach put --json '{"kind":"raise","level":"hold","who":"x"}' --hz 500 --for 0.16 "${p}estop-b"
	as robot ach put --json '{"kind":"raise","level":"hold","who":"x"}' --hz 500 --for 0.16 "${p}estop"
	[ "$(messages estop)" -gt 70 ]
	level_is estop
	killed_and_back waist
	level_is estop
	halted
	robot_armed
}

# A process that did not see the beginning does not guess: the driver is killed, and its state is lost, too.
test_a_driver_whose_state_is_lost_waits_for_a_person() {
	robot_up
	robot_armed
	kill -STOP "$(<"$folder/achstart")"
	kill -KILL "$(pid_of waist)"
	as robot ach rm "${p}waist-state"
	kill -CONT "$(<"$folder/achstart")"
	lib_until state_has '"incarnation":2'
	lib_until state_has '"level":"estop"'
	[[ $(state --follow --count 50 | grep -oE '"lifecycle":"[a-z]*"' | sort -u) != *active* ]]
}

# ---- latches ----

latched() { # LATCH
	[[ $(state --last | grep -oE '"latches":"[^"]*"') == *"$1"* ]] && state_has '"lifecycle":"fault"'
}

# A person arms, if he can, and a controller writes references: nothing moves, nothing is reset.
nothing_moves() { # LATCH
	local before
	before=$(where)
	as armer achctl arm >/dev/null 2>&1 || true
	as mover ach put --json '{"mode":["position"],"position":[-1]}' --valid 25 --hz 100 --for 0.3 "${p}waist-ref" ||
		true # one may come too late
	latched "$1"
	[ "$(where)" = "$before" ]
}

# LATCH: the driver is killed, then its state is lost or garbage, then all is killed, the simulated module included.
stays_latched() {
	lib_until latched "$1"
	nothing_moves "$1"
	killed_and_back waist
	lib_until latched "$1"
	nothing_moves "$1"
	as robot ach put --hex 5a5a5a5a "${p}waist-state"
	kill_all
	start
	ready
	lib_until latched "$1"
	nothing_moves "$1"
}

test_lost_power_waits_for_a_person() {
	robot_up
	robot_armed
	as robot robotsim fault waist.15 power-off
	as robot robotsim fault waist.15 power-on
	stays_latched position-unknown
}

test_a_module_halted_by_another_waits_for_a_person() {
	robot_up
	robot_armed
	as robot robotsim fault waist.15 halted
	stays_latched halted-by-other
}

test_a_fault_of_the_device_waits_for_a_person() {
	robot_up
	robot_armed
	as robot robotsim fault waist.15 tow-error
	lib_until latched waits-for-person
	as robot robotsim fault --clear waist.15 tow-error
	as robot robotsim fault --clear waist.15 error
	stays_latched waits-for-person
	lib_matches 1 '*the group arming:*' as operator achctl clear waist
	as armer achctl clear waist
	lib_until state_has '"latches":"-"'
}

# ---- deaths without end ----

# A critical daemon that dies again and again raises the level once, not ten times a second.
test_a_crash_loop_raises_once() {
	lib_cleanup
	launch
	sed -i 's/^daemons: {/&dies: {program: "false", alive: process, critical: estop}, /' "$folder/waist.launch"
	start
	lib_until test -e "$ENDPLATE_RUN/log/events.log"
	lib_until deaths 8
	[ "$(messages estop)" -le 2 ]
	before=$(messages estop)
	lib_until deaths 16
	[ "$(messages estop)" = "$before" ]
}
deaths() { [ "$(count 'dies error ended')" -ge "$1" ]; }

# Garbage as the newest state does not let the count of incarnations begin again.
test_garbage_does_not_lower_the_incarnation() {
	robot_up
	killed_and_back waist
	lib_until state_has '"incarnation":2'
	kill -STOP "$(<"$folder/achstart")"
	kill -KILL "$(pid_of waist)"
	as robot ach put --hex 5a "${p}waist-state"
	kill -CONT "$(<"$folder/achstart")"
	lib_until state_has '"incarnation":3'
}

lib_functions "$folder/log" "${1:-}"

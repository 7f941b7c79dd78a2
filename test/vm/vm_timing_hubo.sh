#!/bin/bash
# vm_timing_hubo.sh: Hubo walks in place for 3 s on two vcan interfaces, on the virtual clock; meanwhile CLOCK_REALTIME
# is stepped by an hour, forth and back.
#
# The guest computes 1000 instructions in a microsecond, and plays all boards, too: the robot has a quarter of its pace.
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
export PATH=${BUILD:-build}:$PATH ENDPLATE_RUN=$lib_folder/run

cat >"$lib_folder/robot.yaml" <<END
like: $PWD/config/robots/bench-hubo.yaml
robot: vm
buses:
  lower: {interface: vcan0}
  upper: {interface: vcan1}
devices:
  hubo: {settings: {tick: 20ms, silent_after: 35ms}}
END
cat >"$lib_folder/robot.launch" <<END
include: robot.yaml
clock: none
arm: auto
daemons:
  robotsim: {priority: 55}
  hubo: {priority: 50, critical: hold}
  move: {program: hubo-move, args: [walk], alive: process, needs: hubo}
END

state() { ach echo hubo-state --last; }
says() { [[ $(state) == *"$1"* ]]; }
pass() { read -r -t "$1" -u "$vm_never" _ || true; } # SECONDS

test_walking_with_a_stepped_clock() {
	local ticks

	achstart "$lib_folder/robot.launch" >"$lib_folder/said" 2>&1 &
	# shellcheck disable=SC2016 # at the end
	vm_finally 'cat $lib_folder/said'
	vm_until says 'common.lifecycle = active'
	pass 1
	date -s '+1 hour' >/dev/null
	pass 1
	date -s '-1 hour' >/dev/null
	pass 1
	says 'common.lifecycle = active'
	says 'header.incarnation = 1'
	ticks=$(state | sed -n 's/^common.ticks = //p')
	echo "ticks $ticks, $(state | grep -E '^common.(skipped|late)'), missed $(achctl request hubo get missed)"
	is "$ticks" -ge 120
	! grep -E 'hubo (error|fatal)' "$lib_folder/said"
}

lib_functions "$lib_folder/log" "${1:-}"

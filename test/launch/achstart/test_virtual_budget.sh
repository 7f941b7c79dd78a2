#!/bin/bash
# achstart --virtual --charge: periods, budgets and weights of a launch file, by the controller of the pendulum.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
if ! unshare -minpf --mount-proc true 2>/dev/null; then
	lib_ignore virtual_budget "no namespaces here"
	lib_end
	exit
fi
if [ "${1:-}" != inside ]; then
	exec unshare -minpf --kill-child --mount-proc bash "$0" inside "${1:-}"
fi
lib_tmp
PATH=$build:$PATH
export ACH_DIR=$lib_folder ENDPLATE_RUN=$lib_folder/run
unset ENDPLATE_PREFIX NOTIFY_SOCKET

# NAME WORK KEYS...: a controller that computes for WORK in each of 400 cycles of 1 ms.
controllers=
controller() {
	controllers+="  $1: {program: $build/pendulumctl, needs: sim, restart: never, args: [--cycles, 400, --work, $2]"
	controllers+="$(printf ', %s' "${@:3}")}
"
}

# STATUS OPTION...
run() {
	local status=0
	rm -rf "$ENDPLATE_RUN"
	cat >"$lib_folder/budget.launch" <<END
include: $PWD/config/robots/pendulum.yaml
clock: none
daemons:
  sim: {program: $build/pendulumsim, alive: watchdog, world: yes}
$controllers
END
	timeout -s KILL 300 achstart --virtual --startup 5ms --for 800ms "${@:2}" "$lib_folder/budget.launch" \
		>"$lib_folder/out" 2>"$lib_folder/err" || status=$?
	cat "$lib_folder/out" "$lib_folder/err"
	[ "$status" -eq "$1" ]
}

# NAME LOW HIGH: how many of its cycles it missed; more of them where other programs empty the processor's caches.
missed() {
	local n
	n=$(sed -n 's/.* \([0-9]*\) missed;.*/\1/p' "$ENDPLATE_RUN/log/$1.log")
	echo "$1: $n missed"
	[ "$n" -ge "$2" ] && [ "$n" -le "$3" ]
}

test_over_the_budget_is_reported() {
	controller ctl 1300us 'period: 1ms'
	run 0 --charge
	missed ctl 195 260
	grep -x 'ctl: over its budget of 1 ms in [12][0-9]* periods of 1 ms, at worst [1-9].*' "$lib_folder/out"
}

test_within_the_budget_nothing_is() {
	controller ctl 100us 'period: 1s' 'budget: 999ms' 'over: fail'
	run 0 --charge
	lib_not grep budget "$lib_folder/out"
}

test_without_charging_nothing_is() {
	controller ctl 1300us 'period: 1ms' 'over: fail'
	run 0
	missed ctl 0 0
	lib_not grep budget "$lib_folder/out"
}

# 0.7 ms of a budget of 0.5 ms are done after 1.2 ms; reported only, after 0.7 ms.
test_a_process_over_its_budget_is_suspended() {
	controller ctl 700us 'period: 1ms' 'budget: 500us'
	run 0 --charge
	missed ctl 0 40
	controllers=
	controller ctl 700us 'period: 1ms' 'budget: 500us' 'over: suspend'
	run 0 --charge
	missed ctl 195 260
}

test_a_process_over_its_budget_fails() {
	controller ctl 1300us 'period: 1ms' 'over: fail'
	run 1 --charge
	grep -F 'achstart[ctl]: error: signal 9 (Killed), up 0.0' "$lib_folder/err"
	grep -F 'achstart[ctl]: virtual clock: over its budget of 1 ms in a period of 1 ms: killed' "$lib_folder/err"
}

# A processor of its own, beside one that takes a half of it, and with a planner that weighs three times as much.
test_planners_share_what_is_left() {
	controller planner 700us
	controller ctl 500us 'period: 1ms'
	run 0 --charge
	missed planner 0 40
	controllers=
	controller planner 700us 'weight: 1'
	controller ctl 500us 'period: 1ms'
	run 0 --charge
	missed ctl 0 40
	missed planner 140 220
	controllers=
	controller planner 1300us 'weight: 1'
	controller other 1300us 'weight: 3'
	run 0 --charge
	missed other 195 260
	missed planner 280 345
}

lib_functions "$lib_folder/log" "${2:-}"

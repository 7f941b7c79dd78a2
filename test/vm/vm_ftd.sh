#!/bin/bash
# vm_ftd.sh: ftd against a simulated force/torque sensor on SocketCAN: a bias that outlives the driver, a sensor that is
# switched off and on, an interface that goes and comes back.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH ENDPLATE_PREFIX=vmftd.
ft=${ENDPLATE_PREFIX}ft

state() { ach echo "$ft-state" --last; }
says() { [[ $(state) == *"$1"* ]]; } # TEXT: in the newest state
feels() { awk -v n="$1" '/^force/ { exit !($5 > n - 0.5 && $5 < n + 0.5) }' <<<"$(state)"; } # NEWTONS: along z

play() { # INTERFACE
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	ach rm "$ft"-{state,req,rep,event} "$ENDPLATE_PREFIX"{estop,estop-b} 2>/dev/null || true
	cat >"$lib_folder/robot.yaml" <<-END
		robot: test
		buses: {wrist: {interface: $1, bitrate: 1000000}}
		devices:
		  ft:
		    driver: ftd
		    bus: wrist
		    # an emulated machine is slow, and may stand still for a while
		    settings: {tick: 20ms, reply_late: 200ms, reply_lost: 400ms, silent_after: 1s, bias_samples: 10}
		    sim: {force: [0, 0, 12]}
	END
	robotsim run "$lib_folder/robot.yaml" >"$lib_folder/sim" 2>&1 &
	drive
	vm_until says 'common.lifecycle = active' || { ach echo "$ft-event" | grep text; return 1; }
}
drive() {
	ftd --name ft --config "$lib_folder/robot.yaml" >"$lib_folder/ft" 2>&1 &
	driver=$!
}

test_bias_outlives_the_driver() {
	play vcan5
	vm_until feels 12
	achctl request ft bias
	vm_until feels 0
	robotsim set ft.1 'force=[0,0,15]'
	vm_until feels 3
	kill -9 "$driver"
	wait "$driver" || true
	drive
	vm_until says 'header.incarnation = 2'
	vm_until says 'common.lifecycle = active'
	vm_until feels 3
	achctl request ft clear
	vm_until feels 15
}

test_power_cycle() {
	play vcan6
	robotsim fault ft.1 power-off
	vm_until says 'common.lifecycle = fault'
	robotsim fault ft.1 power-on
	vm_until says 'common.lifecycle = active'
	vm_until feels 12
}

test_interface_goes_and_comes() {
	play vcan7
	ip link set vcan7 down
	vm_until says 'common.lifecycle = fault'
	ip link set vcan7 up
	vm_until says 'common.lifecycle = active' || { ach echo "$ft-event" | grep text; return 1; }
}

lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# vm_bmsd.sh: bmsd against a simulated battery on SocketCAN: a driver that is killed, a battery that is switched off, an
# interface that goes and comes back.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH ENDPLATE_PREFIX=vmbmsd.
battery=${ENDPLATE_PREFIX}battery

state() { ach echo "$battery-state" --last; }
says() { [[ $(state) == *"$1"* ]]; } # TEXT: in the newest state
reports() { ach echo "$battery-event" | grep -qF -- "$1"; }

play() { # INTERFACE SIM
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	ach rm "$battery"-{state,req,rep,event} "$ENDPLATE_PREFIX"{estop,estop-b} 2>/dev/null || true
	cat >"$lib_folder/robot.yaml" <<-END
		robot: test
		buses: {torso: {interface: $1, bitrate: 500000}}
		devices:
		  battery:
		    driver: bmsd
		    bus: torso
		    settings: {cells: 15, period: 500ms}
		    sim: {cell_period: 20ms, $2}
	END
	robotsim run "$lib_folder/robot.yaml" >"$lib_folder/sim" 2>&1 &
	drive
	vm_until says 'common.lifecycle = active' || { ach echo "$battery-event" | grep text; return 1; }
}
drive() {
	bmsd --name battery --config "$lib_folder/robot.yaml" >"$lib_folder/battery" 2>&1 &
	driver=$!
}
hears() { [ "$(robotsim report battery.1 | grep -o 'keep_alives [0-9]*' | cut -d' ' -f2)" -ge "$1" ]; }

test_battery() {
	play vcan5 'charge: 0.15'
	vm_until says 'charge = 0.1'
	vm_until says 'current = -5 A'
	vm_until reports charge-low
	vm_until hears 2
	kill -9 "$driver"
	wait "$driver" || true
	drive
	vm_until says 'header.incarnation = 2'
	vm_until says 'common.lifecycle = active'
	robotsim fault battery.1 power-off
	vm_until says 'common.lifecycle = fault'
	robotsim fault battery.1 power-on
	vm_until says 'common.lifecycle = active'
	robotsim fault battery.1 checksum
	vm_until reports checksum
}

test_interface_goes_and_comes() {
	play vcan6 'permits: no, short: yes'
	ip link set vcan6 down
	vm_until says 'common.lifecycle = fault'
	ip link set vcan6 up
	vm_until says 'common.lifecycle = active' || { ach echo "$battery-event" | grep text; return 1; }
}

lib_functions "$lib_folder/log" "${1:-}"

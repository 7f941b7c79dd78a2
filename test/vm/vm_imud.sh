#!/bin/bash
# vm_imud.sh: imud against simulated sensors on SocketCAN: a DMU that has to be toggled, a driver that is killed, an
# interface that goes and comes back; an MTi.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH ENDPLATE_PREFIX=vmimud.
imu=${ENDPLATE_PREFIX}imu

state() { ach echo "$imu-state" --last; }
says() { [[ $(state) == *"$1"* ]]; } # TEXT: in the newest state
reports() { robotsim report imu.1 | grep -qF -- "$1"; }

play() { # INTERFACE KIND
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	ach rm "$imu"-{state,req,rep,event} "$ENDPLATE_PREFIX"{estop,estop-b} 2>/dev/null || true
	cat >"$lib_folder/robot.yaml" <<-END
		robot: test
		buses: {base: {interface: $1, bitrate: 1000000}}
		devices:
		  imu:
		    driver: imud
		    bus: base
		    # an emulated machine is slow, and may stand still for a while
		    settings: {kind: $2, rate: 50, listen: 500ms, retry: 2s, silent_after: 1s, tick: 20ms}
		    sim: {noise_force: 0.02}
	END
	robotsim run "$lib_folder/robot.yaml" >"$lib_folder/sim" 2>&1 &
	drive
	vm_until says 'common.lifecycle = active' || { ach echo "$imu-event" | grep text; return 1; }
}
drive() {
	imud --name imu --config "$lib_folder/robot.yaml" >"$lib_folder/imu" 2>&1 &
	driver=$!
}
stands() { awk '/^acceleration/ { exit !($5 > 9.5 && $5 < 10.1) }' <<<"$(state)"; }

test_dmu() {
	play vcan5 dmu
	vm_until stands
	vm_until reports 'streams yes'
	kill -9 "$driver"
	wait "$driver" || true
	drive
	vm_until says 'header.incarnation = 2'
	vm_until says 'common.lifecycle = active'
	robotsim fault imu.1 power-off
	vm_until says 'common.lifecycle = fault'
	robotsim fault imu.1 power-on
	vm_until says 'common.lifecycle = active'
	vm_until reports 'streams yes'
}

test_interface_goes_and_comes() {
	play vcan6 dmu
	ip link set vcan6 down
	vm_until says 'common.lifecycle = fault'
	ip link set vcan6 up
	vm_until says 'common.lifecycle = active' || { ach echo "$imu-event" | grep text; return 1; }
}

test_mti() {
	play vcan7 mti
	vm_until stands
	vm_until says 'status = 3'
}

lib_functions "$lib_folder/log" "${1:-}"

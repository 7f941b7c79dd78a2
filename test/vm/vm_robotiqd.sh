#!/bin/bash
# vm_robotiqd.sh: robotiqd against a simulated gripper on SocketCAN: activation, a grasp, a driver that is killed, an
# interface that goes and comes back, a power cycle; PDOs.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH ENDPLATE_PREFIX=vmrobotiqd.
grip=${ENDPLATE_PREFIX}grip

state() { ach echo "$grip-state" --last; }
says() { [[ $(state) == *"$1"* ]]; } # TEXT: in the newest state
goes() { robotsim report grip.11 | grep -qF ' go 1'; } # a report leaves out what is 0
stands() { ! goes; }

play() { # INTERFACE SETTINGS SIM
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	ach rm "$grip"-{state,ref,req,rep,event} "$ENDPLATE_PREFIX"{estop,estop-b} 2>/dev/null || true
	cat >"$lib_folder/robot.yaml" <<-END
		robot: test
		buses: {hand: {interface: $1, bitrate: 1000000}}
		devices:
		  grip:
		    driver: robotiqd
		    bus: hand
		    # an emulated machine is slow, and may stand still for a while
		    settings: {tick: 100ms, reply_late: 200ms, silent_after: 1s$2}
		    sim: {activation: 1s, object: 0.6$3}
	END
	robotsim run "$lib_folder/robot.yaml" >"$lib_folder/sim" 2>&1 &
	drive
	vm_until says 'count = 3' || { ach echo "$grip-event" | grep text; return 1; }
}
drive() {
	robotiqd --name grip --config "$lib_folder/robot.yaml" >"$lib_folder/grip" 2>&1 &
	driver=$!
}
refer() {
	ach put "$grip-ref" --hz 50 --valid 180 --json \
		'{"grip":"basic","position":[1,1,1],"speed":[1,1,1],"force":[0.5,0.5,0.5]}' &
	controller=$!
}

test_activation_and_a_grasp() {
	play vcan5 '' ''
	vm_until says 'common.lifecycle = disarmed'
	vm_until achctl arm --unsupervised >/dev/null
	achctl request grip activate
	vm_until says 'activated = 1'
	vm_until says 'common.lifecycle = holding'
	refer
	vm_until says 'stopped-closing' || { ach echo "$grip-event" | grep text; return 1; }
	kill "$controller"
	vm_until says 'common.lifecycle = holding'
	goes
	kill -9 "$driver"
	wait "$driver" || true
	drive
	vm_until says 'header.incarnation = 2'
	vm_until says 'common.lifecycle = holding'
	says 'activated = 1'
	goes
	achctl estop >/dev/null
	vm_until stands
	robotsim fault grip.11 power-off
	vm_until says 'common.lifecycle = fault'
	robotsim fault grip.11 power-on
	vm_until says 'activated = 0'
}

test_interface_goes_and_comes() {
	play vcan6 '' ', activated: yes'
	vm_until says 'common.lifecycle = disarmed'
	ip link set vcan6 down
	vm_until says 'common.lifecycle = fault'
	ip link set vcan6 up
	vm_until says 'common.lifecycle = disarmed' || { ach echo "$grip-event" | grep text; return 1; }
	says 'activated = 1'
}

test_pdos() {
	play vcan7 ', pdo: yes, refresh: 50ms' ', activated: yes, pdo_period: 100ms'
	vm_until achctl arm --unsupervised >/dev/null
	refer
	vm_until says 'stopped-closing' || { ach echo "$grip-event" | grep text; return 1; }
	kill "$controller"
}

lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# vm_amciod.sh: amciod against robotsim on SocketCAN, sampled by the SYNC of hubo-daemon: set up, armed, driven, killed
# and taken over, killed for good.
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH ENDPLATE_PREFIX=vmamciod.
wheels=${ENDPLATE_PREFIX}wheels

state() { ach echo "$wheels-state" --last; }
says() { grep -q -- "$1" <<<"$(state)"; } # PATTERN: in the newest state
drive_is() { robotsim report "wheels.$1" | tr '\n' ' ' | tr -s ' ' | grep -q -- "$2"; } # DRIVE PATTERN

play() { # INTERFACE: simulator, clock and driver on it
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	ach rm "$wheels"-{state,ref,req,rep,event} "$ENDPLATE_PREFIX"{estop,estop-b,clock,bus-base} 2>/dev/null || true
	cat >"$lib_folder/robot.yaml" <<-END
		robot: test
		buses: {base: {interface: $1, bitrate: 1000000, clock: "080#"}}
		devices:
		  clock: {driver: hubo-daemon, bus: base, actuated: no}
		  wheels:
		    driver: amciod
		    bus: base
		    settings: # an emulated machine is slow, and may stand still for a while
		      drives: 0x20 left, 0x21 right -
		      tick: clock/1
		      ref_max: 200ms
		      safe: zero-current
		      guard_time: 2s
		      silent_after: 1s
		      reply_late: 500ms
		    limits: {velocity: 20, acceleration: 50, current: 10}
		    sim: {inertia: 500, friction: 0}
	END
	robotsim run "$lib_folder/robot.yaml" >"$lib_folder/sim" 2>&1 &
	hubo-daemon --name clock --config "$lib_folder/robot.yaml" --set tick=20ms >"$lib_folder/clock" 2>&1 &
	drive
	vm_until says 'common.lifecycle = disarmed'
}
drive() {
	amciod --name wheels --config "$lib_folder/robot.yaml" >"$lib_folder/wheels" 2>&1 &
	driver=$!
}
refer() { # from now on; its process is in references
	ach put "$wheels-ref" --type joint-ref --valid 190 --hz 50 --for 600 \
		--json '{"mode":["current","current"],"current":[1,1]}' &
	references=$!
}

test_is_taken_over_and_guarded() {
	play vcan5
	vm_until achctl arm --unsupervised
	vm_until says '^status = enabled enabled'
	refer
	vm_until drive_is left 'current 0.99'
	vm_until drive_is right 'current 0.99'
	kill -9 "$driver"
	wait "$driver" || true
	vm_stop "$references"
	drive
	vm_until says 'common.lifecycle = holding'
	refer
	vm_until says 'common.lifecycle = active'
	vm_until drive_is left 'current 0.99'
	vm_until drive_is left 'enables 1,'
	kill -9 "$driver"
	wait "$driver" || true
	vm_until drive_is left 'state fault.*error 0x8130.*current -\?0.0000'
	vm_until drive_is right 'state fault.*error 0x8130.*current -\?0.0000'
	vm_stop "$references"
}

lib_functions "$lib_folder/log" "${1:-}"

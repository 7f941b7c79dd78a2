#!/bin/bash
# vm_pciod.sh: pciod against robotsim on SocketCAN, with the clock of hubo-daemon: taken over, armed, moved, killed and
# taken over again; an interface that goes and comes back.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH ENDPLATE_PREFIX=vmpciod.
waist=${ENDPLATE_PREFIX}waist

state() { ach echo "$waist-state" --last; }
says() { [[ $(state) == *"$1"* ]]; } # TEXT: in the newest state
at() { robotsim report waist.15 | grep -qF -- "$1"; }
position() { state | sed -n 's/^position = \([-0-9.e]*\).*/\1/p'; }
near() { awk -v p="$(position)" -v q="$1" 'BEGIN { exit !(p > q - 0.01 && p < q + 0.01) }'; }
between() { awk -v p="$(position)" -v low="$1" -v high="$2" 'BEGIN { exit !(p > low && p < high) }'; }

play() { # INTERFACE: simulator, clock and driver on it
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	ach rm "$waist"-{state,ref,req,rep,event} "$ENDPLATE_PREFIX"{estop,estop-b,clock,bus-torso} 2>/dev/null || true
	cat >"$lib_folder/robot.yaml" <<-END
		robot: test
		buses: {torso: {interface: $1, bitrate: 1000000}}
		devices:
		  clock: {driver: hubo-daemon, bus: torso, actuated: no}
		  waist:
		    driver: pciod
		    bus: torso
		    settings:
		      modules: 15
		      tick: clock/2
		      ref_max: 200ms
		      module_watchdog: 2s
		      silent_after: 1s
		      reply_late: 500ms
		      reply_lost: 1s
		    limits: {position: [-2.88, 0], velocity: 0.43, acceleration: 1.74, current: 10}
		    sim: {type: PRL120, watchdog: 2s} # an emulated machine is slow, and may stand still for a while
	END
	robotsim run "$lib_folder/robot.yaml" >"$lib_folder/sim" 2>&1 &
	hubo-daemon --name clock --config "$lib_folder/robot.yaml" --set tick=20ms >"$lib_folder/clock" 2>&1 &
	drive
	vm_until says 'common.lifecycle = disarmed'
}
drive() {
	pciod --name waist --config "$lib_folder/robot.yaml" >"$lib_folder/waist" 2>&1 &
	driver=$!
}
arm() { vm_until achctl arm --unsupervised; }
refer_to() { # POSITION: from now on; its process is in references
	ach put "$waist-ref" --type joint-ref --valid 190 --hz 50 --for 600 \
		--json '{"mode":["position"],"position":['"$1"'],"velocity":[0],"current":[0]}' &
	references=$!
}
move_to() { # POSITION LOW HIGH: until it is between them
	refer_to "$1"
	vm_until between "$2" "$3"
	vm_stop "$references"
}

test_moves_and_survives() {
	play vcan5
	arm
	vm_until says 'common.lifecycle = holding'
	move_to -1.40 -1.41 -1.39
	vm_until says 'common.lifecycle = holding'
	held=$(position) # its last reference may have expired late, in a slow machine, and beyond its target
	kill -9 "$driver"
	wait "$driver" || true
	drive
	vm_until says 'header.incarnation = 2'
	vm_until says 'common.lifecycle = holding'
	vm_until near "$held" # not at once: a machine that stood still loses the module for a while
	! at homings || { echo "it was homed"; return 1; }
	move_to -1.44 -1.45 -1.43
}

test_interface_goes_and_comes() {
	play vcan6
	arm
	vm_until says 'common.lifecycle = holding'
	ip link set vcan6 down
	vm_until says 'common.lifecycle = fault'
	ip link set vcan6 up
	vm_until says 'common.lifecycle = holding' || { ach echo "$waist-event" | grep text; return 1; }
	move_to -1.42 -1.43 -1.41
}

test_stops_by_itself_without_its_driver() {
	play vcan7
	arm
	vm_until says 'common.lifecycle = holding'
	refer_to -1.0
	vm_until at moving
	kill -9 "$driver"
	vm_until at comm-error
	vm_until at 'velocity 0.000000'
}

lib_functions "$lib_folder/log" "${1:-}"

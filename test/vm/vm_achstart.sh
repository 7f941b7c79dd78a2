#!/bin/bash
# vm_achstart.sh: achstart and its links on SocketCAN: brought up, down, away, bus-off, stalled; as root and as a user.
#
# Of the robot on vcan20 achstart also runs the simulator.  Of the one on can2 robotsim, on can3, is the hardware.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
chmod 755 "$lib_folder"
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH
unset NOTIFY_SOCKET

# As they were after boot.
restore() {
	[ ! -d /sys/module/canfault ] || vm_fault can2 resume
	vm_can_up can2 bitrate 1000000 restart-ms 100
	vm_can_up can3 bitrate 1000000 restart-ms 100
}
trap 'restore; rm -rf "$lib_folder"' EXIT

# ---- the robot ----

# NAME INTERFACE: its folder, robot file and launch file.  An emulated machine is slow and may stand still for a while.
robot() {
	robot=$1 folder=$lib_folder/$1
	mkdir -p "$folder/run"
	export ENDPLATE_PREFIX=$1. ENDPLATE_RUN=$folder/run XDG_RUNTIME_DIR=$folder
	cat >"$folder/robot.yaml" <<-END
		robot: $1
		buses: {torso: {interface: $2, bitrate: 1000000}}
		devices:
		  clock: {driver: hubo-daemon, bus: torso, actuated: no, settings: {tick: 50ms}}
		  waist:
		    driver: pciod
		    bus: torso
		    settings:
		      modules: 15
		      tick: clock/2
		      module_watchdog: 10s
		      silent_after: 5s
		      reply_late: 1s
		      reply_lost: 2s
		    limits: {position: [-2.88, 0], velocity: 0.43, acceleration: 1.74, current: 10}
		    sim: {type: PRL120, watchdog: 10s}
	END
	{
		printf '%s\n' 'include: robot.yaml'
		[[ $2 != vcan* ]] || printf '%s\n' 'arm: auto'
		printf '%s\n' 'daemons:'
		if [[ $2 == vcan* ]]; then
			printf '  %s: {dead_after: 20s, ready_within: 1min}\n' robotsim clock waist
		else
			printf '  %s: {dead_after: 20s, ready_within: 1min, priority: %d}\n' clock 50 waist 45
		fi
	} >"$folder/waist.launch"
}

# In the background these become what they run.
as_root() { exec "$@"; }
as_user() { # with one capability, and limits
	local one=-all,+net_admin

	exec prlimit --rtprio=99 --memlock=unlimited setpriv --reuid 65534 --regid 65534 --clear-groups \
		--no-new-privs --inh-caps "$one" --ambient-caps "$one" --bounding-set "$one" "$@"
}

bring_up() { # [as_user]
	"${1:-as_root}" achstart "$folder/waist.launch" >"$folder/said" 2>&1 &
	supervisor=$!
	vm_finally end_all # daemons outlive their achstart
}
processes() { awk '$1 == "pid" { print $2 }' "$ENDPLATE_RUN/state/${1:-}"* 2>/dev/null; }
end_all() { processes | xargs -r kill -KILL 2>/dev/null || true; }

# The hardware behind can2.
plug_in() {
	local hardware=$lib_folder/hardware

	mkdir -p "$hardware"
	vm_can_up can3
	sed 's/interface: can2/interface: can3/' "$folder/robot.yaml" >"$hardware/robot.yaml"
	ENDPLATE_RUN=$hardware robotsim run "$hardware/robot.yaml" >"$hardware/said" 2>&1 &
}

# Another driver on the bus, which keeps publishing the lifecycle LIFE.
other_says() { # LIFE
	[ -z "${other:-}" ] || vm_stop "$other"
	chrt -f 70 ach put "$robot.other-state" --type joint-state --hz 20 --json \
		'{"common":{"lifecycle":"'"$1"'","bus":[{"name":"torso","state":"error-active"}]}}' &
	other=$!
	vm_until other_is "$1"
}
other_is() { [[ $(ach echo "$robot.other-state" --last) == *"common.lifecycle = $1"* ]]; }

# ---- how it is ----

said() { grep -qE -- "$1" "$folder/said"; }
times() { grep -cE -- "$1" "$folder/said" || true; } # PATTERN: how often it was said
said_more() { [ "$(times "$1")" -gt "$2" ]; }
state() { ach echo "$robot.waist-state" --last; }
says() { [[ $(state) == *"$1"* ]]; } # TEXT: in the newest state
value() { state | sed -n "s/^$1 = \([-0-9.e]*\).*/\1/p"; }
ticked() { [ "$(value common.ticks)" -ge "$1" ]; }
real_time() { [[ $(chrt -p "$(processes "$1")") == *SCHED_FIFO* ]]; }
is_another() { local pid; pid=$(processes "$1") && [ -n "$pid" ] && [ "$pid" != "$2" ]; } # NAME PID
is_same() { [ "$(processes "$1")" = "$2" ]; }

until_it() { vm_until "$@" || { cat "$folder/said"; return 1; }; }
is_ready() { until_it said 'all . ready'; }
holds() { until_it says 'common.lifecycle = holding'; }

# Frames that are sent from now on arrive, and the driver holds.
works() {
	local sent

	holds
	sent=$(value 'common.bus\[0\].confirmed')
	until_it confirmed "$sent"
	holds
}
confirmed() { [ "$(value 'common.bus\[0\].confirmed')" -gt "$1" ]; }

set_down() { # INTERFACE: it is brought up again, and works
	local ups

	ups=$(times "$1 is up\$")
	ip link set "$1" down
	until_it said_more "$1 is up\$" "$ups"
	vm_until vm_is_up "$1"
	works
}

killed() { # NAME: it is back
	local pid

	pid=$(processes "$1")
	kill -KILL "$pid"
	until_it is_another "$1" "$pid"
	said "achstart\[$1\].* signal 9"
}

stops() { # and nothing is left
	kill -TERM "$supervisor"
	wait "$supervisor"
	said 'all stopped'
	is -z "$(ls "$ENDPLATE_RUN/state" 2>/dev/null)"
	is ! -e "$ENDPLATE_RUN/control"
	is -z "$(compgen -G "/dev/shm/ach*-$ENDPLATE_PREFIX*")"
	is "$(pgrep -cx 'hubo-daemon|pciod')" = 0
}

# ---- cases ----

test_virtual() {
	local status=0 waist at

	robot virtual vcan20
	achstart --check "$folder/waist.launch" >"$folder/check" 2>&1 || status=$?
	is "$status" = 111
	grep -F 'vcan20: no such CAN interface' "$folder/check"
	bring_up
	until_it said 'vcan20: no such CAN interface'
	# It becomes ready once the interface is there, without further help.
	ip link add vcan20 type vcan
	vm_finally "end_all; ip link del vcan20"
	is_ready
	said 'vcan20 is up'
	holds
	waist=$(processes waist)
	set_down vcan20
	# The interface is removed, and another of that name is added.
	ip link del vcan20
	until_it says 'common.bus[0].state = absent'
	ip link add vcan20 type vcan
	until_it vm_is_up vcan20
	works
	is_same waist "$waist"
	at=$(value position)
	killed waist
	until_it says 'header.incarnation = 2'
	holds
	awk -v a="$at" -v b="$(value position)" 'BEGIN { exit !(a - b < 0.01 && b - a < 0.01) }'
	works
	killed robotsim
	works
	achstart --check "$folder/waist.launch"
	stops
}

test_real() {
	local waist ticks stalls

	ip link set can2 down
	ip link set can2 type can bitrate 500000 restart-ms 100
	robot real can2
	printf '  other: {program: sleep, args: [infinity], alive: state, dead_after: 60s}\n' >>"$folder/waist.launch"
	ach mk -o 600 "$robot.other-state" --type joint-state
	other_says holding
	plug_in
	bring_up
	until_it said 'waist.*ready after'
	is "$(vm_link can2)" = 'ERROR-ACTIVE 0 0 0 1000000'
	real_time waist
	until_it achctl arm --who me
	holds
	waist=$(processes waist)
	set_down can2
	is "$(vm_link can2)" = 'ERROR-ACTIVE 0 0 0 1000000'
	# Bus-off: as long as one of the drivers moves, the queue may hold what it has sent.
	other_says active
	vm_fault can2 busoff
	until_it says 'common.bus[0].state = bus-off'
	ticks=$(value common.ticks)
	until_it ticked $((ticks + 10))
	vm_in_state can2 BUS-OFF
	lib_not said 'was bus-off'
	other_says holding
	until_it said 'can2 was bus-off and has been reset'
	until_it vm_in_state can2 ERROR-ACTIVE
	works
	# Nothing gets onto the bus: reset again and again, until it helps.
	stalls=$(times 'was stalled')
	vm_fault can2 stall
	until_it said_more 'can2 was stalled and has been reset' $((stalls + 2))
	vm_fault can2 resume
	works
	is_same waist "$waist"
	stops
}

# Not touched as long as it is up: others may use it.
test_other_values() {
	local status=0

	vm_can_up can2 bitrate 500000 restart-ms 0
	robot values can2
	achstart --check "$folder/waist.launch" >"$folder/check" 2>&1 || status=$?
	is "$status" = 111
	grep -F 'can2 is up with bit rate 500000, not 1000000' "$folder/check"
	plug_in
	bring_up
	until_it said 'can2 is up with bit rate 500000, not 1000000; take it down first: ip link set can2 down'
	ip link set can2 down
	until_it said 'can2 is up$'
	is "$(vm_link can2)" = 'ERROR-ACTIVE 0 0 0 1000000'
	is_ready
	stops
}

test_an_ordinary_user() {
	ip link set can2 down
	ip link set can2 type can bitrate 250000
	robot user can2
	chown -R 65534:65534 "$folder"
	plug_in
	bring_up as_user
	is_ready
	lib_not said CAP_
	is "$(awk '$1 == "CapEff:" { print $2 }' "/proc/$supervisor/status")" = 0000000000001000
	is "$(vm_link can2)" = 'ERROR-ACTIVE 0 0 0 1000000'
	real_time waist
	until_it achctl arm --who me
	holds
	killed waist
	until_it says 'header.incarnation = 2'
	holds
	real_time waist
	is "$(stat -c %u "/proc/$(processes waist)")" = 65534
	set_down can2
	stops
}

[ -z "$(vm_no_faults)" ] || { vm_no_faults; unset -f test_real; lib_ignore test_real "$(vm_no_faults)"; }
lib_functions "$lib_folder/log" "${1:-}"

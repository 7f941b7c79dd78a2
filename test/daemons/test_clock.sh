#!/bin/bash
# hubo-daemon, the clock of the robot, with real programs on soft wires.
# shellcheck disable=SC2317 # called by name
set -eu -o pipefail
. test/scripts/lib.sh
lib_tmp
lib_go_first
canwire=$build/canwire ach=$build/ach
export ENDPLATE_RUN=$lib_folder/run
wires=()
cleanup() {
	kill -KILL "${wires[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -f /dev/shm/ach{shm,bell}-"clk$$"-*
	rm -rf "$lib_folder"
}
trap cleanup EXIT

wire() { # BUS
	"$canwire" run --outage 0 "$1" >>"$lib_folder/wires" 2>&1 &
	wires+=($!)
	lib_until "$canwire" stats "$1"
}
wire torso

cat >"$lib_folder/robot.yaml" <<'END'
robot: clk
buses:
  torso: {interface: wire:torso, clock: 080#, clock_divider: 5}
  base: {interface: wire:base, clock: 100#0F, bitrate: 500000}
devices:
  clock: {driver: hubo-daemon, bus: torso, actuated: no}
  two: {driver: hubo-daemon, bus: [torso, base], actuated: no}
  other: {driver: hubo-daemon, bus: base, actuated: no}
  demo:
    driver: exampled
    bus: torso
    settings: {tick: clock/5, ref_max: 200ms}
    limits: {velocity: 32, acceleration: 0.2}
END

claims_free() {
	! grep -F "@endplate/dev/$lib_folder" /proc/net/unix
}

# Each test has channels of its own.
prefix() {
	export ENDPLATE_PREFIX=clk$$-$1-
}

# What the test before killed is gone.
part() {
	prefix "$1"
	lib_until claims_free
}

hubo() { # NAME [OPTION...]: starts it and waits until it is ready
	"$build/hubo-daemon" --name "$1" --config "$lib_folder/robot.yaml" "${@:2}" &
	clock=$!
	lib_until life active
}

newest() { # CHANNEL FILTER: of its newest message
	"$ach" echo --last --json "$ENDPLATE_PREFIX$1" | jq -e "$2"
}

life() { # WORD
	newest clock ".common.lifecycle == \"$1\""
}

event() { # CODE WORDS: there was one
	"$ach" echo --json "$ENDPLATE_PREFIX$1-event" | jq "select(.code == \"$2\") | .text" | grep -F "$3"
}

has_ear() { # BUS
	"$canwire" stats "$1" | grep 'controller ear'
}

# A node that acknowledges.
listen() { # BUS
	"$canwire" dump "$1" --as ear >/dev/null &
	lib_until has_ear "$1"
}

refused() { # STATUS WORDS COMMAND...
	local want=$1 words=$2 status=0
	shift 2
	timeout 30 "$@" >"$lib_folder/said" 2>&1 || status=$?
	cat "$lib_folder/said"
	[ "$status" -eq "$want" ] || { echo "status $status, not $want"; return 1; }
	grep -qF -- "$words" "$lib_folder/said"
}

test_frames_it_sends() {
	"$build/hubo-daemon" --name two --config "$lib_folder/robot.yaml" --frames >"$lib_folder/frames"
	jq -c '.frames[] | select(.dir == "tx") | [.bus, .id, .len, .class, .shared, .period_us, .deadline_us]' \
		"$lib_folder/frames" >"$lib_folder/rows"
	diff - "$lib_folder/rows" <<-'END'
		["torso","080",0,"latest",false,5000,1000]
		["base","100",1,"latest",true,1000,1000]
	END
}

test_follows_nothing() {
	local tick
	for tick in clock clock/5 'frame torso 0x080 5ms'; do
		refused 100 tick "$build/hubo-daemon" --name clock --config "$lib_folder/robot.yaml" --set tick="$tick"
	done
}

test_says_which_cycle_it_is() {
	part cycle
	listen torso
	hubo clock
	newest clock '.t_cycle_ns == .cycle * .period_ns and .period_ns == 1000000 and .late_ns >= 0'
	lib_until newest clock '.bus[0] | .name == "torso" and .divider == 5 and .confirmed > 100'
	kill -TERM "$clock"
	wait "$clock"
	life down
	# Every fifth cycle had a frame, whether it left or not; at the ends and where some were skipped one or two off.
	newest clock '.bus[0].sent <= (.common.ticks + .common.skipped) / 5 + 1'
	newest clock '.common | .bus[0].sent + .bus[0].replaced + .bus[0].expired >= .ticks / 5 - 2 - .skipped'
}

test_says_how_the_buses_are() {
	local frames
	part bus
	listen torso
	hubo clock
	lib_until newest bus-torso '.name == "torso" and .interface == "wire:torso" and .state == "error-active"'
	lib_until newest bus-torso '.bitrate == 1000000 and .load > 0 and .load_max >= .load and .load_max < 0.2'
	lib_until newest clock '.bus[0].load > 0'
	frames=$(newest bus-torso .frames)
	"$canwire" fault torso babble ear 123#1122334455667788 300ms
	lib_until newest bus-torso '.load_max > 0.5 and .load_max < 1.02'
	lib_until newest bus-torso ".frames > $frames + 500"
	lib_until newest bus-torso '.load < 0.2'
	newest bus-torso '.load_max > 0.5'
}

test_a_second_one_does_not_start() {
	part second
	hubo clock
	refused 111 "hubo-daemon, process $clock" \
		"$build/hubo-daemon" --name clock --config "$lib_folder/robot.yaml"
	refused 111 "hubo-daemon, process $clock" "$build/hubo-daemon" --name clock --bus wire:torso
	lib_until life active
}

test_a_second_one_of_one_robot_on_another_bus() {
	part third
	hubo clock
	refused 111 "hubo-daemon, process $clock" \
		"$build/hubo-daemon" --name other --config "$lib_folder/robot.yaml"
	lib_until life active
	# Another robot, with buses of its own, has a clock of its own.
	prefix fourth
	hubo other
}

test_goes_on_without_a_bus() {
	part absent
	listen torso
	hubo two
	lib_until newest bus-base '.state == "absent"'
	lib_until event two bus-base 'base is absent'
	lib_until life active
	lib_until newest clock '.bus[0].confirmed > 20 and .bus[1].confirmed == 0'
	wire base
	listen base
	lib_until newest clock '.bus[1].confirmed > 20'
	lib_until event two bus-base 'base is back'
	lib_until newest bus-base '.bitrate == 500000 and .load > 0'
	kill -KILL "${wires[-1]}"
	lib_until newest bus-base '.state == "absent"'
	lib_until life active
}

test_another_sender_of_its_frame_is_reported() {
	part else
	hubo clock
	"$canwire" send torso --as ear 081# 080#00
	lib_not event clock second-clock another
	"$canwire" send torso --as ear 080#
	lib_until event clock second-clock 'another node sends the clock frame of torso'
}

test_a_rate_that_is_not_kept() {
	part slow
	hubo clock
	kill -STOP "$clock"
	sleep 1.2
	kill -CONT "$clock"
	lib_until event clock slow 'cycles skipped'
	lib_until life active # a good second later
}

test_killed_a_hundred_times() {
	part kill
	"$build/test/daemons/clock/killer" "$build" "$lib_folder/robot.yaml" 100
}

# Drivers on it know the clock by its channel alone.
test_killed_on_a_bus_without_a_clock_frame() {
	part quiet
	sed 's/clock: 080#/clock: none/' "$lib_folder/robot.yaml" >"$lib_folder/quiet.yaml"
	"$build/test/daemons/clock/killer" "$build" "$lib_folder/quiet.yaml" 40
}

lib_functions "$lib_folder/log" "$@"

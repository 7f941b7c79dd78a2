#!/bin/bash
# vm_stopd.sh: stopd on lines of a GPIO chip, which a module of the tests makes (canfault/module/gpiofake.c), and on a
# frame of a simulated I/O module on SocketCAN.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH ENDPLATE_PREFIX=vmstopd.
stop=${ENDPLATE_PREFIX}stop
chip=/sys/module/gpiofake/parameters
module=${BUILD:-build}/test/vm/canfault/$(uname -r)/gpiofake.ko

state() { ach echo "$stop-state" --last; }
says() { [[ $(state) == *"$1"* ]]; } # TEXT: in the newest state
arms() { achctl arm --unsupervised; }
# WORDS: with which stopd has raised again.
refused() { ! achctl arm --unsupervised >/dev/null 2>&1 && grep -q "level estop.* stopd: .*$1" "$lib_folder/stopd"; }

begin() { # FOLLOWS: of the device in the robot file
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	ach rm "$stop"-{state,req,rep,event} "$ENDPLATE_PREFIX"{estop,estop-b} 2>/dev/null || true
	cat >"$lib_folder/robot.yaml" <<-END
		robot: test
		buses: {io: {interface: vcan4}}
		devices: {stop: {driver: stopd, $1}}
	END
}
drive() {
	stopd --name stop --config "$lib_folder/robot.yaml" >"$lib_folder/stopd" 2>&1 &
	driver=$!
}

test_lines() {
	[ -f "$module" ] || { lib_ignore lines "no headers of this kernel"; return; }
	[ -d "$chip" ] || insmod "$module"
	echo 0 >"$chip/levels"
	begin 'settings: {input: gpio, chip: gpiofake, lines: [2, 5]}'
	drive
	vm_until says 'common.lifecycle = active'
	vm_until refused 'stop input is open'
	echo $((1 << 2 | 1 << 5)) >"$chip/levels"
	vm_until says 'enabled'
	vm_until arms
	vm_until says 'common.level = run'
	echo $((1 << 2)) >"$chip/levels" # one channel opens
	vm_until says 'common.level = estop'
	vm_until says 'common.lifecycle = fault' # and the other does not
	echo $((1 << 2 | 1 << 5)) >"$chip/levels"
	vm_until says 'state_word = 1 1'
	! arms || return 1 # in fault until both were open
	echo 0 >"$chip/levels"
	vm_until says 'common.lifecycle = active'
	echo $((1 << 2 | 1 << 5)) >"$chip/levels"
	vm_until says 'enabled'
	vm_until arms
	vm_until says 'common.level = run'
	echo N >"$chip/present" # the chip is gone
	vm_until says 'common.level = estop'
	vm_until says 'common.lifecycle = fault'
	echo Y >"$chip/present"
	vm_until says 'enabled'
	vm_until arms
	vm_until says 'common.level = run'
}

test_closed_is_low() {
	[ -f "$module" ] || { lib_ignore closed_is_low "no headers of this kernel"; return; }
	[ -d "$chip" ] || insmod "$module"
	echo 255 >"$chip/levels"
	begin 'settings: {input: gpio, chip: gpiofake, lines: [7], closed: low, bias: up}'
	drive
	vm_until refused 'stop input is open'
	echo 127 >"$chip/levels"
	vm_until arms
	vm_until says 'common.level = run'
	kill -9 "$driver"
	wait "$driver" || true
	drive # what happened meanwhile is not known
	vm_until says 'header.incarnation = 2'
	vm_until says 'common.level = estop'
}

test_frame() {
	begin 'bus: io, actuated: no, settings: {input: frame, bits: [0, 1], silent_after: 1s}'
	robotsim run "$lib_folder/robot.yaml" >"$lib_folder/sim" 2>&1 &
	drive
	vm_until says 'enabled'
	vm_until arms
	vm_until says 'common.level = run'
	robotsim set stop.1 pressed=yes
	vm_until says 'common.level = estop'
	robotsim set stop.1 pressed=no
	vm_until says 'enabled'
	vm_until arms
	vm_until says 'common.level = run'
	ip link set vcan4 down
	vm_until says 'common.level = estop'
	ip link set vcan4 up
	vm_until says 'enabled'
}

lib_functions "$lib_folder/log" "${1:-}"

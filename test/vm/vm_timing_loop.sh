#!/bin/bash
# vm_timing_loop.sh: canreplay --closed-loop on SocketCAN: drivers on vcan0 with the recordings of test/launch/loop,
# which were made on soft wires.  On the virtual clock: what is compared has moments.
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
tree=$PWD
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH ENDPLATE_PREFIX=vmloop. ENDPLATE_RUN=$lib_folder/run
mkdir -m 700 "$ENDPLATE_RUN"

# CASE [SED]: the driver, changed like this, and the report.
play() {
	rm -rf "${lib_folder:?}/$1" && mkdir "$lib_folder/$1" && cd "$lib_folder/$1"
	cp "$tree/test/launch/loop/$1"/* .
	sed -i 's/interface: wire:[a-z]*/interface: vcan0/' robot.yaml
	sed -i "${2:-}" robot.yaml
	# shellcheck disable=SC2046 # a command line
	$(<driver) --frames >frames.json
	vm_reader vcan0 said canreplay bus.log --closed-loop --frames frames.json --map '*=vcan0' --diff --report report
	replay=$vm_pid
	# shellcheck disable=SC2046 # a command line
	$(<driver) --set lock_memory=no >driver.log 2>&1 &
	driver=$!
	status=0
	wait "$replay" || status=$?
	vm_stop "$driver"
	cat said report
}

test_a_driver_against_its_own_recording() {
	play force
	is "$status" -eq 0
	grep -qx 'no difference' report
	grep -q '[1-9][0-9]* answers played' report
}
# Its cycle begins when the one before has ended: in 1 s there may be one less.
test_canopen() {
	play gripper
	grep -q '[1-9][0-9][0-9] answers played' report
	awk '/^hand / { n++; if ($6 + $7 + $9 || $8 > 1) wrong = 1 } END { exit n < 10 || wrong }' report
}
test_a_driver_with_another_rate() {
	play force '/actuated: no/a\    settings: {tick: 16ms}'
	is "$status" -eq 1
	grep -q '^[1-9][0-9]* differences.* in arm 200#' report
}

lib_functions "$lib_folder/log" "${1:-}"

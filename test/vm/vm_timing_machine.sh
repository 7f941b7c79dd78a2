#!/bin/bash
# vm_timing_machine.sh: the virtual clock: ten minutes of sleep take ten minutes of it, to the millisecond, and no time
# of the host.
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp

# Pages that must come from the host take any time, so the measured run is the second.
clock_ms() { # sets now
	local up

	read -r up _ </proc/uptime
	now=$((10#${up/./} * 10))
}
slept() { # SECONDS: sets took
	local start

	clock_ms
	start=$now
	read -rt "$1" _ <>"$lib_folder/never" || true
	clock_ms
	took=$((now - start))
}

test_virtual_clock() {
	local took now

	mkfifo "$lib_folder/never"
	slept 0.01
	slept 600
	echo "600 s took $took ms"
	[ "$took" -ge 600000 ]
	[ "$took" -le 600100 ]
}

# Two frames with 10 ms between them, by the stamps of the kernel.
test_stamps() {
	local frames=$lib_folder/frames

	vm_reader vcan0 "$frames" candump -L vcan0
	cangen vcan0 -n 3 -g 10 -I 100 -L 0
	vm_until vm_lines "$frames" 3
	cat "$frames"
	tr -d '(.)' <"$frames" |
		awk 'NR > 1 && ($1 - last < 10000 || $1 - last > 10500) { bad = 1 } { last = $1 } END { exit bad }'
}

lib_functions "$lib_folder/log" "${1:-}"

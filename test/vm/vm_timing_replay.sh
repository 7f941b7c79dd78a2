#!/bin/bash
# vm_timing_replay.sh: on the virtual clock: when canreplay's frames come, beside canplayer's, and canrecord's stamps
# beside candump's.  The figures are of the kernel's and the programs' paths, not of any hardware.
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
record=$build/canrecord
replay=$build/canreplay
cd "$lib_folder"

# Limits of time hold on the virtual clock only; the bench runs the same in real time.
in_time() { [ "${VM_GUEST:-timing}" != timing ] || is "$@"; }

# 4 s: every millisecond a frame, every tenth a pair with 70 us between, and a silence now and then.
awk 'BEGIN {
	for (i = 0; i < 3000; i++) {
		t = 1700000000000000 + i * 1000 + int(i / 1000) * 300000
		printf "(%d.%06d) a 100#%08X\n", t / 1000000, t % 1000000, n++
		if (i % 10 == 0)
			printf "(%d.%06d) a 200#%08X\n", (t + 70) / 1000000, (t + 70) % 1000000, n++
	}
}' >in.log
count=$(wc -l <in.log)

exec 3>&1
figure() { echo "bench $1 $2 us" >&3; } # NAME VALUE

# NAME HEARD: when each frame came after the first one, less when it was to come, in us.  Sets p50, p99, max (of its
# size) and drift: the median of the last hundred less that of the first hundred.
errors() {
	paste -d' ' in.log "$2" | tr -d '(.)' | awk '
		NR == 1 { first = $1; heard = $4 }
		$3 != $6 { print "another frame: " $0 >"/dev/stderr"; exit 1 }
		{ print ($4 - heard) - ($1 - first) }' >"$1.errors"
	is "$(wc -l <"$1.errors")" -eq "$count"
	sed 's/^-//' "$1.errors" | sort -n >"$1.sizes"
	p50=$(sed -n "$((count / 2))p" "$1.sizes") p99=$(sed -n "$((count * 99 / 100))p" "$1.sizes")
	max=$(tail -n 1 "$1.sizes")
	drift=$(($(tail -n 100 "$1.errors" | sort -n | sed -n 50p) - $(head -n 100 "$1.errors" | sort -n | sed -n 50p)))
	figure "$1_p50" "$p50"
	figure "$1_p99" "$p99"
	figure "$1_max" "$max"
	figure "$1_drift" "$drift"
}
played() { # NAME COMMAND...: what comes of it, by candump's stamps, in NAME.heard
	local name=$1
	shift
	"$@" >/dev/null 2>&1 # once for the pages of the program: on this clock they take any time
	vm_reader vcan1 "$name.heard" candump -L vcan1
	"$@" >"$name.out"
	vm_until vm_lines "$name.heard" "$count"
	vm_stop "$vm_pid"
}

# Errors do not add up, and frames are as late as a wake-up is.  The yardstick sleeps a millisecond at a time.
test_canreplay() {
	local p50 p99 max drift yardstick
	played canplayer canplayer -I in.log vcan1=a
	errors canplayer canplayer.heard
	yardstick=$p99
	played canreplay "$replay" in.log --map a=vcan1 --json
	errors canreplay canreplay.heard
	cat canreplay.out
	in_time "$p99" -le 60
	in_time "$p99" -lt "$yardstick"
	in_time "${drift#-}" -le 20
	grep -q "\"sent\":$count,\"confirmed\":$count," canreplay.out
	# The lateness that it reports is the one that candump sees.
	in_time "$(sed -E 's/.*"p99":([0-9]+).*/\1/' canreplay.out)" -le 200000
}
test_canreplay_faster() {
	local p99
	played canreplay "$replay" in.log --map a=vcan1 --json --speed 4
	paste -d' ' in.log canreplay.heard | tr -d '(.)' | awk '
		NR == 1 { first = $1; heard = $4 }
		{ e = ($4 - heard) - ($1 - first) / 4; print e < 0 ? -e : e }' | sort -n >sizes
	p99=$(sed -n "$((count * 99 / 100))p" sizes)
	figure canreplay_speed4_p99 "$p99"
	in_time "${p99%.*}" -le 60
}
# The same frames by candump and by us: the same stamps.
test_stamps() {
	local dumper recorder
	vm_reader vcan1 dump.log candump -L vcan1
	dumper=$vm_pid
	rm -f rec.log
	vm_reader vcan1 out "$record" vcan1 -o rec.log
	recorder=$vm_pid
	"$replay" in.log --map a=vcan1 --speed 4 >/dev/null
	vm_until vm_lines rec.log "$count"
	vm_until vm_lines dump.log "$count"
	vm_stop "$recorder" INT
	vm_stop "$dumper"
	paste -d' ' dump.log rec.log | tr -d '(.)' | awk '
		$3 != $6 { print "another frame: " $0 >"/dev/stderr"; exit 1 }
		{ d = $4 - $1; print d < 0 ? -d : d }' | sort -n >apart
	is "$(wc -l <apart)" -eq "$count"
	figure canrecord_stamp_p50 "$(sed -n "$((count / 2))p" apart)"
	figure canrecord_stamp_max "$(tail -n 1 apart)"
	in_time "$(tail -n 1 apart)" -le 10
}

lib_functions "$lib_folder/log" "${1:-}"

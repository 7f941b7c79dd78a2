#!/bin/bash
# replay_guest.sh CLOCK MILLISECONDS: in the virtual machine, for test/bench/peers/replay.
set -eu
clock=$1 milliseconds=$2 ours=
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
cd "$lib_folder" # not in the tree, whose can/ is another module for python

# A frame every millisecond, every tenth followed by another one after 150 us.
awk -v n="$milliseconds" 'BEGIN {
	for (i = 0; i < n; i++) {
		t = 1700000000000000 + i * 1000
		printf "(%d.%06d) a 100#%08X\n", t / 1000000, t % 1000000, number++
		if (i % 10 == 0)
			printf "(%d.%06d) a 200#%08X\n", (t + 150) / 1000000, (t + 150) % 1000000, number++
	}
}' >in.log
count=$(wc -l <in.log)

play() { # NAME COMMAND...
	local name=$1 p50 p99 max
	shift
	# Once for the pages of the program: on the virtual clock they take any time.
	if ! "$@" >out 2>&1; then
		echo "skipped: $name: $(tail -n 1 out)"
		return
	fi
	vm_reader vcan1 heard candump -L vcan1
	"$@" >out 2>&1
	vm_until vm_lines heard "$count"
	vm_stop "$vm_pid"
	paste -d' ' in.log heard | tr -d '(.)' | awk '
		NR == 1 { first = $1; heard = $4 }
		$3 != $6 { print "another frame: " $0 >"/dev/stderr"; exit 1 }
		{ print ($4 - heard) - ($1 - first) }' | sort -n | awk -v count="$count" '
		NR == 1 { earliest = $1 }
		NR == int(count / 2) { p50 = $1 - earliest }
		NR == int(count * 99 / 100) { p99 = $1 - earliest }
		END { print p50, p99, $1 - earliest }' >late
	read -r p50 p99 max <late
	printf '  %-10s %-12s %8d %8d %8d\n' "$clock" "$name" "$p50" "$p99" "$max"
	echo "bench peers.replay.$clock.$name.p50 $p50 us"
	echo "bench peers.replay.$clock.$name.p99 $p99 us"
	case $name in
	canreplay) ours=$p99 ;;
	*)
		[ -n "$ours" ] || return
		awk -v a="$ours" -v b="$p99" -v name="peers.replay.$clock.$name.p99_ratio" 'BEGIN {
			r = a / (b > 0 ? b : 1)
			printf "target %s %.3f <= 1.00 %s\n", name, r, r <= 1 ? "PASS" : "MISS"
		}'
		;;
	esac
}
play canreplay "$build/canreplay" in.log --map a=vcan1
play canplayer canplayer -I in.log vcan1=a
play python-can /usr/bin/python3 -m can.player -i socketcan -c vcan1 -g 0 in.log

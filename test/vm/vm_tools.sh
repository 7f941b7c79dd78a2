#!/bin/bash
# vm_tools.sh: canrecord and canreplay on the real kernel, against candump, cansend, cangen and canplayer.
# on: timing
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
record=$build/canrecord
replay=$build/canreplay
cd "$lib_folder"

frames() { grep -v '^#' "$@" | cut -d' ' -f3-; } # without stamp and bus
said() { grep -qF -- "$1" err; }		  # TEXT: by the recorder, on standard error
said_twice() { [ "$(grep -cF -- "$1" err)" -eq 2 ]; }
sorted() { grep -v '^#' "$1" | sort -cs -k 1,1; } # by stamp: they have one length

# BUS[,BUS] OPTION...: canrecord in the background, once it hears the last of the buses; its pid is $recorder.
recording() {
	local buses
	IFS=, read -ra buses <<<"$1"
	shift
	rm -f rec.log
	vm_reader "${buses[-1]}" out bash -c 'exec "$@" 2>err' _ "$record" "${buses[@]}" "$@" -o rec.log
	recorder=$vm_pid
}
recorded() { [ "$(grep -vc '^#' rec.log)" -ge "$1" ]; } # COUNT: so many frames are in the file
finished() { # ^C, and its exit status
	local status=0
	kill -INT "$recorder"
	wait "$recorder" || status=$?
	is "$status" -eq 0 || { cat out err; return 1; }
}

# Every kind of frame, as cansend takes it.
kinds=(123# 123#DEADBEEF 7FF#0011223344556677 000#R 1FFFFFFF#0011223344556677 00000000#
	123##1 7FF##700112233445566778899AABB 1ABCDEF0##5112233445566778899AABBCCDDEEFF00)
error=20000040#0000000000000000

# ---- recording ----

# The same traffic by candump and by us, in dump.log and kinds.log; made once.
record_kinds() {
	local frame dumper
	[ ! -e kinds.log ] || return 0
	vm_reader vcan0 dump.log candump -L 'vcan0,0:0,#FFFFFFFF'
	dumper=$vm_pid
	recording vcan0 --errors
	for frame in "${kinds[@]}" "$error" 001#; do cansend vcan0 "$frame"; done
	vm_until recorded 11
	vm_until vm_lines dump.log 11
	finished
	vm_stop "$dumper"
	grep -q '^11 frames in ' out
	is "$(grep -c '^vcan0 .* 11 frames .* 0 lost$' out)" = 1
	mv rec.log kinds.log
}
# The same lines but for the stamps.
test_as_candump() {
	record_kinds
	cut -d' ' -f2- dump.log >expected
	grep -v '^#' kinds.log | cut -d' ' -f2- | diff expected -
}
test_no_error_frames() {
	recording vcan0
	cansend vcan0 123#11
	cansend vcan0 "$error"
	cansend vcan0 124#22
	vm_until recorded 2
	finished
	is "$(frames rec.log)" = $'123#11\n124#22'
}

# The kernel filters: only wanted frames arrive.
test_kernel_filters() {
	vm_wanted=4 recording vcan1 --only 123,200-2FF,00000123,7F0-7FF --not 280-2FF
	grep -o '^ *vcan1 .*' /proc/net/can/rcvlist_fil | awk '{ print $2, $3 }' | sort >filters
	is "$(xargs <filters)" = '123 800007ff 200 80000780 7f0 800007f0 80000123 9fffffff'
	cangen vcan1 -n 300 -g 0 -I 5 -L 2 -D i
	for frame in 122# 123# 123#R 124# 1FF# 200# 27F# 280# 2FF# 300# 00000123# 00000124# 00000200# 7F0# 7FF#; do
		cansend vcan1 "$frame"
	done
	vm_until recorded 7
	finished
	is "$(frames rec.log | xargs)" = '123# 123#R 200# 27F# 00000123# 7F0# 7FF#'
}

all_over() { [ "$(grep -c ' 7FF#$' rec.log)" -eq 4 ]; }
# Four buses under load: no frame is missing that is not counted, and the file is in order.  Two processors would
# deliver in any order, as they come.
test_four_buses() {
	local bus pids=() lost
	recording vcan0,vcan1,vcan2,vcan3
	for bus in vcan{0..3}; do
		taskset -c 0 cangen "$bus" -g 0 -p 10 -n 1000 -I i -L 8 -D i &
		pids+=($!)
	done
	wait "${pids[@]}"
	for bus in vcan{0..3}; do cansend "$bus" 7FF#; done # the kernel reports a loss with the next frame
	vm_until all_over
	finished
	sorted rec.log
	lost=$(awk '/^# .* frames lost$/ { n += $3 } END { print n + 0 }' rec.log)
	is $(($(frames rec.log | wc -l) + lost)) -eq 4004
	grep -qE " $lost lost\$" out
	for bus in vcan{0..3}; do # each in its own order
		grep " $bus " rec.log | frames | cut -d'#' -f1 | sort -c
	done
}

# A recorder that does not run for a while loses frames, and says how many in the file.
test_losses() {
	local lost
	recording vcan2
	kill -STOP "$recorder"
	cangen vcan2 -g 0 -p 10 -n 20000 -I 123 -L 8 -D i # its buffer of 8 MB takes some 11000
	kill -CONT "$recorder"
	vm_until recorded 1000
	cansend vcan2 7FF#
	vm_until grep -q ' 7FF#$' rec.log
	finished
	lost=$(awk '/^# vcan2: [0-9]+ frames lost$/ { n += $3 } END { print n + 0 }' rec.log)
	echo "lost $lost"
	is "$lost" -gt 0
	is $(($(frames rec.log | wc -l) + lost)) -eq 20001
	grep -qE "^vcan2 .* $lost lost\$" out
}

# Down and up, away and back: it goes on, and the file and a line each say so.
test_link() {
	vm_vcan vcan20
	recording vcan20
	cansend vcan20 111#
	vm_until recorded 1
	ip link set vcan20 down
	vm_until said 'vcan20: the link is down; it is recorded on when it is back'
	ip link set vcan20 up
	vm_until said 'vcan20: is back'
	cansend vcan20 222#
	vm_until recorded 2
	ip link del vcan20
	vm_until said 'vcan20: the interface is gone'
	vm_vcan vcan20
	vm_until said_twice 'vcan20: is back'
	cansend vcan20 333#
	vm_until recorded 3
	finished
	vm_away vcan20
	cat rec.log
	# An interface that goes may be down before, and a new one is down until it is set up.
	sed -nE 's/^\([0-9.]+\) vcan20 //p; s/^# vcan20: (the link is down|the interface is gone|is back)$/\1/p' \
		rec.log | tr '\n' ',' |
		sed -E 's/(the link is down,)?(the interface is gone,)(the link is down,)?/\2/' >reported
	is "$(<reported)" = '111#,the link is down,is back,222#,the interface is gone,is back,333#,'
	is "$(frames rec.log | xargs)" = '111# 222# 333#'
}

# An interface that appears later.
test_wait() {
	rm -f rec.log
	"$record" vcan21 -o rec.log 2>err && return 1
	said 'canrecord: vcan21: no such CAN interface'
	is ! -e rec.log
	bash -c 'exec "$@" >out 2>err' _ "$record" vcan21 --wait -o rec.log &
	recorder=$!
	vm_until said 'vcan21: is not there; it is recorded when it comes'
	vm_vcan vcan21
	vm_until said 'vcan21: is back'
	cansend vcan21 123#
	vm_until recorded 1
	finished
	vm_away vcan21
}

# The time of day is set by an hour: the stamps go on as they were.
stamps() { grep -v '^#' "$1" | sed -E 's/^\(([0-9]+)\.([0-9]+)\).*/\1\2/'; }
test_clock_set() {
	local first second
	recording vcan0
	cansend vcan0 111#
	vm_until recorded 1
	date -s '+1 hour' >/dev/null
	cansend vcan0 222#
	vm_until recorded 2
	date -s '-2 hours' >/dev/null
	cansend vcan0 333#
	vm_until recorded 3
	date -s '+1 hour' >/dev/null
	finished
	sorted rec.log
	{ read -r first && read -r _ && read -r second; } < <(stamps rec.log)
	is $((second - first)) -lt 600000000
}

# ---- replaying ----

# Logs of candump replayed by canreplay, and logs of canrecord replayed by canplayer, arrive unchanged.
test_replays_candumps() {
	record_kinds
	vm_reader vcan1 heard candump -L 'vcan1,0:0,#FFFFFFFF'
	"$replay" dump.log --map vcan0=vcan1 --json >out
	vm_until vm_lines heard 10
	diff <(frames dump.log | grep -v "$error") <(frames heard)
	grep -q '"sent":10,"confirmed":10,"refused":0,"down":0,"unfit":0,"errors_left_out":1,' out
}
test_canplayer_plays_ours() {
	record_kinds
	{ head -n 3 kinds.log; echo '# vcan0: 12 frames lost'; tail -n +4 kinds.log; } >mixed.log
	vm_reader vcan1 heard candump -L 'vcan1,0:0,#FFFFFFFF'
	canplayer -I mixed.log vcan1=vcan0
	vm_until vm_lines heard 11
	diff <(frames kinds.log) <(frames heard)
}
# Recorded by us, replayed by us, recorded by us.
test_around() {
	cangen vcan0 -n 500 -g 1 -f -m -I r -L r -D r &
	local generator=$!
	recording vcan0,vcan3
	wait "$generator"
	cansend vcan0 7FF#
	vm_until grep -q ' 7FF#$' rec.log
	finished
	mv rec.log first.log
	recording vcan1
	"$replay" first.log --map vcan0=vcan1 --speed max >out2
	vm_until recorded "$(frames first.log | wc -l)"
	finished
	diff <(frames first.log) <(frames rec.log)
}
test_two_buses() {
	printf '(1.000000) a 100#\n(1.010000) b 200#\n(1.020000) c 300#\n' >in.log
	recording vcan1,vcan2
	"$replay" in.log --map a=vcan1 --map '*=vcan2' --loop 2 >out2
	vm_until recorded 6
	finished
	is "$(grep -v '^#' rec.log | cut -d' ' -f2- | tr '\n' ' ')" = \
		'vcan1 100# vcan2 200# vcan2 300# vcan1 100# vcan2 200# vcan2 300# '
}

# The time of day is set while it replays: nothing stands still, and nothing is late by that.
test_replay_clock_set() {
	awk 'BEGIN { for (i = 0; i < 100; i++) printf "(1.%06d) a 100#%02X\n", i * 10000, i }' >in.log
	recording vcan1
	"$replay" in.log --map a=vcan1 --json >out2 &
	vm_until recorded 10
	date -s '+1 hour' >/dev/null
	vm_until recorded 60
	date -s '-1 hour' >/dev/null
	wait $!
	vm_until recorded 100
	finished
	diff <(frames in.log) <(frames rec.log)
	sorted rec.log
	local first last
	{ read -r first; read -r last; } < <(stamps rec.log | sed -n '1p;$p')
	# Not all at once, and not an hour; the machine may be late with the first by any time.
	is $((last - first)) -ge 100000
	is $((last - first)) -lt 600000000
	grep -q '"sent":100,"confirmed":100,' out2
}

# While the link is down frames are left out, and counted.
test_down() {
	local status=0 listener
	vm_vcan vcan22
	mkfifo frames
	exec 8<>frames
	vm_reader vcan22 heard candump -L vcan22
	listener=$vm_pid
	"$replay" - --map a=vcan22 --json <frames 8>&- >out 2>err &
	local player=$!
	echo '(1.0) a 100#' >&8
	vm_until grep -q ' 100#$' heard
	ip link set vcan22 down
	echo '(1.0) a 200#' >&8
	vm_until said 'vcan22: the link is down; its frames are left out until it is back'
	ip link set vcan22 up
	vm_until vm_is_up vcan22
	echo '(1.0) a 300#' >&8
	vm_until said 'vcan22: is back'
	exec 8>&-
	wait "$player" || status=$?
	vm_stop "$listener"
	vm_away vcan22
	cat out err
	is "$status" -eq 111
	grep -q '"sent":2,"confirmed":2,"refused":0,"down":1,' out
}

# From a pipe, which ^C ends although nothing comes.
test_pipe() {
	local status=0
	mkfifo lines
	exec 8<>lines
	vm_reader vcan1 heard candump -L vcan1
	"$replay" - --map a=vcan1 <lines >out 2>err &
	local player=$!
	echo '(1.0) a 100#' >&8
	vm_until grep -q ' 100#$' heard
	echo '(1.01) a 200#' >&8
	vm_until grep -q ' 200#$' heard
	kill -INT "$player"
	wait "$player" || status=$?
	exec 8>&-
	is "$status" -eq 0
	grep -q '^2 frames sent in ' out
}
test_missing_bus() {
	local status=0
	printf '(1.0) vcan0 100#\n(2.0) vcan99 200#\n' >in.log
	vm_reader vcan0 heard candump -L vcan0
	"$replay" in.log 2>err || status=$?
	is "$status" -eq 111
	is "$(wc -l <err)" = 1
	said '; or --map vcan99=BUS sends its frames elsewhere, --map vcan99= leaves them out'
	cansend vcan0 7FF#
	vm_until vm_lines heard 1
	is "$(frames heard)" = 7FF# # nothing was sent
}
test_unfit() {
	local status=0
	printf '(1.0) a 100#\n(1.1) a 200##122\n(1.2) a 300#\n' >in.log
	vm_reader can1 heard candump -L can1
	"$replay" in.log --map a=can0 --json >out 2>err || status=$?
	vm_until vm_lines heard 2
	is "$status" -eq 111
	is "$(frames heard | xargs)" = '100# 300#'
	grep -q '"sent":2,"confirmed":2,"refused":0,"down":0,"unfit":1,' out
	said 'line 2: can0 takes no such frame; those are left out'
}

# ---- full queues; these cases recreate the vcans ----

# A bus of 1000 frames/s behind a queue of ten: all of them arrive.
test_z_full_queue() {
	vm_vcan_reload echo=1
	tc qdisc replace dev vcan0 root netem rate 128kbit limit 10
	awk 'BEGIN { for (i = 0; i < 500; i++) printf "(1.000000) a 123#%08X\n", i }' >in.log
	vm_reader vcan0 heard candump -L vcan0
	"$replay" in.log --map a=vcan0 --json --max-late 60 >out
	vm_until vm_lines heard 500
	diff <(frames in.log) <(frames heard | sort) # in the order of the processors that deliver them
	grep -q '"sent":500,"confirmed":500,"refused":0,' out
	vm_vcan_reload
}
# A queue that never empties: no frame waits longer than it may, and each is counted.
test_z_stuck() {
	local status=0
	vm_vcan_reload echo=1
	tc qdisc replace dev vcan0 root netem delay 200s limit 10
	awk 'BEGIN { for (i = 0; i < 50; i++) printf "(1.%06d) a 123#%08X\n", i * 1000, i }' >in.log
	"$replay" in.log --map a=vcan0 --json --max-late 100ms >out 2>err || status=$?
	cat out err
	vm_vcan_reload
	is "$status" -eq 111
	grep -q '"sent":10,"confirmed":0,"refused":40,' out
	said 'vcan0: its queue has been full for 0.1 s: does a node acknowledge? Frames are left out'
}

lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# test_canreplay.sh: canreplay(1) on a machine without CAN: what it would send and when, and what it refuses.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
lib_tmp
replay=$build/canreplay
export LC_ALL=C TZ=UTC
page=$PWD/can/tool/canreplay.1
cd "$lib_folder"

dry() { # EXPECTED OPTION...: of --dry-run
	local expected=$1
	shift
	lib_says 0 "$expected" '' "$replay" --dry-run "$@"
}
wrong() { # LINE OPTION...: a usage error
	local line=$1
	shift
	lib_says 100 '' "canreplay: $line" "$replay" "$@"
}
fails() { # LINE OPTION...
	local line=$1
	shift
	lib_says 111 '' "canreplay: $line" "$replay" "$@"
}

cat >trace.log <<'END'
(1700000000.000000) can0 123#DEADBEEF
(1700000000.010000) can1 00000123#
(1700000000.020000) can0 123#R4
(1700000000.520000) can0 7FF##511
(1700000000.530000) can1 20000040#0000000000000000
(1700000000.540000) can0 200#1122334455667788
END
all='(1700000000.000000) can0 123#DEADBEEF
(1700000000.010000) can1 00000123#
(1700000000.020000) can0 123#R4
(1700000000.520000) can0 7FF##511
(1700000000.540000) can0 200#1122334455667788'

# ---- what is sent ----

lib_case all dry "$all" trace.log
test_standard_input() { [ "$("$replay" --dry-run - <trace.log)" = "$all" ]; }
test_pipe() { [ "$("$replay" --dry-run <(cat trace.log))" = "$all" ]; }
lib_case errors dry "$(<trace.log)" trace.log --errors
lib_case map dry '(1700000000.000000) vcan1 123#DEADBEEF
(1700000000.020000) vcan1 123#R4
(1700000000.520000) vcan1 7FF##511
(1700000000.540000) vcan1 200#1122334455667788' trace.log --map can0=vcan1 --map can1=
lib_case map_dash dry '(1700000000.010000) can1 00000123#' trace.log --map can0=-
lib_case map_others dry '(1700000000.000000) wire:larm 123#DEADBEEF
(1700000000.010000) vcan7 00000123#
(1700000000.020000) wire:larm 123#R4
(1700000000.520000) wire:larm 7FF##511
(1700000000.540000) wire:larm 200#1122334455667788' trace.log --map '*=vcan7' --map can0=wire:larm
lib_case map_others_nowhere dry '(1700000000.010000) can2 00000123#' trace.log --map can1=can2 --map '*='
lib_case only dry '(1700000000.000000) can0 123#DEADBEEF
(1700000000.020000) can0 123#R4
(1700000000.540000) can0 200#1122334455667788' trace.log --only 100-1FF,200
lib_case only_29_bits dry '(1700000000.010000) can1 00000123#' trace.log --only 00000000-1fffffff
lib_case not dry '(1700000000.010000) can1 00000123#' trace.log --not 123 --not 200-7FF
lib_case only_not dry '(1700000000.520000) can0 7FF##511' trace.log --only 123-7FF --not 123,200
lib_case no_filter_for_errors dry '(1700000000.530000) can1 20000040#0000000000000000' trace.log --only 555 --errors

# ---- when ----

lib_case from dry '(1700000000.520000) can0 7FF##511
(1700000000.540000) can0 200#1122334455667788' trace.log --from 0.02001
lib_case from_until dry '(1700000000.010000) can1 00000123#
(1700000000.020000) can0 123#R4' trace.log --from 10ms --until 0.52
lib_case from_minute dry '' trace.log --from 1m
lib_case until_minute dry "$all" trace.log --until 1min
lib_case from_stamp dry '(1700000000.020000) can0 123#R4
(1700000000.520000) can0 7FF##511' trace.log --from 1700000000.020000 --until 1700000000.54
lib_case speed dry '(1700000000.000000) can0 123#DEADBEEF
(1700000000.005000) can1 00000123#
(1700000000.010000) can0 123#R4
(1700000000.260000) can0 7FF##511
(1700000000.270000) can0 200#1122334455667788' trace.log --speed 2
lib_case max_gap dry '(1700000000.000000) can0 123#DEADBEEF
(1700000000.010000) can1 00000123#
(1700000000.020000) can0 123#R4
(1700000000.120000) can0 7FF##511
(1700000000.140000) can0 200#1122334455667788' trace.log --max-gap 100ms
lib_case max_gap_speed dry '(1700000000.000000) can0 123#DEADBEEF
(1700000000.005000) can1 00000123#
(1700000000.010000) can0 123#R4
(1700000000.060000) can0 7FF##511
(1700000000.070000) can0 200#1122334455667788' trace.log --max-gap 0.1 --speed 2
# The second round begins one mean interval, 10 ms, after the first.
lib_case loop dry '(1700000000.000000) can0 123#DEADBEEF
(1700000000.010000) can1 00000123#
(1700000000.020000) can0 123#R4
(1700000000.030000) can0 123#DEADBEEF
(1700000000.040000) can1 00000123#
(1700000000.050000) can0 123#R4' trace.log --until 0.5 --loop 2
# At least 10 ms, so that a short file does not flood the bus.
lib_case loop_of_one dry '(1700000000.520000) can0 7FF##511
(1700000000.530000) can0 7FF##511' trace.log --only 7FF --loop 2
lib_case loop_pause dry '(1700000000.520000) can0 7FF##511
(1700000001.520000) can0 7FF##511' trace.log --only 7FF --loop 2 --pause 1s
# Also as fast as the bus takes them: 20 pauses of 50 ms, by the stamps of the wire; without them 20 frames take 5 ms.
test_loop_pause_at_full_speed() {
	wire
	peer 21
	"$replay" classic.log --map '*=wire:w' --only 200 --speed max --loop 21 --pause 50ms --json >out
	wait "$peer"
	# The first one may be on the wire later after it was sent than the last one.
	awk -F '[(.)]' '{ t = $2 * 1000000 + $3; if (NR > 1 && t < last) exit 1; last = t; if (NR == 1) first = t }
		END { exit !(NR == 21 && last - first >= 19 * 50000) }' heard
}
test_loop_for_ever() { [ "$("$replay" --dry-run --loop 0 trace.log 2>&1 | head -n 5000 | wc -l)" -eq 5000 ]; }
lib_case loop_of_nothing dry '' trace.log --only 555 --loop 0

# Out of order: at once, and nothing else moves.  An hour back: time goes on from there.
cat >back.log <<'END'
(1700000000.000000) can0 100#
(1700000000.100000) can0 101#
(1700000000.090000) can1 102#
(1700000000.200000) can0 103#
(1699996400.000000) can0 104#
(1699996400.050000) can0 105#
END
lib_case backwards dry '(1700000000.000000) can0 100#
(1700000000.100000) can0 101#
(1700000000.100000) can1 102#
(1700000000.200000) can0 103#
(1700000000.200000) can0 104#
(1700000000.250000) can0 105#' back.log

# The clock was set from 1970 to 2023: said once, and a second long, in each round and from a pipe.
printf '(1.0) can0 100#\n(1.5) can0 101#\n(1700000000.0) can0 102#\n(1700000000.5) can0 103#\n' >jump.log
jumped='(0000000001.000000) can0 100#
(0000000001.500000) can0 101#
(0000000002.500000) can0 102#
(0000000003.000000) can0 103#'
jump_line='canreplay: jump.log:3: the clock jumps forward by 472222.2 h, replayed as 1 s; --max-gap none waits'
lib_case jump lib_says 0 "$jumped" "$jump_line" "$replay" --dry-run jump.log
lib_case jump_twice lib_says 0 "$jumped
(0000000003.666666) can0 100#
(0000000004.166666) can0 101#
(0000000005.166666) can0 102#
(0000000005.666666) can0 103#" "$jump_line" "$replay" --dry-run jump.log --loop 2
# shellcheck disable=SC2016 # expanded by the other shell
lib_case jump_in_a_pipe lib_says 0 "$jumped" "${jump_line/jump.log/standard input}" \
	bash -c '"$0" --dry-run - <jump.log' "$replay"
lib_case jump_wanted dry '(0000000001.000000) can0 100#
(0000000001.500000) can0 101#
(1700000000.000000) can0 102#
(1700000000.500000) can0 103#' jump.log --max-gap none
lib_case jump_max_gap dry '(0000000001.000000) can0 100#
(0000000001.500000) can0 101#
(0000000011.500000) can0 102#
(0000000012.000000) can0 103#' jump.log --max-gap 10s

# Directions.
printf '(1.0) can0 100# R\n(2.0) can0 101# T\n(3.0) can0 20000080#\n' >both.log
lib_case rx_only dry '(0000000001.000000) can0 100#' both.log --rx-only
lib_case tx_only dry '(0000000002.000000) can0 101#' both.log --tx-only
lib_case rx_and_tx wrong '--rx-only and --tx-only: no frame is both' both.log --rx-only --tx-only
lib_case no_direction fails 'trace.log:1: the direction of the frame is not recorded: leave out --tx-only' --dry-run \
	trace.log --tx-only

cat >trace.asc <<'END'
date Wed Nov 15 10:00:00 am 2023
base hex  timestamps absolute
   0.001000 1  123             Rx   d 2 11 22
   0.002000 2  18FF0001x       Rx   d 1 33
END
lib_case another_format dry '(1700042400.001000) can0 123#1122
(1700042400.002000) can1 18FF0001#33' trace.asc

# ---- on a bus: a soft wire, which the others of this folder do not see ----

export ENDPLATE_RUN=$lib_folder/run
wire() { # starts wire:w
	rm -rf run
	mkdir run
	"$build/canwire" run --outage 0 w >wire.out 2>&1 &
	until [ -e run/wire/w ]; do
		kill -0 $! || { cat wire.out; return 1; }
		sleep 0.02
	done
}
peer() { # COUNT: another controller on wire:w, which acknowledges, and ends with so many frames in heard; process $peer
	timeout 60 "$build/canwire" dump --as peer --count "$1" w >heard &
	peer=$!
	lib_until peer_is_there
}
peer_is_there() { "$build/canwire" stats w | grep 'controller peer'; }
grep -v -e '##' -e 20000040 trace.log >classic.log

# Sent, confirmed, and what another controller and a recorder see.
test_wire() {
	wire
	peer 8
	"$build/canrecord" wire:w --count 8 -o rec.log >/dev/null &
	local recorder=$!
	until [ -e rec.log ]; do sleep 0.02; done # it hears the bus
	"$replay" classic.log --map '*=wire:w' --speed 10 --loop 2 --json >out
	wait "$peer"
	wait "$recorder"
	grep -q '^{"sent":8,"confirmed":8,"refused":0,"down":0,"unfit":0,.*"passes":2,.*"late_ns":{"p50":' out
	diff <(cut -d' ' -f3 classic.log classic.log) <(cut -d' ' -f3 rec.log)
	diff <(cut -d' ' -f3 rec.log) <(cut -d' ' -f3 heard)
}
# A classic wire does not take CAN FD and error frames; the others are sent.
test_unfit() {
	local status=0
	wire
	peer 4
	"$replay" trace.log --map '*=wire:w' --speed max --errors >out 2>err || status=$?
	wait "$peer"
	[ "$status" -eq 111 ]
	grep -q '^4 frames sent in ' out
	grep -qx ' *2 left out: no frames for that bus' out
	[ "$(<err)" = 'canreplay: line 4: wire:w takes no such frame; those are left out' ]
}
# No node acknowledges: what the queue does not take is counted, and so is what was never on the wire.
test_lone_node() {
	local status=0 sent refused
	wire
	"$replay" trace.log --map '*=wire:w' --only 123 --loop 20 --speed max --max-late 20ms --json >out 2>err ||
		status=$?
	[ "$status" -eq 111 ]
	sent=$(grep -oE '"sent":[0-9]+' out) refused=$(grep -oE '"refused":[0-9]+' out)
	[ "${sent#*:}" -ge 10 ]
	[ $((${sent#*:} + ${refused#*:})) -eq 40 ]
	grep -q '"confirmed":0,' out
	[ "$(<err)" = \
		'canreplay: wire:w: its queue has been full for 0.02 s: does a node acknowledge? Frames are left out' ]
}
# Too few to fill the queue.
test_few_unacknowledged() {
	local status=0
	wire
	"$replay" classic.log --map '*=wire:w' --only 200 >out 2>err || status=$?
	[ "$status" -eq 111 ]
	[ "$(<err)" = 'canreplay: wire:w: 1 of 1 frames were not acknowledged: is another node on the bus, at the '\
'same bit rate?' ]
}
# On a terminal, and there only, it shows how far it is, and takes that away again.
test_bar() {
	local last=$'\r\033[K4 frames sent in '
	wire
	peer 8
	printf '(%d.0) can0 100#\n' 0 1 2 3 >four.log
	"$replay" four.log --map can0=wire:w >out 2>&1
	lib_not grep -q '[]#%]' out
	script -qec "$replay four.log --map can0=wire:w" /dev/null >out
	grep -qF '[######################........]  75 %  2.' out
	[[ $(<out) == *"$last"* ]]
	wait "$peer"
}
test_interrupted() {
	local status=0
	wire
	printf '(1.0) can0 100#\n(3600.0) can0 200#\n' >hour.log
	peer 1
	"$replay" hour.log --map can0=wire:w >out &
	local player=$!
	wait "$peer"
	kill -INT "$player"
	wait "$player" || status=$?
	[ "$status" -eq 0 ]
	grep -q '^1 frame sent in ' out
}

# ---- what is wrong with the file ----

printf '(1700000000.000000) can0 123#11\n(17000000x0.0) can0 123#22\n(1700000000.000001) can0 124#33\n' >damaged.log
test_damaged_is_refused() {
	local status=0
	"$replay" --dry-run damaged.log >stdout 2>stderr || status=$?
	[ "$status" -eq 111 ]
	[ ! -s stdout ]
	grep -q '^canreplay: damaged.log:2: ' stderr
	grep -qx 'canreplay: damaged.log: damaged in 1 places, so nothing was sent: --lenient sends the rest' stderr
	status=0
	"$replay" --dry-run - <damaged.log >stdout 2>stderr || status=$? # a pipe is read once
	[ "$status" -eq 111 ]
	grep -q '^canreplay: standard input:2: ' stderr
}
test_lenient() {
	[ "$("$replay" --dry-run --lenient damaged.log 2>stderr)" = '(1700000000.000000) can0 123#11
(1700000000.000001) can0 124#33' ]
	grep -q '^canreplay: damaged.log:2: ' stderr
	[ "$(wc -l <stderr)" -eq 1 ]
	"$replay" --dry-run --lenient --loop 3 damaged.log 2>stderr >/dev/null
	[ "$(wc -l <stderr)" -eq 1 ] # not once more in each round
}
lib_case no_file fails 'none.log: cannot read it: No such file or directory' none.log
echo 'hello, world' >text
lib_case no_log fails 'text: unknown format; known are candump -L, candump -t, Vector ASC, PCAN TRC, CSV of '\
'python-can, CSV of IXXAT, Vector BLF, pcap of SocketCAN, pcapng of SocketCAN, MCAP, also with gzip or zstd' text
: >empty.log
lib_case empty dry '' empty.log
lib_case unknown_map fails '--map: trace.log has no frame of can7; it has those of can0, can1' --dry-run trace.log \
	--map can7=vcan0
test_full_disk() {
	local status=0
	"$replay" --dry-run trace.log >/dev/full 2>stderr || status=$?
	[ "$status $(<stderr)" = '111 canreplay: cannot write: No space left on device' ]
}

# One line for a bus that is not there, before anything is sent; which one depends on the kernel.
test_no_bus() {
	local status=0
	"$replay" trace.log --map can0=nosuchcan0 --map can1= >stdout 2>stderr || status=$?
	[ "$status" -eq 111 ]
	[ ! -s stdout ]
	[ "$(grep -c '^canreplay: nosuchcan0' stderr)" -eq 1 ]
	[ "$(wc -l <stderr)" -eq 1 ]
	status=0
	sed 's/can0/nosuchcan0/' trace.log >other.log
	"$replay" other.log --map can1= 2>stderr || status=$?
	[ "$status" -eq 111 ]
	grep -q '^canreplay: nosuchcan0.*; or --map nosuchcan0=BUS sends its frames elsewhere, --map nosuchcan0=' stderr
	[ "$(wc -l <stderr)" -eq 1 ]
}
# A bus without a frame that is wanted need not be there.
lib_case nothing_for_a_bus lib_says 0 '0 frames sent in 0 ns' '' "$replay" trace.log --only 555 --map can1=
lib_case nothing_json lib_says 0 '{"sent":0,"confirmed":0,"refused":0,"down":0,"unfit":0,"errors_left_out":0,'\
'"damaged":0,"backward":0,"lost":0,"passes":1,"took_ns":0,"late_ns":null}' '' "$replay" trace.log --only 555 --json \
	--map can1=
lib_case counted_errors lib_says 0 '0 frames sent in 0 ns
       1 error frames left out' '' "$replay" trace.log --only 555
lib_case counts lib_says 0 '0 frames sent in 0 ns
       2 stamps that go backwards' '' "$replay" back.log --only 555

# ---- what is wrong with the command line ----

lib_case nothing wrong 'FILE is missing (canreplay --help says more)'
lib_case two wrong '"b": one argument too many' a b
lib_case unknown_option wrong '--sped: unknown option; did you mean --speed? (canreplay --help lists them)' x --sped
lib_case speed_zero wrong '--speed: "0" is not a number from 0.001 to 1000, or max' x --speed 0
lib_case speed_word wrong '--speed: "fast" is not a number from 0.001 to 1000, or max' x --speed fast
lib_case loop_less wrong '--loop: -1 is below the minimum 0' x --loop -1
lib_case loop_stdin wrong '--loop: standard input cannot be read twice' - --loop 2
test_loop_pipe() {
	local status=0
	"$replay" --loop 2 <(cat trace.log) 2>stderr || status=$?
	[ "$status" -eq 111 ]
	grep -qE '^canreplay: /dev/fd/[0-9]+: cannot be read twice, so there is no --loop$' stderr
}
lib_case from_word wrong '--from: "noon" is not a time such as 10s or 5min' x --from noon
lib_case until_minus wrong '--until: "-1" is not a time such as 10s or 5min' x --until=-1
lib_case gap_zero wrong '--max-gap: "0" is not a time such as 10s or 5min' x --max-gap 0
lib_case late_word wrong '--max-late: "5 s" is not a time such as 10s or 5min' x --max-late '5 s'
lib_case map_word wrong '--map: can0 is not OLD=NEW such as can0=vcan1' x --map can0
lib_case map_nothing wrong '--map: =vcan1 is not OLD=NEW such as can0=vcan1' x --map =vcan1
lib_case map_twice wrong '--map: can0 is mapped twice' x --map can0=vcan1 --map can0=vcan2
lib_case map_log wrong '--map: can0=log:x: nothing can be sent to a log' x --map can0=log:x
lib_case map_name wrong '--map: can0=a/b: the name of an interface has no blanks and no slashes' x --map can0=a/b
ids='is not an identifier such as 123 (3 digits, or 8 for 29 bits) or a range such as 200-2FF'
for bad in 12 800 1FFFFFFFF 20000000 200-1FF 100-00000200 123-124-125 '' x; do
	lib_case "only_$bad" wrong "--only: \"$bad\" $ids" x --only "123,$bad"
done
lib_case not_ids wrong "--not: \"12x\" $ids" x --not 123,12x

# ---- its help and its page ----

# The page names the options that there are, and no others.
test_page() {
	diff <("$replay" --help | grep -oE '^  (-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort) \
		<(grep -oE '\bFl -[a-z-]+' "$page" | sed 's/Fl /-/' | sort -u)
}
test_version() { [[ $("$replay" --version) == "canreplay "* ]]; }
lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# The commands of canwire, as people type them.  What a bus does is tested elsewhere.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
lib_tmp
canwire=$(realpath "${BUILD:-build}/canwire")
export ENDPLATE_RUN=$lib_folder/run
trap 'kill "$server" 2>/dev/null || true; rm -rf "$lib_folder"' EXIT

"$canwire" run --outage 0 torso larm >"$lib_folder/served" 2>&1 &
server=$!
for ((i = 0; i < 1000; i++)); do
	! "$canwire" stats larm >/dev/null 2>&1 || break
	sleep 0.01
done

# STATUS WORDS COMMAND...: ends with that status and says one line, in which these words are.
refused() {
	local want=$1 words=$2 status=0
	shift 2
	"$canwire" "$@" >"$lib_folder/said" 2>&1 || status=$?
	cat "$lib_folder/said"
	[ "$status" -eq "$want" ] || { echo "status $status, not $want"; return 1; }
	[ "$(wc -l <"$lib_folder/said")" -eq 1 ] && grep -qF -- "$words" "$lib_folder/said"
}

# COMMAND...: a listener called logger that writes two frames to dumped; waits until it is on the bus.
listen() {
	"$canwire" dump torso --as logger --count 2 >"$lib_folder/dumped" &
	dumper=$!
	until "$canwire" stats torso | grep 'controller logger' >/dev/null; do
		sleep 0.01
	done
}

test_send_and_dump() {
	listen
	"$canwire" send torso 123#DEADBEEF 00000123#R4
	wait "$dumper"
	cut -d' ' -f2- "$lib_folder/dumped" >"$lib_folder/frames"
	printf 'torso 123#DEADBEEF\ntorso 00000123#R4\n' | diff - "$lib_folder/frames"
}

test_send_as_another() {
	listen
	"$canwire" send torso --as imu 001# 002#
	wait "$dumper"
	[ "$(wc -l <"$lib_folder/dumped")" -eq 2 ]
}

test_recorded_by_canrecord() {
	listen
	"${canwire%wire}record" wire:torso@recorder -o "$lib_folder/torso.log" --count 2 >"$lib_folder/summary" &
	local recorder=$!
	until "$canwire" stats torso | grep 'controller recorder' >/dev/null; do
		sleep 0.01
	done
	"$canwire" send torso 0E4#0B3F80000000 123#DEADBEEF
	wait "$recorder" "$dumper"
	cut -d' ' -f2- "$lib_folder/torso.log" >"$lib_folder/frames"
	printf 'torso 0E4#0B3F80000000\ntorso 123#DEADBEEF\n' | diff - "$lib_folder/frames"
	cut -d' ' -f2- "$lib_folder/dumped" | diff - "$lib_folder/frames"
}

test_no_acknowledgement() {
	refused 111 'does a node acknowledge it' send larm 123#
	"$canwire" stats larm | grep unacknowledged
}

test_frames_that_cannot_be_sent() {
	refused 100 '3 or 8' send torso 1234#11
	refused 111 'run canwire with --fd' send torso '123##100'
	refused 100 'data and remote' send torso 20000040#0000000000000000
}

test_fd() {
	"$canwire" run --fd 2000000 quick >"$lib_folder/quick" 2>&1 &
	lib_until "$canwire" stats quick >/dev/null
	"$canwire" dump quick --as imu --count 3 >"$lib_folder/dumped" &
	dumper=$!
	until "$canwire" stats quick | grep "controller imu" >/dev/null; do
		sleep 0.01
	done
	"$canwire" send quick 123##5112233 123#DEADBEEF 12345678##4AA
	wait "$dumper"
	cut -d' ' -f2- "$lib_folder/dumped" >"$lib_folder/frames"
	printf 'quick %s\n' 123##5112233 123#DEADBEEF 12345678##4AA | diff - "$lib_folder/frames"
}

test_stats_json() {
	"$canwire" stats torso --json >"$lib_folder/json"
	python3 - "$lib_folder/json" <<-'END'
		import json, sys
		stats = json.load(open(sys.argv[1]))
		assert stats["bus"]["name"] == "torso" and stats["bus"]["bitrate"] == 1000000, stats
		assert stats["bus"]["frames"] >= 4, stats
	END
}

test_stats_fit_80_columns() {
	listen
	"$canwire" fault torso corrupt 5
	"$canwire" send torso 123#11 124#
	wait "$dumper"
	"$canwire" stats torso >"$lib_folder/table"
	awk 'length > 80 { print; bad = 1 } END { exit bad }' "$lib_folder/table"
	grep -q 'corrupted 5' "$lib_folder/table"
}

test_link() {
	"$canwire" link torso look | grep '^state error-active bitrate 1000000 '
	"$canwire" link torso down
	"$canwire" link torso look | grep '^state stopped '
	refused 111 'down' send torso 123#
	"$canwire" link torso up
	"$canwire" link torso set host restart_ms 250
	"$canwire" link torso set host queue 3
	"$canwire" link torso look | grep ' restart_ms 250 queue 3 '
	"$canwire" link torso set host restart_ms 0
	"$canwire" link torso set host queue 10
	refused 111 'not bus-off' link torso restart
	refused 111 'no such controller' link torso reset elbow
	refused 111 'up, down, reset' link torso turn
}

test_refusals() {
	refused 100 'which command'
	refused 100 'did you mean send' snd
	refused 100 'BUS' run
	refused 100 'below the minimum 1000' run --bitrate 5 spare
	refused 100 'named by 1 to 23 letters' run a/b
	refused 100 'twice' run spare spare
	refused 111 "torso is served already, by process $server" run spare torso
	refused 111 'start it with canwire run nowhere' stats nowhere
	refused 111 'drop, corrupt, delay' fault torso nonsense
	refused 111 'no such controller' fault torso power off elbow
	refused 100 'not a valid name' stats torso --robot a/b
}

# The same script gives the same log, stamps included.
test_script() {
	cat >"$lib_folder/two.wire" <<-'END'
		# Two ask at once; the lower identifier goes first.
		0.001 host 123#DEADBEEF
		0.001 imu 080#
		0.002 fault corrupt 1
		0.002 host 7FF#
		0.010 end
	END
	"$canwire" run torso --script "$lib_folder/two.wire" >"$lib_folder/log"
	grep -v '^#' "$lib_folder/log" >"$lib_folder/frames"
	head -n 2 "$lib_folder/frames" | diff - <(printf '%s\n' '(0.001048) torso 080#' '(0.001129) torso 123#DEADBEEF')
	[ "$(sed 1,2d "$lib_folder/frames" | cut -d' ' -f3)" = 7FF# ]
	"$canwire" run torso --script "$lib_folder/two.wire" | diff - "$lib_folder/log"
	echo '0.001 host 123#1' >"$lib_folder/bad.wire"
	refused 100 'bad.wire:1: ' run torso --script "$lib_folder/bad.wire"
	refused 111 'none.wire' run torso --script "$lib_folder/none.wire"
}

# As the folder of a session that ends: attached programs stay attached, and others find the bus again.
test_removed_folder() {
	listen
	mv "$ENDPLATE_RUN" "$ENDPLATE_RUN.away"
	lib_until "$canwire" stats torso
	lib_until "$canwire" stats larm
	"$canwire" send torso 123#DEADBEEF 124#
	wait "$dumper"
	[ "$(wc -l <"$lib_folder/dumped")" -eq 2 ]
	refused 111 "torso is served already, by process $server" run torso
}

test_removed_socket_and_lock() {
	listen
	rm "$ENDPLATE_RUN/wire/torso"
	lib_until "$canwire" stats torso
	rm "$ENDPLATE_RUN/wire/torso.lock"
	lib_until test -e "$ENDPLATE_RUN/wire/torso.lock"
	lib_until "$canwire" send torso 123# 124#
	wait "$dumper"
	refused 111 "torso is served already, by process $server" run torso
}

# Another serves the bus there by now: it is left alone, also at the end.
test_removed_and_taken_by_another() {
	local first second
	"$canwire" run rarm &
	first=$!
	lib_until "$canwire" stats rarm
	kill -STOP "$first"
	lib_until grep -q '^State:.T' "/proc/$first/status"
	rm "$ENDPLATE_RUN/wire/rarm" "$ENDPLATE_RUN/wire/rarm.lock"
	"$canwire" run rarm &
	second=$!
	lib_until grep -q "$second" "$ENDPLATE_RUN/wire/rarm.lock"
	kill -CONT "$first"
	lib_until "$canwire" stats rarm
	sleep 1.5 # in which the first has looked
	kill "$first"
	wait "$first"
	"$canwire" stats rarm
	kill "$second"
	wait "$second"
	[ ! -e "$ENDPLATE_RUN/wire/rarm" ]
}

# After a kill the lock is free at once, and the old socket does not matter.
test_z_killed_and_started_again() {
	kill -KILL "$server"
	wait "$server" 2>/dev/null || true
	[ -S "$ENDPLATE_RUN/wire/torso" ]
	refused 111 'start it with' stats torso
	"$canwire" run torso &
	until "$canwire" stats torso >/dev/null 2>&1; do
		sleep 0.01
	done
	kill %%
	wait %%
	[ ! -e "$ENDPLATE_RUN/wire/torso" ]
}

lib_functions "$lib_folder/log.txt" "${1:-}"

#!/bin/bash
# achlogd: pieces that are whole by themselves and hold every message once, whatever is killed, removed or full.
# test_achlogd_restart.c kills it and achstart under a robot.
# limit: 600 s
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
folder=$(mktemp -d)
export LC_ALL=C PATH=$build:$PATH ENDPLATE_PREFIX=achlogd$$- ENDPLATE_RUN=$folder/run PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH=$build PYTHONPATH=$build/python
unset NOTIFY_SOCKET LOGS_DIRECTORY
p=$ENDPLATE_PREFIX
feed=$build/test/channels/tool/feed
dump=$build/test/channels/rec/recdump
rec=$folder/rec
logger=''
lib_folder=$folder
cleanup() {
	[ -z "$logger" ] || kill -KILL "$logger" 2>/dev/null || true
	! mountpoint -q "$folder/small" || umount -l "$folder/small"
	lib_remove_channels "$p"
	rm -rf "$folder"
}
trap cleanup EXIT
mkdir -m 700 "$ENDPLATE_RUN"

# OPTION...: in the background; it has its place in every channel once it has a piece more than before.
start() {
	local before
	before=$(newest)
	achlogd --folder "$rec" "$@" 2>>"$folder/said" &
	logger=$!
	lib_until has_newer "$before"
}
has_newer() { [ "$(newest)" != "$1" ]; }
newest() { find "$rec" -name '*.rec' 2>/dev/null | sort | tail -1; }
stop() { kill -TERM "$logger" && wait "$logger" && logger=; }
fresh() { lib_remove_channels "$p" && rm -rf "$rec" && : >"$folder/said"; }
said() { grep -qF -- "$1" "$folder/said"; }
# Lines that it printed, without that a disk was slow: so is one that waits for a processor.
lines() { grep -vcF ' is slow; ^C gives up ' "$folder/said" || true; }
mk() { ach mk "$p$1" -m "${2:-20000}" -n 1000; }

# [PIECE...]: what they hold, in order.
held() {
	local file
	[ $# -gt 0 ] || set -- "$rec"/*.rec
	for file; do "$dump" "$file" || true; done
}
# FED: every message once, in order.
holds_exactly() { held | cmp - "$1" || { held | cut -c 1-40 | diff - <(cut -c 1-40 "$1") | head; return 1; }; }
counts() { for file in "$rec"/*.rec; do "$dump" --counts "$file" || true; done; }
holds() { counts | awk -v least="$1" '{ n += $2 } END { exit n < least }'; } # MESSAGES
bytes() { find "$1" -name '*.rec' -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }'; }

# Every piece, alone.
readable() { # [cut]: the last record may be
	local file
	: >"$folder/lines"
	for file in "$rec"/*.rec; do
		ach play --list "$file" >"$folder/list" 2>"$folder/err"
		ach echo --json "$file" >"$folder/json" 2>>"$folder/err" ||
			grep -q ' 0 messages in ' "$folder/list" # status 1: there is none
		echo "$(wc -l <"$folder/json") $file" >>"$folder/lines"
		[ "${1:-}" != cut ] || continue
		lib_not grep -v 'no message' "$folder/err"
		lib_not grep 'not ended in order' "$folder/list"
	done
	/usr/bin/python3 - "$folder/lines" <<-'END'
		import sys, endplate
		for line in open(sys.argv[1]):
		    lines, file = line.split()
		    r = endplate.Recording(file)
		    n = sum(len(s) + (s.missed > 0) for s in r.channels.values())
		    assert r.start_ns and not r.damaged, (file, r.start_ns, r.damaged)
		    assert n == int(lines), (file, n, lines)
	END
}

test_pieces_hold_every_message_once_in_order() {
	fresh
	mk a-state
	start --piece 1 --total 100 '*-state'
	"$feed" "${p}a-state" 8000 >"$folder/fed"
	lib_until holds 8000
	stop
	holds_exactly "$folder/fed"
	readable
	[ "$(find "$rec" -name 'achlogd-0000000?.rec' | wc -l)" -ge 4 ]
	[ "$(find "$rec" -type f -size +1000000c | wc -l)" = 0 ]
	[ "$(find "$rec" -type f ! -name '*.rec' | wc -l)" = 0 ]
	[ "$(lines)" = 0 ] || { cat "$folder/said" && return 1; }
}

test_a_piece_plays_and_is_the_same() {
	fresh
	mk a-event
	start
	"$feed" "${p}a-event" 50 >"$folder/fed"
	stop
	lib_remove_channels "$p"
	ach play --speed 1000 "$rec/achlogd-00000001.rec" >"$folder/out"
	grep -q '^50 messages' "$folder/out"
	ach echo --json "${p}a-event" | wc -l | grep -qx 50
}

test_events_by_default_and_only_this_robots() {
	fresh
	mk a-event
	mk a-state
	ach mk "x$p-event" -m 10 -n 1000
	start
	"$feed" "${p}a-event" 5 >"$folder/fed"
	"$feed" --quiet "${p}a-state" 5
	"$feed" --quiet "x$p-event" 5
	stop
	ach rm "x$p-event"
	holds_exactly "$folder/fed"
}

# The oldest goes first, and the bounds hold at each instant: feed waits for a look behind each 500 messages.
test_bounds() {
	fresh
	mk a-state 200000
	start --piece 1 --total 3 --pieces 64 '*-state'
	: >"$folder/fed" && : >"$folder/looks"
	export -f bytes
	# shellcheck disable=SC2016 # for the shells that split starts
	"$feed" "${p}a-state" 20000 | SHELL=$BASH fed=$folder/fed looks=$folder/looks rec=$rec \
		split -l 500 --filter 'cat >>"$fed" && bytes "$rec" >>"$looks"'
	until counts | awk '{ newest = $4 } END { exit newest < 20000 }'; do
		bytes "$rec" >>"$folder/looks"
	done
	stop
	[ "$(wc -l <"$folder/fed")" = 20000 ]
	[ "$(wc -l <"$folder/looks")" -ge 40 ]
	[ "$(sort -n "$folder/looks" | tail -1)" -le 3000000 ]
	held >"$folder/got"
	tail -n "$(wc -l <"$folder/got")" "$folder/fed" | cmp - "$folder/got"
	[ "$(wc -l <"$folder/got")" -lt 15000 ]
	start --piece 1 --total 3 --pieces 2 '*-state'
	stop
	[ "$(find "$rec" -name '*.rec' | wc -l)" = 2 ]
	readable
}

test_channels_that_come_late_go_and_are_corrupt() {
	fresh
	start '*-state'
	mk a-state
	"$feed" "${p}a-state" 50 >"$folder/fed"
	lib_until holds 50
	ach rm "${p}a-state"
	mk a-state
	"$feed" "${p}a-state" 60 >>"$folder/fed"
	lib_until holds 110
	echo garbage >"/dev/shm/$p.garbage" # complete before it has its name
	mv "/dev/shm/$p.garbage" "/dev/shm/achshm-${p}b-state"
	lib_until said 'b-state is not a channel'
	rm "/dev/shm/achshm-${p}b-state"
	mk b-state
	"$feed" "${p}b-state" 70 >>"$folder/fed"
	lib_until holds 180
	[ "$(lines)" = 1 ] || { cat "$folder/said" && return 1; }
	stop
	holds_exactly "$folder/fed"
	readable
}

# A killed achlogd leaves readable pieces; the next one goes on behind the last message that is in them.  How far most
# of them come depends on the machine; each fourth has a piece.
test_kill_sweep() {
	local feeder before
	fresh
	mk a-state 200000
	mk b-event
	"$feed" "${p}b-event" 3 >"$folder/fed_b" # silent from now on
	start --piece 1 --total 1000 --pieces 1000
	stop
	"$feed" "${p}a-state" 16000 2000 >"$folder/fed" &
	feeder=$!
	for i in {1..40}; do
		before=$(newest)
		achlogd --folder "$rec" --piece 1 --total 1000 --pieces 1000 '*-state' '*-event' 2>>"$folder/said" &
		logger=$!
		[ $((i % 4)) -ne 0 ] || lib_until has_newer "$before"
		sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		kill -KILL "$logger"
		wait "$logger" 2>/dev/null || true
		[ "$i" -ne 20 ] || [ ! -e "$rec" ] || readable cut
	done
	achlogd --folder "$rec" --piece 1 --total 1000 --pieces 1000 '*-state' '*-event' 2>>"$folder/said" &
	logger=$!
	wait "$feeder"
	lib_until holds 16003
	stop
	readable cut
	held | grep a-state | cmp - "$folder/fed"
	held | grep b-event | cmp - "$folder/fed_b"
	[ "$(find "$rec" -name '*.rec' | wc -l)" -ge 12 ] # the first, ten lives, the last
}

# Reported once; goes on with what it keeps in memory, counts the rest, and leaves room for others.
test_full_disk() {
	fresh
	mkdir -p "$folder/small"
	mount -t tmpfs -o size=8m none "$folder/small" 2>/dev/null || exit 77
	rec=$folder/small/rec
	mk a-state
	mk b-state 80000
	start --piece 1 --total 5 '*-state'
	"$feed" "${p}a-state" 1000 >"$folder/fed"
	lib_until holds 1000
	dd if=/dev/zero of="$folder/small/filler" bs=64k count=86 status=none # a quarter is left to others
	"$feed" "${p}b-state" 60000 >>"$folder/fed"
	lib_until said "unable to write in $rec: No space left on device"
	lib_until grep -qE '[1-9][0-9]* messages were lost since the start' "$folder/said" # more than its memory holds
	[ "$(df --output=avail -k "$folder/small" | tail -1)" -ge 1500 ]
	[ "$(grep -c 'unable to write' "$folder/said")" = 1 ]
	held >"$folder/got" # what was written before is whole
	head -n "$(wc -l <"$folder/got")" "$folder/fed" | cmp - "$folder/got"
	rm "$folder/small/filler"
	lib_until said "written again in $rec"
	stop
	readable
	held >"$folder/got"
	[ "$(tail -1 "$folder/got")" = "$(tail -1 "$folder/fed")" ]
	sort -u "$folder/got" | wc -l | grep -qx "$(wc -l <"$folder/got")"
	umount "$folder/small"
}

test_a_piece_that_is_removed_is_followed_by_another() {
	fresh
	mk a-event
	start
	rm "$rec/achlogd-00000001.rec"
	lib_until more_until_piece
	stop
	[ -e "$rec/achlogd-00000002.rec" ]
	readable
}
more_until_piece() { "$feed" --quiet "${p}a-event" 1 && [ -n "$(newest)" ]; }

test_a_folder_that_is_removed_is_made_again() {
	fresh
	mk a-event
	start
	rm -rf "$rec"
	lib_until more_until_piece
	stop
	readable
}

test_one_folder_has_one_writer() {
	fresh
	start
	lib_says 111 '' "achlogd: fatal: $rec: another achlogd writes there; give one of them another --folder" \
		achlogd --folder "$rec"
	stop
}

test_wrong_lines() {
	lib_says 100 '' 'achlogd: fatal: --total: 4 MB have no room for two pieces of --piece 3 MB' \
		achlogd --piece 3 --total 4
	lib_says 100 '' 'achlogd: fatal: --name: a/b is not a valid name' achlogd --name a/b
	lib_says 111 '' "achlogd: fatal: --folder: $folder/none/rec: No such file or directory" \
		achlogd --folder "$folder/none/rec"
}

# ---- in a launch file ----

launch() {
	sed "s|\.\./config|$PWD/config|" launch/waist.launch
	printf '%s\n' '  achlogd:' '    program: achlogd' '    alive: watchdog' '    args: ["*-event", "*-state"]'
}

# The frames of a run, with their times, are those of a run without it.
test_changes_no_frame_on_the_virtual_clock() {
	unshare -minpf --mount-proc mount -t tmpfs tmpfs /run 2>/dev/null || exit 77
	launch >"$folder/log.launch"
	sed '/^  achlogd:/,$d' "$folder/log.launch" >"$folder/plain.launch"
	for file in plain log; do
		printf '%s\n' '  frames:' '    program: canrecord' '    needs: canwire' \
			"    args: [\"wire:torso\", --wait, --force, --output, $folder/$file.frames]" \
			>>"$folder/$file.launch"
		# shellcheck disable=SC2016 # for the shell inside
		unshare -minpf --kill-child --mount-proc bash -c '
			mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run
			unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR
			timeout -s KILL 100 achstart --virtual --for 3s --startup 2ms "$0" &&
				cp -r /run/endplate/bench/log "$1"' "$folder/$file.launch" "$folder/$file.log"
	done
	[ "$(wc -l <"$folder/plain.frames")" -gt 1000 ]
	cmp "$folder/plain.frames" "$folder/log.frames"
	rec=$folder/log.log/record
	readable
	holds 600
}

lib_functions "$folder/log" "${1:-}"

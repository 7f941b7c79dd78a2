#!/bin/bash
# ach record --mcap of live channels and a bus: killed, made whole, played again.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
lib_tmp
ach=$build/ach
feed=$build/test/channels/tool/feed
dump=$build/test/channels/rec/recdump
work=$lib_folder
prefix=t-mcap-$$
pids=()
leave() {
	local p
	for p in "${pids[@]}"; do kill -KILL "$p" 2>/dev/null || true; done
	wait 2>/dev/null || true
	lib_remove_channels "$prefix"
	rm -rf "$work"
}
trap leave EXIT

# Its messages are numbered from 1.
fresh() { "$ach" rm "$prefix-a" 2>/dev/null; "$ach" mk "$prefix-a" -m 4000 -n 1000; }
begin() { # FILE ARGUMENT...: records, and waits until the recorder has its place
	local file=$1
	shift
	fresh
	"$ach" record "$@" -o "$file" >"$work/out" 2>"$work/err" &
	pid=$!
	pids+=("$pid")
	lib_until test -e "$file"
}
end() { kill -INT "$pid" && wait "$pid"; }
messages() { "$ach" convert --force "$1" "$work/back.rec" >/dev/null && "$dump" "$work/back.rec"; }

all_bytes() { # COMPRESSION
	begin "$work/$1.mcap" "$prefix-a" --compress "$1" || return 1
	"$feed" "$prefix-a" 500 >"$work/fed"
	end && messages "$work/$1.mcap" | diff -q "$work/fed" -
}
killed() {
	begin "$work/killed.mcap" --mcap "$prefix-a" || return 1
	"$feed" "$prefix-a" 300 >"$work/fed"
	# A chunk is written when there was nothing more for a second.
	# shellcheck disable=SC2016 # for the shell inside
	lib_until eval '[ "$(stat -c %s "$work/killed.mcap")" -gt 10000 ]' || return 1
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	"$ach" convert --repair "$work/killed.mcap" "$work/whole.mcap" >/dev/null 2>"$work/err" &&
		grep -q 'is cut off at' "$work/err" &&
		messages "$work/whole.mcap" >"$work/got" && diff -q "$work/fed" "$work/got"
}
played() {
	"$ach" mk "$prefix-b" -m 4000 -n 1000
	begin "$work/again.rec" "$prefix-b" || return 1
	"$ach" play "$work/lz4.mcap" --map "$prefix-a=$prefix-b" --speed 1000 >/dev/null || return 1
	end && "$dump" "$work/again.rec" | cut -d ' ' -f 3 | diff -q <(messages "$work/lz4.mcap" | cut -d ' ' -f 3) -
}
bus() {
	for i in {1..50}; do
		printf '(%d.%06d) can0 %03X#%02X R\n' 1700000000 $((i * 1000)) "$i" "$i"
	done >"$work/sent.log"
	begin "$work/bus.mcap" --mcap --bus "can0=log:$work/sent.log" "$prefix-a" || return 1
	"$feed" "$prefix-a" 3 >"$work/fed"
	# shellcheck disable=SC2016 # for the shell inside
	lib_until eval '[ "$("$build/canconvert" --lenient "$work/bus.mcap" - 2>/dev/null | grep -c .)" -eq 50 ]' ||
		return 1
	end && "$build/canconvert" "$work/bus.mcap" "$work/bus.log" &&
		diff <(cut -d ' ' -f 2,3 "$work/sent.log") <(cut -d ' ' -f 2,3 "$work/bus.log") &&
		"$ach" play --list "$work/bus.mcap" | grep -q '^can0  *CAN  *50 messages' &&
		messages "$work/bus.mcap" | grep "$prefix-a" | diff -q "$work/fed" -
}

for compression in none lz4 zstd; do
	lib_case "every byte, $compression" all_bytes "$compression"
done
lib_case "killed and made whole" killed
lib_case "played" played
lib_case "a bus beside a channel" bus
lib_case "an existing file" lib_says 111 '' "ach convert: $work/lz4.mcap: exists already (--force replaces it)" \
	"$ach" convert "$work/again.rec" "$work/lz4.mcap"
lib_case "repair writes MCAP" lib_says 100 '' "ach convert: x.rec: --repair writes MCAP: give OUT the suffix .mcap" \
	"$ach" convert --repair "$work/lz4.mcap" x.rec
lib_end

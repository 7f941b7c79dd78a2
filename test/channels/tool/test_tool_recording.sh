#!/bin/bash
# Recordings as ach echo prints them; messages of other versions, as ach echo and ach play see them.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
ach=$build/ach
name=t-rec-$$
tmp=$(mktemp -d)
lib_folder=$tmp
leave() {
	lib_remove_channels "$name"
	rm -rf "$tmp"
}
trap leave EXIT

recorded() { # FILE RECORD...: in Python
	local file=$1
	shift
	python3 - "$tmp/$file" "$name" "$@" <<-'END'
		import struct, sys
		sys.dont_write_bytecode = True
		sys.path.insert(0, "test/lib")
		from recording import recording, channel, record
		def imu(version):
		    return struct.pack("<IHHI", 3, version, 0, 80).ljust(80, b"\1")
		name = sys.argv[2].encode()
		recording(sys.argv[1], *[eval(r) for r in sys.argv[3:]])
	END
}

test_echo_chooses() {
	local all='{"channel":"a","number":1,"t_ns":1,"message":{"hex":"61"}}
{"channel":"b","number":4,"t_ns":2,"message":{"hex":"62"}}
{"channel":"a","number":2,"t_ns":3,"message":{"hex":"63"}}'
	recorded three 'channel(0, b"a", 4, 80, 0)' 'channel(1, b"b", 4, 80, 0)' 'record(3, 0, 1, 1, b"a")' \
		'record(3, 1, 2, 4, b"b")' 'record(3, 0, 3, 2, b"c")'
	lib_says 0 "$all" '' "$ach" echo --json "$tmp/three"
	lib_says 0 "$(grep '"b"' <<<"$all")" '' "$ach" echo --json --only b "$tmp/three"
	lib_says 0 "$(tail -n 1 <<<"$all")" '' "$ach" echo --json --last "$tmp/three"
	lib_says 0 "$(tail -n 2 <<<"$all")" '' "$ach" echo --json --count 2 "$tmp/three"
	cd "$tmp"
	lib_says 0 "$all" '' "$ach" echo --json three # no channel has that name
	lib_says 111 '' "ach echo: three: no message of that channel" "$ach" echo --only nope three
	lib_says 111 '' "ach echo: three: --follow is for channels, and this is a recording" "$ach" echo --follow three
}

test_echo_shows_messages() {
	"$ach" mk "$name-imu-state" --type imu
	"$ach" record -o "$tmp/one" "$name-imu-state" >"$tmp/said" 2>&1 &
	lib_until test -s "$tmp/one" # it has its place in the channel
	"$ach" put "$name-imu-state" --json '{"type":"imu","samples":5}'
	kill -TERM $!
	wait $!
	"$ach" echo "$tmp/one" >"$tmp/text"
	grep -qx "# $name-imu-state 1: imu" "$tmp/text"
	grep -q '^samples *= *5$' "$tmp/text"
	"$ach" echo --json "$tmp/one" | grep -q '"message":{"type":"imu",.*"samples":5'
}

test_echo_reports_losses() {
	recorded loss 'channel(0, b"x", 4, 80, 0)' 'record(3, 0, 1, 1, b"a")' 'record(4, 0, 2, 5, b"")' \
		'record(3, 0, 3, 7, b"b")'
	lib_says 0 '{"channel":"x","number":1,"t_ns":1,"message":{"hex":"61"}}
{"channel":"x","missed":5}
{"channel":"x","number":7,"t_ns":3,"message":{"hex":"62"}}' '' "$ach" echo --json "$tmp/loss"
	lib_says 0 '# x 1: 1 bytes
000000   61                                                |a|
# x 7: 1 bytes
000000   62                                                |b|' '-- x: 5 missed --' "$ach" echo "$tmp/loss"
}

test_another_version_is_named_and_not_played() {
	local known why
	known=$("$ach" types --json | python3 -c '
import json, sys
print([t["version"] for t in json.load(sys.stdin)["types"] if t["name"] == "imu"][0])')
	why="imu of version 1; this program knows version $known"
	recorded old 'channel(0, name + b"-old", 4, 80, 3)' 'record(3, 0, 1, 7, imu(1))'
	"$ach" echo "$tmp/old" | grep -qx "# $name-old 7: $why"
	"$ach" echo --json "$tmp/old" | grep -qF "\"message\":{\"refused\":\"$why\",\"hex\":\"03000000"
	lib_says 111 '' "ach play: $name-old: message 7: $why" "$ach" play "$tmp/old"
	[ -z "$("$ach" echo --json "$name-old")" ]
	# another program's message, of which the first bytes look like ours
	recorded other 'channel(0, name + b"-other", 4, 80, 0)' 'record(3, 0, 1, 7, imu(1) + b"x")'
	"$ach" play "$tmp/other" >"$tmp/said"
	grep -q '^1 messages of 1 channel' "$tmp/said"
}

lib_functions "$tmp/log" "$@"

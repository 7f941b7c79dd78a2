#!/bin/bash
# Recordings of older versions of the messages: ach echo, play and convert read them.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
ach=$build/ach
name=t-old-$$
tmp=$(mktemp -d)
leave() {
	find /dev/shm -maxdepth 1 -name "achshm-$name*" -printf '%f\n' | sed 's/^achshm-//' | xargs -r "$ach" rm
	rm -rf "$tmp"
}
trap leave EXIT

python3 test/channels/old_recording.py write "$tmp/old" "$name"
python3 test/channels/old_recording.py expect "$name" >"$tmp/expected"

# Lines of JSON in the form of the expectations; the version and the size are those of the type today.
plain() { # [CHANNEL]: of which the lines are bare messages
	python3 -c '
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if sys.argv[1:]:
        m = {"channel": sys.argv[1], "message": m}
    assert m["message"]["header"]["version"] > 1, m
    m["message"]["header"].update(version="present", size="present")
    print(json.dumps(m, sort_keys=True))' "$@"
}
channels() { sed 's/^{"channel": "\([^"]*\)".*/\1/' "$tmp/expected"; }

test_echo_shows_the_present_form() {
	"$ach" echo --json "$tmp/old" | plain >"$tmp/got"
	diff "$tmp/expected" "$tmp/got"
	"$ach" echo "$tmp/old" >"$tmp/text"
	grep -qx "# $name-imu-1 7: imu, recorded in version 2" "$tmp/text"
	grep -qx "# $name-estop-7 7: estop, recorded in version 1" "$tmp/text"
}

test_echo_chooses() {
	"$ach" echo --json --only "$name-clock-5" "$tmp/old" | plain | diff - <(grep clock-5 "$tmp/expected")
	"$ach" echo --json --last "$tmp/old" | plain | diff - <(tail -n 1 "$tmp/expected")
	"$ach" echo --json --count 3 "$tmp/old" | plain | diff - <(tail -n 3 "$tmp/expected")
	cd "$tmp"
	"$ach" echo --json old | plain | diff - "$tmp/expected" # no channel has that name
	lib_folder=$tmp
	lib_says 1 '' "ach echo: old: no message of that channel" "$ach" echo --only nope old
	lib_says 1 '' "ach echo: old: --follow is for channels, and this is a recording" "$ach" echo --follow old
}

test_echo_tells_of_losses() {
	python3 - "$tmp" <<-'END'
		import sys
		sys.path.insert(0, "test/channels")
		sys.dont_write_bytecode = True
		from old_recording import recording, channel, record
		recording(sys.argv[1] + "/loss", channel(0, b"x", 4, 80, 0), record(3, 0, 1, 1, b"a"),
		          record(4, 0, 2, 5, b""), record(3, 0, 3, 7, b"b"))
	END
	lib_folder=$tmp
	lib_says 0 '{"channel":"x","number":1,"t_ns":1,"message":{"hex":"61"}}
{"channel":"x","missed":5}
{"channel":"x","number":7,"t_ns":3,"message":{"hex":"62"}}' '' "$ach" echo --json "$tmp/loss"
	lib_says 0 '# x 1: 1 bytes
000000   61                                                |a|
# x 7: 1 bytes
000000   62                                                |b|' '-- x: 5 missed --' "$ach" echo "$tmp/loss"
}

test_play_puts_the_present_form() {
	local channel
	"$ach" play "$tmp/old" >"$tmp/played"
	grep -qx '8 of them were of an older version and were converted' "$tmp/played"
	for channel in $(channels); do
		"$ach" echo --json "$channel" | plain "$channel"
	done >"$tmp/got"
	sed 's/"number": 7, //; s/, "t_ns": [0-9]*}$/}/' "$tmp/expected" | diff - "$tmp/got"
	# and each channel that play made holds as many as before
	"$ach" info "$name-imu-1" --json | grep -q "\"count\":64,\"size\":$("$ach" echo --json "$name-imu-1" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["header"]["size"])'),"
}

test_convert_writes_the_present_form() {
	"$ach" convert "$tmp/old" "$tmp/new" >"$tmp/said"
	grep -qx '8 messages, 8 of them of an older version and converted' "$tmp/said"
	"$ach" echo --json "$tmp/new" | plain | diff "$tmp/expected" -
	"$ach" echo "$tmp/new" | grep recorded && return 1
	"$ach" play --list "$tmp/old" | sed 's/ *[0-9]* bytes//' >"$tmp/list"
	"$ach" play --list "$tmp/new" | sed 's/ *[0-9]* bytes//' | diff "$tmp/list" -
	"$ach" convert "$tmp/new" "$tmp/again" >"$tmp/said"
	cmp "$tmp/new" "$tmp/again"
	grep -qx '8 messages, 0 of them of an older version and converted' "$tmp/said"
}

test_convert_refuses() {
	lib_folder=$tmp
	echo precious >"$tmp/there"
	lib_says 1 '' "ach convert: $tmp/there: exists already (--force replaces it)" \
		"$ach" convert "$tmp/old" "$tmp/there"
	lib_says 1 '' "ach convert: $tmp/old: is the recording itself; name another file" \
		"$ach" convert --force "$tmp/old" "$tmp/old"
	lib_says 1 '' "ach convert: $tmp/there: is not a recording of ach record" "$ach" convert "$tmp/there" "$tmp/x"
	lib_says 1 '' "ach convert: /dev/full: No space left on device" "$ach" convert "$tmp/old" /dev/full
	cp "$tmp/old" "$tmp/damaged"
	printf '\252' | dd of="$tmp/damaged" bs=1 seek=$(($(stat -c %s "$tmp/old") - 100)) conv=notrunc status=none
	"$ach" convert "$tmp/damaged" "$tmp/rest" >"$tmp/said" 2>"$tmp/err" && return 1
	grep -qx '7 messages, 7 of them of an older version and converted' "$tmp/said"
	grep -qE "^ach convert: $tmp/damaged: [0-9]+ bytes at [0-9]+ are damaged and left out$" "$tmp/err"
	"$ach" echo --json "$tmp/rest" | plain | diff <(head -n 7 "$tmp/expected") -
}

# What is neither of today nor known stays as it is, and is said.
test_unknown_versions_stay() {
	python3 - "$tmp" <<-'END'
		import struct, sys
		sys.path.insert(0, "test/channels")
		sys.dont_write_bytecode = True
		from old_recording import recording, channel, record
		body = struct.pack("<IHHI", 3, 99, 0, 80).ljust(80, b"\1")
		recording(sys.argv[1] + "/future", channel(0, b"x", 4, 80, 3), record(3, 0, 1, 1, body))
	END
	"$ach" convert "$tmp/future" "$tmp/future2" >"$tmp/said" 2>"$tmp/err"
	grep -q 'future: 1 messages are of versions that this program does not know, and stay as they were$' "$tmp/err"
	"$ach" echo "$tmp/future2" >"$tmp/text"
	grep -qE '^# x 1: imu of version 99; this program knows version [0-9]+$' "$tmp/text"
}

lib_functions "$tmp/log" "$@"

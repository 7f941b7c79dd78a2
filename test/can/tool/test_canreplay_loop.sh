#!/bin/bash
# test_canreplay_loop.sh: canreplay --closed-loop on the real clock: what it refuses, and a driver of shell commands.
# test/can/replay/test_replay_live.sh has real drivers on the virtual clock.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
lib_tmp
replay=$build/canreplay
export LC_ALL=C TZ=UTC ENDPLATE_RUN=$lib_folder/run
PATH=$build:$PATH
cd "$lib_folder"
mkdir -m 700 run

says() { # STATUS LINE OPTION...
	local status=$1 line=$2
	shift 2
	lib_says "$status" '' "canreplay: $line" "$replay" "$@"
}

cat >frames.json <<'END2'
{"frames": [{"bus": "torso", "id": "0CF", "dir": "tx", "key": "FFFF", "reply": {"id": "0AF", "key": "FFFF"}},
            {"bus": "torso", "id": "0AF", "dir": "rx"}]}
END2
cat >bus.log <<'END2'
(1700000000.000000) can0 700#05
(1700000000.010000) can0 0CF#0A27
(1700000000.010500) can0 0AF#0A2701
(1700000000.210000) can0 0CF#0A3C
(1700000000.210400) can0 0AF#0A3C02
(1700000000.300000) can0 700#05
END2
loop="bus.log --closed-loop --frames frames.json"

# shellcheck disable=SC2086 # words
refusals() {
	local real
	lib_case needs_frames says 100 \
		'--closed-loop: needs --frames FILE, what DRIVER ... --frames prints' bus.log --closed-loop
	lib_case diff_alone says 100 '--diff: needs --closed-loop' bus.log --diff
	lib_case frames_alone says 100 '--frames: needs --closed-loop' bus.log --frames frames.json
	lib_case step_alone says 100 '--step: needs --closed-loop' bus.log --step x
	lib_case channels_alone says 100 '--channels: needs --closed-loop' bus.log --channels x
	lib_case tolerance_alone says 100 '--tolerance: needs --closed-loop' bus.log --tolerance order
	lib_case channel_alone says 100 '--channel: needs --channels REC' $loop --channel waist-ref
	lib_case speed says 100 \
		'--closed-loop: a live driver has its own pace: leave out --loop, --speed, --dry-run' $loop --speed 2
	lib_case loops says 100 \
		'--closed-loop: a live driver has its own pace: leave out --loop, --speed, --dry-run' $loop --loop 2
	lib_case no_file says 111 \
		'--frames: none.json: No such file or directory' bus.log --closed-loop --frames none.json
	lib_case not_frames says 100 \
		'bus.log: no list "frames": DRIVER --frames prints it' bus.log --closed-loop --frames bus.log
	lib_case bus_without_name says 100 '--bus: torso is not NAME=OLD such as torso=can3' $loop --bus torso
	lib_case bus_unknown says 100 '--bus: base=can0: the driver has no such bus' $loop --bus base=can0
	lib_case tolerance says 100 \
		'--tolerance: "x": it is not ID:BYTE:TYPE=TOLERANCE such as 0EF:2:f32=0.001, or order' \
		$loop --tolerance x
	lib_case window says 100 '--window: "x" is not a time such as 10s or 5min' $loop --window x
	real='can0 is a real bus, on which references may move a device: --force plays them anyway'
	lib_case real_bus says 111 "--channels: $real" $loop --channels x
	lib_case no_rec says 111 'none.rec: No such file or directory' $loop --map can0=wire:torso --channels none.rec
	lib_case not_a_rec says 111 \
		'bus.log: is not a recording of ach record' $loop --map can0=wire:torso --channels bus.log
}

test_pipe() {
	says 111 "/dev/fd/63: cannot be read twice, so there is no --closed-loop" <(cat bus.log) --closed-loop \
		--frames frames.json
}

# A wire for each test, so that none meets the nodes of another.
canwire run none hand json all strict &
wires=$!
trap 'kill "$wires"; rm -rf "$lib_folder"' EXIT
lib_until canwire stats json >/dev/null

test_no_driver() {
	# shellcheck disable=SC2086 # words
	says 111 'no frame of the driver came within 0.1 s: is it on this bus, and are these its --frames?' \
		$loop --map can0=wire:none --wait 0.1
}

# The second request has another key, which the recording does not have, then the right one.
test_a_driver_of_hand() {
	local status=0
	canrecord torso=wire:hand --output seen.log & recorder=$!
	lib_until test -e seen.log
	# shellcheck disable=SC2086 # words
	"$replay" $loop --map can0=wire:hand --diff --settle 0 --report report & player=$!
	lib_until bash -c 'canwire stats hand | grep -q devices'
	canwire send hand 0CF#0A27
	canwire send hand 0CF#0A99
	wait "$player" || status=$?
	kill "$recorder" && wait "$recorder"
	cat report seen.log
	[ "$status" -eq 1 ]
	grep -q 0AF#0A2701 seen.log
	lib_not grep -q 0AF#0A3C02 seen.log
	grep -q '< .*missing' report
	grep -q '>.*torso 0CF#0A99.*extra\|> .*can0 0CF#0A99.*extra' report
	tail -n 1 report | grep -qx '2 differences in 1 of 2 requests; the first at 0.210000 s in can0 0CF#0A3C'
}

# Without a difference nothing but --all shows a frame.
test_all() {
	# shellcheck disable=SC2086 # words
	"$replay" $loop --map can0=wire:all --diff --all --settle 0 --window 1s --report report & player=$!
	lib_until bash -c 'canwire stats all | grep -q devices'
	canwire send all 0CF#0A27
	canwire send all 0CF#0A3C
	wait "$player"
	cat report
	grep -qE '^ +0\.010000 can0 0CF#0A27 +0\.010000 can0 0CF#0A27$' report
	grep -qE '^ +0\.210000 can0 0CF#0A3C +[0-9.]+ can0 0CF#0A3C$' report
	tail -n 1 report | grep -qx 'no difference'
}

# A request that was sent once then is answered as then the second time, too, unless --strict.
test_strict() {
	local status=0
	canrecord torso=wire:strict --output strict.log & recorder=$!
	lib_until test -e strict.log
	# shellcheck disable=SC2086 # words
	"$replay" $loop --map can0=wire:strict --diff --strict --settle 0 --report report & player=$!
	lib_until bash -c 'canwire stats strict | grep -q devices'
	canwire send strict 0CF#0A27
	canwire send strict 0CF#0A27
	wait "$player" || status=$?
	kill "$recorder" && wait "$recorder"
	cat report strict.log
	[ "$status" -eq 1 ]
	[ "$(grep -c 0AF#0A2701 strict.log)" -eq 1 ]
	grep -qE '> +[0-9.]+ can0 0CF#0A27 +extra$' report
}

test_json() {
	# shellcheck disable=SC2086 # words
	"$replay" $loop --map can0=wire:json --settle 0 --json >result & player=$!
	lib_until bash -c 'canwire stats json | grep -q devices'
	canwire send json 0CF#0A27
	wait "$player" # nothing is compared without --diff: status 0
	python3 -c 'import json
o = json.load(open("result"))
assert (o["recorded"], o["sent"], o["answered"], o["cyclic"], o["missing"], o["middle"]) == (2, 1, 1, 2, 1, False), o
assert [r["request"] for r in o["requests"]] == ["can0 0CF#0A27", "can0 0CF#0A3C"], o
assert [r["first_ns"] for r in o["requests"]] == [None, 210000000], o'
}

refusals
lib_functions "$lib_folder/log" "${1:-}"

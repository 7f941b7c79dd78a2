#!/bin/bash
# ach play does not put references, requests and e-stops into the channels of a live robot, unless forced.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
ach=$build/ach
p=t-live-$$-
lib_folder=$(mktemp -d)
tmp=$lib_folder
leave() {
	find /dev/shm -maxdepth 1 -name "achshm-$p*" -printf '%f\n' | sed 's/^achshm-//' | xargs -r "$ach" rm
	rm -rf "$tmp"
}
trap leave EXIT

# A message each into $p-NAME, in file $tmp/NAME.
recorded() { # NAME...
	python3 - "$tmp" "$p" "$@" <<-'END'
		import sys
		sys.dont_write_bytecode = True
		sys.path.insert(0, "test/lib")
		from recording import recording, channel, record
		folder, prefix, *names = sys.argv[1:]
		for name in names:
		    recording(f"{folder}/{name}", channel(0, (prefix + name).encode(), 8, 100, 0),
		              record(3, 0, 2000, 1, b"hello"))
	END
}
moving='waist-ref waist-req estop estop-b'
# shellcheck disable=SC2086 # words
recorded $moving waist-state waist-event other-ref

messages() { # NAME: put into it; 0 also if it is not there
	"$ach" info "$p$1" --json --for 0 2>/dev/null | grep -oE '"last_seq":[0-9]+' | grep -oE '[0-9]+' || echo 0
}
refused() { # NAME BY
	lib_says 111 '' \
		"ach play: $p$1: a live robot listens to it (see ach info $p$2); --map $p$1=NAME plays it under \
another name, --force plays it all the same" "$ach" play "$tmp/$1" && [ "$(messages "$1")" = 0 ]
}
played() { # NAME [OPTION...]
	"$ach" play "$tmp/$1" "${@:2}" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err"; return 1; }
	grep -q '^1 messages of 1 channel' "$tmp/out"
	"$ach" rm "$p$1" 2>/dev/null || true
}
is_written() { [ "$(messages waist-state)" -gt 0 ]; }
forget() { "$ach" rm "$p$1"; }
# A state of the waist's driver, SECONDS ago, from a process that has ended.
state() { # SECONDS [HEADER-FIELDS]
	local then_ns
	then_ns=$(python3 -c 'import sys, time; print(time.monotonic_ns() - int(sys.argv[1]) * 10**9)' "$1")
	"$ach" mk -1 "${p}waist-state" --type joint-state
	"$ach" put "${p}waist-state" --json "{\"header\":{\"t_publish_ns\":$then_ns${2:-}}}"
}

test_nothing_there_is_not_live() {
	local name
	for name in $moving; do played "$name"; done
}

test_a_writer_that_is_there_is_live() {
	local name
	"$ach" mk "${p}waist-state" --type joint-state
	"$ach" put "${p}waist-state" --json '{"header":{"t_publish_ns":1}}' --hz 50 &
	lib_until is_written
	for name in $moving; do refused "$name" waist-state; done
	played other-ref # its driver is not there
	played waist-event
	played waist-ref --map "${p}waist-ref=${p}bench"
	played waist-ref --map "${p}waist-ref=${p}bench-ref"
	for name in $moving; do played "$name" --force; done
	kill %1
	wait %1 2>/dev/null || true
	forget waist-state
}

# Between two lives of a driver.
test_a_message_of_late_is_live() {
	local name
	state 0
	for name in $moving; do refused "$name" waist-state; done
	forget waist-state
}

test_what_ended_long_ago_is_not_live() {
	local name
	state 30
	for name in $moving; do played "$name"; done
	forget waist-state
	state -1000 # the clock of another boot
	played waist-ref
	forget waist-state
	state 1 ',"flags":"replayed"'
	played waist-ref
	forget waist-state
	"$ach" mk "${p}waist-state" # never written
	played waist-ref
	forget waist-state
}

test_a_driver_known_by_its_events_only_is_live() {
	"$ach" mk "${p}waist-event" --type event
	"$ach" put "${p}waist-event" --json '{"text":"hello"}'
	refused waist-ref waist-event
	refused estop waist-event
	forget waist-event
	"$ach" mk "${p}clock" --type clock
	"$ach" put "${p}clock" --json '{}'
	refused estop-b clock
	played waist-ref
	forget clock
}

# Another user who cannot tell does not play.
test_a_state_that_cannot_be_read_is_live() {
	[ "$(id -u)" -eq 0 ] || exit 77
	state 30
	"$ach" chmod 600 "${p}waist-state"
	chmod 755 "$tmp"
	cp "$ach" "$tmp/ach"
	lib_matches 111 "ach play: ${p}waist-ref: a live robot listens to it *" \
		setpriv --reuid 4711 --regid 4711 --clear-groups "$tmp/ach" play "$tmp/waist-ref"
	forget waist-state
}

# A refused play has made and put nothing, in no channel of the file.
test_refused_before_anything_is_done() {
	state 0
	python3 - "$tmp/both" "$p" <<-'END'
		import sys
		sys.dont_write_bytecode = True
		sys.path.insert(0, "test/lib")
		from recording import recording, channel, record
		path, prefix = sys.argv[1:]
		recording(path, channel(0, f"{prefix}first".encode(), 8, 100, 0),
		          channel(1, f"{prefix}waist-ref".encode(), 8, 100, 0), record(3, 0, 2000, 1, b"hello"))
	END
	lib_matches 111 "ach play: ${p}waist-ref: a live robot listens to it *" "$ach" play "$tmp/both"
	[ ! -e "/dev/shm/achshm-${p}first" ]
	forget waist-state
}

lib_functions "$tmp/log" "$@"

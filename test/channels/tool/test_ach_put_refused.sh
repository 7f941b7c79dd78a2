#!/bin/bash
# test_ach_put_refused.sh: ach put says whether the driver took the reference: the bench robot, and a source of refmuxd.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh

export LC_ALL=C PATH=$build:$PATH
lib_tmp
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-apr-$$-
p=$ENDPLATE_PREFIX
achstart='' refmuxd='' others=''
cleanup() {
	local file
	# shellcheck disable=SC2086 # several
	[ -z "$achstart$refmuxd$others" ] || kill -9 $achstart $refmuxd $others 2>/dev/null || true
	for file in "$ENDPLATE_RUN"/state/*; do
		[ ! -f "$file" ] || kill -9 "$(sed -n 's/^pid //p' "$file")" 2>/dev/null || true
	done
	rm -rf "$lib_folder" /dev/shm/achshm-"$p"* /dev/shm/achbell-"$p"*
}
trap cleanup EXIT

follows() { ach echo "${p}waist-state" --last --json | grep -qE '"lifecycle":"(holding|active)"'; }
start() {
	achstart --real launch/waist.launch 2>"$lib_folder/achstart" &
	achstart=$!
	lib_until follows || { cat "$lib_folder/achstart"; return 1; }
}
lib_case "a bench robot" start

good='{"mode":["position"],"position":[-0.5]}'
put() { ach put "${p}waist-ref" --json "$@"; }
says() { # TEXT PUT-ARGUMENTS...
	local text=$1
	shift
	lib_matches 111 "ach put: ${p}waist-ref: refused: $text" put "$@"
}
lib_case "one that is taken" lib_matches 0 '' put "$good" --valid 20
lib_case "valid for too long" says 'valid for 900 ms, at most 25 ms: give it less, as --valid 25 --hz 80' \
	"$good" --valid 900
lib_case "no validity" says 'valid_until_ns is 0: give it a validity, at most 25 ms, as --valid 25 --hz 80' "$good"
lib_case "two joints" says '2 joints, the device has 1: give one value for each' \
	'{"mode":["position","none"],"position":[-0.5,0]}' --valid 20
lib_case "a mode that the device does not take" says \
	'mode\[0] (15) is compliant: give none, position, velocity or current' \
	'{"mode":["compliant"],"position":[-0.5]}' --valid 20
lib_case "NaN" says 'position\[0] (15) is nan: give a finite number' \
	'{"mode":["position"],"position":[null]}' --valid 20
lib_case "for another incarnation" says 'for incarnation 9, the driver is 1: read its state again' \
	'{"header":{"for_incarnation":9},"mode":["position"],"position":[-0.5]}' --valid 20

# Repeated: said once, then counted, to the end.
repeated() {
	lib_matches 111 "ach put: ${p}waist-ref: refused: valid for 900 ms*
ach put: ${p}waist-ref: * were refused, the last: valid for 900 ms, *: give it less, as --valid 25 --hz 80" \
		put "$good" --valid 900 --hz 100 --for 0.2
}
lib_case "repeated" repeated
lib_case "lines of standard input" lib_matches 111 "ach put: ${p}waist-ref: refused: valid for 900 ms*" \
	bash -c "echo '$good' | ach put ${p}waist-ref --json - --valid 900"
event() {
	grep -q 'ref-refused: process [0-9]*: valid for 900 ms, at most 25 ms: give it less' \
		"$ENDPLATE_RUN/log/events.log"
}
lib_case "the event names the process" lib_until event

# A reference of another program that is refused is not ours.
ach put "${p}waist-ref" --json "$good" --valid 900 --hz 150 2>/dev/null &
others=$!
innocent() {
	for _ in 1 2 3 4 5 6 7 8; do
		lib_matches 0 '' put "$good" --valid 20 || return
	done
	lib_matches 0 '' put "$good" --valid 20 --hz 100 --for 0.2
}
lib_case "another program's refusals are not ours" innocent
kill "$others"
wait "$others" || true
others=

# A source has a reader of its own, which says of each source how many it has refused.
start_mux() {
	refmuxd --name mux --set output=waist --set sources=joy,control 2>"$lib_folder/mux" &
	refmuxd=$!
	lib_until test -s "/dev/shm/achshm-${p}mux-info"
	lib_until grep -q . <(ach echo "${p}mux-state" --last 2>/dev/null)
}
lib_case "a refmuxd" start_mux
from_joy() { ach put "${p}waist.joy-ref" --json "$@"; }
lib_case "source: taken" lib_matches 0 '' from_joy "$good" --valid 20
lib_case "source: two joints" lib_matches 111 \
	"ach put: ${p}waist.joy-ref: refused: 2 joints, the device has 1: give one value for each" \
	from_joy '{"mode":["position","none"],"position":[-0.5,0]}' --valid 20
lib_case "source: valid for too long" lib_matches 111 "ach put: ${p}waist.joy-ref: refused: valid for 900 ms*" \
	from_joy "$good" --valid 900

# Nobody reads it: there is nothing to say, and nothing to wait for.
lib_case stop achctl stop
lib_case "no driver, no word" lib_matches 111 '*no such channel*' put "$good" --valid 900
quiet() {
	ach mk "${p}alone-ref" --type joint-ref && lib_matches 0 '*so for_incarnation is 0: any' \
		ach put "${p}alone-ref" --json "$good" --valid 900
}
lib_case "a channel without a driver" quiet
lib_end

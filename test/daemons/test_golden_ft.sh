#!/bin/bash
# A log of an ATI force/torque sensor through the real ftd: what it sends and publishes is what was looked at once; see
# golden/README.
set -eu
. test/scripts/lib.sh
here=test/daemons/golden
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

play() { "$BUILD/test/daemons/golden/golden_ft" "$1" "$out/sent" "$out/states"; } # LOG
same() {
	play "$here/ft.log"
	diff "$here/ft.sent" "$out/sent" | head -n 20
	diff "$here/ft.states" "$out/states" | head -n 20
	cmp "$here/ft.sent" "$out/sent" && cmp "$here/ft.states" "$out/states"
}
another_log_differs() {
	sed 's/ 201#\(..\)../ 201#\101/' $here/ft.log >"$out/other.log"
	play "$out/other.log"
	! cmp -s $here/ft.states "$out/states"
}

lib_case "a force/torque sensor" same
lib_case "another log gives another result" another_log_differs
lib_end

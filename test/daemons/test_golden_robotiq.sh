#!/bin/bash
# A log of a gripper through the real robotiqd: what it sends and publishes is what was looked at once; see
# golden/README.
set -eu
. test/scripts/lib.sh
here=test/daemons/golden
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

same() {
	"$BUILD/test/daemons/golden/golden_robotiq" $here/robotiq.log "$out/sent" "$out/states"
	diff $here/robotiq.sent "$out/sent" | head -n 20
	diff $here/robotiq.states "$out/states" | head -n 20
	cmp $here/robotiq.sent "$out/sent" && cmp $here/robotiq.states "$out/states"
}
another_log_differs() {
	sed 's/ 58B#4F0020053C/ 58B#4F0020053D/' $here/robotiq.log >"$out/other.log"
	"$BUILD/test/daemons/golden/golden_robotiq" "$out/other.log" "$out/sent" "$out/states"
	! cmp -s $here/robotiq.states "$out/states"
}

lib_case "a gripper" same
lib_case "another log gives another result" another_log_differs
lib_end

#!/bin/bash
# A log through the real driver: what it sends and what it publishes is what was looked at once; see golden/README.
set -eu
. test/scripts/lib.sh
here=test/daemons/golden
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

play() { "$BUILD/test/daemons/golden/golden" $here/waist.log $here/waist.script "$out/sent" "$out/states"; }

same_frames() { play && diff $here/waist.sent "$out/sent" | head -n 20 && cmp $here/waist.sent "$out/sent"; }
same_states() { diff $here/waist.states "$out/states" | head -n 20 && cmp $here/waist.states "$out/states"; }
another_log_differs() {
	sed 's/0A3C\(......\)BF/0A3C\1BE/' $here/waist.log >"$out/other.log"
	"$BUILD/test/daemons/golden/golden" "$out/other.log" $here/waist.script "$out/sent2" "$out/states2"
	! cmp -s $here/waist.states "$out/states2"
}

lib_case "every frame it sends" same_frames
lib_case "every state it publishes" same_states
lib_case "another log gives another result" another_log_differs
lib_end

#!/bin/bash
# The log of a battery through the real bmsd: what it sends and publishes is what was looked at once; see golden/README.
set -eu
. test/scripts/lib.sh
here=test/daemons/golden
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

same() {
	"$BUILD/test/daemons/golden/golden_bms" "$here/bms.log" "$out/sent" "$out/states"
	diff "$here/bms.sent" "$out/sent" | head -n 20
	diff "$here/bms.states" "$out/states" | head -n 20
	cmp "$here/bms.sent" "$out/sent" && cmp "$here/bms.states" "$out/states"
}
another_log_differs() {
	sed 's/ 356#\(..\)../ 356#\110/' $here/bms.log >"$out/other.log"
	"$BUILD/test/daemons/golden/golden_bms" "$out/other.log" "$out/sent" "$out/states" || return 1
	! cmp -s $here/bms.states "$out/states"
}

lib_case "a battery" same
lib_case "another log gives another result" another_log_differs
lib_end

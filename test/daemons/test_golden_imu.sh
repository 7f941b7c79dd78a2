#!/bin/bash
# Logs of a DMU and of an MTi through the real imud: what it sends and publishes is what was looked at once; see
# golden/README.
set -eu
. test/scripts/lib.sh
here=test/daemons/golden
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

same() { # KIND
	"$BUILD/test/daemons/golden/golden_imu" "$1" "$here/$1.log" "$out/sent" "$out/states"
	diff "$here/$1.sent" "$out/sent" | head -n 20
	diff "$here/$1.states" "$out/states" | head -n 20
	cmp "$here/$1.sent" "$out/sent" && cmp "$here/$1.states" "$out/states"
}
another_log_differs() {
	sed 's/ 050#\(..\)../ 050#\101/' $here/dmu.log >"$out/other.log"
	"$BUILD/test/daemons/golden/golden_imu" dmu "$out/other.log" "$out/sent" "$out/states" || return 1
	! cmp -s $here/dmu.states "$out/states"
}

lib_case "a DMU" same dmu
lib_case "an MTi" same mti
lib_case "another log gives another result" another_log_differs
lib_end

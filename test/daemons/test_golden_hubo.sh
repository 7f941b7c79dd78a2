#!/bin/bash
# Logs of two buses through the real hubod: what it sends and publishes is what was looked at once; see golden/README.
set -eu
. test/scripts/lib.sh
here=test/daemons/golden
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

same() {
	local file

	"$BUILD/test/daemons/golden/golden_hubo" $here/hubo.log "$out/hubo.sent" "$out/hubo.states"
	for file in hubo.sent hubo.sent-2 hubo.states; do
		diff "$here/$file" "$out/$file" | head -n 20
		cmp "$here/$file" "$out/$file" || return 1
	done
}
another_log_differs() {
	sed 's/ 060#E8030000/ 060#E9030000/' $here/hubo.log >"$out/other.log"
	cp $here/hubo.log-2 "$out/other.log-2"
	"$BUILD/test/daemons/golden/golden_hubo" "$out/other.log" "$out/sent" "$out/states"
	! cmp -s $here/hubo.states "$out/states"
}

lib_case "three boards on two buses" same
lib_case "another log gives another result" another_log_differs
lib_end

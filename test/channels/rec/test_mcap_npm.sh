#!/bin/bash
# MCAP files as other tools see them: npm's readers of MCAP and of CDR find every message and every time equal, and what
# another writer wrote is read here.  Skipped where npm cannot get its packages.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
lib_tmp
ach=$build/ach
work=$lib_folder
trap 'rm -rf "$work"' EXIT

packages=.deps/npm
if [ ! -d $packages/node_modules/@mcap ] || ! command -v node >/dev/null; then
	lib_ignore "npm's readers" "its packages are not in $packages: run scripts/setup with a network"
	lib_end
	exit
fi
cp test/npm/mcap.mjs "$packages/mcap-$$.mjs"
trap 'rm -rf "$work" "$packages/mcap-$$.mjs"' EXIT
npm_mcap() { node "$packages/mcap-$$.mjs" "$@"; }

same() { # COMPRESSION: there, and back byte for byte
	local to=$work/$1
	"$ach" convert --compress "$1" "$work/a.rec" "$to.mcap" >/dev/null &&
		npm_mcap check "$to.mcap" "$work/expected" &&
		"$ach" convert "$to.mcap" "$to.rec" >/dev/null &&
		cmp "$work/a.rec" "$to.rec" &&
		"$build/canconvert" "$to.mcap" "$to.log" &&
		diff "$work/frames" "$to.log"
}
differs() {
	sed '20s/"sequence":[0-9]*/"sequence":77/' "$work/expected" >"$work/other"
	lib_not npm_mcap check "$work/zstd.mcap" "$work/other" 2>/dev/null
}
# Between the data and the end of the summary.
cut_off() {
	head -c "$(($(stat -c %s "$work/none.mcap") - 1000))" "$work/none.mcap" >"$work/cut.mcap"
	lib_not npm_mcap check "$work/cut.mcap" "$work/expected" 2>/dev/null &&
		"$ach" convert --repair "$work/cut.mcap" "$work/whole.mcap" >/dev/null &&
		npm_mcap check "$work/whole.mcap" "$work/expected"
}
# The messages of Endplate are messages again.
foreign() {
	local n
	n=$(wc -l <"$work/expected")
	npm_mcap copy "$work/zstd.mcap" "$work/foreign.mcap" &&
		"$ach" convert "$work/foreign.mcap" "$work/foreign.rec" | grep -qx "$((n + 3)) messages" &&
		"$ach" play --list "$work/foreign.rec" >"$work/list" &&
		grep -q '^imu  *imu  *3 messages' "$work/list" &&
		grep -q '^can-can0  *CAN  *3 messages' "$work/list" &&
		diff <("$ach" echo --json --only imu "$work/a.rec" | sed 's/.*"message"//') \
			<("$ach" echo --json --only imu "$work/foreign.mcap" | sed 's/.*"message"//') &&
		"$build/canconvert" "$work/foreign.mcap" "$work/foreign.log" &&
		diff "$work/frames" "$work/foreign.log"
}
frames() {
	npm_mcap frames "$work/frames.mcap" &&
		"$build/canconvert" "$work/frames.mcap" "$work/frames.log" &&
		diff - "$work/frames.log" <<-'END'
			(1700000000.000000) can1 100#000203
			(1700000000.000001) can1 101#R3
			(1700000000.000002) can1 12345678#020203
		END
}

"$build/test/channels/rec/recmake" "$work/a.rec" "$work/expected" "$work/frames"
for compression in none lz4 zstd; do
	lib_case "every message and every time, $compression" same "$compression"
done
lib_case "a difference is found" differs
lib_case "cut off and made whole" cut_off
lib_case "messages of another writer" foreign
lib_case "frames of another writer" frames
lib_end

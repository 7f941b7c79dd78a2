#!/bin/bash
# Frames of a robot's drivers keep the bounds that achstart computes; beside frames that no driver declares they do not,
# and that is an event.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
lib_tmp
PATH=$(realpath "$BUILD"):$PATH
export PATH
words='with the declared frames alone it takes at most'

lib_need_namespaces late_frame

# OPTION... FILE: as lib_alone.
virtual() { lib_alone "timeout -s KILL 200 achstart --virtual $*"; }

test_a_robot_keeps_its_bounds() {
	local launch
	for launch in bench-krang bench-hubo; do
		virtual --for 4s "launch/$launch.launch"
		grep -q 'all [0-9]* ready' "$lib_folder/said" || { cat "$lib_folder/said"; return 1; }
		lib_not grep "$words" "$lib_folder/said"
	done
}

test_frames_that_are_not_declared_are_noticed() {
	local i
	for i in $(seq 100 140); do
		printf '(0.%03d%03d) can0 001#3C3C3C3C3C3C3C3C\n' $((i * 135 / 1000)) $((i * 135 % 1000))
	done >"$lib_folder/burst.log"
	sed "s#\.\./config#$PWD/config#" launch/waist.launch >"$lib_folder/x.launch"
	cat >>"$lib_folder/x.launch" <<END
  other:
    program: canreplay
    args: ["$lib_folder/burst.log", --map, "can0=wire:torso@other", --loop, "0", --pause, 100ms]
    alive: process
    needs: waist
END
	virtual --for 3s "$lib_folder/x.launch"
	grep -Eq "bus torso: frame 0[A-F0-9]{2} took [0-9.]+ ms; $words" "$lib_folder/said" ||
		{ cat "$lib_folder/said"; return 1; }
}

lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# hubo-daemon, the clock of the robot: what it declares and refuses.  clock/test_clock.c runs it.
# shellcheck disable=SC2317 # called by name
set -eu -o pipefail
. test/scripts/lib.sh
lib_tmp

cat >"$lib_folder/robot.yaml" <<'END'
robot: clk
buses:
  torso: {interface: wire:torso, clock: 080#, clock_divider: 5}
  base: {interface: wire:base, clock: 100#0F, bitrate: 500000}
devices:
  clock: {driver: hubo-daemon, bus: torso, actuated: no}
  two: {driver: hubo-daemon, bus: [torso, base], actuated: no}
END

test_frames_it_sends() {
	"$build/hubo-daemon" --name two --config "$lib_folder/robot.yaml" --frames >"$lib_folder/frames"
	jq -c '.frames[] | select(.dir == "tx") | [.bus, .id, .len, .class, .shared, .period_us, .deadline_us]' \
		"$lib_folder/frames" >"$lib_folder/rows"
	diff - "$lib_folder/rows" <<-'END'
		["torso","080",0,"latest",false,5000,1000]
		["base","100",1,"latest",true,1000,1000]
	END
}

test_follows_nothing() {
	local tick
	for tick in clock clock/5 'frame torso 0x080 5ms'; do
		lib_matches 100 '*tick*' timeout 30 \
			"$build/hubo-daemon" --name clock --config "$lib_folder/robot.yaml" --set tick="$tick"
	done
}

lib_functions "$lib_folder/log" "$@"

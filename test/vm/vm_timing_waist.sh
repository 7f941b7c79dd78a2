#!/bin/bash
# vm_timing_waist.sh: the waist's driver of a balancing robot is killed, on vcan and on the virtual clock.
#
# The guest computes 1000 instructions in a microsecond: the robot has half of its usual pace.
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
export PATH=${BUILD:-build}:$PATH ENDPLATE_RUN=$lib_folder/run

cat >"$lib_folder/robot.yaml" <<END
like: $PWD/config/robots/bench.yaml
robot: vm
buses:
  base: {interface: vcan0}
  torso: {interface: vcan1}
devices:
  clock: {settings: {tick: 2ms}}
END
cat >"$lib_folder/robot.launch" <<END
include: robot.yaml
arm: auto
daemons:
  robotsim: {priority: 55}
  clock: {priority: 50}
  imu: {priority: 48, critical: hold}
  wheels: {priority: 48, critical: estop}
  waist: {priority: 45, critical: hold}
  waist-mux: {priority: 44}
  control: {priority: 40}
  balance: {priority: 47, critical: estop}
  runlog:
    program: runlog
    alive: watchdog
    needs: robotsim
    restart: never
    args: [--summary, $lib_folder/summary, --until, 2500ms, body, clock, imu, wheels, waist, balance]
END

# Nothing but the waist has a gap, and it is back with a complete measurement within 50 ms.  Ticks are skipped: the only
# processor, which starts the driver, is emulated, and its kernel is not preempted everywhere.
stood() {
	python3 - "$lib_folder/summary" <<'PYTHON'
import json
import sys

channels = json.load(open(sys.argv[1]))
gaps = {name: [gap for gap in channel["gaps"] if gap["restart"]] for name, channel in channels.items()}
print("falls:", channels["body"]["falls"], "back after ms:", [gap["fresh_ms"] for gap in gaps["waist"]],
      "skipped:", {name: channel.get("skipped") for name, channel in channels.items()})
assert channels["body"]["falls"] == 0
assert len(gaps["waist"]) == 2 and all(gap["fresh_ms"] < 50 for gap in gaps["waist"])
assert all(not gaps[name] for name in gaps if name != "waist")
PYTHON
}

test_it_stands() {
	local i

	achstart "$lib_folder/robot.launch" >"$lib_folder/said" 2>&1 &
	# shellcheck disable=SC2016 # at the end
	vm_finally 'cat $lib_folder/said'
	vm_until grep -q 'runlog.*ready' "$lib_folder/said"
	for i in 1 2; do
		read -r -t "0.$((5 + i))" -u "$vm_never" _ || true
		kill -KILL "$(sed -n 's/^pid //p' "$ENDPLATE_RUN/state/waist")"
	done
	vm_until grep -q 'runlog.*done' "$lib_folder/said"
	stood
}

lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# test_buses.sh: a robot of 33 and of 64 buses runs, one of 65 is refused.
set -eu
. test/scripts/lib.sh
lib_tmp
export LC_ALL=C PATH=$build:$PATH ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=buses$$- ACH_DIR=$lib_folder/chan
unset NOTIFY_SOCKET LOGS_DIRECTORY
mkdir -m 700 "$ENDPLATE_RUN" "$ACH_DIR"

# BUSES: a driver and eight modules for each eight of them
robot() {
	python3 - "$1" "$lib_folder" <<'MAKE'
import sys

n, folder = int(sys.argv[1]), sys.argv[2]


def each(step):
    """Buses, so many at a time."""
    return [(i, [f"b{j}" for j in range(i, min(n, i + step))]) for i in range(0, n, step)]


with open(folder + "/many.yaml", "w", encoding="ascii") as to:
    print("robot: many", "buses:", *(f"  b{i}: {{interface: wire:b{i}}}" for i in range(n)), "devices:", sep="\n",
          file=to)
    for i, buses in each(8):
        modules = ",".join(f"{bus}:{k + 1}" for k, bus in enumerate(buses))
        print(f"  d{i}: {{driver: pciod, bus: [{', '.join(buses)}], sim: {{type: PRL120}},",
              f"    settings: {{modules: '{modules}', tick: 20ms}},",
              "    limits: {position: [-2, 0], velocity: 0.4, acceleration: 1.7, current: 10}}", sep="\n", file=to)
with open(folder + "/many.launch", "w", encoding="ascii") as to:
    print("include: many.yaml", "clock: none", "daemons:", "  robotsim:", "  blackbox:", sep="\n", file=to)
    for i, buses in each(16):
        print(f"  w{i}: {{program: canwire, bus: [{', '.join(buses)}]}}", file=to)
    for i, _ in each(8):
        print(f"  d{i}: {{dead_after: 1min}}", file=to)
MAKE
}

# On the real clock, until all are ready; drivers may be late.
runs_in_real_time() { # BUSES DAEMONS
	local status=0
	robot "$1"
	achstart "$lib_folder/many.launch" 2>"$lib_folder/said" &
	lib_until grep "all $2 ready" "$lib_folder/said" || status=$?
	achctl status --json | grep -o '"interface":"wire:b[0-9]*"' | sort -u | wc -l | grep -qx "$1" || status=$?
	kill -INT "$!"
	wait "$!" || status=$?
	[ $status -eq 0 ] || tail "$lib_folder/said"
	return $status
}
runs_on_the_virtual_clock() { # BUSES DAEMONS
	robot "$1"
	achstart --virtual --for 500ms "$lib_folder/many.launch" >"$lib_folder/said" 2>&1
	grep -q "all $2 ready" "$lib_folder/said" && ! grep -E 'error:|fatal:' "$lib_folder/said"
}
is_refused() { # BUSES
	robot "$1"
	lib_matches 100 "*many.yaml:2: buses: $1 buses; a robot has 64 at most" \
		achstart --check "$lib_folder/many.launch"
}
lib_case thirty_three_buses_run runs_in_real_time 33 10
lib_case sixty_four_buses_run runs_on_the_virtual_clock 64 14
lib_case sixty_five_buses_are_refused is_refused 65
lib_end

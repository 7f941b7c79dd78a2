#!/bin/bash
# A robot with a stop input, on the virtual clock: what the death of stopd and the silence of its module do.
#
# Each run has a /dev/shm, System V memory and processes of its own, so that runs do not meet.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if ! unshare -minpf --mount-proc mount -t tmpfs tmpfs /run 2>/dev/null; then
	lib_ignore stopd "no namespaces here"
	lib_end
	exit
fi

robot() { # PRESSED
	cat >"$folder/stop.yaml" <<-END
		robot: stop
		buses: {table: {interface: wire:table}, io: {interface: wire:io}}
		devices:
		  table: {driver: exampled, bus: table, limits: {velocity: 2, acceleration: 4}}
		  stop:
		    driver: stopd
		    bus: io
		    actuated: no
		    settings: {input: frame, bits: [0, 1]}
		    sim: {pressed: $1}
	END
}
cat >"$folder/stop.launch" <<END
include: stop.yaml
clock: none
arm: auto
daemons:
  canwire: {priority: 60}
  robotsim: {priority: 55}
  table: {priority: 50}
  stop: {priority: 51, critical: estop}
  record: {program: ach, args: [record, --force, -o, $folder/record, table-state, estop], needs: [table, stop]}
END

# OPTION...: the robot for 3 s; the levels that the table obeyed, one after another.
run() {
	robot "${pressed:-no}"
	# shellcheck disable=SC2016 # for the shell inside
	unshare -minpf --kill-child --mount-proc bash -c '
		mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run
		unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR NOTIFY_SOCKET
		PATH=$0:$PATH
		timeout -s KILL 300 achstart --virtual --for 3s "$@"' \
		"$build" "$@" "$folder/stop.launch" >"$folder/out" 2>&1 || { cat "$folder/out"; return 1; }
	"$build/ach" echo "$folder/record" --only table-state --json >"$folder/states"
	python3 - "$folder/states" <<'PYTHON'
import json
import sys

states = [json.loads(line)["message"] for line in open(sys.argv[1])]
levels = [state["common"]["level"] for state in states]
print(*(level for level, before in zip(levels, [None] + levels) if level != before))
PYTHON
}
is() { [ "$1" = "$2" ] || { echo "not so: $1"; cat "$folder/out"; return 1; }; }
raised() { "$build/ach" echo "$folder/record" --only estop --json | grep -c '"who":"stopd"' || true; }

test_armed_by_itself_while_the_input_is_closed() {
	is "$(run | sed 's/^estop //')" run
	is "$(raised)" 0
}

test_the_death_of_stopd_stops_the_robot() {
	is "$(run --kill stop@2s | sed 's/^estop //')" 'run estop'
	[ "$(raised)" -ge 1 ]
	grep -q 'stop input is' <<<"$("$build/ach" echo "$folder/record" --only estop --json)"
}

test_a_press_before_it_is_armed_keeps_it_stopped() {
	pressed=yes
	is "$(run | sed 's/.* //')" estop
	grep -q 'arm: auto: .* raised since by stopd: the stop input is open' "$folder/out"
}

lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# Hubo on the bench, on the virtual clock: what its buses carry while it walks in place, what dies meanwhile, homing.
#
# Times are those of the wire.  Each run has a /dev/shm and processes of its own.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if ! unshare -minpf --mount-proc mount -t tmpfs tmpfs /run 2>/dev/null; then
	lib_ignore hubo "no namespaces here"
	lib_end
	exit
fi

# TIME "ARGUMENT, ..." [OPTION...]: the robot for so long, moved by the example; what was on its buses, its events.
run() {
	local time=$1
	sed "s|^include: ../|include: $PWD/|" launch/bench-hubo.launch >"$folder/hubo.launch"
	cat >>"$folder/hubo.launch" <<LAUNCH
  record:
    program: canrecord
    args: [--force, -o, $folder/wire.log, "wire:lower", "wire:upper"]
    alive: process
    needs: canwire
    priority: 84
  move: {program: $build/launch/endplate/examples/hubo, args: [hubo, $2], alive: process, needs: hubo, restart: never}
  disturb: {program: runlog, args: [${disturb:+--at, \"$disturb\", }hubo], alive: watchdog, needs: robotsim}
LAUNCH
	shift 2
	# shellcheck disable=SC2016 # for the shell inside
	unshare -minpf --kill-child --mount-proc bash -c '
		mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run
		unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR NOTIFY_SOCKET
		PATH=$0:$PATH folder=$1
		shift
		timeout -s KILL 300 achstart --virtual "$@"
		status=$?
		cp /run/endplate/*/log/events.log "$folder/events"
		exit $status' \
		"$build" "$folder" --for "$time" "$@" "$folder/hubo.launch" >"$folder/out" 2>&1 ||
		{ cat "$folder/out"; return 1; }
}

# FROM TO LEAST MOST STEP: between these seconds the buses carry so much, everything is answered, and no reference
# leaves its cycle, comes twice in one, or is farther from the last than STEP counts.
carried() {
	python3 test/daemons/hubo/wire.py "$folder/wire.log" "$1" "$2" >"$folder/wire"
	awk -v least="$3" -v most="$4" -v step="$5" '
		{ for (i = 2; i <= NF; i++) value[$i] = $(i + 1) }
		value["load"] < least || value["load"] > most || value["late"] || value["doubled"] ||
			value["step"] > step || value["jitter_us"] > 60 || !value["references"] { exit 1 }
			value["unanswered"] && !lost { exit 1 }
		END { if (NR != 2) exit 1 }' "lost=${lost:-0}" "$folder/wire" || { cat "$folder/wire"; return 1; }
}

happened() { grep -q "$1" "$folder/events" || { cat "$folder/events"; return 1; }; }
never() { ! grep "$1" "$folder/events"; }

# The largest step is that of a hip roll at 2 rad/s, the limit of the robot file: 3219 counts in 5 ms.
disturb='' lib_case "20 s of walking in place" run 20s 'walk, "40"'
lib_case "the buses carry 65 to 85 %, all is answered, no reference is late" carried 1 19.9 0.65 0.85 3219
lib_case "no fault" never 'hubo error'
lib_case "no reference in the first 0.8 s" test -z "$(python3 test/daemons/hubo/wire.py "$folder/wire.log" 0 0.79 |
	grep -v 'references 0 ')"

disturb='' lib_case "hubo is killed while it walks" run 10s 'walk, "40"' --kill hubo@6.003s
lib_case "another one takes over" happened 'hubo info ready: .*incarnation 2'
lib_case "it goes on from where the joints are, within the limits" carried 1 9.9 0.6 0.85 3219
lib_case "no board reports a fault" never 'motor'

disturb='4 fault hubo.EJMC4 silent' lib_case "the board of the right hand dies" run 8s 'walk, "40"'
lib_case "its fault is reported" happened 'hubo error silent: EJMC4 (RF1 ...) has not replied'
lib_case "the legs walk on" never '00:16:4[4-7].* hubo info holding'
lost=1 lib_case "their references keep their time" carried 5 7.9 0.6 0.85 3219

disturb='' lib_case "homing, then waving" run 25s 'home, wave, "4"'
lib_case "all limbs came home" happened 'move info done'
lib_case "no homing failed" never 'homing-aborted'
lib_case "no reference while it homes" test -z "$(python3 test/daemons/hubo/wire.py "$folder/wire.log" 0.2 14 |
	grep -v 'references 0 ')"
lib_end

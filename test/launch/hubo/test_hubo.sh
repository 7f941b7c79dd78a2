#!/bin/bash
# Hubo on the bench, on the virtual clock: what its buses carry while it walks in place, what dies meanwhile, homing.
#
# Times are those of the wire.  Each run has a /dev/shm and processes of its own.
# HUBO_SOAK=SECONDS: walking in place alone, for that long, on the virtual clock and in real time (test/launch/soak.sh);
# with HUBO_SOAK_PART=virtual or real one of the two.
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

# OPTION...: the robot of hubo.launch; its events, and what it leaves in /dev/shm.
# look=SECONDS: how its boards are then.
start() {
	# shellcheck disable=SC2016,SC2086 # for the shell inside; words
	unshare -minpf --kill-child --mount-proc bash -c '
		mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run
		unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR NOTIFY_SOCKET
		PATH=$0:$PATH folder=$1
		shift
		[ -z "${look:-}" ] || (sleep "$look" && robotsim report --robot bench-hubo --json >"$folder/report") &
		timeout "$@"
		status=$?
		cp /run/endplate/*/log/events.log "$folder/events"
		rm -rf "$folder/log"
		cp -r /run/endplate/*/log "$folder/log"
		ls /dev/shm >"$folder/left"
		exit $status' \
		"$build" "$folder" ${limit:--s KILL 300} achstart "$@" "$folder/hubo.launch" >"$folder/out" 2>&1 ||
		{ cat "$folder/out"; return 1; }
}

# LAUNCH: with a record of its buses.
recorded() {
	sed "s|^include: ../|include: $PWD/|" "launch/$1.launch"
	cat <<-LAUNCH
		  record:
		    program: canrecord
		    args: [--force, -o, $folder/wire.log, "wire:lower", "wire:upper"]
		    alive: process
		    needs: canwire
		    priority: 84
	LAUNCH
}

# LAUNCH TIME [OPTION...]: as the file has it.
bench() {
	recorded "$1" >"$folder/hubo.launch"
	start --virtual --for "$2" "${@:3}"
}

# LAUNCH TIME [OPTION...]: it walks in place instead.
walk() {
	local time=$2
	recorded "$1" | sed '/^  wave:/,/^    needs: hubo/d' >"$folder/hubo.launch"
	cat >>"$folder/hubo.launch" <<-LAUNCH
		  move: {program: hubo-move, args: [walk], alive: process, needs: hubo}
		  disturb:
		    program: runlog
		    args: [${disturb:+--at, \"$disturb\", }hubo]
		    alive: watchdog
		    needs: robotsim
	LAUNCH
	shift 2
	start --virtual --for "$time" "$@"
}

# FROM TO LEAST MOST STEP: between these seconds the buses carry so much, everything is answered, and no reference
# leaves its cycle, comes twice in one, or is farther from the last than STEP counts.
carried() {
	python3 test/daemons/hubo/wire.py "$folder/wire.log" "$1" "$2" "${offset:-0}" >"$folder/wire"
	awk -v least="$3" -v most="$4" -v step="$5" '
		{ for (i = 2; i <= NF; i++) value[$i] = $(i + 1) }
		value["load"] < least || value["load"] > most || value["late"] || value["doubled"] ||
			value["step"] > step || value["jitter_us"] > 60 || !value["references"] { exit 1 }
			value["unanswered"] && !lost { exit 1 }
		END { if (NR != 2) exit 1 }' "lost=${lost:-0}" "$folder/wire" || { cat "$folder/wire"; return 1; }
}

happened() { grep -q "$1" "$folder/events" || { cat "$folder/events"; return 1; }; }
never() { ! grep "$1" "$folder/events"; }
# The board of the right elbow, 09, gets many positions in the end, that of the left one a single one.
waves() {
	tail -n 20000 "$folder/wire.log" >"$folder/end"
	[ "$(grep -o ' 019#.*' "$folder/end" | sort -u | wc -l)" -gt 50 ] &&
		[ "$(grep -o ' 01B#.*' "$folder/end" | sort -u | wc -l)" -eq 1 ]
}

# A script of hubo-console, beside the robot.
talk() {
	recorded bench-hubo | sed '/^  wave:/,/^    needs: hubo/d' >"$folder/hubo.launch"
	cat >>"$folder/hubo.launch" <<-LAUNCH
		  talk:
		    program: hubo-console
		    args: [--within, 5s, -c, home RSP, -c, goto RSP -0.3, -c, get RSP, -c, status RSP, -c, params RSP,
		      -c, home WST, -c, maxPWM WST 8, -c, kp WST 80, -c, kd WST 1, -c, grav WST 0.5,
		      -c, comp WST -0.2 2, -c, get WST, -c, update, -c, beep RSP 0.5, -c, zeroacc RFFT,
		      -c, iniSensors, -c, ctrl LSP 0, -c, reset RSP]
		    alive: process
		    restart: never
		    needs: hubo
	LAUNCH
	start --virtual --for 20s
}
# A console on a terminal, without a robot.
alone() {
	ENDPLATE_PREFIX=none-$$- python3 - "$build/hubo-console" <<'END'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execv(sys.argv[1], ["hubo-console"])
said = b""
while b"hubo> " not in said:
    said += os.read(fd, 4096)
os.write(fd, b"\x04")
os.close(fd)
assert b"hubo-console: hubo: no such robot, driver or channel: start it with achstart FILE" in said, said
END
}
said() { grep -q -- "$1" "$folder/log/talk.log" || { cat "$folder/log/talk.log"; return 1; }; }
tables_agree() {
	"$build/hubo-console" --verbs >"$folder/verbs"
	sed -n '/^verb  /,/^\.Ed/{/^\.Ed/!p}' launch/hubo/hubo-console.1 | diff - "$folder/verbs"
}

# A client of hubo-ach: the device is called body, since hubo-ref and hubo-state are the client's.
legacy() {
	sed 's/^  hubo:/  body:/; s|\.\./hubo/|'"$PWD"'/config/hubo/|' config/robots/hubo.yaml >"$folder/hubo.yaml"
	sed 's/^  hubo:/  body:/; s/^like: .*/like: hubo.yaml/' config/robots/bench-hubo.yaml >"$folder/body.yaml"
	cat >>"$folder/body.yaml" <<-ROBOT
		    # so that it is at once where a client may move it
		  legacy:
		    driver: hubo-legacyd
		    settings: {output: body, legacy_ref_ms: 100, legacy_state: yes}
	ROBOT
	cat >"$folder/hubo.launch" <<-LAUNCH
		include: body.yaml
		clock: none
		arm: auto
		daemons:
		  canwire: {priority: 90}
		  robotsim: {priority: 85}
		  body: {priority: 80}
		  legacy: {priority: 70, needs: body}
		  talk: {program: $build/test/daemons/hubo/ach_client, alive: process, restart: never, needs: legacy}
	LAUNCH
	start --virtual --for 8s
}

# ---- make soak ----

# Walking in place: first what the wire carried, then, in real time, how far the first reference of a cycle was off,
# beside a bare timer.
#
# A soft wire loses nothing: a reply may be lost only if a simulated board did not send it, because robotsim stood still
# for longer than a board keeps replies.  Unsent and late ones are the host's, too, and are shown beside the timer.
soak_real() {
	local offset

	recorded bench-hubo | sed '/^  wave:/,/^    needs: hubo/d' >"$folder/hubo.launch"
	echo '  move: {program: hubo-move, args: [walk], alive: process, needs: hubo}' >>"$folder/hubo.launch"
	cyclictest -q -i 5000 -p 79 -D "$HUBO_SOAK" >"$folder/timer" 2>&1 &
	look=$((HUBO_SOAK - 1)) limit="-k 20 -s TERM $HUBO_SOAK" start || true
	wait $!
	# Cycles are those of CLOCK_MONOTONIC, the record has the time of day.
	offset=$(python3 -c 'import time
print((time.clock_gettime_ns(time.CLOCK_REALTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) // 1000)')
	offset=$offset carried 5 "$((HUBO_SOAK - 2))" 0.6 0.85 3219 >/dev/null || true
	cat "$folder/wire" "$folder/timer"
	grep -o 'replies: .*' "$folder/events" | tail -n 1 | tee "$folder/replies"
	python3 test/daemons/hubo/boards.py "$folder/report" | tee "$folder/boards" || return 1
	grep -q '^all boards 15 locked 15 ' "$folder/boards" || return 1
	# Lost, and neither by a simulated board nor by its process.
	awk '{ for (i = 1; i < NF; i++) value[FILENAME, $i] = $(i + 1) }
		END { exit value[ARGV[1], "lost"] > value[ARGV[2], "unsent"] + value[ARGV[2], "dropped"] }' \
		"$folder/replies" <(tail -n 1 "$folder/boards") || return 1
	awk '{ for (i = 2; i <= NF; i++) value[$i] = $(i + 1) }
		value["load"] < 0.6 || value["load"] > 0.85 || value["doubled"] { exit 1 }' "$folder/wire"
}
if [ "${HUBO_SOAK:-}" ]; then # seconds
	if [ "${HUBO_SOAK_PART:-virtual}" = virtual ]; then
		limit="-s KILL 7200" disturb='' lib_case "$HUBO_SOAK s of walking in place" \
			walk bench-hubo "${HUBO_SOAK}s"
		lib_case "the wire's part of it" carried 1 "$((HUBO_SOAK - 1))" 0.65 0.85 3219
		lib_case "no reply is missed" happened 'replies: missed 0:'
	fi
	[ "${HUBO_SOAK_PART:-real}" != real ] || lib_case "the same in real time" soak_real
	lib_end
	exit
fi

# The largest step is that of a hip roll at 2 rad/s, the limit of the robot file: 3219 counts in 5 ms.
disturb='' lib_case "10 s of walking in place" walk bench-hubo 10s
lib_case "the buses carry 65 to 85 %, all is answered, no reference is late" carried 1 9.9 0.65 0.85 3219
lib_case "no fault" never 'hubo error'
lib_case "no reply is missed" happened 'replies: missed 0:'
lib_case "no reference in the first 0.8 s" test -z "$(python3 test/daemons/hubo/wire.py "$folder/wire.log" 0 0.79 |
	grep -v 'references 0 ')"

disturb='' lib_case "hubo is killed while it walks" walk bench-hubo 7s --kill hubo@4.003s
lib_case "another one takes over" happened 'hubo info ready: .*incarnation 2'
lib_case "it goes on from where the joints are, within the limits" carried 1 6.9 0.6 0.85 3219
lib_case "no board reports a fault" never 'motor'

disturb='4 fault hubo.EJMC4 silent' lib_case "the board of the right hand dies" walk bench-hubo 6s
lib_case "its fault is reported" happened 'hubo error silent: EJMC4 (RF1 ...) has not replied'
lib_case "the legs walk on" never '00:00:0[4-5].* hubo info holding'
lost=1 lib_case "their references keep their time" carried 5 5.9 0.6 0.85 3219

disturb='' lib_case "DRC-Hubo walks in place" walk bench-drc-hubo 6s
lib_case "its buses carry 65 to 85 %, all is answered, no reference is late" carried 1 5.9 0.65 0.85 3219
lib_case "it has no fault" never 'hubo error'

lib_case "a console without a robot says so" alone
lib_case "a script of hubo-console" talk
lib_case "it homes a joint" said '^.*homed$'
lib_case "it moves a joint" said 'RSP at -0\.\(29[89]\|30[01]\)'
lib_case "it shows a joint" said 'RSP position -0\.\(29\|30\).* current .* temperature '
lib_case "it shows a status" said 'RSP \(holding\|active \)  homed driver control$'
lib_case "it lets a joint give way" happened 'hubo info compliant: EJMC3 is compliant'
lib_case "around where it says" said 'WST at -0\.\(19\|20\)'
lib_case "then it is rigid" happened 'hubo info rigid-again: EJMC3 is rigid again'
lib_case "it says which replies were missed" said 'replies missed: unsent 0 late 0 lost 0$'
lib_case "it reads parameters" said 'home-offset 5556$'
lib_case "it initializes sensors" said '5 sensors initialized'
lib_case "it switches a board off" happened 'hubo error off: JMC10 (LSP ...) is off'
lib_case "the lifecycle refuses" said 'reset is refused while the driver is holding'
lib_case "the man page has its table" tables_agree

lib_case "a client of hubo-ach" legacy
lib_case "it moves a joint and sees the robot" said 'RSP at -0\.\(29[789]\|30[0123]\).* active 1, tilt .* V'
lib_case "it ends well" happened 'talk info done'
lib_case "nothing of it is left" test ! -s "$folder/left"

# What dies while it homes: the demo asks again, and a board that was reset is told again.
for kills in hubo@3s hubo@6s,canwire@6.5s hubo@1s,robotsim@5s; do
	lib_case "$kills while it homes: it comes home all the same" bench bench-hubo 30s --kill "$kills"
	lib_case "and waves" grep -q 'hubo: homed' "$folder/log/wave.log"
	lib_case "with each try a line" test "$(grep -c 'not homed: .*; try 2 of 5' "$folder/log/wave.log")" -eq \
		"$([ "$kills" = hubo@1s,robotsim@5s ] && echo 0 || echo 1)"
done
lib_case "boards that were reset are told again" happened 'hubo warning homing-again: EJMC. was reset'
lib_case "five tries are all" bench bench-hubo 20s --kill hubo@3s,hubo@6s,hubo@9s,hubo@12s,hubo@15s
lib_case "and the last says why" grep -q 'hubo-move: hubo: not homed: asked before .*[^5]$' "$folder/log/wave.log"
lib_case "with four lines before it" test "$(grep -c '; try [2-5] of 5' "$folder/log/wave.log")" -eq 4
lib_case "after a stop there is no other try" bench bench-hubo 12s --kill hubo@3s,hubo@3.2s,hubo@3.4s
lib_case "and the demo ends" happened 'wave fatal failed: given up'
lib_case "without a line about one" lib_not grep '; try' "$folder/log/wave.log"

# DRC-Hubo has a neck and slow wrist rolls.  The robot is armed after a second, when wave is settled.
for robot in bench-hubo:25s bench-drc-hubo:34s; do
	lib_case "${robot%:*} comes home and waves" bench "${robot%:*}" "${robot#*:}"
	lib_case "all limbs came home" grep -q 'hubo: homed' "$folder/log/wave.log"
	lib_case "no homing failed" never 'homing-aborted'
	lib_case "no reference while it homes" test -z "$(python3 test/daemons/hubo/wire.py "$folder/wire.log" 1.2 14 |
		grep -v 'references 0 ')"
	lib_case "then the right elbow waves, and the left one does not" waves
	lib_case "a complete stop leaves no channel" test ! -s "$folder/left"
done
lib_end

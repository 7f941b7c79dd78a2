#!/bin/bash
# test_achctl_robot.sh: achctl(1) with the robot of launch/waist.launch: real daemons, simulated modules.
# waits: mostly
set -eu
. test/scripts/lib.sh

export SUDO_USER=ann LC_ALL=C PATH=$build:$PATH
unset NO_COLOR
lib_tmp
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-ctlr-$$-
p=$ENDPLATE_PREFIX
achstart=
cleanup() {
	local file
	[ -z "$achstart" ] || kill -9 "$achstart" 2>/dev/null || true
	for file in "$ENDPLATE_RUN"/state/*; do
		[ -f "$file" ] && kill -9 "$(sed -n 's/^pid //p' "$file")" 2>/dev/null
	done || true
	rm -rf "$lib_folder" /dev/shm/achshm-"$p"* /dev/shm/achbell-"$p"*
}
trap cleanup EXIT

of() { # EXPRESSION: of the status, as python sees it
	achctl status --json | python3 -c 'import json, sys
robot = json.load(sys.stdin)
d = {d["name"]: d for d in robot["daemons"]}
print(eval(sys.argv[1]))' "$1"
}
is() { [ "$(of "$1")" = "${2:-True}" ]; }

start() {
	achstart --real launch/waist.launch 2>"$lib_folder/achstart" &
	achstart=$!
	lib_until is 'robot["level"] == "run" and all(x["ready"] for x in robot["daemons"])' ||
		{ cat "$lib_folder/achstart" "$ENDPLATE_RUN/log/events.log"; return 1; }
}
lib_case start start
lib_case status lib_matches 0 \
	'bench  run, epoch *clock  *locked: waist*DAEMON*canwire *robotsim *clock *waist *BUS*torso *' \
	achctl status

# Shows what its devices have, and nothing of other robots on this machine.
lib_case show_all lib_matches 0 \
	'DEVICE  DRIVER *clock   hubo-daemon *1000 Hz *0  clock *waist   pciod * 200 Hz *1  *joint-ref  25 ms' \
	achctl show
lib_case show_only_this_robot test "$(achctl show | wc -l)" = 3
lib_case show lib_matches 0 \
	'waist: pciod, *, level run
200 ticks a second; its state is a joint-state
takes a joint-ref that is valid for at most 25 ms; modes: position velocity current

JOINT  POSITION rad       VEL. rad/s  ACC. rad/s^2  JERK rad/s^3  CURR. A
15     -2.822 to -0.0576        0.43          1.74             -       10' achctl show waist
lib_case show_without_references lib_matches 0 '*takes no references' achctl show clock
lib_case show_unknown lib_matches 1 \
	'achctl show: wiast: no driver of that name has published; did you mean waist? (achctl show lists them)' \
	achctl show wiast
shown_json() {
	achctl show waist --json | python3 -c 'import json, sys
answer = json.load(sys.stdin)
one, = answer["devices"]
info = one["info"]
assert answer["ok"] and one["name"] == "waist" and info["joint"] == ["15"] and info["valid_max_ns"] == 25000000, answer
assert info["velocity"] == [0.43] and info["jerk"] == ["inf"] and info["modes"] == ["position|velocity|current"], info'
}
lib_case show_json shown_json
lib_case show_no_robot lib_matches 111 '*no driver has published what its device has*' \
	env ENDPLATE_RUN="$lib_folder/none" ENDPLATE_PREFIX="${p}none-" achctl show
# The folder says which channels are the robot's; two robots do not need a good memory.
lib_case kept test "$(cat "$ENDPLATE_RUN/robot" 2>&1)" = "$(printf 'name bench\nprefix %s\nchannels \nend' "$p")"
forgotten() {
	lib_matches 0 'level hold, epoch *, by ann' env -u ENDPLATE_PREFIX achctl hold &&
		lib_until is 'd["waist"]["level"]' hold &&
		lib_matches 0 'clock/5' env -u ENDPLATE_PREFIX achctl request waist get tick &&
		lib_matches 0 'armed: *' env -u ENDPLATE_PREFIX achctl arm
}
lib_case prefix_forgotten forgotten
lib_case of_another_robot lib_matches 111 '*no achstart runs this robot*' env ENDPLATE_RUN="$lib_folder/none" achctl arm

# The level goes up at once, and down by achstart, with a new epoch that the drivers have taken when arm returns.
epoch=$(of 'robot["epoch"]')
lib_case hold lib_matches 0 "level hold, epoch $epoch, by ann" achctl hold --why 'a test'
lib_case hold_obeyed lib_until is 'd["waist"]["level"]' hold
lib_case estop lib_matches 0 "level estop, epoch $epoch, by ann" achctl estop
lib_case estop_obeyed lib_until is 'd["waist"]["level"]' estop
lib_case estop_status lib_matches 0 'bench  estop, epoch *, by ann: achctl estop*' achctl status
lib_until is 'd["waist"]["life"] in ("disarmed", "holding")'
lib_case arm lib_matches 0 "armed: level run, epoch $((epoch + 1)), by ann; taken by 2 drivers" achctl arm
lib_case armed is '[d["waist"]["level"], d["waist"]["epoch"]]' "['run', $((epoch + 1))]"

# What achctl says has failed is not done later, whatever has happened meanwhile.
too_late() { [ "$(grep -c "too-late: $1 came too late" "$ENDPLATE_RUN/log/events.log")" -gt "$2" ]; }
late() { # VERB STATUS COMMAND...: achstart hears of it only after achctl has given up
	local status=0 before
	before=$(grep -c "too-late: $1 " "$ENDPLATE_RUN/log/events.log" || true)
	kill -STOP "$achstart"
	"${@:3}" >"$lib_folder/late" 2>&1 || status=$?
	achctl estop --why 'smoke again' >/dev/null
	kill -CONT "$achstart"
	# arm asks for the status first, and then has nothing to ask for.
	{ [ "$1" = arm ] || lib_until too_late "$1" "$before"; } && is 'robot["level"]' estop &&
		is 'robot["stopping"]' False && [ "$status" -eq "$2" ] && return
	echo "$* ended with $status: $(<"$lib_folder/late")"
	return 1
}
has_asked() { # PID: it is connected, and sleeps
	local inode
	inode=$(readlink "/proc/$1/fd"/* | sed -n 's/^socket:\[\(.*\)\]$/\1/p')
	grep -qE " 0005 03 +$inode\$" /proc/net/unix && grep -q '^State:.S' "/proc/$1/status"
}
interrupted() { # COMMAND...: when it has asked
	env --default-signal=INT "$@" & # which a shell's background ignores
	lib_until has_asked $! && kill -INT $!
	wait $!
}
achctl estop >/dev/null
lib_until is 'd["waist"]["life"] == "disarmed"'
lib_case late_arm late arm 111 achctl arm --within 1s
lib_case late_arm_said grep -q 'not armed, level estop is raised: achstart, process [0-9]*, does not answer' \
	"$lib_folder/late"
lib_case late_stop late stop 130 interrupted achctl stop
lib_case interrupted_arm late arm 130 interrupted achctl arm
lib_case arm_after lib_matches 0 "armed: level run, epoch $((epoch + 2)), by ann; taken by 2 drivers" achctl arm
lib_case armed_said grep -qx "achstart: armed by $(id -un) (ann)" "$lib_folder/achstart"

# Requests reach the driver, and its answers us.
lib_case get lib_matches 0 'clock/5' achctl request waist get tick
lib_case get_unknown lib_matches 1 'achctl request: refused: waist: *' achctl request waist get nonsense
lib_case clear lib_matches 0 '*' achctl clear waist
# Ctrl-C ends a motion; a homing that was ended is done again.  It is over in a moment: several tries.
asked_to_home() { [ "$(grep -c 'home, asked by' "$ENDPLATE_RUN/log/events.log")" -gt "$1" ]; }
cancel() {
	local status=0 before pid
	before=$(grep -c 'home, asked by' "$ENDPLATE_RUN/log/events.log" || true)
	env --default-signal=INT "$build/achctl" request waist home >"$lib_folder/home" 2>&1 &
	pid=$!
	lib_until asked_to_home "$before" && kill -INT $pid
	wait $pid || status=$?
	[ "$status,$(<"$lib_folder/home")" = '1,achctl request: cancelled: waist has ended home' ]
}
cancels() {
	for _ in 1 2 3 4 5; do cancel && return; done
	cat "$lib_folder/home"
	return 1
}
lib_case cancel cancels
lib_case cancelled_clear lib_matches 0 '*' achctl clear waist
lib_case homes lib_matches 0 'homed' achctl request waist home

# One daemon: another process, and another incarnation, when it returns.
pid=$(of 'd["waist"]["pid"]') incarnation=$(of 'd["waist"]["incarnation"]')
lib_case restart lib_matches 0 "waist: ready*, process *, incarnation $((incarnation + 1))" achctl restart waist
lib_case restarted is "d['waist']['pid'] not in (0, $pid)"
lib_case others_untouched is 'max(x["restarts"] for x in robot["daemons"])' 0
lib_case stop_one lib_matches 0 'waist: stopped' achctl stop waist
silent() { achctl show waist | grep -q silent; }
lib_until silent
lib_case show_silent lib_matches 0 'waist: pciod, silent: its driver does not run; this is what it said last*JOINT*' \
	achctl show waist
lib_case stopped_one lib_matches 1 '*waist *stopped*' achctl status
lib_case arm_without lib_matches 1 'achctl arm: refused: waist: not ready' achctl arm
lib_case start_one lib_matches 0 "waist: ready*, incarnation $((incarnation + 2))" achctl start waist
lib_case near lib_matches 1 'achctl restart: refused: there is no daemon wasit; did you mean waist?' \
	achctl restart wasit
lib_case far lib_matches 1 'achctl start: refused: there is no daemon nope (achctl status lists them)' achctl start nope
# Control characters in a reason do not reach the terminal.
commands_terminals() {
	local odd
	odd=$(printf 'a\033[2J\302\233b\377')
	achctl estop --why "$odd" >/dev/null
	lib_until grep -q 'waist .*level-estop: .*a?.2J??b' "$ENDPLATE_RUN/log/events.log" &&
		LC_ALL=C lib_not grep -q "$(printf '\033\|\233\|\377')" "$ENDPLATE_RUN/log/events.log" &&
		LC_ALL=C lib_not grep -q "$(printf '\033\|\233\|\377')" "$lib_folder/achstart" &&
		is 'robot["why"]' 'a?[2J??b?' && lib_matches 0 '*by ann: a?\[2J??b?*' achctl status &&
		lib_until is 'd["waist"]["life"] == "disarmed"' && lib_matches 0 'armed: *' achctl arm
}
lib_case no_commands_to_terminals commands_terminals
lib_case events lib_matches 0 '*waist info ended: *waist info ready: *' achctl events

# achstart dies: everything that needs none goes on.
without() {
	kill -9 "$achstart"
	wait "$achstart" 2>/dev/null || true
	lib_matches 111 '*no answer from achstart*4 of 4 running*waist  *running*' achctl status &&
		lib_matches 0 'clock/5' achctl request waist get tick &&
		lib_matches 0 'level hold*' achctl hold &&
		lib_matches 111 '*no achstart runs this robot*' achctl arm &&
		lib_matches 0 '*' achctl events
}
lib_case without_achstart without
again() {
	achstart --real launch/waist.launch 2>"$lib_folder/achstart" &
	achstart=$!
	lib_until is 'robot["level"] == "hold" and all(x["adopted"] for x in robot["daemons"])'
}
lib_case again again

all_gone() {
	lib_matches 0 'the robot is stopped, and achstart has ended' achctl stop || return 1
	! kill -0 "$achstart" 2>/dev/null && ! ls /dev/shm/*"$p"* "$ENDPLATE_RUN/robot" 2>/dev/null
}
lib_case stop all_gone
wait "$achstart" || true
achstart=
lib_case stopped lib_matches 111 '*no robot is up here*' achctl estop

lib_end

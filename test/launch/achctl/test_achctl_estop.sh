#!/bin/bash
# test_achctl_estop.sh: achctl estop and arm with the robot of launch/waist.launch, whatever lies in the e-stop
# channels, and whatever was killed.
# waits: mostly
set -eu
. test/scripts/lib.sh

export SUDO_USER=ann LC_ALL=C PATH=$build:$PATH
unset NO_COLOR
lib_tmp
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-ctle-$$-
p=$ENDPLATE_PREFIX
achstart=
writer=
cleanup() {
	[ -z "$writer" ] || kill -9 "$writer" 2>/dev/null || true
	kill_all
	rm -rf "$lib_folder" /dev/shm/achshm-"$p"* /dev/shm/achbell-"$p"*
}
kill_all() { # and waits: what is about to die may still be adopted
	local pids pid
	[ -z "$achstart" ] || kill -9 "$achstart" 2>/dev/null || true
	[ -z "$achstart" ] || wait "$achstart" 2>/dev/null || true
	achstart=
	pids=$(sed -n 's/^pid //p' "$ENDPLATE_RUN"/state/* 2>/dev/null || true)
	for pid in $pids; do
		kill -9 "$pid" 2>/dev/null || true
	done
	for pid in $pids; do
		lib_until is_dead "$pid"
	done
}
is_dead() { ! grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null; }
trap cleanup EXIT

of() { # EXPRESSION: of the status, as python sees it, also without achstart
	{ achctl status --json || true; } | python3 -c 'import json, sys
robot = json.load(sys.stdin)
d = {d["name"]: d for d in robot["daemons"]}
print(eval(sys.argv[1]))' "$1"
}
is() { [ "$(of "$1")" = "${2:-True}" ]; }
begin() {
	achstart --real launch/waist.launch 2>>"$lib_folder/achstart" &
	achstart=$!
	lib_until is 'all(x["ready"] for x in robot["daemons"])'
}
reported() { grep -c "$1" "$ENDPLATE_RUN/log/events.log" || true; }
ready_to_arm() { is 'd["waist"]["life"] in ("disarmed", "holding")'; }
arm() { lib_until ready_to_arm && lib_until achctl arm >/dev/null 2>&1 && is 'd["waist"]["level"]' run; }
# Drivers and status say the same, and go on saying it.
at_estop() { lib_until is 'd["waist"]["level"], d["clock"]["level"], robot["level"]' "('estop', 'estop', 'estop')"; }
begin
lib_case auto lib_until is 'robot["level"]' run

# ---- garbage ----

bytes() { printf "%0$((2 * $1))d" 0; }
garbage() { # CHANNEL BYTES
	arm || return 1
	ach put --hex "$(bytes "$2")" "$p$1"
	at_estop
}
for size in 4 280 600 800; do
	lib_case "garbage_$size" garbage estop $size
	lib_case "garbage_b_$size" garbage estop-b $size
done
garbage_then_estop() { # on both, followed by a lowering of today's format that fits nowhere
	arm || return 1
	for c in estop estop-b; do
		ach put --hex "$(bytes 800)" "$p$c"
		ach put --json '{"kind":"lower","level":"run","epoch":18446744073709551615,"who":"eve"}' "$p$c"
	done
	at_estop && lib_matches 0 'level estop, epoch *, by ann' achctl estop && at_estop
}
lib_case garbage_then_estop garbage_then_estop
lib_case garbage_is_not_mended test "$(reported 'created again')" = 0
lib_case garbage_is_reported_once test "$(reported 'achstart warning estop: ')" -lt 6
ticks() { of 'd["waist"]["ticks"]'; }
later() { # when the waist has looked again, and again
	local from
	from=$(ticks)
	lib_until is "d['waist']['ticks'] > $from + 40"
}
newest() { ach info --for 0 --json "${p}estop" | sed 's/.*"last_seq":\([0-9]*\).*/\1/'; }
quiet() { # no process writes to the channels on and on
	local before
	before=$(newest)
	later && [ "$(newest)" = "$before" ]
}
lib_case garbage_is_not_answered quiet
recorded() { # a lowering that was valid, copied
	local old
	arm || return 1
	old=$(ach echo "${p}estop" --json | grep '"kind":"lower"' | tail -1)
	achctl estop >/dev/null && at_estop || return 1
	ach put --json "$old" "${p}estop"
	ach put --json "$old" "${p}estop-b"
	later && at_estop
}
lib_case recorded_lowering recorded

# ---- channels that cannot be used ----

# A writer that has begun to put and does not go on.
cat >"$lib_folder/writer.py" <<'END'
import ctypes, sys, time
ctypes.CDLL(None).prctl(1, 9)  # dies with the test
lib = ctypes.CDLL(sys.argv[1])
for name in sys.argv[2:]:
    chan, room = ctypes.create_string_buffer(128), ctypes.c_void_p()
    assert lib.ach_open(chan, name.encode(), None) == 0
    assert lib.ach_reserve(chan, ctypes.c_size_t(280), ctypes.byref(room)) == 0
print("inside", flush=True)
time.sleep(1000)
END
removed() { ach rm "${p}estop" "${p}estop-b"; }
removed_b() { ach rm "${p}estop-b"; }
chmod 755 "$lib_folder"
cp "$build/ach" "$lib_folder/ach"
foreign() { # another user was first
	ach rm "${p}estop"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$lib_folder/ach" mk --type estop -o 640 "${p}estop" ||
		true # achstart was
}
loose() { ach mk --type estop -o 666 -t "${p}estop-b"; }
overwritten() { head -c 4096 /dev/zero | dd of=/dev/shm/achshm-"${p}estop" conv=notrunc status=none; }
stuck() {
	python3 "$lib_folder/writer.py" "$build/libach.so" "$p"estop "$p"estop-b >"$lib_folder/writer" &
	writer=$!
	disown
	lib_until grep -q inside "$lib_folder/writer"
}
none() { :; }
raised_in_spite_of() { # WHAT
	arm || return 1
	"$1"
	lib_matches 0 '*level estop, epoch *, by ann' achctl estop && at_estop
	local status=$?
	[ -z "$writer" ] || kill -9 "$writer"
	writer=
	[ $status = 0 ] && arm
}
for what in none removed removed_b foreign loose overwritten stuck; do
	lib_case "estop_$what" raised_in_spite_of $what
done
# The same without achstart: a driver that cannot read a channel is at estop.
alone() { # WHAT
	arm || return 1
	kill -9 "$achstart"
	wait "$achstart" 2>/dev/null || true
	achstart=
	"$1"
	lib_matches 0 '*level estop, epoch *, by ann' achctl estop && at_estop
	local status=$?
	[ -z "$writer" ] || kill -9 "$writer"
	writer=
	begin
	[ $status = 0 ] && at_estop
}
for what in none removed foreign overwritten stuck; do
	lib_case "estop_alone_$what" alone $what
done
# A driver that does not show the level is named.
not_shown() {
	arm || return 1
	kill -9 "$achstart"
	wait "$achstart" 2>/dev/null || true
	achstart=
	kill -STOP "$(sed -n 's/^pid //p' "$ENDPLATE_RUN/state/waist")"
	lib_matches 111 'achctl estop: NOT CONFIRMED: level estop is raised, *does not show it: waist' achctl estop
	local status=$?
	kill -CONT "$(sed -n 's/^pid //p' "$ENDPLATE_RUN/state/waist")"
	begin
	[ $status = 0 ] && at_estop
}
lib_case estop_not_shown not_shown

# ---- a refused arm has no effect, at no time ----

has_asked() { # PID: it is connected, and sleeps
	local inode
	inode=$(readlink "/proc/$1/fd"/* | sed -n 's/^socket:\[\(.*\)\]$/\1/p')
	grep -qE " 0005 03 +$inode\$" /proc/net/unix && grep -q '^State:.S' "/proc/$1/status"
}
refused_later() {
	local status=0
	achctl estop >/dev/null
	lib_until ready_to_arm || return 1
	kill -STOP "$achstart"
	ach rm "${p}estop" "${p}estop-b"
	achctl arm --within 20s >"$lib_folder/arm" 2>&1 &
	local pid=$!
	lib_until has_asked $pid
	kill -CONT "$achstart"
	wait $pid || status=$?
	cat "$lib_folder/arm"
	[ $status = 1 ] && grep -q 'refused: ' "$lib_folder/arm" || return 1
	achctl restart waist >/dev/null && at_estop
}
lib_case refused_later refused_later
no_answer() { # which takes effect neither when achstart goes on, nor in a new driver
	lib_until ready_to_arm || return 1
	kill -STOP "$achstart"
	lib_matches 111 '*not armed, level estop is raised: *' achctl arm --within 500ms
	local status=$?
	kill -CONT "$achstart"
	achctl restart waist >/dev/null && at_estop && [ $status = 0 ]
}
lib_case no_answer no_answer
lib_case armed_again arm

# ---- arm: auto overrides no one ----

killed() { # BEFORE AFTER: everything is killed in between
	arm || return 1
	$1
	kill_all
	$2
	begin
	at_estop
}
estop() { achctl estop >/dev/null; }
lib_case killed_after_estop killed estop estop
lib_case killed_armed killed none none
lib_case killed_then_estop killed none estop
removed_killed() { # nothing in /dev/shm says that it was stopped
	arm || return 1
	achctl estop >/dev/null
	kill_all
	rm -f /dev/shm/achshm-"$p"* /dev/shm/achbell-"$p"*
	begin
	at_estop
}
lib_case killed_and_removed removed_killed
epochs() { # outlive the channels
	local before
	# Its state was removed with all channels: what it may have waited for ends by a person's request.
	lib_until achctl clear waist >/dev/null 2>&1
	arm || return 1
	before=$(of 'robot["epoch"]')
	ach rm "${p}estop" "${p}estop-b"
	at_estop && arm && is "robot['epoch'] > $before"
}
lib_case epochs epochs
stopped_well() {
	achctl stop >/dev/null
	wait "$achstart" || true
	grep -qx '[0-9]* ended well' "$ENDPLATE_RUN/epoch" || return 1
	begin
	lib_until is 'robot["level"]' run
}
lib_case stopped_well stopped_well
stopped_while_raised() { # arm: auto does not override a stop
	achctl estop >/dev/null
	achctl stop >/dev/null
	wait "$achstart" || true
	! grep -q 'ended well' "$ENDPLATE_RUN/epoch" || return 1
	begin
	at_estop && arm
}
lib_case stopped_while_raised stopped_while_raised

lib_end

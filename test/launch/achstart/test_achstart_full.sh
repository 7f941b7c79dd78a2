#!/bin/bash
# test_achstart_full.sh: the robot's folder is full, by its own logs or by something else.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
[ "$(id -u)" = 0 ] || { lib_ignore all 'a file system of its own takes root'; lib_end; exit; }
if [ -z "${FULL_INSIDE:-}" ]; then
	unshare --mount true 2>/dev/null || { lib_ignore all 'no mount namespaces here'; lib_end; exit; }
	FULL_INSIDE=yes exec unshare --mount --propagation private bash "$0" "$@"
fi
folder=$(mktemp -d)
export LC_ALL=C PATH=$build:$PATH ENDPLATE_PREFIX=full$$- ENDPLATE_RUN=$folder/run
unset NOTIFY_SOCKET LOGS_DIRECTORY
supervisor=
cleanup() {
	local state
	[ -z "$supervisor" ] || kill -9 "$supervisor" 2>/dev/null || true
	for state in "$ENDPLATE_RUN"/state/*; do
		[ ! -f "$state" ] || kill -9 "$(sed -n 's/^pid //p' "$state")" 2>/dev/null || true
	done
	umount -l "$ENDPLATE_RUN"
	rm -f /dev/shm/ach{shm,bell}-"$ENDPLATE_PREFIX"*
	rm -rf "$folder"
}
trap cleanup EXIT
mkdir "$ENDPLATE_RUN"
mount -t tmpfs -o size=1m,mode=700 full "$ENDPLATE_RUN"

start() { # [FILE]
	achstart --real "${1:-launch/waist.launch}" 2>>"$folder/said" &
	supervisor=$!
}
stop() {
	kill -TERM "$supervisor"
	wait "$supervisor"
}
pid() { sed -n 's/^pid //p' "$ENDPLATE_RUN/state/$1"; }
runs() { # PROGRAM: its processes of this robot
	local pid
	for pid in $(ps -e -o pid=,comm= | awk -v name="$1" '$2 == name { print $1 }'); do
		tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "ENDPLATE_RUN=$ENDPLATE_RUN" || continue
		echo "$pid"
	done
}
free() { df --output=avail -k "$ENDPLATE_RUN" | tail -1; }
fill() { dd if=/dev/zero of="$ENDPLATE_RUN/filler" bs=4k 2>/dev/null || true; [ "$(free)" -eq 0 ]; }
said() { grep -qF -- "$1" "$folder/said"; }
again() { [ "$(pid waist)" != "$1" ] && kill -0 "$(pid waist)"; }

one_waist() { [ "$(runs pciod)" = "$(pid waist)" ]; } # once a process that was killed is gone

test_nothing_is_started_twice_or_left() {
	local before
	start
	lib_until said 'all 4 ready'
	fill
	before=$(pid waist)
	kill -9 "$before"
	lib_until again "$before"
	lib_until one_waist
	kill -9 "$supervisor"
	wait "$supervisor" || true
	: >"$folder/said"
	start
	lib_until said 'all 4 ready'
	[ "$(grep -c 'found running' "$folder/said")" = 4 ]
	lib_until one_waist
	stop
	said 'all stopped'
	for name in canwire robotsim hubo-daemon pciod; do
		[ -z "$(runs "$name")" ]
	done
	rm "$ENDPLATE_RUN/filler"
}

test_full_from_the_beginning() {
	local status=0
	rm -rf "${ENDPLATE_RUN:?}"/*
	fill
	: >"$folder/said"
	timeout 60 achstart --real launch/waist.launch 2>>"$folder/said" || status=$?
	[ "$status" = 111 ]
	said 'No space left on device'
	[ -z "$(runs canwire)$(runs pciod)" ]
	rm "$ENDPLATE_RUN/filler"
}

# A daemon that prints without end.
test_logs_leave_room() {
	rm -rf "${ENDPLATE_RUN:?}"/*
	printf '%s\n' "include: $(realpath config/robots/waist.yaml)" 'clock: none' 'daemons:' \
		'  talker: {program: sh, alive: process, args: [-c, "while :; do echo 01234567890123456789; done"]}' \
		>"$folder/talk.launch"
	: >"$folder/said"
	start "$folder/talk.launch"
	lib_until said 'talker.log cannot be written: No space left on device'
	[ "$(free)" -ge 200 ]
	stop
	[ "$(free)" -ge 200 ]
}

test_logs_elsewhere() {
	rm -rf "${ENDPLATE_RUN:?}"/*
	mkdir "$folder/logs"
	: >"$folder/said"
	LOGS_DIRECTORY=$folder/logs start
	lib_until said 'all 4 ready'
	[ -z "$(find "$ENDPLATE_RUN" -name '*.log')" ]
	lib_until grep -q 'all 4 ready' "$folder/logs/events.log"
	[ -e "$folder/logs/waist.log" ]
	lib_matches 0 '*all 4 ready*' achctl events
	stop
}

lib_functions "$folder/log" "${1:-}"

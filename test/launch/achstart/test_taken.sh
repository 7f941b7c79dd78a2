#!/bin/bash
# What a daemon claims is held by another process, such as another robot on this machine: the robot is armed without a
# page, achstart says once who holds it and goes on to try, and no budget is used up.
# shellcheck disable=SC2317 # called by name
# waits: mostly
set -eu
. test/scripts/lib.sh
lib_tmp
export ENDPLATE_RUN=$lib_folder/run ACH_DIR=$lib_folder/shm PATH=$build:$PATH
unset ENDPLATE_PREFIX NOTIFY_SOCKET LOGS_DIRECTORY
port=$((20000 + $$ % 10000))
again='restart: {budget: 3, backoff_max: 100ms}'
achstart='' holder=''
cleanup() {
	# shellcheck disable=SC2086 # words
		kill -KILL $achstart $holder 2>/dev/null || true
	rm -rf "$lib_folder"
}
trap cleanup EXIT

# DAEMON...: the robot of one joint, and these; change: of its file.
start() {
	{
		sed "s|^include: ..|include: $PWD|; ${change:-}" launch/waist.launch
		printf '  %s\n' "$@"
	} >"$lib_folder/robot.launch"
	achstart "$lib_folder/robot.launch" >"$lib_folder/out" 2>"$lib_folder/err" &
	achstart=$!
}
stop() {
	kill -TERM "$achstart"
	wait "$achstart"
}
fresh() {
	rm -rf "$ENDPLATE_RUN" "$ACH_DIR"
	mkdir -m 700 "$ENDPLATE_RUN" "$ACH_DIR"
}
said() { grep -qF -- "$1" "$lib_folder/err"; }
times() { [ "$(grep -cF -- "$2" "$lib_folder/err")" -eq "$1" ]; }
status() { # of a daemon, or of the robot: EXPRESSION
	achctl status --json | python3 -c "import json, sys; s = json.load(sys.stdin)
d = {d['name']: d for d in s['daemons']}; sys.exit(not ($1))"
}
tried() { lib_until status "d['$1']['restarts'] >= 12"; }

# By a process of another user: if it is this one's, achweb takes another port and says so.
test_a_page_whose_port_is_taken_keeps_no_robot_from_arming() {
	[ "$(id -u)" -eq 0 ] || exit 77
	fresh
	setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 -c "import socket, time
s = socket.socket(); s.bind(('127.0.0.1', $port)); s.listen(); time.sleep(600)" &
	holder=$!
	lib_until grep -q ":$(printf '%04X' "$port") .* 0A " /proc/net/tcp
	start "page: {program: achweb, listen: $port, alive: watchdog, $again}" \
		"own: {program: achweb, args: [--port, \"$port\", --folder, $lib_folder], alive: watchdog, $again}"
	lib_until status "s['level'] == 'run'"
	tried page
	tried own
	said "achstart[page]: warning: listen: 127.0.0.1 port $port is held by user "
	said 'end that process, or write another port; it is tried again'
	times 1 'achstart[page]: warning: listen:'
	times 1 'achstart[own]: warning: '
	lib_not said 'given up'
	lib_not said 'error'
	status "s['level'] == 'run'"
	kill "$holder"
	lib_until said 'achstart[page]: ready after'
	stop
}

test_a_driver_whose_claim_is_held_is_tried_until_it_is_free() {
	fresh
	rm -rf "$lib_folder/other"
	mkdir -m 700 "$lib_folder/other"
	ENDPLATE_RUN=$lib_folder/other pciod --name waist --bus wire:none --set modules=15 2>"$lib_folder/held" &
	holder=$!
	lib_until test -e "$ACH_DIR/achshm-waist-state"
	change="s|^    critical: hold.*|    $again|" start
	tried waist
	said "achstart[waist]: warning: pciod[waist]: fatal: channel waist-state is taken by pciod, process $holder of "
	times 1 'achstart[waist]: '
	grep -q '^[^ ]* [^ ]* waist warning taken: ' "$ENDPLATE_RUN/log/events.log"
	lib_not grep -q ' waist .* ended: ' "$ENDPLATE_RUN/log/events.log" # which would be an incident each time
	kill "$holder"
	lib_until said 'achstart[waist]: ready after'
	stop
}

lib_functions "$lib_folder/log" "${1:-}"

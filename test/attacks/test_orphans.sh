#!/bin/bash
# test_orphans.sh: a daemon is all the processes that it started: none of them outlives it.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
achstart=$build/achstart
folder=$(mktemp -d)
export LC_ALL=C PATH=$build:$PATH ENDPLATE_RUN=$folder/run ENDPLATE_PREFIX=grp$$-
unset NOTIFY_SOCKET
supervisor=

# The processes of the tests are those that sleep for this long.
mark=$((100000 + $$))
left() { ps -e -o pid=,args= | awk -v mark="$mark" '$2 ~ /sleep$/ && index($3, mark) == 1 { print $1 }'; }
none_left() { [ -z "$(left)" ]; }
sleeps() { ps -e -o args= | awk -v mark="$mark.$1" '$1 ~ /sleep$/ && $2 == mark { n++ } END { exit n != 1 }'; }

cleanup() {
	[ -z "$supervisor" ] || kill -9 "$supervisor" 2>/dev/null || true
	left | xargs -r kill -9 2>/dev/null || true
	lib_remove_channels "$ENDPLATE_PREFIX"
	rm -rf "$folder"
}
trap cleanup EXIT

file() { # PROGRAM-LINE [KEY...]: a new robot of one daemon, a shell that runs it
	left | xargs -r kill -9
	rm -rf "$folder/run" "$folder/said"
	{
		echo "include: $(realpath config/robots/waist.yaml)"
		printf '%s\n' 'clock: none' 'daemons:' '  wrapper:' '    program: sh' '    alive: process' \
			"    args: [-c, \"$1\"]"
		[ $# -eq 1 ] || printf '    %s\n' "${@:2}"
	} >"$folder/x.launch"
}
start() {
	"$achstart" --real "$folder/x.launch" 2>>"$folder/said" &
	supervisor=$!
}
pid() { sed -n 's/^pid //p' "$ENDPLATE_RUN/state/wrapper"; }
stop() {
	kill -TERM "$supervisor"
	wait "$supervisor"
	supervisor=
}

test_what_a_shell_left_in_the_background_ends_with_it() {
	file "sleep $mark.1 & exec sleep $mark.2" 'restart: never'
	start
	lib_until sleeps 1
	lib_until sleeps 2
	kill -9 "$(pid)"
	lib_until none_left
	stop
}

test_a_shell_that_ends_at_once_leaves_nothing() {
	file "sleep $mark.1 & exit 0" 'restart: never'
	start
	lib_until grep -q 'done: exit status 0' "$folder/said"
	lib_until none_left
	stop
}

test_stop_ends_all_of_it() {
	file "trap '' TERM; sleep $mark.1 & sleep $mark.2; sleep $mark.3" 'kill_within: 100ms'
	start
	lib_until sleeps 1
	lib_until sleeps 2
	achctl stop wrapper
	lib_until none_left
	stop
}

test_a_new_process_does_not_meet_the_old_ones() {
	file "setsid sleep $mark.1 & exec sleep $mark.2" 'restart: {settled: 0}'
	start
	lib_until sleeps 1
	lib_until sleeps 2
	kill -9 "$(pid)"
	lib_until grep -q 'orphan: process' "$ENDPLATE_RUN/log/events.log"
	lib_until sleeps 1
	lib_until sleeps 2
	stop
	none_left
}

# achstart is killed before the daemon dies.
test_another_achstart_finds_them() {
	file "setsid sleep $mark.1 & sleep $mark.2 & exec sleep $mark.3" 'restart: never'
	start
	for i in 1 2 3; do lib_until sleeps "$i"; done
	kill -9 "$supervisor"
	wait "$supervisor" || true
	kill -9 "$(pid)"
	before=$(left)
	start
	for i in 1 2 3; do lib_until sleeps "$i"; done # those of the new one alone
	[ "$(left)" != "$before" ]
	stop
	none_left
}

test_adopted_ones_too() {
	file "setsid sleep $mark.1 & sleep $mark.2 & exec sleep $mark.3"
	start
	for i in 1 2 3; do lib_until sleeps "$i"; done
	kill -9 "$supervisor"
	wait "$supervisor" || true
	start
	lib_until grep -q 'found running' "$folder/said"
	for i in 1 2 3; do sleeps "$i"; done
	stop
	none_left
}

# A person's process with the robot's folder in its environment is not a daemon's.
test_a_persons_process_is_left_alone() {
	file "exec sleep $mark.1"
	start
	lib_until sleeps 1
	sleep "$mark.9" &
	stop
	sleeps 9
	kill -9 $!
}

lib_functions "$folder/log" "${1:-}"

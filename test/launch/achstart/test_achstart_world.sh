#!/bin/bash
# achstart where the world is not as it should be: full memory, no log folder, no rights, two robots, wrong files.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
achstart=$build/achstart
folder=$(mktemp -d)
export ENDPLATE_PREFIX=wld$$-
unset NOTIFY_SOCKET

# Daemons outlive their achstart: what is left of a test is killed by what achstart keeps.
lib_left() {
	local state
	for state in "$folder"/*/state/*; do
		[ ! -f "$state" ] || awk '$1 == "pid" { print $2 }' "$state" | xargs -r kill -KILL 2>/dev/null || true
	done
	rm -f /dev/shm/ach{shm,bell}-"wld$$"*
}
cleanup() {
	jobs -p | xargs -r kill -TERM 2>/dev/null || true
	wait 2>/dev/null || true
	lib_left
	rm -rf "$folder"
}
trap cleanup EXIT

until_done() { # COMMAND...: until it succeeds, but not for ever
	local i
	for ((i = 0; i < 1200; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	echo "never: $*"
	return 1
}

start() { # NAME [COMMAND...]: an achstart of launch/waist.launch with a folder of that name
	export ENDPLATE_RUN=$folder/$1
	"${@:2}" "$achstart" --real launch/waist.launch 2>>"$folder/$1.said" &
	supervisor=$!
}

said() { # NAME WORDS
	grep -F -- "$2" "$folder/$1.said"
}

stop() { # [PID]: and its status is 0
	kill -TERM "${1:-$supervisor}"
	wait "${1:-$supervisor}"
}

test_files_that_are_wrong_are_status_100() {
	local status=0
	export ENDPLATE_RUN=$folder/wrong
	printf 'include: nothing.yaml\ndaemons: {}\n' >"$folder/wrong.launch"
	"$achstart" "$folder/wrong.launch" 2>"$folder/wrong.said" || status=$?
	[ "$status" -eq 100 ]
	grep -F "$folder/wrong.launch:1" "$folder/wrong.said"
	[ ! -e "$ENDPLATE_RUN/lock" ]
	status=0
	"$achstart" --group nobody launch/waist.launch 2>"$folder/wrong.said" || status=$?
	[ "$status" -eq 100 ]
	grep -F 'has no group' "$folder/wrong.said"
	printf 'include: %s\noperators: no-such-group\ndaemons: {canwire: , robotsim: , clock: , waist: }\n' \
		"$(realpath config/robots/waist.yaml)" >"$folder/wrong.launch"
	status=0
	"$achstart" "$folder/wrong.launch" 2>"$folder/wrong.said" || status=$?
	[ "$status" -eq 100 ]
	grep -F 'there is no group no-such-group' "$folder/wrong.said"
}

test_a_folder_that_cannot_be_made_is_status_111() {
	local status=0
	: >"$folder/file"
	ENDPLATE_RUN=$folder/file/robot "$achstart" launch/waist.launch 2>"$folder/none.said" || status=$?
	[ "$status" -eq 111 ]
	said none 'unable to make the folder'
}

# Its place is taken by a file, which stops root as well.
test_without_a_log_folder_the_robot_runs() {
	mkdir "$folder/nolog"
	: >"$folder/nolog/log"
	start nolog
	until_done said nolog 'all 4 ready'
	kill -KILL "$(awk '$1 == "pid" { print $2 }' "$folder/nolog/state/waist")"
	until_done said nolog 'incarnation 2'
	said nolog 'signal 9'
	stop
	[ -f "$folder/nolog/log" ]
}

test_two_robots_at_once() {
	local first status
	start one
	first=$supervisor
	until_done said one 'all 4 ready'
	# The same channels: refused, and it says what to do.
	start two
	status=0
	wait "$supervisor" || status=$?
	[ "$status" -eq 111 ]
	said two 'set ENDPLATE_PREFIX'
	ENDPLATE_PREFIX=${ENDPLATE_PREFIX}b-
	export ENDPLATE_PREFIX
	start two
	until_done said two 'all 4 ready'
	kill -KILL "$(awk '$1 == "pid" { print $2 }' "$folder/two/state/waist")"
	until_done said two 'incarnation 2'
	stop
	lib_not said one 'incarnation 2'
	stop "$first"
	lib_not ls "$folder/one/control" "$folder/two/control" 2>/dev/null
}

# Memory of its own with so few segments that the estop channels fit and the driver's do not; later there is room.
test_full_shared_memory() {
	unshare -mi true 2>/dev/null || { echo "no IPC namespaces here"; exit 77; }
	export ENDPLATE_RUN=$folder/full
	# shellcheck disable=SC2016 # for the shell inside
	unshare -mi bash -c 'mount -t tmpfs none /dev/shm && echo 8 >/proc/sys/kernel/shmmni || exit 77
		"$0" launch/waist.launch 2>>"$1" &
		until grep -q "achstart\[waist\].*exit status 111" "$1"; do sleep 0.05; done
		grep -F "No space left" "$2"/log/*.log
		echo 4096 >/proc/sys/kernel/shmmni
		until grep -q "all 4 ready" "$1"; do sleep 0.05; done
		kill -TERM $!
		wait $!' "$achstart" "$folder/full.said" "$folder/full" &
	wait $!
}

test_no_room_at_all() {
	unshare -m true 2>/dev/null || { echo "no mount namespaces here"; exit 77; }
	export ENDPLATE_RUN=$folder/noroom
	# shellcheck disable=SC2016 # for the shell inside
	unshare -m bash -c 'mount -t tmpfs -o size=16k none /dev/shm || exit 77
		head -c 16k /dev/zero >/dev/shm/filler
		"$0" launch/waist.launch 2>>"$1"
		[ $? -eq 111 ]' "$achstart" "$folder/noroom.said"
	said noroom 'No space left'
	[ -z "$(ls "$folder/noroom/state" 2>/dev/null)" ]
}

as_user() { # CAPABILITIES COMMAND...
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "$1" --ambient-caps "$1" "${@:2}"
}

scheduled() { # NAME: how its process is
	chrt -p "$(awk '$1 == "pid" { print $2 }' "$ENDPLATE_RUN/state/$1")"
}

# What capabilities achstart has are its own: no daemon gets them.
test_an_ordinary_user_with_capabilities() {
	[ "$(id -u)" -eq 0 ] || exit 77
	as_user -all true 2>/dev/null || exit 77
	as_user -all test -x "$achstart" || exit 77
	chmod 755 "$folder"
	mkdir "$folder/user" "$folder/runtime"
	chown 65534:65534 "$folder/user" "$folder/runtime"
	export XDG_RUNTIME_DIR=$folder/runtime
	start user setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps=-all,+sys_nice,+ipc_lock,+net_admin --ambient-caps=-all,+sys_nice,+ipc_lock,+net_admin
	until_done said user 'all 4 ready'
	scheduled waist | grep SCHED_FIFO
	grep -x 'CapEff:	0000000000805000' "/proc/$supervisor/status"
	for name in canwire robotsim clock waist; do
		grep -cx 'Cap\(Prm\|Eff\|Amb\):	0000000000000000' \
			"/proc/$(awk '$1 == "pid" { print $2 }' "$folder/user/state/$name")/status" | grep -x 3
	done
	lib_not said user warning
	stop
	# And without them: it runs, and says so.
	: >"$folder/user.said"
	start user setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --ambient-caps=-all
	until_done said user 'all 4 ready'
	scheduled waist | grep SCHED_OTHER
	said user 'it takes a higher limit, LimitRTPRIO='
	stop
}

test_a_group_runs_alone() {
	printf 'include: %s\narm: auto\ngroups: {sim: [robotsim]}\n' "$(realpath config/robots/waist.yaml)" \
		>"$folder/group.launch"
	printf 'daemons: {canwire: , robotsim: , clock: , waist: }\n' >>"$folder/group.launch"
	export ENDPLATE_RUN=$folder/group
	"$achstart" --group sim "$folder/group.launch" 2>>"$folder/group.said" &
	supervisor=$!
	until_done said group 'all 3 ready' # with the clock
	[ ! -e "$folder/group/state/waist" ]
	stop
}

# systemd hears of it when all are ready, and of a beat.
test_systemd_is_notified() {
	command -v python3 >/dev/null || exit 77
	python3 - "$folder/notify" >"$folder/heard" <<'END' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    print(s.recv(1000).decode(), flush=True)
END
	until_done test -S "$folder/notify"
	start notified env NOTIFY_SOCKET="$folder/notify"
	until_done grep -x 'READY=1' "$folder/heard"
	until_done grep -x 'WATCHDOG=1' "$folder/heard"
	until_done grep -x 'STATUS=4 of 4 daemons ready' "$folder/heard"
	stop
	grep -x 'STOPPING=1' "$folder/heard"
}

# A terminal without a reader does not hold it up.
test_stderr_without_a_reader() {
	export ENDPLATE_RUN=$folder/unread
	mkfifo "$folder/pipe"
	exec 9<>"$folder/pipe"
	head -c 65536 /dev/zero >&9
	"$achstart" launch/waist.launch 2>"$folder/pipe" &
	supervisor=$!
	until_done grep -q 'all 4 ready' "$folder/unread/log/events.log"
	stop
	exec 9>&-
}

# It stays when its terminal goes.
test_a_hangup_stops_nothing() {
	start hangup
	until_done said hangup 'all 4 ready'
	kill -HUP "$supervisor"
	until_done said hangup 'the robot runs on'
	scheduled waist
	stop
}

lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# achstart --virtual: a whole robot on a clock of its own, twice the same, whatever else the machine does.
#
# Each run has a /dev/shm, System V memory and processes of its own, so that runs do not meet.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
here=$PWD
folder=$(mktemp -d)
busy=()
export FREEZER='' BESIDE=''
cleanup() {
	[ ${#busy[@]} -eq 0 ] || kill -KILL "${busy[@]}" 2>/dev/null || true
	rm -rf "$folder"
}
trap cleanup EXIT

if ! unshare -minpf --mount-proc mount -t tmpfs tmpfs /run 2>/dev/null; then
	lib_ignore virtual "no namespaces here"
	lib_end
	exit
fi

# OPTION... FILE: what it prints is in $folder/out and $folder/err; its status.
virtual() {
	# shellcheck disable=SC2016 # for the shell inside
	unshare -minpf --kill-child --mount-proc bash -c '
		mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run
		unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR NOTIFY_SOCKET
		PATH=$0:$PATH
		[ -z "$FREEZER" ] || python3 "$FREEZER" &
		[ -z "$BESIDE" ] || bash -c "$BESIDE" >/dev/null 2>&1 &
		timeout -s KILL 300 achstart --virtual "$@"
		status=$?
		for _ in $(seq 500); do [ -e /run/endplate/*/clock ] && sleep 0.02; done # achtime may outlive achstart
		exit $status' \
		"$build" "$@" >"$folder/out" 2>"$folder/err"
}

# OPTION...: the hash of a run of launch/waist.launch, which ends well.
hash() {
	virtual "$@" launch/waist.launch || { cat "$folder/err" >&2 && return 1; }
	grep -cx 'hash [0-9a-f]\{16\}' "$folder/out" | grep -qx 1
	grep -x 'hash [0-9a-f]\{16\}' "$folder/out"
}

said() { # WORDS [TIMES]
	if [ $# -eq 1 ]; then
		grep -qF -- "$1" "$folder/err"
	else
		[ "$(grep -cF -- "$1" "$folder/err")" -eq "$2" ]
	fi || { cat "$folder/err" && return 1; }
}

same() { # HASH HASH
	echo "$1, $2"
	[ -n "$1" ] && [ "$1" = "$2" ]
}

# A dozen: every daemon, at instants with and without a tick, one while it starts again, some at an action.
dozen=()
for plan in waist@0.5s waist@1s+3 robotsim@1.3s canwire@1.7s clock@2s clock@2.0001s waist@2.2s+1 robotsim@2.5s+7 \
	canwire@3s+20 clock@3.3s+2 waist@3.5s robotsim@3.5s; do
	dozen+=(--kill "$plan")
done

test_the_same_seed_is_the_same_run() {
	local first
	first=$(hash --for 2s)
	said 'all 4 ready' 1
	same "$first" "$(hash --for 2s --seed 1)"
}

test_another_seed_is_another_run() {
	local first
	first=$(hash --for 1s)
	lib_not same "$first" "$(hash --for 1s --seed 2)"
}

test_a_start_up_time_is_part_of_it() {
	local first
	first=$(hash --for 1s --startup 5ms)
	lib_not same "$first" "$(hash --for 1s --startup 6ms)"
	same "$first" "$(hash --for 1s --startup 5ms --seed 3)" # nothing is drawn then
}

test_a_kill_changes_it() {
	local whole killed
	whole=$(hash --for 2s)
	killed=$(hash --for 2s --kill waist@1s)
	said 'achstart[waist]: ' && said 'incarnation 2'
	lib_not same "$whole" "$killed"
	lib_not same "$killed" "$(hash --for 2s --kill waist@1.001s)"
	same "$killed" "$(hash --for 2s --kill waist@1s)"
}

test_a_kill_at_an_action() {
	local third
	third=$(hash --for 2s --kill waist@1s+3)
	said 'signal 9' 1
	said 'incarnation 2'
	same "$third" "$(hash --for 2s --kill waist@1s+3)"
	lib_not same "$third" "$(hash --for 2s --kill waist@1s+4)"
}

# achtime ends the robot, and prints the hash; it may do so after unshare has reported the death.
test_a_planned_death_of_achstart() {
	local n
	for n in 1 2; do
		virtual --for 2s --kill achstart@1s launch/waist.launch || [ $? -eq 137 ]
		grep -x 'hash [0-9a-f]\{16\}' "$folder/out" >"$folder/hash.$n"
	done
	cmp "$folder/hash.1" "$folder/hash.2"
}

# Idle, beside busy loops, at a rate.
test_a_dozen_kills() {
	local first
	first=$(hash --for 4s "${dozen[@]}")
	said 'signal 9' 12
	same "$first" "$(hash --for 4s --rate max "${dozen[@]}")"
	same "$first" "$(hash --for 4s --rate 5 "${dozen[@]}")"
	for _ in 1 2; do
		while :; do :; done &
		busy+=($!)
	done
	same "$first" "$(hash --for 4s "${dozen[@]}")"
	kill -KILL "${busy[@]}"
	busy=()
}

# With --strict a write that is not announced (clock_touch) is found in every run.  The killed ones attach to buses and
# ask achstart again.
test_every_write_between_processes_is_announced() {
	virtual --for 1.2s --strict --kill robotsim@0.4s,hubo@0.8s launch/bench-hubo.launch
	said 'signal 9' 2
	lib_not grep 'not repeatable' "$folder/out"
}

# Files of other robots in the folder of the channels, which blackbox watches in real time.
test_files_of_other_robots_are_ignored() {
	local first
	virtual --for 2s launch/robot.launch
	first=$(tail -n 1 "$folder/out")
	# shellcheck disable=SC2016 # for the shell beside the robot
	BESIDE='while :; do for n in 1 2 3 4 5 6 7 8; do : >/dev/shm/other-$n; done; rm /dev/shm/other-*; done' \
		virtual --for 2s launch/robot.launch
	lib_not grep 'not repeatable' "$folder/out"
	same "$first" "$(tail -n 1 "$folder/out")"
}

test_what_comes_from_outside_is_named() {
	BESIDE='while :; do achctl --robot bench status; done' virtual --for 1s --rate 1 --strict launch/waist.launch
	grep -x 'not repeatable since [0-9.]* s: to achstart from outside: socket control.*' "$folder/out"
}

# The body must not jump when robotsim begins again: balanced would drive hard, and then a dead wire makes it fall.
test_robot_stands_after_deaths_of_robotsim_and_canwire() {
	virtual --for 9s --seed 1 --kill robotsim@3s,canwire@6.45s launch/robot.launch
	said 'signal 9' 2
	lib_not said 'leans too far'
}

# The drives start again in another mode than the one in which the driver's successor had found them.
test_robot_stands_after_deaths_of_wheels_and_robotsim() {
	virtual --for 9s --seed 1012 --kill wheels@2s,robotsim@6216151us launch/robot.launch
	said 'signal 9' 2
	lib_not said 'leans too far'
}

# Stops processes of the run, achstart and achtime as well, at random instants for some milliseconds.
freezer() {
	cat >"$folder/freezer.py" <<'END'
import os, random, signal, sys, time

names = {"achstart", "achtime", "canwire", "robotsim", "hubo-daemon", "pciod"}
count = open(sys.argv[0] + ".count", "wb", 0)
while True:
    try:
        pid = int(random.choice([pid for pid in os.listdir("/proc") if pid.isdigit()]))
        with open(f"/proc/{pid}/comm") as comm:
            if comm.read().strip() not in names:
                continue
        os.kill(pid, signal.SIGSTOP)
        time.sleep(random.choice([0, 0.001, 0.01, 0.03]))
        os.kill(pid, signal.SIGCONT)
        count.write(b".")
    except OSError:
        pass
    time.sleep(random.uniform(0, 0.005))
END
	export FREEZER=$folder/freezer.py
}

# make soak: VIRTUAL_FREEZES=N, so many runs of a minute.
test_random_freezes() {
	local first length=4s n=${VIRTUAL_FREEZES:-1}
	[ -z "${VIRTUAL_FREEZES:-}" ] || length=60s
	first=$(hash --for "$length" "${dozen[@]}")
	freezer
	for ((; n > 0; n--)); do
		same "$first" "$(hash --for "$length" --rate 2 "${dozen[@]}")"
		said 'signal 9' 12
		echo "frozen $(stat -c %s "$FREEZER.count") times"
		[ "$(stat -c %s "$FREEZER.count")" -ge 5 ]
	done
}

# One line, and nothing is started.
refused() { # WORDS OPTION...
	local words=$1 status=0
	shift
	virtual "$@" launch/waist.launch || status=$?
	if [ "$status" -ne 100 ] || [ "$(wc -l <"$folder/err")" -ne 1 ] || ! grep -qF -- "$words" "$folder/err" ||
		[ -s "$folder/out" ]; then
		echo "$*: status $status"
		cat "$folder/err" "$folder/out"
		return 1
	fi
}

test_wrong_options_are_one_line() {
	local failed=0 plan rate
	for plan in waist @1s waist@ waist@soon waist@-1s waist@1s+ waist@1s+0 waist@1s+x waist@1s+-3 waist@1; do
		refused "$plan" --for 1s --kill "$plan" || failed=1
	done
	for rate in 0 -1 fast 1x inf nan ''; do
		refused --rate --for 1s --rate "$rate" || failed=1
	done
	refused --startup --for 1s --startup soon || failed=1
	refused --startup --for 1s --startup 11s || failed=1
	refused --startup --for 1s --startup -1ms || failed=1
	refused nobody --for 1s --kill nobody@0.5s || failed=1
	refused '--kill achstart: give --for' --kill achstart@0.5s || failed=1
	refused '--stop achstart' --for 1s --stop achstart@0.5s || failed=1
	return "$failed"
}

# On real time, beside the robot.
test_a_program_that_does_not_know_the_clock() {
	printf '#!/bin/sh\nexec sleep 1000\n' >"$folder/script"
	chmod +x "$folder/script"
	cat >"$folder/beside.launch" <<END
include: $here/config/robots/waist.yaml
arm: auto
daemons:
  canwire:
  robotsim:
  clock:
  waist:
  script:
    program: $folder/script
END
	virtual --for 2s "$folder/beside.launch"
	said 'the clock runs at --rate 1, since script is not on it'
	said 'all 5 ready'
	said 'achstart[script]: signal 15'
	said 'achstart[waist]: exit status 0'
	grep -x 'hash [0-9a-f]\{16\}' "$folder/out"
	# It sleeps for real, and the clock did not wait for that.
	lib_not said 'signal 9'
}

lib_functions "$folder/log" "${1:-}"

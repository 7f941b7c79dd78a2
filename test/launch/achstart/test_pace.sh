#!/bin/bash
# A bench runs on a virtual clock in step with life: what happens to that when processes and the machine pause or die,
# and whose time programs beside it have.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
folder=$(mktemp -d)
export ENDPLATE_RUN=$folder/run ACH_DIR=$folder/shm LD_LIBRARY_PATH=$build PYTHONPATH=$build/python
unset ENDPLATE_PREFIX NOTIFY_SOCKET
mkdir "$ACH_DIR"
PATH=$build:$PATH
achstart=''

# Of this robot: achstart, achtime and the daemons, which have its folder in their environment or arguments.
processes() {
	local place
	for place in /proc/[0-9]*; do
		if tr '\0' '\n' 2>/dev/null <"$place/environ" | grep -qx "ENDPLATE_RUN=$ENDPLATE_RUN" &&
			[[ "$(<"$place/comm")" =~ ^(achstart|achtime|canwire|robotsim|hubo-daemon|pciod|fake)$ ]]; then
			echo "${place#/proc/}"
		fi
	done 2>/dev/null
}

kill_all() {
	local all
	for _ in 1 2 3; do
		all=$(processes)
		# shellcheck disable=SC2086 # words
		[ -z "$all" ] || kill -KILL $all 2>/dev/null || true
	done
}

cleanup() {
	kill_all
	rm -rf "$folder"
}
trap cleanup EXIT

lib_left() {
	kill_all
	rm -rf "${ENDPLATE_RUN:?}" "${ACH_DIR:?}"
	mkdir "$ACH_DIR"
}

begin() { # a robot that does not run
	# The epoch of one that was killed would keep arm: auto from arming.
	rm -f "$folder/out" "$folder/err" "$ENDPLATE_RUN/epoch"
	start launch/waist.launch
	lib_until is_armed
}

start() { # FILE OPTION...
	achstart "${@:2}" "$1" >>"$folder/out" 2>>"$folder/err" &
	achstart=$!
}

field() { # of the status
	achctl status --json | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"
}

said() { grep -qF -- "$1" "$folder/err"; }
is_armed() { [ "$(field level)" = run ] && achctl status >/dev/null; }
achtime() { od -An -tu4 -j16 -N4 "$ENDPLATE_RUN/clock" | tr -d ' '; }

stop() {
	kill -TERM "$achstart"
	wait "$achstart"
}

test_a_bench_is_on_the_clock_and_says_so() {
	achstart --check launch/waist.launch | grep -x 'clock: a virtual one, in step with life'
	achstart --check --real launch/waist.launch | grep -x 'clock: real time'
	begin
	achctl status | grep -E 'virtual clock, [0-9.]+ x life, [0-9.e+-]+ s behind'
	stop
	grep -x 'hash [0-9a-f]\{16\}' "$folder/out"
	lib_not test -e "$ENDPLATE_RUN/clock"
	start launch/waist.launch --real
	lib_until is_armed
	[ "$(field pace)" = None ]
	stop
}

test_options_that_exclude_each_other() {
	lib_matches 100 '*--virtual and --real exclude each other*' achstart --virtual --real launch/waist.launch
	lib_matches 100 '*--for: only on a virtual clock*' achstart --real --for 1s launch/waist.launch
}

behind_by() { python3 -c "import sys; sys.exit(not $(field behind_s) >= $1)"; }

# All of it is stopped for a while, as by the host of a virtual machine: nothing expires, and nothing is made up for.
test_a_pause_of_the_machine_is_one_of_the_robot() {
	local all behind
	begin
	behind=$(field behind_s)
	all=$(processes)
	# shellcheck disable=SC2086 # words
	kill -STOP $all
	sleep 0.5
	# shellcheck disable=SC2086
	kill -CONT $all
	lib_until behind_by "$behind + 0.4"
	[ "$(field level)" = run ]
	lib_not said error
	lib_not said warning
	stop
}

stamp_ns() { ach echo waist-state --last | sed -n 's/^header.t_publish_ns = \([0-9]*\).*/\1/p'; }
is_after() { [ "$(stamp_ns)" -gt "$1" ]; }
goes_on() { lib_until is_after "$(($(stamp_ns) + 100000000))"; } # for 100 ms of the robot

# The disk of the incident is not done with a file before we say so.
test_an_incident_that_is_written_does_not_hold_the_clock() {
	cat >"$folder/slow.c" <<-'END'
		#define _GNU_SOURCE
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		int fsync(int fd)
		{
			while (unlink(getenv("SAVED")))
				usleep(10000);
			return syscall(SYS_fsync, fd);
		}
	END
	${CC:-gcc} -shared -fPIC -o "$folder/slow.so" "$folder/slow.c"
	sed "s|^include: ..|include: $PWD|
		s|^daemons:.*|&\n  blackbox: {environment: {LD_PRELOAD: $folder/slow.so, SAVED: $folder/saved}}|" \
		launch/waist.launch >"$folder/slow.launch"
	rm -f "$folder/out" "$folder/err"
	start "$folder/slow.launch"
	lib_until is_armed
	achctl kill waist 2>/dev/null || kill -KILL "$(pgrep -x pciod -P "$achstart" | head -1)"
	lib_until said 'achstart[waist]: ready after'
	lib_until test -d "$ENDPLATE_RUN/log/incident/.incident"
	while ! compgen -G "$ENDPLATE_RUN/log/incident/2*/programs"; do
		goes_on
		touch "$folder/saved"
	done
	lib_not test -e "$ENDPLATE_RUN/log/incident/.incident"
	goes_on # the folder above it is saved, too
	touch "$folder/saved"
	stop
}

# Each driver needs 60 ms to start, in which nothing else happens.
test_a_clock_on_which_nothing_is_due_for_long_goes_on() {
	rm -f "$folder/out" "$folder/err"
	start launch/waist.launch --startup 60ms
	lib_until is_armed
	stop
}

test_a_killed_achstart_is_followed_by_another() {
	local waist
	begin
	waist=$(pgrep -x pciod -P "$achstart" | head -1)
	kill -KILL "$achstart"
	wait "$achstart" || true
	start launch/waist.launch --real # which the running daemons overrule
	lib_until said "achstart[waist]: found running, process $waist"
	lib_until is_armed
	[ "$(field pace)" != None ]
	# The clock has stood still since its achtime is gone, too.
	kill -KILL "$achstart" "$(achtime)"
	wait "$achstart" || true
	start launch/waist.launch
	lib_until is_armed
	[ "$(grep -cF "achstart[waist]: found running, process $waist" "$folder/err")" -eq 2 ]
	achctl kill waist 2>/dev/null || kill -KILL "$waist"
	lib_until said 'achstart[waist]: ready after'
	stop
	lib_not test -n "$(processes)"
}

test_all_killed_is_a_new_clock() {
	begin
	kill_all
	wait "$achstart" || true
	start launch/waist.launch
	lib_until said 'arm: auto does not count'
	lib_until achctl arm
	lib_until is_armed
	lib_not said 'found running'
	stop
}

test_a_process_without_an_end_is_killed() {
	local spin="program: $build/test/launch/fake/fake, args: [spin], alive: watchdog, restart: never"
	sed "s|^daemons:|&\n  top: {$spin}|" \
		launch/waist.launch | sed "s|include: \.\.|include: $PWD|" >"$folder/spin.launch"
	rm -f "$folder/err"
	start "$folder/spin.launch"
	lib_until said 'achtime: top has computed for'
	lib_until said 'achstart[top]: error: signal 9'
	stop
}

# By itself, by Python's put, and by ach put.
test_programs_beside_it_move_the_robot() {
	begin
	python3 - <<-'END'
		import time
		import endplate

		def drive(stamp):
		    with endplate.Channel("waist-ref") as refs, endplate.Channel("waist-state") as states:
		        state = states.wait(timeout_s=10)
		        before = state.common.refs_taken
		        assert 0 <= endplate.now_ns() - state.header.t_publish_ns < 60_000_000_000
		        for _ in range(2000):
		            ref = endplate.JointRef(mode=["velocity"], velocity=[0.01])
		            ref.header.for_incarnation = state.header.incarnation
		            stamp(refs, ref)
		            time.sleep(0.01)
		            state = states.wait(timeout_s=10)
		            if state.common.refs_taken > before and state.common.lifecycle == "active":
		                return
		        raise SystemExit(f"not taken: {state.common}")

		def by_itself(refs, ref):
		    ref.header.t_publish_ns = time.monotonic_ns()
		    ref.header.valid_until_ns = ref.header.t_publish_ns + 20_000_000
		    refs.put(ref)

		drive(lambda refs, ref: refs.put(ref, valid_ns=20_000_000))
		drive(by_itself)
	END
	ach put waist-ref --json '{"mode":["velocity"],"velocity":[0.01]}' --valid 20 --hz 200 --for 10 &
	lib_until eval 'ach echo waist-state --last | grep -q "common.lifecycle = active"'
	kill $!
	stop
}

taken() { ach echo waist-state --last | sed -n 's/^common.refs_taken = //p'; }
took_more() { [ "$(taken)" -gt "$1" ]; }

run_again() {
	stop
	sleep "${1:-0.3}"
	start launch/waist.launch
	lib_until is_armed
}

# A deadline of the former clock is not waited for: neither years in real time, nor as long as the former robot ran.
test_programs_beside_it_follow_a_restart() {
	local sine put before
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Ichannels/client -I. -o "$folder/sine" channels/client/examples/sine.c \
		-L"$build" -lendplate -lach -lm
	begin
	"$folder/sine" waist 0 0.05 1 1000 2>"$folder/sine.err" &
	sine=$!
	lib_until took_more 10
	run_again 1
	before=$(taken)
	lib_until took_more "$((before + 100))" # its references
	kill "$sine"
	wait "$sine" || true
	ach put waist-ref --json '{"mode":["velocity"],"velocity":[0.01]}' --valid 20 --hz 200 --for 2 &
	put=$!
	sleep 0.5
	stop
	lib_until eval "! kill -0 $put 2>/dev/null" # its 2 s pass in real time
	wait "$put"
}

test_waits_end_with_the_robot() {
	local hz
	begin
	ach hz waist-state --for 3 >"$folder/hz" &
	hz=$!
	sleep 0.3
	stop
	wait "$hz"
	lib_not test -z "$(<"$folder/hz")"
	begin
	timeout 100 python3 - "$folder/waits" <<-'END' &
		import pathlib
		import sys
		import endplate
		with endplate.Channel("waist-state") as states:
		    pathlib.Path(sys.argv[1]).touch()
		    try:
		        while True:
		            states.wait(deadline_ns=endplate.now_ns() + 100_000_000_000)
		    except (endplate.Timeout, endplate.Removed):
		        pass
	END
	hz=$!
	lib_until test -e "$folder/waits"
	stop
	wait "$hz"
}

# Its time is the robot's from the beginning of the robot on.
test_an_observer_that_was_there_first() {
	local first put
	ach mk extra --type joint-ref
	ach put extra --type joint-ref --json '{"mode":["velocity"],"velocity":[0.01]}' --hz 50 &
	put=$!
	ach mk waist-state --type joint-state
	ach echo --follow waist-state >"$folder/echo" 2>/dev/null &
	first=$!
	ach hz waist-state --for 30 --count 300 --json >"$folder/hz" 2>/dev/null &
	first="$first $!"
	begin
	wait "${first##* }"
	cat "$folder/hz"
	python3 -c "import json, sys; v = json.load(sys.stdin); \
sys.exit(not (100 < v['rate_hz'] < 300 and abs(v['latency_ns']['p50']) < 10**9))" <"$folder/hz"
	python3 -c 'if 1:
		import endplate
		with endplate.Channel("extra") as extra:
		    assert extra.wait(timeout_s=5).header.t_publish_ns >= 10**17'
	kill "${first%% *}" "$put"
	ach rm extra
	stop
}

# A busy machine may hold up a clock that runs, and a daemon that had its turn may move one that has ended.
clock_still_is() { [ "$(field clock_still)" = "$1" ]; }

test_a_clock_that_stands_still_is_shown() {
	begin
	lib_until clock_still_is None
	script -qfc "stty cols 100 rows 30; TERM=xterm achctl top" "$folder/top" >/dev/null &
	lib_until grep -aqF waist "$folder/top"
	kill -KILL "$achstart" "$(achtime)"
	wait "$achstart" || true
	lib_until clock_still_is 'achtime has ended'
	lib_until eval "achctl status | grep -x \"the robot's clock stands still: achtime has ended\""
	lib_until grep -aqF 'clock stands still' "$folder/top"
	start launch/waist.launch
	lib_until is_armed
	lib_until clock_still_is None
	stop
}

test_all_of_the_pace_is_seen_at_80_columns() {
	begin
	sleep 0.5
	achctl status | head -4
	achctl status | awk 'length > 80 { exit 1 }'
	achctl status | grep 'behind$'
	stop
}

test_options_of_a_virtual_clock_are_refused_in_real_time() {
	local option words
	for option in --rate=1 --seed=1 --charge --strict --startup=1ms --leave --for=1s --kill=waist@1s \
		--stop=waist@1s; do
		words="*${option%%=*}: only on a virtual clock*"
		lib_matches 100 "$words" achstart --real "$option" launch/waist.launch
		lib_matches 100 "$words" achstart --check --real "$option" launch/waist.launch
	done
}

priorities() { # of the processes on the clock: name, class, priority
	local one
	for one in $(processes); do
		ps -o comm=,cls=,rtprio= -p "$one"
	done
}

test_processes_on_the_clock_have_one_priority() {
	begin
	priorities
	lib_not eval 'priorities | grep -E "FF +[3-9]|FF +[1-9][0-9]"'
	lib_not eval 'priorities | grep -v achtime | grep "FF  *2"'
	stop
	begin_at_most
	lib_not eval 'priorities | grep FF'
	stop
}

begin_at_most() {
	rm -f "$folder/err"
	start launch/waist.launch --rate max
	lib_until said 'all 4 ready'
}

# The program is away for a while: each try fails, and the clock goes on with the first that does not.
test_an_achtime_that_cannot_be_started_is_tried_again() {
	local bin=$folder/bin file
	mkdir "$bin"
	for file in achstart achtime achctl canwire robotsim hubo-daemon pciod; do
		cp "$build/$file" "$bin/"
	done
	rm -f "$folder/err" "$folder/out"
	PATH=$bin:/usr/bin:/bin "$bin/achstart" launch/waist.launch >>"$folder/out" 2>>"$folder/err" &
	achstart=$!
	lib_until is_armed
	mv "$bin/achtime" "$bin/away"
	kill -KILL "$(achtime)"
	lib_until said 'unable to start achtime'
	sleep 0.5
	[ "$(grep -cF 'unable to start achtime' "$folder/err")" -eq 1 ]
	mv "$bin/away" "$bin/achtime"
	lib_until is_armed
	stop
}

lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# blackbox(1): incidents of a robot on the virtual clock, as achctl incident shows them, and played to a driver on the
# bench; kills in the middle of an incident, full disks and bounds in real time.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
. test/launch/loop/lib.sh
lib_tmp
export LC_ALL=C PATH=$build:$PATH ENDPLATE_PREFIX=blackbox$$- ENDPLATE_RUN=$lib_folder/run
unset NOTIFY_SOCKET LOGS_DIRECTORY
p=$ENDPLATE_PREFIX
here=$PWD
cleanup() {
	! mountpoint -q "$lib_folder/small" || umount -l "$lib_folder/small"
	lib_remove_channels "$p"
	rm -rf "$lib_folder"
}
trap cleanup EXIT
mkdir -m 700 "$ENDPLATE_RUN"

incidents() { find "${1:-incident}" -mindepth 1 -maxdepth 1 -name '[0-9]*' 2>/dev/null | sort; }
has() { [ "$(incidents "${2:-incident}" | wc -l)" -eq "$1" ]; } # N [FOLDER]
incident() { achctl incident "$@" --folder "${into:-incident}"; }

# ---- on the virtual clock ----

# OPTION...: a run of the robot, in a folder of its own; the last incident is $found.  box, waist, all: more keys of
# blackbox, of the driver and of the launch file.
box='' waist='' all=''
run() {
	unshare -minpf --mount-proc mount -t tmpfs tmpfs /run 2>/dev/null || exit 77 # no namespaces here
	cp "$here/test/launch/loop/waist/robot.yaml" "$here/test/launch/loop/waist/driver" .
	cat >robot.launch <<-EOF
		include: robot.yaml
		clock: none
		arm: auto
		daemons:
		  canwire:
		  blackbox: {args: [--folder, $PWD/incident, --pause, ${pause:-2s}$box], world: yes}
		  robotsim: {needs: blackbox}
		  waist: {needs: robotsim$waist}
		  control: {needs: waist, world: yes}
		$all
	EOF
	loop_achstart "$@" robot >said 2>&1 || { cat said && return 1; }
	found=$(incidents | tail -n 1)
}

test_a_death_is_an_incident() {
	run --for 4s --kill waist@1.5s
	has 1 && cat "$found/incident"
	grep -q '^robot: loop$' "$found/incident"
	grep -q '^cause: +0.000000 s died: waist: signal 9' "$found/incident"
	[ "$(wc -l <"$found/bus-torso.log")" -gt 1000 ]
	ach play --list "$found/channels.rec" | tee list
	grep -q '^waist-state .* joint-state' list
	grep -q '^achstart-event .* event' list
	ach echo --json "$found/channels.rec" | grep -q '"code":"ended"'
	grep -q ' waist error ended: signal 9' "$found/events.log"
	grep -q "^$(sha256sum <"$build/pciod" | cut -d' ' -f1) .*pciod --name waist" "$found/programs"
	cmp "$found/settings/robot.yaml" robot.yaml
	cmp "$found/settings/robot.launch" robot.launch
}

test_show_gives_the_order_of_events() {
	run --for 4s --kill waist@1.5s
	incident list | grep -q '^20000101-000001.500  +0.000000 s died: waist: signal 9'
	incident show | tee shown
	sed 's/^ *//' shown | grep -E '^[+-]0?[01]\.(000000|002000|032000|580000) s' >story
	cat >expected <<-'EOF'
		+0.000000 s  waist died: signal 9 (Killed), up 1.494 s, incarnation 1
		+0.002000 s  waist-state: a new process publishes, incarnation 2
		+0.032000 s  waist was restarted: ready after 0.032 s, process 19, incarnation 2
		+0.580000 s  waist-ref: the reference expires, and no other follows
	EOF
	diff expected story
	incident show --json | /usr/bin/python3 -c '
import json, sys
shown = json.load(sys.stdin)
assert shown["ok"] and shown["name"] == "20000101-000001.500", shown
assert {"t_ns": 0, "text": "waist died: signal 9 (Killed), up 1.494 s, incarnation 1"} in shown["story"], shown'
	incident export 20000101-000001.500 out.tar.gz
	tar -xzf out.tar.gz && diff -r "$found" 20000101-000001.500
	lib_says 1 '' 'achctl incident: 2: not found (achctl incident list)' achctl incident show 2 --folder incident
	lib_says 100 '' 'achctl incident: tell: write list, show or export' achctl incident tell --folder incident
}

# [CHANGE]: the driver on the bench with the frames and references of the incident, until the driver of then died.
bench() {
	cp "$found/bus-torso.log" bus.log
	cp "$found/channels.rec" refs.rec
	cp "$found/settings/robot.yaml" robot.yaml
	sed -i "${1:-}" robot.yaml
	echo canwire >needs
	start=$(sed -n 's/^(\([0-9.]*\)).*/\1/p' bus.log | head -n 1)
	died=$(($(sed -n 's/^t_ns: //p' "$found/incident") + $(sed -n 's/^real_ns: //p' "$found/incident")))
	echo "--until $(awk -v died="$died" -v start="$start" 'BEGIN { printf "%.6f", died / 1e9 - start }')s" >options
	loop_play
	tail -n 30 report
	[ "$(sed -n 's/^ *\([0-9]*\) frames of the driver were recorded/\1/p' report)" -gt 500 ]
	[ "$(sed -n 's/^ *\([0-9]*\) references played/\1/p' report)" -gt 50 ]
}

test_an_incident_replays_in_closed_loop() {
	run --for 4s --kill waist@1.5s
	bench
	grep -qx 'no difference' report
	bench 's/velocity: 0.43/velocity: 0.2/'
	grep -q '^[1-9][0-9]* differences .* in torso 0EF#0B11' report
}

test_a_hung_driver_is_an_incident() {
	run --for 4s --stop waist@1.5s
	has 1 && cat "$found/incident"
	grep -q '^cause: +0.000000 s watchdog: waist: ' "$found/incident"
	incident show | tee shown
	grep -q ' s  waist is hung: ' shown
	grep -q ' s  waist was restarted: .*incarnation 2' shown
}

# Suspended for the rest of each 50 ms once it has computed for 50 us, whatever a processor does in that time.
test_an_overrun_is_an_incident() {
	box=', --skipped, 5, --after, 0s' pause=0s
	waist=', dead_after: 1min, ready_within: 10min, period: 50ms, budget: 50us, over: suspend'
	run --for 20s --charge
	incident list >causes
	cat causes # a frame that was handed over by a slow process may be late, too
	grep -q 's overrun: waist-state: [0-9]* ticks skipped' causes
}

# Beside frames that no driver declares.
test_a_late_frame_is_an_incident() {
	local i
	for i in $(seq 100 140); do
		printf '(0.%03d%03d) can0 001#3C3C3C3C3C3C3C3C\n' $((i * 135 / 1000)) $((i * 135 % 1000))
	done >burst.log
	all="  other: {program: canreplay, needs: control, alive: process,
	    args: [$PWD/burst.log, --map, 'can0=wire:torso@other', --loop, '0', --pause, 100ms]}"
	run --for 6s
	has 1 # though it lasts
	cat "$found/incident"
	grep -q '^cause: +0.000000 s late frame: waist: bus torso: frame 0.. took .* ms; ' "$found/incident"
	incident show | grep -q ' s  waist: bus torso: frame 0.. took'
}

test_a_stop_by_achstart_belongs_to_the_death() {
	waist=', critical: hold'
	run --for 4s --kill waist@1.5s,waist@1.7s,waist@1.9s
	has 1 && cat "$found/incident"
	grep -q '^cause: +0.000000 s died: waist: signal 9' "$found/incident"
	grep -q '^cause: +0.4.* s stop: ' "$found/incident"
	incident show | grep -q ' s  level hold raised by '
}

test_killed_it_takes_nothing_with_it() {
	run --for 4s --kill blackbox@1.5s
	grep -q 'achstart\[blackbox\]: error: signal 9' said
	[ "$(grep -c 'error' said)" -eq 1 ]
	grep -q 'died: blackbox: signal 9' "$found/incident" # by its successor
	has 1
}

test_a_robot_without_trouble_has_no_incident() {
	run --for 3s
	has 0
}

# ---- by hand ----

# OPTION...: in the background.
start() {
	ach mk "${p}achstart-event" -m 1000 -n 300 2>/dev/null || true
	blackbox --folder "${into:-incident}" --window 1min --after 0 --pause "${pause:-0}" "$@" 2>>said &
	box=$!
}
stop() { kill -TERM "$box" && wait "$box"; }
event() { # SEVERITY SOURCE CODE TEXT
	ach put --type event "${p}achstart-event" \
		--json "{\"severity\":\"$1\",\"source\":\"$2\",\"code\":\"$3\",\"text\":\"$4\"}"
}
die() { event error "$1" ended 'signal 9'; } # NAME
late() { event warning "$1" late-frame 'frame 0EF took 9 ms'; }

test_incidents_are_bounded() {
	start --keep 2
	for i in 1 2 3; do
		die "d$i"
		lib_until grep -q "died: d$i" said
	done
	stop
	has 2
	incident list | tee list
	grep -q 'died: d2' list && grep -q 'died: d3' list
}

# One of them, whichever driver it is of; the death of before it keeps its place.
test_late_frames_leave_room_for_other_incidents() {
	start --keep 2
	die d1
	lib_until grep -q 'died: d1' said
	for i in 2 3 4; do
		late "d$i"
		[ "$i" -gt 2 ] || lib_until grep -q 'late frame: d2' said
	done
	stop
	incident list | tee list
	has 2
	grep -q 'died: d1' list && grep -q 'late frame: d2' list
}

# As much as was asked for.
test_late_frames_may_follow_each_other() {
	start --repeat-after 0
	for i in 1 2; do
		late "d$i"
		lib_until grep -q "late frame: d$i" said
	done
	stop
	has 2
}

test_the_bytes_of_all_incidents_are_bounded() {
	ach mk "${p}a-state" -m 20000 -n 1000
	start --total 1
	for i in 1 2 3; do
		"$build/test/channels/tool/feed" "${p}a-state" 60 0 10000 >fed
		die "d$i"
		lib_until grep -q "died: d$i" said
	done
	stop
	du -sb incident/*
	has 1
	incident list | grep 'died: d3'
}

# Each file, each folder, and the folder above it.
test_it_is_on_the_disk_before_it_is_announced() {
	cat >sync.c <<-'EOF'
		#define _GNU_SOURCE
		#include <stdio.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static FILE *log;
		static void note(const char *what, int fd)
		{
			char link[64], path[4096] = "";
			snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
			if (fd >= 0)
				readlink(link, path, sizeof(path) - 1);
			log = log ? log : fopen("calls", "we");
			fprintf(log, "%s %s\n", what, strrchr(path, '/') ? strrchr(path, '/') + 1 : "");
			fflush(log);
		}
		int fsync(int fd)
		{
			note("fsync", fd);
			return syscall(SYS_fsync, fd);
		}
		int renameat(int at, const char *from, int to_at, const char *to)
		{
			if (!strcmp(from, ".incident"))
				note("rename", -1);
			return syscall(SYS_renameat2, at, from, to_at, to, 0);
		}
	EOF
	${CC:-gcc} -shared -fPIC -w -o sync.so sync.c
	LD_PRELOAD=$PWD/sync.so start
	die d1
	lib_until grep -q 'died: d1' said
	stop
	cat calls
	sort >expected <<-'EOF'
		fsync .incident
		fsync channels.rec
		fsync incident
		fsync programs
		fsync settings
		rename
	EOF
	# Another robot on this machine may have settings, too.
	sed -E '/^rename/q; /\.(yaml|launch) *$/d' calls | sed 's/ $//' | sort -u | diff expected -
	[ "$(tail -n 2 calls | tr -d '\n ')" = renamefsyncincident ]
}

test_a_successor_does_not_repeat_an_incident() {
	pause=1h
	start
	die d1
	lib_until has 1
	die d2
	kill -KILL "$box"
	rm "$ENDPLATE_RUN"/blackbox/*
	start
	lib_until grep -q . "$ENDPLATE_RUN"/blackbox/channels-0001.rec
	die d3
	stop
	cat said
	has 1
	[ "$(wc -l <said)" -eq 1 ]
}

test_a_stop_of_an_armed_robot_is_an_incident() {
	ach mk "${p}estop" -m 1000 -n 300
	start
	ach put --type estop --json '{"kind":"raise","level":"hold","who":"root","why":"start"}' "${p}estop"
	ach put --type estop --json '{"kind":"lower","level":"run","who":"root","why":"arm"}' "${p}estop"
	ach put --type estop --json '{"kind":"raise","level":"estop","who":"root","why":"a hand"}' "${p}estop"
	lib_until has 1
	stop
	has 1
	incident list | grep -q 'stop: level estop by root: a hand'
	incident show | grep -q ' s  level estop raised by root: a hand'
}

# A process that kills itself at the Nth call by which it makes the folder.
test_killed_in_the_middle_it_leaves_nothing_that_looks_whole() {
	cat >kill.c <<-'EOF'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/stat.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static int left = -1;
		static void count(void)
		{
			if (left > 0 && !--left)
				kill(getpid(), SIGKILL);
		}
		int mkdirat(int at, const char *path, mode_t mode)
		{
			if (!strcmp(path, ".incident"))
				left = atoi(getenv("KILL_AT"));
			count();
			return syscall(SYS_mkdirat, at, path, mode);
		}
		int openat(int at, const char *path, int flags, ...)
		{
			count();
			return syscall(SYS_openat, at, path, flags, 0640);
		}
		int renameat(int at, const char *from, int to_at, const char *to)
		{
			if (!strcmp(from, ".incident"))
				kill(getpid(), SIGKILL);
			return syscall(SYS_renameat2, at, from, to_at, to, 0);
		}
	EOF
	${CC:-gcc} -shared -fPIC -o kill.so kill.c
	for at in 2 3 4 5 6 999; do
		LD_PRELOAD=$PWD/kill.so KILL_AT=$at start
		[ "$at" -gt 2 ] || die d1
		lib_until lib_not kill -0 "$box"
		wait "$box" || [ $? -eq 137 ]
		ls -A incident/.incident
		lib_matches 0 'no incidents*one is incomplete: *' achctl incident list --folder incident
		lib_says 1 '' 'achctl incident: no incidents' achctl incident show --folder incident
	done
	start # its successor finds the same cause, and room
	lib_until has 1
	stop
	[ ! -e incident/.incident ]
	incident list | tee list
	grep -q 'died: d1' list && lib_not grep -q incomplete list
}

test_a_full_disk_costs_one_line_and_one_incident() {
	mkdir -p "$lib_folder/small"
	mount -t tmpfs -o size=64k none "$lib_folder/small" 2>/dev/null || exit 77
	into=$lib_folder/small/incident
	ach mk "${p}a-state" -m 20000 -n 1000
	start
	"$build/test/channels/tool/feed" "${p}a-state" 100 0 10000 >fed
	die d1
	lib_until grep -q 'unable to write an incident' said
	cat said
	[ "$(grep -c 'No space left' said)" -eq 1 ]
	[ -z "$(ls -A "$into")" ] # nor is a part left
	mount -o remount,size=16m "$lib_folder/small"
	die d2
	lib_until has 1 "$into"
	stop
	grep -q 'died: d2' "$(incidents "$into")/incident"
	umount "$lib_folder/small"
}

# The folder of the robot is full of the rolling record.
test_a_full_memory_is_left_to_others() {
	mkdir -p "$lib_folder/small"
	mount -t tmpfs -o size=1m none "$lib_folder/small" 2>/dev/null || exit 77
	export ENDPLATE_RUN=$lib_folder/small/run
	mkdir -m 700 "$ENDPLATE_RUN"
	ach mk "${p}a-state" -m 20000 -n 1000
	start --size 20
	"$build/test/channels/tool/feed" "${p}a-state" 1000 0 10000 >fed
	lib_until grep -q 'unable to write' said
	head -c 200000 /dev/zero >"$lib_folder/small/others"
	rm "$lib_folder/small/others"
	die d1
	lib_until has 1
	cat said
	[ "$(grep -c 'unable to write' said)" -eq 1 ]
	grep -q 'unable to write: No space left on device; the next 4 MB wait in memory' said
	stop
	umount "$lib_folder/small"
}

test_memory_is_bounded() {
	ach mk "${p}a-state" -m 20000 -n 1000
	start --size 2
	lib_until grep -q . "$ENDPLATE_RUN"/blackbox/channels-0001.rec
	"$build/test/channels/tool/feed" "${p}a-state" 4000 0 10000 >fed
	[ "$(stat -c %s fed)" -gt 20000000 ] # two characters of each byte
	die d1
	lib_until has 1
	du -sb incident && grep -E '^(VmHWM|Rss)' "/proc/$box/status"
	[ "$(du -sb incident | cut -f1)" -le 2000000 ]
	[ "$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$box/status")" -le 40000 ] # the rest is the memory of channels
	stop
	[ -z "$(ls -A "$ENDPLATE_RUN/blackbox")" ]
}

work() { # FUNCTION: in a folder of its own, without channels of others
	lib_remove_channels "$p"
	mkdir "$lib_folder/$1" && cd "$lib_folder/$1" && : >said && "_$1"
}
for test in $(declare -F | awk '$3 ~ /^test_/ { print $3 }'); do
	eval "_$(declare -f "$test")"
	eval "$test() { work $test; }"
done
lib_functions "$lib_folder/log" "${1:-}"

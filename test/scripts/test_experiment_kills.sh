#!/bin/bash
# Drivers of the whole bench robot are killed, in short: each is back, no other one is silent, the robot stands.
set -eu
. test/scripts/lib.sh
lib_tmp

if ! unshare -mipf --kill-child true 2>/dev/null; then
	lib_ignore all "it needs root's rights for a /dev/shm of its own"
	lib_end
	exit
fi

killed() {
	scripts/experiment-kills --kills 16 --seed 7 --report "$lib_folder/report" >"$lib_folder/table" || {
		cat "$lib_folder/table"
		return 1
	}
	grep -qx 'falls: 0' "$lib_folder/table"
	awk '$3 ~ /^[0-9]+$/ { kills += $3; rows++ } END { exit !(kills == 16 && rows == 14) }' "$lib_folder/table"
	# fewer than 100 kills of each: no p99
	awk '$3 ~ /^[0-9]+$/ && ($5 != "-" || $7 != "-") { exit 1 }' "$lib_folder/table"
	head -n 1 "$lib_folder/report/kills.csv" | grep -x 'seed,t_s,daemon,first_ms,complete_ms,falls'
	awk -F , 'NR > 1 && NF == 6 && $1 == 7 && $2 >= 2 && $4 > 0 && $5 >= $4 && $6 == 0 { rows++ }
		END { exit !(NR == 17 && rows == 16) }' "$lib_folder/report/kills.csv"
}
all_killed() {
	scripts/experiment-kills --all --kills 6 --seed 3 --report "$lib_folder/all" launch/robot.launch \
		>"$lib_folder/table"
	grep -qx 'seed 3, kills 6, lives 1' "$lib_folder/table"
	grep -qx 'falls: 0' "$lib_folder/table"
	[ "$(wc -l <"$lib_folder/all/kills.csv")" -eq 7 ]
}
gone() { ! grep -q '^State:[^Z]*$' "/proc/$1/status" 2>/dev/null; } # or not waited for yet
# A robot whose achstart does not react is ended, too: a program in its place that ignores SIGTERM, with a child.
ended() {
	local achstart child
	mkdir "$lib_folder/build"
	cat >"$lib_folder/build/achstart" <<-'END'
		#!/bin/bash
		[ "$1" != --check ] || { printf 'DAEMON PROGRAM\na imud\nb imud\nc imud\n\n' && exit; }
		trap '' TERM
		sleep 1000 &
		echo "$$ $!" >"$ENDPLATE_PIDS"
		wait
	END
	chmod +x "$lib_folder/build/achstart"
	export ENDPLATE_PIDS=$lib_folder/pids EXPERIMENT_KILLS_END=0.2
	if BUILD=$lib_folder/build scripts/experiment-kills --kills 1 --report "$lib_folder/none" \
		>"$lib_folder/said" 2>&1; then
		return 1
	fi
	grep -F 'the robot did not end' "$lib_folder/said"
	read -r achstart child <"$lib_folder/pids"
	lib_until gone "$achstart"
	lib_until gone "$child"
}
wrong_name() {
	local said
	said=$(scripts/experiment-kills --only waist,wast,imu 2>&1) && return 1
	grep -F 'wast is not a daemon that is killed; they are clock, imu' <<<"$said"
}
lib_case "every driver that is killed is back, and no other one notices" killed
lib_case "every daemon is killed, and the robot stands" all_killed
lib_case "a robot that does not end is ended" ended
lib_case "a name that is not there" wrong_name
lib_end

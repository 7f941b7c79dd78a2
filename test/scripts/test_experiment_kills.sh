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
}
wrong_name() {
	local said
	said=$(scripts/experiment-kills --only waist,wast,imu 2>&1) && return 1
	grep -F 'wast is not a daemon that is killed; they are clock, imu' <<<"$said"
}
lib_case "every driver that is killed is back, and no other one notices" killed
lib_case "a name that is not there" wrong_name
lib_end

#!/bin/bash
# ach(1) finds a channel by the name that it has in the robot: with the robot's prefix, in the robot's folder, and never
# proposes that of another user.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
ach=$build/ach
p=t-robot-$$
lib_tmp
tmp=$lib_folder
unset ENDPLATE_RUN ENDPLATE_PREFIX
export XDG_RUNTIME_DIR=$tmp
trap 'unset ACH_DIR; lib_remove_channels "$p"; rm -rf "$tmp"' EXIT

robot() { # NAME PREFIX [CHANNELS]: as achstart leaves it in its folder
	mkdir -p "$tmp/endplate/$1"
	chmod 700 "$tmp/endplate" "$tmp/endplate/$1"
	printf 'name %s\nprefix %s\nchannels %s\nend\n' "$1" "$2" "${3:-}" >"$tmp/endplate/$1/robot"
	: >"$tmp/endplate/$1/control"
	if [ "${3:-}" ]; then mkdir -p "$3"; fi
}
channel() { # NAME [HEX]: with a message
	"$ach" mk "$1"
	"$ach" put --hex "${2:-00}" "$1"
}
# A plain user: as root robots are those of /run/endplate.
plainly() { # COMMAND...
	ENDPLATE_RUN=$tmp/endplate/$robot "$@"
}

test_a_name_means_the_channel_of_the_robot() {
	lib_remove_channels "$p"
	local robot=one command
	robot one "$p-a-"
	channel "$p-a-waist-state" aa
	channel "$p-b-waist-state" bb
	for command in echo 'info --for 0' 'ls --for 0' 'hz --for 0.01' "record --for 0.01 --force -o $tmp/rec" \
		'put --hex ab'; do
		# shellcheck disable=SC2086 # words
		plainly "$ach" $command waist-state >"$tmp/out" 2>&1 || return 1
		# shellcheck disable=SC2086
		plainly "$ach" $command "$p-a-waist-state" >"$tmp/out" 2>&1 || return 1
	done
	plainly "$ach" echo --last waist-state | grep -q ' ab'
	"$ach" echo --last "$p-b-waist-state" | grep -q ' bb'
	plainly "$ach" plot --for 0.01 waist-state position >"$tmp/out" 2>&1 ||
		grep -q "^ach plot: $p-a-waist-state" "$tmp/out"
	plainly "$ach" ls --for 0 'waist-*' | grep -q "^$p-a-waist-state"
	! plainly "$ach" ls --for 0 'waist-*' | grep -q "^$p-b-" || return 1
}

test_a_robot_has_a_folder_of_its_own_channels() {
	lib_remove_channels "$p"
	local robot=two
	robot two "" "$tmp/own"
	ACH_DIR=$tmp/own channel waist-state aa
	channel "$p-alone" bb
	plainly "$ach" echo waist-state | grep -q ' aa'
	plainly "$ach" echo "$p-alone" | grep -q ' bb' # is of no robot
	[ "$(plainly "$ach" ls --for 0 | tail -n +2 | cut -d' ' -f1)" = waist-state ]
	ACH_DIR=/dev/shm plainly "$ach" echo waist-state >"$tmp/out" 2>&1 && return 1
	ACH_DIR=/dev/shm plainly "$ach" echo "$p-alone" | grep -q ' bb'
	ACH_DIR=$tmp/own "$ach" rm waist-state
}

test_a_name_without_a_robot_is_exact() {
	lib_remove_channels "$p"
	local robot=none
	channel "$p-x" aa
	plainly "$ach" echo "$p-x" | grep -q ' aa'
	ENDPLATE_PREFIX=$p-y- plainly "$ach" echo "$p-x" | grep -q ' aa'
	robot none "$p-z-"
	plainly "$ach" echo "$p-x" | grep -q ' aa'
	lib_says 111 '' "ach echo: $p-z-imu-state: no such channel (ach ls lists those there are)" \
		plainly "$ach" echo imu-state
}

test_the_prefix_of_the_environment_wins_over_a_robot_that_was_not_named() {
	lib_remove_channels "$p"
	local robot=env
	robot env "$p-a-"
	channel "$p-a-imu-state" aa
	channel "$p-b-imu-state" bb
	ENDPLATE_PREFIX=$p-b- plainly "$ach" echo imu-state | grep -q ' bb'
	ENDPLATE_PREFIX=$p-a- plainly "$ach" echo imu-state | grep -q ' aa'
	plainly "$ach" echo --robot env imu-state | grep -q ' aa'
	lib_matches 111 "ach echo: ENDPLATE_PREFIX=$p-b-: but the channels of robot env * unset it*" \
		env ENDPLATE_PREFIX="$p-b-" ENDPLATE_RUN="$tmp/endplate/env" "$ach" echo --robot env imu-state
}

test_a_named_robot_has_no_channels_of_others() {
	lib_remove_channels "$p"
	local robot=named
	robot named "$p-a-"
	channel "$p-a-imu-state" aa
	channel "$p-alone" bb
	[ "$(plainly "$ach" ls --for 0 --robot named | tail -n +2 | cut -d' ' -f1)" = "$p-a-imu-state" ]
	plainly "$ach" echo --robot named "$p-a-imu-state" | grep -q ' aa'
	lib_says 111 '' "ach echo: $p-a-$p-alone: no such channel (ach ls lists those there are)" \
		plainly "$ach" echo --robot named "$p-alone"
	lib_says 100 '' 'ach echo: --robot: "a/b" is not a valid name' "$ach" echo --robot a/b imu-state
	lib_says 111 '' \
		"ach echo: --robot other: you have no access to a robot of that name, or it has never run here" \
		env ENDPLATE_RUN="$tmp/endplate/other" "$ach" echo --robot other imu-state
}

# As another user, so that the robots are those of $XDG_RUNTIME_DIR.
test_several_robots() {
	lib_remove_channels "$p"
	[ "$(id -u)" -eq 0 ] || return 77
	export ACH_DIR=$tmp/shm
	rm -rf "$tmp/endplate"
	mkdir -m 777 "$tmp/shm"
	chmod 711 "$tmp"
	robot left "$p-l-"
	robot right "$p-r-"
	chown -R nobody "$tmp/endplate"
	user() { setpriv --reuid nobody --clear-groups "$@"; }
	sed -i "s|^channels .*|channels $ACH_DIR|" "$tmp"/endplate/*/robot
	user "$ach" mk "$p-l-imu-state"
	user "$ach" put --hex aa "$p-l-imu-state"
	unset ACH_DIR
	lib_says 111 '' "ach echo: imu-state: no such channel; which robot was not said, and there are left, right: \
--robot takes one of them" user "$ach" echo imu-state
	user "$ach" echo --robot left imu-state | grep -q ' aa'
	mv "$tmp/endplate/left" "$tmp/endplate/robot"
	sed -i 's/^name .*/name robot/' "$tmp/endplate/robot/robot"
	user "$ach" echo imu-state 2>"$tmp/err" | grep -q ' aa'
	grep -q '^ach echo: channels of robot robot (there are .*right.*: --robot takes another)$' "$tmp/err"
	ACH_DIR=$tmp/shm user "$ach" rm "$p-l-imu-state"
}

test_no_channel_of_another_user_is_proposed() {
	lib_remove_channels "$p"
	[ "$(id -u)" -eq 0 ] || return 77
	local no="no such channel (ach ls lists those there are)"
	user() { setpriv --reuid "$1" --clear-groups "${@:2}"; }
	export ACH_DIR=$tmp/all ENDPLATE_RUN=$tmp/none
	mkdir -m 1777 "$tmp/all"
	chmod 711 "$tmp"
	user nobody "$ach" mk -o 666 foo-waist-state
	user nobody "$ach" mk -o 666 waist-sttae
	lib_says 111 '' "ach echo: waist-state: $no" user daemon "$ach" echo waist-state
	lib_says 111 '' "ach info: waist-state: $no" "$ach" info waist-state
	lib_says 111 '' \
		"ach echo: waist-state: no such channel; did you mean foo-waist-state? (ach ls lists those there are)" \
		user nobody "$ach" echo waist-state
	user nobody "$ach" rm waist-sttae
	user nobody "$ach" chmod 000 foo-waist-state
	lib_says 111 '' "ach echo: waist-state: $no" user nobody "$ach" echo waist-state
	# the robot's own, to those who may read it
	mkdir -m 711 "$tmp/run"
	chown nobody "$tmp/run"
	user nobody "$ach" rm foo-waist-state
	user nobody "$ach" mk -o 644 waist-sttae
	lib_says 111 '' \
		"ach echo: waist-state: no such channel; did you mean waist-sttae? (ach ls lists those there are)" \
		env ENDPLATE_RUN="$tmp/run" "$ach" echo waist-state
	user nobody "$ach" rm waist-sttae
}

lib_functions "$tmp/log" "$@"

#!/bin/bash
# A launch file whose page or bridge needs network sockets, where the unit of the robot forbids them: one line says what
# to take out and what to write instead, and nothing is tried again.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
lib_tmp
tmp=$lib_folder
bare=$build/test/launch/check/no_network
export ENDPLATE_RUN=$tmp/run ENDPLATE_PREFIX=t-bare-$$-
PATH=$build:$PATH

launch() { # LINE: the bench of the waist with one more daemon
	sed "s|\.\./config|$PWD/config|; /^daemons:/a\  $1" launch/waist.launch >"$tmp/bench.launch"
}
forbidden="may open no network socket here (RestrictAddressFamilies= of its unit)"
refused() { # NAME UNIT
	local how="take $1 out of this file, and run it by a unit of its own: $2"
	lib_matches 100 "*bench.launch:*: $1: achstart $forbidden: $how*" "$bare" achstart "${@:3}" "$tmp/bench.launch"
}

test_a_launch_file_that_needs_a_network_socket_is_refused() {
	local line
	for line in 'page: {program: achweb, listen: 8765}' 'page: {program: achweb}'; do
		launch "$line"
		refused page 'systemctl enable --now achweb@bench.socket (achweb@.service)' --check
		refused page 'systemctl enable --now achweb@bench.socket (achweb@.service)'
	done
	launch 'ros: {program: achdds, args: [bench.dds]}'
	refused ros 'systemctl enable --now achdds@bench (achdds@.service)' --check
	achstart --check "$tmp/bench.launch" >/dev/null
	[ ! -e "$tmp/run/control" ]
}

test_a_launch_file_without_network_sockets_is_taken() {
	launch 'page: {program: achweb, args: [--listen, "unix:/run/page"]}'
	"$bare" achstart --check "$tmp/bench.launch" >/dev/null
}

# Started by hand, or by a unit of its own with such a line: status 100, with which no unit and no achstart tries again.
test_the_programs_say_so_themselves() {
	lib_matches 100 \
		"achweb: fatal: achweb $forbidden: run it by its own, systemctl enable --now achweb@ROBOT.socket *" \
		"$bare" achweb --port 0
	echo 'publish: {/joint_states: {channel: waist-state, rate: 5}}' >"$tmp/bench.dds"
	lib_matches 100 \
		"achdds: fatal: achdds $forbidden: run it by its own, systemctl enable --now achdds@ROBOT *" \
		"$bare" achdds "$tmp/bench.dds"
	"$bare" achdds --check "$tmp/bench.dds" >/dev/null
}

lib_functions "$tmp/log" "$@"

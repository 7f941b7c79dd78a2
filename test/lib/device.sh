# shellcheck shell=bash
# For tests of one driver and its simulated device on a soft wire: device_robot, then a list of steps, each with begin;
# the test ends with the first that fails.
# shellcheck source=test/scripts/lib.sh
. "${BASH_SOURCE[0]%/*}/../scripts/lib.sh"
lib_tmp
lib_go_first
PATH=$build:$PATH
export ENDPLATE_RUN=$lib_folder/run XDG_RUNTIME_DIR=$lib_folder ENDPLATE_PREFIX=t$$-
unset NOTIFY_SOCKET
p=$ENDPLATE_PREFIX
started=() step='' device='' driver='' config=$lib_folder/lab.yaml

begin() { # NAME: the step before has passed
	[ -z "$step" ] || lib_case "$step" true
	step=$1
}

device_end() {
	if [ "$step" != end ]; then
		lib_case "$step" false
		cat "$lib_folder"/{canwire,robotsim,driver}
		ach echo "$p$device-state" --last
	fi
	kill -KILL "${started[@]}" 2>/dev/null || true
	wait 2>/dev/null
	rm -rf "$lib_folder" /dev/shm/ach*-"$p"*
	lib_end
}
trap device_end EXIT

start() { # PROGRAM, or drvhost FILE.so
	"$@" --name "$device" --config "$config" 2>>"$lib_folder/driver" &
	driver=$!
	started+=("$driver")
}

stop() {
	kill "$driver"
	wait "$driver"
}

field() { ach echo "$p$device-state" --last | sed -n "s/^$1 = \(.*\)/\1/p"; }
logged() { grep -q "$1" "$lib_folder/driver"; }
is() { [ "$(field "$1")" = "$2" ]; }

device_robot() { # DEVICE BUS [ROBOT-FILE]: else the file is stdin
	device=$1
	if [ $# -eq 3 ]; then config=$3; else cat >"$config"; fi
	canwire run --outage 0 "$2" 2>"$lib_folder/canwire" &
	started+=($!)
	robotsim run "$config" 2>"$lib_folder/robotsim" &
	started+=($!)
}

# shellcheck shell=bash
# For tests of one driver and its simulated device on a soft wire: device_robot, then a list of steps, each with begin;
# the test ends with the first that fails.
. test/scripts/lib.sh
lib_tmp
lib_go_first
PATH=$build:$PATH
export ENDPLATE_RUN=$lib_folder/run XDG_RUNTIME_DIR=$lib_folder ENDPLATE_PREFIX=t$$-
unset NOTIFY_SOCKET
p=$ENDPLATE_PREFIX
started=() step='' device='' driver=''

begin() { # NAME: the step before has passed
	[ -z "$step" ] || lib_case "$step" true
	step=$1
}

device_end() {
	[ "$step" = end ] || { lib_case "$step" false; cat "$lib_folder/driver"; ach echo "$p$device-state" --last; }
	kill -KILL "${started[@]}" 2>/dev/null || true
	wait 2>/dev/null
	rm -rf "$lib_folder" /dev/shm/ach*-"$p"*
	lib_end
}
trap device_end EXIT

start() { # PROGRAM, or drvhost FILE.so
	"$@" --name "$device" --config "$lib_folder/lab.yaml" 2>>"$lib_folder/driver" &
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

device_robot() { # DEVICE BUS <ROBOT-FILE
	device=$1
	cat >"$lib_folder/lab.yaml"
	canwire run --outage 0 "$2" 2>"$lib_folder/canwire" &
	started+=($!)
	robotsim run "$lib_folder/lab.yaml" 2>"$lib_folder/robotsim" &
	started+=($!)
}

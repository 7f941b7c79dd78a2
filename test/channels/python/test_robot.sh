#!/bin/bash
# test_robot.sh: Robot of the Python module, and its examples, on a bench robot with two joints, with numpy and without.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh

lib_tmp
export LC_ALL=C PATH=$build:$PATH PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-pyr-$$- XDG_RUNTIME_DIR=$lib_folder
python=/usr/bin/python3 achstart=''
unset LD_LIBRARY_PATH # the module finds the libraries of its build

cleanup() {
	achctl stop >/dev/null 2>&1 || true
	[ -z "$achstart" ] || kill -9 "$achstart" 2>/dev/null || true
	for file in "$ENDPLATE_RUN"/state/*; do
		[ ! -f "$file" ] || kill -9 "$(sed -n 's/^pid //p' "$file")" 2>/dev/null || true
	done
	rm -rf "$lib_folder" /dev/shm/achshm-"$ENDPLATE_PREFIX"* /dev/shm/achbell-"$ENDPLATE_PREFIX"*
}
trap cleanup EXIT

ready() { achctl status | grep -q ' run, .*armed'; }
start() {
	achstart test/launch/pair.launch >"$lib_folder/achstart" 2>&1 &
	achstart=$!
	lib_until ready || { cat "$lib_folder/achstart"; return 1; }
}
passes() { # CLASS [VARIABLE=VALUE]: the tests of that class
	env "${@:2}" "$python" -W error test/channels/python/python_robot.py "$1" >"$lib_folder/out" 2>&1 ||
		{ cat "$lib_folder/out"; tail -n 30 "$lib_folder/achstart"; return 1; }
}

lib_case "a robot with two joints" start
"$python" -c 'import numpy' 2>/dev/null && numpy=NUMPY=1 || numpy=WITHOUT_NUMPY=1
for class in Interface Robots Trajectories Waits Examples; do
	lib_case "$class" passes "$class" "$numpy"
done
[ "$numpy" != NUMPY=1 ] || lib_case "Robots without numpy" passes Robots WITHOUT_NUMPY=1
lib_case "Levels, at last" passes Levels

lib_end

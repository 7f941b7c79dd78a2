#!/bin/bash
# Drivers in closed loop with recordings of their devices: a folder of loop/ is a case, see loop/README.md.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
. test/launch/loop/lib.sh
lib_tmp
PATH=$build:$PATH
export PATH

if ! unshare -minpf --mount-proc mount -t tmpfs tmpfs /run 2>/dev/null; then
	lib_ignore loop "no namespaces here"
	lib_end
	exit
fi

plays() { # CASE FOLDER
	mkdir "$2" && loop_copy "$1" "$2" && (cd "$2" && loop_play && diff expected report)
}
twice() { # CASE: the same report each time
	plays "$1" "$lib_folder/$1.1" && plays "$1" "$lib_folder/$1.2"
}

# Every line of a report in the walk is one of the cases.
walk_is_right() {
	local quoted=$lib_folder/quoted
	awk '/^```text/ { in_text = 1; next } /^```/ { in_text = 0 } in_text' hw-docs/guides/hunt-a-bug.md >"$quoted"
	[ "$(wc -l <"$quoted")" -ge 10 ] || return 1
	! cat test/launch/loop/{waist,waist-gain}/expected | grep -vxFf - "$quoted"
}
lib_case hunt_a_bug walk_is_right

for case in test/launch/loop/*/; do
	case=$(basename "$case")
	lib_case "$case" twice "$case"
done
lib_end

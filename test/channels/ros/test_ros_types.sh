#!/bin/bash
# The definitions of endplate_msgs agree with the tables, .msg with .idl, and the type hashes with all of them.
#
# test_ros_types.sh write: writes channels/ros/endplate_msgs again, after a change of channels/msg/types.h; the hashes
# that ros_map.c should have are printed.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
lib_tmp
work=$lib_folder
package=channels/ros/endplate_msgs
dump=$build/test/channels/ros/rosdump
trap 'rm -rf "$work"' EXIT

hashes() { python3 test/channels/ros/ros_types.py "$package/msg" "$1" <"$2"; } # IDL_FOLDER DUMP

if [ "${1:-}" = write ]; then
	"$dump" "$package"
	"$dump" >"$work/dump"
	hashes "$package/idl" "$work/dump"
	exit
fi

follows_tables() {
	mkdir "$work/package"
	"$dump" "$work/package" || return 1
	# These two have no table: ros_types.py compares them with their .msg.
	cp "$package/idl/EstopRaise.idl" "$package/idl/CanFrame.idl" "$work/package/idl"
	diff -r "$work/package/msg" "$package/msg" && diff -r "$work/package/idl" "$package/idl" && return
	echo "endplate_msgs does not follow the tables: run test/channels/ros/test_ros_types.sh write"
	return 1
}
workspace() { # builds every .msg
	diff <(cd "$package" && printf '%s\n' msg/*) <(sed -n 's/^  "\(msg\/.*\)"$/\1/p' "$package/CMakeLists.txt")
}
other_hash() { sed '1s/RIHS01_a/RIHS01_b/' "$work/dump" >"$work/other" && lib_not hashes "$package/idl" "$work/other"; }
other_schema() {
	sed '0,/float64/s//float32/' "$work/dump" >"$work/other" && lib_not hashes "$package/idl" "$work/other"
}
other_idl() {
	cp -r "$package/idl" "$work/idl"
	sed -i 's/double voltage/uint64 voltage/' "$work/idl/Battery.idl"
	lib_not hashes "$work/idl" "$work/dump" >"$work/said" && grep -q 'Battery: .msg and .idl differ' "$work/said"
}

"$dump" >"$work/dump"
lib_case "definitions follow the tables" follows_tables
lib_case "a workspace builds every message" workspace
lib_case "hashes of schemas, .msg and .idl" hashes "$package/idl" "$work/dump"
lib_case "another hash is noticed" other_hash
lib_case "another schema is noticed" other_schema
lib_case "another .idl is noticed" other_idl
lib_end

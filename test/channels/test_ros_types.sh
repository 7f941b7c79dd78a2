#!/bin/bash
# The definitions of endplate_msgs agree with the tables, .msg with .idl, and the type hashes with all of them.
#
# test_ros_types.sh write: writes channels/ros/endplate_msgs anew, after a change of channels/msg/types.h; the hashes
# that ros_map.c should have are printed.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
package=channels/ros/endplate_msgs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "${1:-}" = write ]; then
	"$build/test/channels/rosdump" "$package"
	"$build/test/channels/rosdump" | python3 test/channels/ros_types.py "$package/msg" "$package/idl"
	exit
fi
mkdir "$work/package"
"$build/test/channels/rosdump" "$work/package"
for name in EstopRaise CanFrame; do # these have no table: ros_types.py compares them with their .msg
	cp "$package/idl/$name.idl" "$work/package/idl"
done
for part in msg idl; do
	diff -r "$work/package/$part" "$package/$part" || {
		echo "endplate_msgs does not follow the tables: run test/channels/test_ros_types.sh write" >&2
		exit 1
	}
	for file in "$package/$part"/*; do # those that a ROS 2 workspace builds
		[ "$part" = idl ] || grep -q "\"msg/$(basename "$file")\"" "$package/CMakeLists.txt" ||
			{ echo "CMakeLists.txt lacks $(basename "$file")" >&2; exit 1; }
	done
done
"$build/test/channels/rosdump" | python3 test/channels/ros_types.py "$package/msg" "$package/idl"

# A wrong hash, a changed .idl and a changed schema are noticed.
"$build/test/channels/rosdump" >"$work/dump"
sed '1s/RIHS01_a/RIHS01_b/' "$work/dump" >"$work/other"
sed '0,/float64/s//float32/' "$work/dump" >"$work/schema"
cp -r "$package/idl" "$work/idl"
sed -i 's/double voltage/uint64 voltage/' "$work/idl/Battery.idl"
unnoticed() { # FOLDER FILE
	python3 test/channels/ros_types.py "$package/msg" "$1" <"$2" >"$work/said" || return 1
	echo "a change in $1 and $2 was not noticed" >&2
}
if unnoticed "$package/idl" "$work/other" || unnoticed "$package/idl" "$work/schema" ||
	unnoticed "$work/idl" "$work/dump"; then
	exit 1
fi
grep -q 'endplate_msgs/msg/Battery: .msg and .idl differ' "$work/said"
echo "endplate_msgs: definitions and hashes agree"

#!/bin/bash
# test/launch/soak.sh (make soak): thousands of deaths of the robot's daemons, and a thousand starts and stops.
#
# ROBOT_KILLS (1500) for each of three ways to die, about 0.6 s each; ROBOT_CYCLES (1000).  What fails shows its seed.
set -eu
cd "$(dirname "$0")/../.."

build=${BUILD:-build}
export BUILD=$build ROBOT_KILLS=${ROBOT_KILLS:-1500} ROBOT_CYCLES=${ROBOT_CYCLES:-1000}
mkdir -p "$build/soak"
failed=0
for test in chaos death trouble; do
	log=$build/soak/achstart_$test start=$SECONDS
	if "$build/test/launch/test_achstart_$test" >"$log" 2>&1; then
		printf 'soak achstart %-8s ok, %d s: %s\n' "$test" $((SECONDS - start)) \
			"$(grep -a '^chaos' "$log" | tail -n 1)"
	else
		failed=1
		printf 'soak achstart %-8s FAILED, %d s\n' "$test" $((SECONDS - start))
		sed 's/^/    | /' "$log"
	fi
done
exit $failed

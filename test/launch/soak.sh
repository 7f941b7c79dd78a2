#!/bin/bash
# test/launch/soak.sh (make soak): thousands of deaths of the robot's daemons, and a thousand starts and stops; then
# scripts/experiment-waist in full, on the virtual clock: a robot that balances while its drivers are killed.
#
# ROBOT_KILLS (1500) for each of three ways to die, about 0.6 s each; ROBOT_CYCLES (1000); WAIST_KILLS (500), about 6 s
# each.  What fails shows its seed.
# Hubo walks in place for HUBO_SOAK (600) seconds, on the virtual clock and in real time.
# Then VIRTUAL_FREEZES (10) runs of a minute on the virtual clock, whose processes are frozen at random instants.
set -eu
cd "$(dirname "$0")/../.."

build=${BUILD:-build}
export BUILD=$build ROBOT_KILLS=${ROBOT_KILLS:-1500} ROBOT_CYCLES=${ROBOT_CYCLES:-1000}
mkdir -p "$build/soak"
failed=0
for test in chaos death trouble; do
	log=$build/soak/achstart_$test start=$SECONDS
	if "$build/test/launch/achstart/test_achstart_$test" >"$log" 2>&1; then
		printf 'soak achstart %-8s ok, %d s: %s\n' "$test" $((SECONDS - start)) \
			"$(grep -a '^chaos' "$log" | tail -n 1)"
	else
		failed=1
		printf 'soak achstart %-8s FAILED, %d s\n' "$test" $((SECONDS - start))
		sed 's/^/    | /' "$log"
	fi
done
VIRTUAL_FREEZES=${VIRTUAL_FREEZES:-10} bash test/launch/achstart/test_virtual.sh freezes || failed=1
HUBO_SOAK=${HUBO_SOAK:-600} bash test/launch/hubo/test_hubo.sh || failed=1
log=$build/soak/experiment_waist start=$SECONDS
if scripts/experiment-waist --runs "${WAIST_KILLS:-500}" --startup-sweep --critical-sweep \
	--report "$build/soak/experiment-waist" >"$log" 2>&1; then
	printf 'soak experiment-waist ok, %d s\n' $((SECONDS - start))
else
	failed=1
	printf 'soak experiment-waist FAILED, %d s\n' $((SECONDS - start))
fi
sed 's/^/    | /' "$log"
exit $failed

#!/bin/bash
# test/channels/ach/soak.sh (make soak): the random tests of channels for minutes instead of seconds, and the model with
# larger bounds.
#
# SOAK_MINUTES (10) is shared out among them.  One after the other, so that each has the machine to itself; the output
# of a failing test is shown, the rest lies in $BUILD/soak.
set -eu
cd "$(dirname "$0")/../../.."

build=${BUILD:-build}
seconds=$((${SOAK_MINUTES:-10} * 60))
logs=$build/soak
mkdir -p "$logs"
passed=0 failed=0

# soak NAME PERCENT VARIABLE: test_NAME with VARIABLE set to that share of the time; the rest is for its fixed part
soak() {
	local name=$1 share=$((seconds * $2 / 100)) log=$logs/$1 start=$SECONDS status=0

	env ${3:+"$3=$share"} timeout --kill-after=10 $((share * 10 + 600)) "$build/test/channels/ach/test_$name" \
		>"$log" 2>&1 || status=$?
	if [ "$status" -eq 0 ]; then
		passed=$((passed + 1))
		printf 'soak %-12s ok, %d s: %s\n' "$name" $((SECONDS - start)) "$(grep -aE "$4" "$log" | tail -n 1)"
	else
		failed=$((failed + 1))
		printf 'soak %-12s FAILED (%d), %d s\n' "$name" "$status" $((SECONDS - start))
		sed 's/^/    | /' "$log"
	fi
}

soak chaos 50 CHAOS_SECONDS '^chaos'
soak mixed_sizes 15 MIXED_SECONDS '^together'
soak scribble 20 SCRIBBLE_SECONDS '^scribbled'
soak create_race 5 RACE_SECONDS '^crowd'
soak kill_sweep 0 '' '^swept'
soak lost_wake 0 '' '^found'

# also NAME LINE COMMAND...: another command, and the line of its output to show
also() {
	local name=$1 line=$2 log=$logs/$1 start=$SECONDS

	if "${@:3}" >"$log" 2>&1; then
		passed=$((passed + 1))
		printf 'soak %-12s ok, %d s: %s\n' "$name" $((SECONDS - start)) "$(grep -aE "$line" "$log" | tail -n 1)"
	else
		failed=$((failed + 1))
		printf 'soak %-12s FAILED, %d s\n' "$name" $((SECONDS - start))
		sed 's/^/    | /' "$log"
	fi
}

also fuzz '^fuzz ' env FUZZ_SECONDS=$((seconds / 20)) BUILD="$build" test/fuzz/run
also model 'Tests' channels/model/verify --long

echo "soak: $passed passed, $failed failed in $((SECONDS / 60)) min"
[ "$failed" -eq 0 ]

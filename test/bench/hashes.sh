#!/bin/bash
# hashes.sh: is every run of a launch file on the virtual clock the same?  make bench-hashes
#
# N runs (50) of FILE (all launch files of which every bus is a soft wire), FOR (5s) of the robot's time each, two at a
# time in one folder of channels, beside BUSY (2 for each processor) busy loops.  A table of hashes and how often each
# came; exit status 1 if there are two hashes, or a run is not repeatable.
# shellcheck disable=SC2317 # called by a trap
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${BUILD:-$root/build}")
runs=${N:-50} length=${FOR:-5s} loops=${BUSY:-$(($(nproc) * 2))}
folder=$(mktemp -d -p /dev/shm hashes.XXXXXX)
busy=() failed=0
cleanup() {
	[ ${#busy[@]} -eq 0 ] || kill -KILL "${busy[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
	rm -rf "$folder"
}
trap cleanup EXIT

if [ -n "${FILE:-}" ]; then
	files=("$FILE")
else
	files=("$root"/launch/bench-*.launch "$root"/launch/{robot,waist,pendulum}.launch)
fi

# FILE NUMBER: what it prints at the end.
run() {
	local status=0
	mkdir "$folder/run.$2"
	ENDPLATE_RUN=$folder/run.$2 ENDPLATE_PREFIX=r$2- ACH_DIR=$folder PATH=$build:$PATH \
		timeout -s KILL 600 "$build/achstart" --virtual --for "$length" --seed 1 "$1" \
		>"$folder/out.$2" 2>"$folder/err.$2" ||
		status=$?
	if [ "$status" -ne 0 ]; then
		cat "$folder/err.$2" >&2
		echo "status $status" >>"$folder/out.$2"
	fi
	grep '^hash\|^not repeatable\|^status' "$folder/out.$2" | tr '\n' ' ' >"$folder/hash.$2"
	echo >>"$folder/hash.$2"
	rm -rf "$folder/run.$2" "$folder/r$2-"* "$folder/achshm-r$2-"*
}

for ((i = 0; i < loops; i++)); do
	while :; do :; done &
	busy+=($!)
done
for file in "${files[@]}"; do
	rm -f "$folder"/hash.*
	for ((n = 1; n <= runs; n += 2)); do
		run "$file" "$n" &
		second=$!
		[ "$n" -eq "$runs" ] || run "$file" $((n + 1))
		wait "$second"
	done
	echo "$(basename "$file"):"
	sort "$folder"/hash.* | uniq -c
	[ "$(sort -u "$folder"/hash.* | wc -l)" -eq 1 ] &&
		! grep -q 'not repeatable\|status' "$folder"/hash.* || failed=1
done
exit "$failed"

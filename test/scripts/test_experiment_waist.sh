#!/bin/bash
# scripts/experiment-waist in short: drivers of a robot that balances are killed, in virtual time, with a fixed seed.
set -eu
. test/scripts/lib.sh
lib_tmp
export BUILD=$build

experiment() { # DIR OPTION...
	local report=$lib_folder/$1
	shift
	scripts/experiment-waist --seed 7 --report "$report" "$@" >"$report.out" 2>&1 && return
	cat "$report.out"
	return 1
}
holds() { # DIR EXPRESSION: of the cases by their names
	python3 -c '
import json, sys
case = {case["name"]: case for case in json.load(open(sys.argv[1]))["cases"]}
sys.exit(not eval(sys.argv[2]))' "$lib_folder/$1/summary.json" "$2"
}
plots() {
	local name
	for name in undisturbed waist-pause waist-kill; do
		[ -s "$lib_folder/first/$name.svg" ] && [ -s "$lib_folder/first/$name.png" ] || return 1
	done
}

lib_case "kills of the waist's driver" experiment first --runs 1 --cases undisturbed,waist-pause,waist-kill
lib_case "all disturbances were looked at" holds first '[c["runs"] for c in case.values()] == [1, 1, 1]'
lib_case "no robot falls, no frame is stale" \
	holds first 'all(c["falls"] == c["stale_frames"] == 0 for c in case.values())'
lib_case "each kill is a time without the waist" \
	holds first '0 < case["waist-kill"]["fresh_ms"]["p50"] <= case["waist-kill"]["fresh_ms"]["max"] < 50'
lib_case "a pause is not" holds first 'case["waist-pause"]["fresh_ms"]["max"] is None'
lib_case "a line for each disturbance" [ "$(wc -l <"$lib_folder/first/runs.csv")" = 4 ]
lib_case "plots" plots
lib_case "critical drivers" experiment critical --runs 1 --cases imu-kill,wheels-kill,balance-kill
lib_case "the robot survives them" holds critical 'all(c["falls"] == 0 for c in case.values())'
lib_case "their gaps are seen" holds critical \
	'all(0 < case[d + "-kill"]["gap_max_ms"][d] < 100 for d in ("imu", "wheels", "balance"))'
# imud away for 0.7 s is more than the robot survives: the experiment must see the fall.
lib_case "a start-up of 0.7 s" experiment fall --runs 1 --cases imu-kill --startup 700
lib_case "is a fall" holds fall 'case["imu-kill"]["falls"] == 1'
# On a machine with other work a target may be missed: only that two disturbances of one robot are seen.
real() {
	scripts/experiment-waist --seed 7 --report "$lib_folder/real" --real --runs 2 --cases waist-kill \
		>"$lib_folder/real.out" 2>&1 || true
	cat "$lib_folder/real.out"
	[ -s "$lib_folder/real/summary.json" ]
}
lib_case "in real time" real
lib_case "both kills of a robot are seen" holds real 'case["waist-kill"]["runs"] == 2 and \
	case["waist-kill"]["fresh_ms"]["p50"] > 0 and case["waist-kill"]["missed_by_timers"] >= 0'
lib_end

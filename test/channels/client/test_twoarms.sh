#!/bin/bash
# test_twoarms.sh: both arms of Krang on the bench: they arrive together, on their way in every tick, and a force at a
# wrist stops them.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh

export PATH=$build:$build/channels/client/examples:$PATH
lib_tmp
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-arms-$$-
p=$ENDPLATE_PREFIX
achstart='' twoarms=$build/channels/client/examples/twoarms
cleanup() {
	local file
	[ -z "$achstart" ] || kill -9 "$achstart" 2>/dev/null || true
	for file in "$ENDPLATE_RUN"/state/*; do
		[ ! -f "$file" ] || kill -9 "$(sed -n 's/^pid //p' "$file")" 2>/dev/null || true
	done
	rm -rf "$lib_folder" /dev/shm/achshm-"$p"* /dev/shm/achbell-"$p"*
}
trap cleanup EXIT

cat >"$lib_folder/arms.launch" <<LAUNCH
include: $PWD/config/robots/bench-krang.yaml
arm: auto
daemons:
  canwire: {priority: 90}
  robotsim: {priority: 85}
  clock: {priority: 80}
  larm: {priority: 60}
  rarm: {priority: 60}
  lft: {priority: 58}
  rft: {priority: 58}
LAUNCH
cat "$lib_folder/arms.launch" - >"$lib_folder/way.launch" <<LAUNCH
  record: {program: ach, args: [record, --force, -o, $lib_folder/record, ${p}larm-state, ${p}larm-ref], needs: larm}
  twoarms: {program: twoarms, restart: never, needs: [larm, rarm, lft, rft]}
LAUNCH

ready() { achctl status --json | python3 -c 'import json, sys
r = json.load(sys.stdin)
sys.exit(r["level"] != "run" or not all(d["ready"] for d in r["daemons"]))'; }
begin() {
	achstart --rate 6 "$lib_folder/arms.launch" 2>"$lib_folder/achstart" &
	achstart=$!
	lib_until ready || { cat "$lib_folder/achstart"; return 1; }
}
position() { ach echo "${p}larm-state" --last --json | python3 -c 'import json, sys
print(json.load(sys.stdin)["position"][int(sys.argv[1])])' "$1"; }
near() { awk -v a="$(position "$1")" -v b="$2" 'BEGIN { exit !((a - b) ^ 2 < 0.000001) }'; }
moving() { awk -v a="$(position 1)" -v b="$1" 'BEGIN { exit !((a - b) ^ 2 > 0.01) }'; } # FROM

# The motion is what references say it is, less the way on which a joint at that speed would stop; 10 ms ahead.
follows() { # the same run each time
	achstart --virtual --for 13s "$lib_folder/way.launch" >"$lib_folder/achstart" 2>&1 || return
	grep 'twoarms.: done' "$lib_folder/achstart" || return
	ach echo "$lib_folder/record" --only "${p}larm-ref" --json >"$lib_folder/refs"
	ach echo "$lib_folder/record" --only "${p}larm-state" --json >"$lib_folder/states"
	python3 - "$lib_folder" <<'PYTHON'
import bisect
import json
import sys

refs, states = ([json.loads(line)["message"] for line in open(sys.argv[1] + "/" + name)] for name in ("refs", "states"))
way, worst, before = [], 0, 0
for r in refs:
    v, now = (r["velocity"][3] + before) / 2, r["velocity"][3]
    way.append((r["header"]["t_publish_ns"] / 1e9 + 0.010, r["position"][3] - v * abs(v) / 2 / 1.74))
    before = now
times = [t for t, _ in way]
for s in states:
    t = (s["header"]["t_publish_ns"] - s["age_ns"][3]) / 1e9
    i = bisect.bisect(times, t)
    if 0 < i < len(way) and times[i] - times[i - 1] < 0.0051:
        share = (t - times[i - 1]) / (times[i] - times[i - 1])
        worst = max(worst, abs(s["position"][3] - way[i - 1][1] - share * (way[i][1] - way[i - 1][1])))
assert len(way) > 1000 and worst < 0.0002, (len(way), worst)
PYTHON
}
lib_case "the arm is on its way in every tick" follows

lib_case begin begin

force_stops() { # TWOARMS...
	"$@" 9 2>"$lib_folder/said" &
	local pid=$! status=0 at
	at=$(position 1)
	lib_until moving "$at" || return
	robotsim set lft.1 force=0,0,25 || return
	wait "$pid" || status=$?
	cat "$lib_folder/said"
	[ "$status" = 1 ] || return
	grep -qE '^twoarms(\.py)?: lft: stopped: force is 2[45].*, above 20$' "$lib_folder/said" || return
	at=$(position 1)
	ach echo "${p}larm-state" --follow --count 40 >/dev/null # it stands, wherever it was
	near 1 "$at"
}
lib_case "a force at a wrist stops both" force_stops "$twoarms"
lib_case "and keeps them from moving" lib_matches 1 'twoarms: lft: stopped: force is *' "$twoarms"

python=(env PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -W error
	channels/python/examples/twoarms.py)
lib_case "in Python, too" lib_matches 1 'twoarms.py: lft: stopped: force is *' "${python[@]}"
robotsim set lft.1 force=0,0,0
lib_case "in Python a force at a wrist stops both" force_stops "${python[@]}"

stop() { achctl stop >/dev/null && wait "$achstart" && achstart=; }
lib_case stop stop
lib_end

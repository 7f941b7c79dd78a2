#!/bin/bash
# late.sh FOLDER: how late the loop's ticks are, beside cyclictest in the same run.
#
# hubo-daemon ticks every millisecond, on a soft wire, and cyclictest sleeps for one, both with the same priority and at
# the same time.  Lateness is from the time a tick was due to the first reading of the clock after it.
set -euo pipefail
folder=$1/late
programs=$1/..
seconds=${BENCH_SECONDS:-10}
mkdir -p "$folder"
export ENDPLATE_RUN=$folder ENDPLATE_PREFIX=bench$$late. PATH=$programs:$PATH
sweep() {
	jobs -p | xargs -r kill 2>/dev/null || true
	wait
	ach rm "$ENDPLATE_PREFIX"{clock,clock-req,clock-rep,clock-event,estop,estop-b,bus-late} 2>/dev/null || true
}
trap sweep EXIT

priority=60
chrt -f $priority true 2>/dev/null || priority=0
canwire run late >/dev/null 2>&1 &
hubo-daemon --name clock --bus wire:late --set priority=$priority >/dev/null 2>&1 &
sleep 1 # its start is not what is measured; the maximum below is that of all its ticks
cyclictest -q -m -t 1 -i 1000 -D "$seconds" -h 20000 -p $priority >"$folder/cyclictest.txt" 2>/dev/null
ach echo "${ENDPLATE_PREFIX}clock" --last --json >"$folder/clock.json"

python3 - "$folder" $priority <<'PY'
import json, sys
folder, priority = sys.argv[1], sys.argv[2]
counts = [(int(l.split()[0]), int(l.split()[1])) for l in open(folder + "/cyclictest.txt") if l[:1].isdigit()]
total = sum(n for _, n in counts)
def part(share):
    seen = 0
    for us, n in counts:
        seen += n
        if seen >= share * total:
            return us + 1  # it rounds down
    return counts[-1][0]
common = json.load(open(folder + "/clock.json"))["common"]
p99, most = common["late_p99_ns"] / 1e3, common["late_max_ns"] / 1e3
print(f"ticks of 1 ms, priority {priority}: lateness in us, {common['ticks']} ticks, {common['skipped']} skipped")
print(f"  the loop    p99 {p99:8.1f}   max {most:8.1f}")
print(f"  cyclictest  p99 {part(.99):8.1f}   max {max(us for us, n in counts if n):8.1f}   p50 {part(.5)}")
print(f"bench late.loop.p99 {p99:.1f} us")
print(f"bench late.cyclictest.p99 {part(.99)} us")
ratio = p99 / part(.99)
print(f"target late.ratio {ratio:.3f} <= 1.20 {'PASS' if ratio <= 1.2 else 'MISS'}")
PY

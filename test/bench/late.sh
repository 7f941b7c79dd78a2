#!/bin/bash
# late.sh FOLDER: how late the loop's ticks are, beside cyclictest in the same run.
#
# hubo-daemon ticks every millisecond, on a soft wire, and cyclictest sleeps for one, both with the same priority and at
# the same time, in rounds: where they meet in a millisecond, and on which core, is another matter in each.  Lateness is
# from the time a tick was due to the first reading of the clock after it; compared are the medians of the rounds.
set -euo pipefail
folder=$1/late
programs=$1/..
rounds=9 seconds=${BENCH_SECONDS:-4}
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
for ((round = 0; round < rounds; round++)); do
	hubo-daemon --name clock --bus wire:late --set priority=$priority >/dev/null 2>&1 &
	clock=$!
	cyclictest -q -m -t 1 -i 1000 -D "$seconds" -h 20000 -p $priority >"$folder/cyclictest.$round" 2>/dev/null
	ach echo "${ENDPLATE_PREFIX}clock" --last --json >"$folder/clock.$round"
	kill $clock
	wait $clock
done

python3 - "$folder" $rounds $priority <<'PY'
import json, statistics, sys
folder, rounds, priority = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def cyclictest(round):
    lines = [l.split() for l in open(f"{folder}/cyclictest.{round}") if l[:1].isdigit()]
    counts = [(int(us), int(n)) for us, n in lines]
    total, seen = sum(n for _, n in counts), 0
    for us, n in counts:
        seen += n
        if seen >= .99 * total:
            return us + 1, max(us for us, n in counts if n)  # it rounds down
def loop(round):
    common = json.load(open(f"{folder}/clock.{round}"))["common"]
    return common["late_p99_ns"] / 1e3, common["late_max_ns"] / 1e3
bare, ours = [cyclictest(i) for i in range(rounds)], [loop(i) for i in range(rounds)]
print(f"ticks of 1 ms, priority {priority}, {rounds} rounds: lateness in us, p99 of each round, and the maximum")
for name, rows in (("the loop", ours), ("cyclictest", bare)):
    print(f"  {name:10}", *(f"{p99:6.1f}" for p99, _ in rows), f"  max {max(m for _, m in rows):8.1f}")
p99, bare_p99 = (statistics.median(row[0] for row in rows) for rows in (ours, bare))
print(f"bench late.loop.p99 {p99:.1f} us")
print(f"bench late.cyclictest.p99 {bare_p99:.1f} us")
print(f"target late.ratio {p99 / bare_p99:.3f} <= 1.20 {'PASS' if p99 <= 1.2 * bare_p99 else 'MISS'}")
PY

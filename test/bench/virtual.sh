#!/bin/bash
# virtual.sh FOLDER: how fast a robot runs on the virtual clock, what an instant costs, and where that goes.
#
# The bench robot, and eight buses with two nodes each that fill 70 % of them.  The ratio to life is by the wall clock,
# and by the processor time of all processes, which is what it would be on a core without other load.
set -euo pipefail
exec python3 - "$1" "$(dirname "$0")/../.." "${BENCH_SECONDS:-10}" <<'PY'
import os, re, shutil, subprocess, sys, tempfile, time

folder, root, seconds = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), float(sys.argv[3])
programs = os.path.dirname(folder)
FIRST = ["chrt", "--fifo", "1"]  # if it may, so that load beside it does not count
if subprocess.run(FIRST + ["true"], stderr=subprocess.DEVNULL).returncode:
    FIRST = []
BUS = [f"b{i}" for i in range(8)]


def eight_buses(place):
    with open(f"{place}/eight.yaml", "w") as text:
        print("robot: eight\nbuses:", *(f"  {bus}: {{interface: wire:{bus}, bitrate: 1000000}}" for bus in BUS),
              "devices:\n  clock: {driver: hubo-daemon, bus: b0, actuated: no}", sep="\n", file=text)
    with open(f"{place}/eight.launch", "w") as text:
        print(f"include: {place}/eight.yaml\nclock: none\ndaemons:\n  canwire: {{bus: [{', '.join(BUS)}]}}", *(
            f"  {bus}n{node}: {{program: {programs}/test/bench/bench_virtual, args: [{bus}, {node}], needs: canwire}}"
            for bus in BUS for node in (0, 1)), sep="\n", file=text)
    return f"{place}/eight.launch"


def spent(pid):
    """Seconds of processor time of a process, in user mode and in the kernel, and its name."""
    try:
        with open(f"/proc/{pid}/stat") as text:
            name, rest = re.match(r"\d+ \((.*)\) (.*)", text.read()).groups()
        with open(f"/proc/{pid}/schedstat") as text:
            all_s = int(text.read().split()[0]) / 1e9
        user, system = map(int, rest.split()[11:13])
        return name, all_s, user / max(user + system, 1)
    except (OSError, AttributeError):
        return None


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as text:
            return list(map(int, text.read().split()))
    except OSError:
        return []


def run(launch, place):
    """Sampled while it runs: the last sample of each process counts."""
    env = {k: v for k, v in os.environ.items() if k not in ("ENDPLATE_PREFIX", "NOTIFY_SOCKET", "ENDPLATE_CLOCK")}
    env.update(ENDPLATE_RUN=f"{place}/run", ACH_DIR=place, ENDPLATE_HASHES="1")
    began, last = time.monotonic(), {}
    with open(f"{place}/out", "w+") as out:
        command = FIRST + [f"{programs}/achstart", "--virtual", "--for", f"{seconds}s", launch]
        achstart = subprocess.Popen(command, env=env, cwd=root, stdout=out, stderr=subprocess.STDOUT)
        while achstart.poll() is None:
            for pid in [achstart.pid] + children(achstart.pid):
                last[pid] = spent(pid) or last.get(pid)
            time.sleep(0.02)
        out.seek(0)
        said = out.read()
    if achstart.returncode or "hash" not in said:
        sys.exit(f"virtual.sh: {launch}:\n{said}")
    found = re.search(r"^turns (\d+), rounds (\d+), instants (\d+)$", said, re.M)
    return time.monotonic() - began, [one for one in last.values() if one], list(map(int, found.groups()))


def report(name, title, launch, place, target):
    real_s, processes, (turns, rounds, instants) = run(launch, place)
    total_s = sum(one[1] for one in processes)
    print(f"{title}: {seconds:g} s took {real_s:.2f} s, {total_s:.2f} s of a processor; {instants / seconds:.0f} "
          f"instants, {rounds / seconds:.0f} rounds, {turns / seconds:.0f} turns a virtual second")
    by_name = {}
    for program, all_s, user in processes:
        sums = by_name.setdefault(program, [0, 0, 0])
        sums[0] += 1
        sums[1] += all_s
        sums[2] += all_s * user
    for program, (n, all_s, user_s) in sorted(by_name.items(), key=lambda item: -item[1][1]):
        print(f"  {program:14} {n:3} {1e6 * all_s / instants:7.2f} us an instant, {100 * all_s / total_s:5.1f} %, "
              f"{100 * user_s / all_s if all_s else 0:3.0f} % of it in user mode")
    print(f"bench virtual.{name}.wall {seconds / real_s:.2f} x")
    print(f"bench virtual.{name}.processor {seconds / total_s:.2f} x")
    print(f"bench virtual.{name}.instant {1e6 * total_s / instants:.2f} us")
    print(f"bench virtual.{name}.turn {1e6 * total_s / turns:.2f} us")
    ratio = seconds / total_s
    print(f"target virtual.{name} {ratio:.2f} >= {target} {'PASS' if ratio >= target else 'MISS'}")


place = tempfile.mkdtemp(dir="/dev/shm", prefix="virtual-")
try:
    report("bench", "bench robot", f"{root}/launch/waist.launch", place, 5)
    shutil.rmtree(f"{place}/run", ignore_errors=True)
    report("eight", "eight buses, 70 % load, sixteen nodes", eight_buses(place), place, 1)
finally:
    for name in os.listdir(place):
        if name.startswith("achshm-"):
            subprocess.run([f"{programs}/ach", "rm", name[len("achshm-"):]], env={**os.environ, "ACH_DIR": place})
    shutil.rmtree(place)
PY

#!/bin/bash
# web.sh FOLDER: what achweb costs: processor time with ten pages open, and lateness of the drivers' ticks beside it.
#
# The robot is launch/robot.launch with achweb.  Rounds with and without pages take turns, so that both see the same
# machine.
set -eu
. test/scripts/lib.sh
lib_folder=$1/web
rounds=${BENCH_ROUNDS:-4} seconds=5
rm -rf "$lib_folder" && mkdir -p "$lib_folder" && mkdir -m 700 "$lib_folder/run"
export PATH=$build:$PATH ENDPLATE_PREFIX=web$$- ENDPLATE_RUN
ENDPLATE_RUN=$(realpath "$lib_folder/run")
unset NOTIFY_SOCKET LOGS_DIRECTORY
supervisor=
cleanup() {
	[ -z "$supervisor" ] || kill -TERM "$supervisor" || true
	wait
	lib_remove_channels "$ENDPLATE_PREFIX"
}
trap cleanup EXIT

{
	sed "s|include: \.\./|include: $PWD/|" launch/robot.launch
	printf '  achweb:\n    program: achweb\n    alive: watchdog\n    args: [--port, "0"]\n'
} >"$lib_folder/bench.launch"
achstart --real "$lib_folder/bench.launch" 2>"$lib_folder/achstart" &
supervisor=$!
is_armed() { achctl status --json | grep -q '"level":"run"'; }
lib_until is_armed

python3 - "$rounds" "$seconds" <<'PYTHON'
import json, os, socket, subprocess, sys, threading, time
sys.dont_write_bytecode = True
sys.path.insert(0, "test/web")
from session import Session
rounds, seconds = int(sys.argv[1]), float(sys.argv[2])


def ctl(*words):
    return subprocess.run(["achctl", *words], capture_output=True, text=True).stdout.strip()


def read(one, counts):
    try:
        while data := one.recv(1 << 16):
            counts.append(len(data))
    except OSError:
        pass


def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def driver(name):
    text = subprocess.run(["ach", "echo", os.environ["ENDPLATE_PREFIX"] + name + "-state", "--last", "--json"],
                          capture_output=True, text=True).stdout
    common = json.loads(text.splitlines()[-1])["common"]
    return common["ticks"], common["skipped"]


pid = {d["name"]: d["pid"] for d in json.loads(ctl("status", "--json"))["daemons"]}["achweb"]
session = Session(ctl("web"))
share = {0: [], 10: []}
skips = {0: 0, 10: 0}
ticks = {0: 0, 10: 0}
received = []
for turn in range(2 * rounds):
    n = 10 * (turn % 2)
    pages = [session.page().socket for _ in range(n)]
    threads = [threading.Thread(target=read, args=(one, received)) for one in pages]
    for thread in threads:
        thread.start()
    time.sleep(1)
    before, states, began = cpu(pid), {d: driver(d) for d in ("wheels", "waist", "imu")}, time.monotonic()
    time.sleep(seconds)
    share[n].append((cpu(pid) - before) / (time.monotonic() - began))
    for name, (t, s) in states.items():
        now = driver(name)
        ticks[n] += now[0] - t
        skips[n] += now[1] - s
    for one in pages:
        one.shutdown(socket.SHUT_RDWR)
        one.close()
    for thread in threads:
        thread.join()
for n in (0, 10):
    percent = 100 * sorted(share[n])[len(share[n]) // 2]
    print(f"achweb with {n:2} pages: {percent:.2f} % of a core; drivers made {ticks[n]} ticks and skipped {skips[n]}")
    print(f"bench web.cpu_{n}_pages {percent:.2f} percent")
    print(f"bench web.skipped_{n}_pages {skips[n]} ticks")
percent = 100 * sorted(share[10])[len(share[10]) // 2]
print(f"a page gets {sum(received) / rounds / 10 / (seconds + 1) / 1000:.0f} kB/s")
print(f"target web.cpu_10_pages {percent:.2f} <= 5.00 {'PASS' if percent < 5 else 'MISS'}")
PYTHON

#!/bin/bash
# starts.sh [--file FILE]... [--user root|plain|container]... [--n N] [--real] [--keep]: starts every bench launch file
# N times (20) beside two busy loops per processor, and counts the starts that reach their goal: standing, waving, both
# arms moving.
#
#	root		with real-time rights
#	plain		the user nobody, without them
#	container	root without real-time rights
#
# Each start is a line of BUILD/bench-starts.csv, and the table is of all lines there: parts add up.  Remove the file to
# begin again.  With --keep the folder of each start that failed stays.  BUILD: where the programs are.
set -euo pipefail
exec python3 - "$(dirname "$0")/../.." "$@" <<'PY'
import argparse, csv, json, os, re, shutil, signal, subprocess, sys, tempfile, time

os.chdir(sys.argv[1])
build = os.path.abspath(os.environ.get("BUILD", "build"))
results = f"{build}/bench-starts.csv"
LONGEST_S = 60

parser = argparse.ArgumentParser(prog="starts.sh")
parser.add_argument("--file", action="append")
parser.add_argument("--user", action="append", choices=("root", "plain", "container"))
parser.add_argument("--n", type=int, default=20)
parser.add_argument("--real", action="store_true", help="in real time, where that is not the default")
parser.add_argument("--keep", action="store_true", help="keep the folders of starts that failed")
options = parser.parse_args(sys.argv[2:])


def last(env, channel):
    """The newest message of a channel, or None."""
    command = [f"{build}/ach", "echo", channel, "--last", "--json"]
    said = subprocess.run(command, env=env, capture_output=True, text=True)
    try:
        return json.loads(said.stdout)
    except ValueError:
        return None


class Moves:
    """A joint has moved by a range."""
    def __init__(self, device, joint, range_rad):
        self.device, self.joint, self.range_rad, self.seen = device, joint, range_rad, []

    def reached(self, env):
        state = last(env, f"{self.device}-state")
        if state and state["count"] and state["common"]["lifecycle"] == "active":
            joint = state["joint"].index(self.joint) if self.joint else 0
            self.seen += [x for x in [state["position"][joint]] if x is not None]
        return bool(self.seen) and max(self.seen) - min(self.seen) >= self.range_rad

    def __str__(self):
        return f"{self.device} moved by {max(self.seen) - min(self.seen) if self.seen else 0:.2f} rad"


class Stands:
    """It has been standing for a while, during which its waist moved."""
    def __init__(self):
        self.since, self.mode, self.waist = None, "nothing heard", []

    def reached(self, env):
        state = last(env, "balance-state")
        if not state:
            return False
        self.mode = state["mode"]
        if self.mode != "standing":
            self.since, self.waist = None, []
            return False
        self.since = self.since or time.monotonic()
        self.waist.append(state["waist_position"])
        return time.monotonic() - self.since > 5 and max(self.waist) - min(self.waist) > 0.2

    def __str__(self):
        return self.mode


class Swings:
    """Its controller says so at its end."""
    def reached(self, env):
        with open(f"{env['ENDPLATE_RUN']}/log/events.log") as events:
            return "ctl info done: done: exit status 0" in events.read()

    def __str__(self):
        return "its controller has not ended well"


def waves():
    return [Moves("hubo-rarm", "REB", 0.6)]


# What is to be seen, and the devices that the example sine moves because no daemon does.
GOALS = {
    "waist": (lambda: [Moves("waist", None, 0.2)], ["waist"]),
    "robot": (lambda: [Stands()], []),
    "pendulum": (lambda: [Swings()], []),
    "bench-krang": (lambda: [Stands(), Moves("larm", None, 0.2), Moves("rarm", None, 0.2)], ["larm", "rarm"]),
    "bench-hubo": (waves, []),
    "bench-drc-hubo": (waves, []),
}


def as_user(user):
    """The words before a program."""
    rights = ["prlimit", "--rtprio=0:0"]
    if user == "root":
        return []
    if user == "plain":
        nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        return rights + (nobody if os.geteuid() == 0 else [])
    return rights + ["setpriv", "--bounding-set=-sys_nice,-ipc_lock"]


def has_real():
    help_text = subprocess.run([f"{build}/achstart", "--help"], capture_output=True, text=True).stdout
    return "--real" in help_text


def stop(child):
    """The robot, by the signal of Ctrl-C; then without mercy."""
    for how, wait_s in ((signal.SIGINT, 20), (signal.SIGKILL, 20)):
        if child.poll() is None:
            child.send_signal(how)
        try:
            child.wait(wait_s)
            return
        except subprocess.TimeoutExpired:
            pass


def start(launch, user):
    """Whether the goal was reached, after how many seconds, and what is missing."""
    name = os.path.basename(launch).removesuffix(".launch")
    goals, moved = GOALS[name][0](), GOALS[name][1]
    place = tempfile.mkdtemp(dir="/dev/shm", prefix="starts-")
    os.chmod(place, 0o755)
    if user == "plain" and os.geteuid() == 0:
        shutil.chown(place, "nobody", "nogroup")
    env = {k: v for k, v in os.environ.items()
           if k not in ("ENDPLATE_PREFIX", "NOTIFY_SOCKET", "ENDPLATE_CLOCK", "XDG_RUNTIME_DIR")}
    env.update(ENDPLATE_RUN=f"{place}/run", ACH_DIR=place, HOME=place, PATH=f"{build}:{env['PATH']}")
    words = as_user(user)
    reached, missing, children, began = False, "", [], time.monotonic()
    with open(f"{place}/out", "w") as out:
        robot = subprocess.Popen(words + ["achstart"] + (["--real"] if options.real and has_real() else []) + [launch],
                                 env=env, stdout=out, stderr=subprocess.STDOUT)
        try:
            while not reached and robot.poll() is None and time.monotonic() - began < LONGEST_S:
                time.sleep(0.25)
                if moved and not children and "all are ready" in open(f"{place}/out").read():
                    sine = words + [f"{build}/channels/client/examples/sine"]
                    children = [subprocess.Popen(sine + [device, "0", "0.2", "4", "600"], env=env,
                                                 stderr=subprocess.DEVNULL) for device in moved]
                try:
                    left = [goal for goal in goals if not goal.reached(env)]
                except OSError:
                    continue
                reached, missing = not left, "; ".join(map(str, left))
                if "fatal: given up" in open(f"{place}/out").read():
                    break
        finally:
            took_s = time.monotonic() - began
            for child in children:
                child.kill()
                child.wait()
            stop(robot)
    said = open(f"{place}/out").read()
    errors = re.findall(r"^achstart(?:\[[^]]*\])?: (?:error|fatal): .*", said, re.M)
    if reached or not options.keep:
        shutil.rmtree(place, ignore_errors=True)
    else:
        print(f"    kept: {place}")
    return reached, took_s, "" if reached else f"{missing}: {errors[0] if errors else 'no error'}", len(errors)


def table():
    rows, order = {}, []
    with open(results) as text:
        for line in csv.DictReader(text):
            key = line["file"], line["user"], line["clock"]
            if key not in rows:
                order.append(key)
            rows.setdefault(key, []).append(line)
    print(f"\n{'file':16} {'user':10} {'clock':8} {'reached':>10} {'median':>8} {'errors a start':>15}")
    for key in sorted(order):
        lines = rows[key]
        good = sorted(float(line["seconds"]) for line in lines if line["reached"] == "1")
        errors = sum(int(line["errors"]) for line in lines) / len(lines)
        print(f"{key[0]:16} {key[1]:10} {key[2]:8} {len(good):3} of {len(lines):3} "
              f"{f'{good[len(good) // 2]:.1f} s' if good else '-':>8} {errors:15.1f}")
    return all(line["reached"] == "1" for lines in rows.values() for line in lines)


files = options.file or [f"launch/{name}.launch" for name in GOALS]
users = options.user or ["root", "plain", "container"]
if os.geteuid():
    users = [user for user in users if user == "plain"]
    print("starts.sh: not root: only as a plain user")
wrong = [name for name in files if os.path.basename(name).removesuffix(".launch") not in GOALS]
if wrong:
    sys.exit(f"starts.sh: {wrong[0]}: no goal is known for it; it knows {', '.join(GOALS)}")
clock = "default" if not options.real else "real"
fresh = not os.path.exists(results)
load = [subprocess.Popen(["bash", "-c", "while :; do :; done"]) for _ in range(2 * os.cpu_count())]
try:
    with open(results, "a", newline="") as text:
        out = csv.writer(text)
        if fresh:
            out.writerow(["file", "user", "clock", "reached", "seconds", "errors", "missing"])
        for launch in files:
            name = os.path.basename(launch).removesuffix(".launch")
            for user in users:
                for n in range(options.n):
                    reached, took_s, missing, errors = start(launch, user)
                    said = f"reached after {took_s:.1f} s" if reached else missing
                    print(f"{name} {user} {n + 1}: {said}", flush=True)
                    out.writerow([name, user, clock, int(reached), f"{took_s:.1f}", errors, missing])
                    text.flush()
finally:
    for loop in load:
        loop.kill()
        loop.wait()
sys.exit(0 if table() else 1)
PY

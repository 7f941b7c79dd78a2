#!/bin/bash
# JSON of achctl: valid whatever bytes a STATUS or a line of the events holds, and cut between characters.
set -eu
. test/scripts/lib.sh
lib_tmp
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-sj-$$-
unset NOTIFY_SOCKET
supervisor=
cleanup() {
	if [ -n "$supervisor" ]; then
		kill -TERM "$supervisor" 2>/dev/null || true
		wait "$supervisor" 2>/dev/null || true
	fi
	find /dev/shm -maxdepth 1 -name "achshm-$ENDPLATE_PREFIX*" -printf '%f\n' | sed 's/^achshm-//' |
		xargs -r "$build/ach" rm
	rm -rf "$lib_folder"
}
trap cleanup EXIT

# A daemon that says what the file says.
cat >"$lib_folder/talker" <<'TALKER'
#!/usr/bin/env python3
import os, socket, sys, time
to = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
while os.path.exists(sys.argv[1]):
    to.sendto(b"READY=1\nSTATUS=" + open(sys.argv[1], "rb").read(), os.environ["NOTIFY_SOCKET"])
    time.sleep(0.002)
TALKER
chmod +x "$lib_folder/talker"
cat >"$lib_folder/talk.launch" <<LAUNCH
include: $(realpath config/robots/waist.yaml)
clock: none
daemons:
  talker: {program: $lib_folder/talker, args: [$lib_folder/status]}
LAUNCH

# What the bytes of every case come to: whole characters, at most 199 bytes before they are written as JSON.
cat >"$lib_folder/cases.py" <<'CASES'
import json, random, subprocess, sys
folder, achctl = sys.argv[1:3]
cases = [bytes([b]) * 3 for b in range(1, 256) if b != 10]
cases += [s.encode() for s in ('"', '\\', '\\"}', "\u2028a", "\u2029", "\u0085", "\u202e", "\u061c")]
cases += [s.encode() for s in ("\ufeff", "\uffff")]
cases += [b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80", b"caf\xc3"]
cases += [b"x" * n + s.encode() * 100 for s in ("\u00e9", "\u20ac", "\U0001f600") for n in range(4)]
random.seed(7)
cases += [random.randbytes(random.randrange(1, 300)).replace(b"\n", b"n").replace(b"\0", b"z") for _ in range(40)]

def valid(line):
    text = line.decode("utf-8")  # strict
    assert not any(c in text for c in "\u2028\u2029\u0085\u202e\u061c\x7f\x1b"), text
    return json.loads(text)

def status_of(n):
    for _ in range(3000):
        out = subprocess.run([achctl, "status", "--json"], stdout=subprocess.PIPE).stdout
        for daemon in valid(out)["daemons"]:
            if daemon["status"].startswith(f"{n}:"):
                return daemon["status"]
    sys.exit(f"case {n} is never shown: {out}")

for n, case in enumerate(cases):
    said = f"{n}:".encode() + case
    open(folder + "/status.new", "wb").write(said)
    subprocess.run(["mv", folder + "/status.new", folder + "/status"], check=True)
    got = status_of(n)
    try:
        whole = said.decode()
    except UnicodeDecodeError:
        continue
    assert whole.startswith(got) and (got == whole or len(got.encode()) > 199 - 4), (whole, got)

with open(folder + "/run/log/events.log", "ab") as log:
    for case in cases:
        log.write(b"2026-11-15 08:00:00.123456 waist info code: " + case + b"\n")
lines = subprocess.run([achctl, "events", "--json", "-n", "1000"], stdout=subprocess.PIPE, check=True).stdout
lines = [valid(line) for line in lines.split(b"\n") if line]
assert len(lines) >= len(cases), len(lines)
CASES

echo starting >"$lib_folder/status"
"$build/achstart" "$lib_folder/talk.launch" 2>"$lib_folder/said" &
supervisor=$!
lib_case started lib_until test -S "$ENDPLATE_RUN/control"
[ "$lib_failures" -eq 0 ] || cat "$lib_folder/said"
lib_case valid_whatever_is_said python3 "$lib_folder/cases.py" "$lib_folder" "$build/achctl"
rm "$lib_folder/status"
lib_end

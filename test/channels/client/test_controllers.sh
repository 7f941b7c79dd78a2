#!/bin/bash
# A whole robot with controllers, on the virtual clock: what dies while the waist moves through a trajectory.
#
# Each run has a /dev/shm, System V memory and processes of its own, so that runs do not meet.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if ! unshare -minpf --mount-proc mount -t tmpfs tmpfs /run 2>/dev/null; then
	lib_ignore controllers "no namespaces here"
	lib_end
	exit
fi

sed "s|^include: |include: $PWD/test/launch/|" test/launch/mux.launch >"$folder/mux.launch"
sed -i "/^groups/,\$d" "$folder/mux.launch"
cat >>"$folder/mux.launch" <<LAUNCH
  record: {program: ach, args: [record, --force, -o, $folder/record, waist-state, waist-mux-state], needs: control}
LAUNCH

# OPTION...: the robot for 6 s, and what its waist did.
run() {
	# shellcheck disable=SC2016 # for the shell inside
	unshare -minpf --kill-child --mount-proc bash -c '
		mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run
		unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR NOTIFY_SOCKET
		PATH=$0:$PATH
		timeout -s KILL 300 achstart --virtual --for 6s "$@"' \
		"$build" "$@" "$folder/mux.launch" >"$folder/out" 2>&1 || { cat "$folder/out"; return 1; }
	for name in waist-state waist-mux-state; do
		"$build/ach" echo "$folder/record" --only "$name" --json >"$folder/$name"
	done
}

# Velocity and acceleration stay within the limits, with the quantisation of the module; and it swings to the end.
check_motion() { # INCARNATION HANDOVERS: of the waist at the end, and of the sources at least
	python3 - "$folder" "$@" <<'PYTHON'
import json
import sys

folder, incarnation, handovers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
waist = [json.loads(line)["message"] for line in open(folder + "/waist-state")]
mux = [json.loads(line)["message"] for line in open(folder + "/waist-mux-state")]
samples = [(m["header"]["t_sample_ns"] / 1e9, m["position"][0], m["velocity"][0]) for m in waist
           if m["position"] and m["position"][0] is not None and m["header"]["t_sample_ns"]]
assert waist[-1]["header"]["incarnation"] == incarnation, waist[-1]["header"]
assert mux[-1]["handovers"] >= handovers, mux[-1]
assert [m["in_charge"] for m in mux if m["in_charge"]][-1] == "control"
for (t, p, v), (u, q, w) in zip(samples, samples[1:]):
    if u > t:
        assert abs(w) < 0.44, (u, w)
        assert abs(q - p) < 0.45 * (u - t) + 1e-4, (t, u, p, q)
        assert abs(w - v) < 1.74 * (u - t) + 0.012, (t, u, v, w)
# A driver killed in the turn brakes later, within the same limits: it goes further by what it moved meanwhile.
assert -0.32 < max(p for _, p, _ in samples) < -0.26
assert samples[-1][1] < -0.6, samples[-1]  # on its way back from -0.3
PYTHON
}

test_undisturbed() {
	run
	check_motion 1 1
}

test_the_driver_is_killed_while_the_waist_moves() {
	run --kill waist@1.5s
	check_motion 2 2
	run --kill waist@2.9s # in the turn
	check_motion 2 2
}

test_the_multiplexer_is_killed_while_the_waist_moves() {
	run --kill waist-mux@1.5s
	check_motion 1 1
}

lib_functions "$folder/log" "${1:-}"

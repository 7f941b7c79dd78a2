#!/bin/bash
# The relay of achdds between two machines: network namespaces, and clocks that are 5000 s apart.
#
# The robot has the driver of joint; the other machine has a controller that reads its states and writes its references.
# The bridges are on the real clock, so nothing is asserted about how long a message takes: that two clocks agree within
# what they say, that counts add up, and that references have ended, by the clock of the bridge.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
folder=$(mktemp -d)
export LC_ALL=C PATH=$build:$build/test/dds:$PATH
unset NOTIFY_SOCKET ROS_DOMAIN_ID XDG_RUNTIME_DIR CYCLONEDDS_URI ENDPLATE_PREFIX
machine_a=ra$$ machine_b=rb$$
cleanup() {
	local where
	for where in "$machine_a" "$machine_b"; do
		ip netns pids "$where" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
		ip netns del "$where" 2>/dev/null || true
	done
	for where in a b; do ACH_DIR=$folder/$where lib_remove_channels ''; done
	rm -rf "$folder"
}
trap cleanup EXIT

if ! ip netns add $machine_a 2>/dev/null || ! ip netns add $machine_b ||
	! unshare -T --monotonic 1 true 2>/dev/null; then
	lib_ignore relay "no namespaces here"
	lib_end
	exit
fi
ip -n "$machine_a" link add va type veth peer name vb netns $machine_b
ip -n "$machine_a" addr add 10.77.0.1/24 dev va
ip -n "$machine_b" addr add 10.77.0.2/24 dev vb
ip -n "$machine_a" link set va up
ip -n "$machine_b" link set vb up

on_a() { ip netns exec "$machine_a" env ACH_DIR="$folder/a" ENDPLATE_RUN="$folder/run.a" "$@"; }
on_b() {
	ip netns exec "$machine_b" env ACH_DIR="$folder/b" ENDPLATE_RUN="$folder/run.b" unshare -T --monotonic 5000 "$@"
}

is_empty() { [ -z "$(ip netns pids "$1")" ]; } # MACHINE
up() {
	for machine in "$machine_a" "$machine_b"; do
		ip netns pids "$machine" | xargs -r kill -KILL 2>/dev/null || true
		lib_until is_empty "$machine" # a bridge that ends later would leave its state to the next one
	done
	: >"$folder/said"
	for where in a b; do
		ACH_DIR=$folder/$where lib_remove_channels '' 2>/dev/null
		rm -rf "${folder:?}/$where" "$folder/run.$where" "$folder/state.$where"
		mkdir -m 700 "$folder/$where" "$folder/run.$where"
	done
	cat >"$folder/plan.a" <<-END
		interface: va
		peers: [10.77.0.2]
		relay: {name: k, send: [joint-state], receive: [joint-ref], who: anyone}
	END
	cat >"$folder/plan.b" <<-END
		interface: vb
		peers: [10.77.0.1]
		relay: {name: k, send: [joint-ref], receive: [joint-state]}
	END
	on_a every drive 200 3 &
	on_a achdds --state "$folder/state.a" "$folder/plan.a" 2>>"$folder/said" &
	on_b achdds --state "$folder/state.b" "$folder/plan.b" 2>>"$folder/said" &
	on_b every steer 200 >"$folder/steer" &
	lib_until steered 1
}
field() { # MACHINE LIST KEY
	/usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]][0][sys.argv[3]])' \
		"$folder/state.$1" "${@:2}"
}
more() { [ "$(field "$1" "$2" "$3")" -gt "$4" ]; } # MACHINE LIST KEY THAN
newest() { on_a ach echo --json --last "$1"; }
relayed() { on_b ach echo --json --last joint-state; }
steered() { [ "$(tail -n 1 "$folder/steer" | cut -d' ' -f1)" -ge "$1" ]; } # REFERENCES
doubts() { tail -n 1 "$folder/steer" | cut -d' ' -f3; }
doubtful() { [ "$(doubts)" -gt 0 ]; }
trusted() { [ "$(doubts)" = 0 ]; }

# A bridge writes its state each second of its clock.
is_another() { [ "$(stat -c %y "$folder/state.$1")" != "$2" ]; } # MACHINE TIME
next_state() { lib_until is_another "$1" "$(stat -c %y "$folder/state.$1")"; } # MACHINE

# The controller trusts the state, whose age is that by its own clock: the other one is 5000 s away.
is_plausible() {
	local age doubts
	read -r _ age doubts < <(tail -n 1 "$folder/steer")
	[ "$doubts" = 0 ] && [ "$age" -ge -100 ] && [ "$age" -le 100 ]
}
# An answer that is not held up comes soon.
is_exact() { [ "$(field "$1" clocks uncertainty_ns)" -le 5000000 ]; } # MACHINE
says_how_exact() { relayed | grep -qE '"uncertainty_us":[1-9][0-9]{0,3},'; }

test_states_and_references_cross_with_the_times_of_each_clock() {
	up
	lib_until steered 100
	lib_until more a receive received 100
	# The stamps of a state are of this clock, and so drivers take references.
	lib_until is_plausible
	newest joint-ref >"$folder/ref"
	# What one bridge has counted is not more than what the other one has sent by its next state.
	cp "$folder/state.a" "$folder/counted.a"
	cp "$folder/state.b" "$folder/counted.b"
	next_state a
	next_state b
	/usr/bin/python3 - "$folder/ref" "$folder"/counted.[ab] "$folder"/state.[ab] <<-'END'
		import json, sys
		ref, a, b, later_a, later_b = (json.load(open(file)) for file in sys.argv[1:])
		h = ref["header"]
		assert h["for_incarnation"] == 3, h
		assert 0 < h["valid_until_ns"] - h["t_publish_ns"] <= 50000000, h
		for state, other, ahead in ((a, later_b, 5000e9), (b, later_a, -5000e9)):
		    clock = state["clocks"][0]
		    assert abs(clock["offset_ns"] - ahead) <= clock["uncertainty_ns"], clock
		    here, there = state["receive"][0], other["send"][0]
		    assert here["age_ns"] + here["uncertainty_ns"] >= 0, here
		    numbers = there["sent"] + there["missed"] + there["dropped"]
		    assert here["received"] <= there["sent"], (here, there)
		    assert here["received"] + here["lost"] <= numbers, (here, there)
	END
	lib_until is_exact a
	lib_until is_exact b
	# Whole, with sequence and incarnation.
	relayed | grep -q '"incarnation":3,'
	# It says how exact its times are; on the robot itself they are exact.
	lib_until says_how_exact
	newest joint-state | grep -q '"uncertainty_us":0,'
}

test_a_cut_cable_ends_references_and_all_comes_back() {
	local before lost
	up
	lib_until steered 50
	ip -n "$machine_a" link set va down
	lib_until doubtful
	lib_until is_silent a # what was under way has come
	before=$(field a receive received)
	next_state a
	next_state a
	[ "$(field a receive received)" = "$before" ]
	# A second of its clock, which is many times the validity, has passed since the last one came.
	/usr/bin/python3 -c 'import json, sys, time
until = json.loads(sys.argv[1])["header"]["valid_until_ns"]
assert until < time.monotonic_ns(), until' "$(newest joint-ref)"
	lost=$(field b receive lost)
	ip -n "$machine_a" link set va up
	lib_until more a receive received $((before + 50))
	lib_until more b receive lost "$lost"
	lib_until trusted
}
is_silent() { # MACHINE: its next state counts no message more
	local before
	before=$(field "$1" receive received)
	next_state "$1"
	[ "$(field "$1" receive received)" = "$before" ]
}

test_a_reference_for_another_incarnation_is_refused() {
	local pid
	up
	lib_until more a receive received 50
	# For the incarnation of its first message, also later; the controller has another mode.
	on_b ach put joint-ref --type joint-ref --valid 50 --hz 100 --for 300 \
		--json '{"mode":["velocity","velocity"],"position":[0,0],"velocity":[0,0],"current":[0,0]}' &
	lib_until is_by_velocity
	for pid in $(ip netns pids "$machine_a"); do
		! grep -qz drive "/proc/$pid/cmdline" || kill -KILL "$pid"
	done
	on_a every drive 200 4 &
	lib_until said 'joint-ref: driver restarted'
	lib_until steered_for 4
	lib_until more a receive refused 0
	# Of all that the channel holds, nothing for the new incarnation is by velocity.
	on_a ach echo --json joint-ref >"$folder/refs"
	lib_not grep -E '"for_incarnation":4,.*"velocity"[],]' "$folder/refs"
}
is_by_velocity() { newest joint-ref | grep -q '"velocity"[],]'; }
said() { grep -qF -- "$1" "$folder/said"; }
steered_for() { newest joint-ref | grep -q "\"for_incarnation\":$1,"; }

lib_functions "$folder/log" "${1:-}"

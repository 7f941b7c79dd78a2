#!/bin/bash
# The command line that every driver has, tried on the smallest one.
# shellcheck disable=SC2317 # called by name
set -eu
cd "$(dirname "$0")/../../.."
. test/scripts/lib.sh
lib_tmp
exampled=$build/exampled
export ENDPLATE_RUN=$lib_folder/run XDG_RUNTIME_DIR=$lib_folder ENDPLATE_PREFIX=t$$-
unset NOTIFY_SOCKET
trap 'rm -rf "$lib_folder" /dev/shm/ach*-"$ENDPLATE_PREFIX"*' EXIT

cat >"$lib_folder/lab.yaml" <<'ROBOT'
robot: lab
buses:
  lab: {interface: wire:lab, bitrate: 500000}
  spare: {interface: can7}
devices:
  table:
    driver: exampled
    bus: lab
    settings: {node: 3, tick: 10ms}
    limits: {velocity: 2, acceleration: 4}
  other: {driver: pciod, bus: lab}
ROBOT
lab=$lib_folder/lab.yaml

# LINE ARGUMENT...: exit 100, and nothing but this line.
refused() {
	local line=$1 status=0
	shift
	"$exampled" "$@" >"$lib_folder/out" 2>"$lib_folder/err" || status=$?
	[ "$status" -eq 100 ] || { echo "exit status $status: $*"; cat "$lib_folder/err"; return 1; }
	echo "$line" | diff - "$lib_folder/err"
	[ ! -s "$lib_folder/out" ]
}

# WHAT ARGUMENT...: the same, of one called t.
fatal() {
	refused "exampled[t]: fatal: $1" --name t "${@:2}"
}

# KEY ARGUMENT...: that key of each frame, in a line each.
frames() {
	local key=$1
	shift
	"$exampled" "$@" --frames | python3 -c 'import json, sys
for frame in json.load(sys.stdin)["frames"]:
    print(frame[sys.argv[1]])' "$key"
}

# ---- what it says ----

test_help_names_every_option() {
	local option
	"$exampled" --help >"$lib_folder/help"
	for option in --name --bus --robot --config --set --frames --check --settings --help --version; do
		grep -q "^  $option\b" "$lib_folder/help"
	done
	[ "$(grep -c '^  --' "$lib_folder/help")" -eq 10 ]
}

test_version() {
	local version
	version=$(sed -n 's/^#define OPTIONS_VERSION "\([^"]*\)".*/\1/p' config/settings/options.h)
	[ "$("$exampled" --version)" = "exampled $version" ]
}

test_settings_are_listed() {
	local key
	"$exampled" --settings >"$lib_folder/settings"
	for key in tick priority core lock_memory ref_max any_incarnation balance joint_independent safe node; do
		grep -q "^$key " "$lib_folder/settings"
	done
	[ "$(grep -c '^[a-z]' "$lib_folder/settings")" -eq 11 ] # and the heading
}

test_check_is_silent() {
	[ -z "$("$exampled" --name table --bus can0 --check 2>&1)" ]
	[ -z "$("$exampled" --name table --config "$lab" --check 2>&1)" ]
	refused 'exampled[table]: fatal: a turntable has one bus, not 2' --name table --bus can0 --bus can1 --check
}

# ---- frames ----

test_frames_are_json() {
	"$exampled" --name table --bus can0 --frames | python3 -m json.tool >"$lib_folder/json"
	grep -q '"driver": "exampled"' "$lib_folder/json"
	[ "$(frames id --name table --bus can0 | tr '\n' ' ')" = '211 191 ' ]
	[ "$(frames dir --name table --bus can0 | tr '\n' ' ')" = 'tx rx ' ]
	[ "$(frames period_us --name table --bus can0 | tr '\n' ' ')" = '5000 5000 ' ]
}

# What canbudget and the closed-loop replay rely on, for each row.
test_frames_have_every_key() {
	"$exampled" --name table --bus can0 --frames | python3 -c 'import json, sys
o = json.load(sys.stdin)
assert set(o) == {"driver", "name", "tick_us", "frames", "claims", "channels"}, o
assert o["name"] == "table"
for f in o["frames"]:
    assert set(f) == set("bus id ext rtr fd brs dir len class moves shared key period_us deadline_us reply".split()), f
    assert f["dir"] in ("tx", "rx") and 0 <= f["len"] <= 8
    assert len(f["id"]) == (8 if f["ext"] else 3) and int(f["id"], 16) >= 0
    assert (f["class"] in ("urgent", "latest", "command", "queue")) == (f["dir"] == "tx")
    assert f["dir"] == "rx" or len(f["key"]) == 2 * f["len"]'
}

# ---- who wins ----

test_the_file_gives_settings_and_buses() {
	[ "$(frames id --name table --config "$lab" | tr '\n' ' ')" = '213 193 ' ]
	[ "$(frames bus --name table --config "$lab" | uniq)" = lab ]
	[ "$(frames period_us --name table --config "$lab" | head -n 1)" = 10000 ]
}

test_set_wins_over_the_file() {
	[ "$(frames id --name table --config "$lab" --set node=5 | head -n 1)" = 215 ]
	[ "$(frames id --name table --config "$lab" --set node=5 --set node=6 | head -n 1)" = 216 ]
}

test_bus_wins_over_the_file() {
	[ "$(frames bus --name table --config "$lab" --bus spare | uniq)" = spare ]
	[ "$(frames bus --name table --config "$lab" --bus vcan3 | uniq)" = vcan3 ]
	[ "$(frames bus --name table --config "$lab" --bus main=wire:x | uniq)" = main ]
}

test_buses_are_named_after_what_they_are() {
	[ "$(frames bus --name table --bus wire:torso | uniq)" = torso ]
	[ "$(frames bus --name table --bus wire:torso@me | uniq)" = torso ]
	[ "$(frames bus --name table --bus log:/tmp/some/trace.log@can1 | uniq)" = trace.log ]
	[ "$(frames bus --name table --bus log:trace.log\>sent | uniq)" = trace.log ]
	[ "$(frames bus --name table --bus 'log:/tmp/%' | uniq)" = bus ]
	[ "$(frames bus --name table --bus left=can0 | uniq)" = left ]
}

# ---- mistakes ----

test_mistakes_in_options() {
	refused "exampled: --name N is missing: the device's name, and that of its channels"
	refused 'exampled: --name: needs a value: --name N' --name
	refused 'exampled: --buss: unknown option; did you mean --bus? (exampled --help lists them)' --name t --buss=c
	refused 'exampled: "stray": it takes no arguments' --name t --bus can0 stray
}

test_mistakes_in_names() {
	local rule='a name has 1 to 23 of A-Z a-z 0-9 _ . -, a letter or digit first'
	refused "exampled[a/b]: fatal: --name: $rule" --name a/b --bus can0
	refused "exampled[]: fatal: --name: $rule" --name '' --bus can0
	refused "exampled[a23456789012345678901234]: fatal: --name: $rule" --name a23456789012345678901234 --bus can0
	fatal '--robot: a/b is not a valid name' --bus can0 --robot a/b
}

test_mistakes_in_buses() {
	fatal 'no bus: say --bus can0, or name the device'\''s file with --config'
	fatal '--bus: "=can0": the role before = is not a valid name' --bus =can0
	fatal '--bus: "wire:": a wire is named like wire:torso' --bus wire:
	fatal '--bus: "a-name-that-is-too-long": the name of an interface has at most 15 characters' \
		--bus a-name-that-is-too-long
	fatal '--bus: can0 is given twice' --bus can0 --bus left=can0
	fatal '--bus: two buses are called a: name them, as in left=wire:b' \
		--bus a=wire:a --bus a=wire:b
	fatal '--bus: more than 8 buses' --bus=can{0,1,2,3,4,5,6,7,8}
}

test_mistakes_in_settings() {
	fatal '--set: node: 16 is above the maximum 15' --bus can0 --set node=16
	fatal '--set: nod: unknown setting; did you mean node?' --bus can0 --set nod=1
	fatal '--set: "node" is not KEY=VALUE' --bus can0 --set node
	fatal '--set: tick: "fast" is not a tick such as 5ms, clock/5+1ms, frame torso 0x0AF 10ms or ref 2ms' \
		--bus can0 --set tick=fast
	fatal '--set: safe: "run" is not one of hold, zero-velocity, zero-current' \
		--bus can0 --set safe=run
	fatal '--set: ref_max: 201ms is above the maximum 200ms' --bus can0 --set ref_max=201ms
}

test_all_mistakes_are_reported_at_once() {
	refused 'exampled[t]: fatal: --bus: "wire:": a wire is named like wire:torso
exampled[t]: fatal: --set: node: 0 is below the minimum 1
exampled[t]: fatal: --set: nods: unknown setting; did you mean node?' --name t --bus wire: --set node=0 --set nods=1
}

# Ticks on the robot's clock are as long as its settings say.
test_a_slower_clock() {
	local slow=$lib_folder/slow.yaml
	local offset='a tick with an offset from 0 to less than its period, as in clock/5+1ms'
	sed -e 's/tick: 10ms/tick: clock\/5+7ms/' \
		-e '$a\  pace: {driver: hubo-daemon, bus: lab, settings: {tick: 4ms}, actuated: no}' "$lab" >"$slow"
	[ "$(frames period_us --name table --config "$slow" | head -n 1)" = 20000 ]
	sed -i 's/tick: 4ms/tick: 1ms/' "$slow"
	refused "exampled[table]: fatal: tick: clock/5+7ms; expected $offset" --name table --config "$slow"
	sed -i 's/ settings: {tick: 1ms},//' "$slow"
	refused "exampled[table]: fatal: tick: clock/5+7ms; expected $offset" --name table --config "$slow"
}

test_mistakes_in_files() {
	fatal '/nowhere/robot.yaml: No such file or directory' --config /nowhere/robot.yaml
	refused "exampled[tabel]: fatal: --name: there is no device tabel in $lab; did you mean table?" \
		--name tabel --config "$lab"
	refused "exampled[x]: fatal: --name: there is no device x in $lab" --name x --config "$lab"
	refused "exampled[other]: fatal: $lab:11: other: its driver is pciod, not exampled" --name other --config "$lab"
	sed 's/node: 3/node: 30/' "$lab" >"$lib_folder/bad.yaml"
	refused "exampled[table]: fatal: $lib_folder/bad.yaml:9: node: 30 is above the maximum 15" \
		--name table --config "$lib_folder/bad.yaml"
	sed 's/velocity: 2/velocity: -2/' "$lab" >"$lib_folder/bad.yaml"
	refused "exampled[table]: fatal: $lib_folder/bad.yaml:10: velocity: -2 is below the minimum 0 rad/s" \
		--name table --config "$lib_folder/bad.yaml"
}

# ---- running ----

# Starts it and waits until its channels are there.
start() {
	"$exampled" "$@" --set lock_memory=no 2>"$lib_folder/log" &
	driver=$!
	until "$build/ach" info "$ENDPLATE_PREFIX$name-state" >/dev/null 2>&1; do
		kill -0 "$driver"
		sleep 0.01
	done
}

test_two_drivers_for_one_device() {
	local status=0 name=first
	start --name first --bus wire:lab
	"$exampled" --name second --bus wire:lab 2>"$lib_folder/err" || status=$?
	[ "$status" -eq 112 ]
	echo "exampled[second]: fatal: 211 of wire:lab is taken by exampled, process $driver of uid $(id -u)" |
		diff - "$lib_folder/err"
	status=0
	# Another turntable on the same bus is another device,
	"$exampled" --name first --bus wire:lab --set node=2 2>"$lib_folder/err" || status=$?
	[ "$status" -eq 112 ] # but not under the same name
	grep -q "first-state .*is taken by exampled, process $driver" "$lib_folder/err"
	name=third
	local first=$driver
	start --name third --bus wire:lab --set node=2
	kill "$driver" "$first"
	wait "$driver"
	wait "$first"
	# What is free again can be taken.
	name=fourth
	start --name fourth --bus wire:lab
	kill "$driver"
	wait "$driver"
}

test_asked_to_stop_is_0_and_the_state_says_so() {
	local name=stopped
	start --name stopped --bus wire:lab
	kill "$driver"
	wait "$driver"
	[ "$("$build/ach" echo "${ENDPLATE_PREFIX}stopped-state" --last | sed -n 's/^common.lifecycle = //p')" = down ]
}

test_a_channel_of_another_size() {
	local status=0 channel=${ENDPLATE_PREFIX}small-state
	"$build/ach" mk --mode 600 "$channel" -n 8 -m 8
	"$exampled" --name small --bus wire:lab 2>"$lib_folder/err" || status=$?
	[ "$status" -eq 100 ]
	sed 's/([0-9]* bytes)/(N bytes)/' "$lib_folder/err" >"$lib_folder/line"
	echo "exampled[small]: fatal: channel $channel: too small for messages of type joint-state (N bytes):" \
		"remove it with ach rm $channel" | diff - "$lib_folder/line"
}

lib_functions "$lib_folder/log.txt" "${1:-}"

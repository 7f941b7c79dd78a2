#!/bin/bash
# pciod's command line: what is wrong is one line before anything moves.
set -eu
. test/scripts/lib.sh
lib_tmp
pciod=${BUILD:-build}/pciod

limits='{velocity: 0.4, acceleration: 1.7}'
cat >"$lib_folder/robot.yaml" <<YAML
robot: test
buses:
  a: {interface: wire:a}
  b: {interface: wire:b, clock: 100#0F}
  c: {interface: wire:c, clock: 080#}
devices:
  one: {driver: pciod, bus: a, settings: {modules: 15}, limits: $limits}
  list: {driver: pciod, bus: a, settings: {modules: "13,15"}, limits: $limits}
  two: {driver: pciod, bus: {left: a, right: b}, settings: {modules: "left:4-7,b:8-10"}, limits: $limits}
  none: {driver: pciod, bus: a}
  sync: {driver: pciod, bus: b, settings: {modules: 1-3, sync_motion: yes}, limits: $limits}
  synced: {driver: pciod, bus: c, settings: {modules: 1-3, sync_motion: yes}, limits: $limits}
YAML

check() { # NAME [SETTING...]
	local name=$1 setting
	shift
	set -- "$@"
	for setting; do
		shift
		set -- "$@" --set "$setting"
	done
	"$pciod" --name "$name" --config "$lib_folder/robot.yaml" "$@" --check
}
says() { # LINE NAME [SETTING...]: status 100 and this line alone
	local expected=$1 said status=0
	shift
	said=$(check "$@" 2>&1) || status=$?
	[ "$status" = 100 ] && [ "$said" = "pciod[$1]: fatal: $expected" ] && return
	echo "status $status, said: $said"
	return 1
}

lib_case "a module" check one
lib_case "two of them" check list
lib_case "two buses, by role and by name" check two
lib_case "sync motion where the clock's frame is" check sync
no_clock() { # BUS
	echo "sync_motion: moves would wait for ever: bus $1 has no clock frame 100#0F; write clock: 100#0F for it in" \
		"the robot file"
}
lib_case "sync motion where it is another" says "$(no_clock c)" synced
lib_case "sync motion without a clock's frame" says "$(no_clock a)" one sync_motion=yes
lib_case "no module 0" says "modules: 0: modules have the numbers 1 to 31" one modules=0
lib_case "no module 32" says "modules: 32: modules have the numbers 1 to 31" one modules=32
lib_case "none twice" says "modules: module 15 of a is there twice; write it once" one modules=15,a:15
lib_case "an unknown bus" says 'modules: "c": this device has no such bus; there is a, b' two modules=c:4
lib_case "a bus without modules" says "bus b: none of the modules is on it; leave it out, or name one in modules" \
	two modules=a:4
lib_case "a bus that is not named" says 'modules: "4": on which bus? write a:4; there are a, b' two modules=4
lib_case "a tick that does not feed the watchdog" says \
	"tick: with 30ms modules are not fed often enough (module_watchdog); at most 25ms" one tick=30ms silent_after=1s
lib_case "a silence shorter than two ticks" says "silent_after: it must be at least 2 ticks, 10ms" \
	one silent_after=9ms
lib_case "lost before late" says "reply_lost: it must be at least reply_late, 20ms" one reply_lost=19ms

modules_are_required() {
	local said
	said=$(check none 2>&1) && return 1
	grep -q 'modules is missing' <<<"$said" || { echo "said: $said"; return 1; }
}
lib_case "modules are required" modules_are_required

frames() { # what leaves: id, class, length, moves, shared
	"$pciod" --name two --config "$lib_folder/robot.yaml" --frames | python3 -c '
import json, sys
for f in json.load(sys.stdin)["frames"]:
    if f["bus"] == "b":
        print(f["dir"], f["id"], f["class"], f["len"], f["moves"], f["shared"], f["deadline_us"],
              f["reply"] and f["reply"]["id"])'
}
expected_frames() {
	local module
	for module in 8 9 A; do
		echo "tx 0E$module urgent 1 False False 20000 0A$module"
		echo "tx 0E$module latest 6 True False 5000 0A$module"
		[ $module != 8 ] || echo "tx 100 latest 1 False True 10000 None"
		echo "tx 0E$module command 6 False False 20000 0A$module"
		echo "tx 0E$module command 1 True False 20000 0A$module"
		echo "tx 0C$module queue 2 False False 20000 0A$module"
	done
	for module in 8 9 A; do
		echo "rx 0A$module None 8 False False None None"
	done
}
lib_case "the frames are those of the page" diff <(expected_frames) <(frames)
lib_end

#!/bin/bash
# robotsim on a soft wire, as people and drivers meet it.  What a module does is tested in test_robotsim*.c.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
lib_tmp
canwire=$build/canwire robotsim=$build/robotsim file=config/robots/waist.yaml
server='' played=''

start_wire() {
	"$canwire" run --outage 0 torso >"$lib_folder/served" 2>&1 &
	server=$!
	lib_until "$canwire" stats torso
}
start() { # both, in a folder of their own; they end with their case
	ENDPLATE_RUN=$(mktemp -d "$lib_folder/run.XXXXXX")
	export ENDPLATE_RUN
	start_wire
	"$robotsim" run "$file" >"$lib_folder/played" 2>&1 &
	played=$!
	lib_until attached
}
attached() { "$canwire" stats torso | grep 'controller waist.15:' >/dev/null; }
reports() { "$robotsim" report waist.15 --json | grep -F -- "$1" >/dev/null; } # TEXT
number() { "$robotsim" report waist.15 --json | grep -o "\"$1\":[-0-9.]*" | cut -d: -f2; } # KEY

# FRAME: sends it, and prints what comes of it.
ask() {
	"$canwire" dump torso --as logger --count 2 >"$lib_folder/dumped" &
	local dumper=$!
	lib_until eval "'$canwire' stats torso | grep 'controller logger' >/dev/null"
	"$canwire" send torso "$1"
	wait "$dumper"
	tail -n 1 "$lib_folder/dumped" | cut -d' ' -f3
}
is() { [ "$@" ] || { echo "not so: $*"; return 1; }; }

# STATUS WORDS COMMAND...: ends with that status and says one line, in which these words are.
refused() {
	local want=$1 words=$2 status=0
	shift 2
	"$robotsim" "$@" >"$lib_folder/said" 2>&1 || status=$?
	cat "$lib_folder/said"
	[ "$status" -eq "$want" ] || { echo "status $status, not $want"; return 1; }
	[ "$(wc -l <"$lib_folder/said")" -eq 1 ] && grep -qF -- "$words" "$lib_folder/said"
}

# DRIVER SETTINGS: what the driver refuses, robotsim refuses with the same words.
both_refuse() {
	local driver status=0
	printf '%s\n' 'robot: r' 'buses: {b: {interface: wire:b}}' \
		"devices: {a: {driver: $1, bus: b, settings: {$2}}}" >"$lib_folder/wrong.yaml"
	driver=$("$build/$1" --name a --config "$lib_folder/wrong.yaml" --check 2>&1) || status=$?
	is "$status" -eq 100 && [ -n "$driver" ] || return 1
	refused 100 "${driver#"$1[a]: fatal: "}" run --check "$lib_folder/wrong.yaml"
}

test_refuses_what_the_driver_refuses() {
	local wrong
	for wrong in '' 'modules: 0' 'modules: 7-4' 'modules: "c:4"' 'modules: four' 'modules: "4,4"' 'modules: [4]' \
		'modules: ""' 'modules: 4, modlues: 5' 'modules: 4, ack_ok: 256' 'modules: 4, ack_ok: "7"' \
		'modules: 4, module_watchdog: 1ms' 'modules: 4, home_offset_id: 0x58' 'modules: 4, sync_motion: 2' \
		'modules: 4, margin: 0.5' 'modules: 4, tick: fast' 'modules: 4, priority: 100' \
		'modules: 4, ref_max: 1s' 'modules: 4, safe: run'; do
		both_refuse pciod "$wrong"
	done
	for wrong in 'node: 0' 'node: 16' 'nod: 1' 'node: one' 'tick: 1us' 'balance: perhaps'; do
		both_refuse exampled "$wrong"
	done
}

test_vectors_of_the_page() {
	start
	is "$(ask 0CF#0A20)" = 0AF#0A200F
	is "$(ask 0CF#0A22)" = 0AF#0A2203
	is "$(ask 0EF#084F0000803E)" = 0AF#084F64
	is "$(ask 0CF#0A4F)" = 0AF#0A4F0000803E
	is "$(ask 0EF#0845000038C0)" = 0AF#084564
	is "$(ask 0CF#0A45)" = 0AF#0A45000038C0
	is "$(ask 0EF#0859000038C0)" = 0AF#085964
	is "$(ask 0CF#0A89)" = 0AF#0A89000038C0
	is "$(ask 0EF#02)" = 0AF#02
	is "$(ask 0EF#0B070000803E)" = 0AF#0B0700
	is "$(ask 0EF#00)" = 0AF#00
	is "$(ask 0EF#0B0700000000)" = 0AF#0B0764
	[[ $(ask 0EF#0B1100000000) == 0AF#0B11??????BF2000 ]]
}

# As a session's folder is with its end: the modules go on, and robotsim is found again.
test_removed_folder() {
	start
	mv "$ENDPLATE_RUN" "$ENDPLATE_RUN.away"
	lib_until reports '"name":"waist.15"'
	lib_until attached
	is "$(ask 0CF#0A20)" = 0AF#0A200F
	rm "$ENDPLATE_RUN/robotsim"
	lib_until reports '"name":"waist.15"'
	refused 111 "this robot is played already, by process $played" run "$file"
	kill "$played"
	wait "$played"
	is ! -e "$ENDPLATE_RUN/robotsim"
}

test_moves_until_halted() {
	local from

	start
	from=$(number position)
	"$canwire" send torso 0EF#0B11000080BE
	lib_until reports '"velocity":-0.250'
	"$canwire" send torso 100#02
	lib_until reports '"words":"homed,halted,brake'
	is "$(awk "BEGIN { print $(number position) < $from }")" = 1
	is "$(number halts)" -ge 1
	"$canwire" send torso 0EF#00
	lib_until reports '"state":"0x00008002"'
}

test_watchdog_trips() {
	local trips

	start
	trips=$(number trips)
	"$canwire" send torso 0EF#083918010001 100#07
	lib_until reports comm-error
	is "$(number trips)" -eq $((trips + 1))
	"$canwire" send torso 0EF#083918010000 0EF#00
	lib_until reports '"watchdog_us":"off"'
	lib_until lib_not reports comm-error
}

test_faults() {
	start
	"$robotsim" fault waist.15 motor-temperature
	reports motor-temperature
	"$canwire" send torso 0EF#00
	lib_until reports '"resets":1'
	reports motor-temperature
	"$robotsim" fault --clear waist.15 motor-temperature
	lib_not reports motor-temperature
	"$robotsim" fault waist.15 halted --clear
	"$robotsim" push waist.15 -5 10ms
	"$robotsim" set waist.15 reply_delay=1ms
	"$robotsim" set waist.15 reply_delay=300us
	refused 111 'did you mean tow-error' fault waist.15 tow-eror
	refused 111 'did you mean waist.15' fault waist.14 tow-error
	refused 111 'computed bit; cannot be set' fault waist.15 moving
	refused 111 'above the maximum 1' set waist.15 lose=2
	refused 111 'a torque in N m' push waist.15 hard 10ms
	refused 111 'did you mean waist.15' report wasit.15
}

test_silent() {
	start
	"$robotsim" fault waist.15 silent
	"$canwire" send torso 0CF#0A20
	lib_until reports '"lost":1'
	"$robotsim" fault waist.15 silent --clear
	is "$(ask 0CF#0A20)" = 0AF#0A200F
}

# Without power there is no acknowledgement.
test_power() {
	start
	"$robotsim" fault waist.15 power-off
	lib_until lib_not attached
	lib_not "$canwire" send torso 0CF#0A20
	"$robotsim" fault waist.15 power-on
	lib_until reports '"power":"on"'
	lib_until attached
	"$canwire" link torso reset # the frame that was not acknowledged
	is "$(ask 0CF#0A20)" = 0AF#0A200F
	reports '"words":"brake,ramp-end"' # not homed any more
	"$robotsim" fault waist.15 homed
	reports '"words":"homed,'
}

test_canwire_comes_back() {
	start
	kill -KILL "$server"
	wait "$server" || true
	lib_until reports '"controller":"absent"'
	start_wire
	lib_until attached
	is "$(ask 0CF#0A20)" = 0AF#0A200F
}

test_second_one() {
	start
	refused 111 "this robot is played already, by process $played" run "$file"
}

test_command_line() {
	export ENDPLATE_RUN=$lib_folder/none
	refused 100 'which command'
	refused 100 'did you mean report' reprot
	refused 100 'FILE' run
	refused 100 'no-such.yaml' run no-such.yaml
	refused 100 'did you mean --clear' fault --claer waist.15 silent
	refused 100 'not a valid name' report --robot a/b
	sed 's/torso:15/torso:99/' "$file" >"$lib_folder/bad.yaml"
	refused 100 'modules have the numbers 1 to 31' run "$lib_folder/bad.yaml"
	refused 100 'modules have the numbers 1 to 31' run --check "$lib_folder/bad.yaml"
	is "$("$robotsim" run --check "$file" | head -n 1)" = 'waist.15 on wire:torso'
	"$robotsim" run --settings | grep '^reply_delay ' >/dev/null
}

# Each command, option, setting and fault stands in the page.
test_page() {
	local word

	for word in $("$robotsim" --help | awk '/^  / { print $1 }'); do
		grep -q "Cm $word\$" daemons/robotsim/robotsim.1 || { echo "no $word"; return 1; }
		"$robotsim" "$word" --help | grep -oE '^ +--[a-z-]+' | tr -d ' ' | grep -v help >>"$lib_folder/options"
	done
	"$robotsim" run --settings | awk 'NR > 1 && /^[a-z]/ { print $1 }' >>"$lib_folder/options"
	"$robotsim" fault --help | awk '/^error/,0' | tr ' ' '\n' >>"$lib_folder/options"
	is "$(wc -l <"$lib_folder/options")" -gt 50
	while read -r word; do
		sed 's/Fl -/--/' daemons/robotsim/robotsim.1 | grep -qE -- "(^|[ ,])${word}([ ,.]|$)" ||
			{ echo "no $word"; return 1; }
	done <"$lib_folder/options"
}

test_json() {
	start
	ask 0CF#0A20
	"$robotsim" report --json | python3 -c '
import json, sys
(unit,) = json.load(sys.stdin)["units"]
assert unit["name"] == "waist.15" and unit["type"] == "PRL120" and unit["bus"] == "torso", unit
assert -2.88 <= unit["position"] <= 0 and unit["in"] == unit["out"] == 1, unit'
	"$robotsim" report >"$lib_folder/table"
	awk 'length > 80 { print; bad = 1 } END { exit bad }' "$lib_folder/table"
}

# READY not before it is on its bus; beats meanwhile.
test_ready_when_attached() {
	ENDPLATE_RUN=$lib_folder/other python3 - "$robotsim" "$canwire" "$file" "$lib_folder" <<-'END'
		import ctypes, os, signal, socket, subprocess, sys
		dies_with_us = lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL)
		robotsim, canwire, file, folder = sys.argv[1:]
		path = folder + "/notify"
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind(path)
		s.settimeout(30)
		wire = None
		sim = subprocess.Popen([robotsim, "run", file], env=dict(os.environ, NOTIFY_SOCKET=path),
		                       preexec_fn=dies_with_us)
		try:
		    beats = 0
		    while beats < 3:
		        text = s.recv(4096).decode()
		        assert "READY" not in text, text
		        beats += "WATCHDOG=1" in text
		    wire = subprocess.Popen([canwire, "run", "torso"], preexec_fn=dies_with_us)
		    while "READY=1" not in s.recv(4096).decode():
		        pass
		    sim.send_signal(signal.SIGTERM)
		    while "STOPPING=1" not in s.recv(4096).decode():
		        pass
		    assert sim.wait(30) == 0
		    assert not os.path.exists(os.environ["ENDPLATE_RUN"] + "/robotsim")
		finally:
		    sim.kill()
		    if wire:
		        wire.kill()
	END
}

# As its supervisor starts it again: a robot that had fallen is where it began, and both are counted.
test_killed_robotsim_begins_again() {
	local of_body=$lib_folder/body.yaml

	{
		cat "$file"
		echo 'body: {kind: krang, waist: waist, settings: {start: standing, disturbance: 20}}'
	} >"$of_body"
	file=$of_body start
	is "$("$robotsim" run --check "$of_body" | head -n 1)" = 'body krang'
	lib_until body_reports '"mode":"fallen"'
	body_reports '"falls":1,"starts":1'
	kill -KILL "$played"
	wait "$played" || true
	"$robotsim" run "$of_body" >"$lib_folder/played" 2>&1 &
	played=$!
	lib_until body_reports '"falls":1,"starts":2'
	"$robotsim" set body start=held
	"$robotsim" push body -80N 0.1s
	body_reports '"mode":"held"'
	kill -TERM "$played"
	wait "$played"
	is ! -e "$ENDPLATE_RUN/robotsim.starts"
}
body_reports() { "$robotsim" report body --json | grep -F -- "$1" >/dev/null; } # TEXT

test_stops() {
	start
	kill -TERM "$played"
	wait "$played"
	refused 111 'no robotsim runs for this robot' report
	is ! -e "$ENDPLATE_RUN/robotsim"
}

lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# canreplay --closed-loop with recordings made elsewhere: the start of several CANopen nodes by a foreign master, with
# remote frames, heartbeats, aborted and segmented transfers, and the same with a missing beginning and lost frames.
# The master is played, too: it is the driver.  On the virtual clock.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
. test/launch/loop/lib.sh
lib_tmp
PATH=$build:$PATH
export PATH
lib_need_namespaces loop_nodes

# Half a minute of three nodes and a master, candump's lines with times from the start of the recorder.
cat >"$lib_folder/nodes.py" <<'END2'
import random
chance = random.Random(20)
t, lines, toggle = 0.1445, [], {}

def say(frame, after=0.0):
    global t
    t += after
    lines.append((t, frame))

def sdo(node, request, reply, busy=0.004):
    say(f"{0x600 + node:03X}#{request}", 0.001)
    say(f"{0x580 + node:03X}#{reply}", busy * chance.uniform(0.5, 2))

def guard(node, state):
    toggle[node] = toggle.get(node, 0x80) ^ 0x80
    say(f"{0x700 + node:03X}#R1", 0.001)
    say(f"{0x700 + node:03X}#{toggle[node] | state:02X}", 0.0007)

for _ in range(20):                            # one node is already there
    say("728#7F", 1.009)
say("000#8100", 0.3)
for node in 0x0F, 0x28, 0x5A:
    say(f"{0x700 + node:03X}#00", 0.04)
for node in 0x0F, 0x28, 0x5A:
    sdo(node, "4000100000000000", f"43001000{node:02X}0200F0")
    sdo(node, "4000100000000000", f"43001000{node:02X}0200F0")  # asked twice
    sdo(node, "400C100000000000", "800C100000000206")           # an abort
    sdo(node, "2B17100078050000", "6017100000000000")
    sdo(node, "4008100000000000", "410810000F000000")           # segmented
    for i in range(3):
        sdo(node, f"{0x60 | (i % 2) << 4:02X}00000000000000", f"{(i % 2) << 4 | (i == 2):02X}{'41' * 7}")
say("000#0100", 0.02)
begin = t
for i in range(800):                          # process data, guarding, a heartbeat, an emergency
    say("080#", 0.01 + chance.uniform(-5e-4, 5e-4))
    for node in 0x0F, 0x5A:
        say(f"{0x200 + node:03X}#{i & 0xFFFF:04X}", 0.0002)
        say(f"{0x180 + node:03X}#{chance.randrange(1 << 32):08X}", 0.0004)
    if i % 50 == 0:
        guard(0x0F, 5)
    if i % 50 == 25:
        guard(0x5A, 5)
    if i % 100 == 7:
        say("728#05", 0.0003)
    if i == 234:
        say("0DA#1081110000000000", 0.0001)
for stamp, frame in lines:
    print(f"({stamp:017.6f}) can0 {frame}")
END2
python3 "$lib_folder/nodes.py" >"$lib_folder/nodes.log"

# What the master sends: by hand, as for any foreign driver.
master='000,080,20F,25A,60F,628,65A'
rows=
row() { rows+="${rows:+,}{\"bus\":\"can0\",\"dir\":\"tx\",$1}"; }
row '"id":"000","key":"FFFF"'
row '"id":"080"'
for node in 0F 28 5A; do
	row "\"id\":\"$(printf %03X $((0x600 + 0x$node)))\",\"key\":\"FFFFFFFF\",\"reply\":{\"id\":\"$(printf %03X \
		$((0x580 + 0x$node)))\",\"within_us\":100000}"
	row "\"id\":\"$(printf %03X $((0x200 + 0x$node)))\""
	row "\"id\":\"$(printf %03X $((0x700 + 0x$node)))\",\"rtr\":true,\"reply\":{\"id\":\"$(printf %03X \
		$((0x700 + 0x$node)))\",\"within_us\":50000}"
done
echo "{\"frames\":[$rows]}" >"$lib_folder/frames.json"
grep -E " (${master//,/|})#| 7..#R" "$lib_folder/nodes.log" >"$lib_folder/master.log"

# OPTION...: the recording bus.log with the master of master.log, in a folder of its own; report and exit status.
play() {
	local word args=
	for word; do args+=", '$word'"; done
	cp "$lib_folder/frames.json" .
	printf 'robot: loop\nbuses: {can0: {interface: wire:can0}}\ndevices: {}\n' >robot.yaml
	cat >replay.launch <<-EOF
		include: robot.yaml
		clock: none
		daemons:
		  canwire:
		  devices:
		    program: canreplay
		    args: [bus.log, --closed-loop, --frames, frames.json, --map, 'can0=wire:can0', --diff,
		      --report, report$args]
		    needs: canwire
		    alive: watchdog
		    restart: never
		  master:
		    program: canreplay
		    args: [master.log, --map, 'can0=wire:can0']
		    needs: devices
		    restart: never
	EOF
	rm -f report
	loop_achstart --for 50s replay.launch >said 2>&1 || { cat said && return 1; }
	[ -e report ] || { cat said log/devices.log; return 1; }
	tail -n 40 report
	sed 's/.*canreplay: //' log/devices.log
}
number() { sed -n "s/^ *\([0-9]*\) $1.*/\1/p" report; } # WORDS: before them in the report; nothing: not mentioned

test_a_whole_start() {
	cp "$lib_folder"/{nodes,master}.log . && mv nodes.log bus.log
	play
	grep -qx 'no difference' report
	[ "$(number 'frames of the driver were recorded')" -eq "$(wc -l <master.log)" ]
	[ "$(number 'answers played')" -eq $((3 * 8 + 2 * 16)) ]
	[ "$(number 'requests without an answer')" = '' ]
}

# The recorder was switched on late, and the master began before.
test_a_missing_beginning() {
	sed '1,/ 628#40081/d' "$lib_folder/nodes.log" >bus.log
	grep -xFf bus.log "$lib_folder/master.log" >master.log
	play
	grep -qx 'no difference' report
	{
		printf '(%s) can0 000#8100\n' "$(head -n 1 master.log | sed 's/(0*\([0-9]*\)\.\([0-9]*\)).*/\1 \2/' |
			awk '{ printf "%017.6f", $1 + $2 / 1e6 - 0.05 }')"
		cat master.log
	} >more.log
	mv more.log master.log
	play
	grep -q "^the recording begins in the middle: the driver's first request is not at its beginning" report
	[ "$(number 'requests without an answer')" -gt 0 ] # said, not made up
}

# Every 23rd line is lost: what is missing is said, and nothing is made up.
test_lost_frames() {
	local lost asked again unknown
	cp "$lib_folder/master.log" .
	awk 'NR % 23' "$lib_folder/nodes.log" >bus.log
	lost=$(grep -cvxFf bus.log master.log)
	play
	grep -q "^$lost differences" report
	awk '/^can0 / { others += $6 + $7 + $8 } END { exit others > 0 }' report # nothing but extra ones
	asked=$(grep -vxFf bus.log master.log | grep -cE ' 6..#|#R')
	again=$(number 'answers played again') unknown=$(number 'requests without an answer: the recording')
	[ "$again" -gt 0 ] && [ "$unknown" -gt 0 ] && [ $((again + unknown)) -eq "$asked" ]
}

# A master that writes another value, once.
test_another_value() {
	cp "$lib_folder/nodes.log" bus.log
	sed 's/65A#2B17100078050000/65A#2B17100079050000/' "$lib_folder/master.log" >master.log
	play
	grep -q '^1 difference' report
	grep -q '65A#2B17100078050000  *|  .*65A#2B17100079050000' report
}

work() {
	mkdir "$lib_folder/$1" && cd "$lib_folder/$1" && "_$1"
}
for test in $(declare -F | awk '$3 ~ /^test_/ { print $3 }'); do
	eval "_$(declare -f "$test")"
	eval "$test() { work $test; }"
done
lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# test_canbudget_plan.sh: canbudget(1) over the frames that drivers declare; the bounds are worked out by hand.
#
# At 1 Mbit/s a frame of 6 bytes takes at most 115 us, of 2 bytes 75 us, of 8 bytes 135 us.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh

export LC_ALL=C
budget=${BUILD:-build}/canbudget
lib_tmp
file=$lib_folder/x.json

# row ID LEN PERIOD_US DEADLINE_US [REPLY]: of a frame that is sent
row() {
	printf '{"bus":"torso","id":"%s","dir":"tx","len":%s,"period_us":%s,"deadline_us":%s,"reply":%s}' \
		"$1" "$2" "$3" "$4" "${5:+{\"id\":\"$5\"\}}" | sed 's/"reply":}/"reply":null}/'
}

# driver NAME TICK_US ROW...
driver() {
	local name=$1 tick=$2 IFS=,
	shift 2
	printf '{"driver":"d","name":"%s","tick_us":%s,"frames":[%s]}' "$name" "$tick" "$*"
}

# get EXPRESSION EXPECTED STATUS ARGUMENT...: of the object, as python prints it
get() {
	local expression=$1 expected=$2 status=$3 got code=0
	shift 3
	"$budget" "$@" --json >"$lib_folder/out" || code=$?
	[ "$code" = "$status" ] || { echo "status $code instead of $status"; return 1; }
	got=$(python3 -c 'import json, sys
o = json.load(open(sys.argv[2]))
bus = o["buses"][0]
f = {i["id"]: i for i in bus["frames"]}
print(eval(sys.argv[1]))' "$expression" "$lib_folder/out")
	[ "$got" = "$expected" ] && return
	printf '%s\n' "$*: $expression" "expected $expected" "got $got"
	return 1
}

test_one_driver() {
	# Two references and a question with an answer, which is above them and owed once from before.
	driver waist 5000 "$(row 0EF 6 5000 5000)" "$(row 0ED 6 5000 5000)" "$(row 0CF 2 5000 20000 0AF)" >"$file"
	get '[f[i]["response_ns"] for i in ("0EF", "0ED", "0CF", "0AF")]' \
		'[575000, 575000, 575000, 250000]' 0 --frames "$file"
	get '[f["0AF"][k] for k in ("kind", "driver", "len", "time_ns", "period_ns", "late")]' \
		"['answer', 'waist', 8, 135000, 5000000, False]" 0 --frames "$file"
	get '(bus["load_most"], bus["load_least"], bus["rate_hz"], bus["fits"], bus["advice"])' \
		'(0.088, 0.0728, 800.0, True, None)' 0 --frames "$file"
	# Half of the bit rate, twice the time.
	get 'f["0EF"]["response_ns"], bus["bitrate"]' '(1150000, 500000)' 0 --frames "$file" --bitrate torso=500k
}

test_standard_input() {
	driver waist 5000 "$(row 0EF 6 5000 5000)" | "$budget" --frames - |
		grep -q '^0EF  *waist  *1  *6 .* 115.0us  *115.0us'
}

test_table() {
	driver waist 5000 "$(row 0EF 6 5000 5000)" "$(row 0CF 2 1666.667 20000)" "$(row 0FF 1 null 100)" >"$file"
	lib_says 0 'bus               bit rate      data   least    most  frames/s  room for modules at 100 Hz
torso              1000000         -    5.7%    6.8%       800  14

torso
id        from                    count  len     every    takes  at worst  deadline
0CF       waist                       3    2   5.000ms  75.00us   405.0us   20.00ms
0EF       waist                       1    6   5.000ms  115.0us   405.0us   5.000ms
1 kinds of frames are sent at any time: each may block others once, and has no bound' '' "$budget" --frames "$file"
}

test_late_frames_and_advice() {
	driver larm 1000 "$(row 010 8 1000 1000)" "$(row 011 8 1000 1000)" "$(row 012 8 1000 300)" >"$file"
	get '[(i, f[i]["late"]) for i in sorted(f)], bus["fits"], bus["late"]' \
		"([('010', False), ('011', False), ('012', True)], False, 1)" 1 --frames "$file"
	"$budget" --frames "$file" >"$lib_folder/out" && return 1
	grep -qx 'torso does not fit: load 40.5%, 1 kinds of frames late: give larm another bus' "$lib_folder/out"
	grep -q '^012 .* 405.0us  *300.0us  LATE$' "$lib_folder/out"
	# Two of a kind in each tick; the deadline of 011 is its period, and grows with the tick.
	driver larm 1000 "$(row 010 8 500 1000)" "$(row 011 8 500 500)" "$(row 012 8 1000 1000)" \
		"$(row 013 8 500 1000)" >"$file"
	"$budget" --frames "$file" >"$lib_folder/out" && return 1
	grep -qx 'torso does not fit: load 94.5%, 1 kinds of frames late: it fits with a tick of 2 ms for larm '\
'instead of 1 ms' \
		"$lib_folder/out"
}

test_clashes() {
	printf '{"buses":[{"name":"torso","bitrate":1000000}],"drivers":[%s,%s]}' \
		"$(driver a 5000 "$(row 0EF 6 5000 5000)")" "$(driver b 5000 "$(row 0EF 6 5000 5000)")" >"$file"
	get 'o["clashes"]' "[{'bus': 'torso', 'id': '0EF', 'drivers': ['a', 'b']}]" 1 --frames "$file"
	"$budget" --frames "$file" >"$lib_folder/out" && return 1
	grep -qx 'torso: identifier 0EF is sent by a and by b: give one of them other ids, or another bus' \
		"$lib_folder/out"
}

test_offsets() {
	printf '{"drivers":[%s,%s]}' \
		"$(driver larm 5000 "$(row 0EF 8 5000 5000 0AF)")" \
		"$(driver lft 10000 "$(row 200 0 10000 4000 201)")" >"$file"
	get '[(d["name"], d["offset_ns"]) for d in o["drivers"]]' "[('larm', 0), ('lft', 300000)]" 0 --frames "$file"
	"$budget" --frames "$file" | grep -qx 'offsets that spread the ticks of drivers on one bus: lft +300.0us'
}

test_fd_frames_have_two_bit_rates() {
	local fd='{"bus":"torso","id":"123","dir":"tx","len":64,"fd":true,"brs":true,"period_us":1000,'
	fd+='"deadline_us":1000}'
	driver arm 1000 "$fd" >"$file"
	# 32 bits at 1 Mbit/s and 680 at 5
	get 'f["123"]["time_ns"], f["123"]["fd"], bus["data_bitrate"]' '(168000, True, 5000000)' 0 \
		--frames "$file" --fd 5M
	get 'f["123"]["time_ns"], bus["data_bitrate"]' '(712000, None)' 0 --frames "$file"
	"$budget" --frames "$file" --fd 5M | grep -q '^torso  *1000000  *5000000  *13.9%  *16.8% '
}

test_mistakes() {
	local all='a log (- is standard input), a launch file, --frames FILE, --frame 123#DEADBEEF'
	lib_says 100 '' "canbudget: say one of: $all" "$budget" --frames "$file" x.log
	lib_says 100 '' "canbudget: --svg: draws the buses of a launch file, or of --frames FILE" \
		"$budget" --svg x x.log
	lib_says 111 '' "canbudget: $lib_folder/none: No such file or directory" "$budget" --frames "$lib_folder/none"
	echo '{"name":"x","frames":[{"bus":"b","id":"0EF","dir":"up","len":1}]}' >"$file"
	lib_says 100 '' "canbudget: $file:1: dir is not tx or rx" "$budget" --frames "$file"
}

test_every_robot_fits() {
	local launch
	for launch in launch/*.launch; do
		"$budget" "$launch" --svg "$lib_folder/x.svg" >"$lib_folder/out" || { cat "$lib_folder/out"; return 1; }
		python3 - "$lib_folder/x.svg" <<'END' || return 1
import sys, xml.etree.ElementTree as tree
rows = {}
for r in tree.parse(sys.argv[1]).getroot().iter('{http://www.w3.org/2000/svg}rect'):
    if r.get('x'):
        rows.setdefault(r.get('y'), []).append((float(r.get('x')), float(r.get('width'))))
for bars in rows.values():
    bars.sort()
    for (x, w), (following, _) in zip(bars, bars[1:]):
        assert x + w <= following + 0.02, (x, w, following)
END
	done
	"$budget" launch/bench-krang.launch --json | python3 -c 'import json, sys
o = json.load(sys.stdin)
assert len(o["buses"]) == 8 and all(b["fits"] for b in o["buses"]), o
assert {d["name"] for d in o["drivers"]} >= {"clock", "larm", "waist", "battery"}'
	local none='canbudget: there is no launch file "none'
	lib_says 100 '' "$none.launch\"; looked for none.launch, launch/none.launch" "$budget" none.launch
	lib_says 100 '' "$none\"; looked for none.launch, none, launch/none.launch" "$budget" none
	printf 'include: %s/config/robots/waist.yaml\ndaemons: {}\nwrong: 1\n' "$PWD" >"$lib_folder/bad.launch"
	"$budget" "$lib_folder/bad.launch" 2>"$lib_folder/said" && return 1
	grep -q "bad.launch:3: wrong: " "$lib_folder/said"
	lib_not grep -v '^canbudget: ' "$lib_folder/said"
	lib_says 0 "$("$budget" --json launch/waist.launch)" '' "$budget" --json waist
}

lib_functions "$lib_folder/log" "${1:-}"

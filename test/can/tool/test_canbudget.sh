#!/bin/bash
# test_canbudget.sh: canbudget(1), with logs whose sums are worked out by hand.
#
# On the wire 000# has 53 bits, 6 of them stuff bits; 123#R4 has 47 and none; 123#DEADBEEF has 81 and 2.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh

export LC_ALL=C
budget=${BUILD:-build}/canbudget
lib_tmp
log_file=$lib_folder/x.log

# says STATUS STDOUT STDERR ARGUMENT...: exactly
says() {
	lib_says "$1" "$2" "$3" "$budget" "${@:4}"
}

# json EXPRESSION EXPECTED ARGUMENT...: of the object, as python prints it
json() {
	local expression=$1 expected=$2 got
	shift 2
	got=$("$budget" "$@" --json | python3 -c 'import json, sys
o = json.load(sys.stdin)
b = o["buses"]
ids = {i["id"]: i for i in b[0]["ids"]} if b else {}
print(eval(sys.argv[1]))' "$expression")
	[ "$got" = "$expected" ] && return
	printf '%s\n' "$*: $expression" "expected $expected" "got $got"
	return 1
}

# ---- frames ----

test_frame_json() {
	says 0 '{"frame":"123#DEADBEEF","bits":81,"stuff_bits":2,"worst_bits":95}' '' --frame 123#DEADBEEF --json
	says 0 '{"frame":"123#R4","bits":47,"stuff_bits":0,"worst_bits":55}' '' --json --frame=123#r4
	says 0 '{"frame":"000#","bits":53,"stuff_bits":6,"worst_bits":55}
{"frame":"1FFFFFFF#","bits":74,"stuff_bits":7,"worst_bits":80}
{"frame":"078#3C3C3C3C3C3C3C3C","bits":131,"stuff_bits":20,"worst_bits":135}' '' \
		--frame 000# --frame 1fffffff# --frame 078#3C.3C.3C.3C.3C.3C.3C.3C --json --bitrate 125000
}

# No stuff bit in its 17 + 5 + 24 bits; 6 fixed ones among 27; then 10 and 3.  Behind BRS 5 + 24 + 27 + 1 are fast.
# Without BRS there are five zeros behind FDF, and a stuff bit.
test_fd_frame() {
	says 0 '{"frame":"123##5112233","bits":86,"stuff_bits":0,"worst_bits":97,"fixed_stuff_bits":6,"fast_bits":57,'\
'"time_ns":57500}' \
		'' --frame 123##1112233 --fd 2M --json
	says 0 'frame         bits  stuff bits     time  worst bits  worst time
123##5112233    86           6  57.50us          97     64.50us
123##4112233    87           7  87.00us          97     97.00us' '' --frame 123##1112233 --frame 123##0112233 --fd 2M
}

test_frame_table() {
	says 0 'frame         bits  stuff bits     time  worst bits  worst time
123#DEADBEEF    81           2  162.0us          95     190.0us
000#            53           6  106.0us          55     110.0us' '' --frame 123#DEADBEEF --frame 000# --bitrate 500k
}

test_frame_wrong() {
	says 100 '' 'canbudget: --frame: "123##1AA" changes the bit rate: give that of its data, such as --fd 2M' \
		--frame 000# --frame 123##1AA
	local got frame=20000040#0000000000000000
	says 100 '' "canbudget: --frame: \"$frame\" is an error frame, which is not on the wire" --frame "$frame"
	got=$("$budget" --frame zzz 2>&1) && return 1
	[[ $got == 'canbudget: --frame: "zzz": '* ]]
}

test_command_line() {
	local either='canbudget: say one of: a log (- is standard input), a launch file, --frames FILE, '
	either+='--frame 123#DEADBEEF'
	says 100 '' "$either"
	says 100 '' "$either" --frame 000# "$log_file"
	local rate='is not a bit rate such as 500000, 500k or can0=1M (1000 to 10000000 bit/s)'
	for wrong in 0 999 1k2 =1M can0= can0=x 20M nan 1e9 -500k abcdefghijklmnop=1M; do
		says 100 '' "canbudget: --bitrate: \"$wrong\" $rate" --frame 000# --bitrate "$wrong"
	done
	says 100 '' 'canbudget: --window: 1us is below the minimum 1ms' x.log --window 1us
	local only='is not an identifier such as 123 (3 digits, or 8 for 29 bits) or a range such as 200-2FF'
	says 100 '' "canbudget: --only: \"12\" $only" /dev/null --only 12
}

# ---- sums ----

two_buses() {
	cat >"$log_file" <<-END
		(100.000000) can0 000#
		(100.010000) can0 000#
		(100.020000) can0 123#R4
		(100.030000) can1 123#DEADBEEF
		(100.040000) can0 000#
	END
	options=("$log_file" --bitrate 500k --bitrate can1=250000 --window 20ms --over 20ms)
}

test_sums_json() {
	two_buses
	# can0: 153 bits behind the first frame in 40 ms at 500 kbit/s; in (0, 20 ms] are 100 of them, 200 us.
	says 0 "{\"log\":\"$log_file\",\"frames\":5,\"first_ns\":100000000000,\"span_ns\":40000000,\
\"window_ns\":20000000,\"damaged\":0,\"lost\":0,\"backward\":0,\"set_back\":0,\"buses\":[\
{\"name\":\"can0\",\"bitrate\":500000,\"frames\":4,\"bytes\":0,\"bits\":206,\"stuff_bits\":18,\"fd_frames\":0,\
\"error_frames\":0,\"error_kinds\":{},\"rate_hz\":75.000,\"load\":0.007650,\"peak\":0.010000,\
\"peak_at_ns\":20000000,\"ids\":[\
{\"id\":\"000\",\"ext\":false,\"remote\":false,\"fd\":false,\"len_max\":0,\"frames\":3,\"bytes\":0,\"bits\":159,\
\"stuff_bits\":18,\"rate_hz\":50.000,\"period_ns\":{\"p50\":20000000,\"min\":10000000,\"max\":30000000},\
\"load\":0.005300,\"share\":0.771845},\
{\"id\":\"123\",\"ext\":false,\"remote\":true,\"fd\":false,\"len_max\":0,\"frames\":1,\"bytes\":0,\"bits\":47,\
\"stuff_bits\":0,\"rate_hz\":25.000,\"period_ns\":null,\"load\":0.002350,\"share\":0.228155}],\
\"over\":[{\"t_ns\":0,\"span_ns\":20000000,\"frames\":2,\"load\":0.010000},\
{\"t_ns\":20000000,\"span_ns\":20000000,\"frames\":1,\"load\":0.005300}]},\
{\"name\":\"can1\",\"bitrate\":250000,\"frames\":1,\"bytes\":4,\"bits\":81,\"stuff_bits\":2,\"fd_frames\":0,\
\"error_frames\":0,\"error_kinds\":{},\"rate_hz\":25.000,\"load\":0.008100,\"peak\":0.016200,\
\"peak_at_ns\":30000000,\"ids\":[\
{\"id\":\"123\",\"ext\":false,\"remote\":false,\"fd\":false,\"len_max\":4,\"frames\":1,\"bytes\":4,\"bits\":81,\
\"stuff_bits\":2,\"rate_hz\":25.000,\"period_ns\":null,\"load\":0.008100,\"share\":1.000000}],\
\"over\":[{\"t_ns\":20000000,\"span_ns\":20000000,\"frames\":1,\"load\":0.016200}]}]}" '' "${options[@]}" --json
}

test_sums_table() {
	two_buses
	says 0 "$log_file: 5 frames in 40.00ms
bus   bit rate     frames       Hz    load    peak in 20ms, ending at
can0    500000          4    75.00    0.8%    1.0%           0.020 s
can1    250000          1    25.00    0.8%    1.6%           0.030 s

can0
id    frames      Hz   period      min      max  bytes  bits    load   share
000        3   50.00  20.00ms  10.00ms  30.00ms      0   159    0.5%   77.2%
123R       1   25.00        -        -        -      0    47    0.2%   22.8%

    from s    frames    load  |0%                                           100%
     0.000         2    1.0%  |
     0.020         1    0.5%  |

can1
id   frames      Hz   period      min      max  bytes  bits    load   share
123       1   25.00        -        -        -      4    81    0.8%  100.0%

    from s    frames    load  |0%                                           100%
     0.000         0    0.0%  |
     0.020         1    1.6%  |#" '' "${options[@]}"
}

# 53 bits every 53 us are all of a bus of 1 Mbit/s, in each interval, though most frames lie across two of 100 us.
test_full_bus() {
	python3 -c 'for i in range(201): print("(%.6f) can0 000#" % (7 + i * 53e-6))' >"$log_file"
	json 'b[0]["load"], b[0]["peak"], b[0]["rate_hz"]' '(1.0, 1.0, 18867.925)' "$log_file" --window 1ms
	json '[i["load"] for i in b[0]["over"]]' "$(python3 -c 'print([1.0] * 11)')" "$log_file" --over 1ms
	json 'b[0]["over"][10]["span_ns"]' 600000 "$log_file" --over 1ms
	json 'sum(i["frames"] for i in b[0]["over"])' 200 "$log_file" --over 1ms
	"$budget" "$log_file" --over 1ms | grep -qE '^     0.010        12  100.0%  \|#{48}$'
	# And twice as much as there is.
	"$budget" "$log_file" --over 1ms --bitrate 500k | grep -qE '^     0.000        18  200.0%  \|#{48}>$'
	"$budget" "$log_file" --bitrate 500k | grep -q '^can0: more than a bus can carry'
	lib_not grep -q 'more than' <("$budget" "$log_file")
}

# A burst is found though no frame ends just when the window does: ten of 53 us within 1 ms, then nothing.
test_peak_of_a_burst() {
	{
		echo '(1.000000) can0 000#'
		python3 -c 'for i in range(10): print("(%.6f) can0 000#" % (1.0001 + i * 1e-4))'
		echo '(3.000000) can0 000#'
	} >"$log_file"
	json 'b[0]["peak"], b[0]["peak_at_ns"]' '(0.0053, 1000000)' "$log_file"
	json 'b[0]["peak"]' 'None' "$log_file" --window 3s # there is no such stretch
	json 'abs(b[0]["peak"] - 583e-6 / 2) < 1e-6' True "$log_file" --window 2s # all of it: 11 frames, 583 us
}

test_stamps_go_back() {
	cat >"$log_file" <<-END
		(10.000000) can0 000#
		(10.010000) can0 000#
		(5.000000) can0 000#
		(5.010000) can0 000#
	END
	json 'o["span_ns"], o["set_back"], o["backward"]' '(20000000, 1, 1)' "$log_file"
	json 'ids["000"]["period_ns"]' "{'p50': 10000000, 'min': 10000000, 'max': 10000000}" "$log_file"
	json 'ids["000"]["rate_hz"]' 150.0 "$log_file"
	"$budget" "$log_file" | grep -q '^times that the clock was set back: 1$'
	# At the same time: 0, 10, 10 ms.
	printf '(10.%s) can0 000#\n' 000000 010000 010000 >"$log_file"
	json 'ids["000"]["period_ns"]["min"], ids["000"]["period_ns"]["max"]' '(0, 10000000)' "$log_file"
	# Out of order only: 0, 10, 9, 19 ms.
	cat >"$log_file" <<-END
		(10.000000) can0 000#
		(10.010000) can0 001#
		(10.009000) can0 000#
		(10.019000) can0 000#
	END
	json 'o["span_ns"], o["set_back"], ids["000"]["period_ns"]' \
		"(19000000, 0, {'p50': 9500000, 'min': 9000000, 'max': 10000000})" "$log_file"
}

test_not_in_the_load() {
	cat >"$log_file" <<-END
		(10.000000) can0 000#
		(10.001000) can0 123##1112233
		(10.002000) can0 20000040#0000000000000000
		(10.003000) can0 2000000C#0000000000000000
		(10.010000) can0 000#
	END
	json '[b[0][k] for k in ("frames", "fd_frames", "error_frames", "bits")]' '[2, 1, 2, 106]' "$log_file"
	json 'b[0]["error_kinds"]' "{'controller': 1, 'protocol violation': 1, 'bus off': 1}" "$log_file"
	json 'ids["123"]["bytes"], ids["123"]["bits"], ids["123"]["load"], b[0]["load"]' '(3, 0, None, 0.0053)' \
		"$log_file"
	"$budget" "$log_file" >"$lib_folder/out"
	grep -q '^can0: CAN FD frames: 1, not in the load; for it: --fd can0=2M$' "$lib_folder/out"
	grep -q '^can0: error frames: 2 (controller 1, protocol violation 1, bus off 1)$' "$lib_folder/out"
	grep -q '^can0: bit rate assumed; for another: --bitrate can0=500k$' "$lib_folder/out"
	grep -q '^123 .*  CAN FD$' "$lib_folder/out"
	lib_not grep -q assumed <("$budget" "$log_file" --bitrate can0=500k)
	# 29 bits of it at 1 Mbit/s and 57 at 2, in 10 ms
	json 'ids["123"]["bits"], ids["123"]["load"], b[0]["load"], b[0]["data_bitrate"]' \
		'(86, 0.00575, 0.01105, 2000000)' "$log_file" --fd 2M
	json 'b[0]["frames"], b[0]["fd_frames"]' '(3, 1)' "$log_file" --fd can0=2M
}

test_choice_and_order() {
	cat >"$log_file" <<-END
		(1.000000) can0 100#
		(1.001000) can0 001#1122334455667788
		(1.002000) can0 100#
		(1.003000) can0 00040000#
		(1.004000) can1 001#
		(1.005000) can0 100#
	END
	# 00040000 has the base identifier 001, and a standard frame wins over it.
	json '[i["id"] for i in b[0]["ids"]]' "['001', '00040000', '100']" "$log_file"
	json '[i["id"] for i in b[0]["ids"]]' "['100', '001', '00040000']" "$log_file" --sort load
	json '[i["id"] for i in b[0]["ids"]]' "['100', '001', '00040000']" "$log_file" --sort rate
	json '[i["id"] for i in b[0]["ids"]]' "['001', '00040000']" "$log_file" --not 100
	json '[(x["name"], x["frames"]) for x in b]' "[('can1', 1)]" "$log_file" --bus can1
	json '[(x["name"], x["frames"]) for x in b]' "[('can0', 1), ('can1', 1)]" "$log_file" --only 001
	says 111 '' "canbudget: $log_file: no frames that --bus, --only and --not leave" "$log_file" --only 7FF
	"$budget" "$log_file" --bitrate can7=1M 2>&1 >/dev/null |
		grep -qx "canbudget: --bitrate: there are no frames of can7 in $log_file"
}

# More periods than are kept: 4000 of 1 ms, the rest of 2 ms.
test_many() {
	python3 -c 't = 0
for i in range(6001):
    print("(%.6f) can0 %03X#" % (t, i % 2))
    t += .0005 if i < 4000 else .001' >"$log_file"
	json 'ids["000"]["period_ns"]' "{'p50': 1000000, 'min': 1000000, 'max': 2000000}" "$log_file"
	json 'b[0]["frames"], len(ids)' '(6001, 2)' "$log_file"
	# Many identifiers.
	python3 -c 'for i in range(5000): print("(%.6f) can0 %08X#" % (i * .001, i * 7919))' >"$log_file"
	json 'len(ids), set(i["frames"] for i in b[0]["ids"])' '(5000, {1})' "$log_file"
}

# ---- files ----

test_nothing_in_it() {
	: >"$log_file"
	says 111 '' "canbudget: $log_file: no frames in it" "$log_file"
	json 'b' '[]' "$log_file"
	echo '(1.000000) can0 000#' >"$log_file"
	json 'b[0]["load"], b[0]["rate_hz"], b[0]["peak"], ids["000"]["period_ns"]' '(None, None, None, None)' \
		"$log_file"
	"$budget" "$log_file" --over 1s | grep -q '^can0   1000000          1        -       -       -$'
}

test_damaged() {
	printf '(1.000000) can0 000#\nrubbish\n(1.010000) can0 000#\n' >"$log_file"
	json 'o["damaged"], b[0]["load"]' '(1, 0.0053)' "$log_file" --lenient 2>"$lib_folder/stderr"
	grep -q "^canbudget: $log_file:2: " "$lib_folder/stderr"
	lib_not "$budget" "$log_file" >"$lib_folder/out" 2>"$lib_folder/stderr"
	grep -q "^canbudget: $log_file:2: " "$lib_folder/stderr"
	grep -qx "canbudget: $log_file: damaged in 1 places: --lenient leaves those out" "$lib_folder/stderr"
	[ ! -s "$lib_folder/out" ]
	"$budget" --lenient - <"$log_file" 2>/dev/null | grep -q '^-: 2 frames in 10.00ms$'
	"$budget" "$lib_folder/none" 2>&1 | grep -q "^canbudget: $lib_folder/none: .*No such file"
}

test_full_disk() {
	[ -c /dev/full ] || exit 77
	local got
	got=$("$budget" --frame 000# 2>&1 >/dev/full) && return 1
	[ "$got" = 'canbudget: cannot write: No space left on device' ]
}

test_page_has_all_options() {
	local option
	"$budget" --help >"$lib_folder/help"
	[ "$(awk 'length > 100' "$lib_folder/help")" = "" ]
	while read -r option; do
		[ "$option" = --help ] || grep -qF -- "Fl -${option#--}" can/tool/canbudget.1
	done < <(grep -oE '^  --[a-z]+' "$lib_folder/help")
}

lib_functions "$lib_folder/log" "${1:-}"

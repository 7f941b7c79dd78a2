#!/bin/bash
# ach echo, hz, put, plot and types: what goes in comes out, and what is wrong is one line.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
. test/lib/processes.sh

ach=$(realpath "${BUILD:-build}")/ach
name=test-messages-$$
tmp=$(mktemp -d)
trap 'rm -rf "$tmp" /dev/shm/achshm-"$name"-*' EXIT
unset NO_COLOR

types='joint-state joint-ref imu force-torque gripper-state gripper-ref battery bus-stats clock event estop'
types+=' request reply balance-state balance-ref mux-state body board-param device-info'

# ---- tools ----

# refuses STATUS LINE COMMAND...: nothing on stdout, exactly this line on stderr
refuses() {
	local expected=$1 line=$2 status=0
	shift 2
	"$@" >"$tmp/refused.out" 2>"$tmp/refused.err" </dev/null || status=$?
	same "$expected $line" "$status $(cat "$tmp/refused.err")"
	same 1 "$(wc -l <"$tmp/refused.err")"
	same '' "$(cat "$tmp/refused.out")"
}

# json CHANNEL EXPRESSION: of the newest message, called m
json() {
	"$ach" echo --last --json "$1" | python3 -c "import json, sys; m = json.load(sys.stdin); print($2)"
}

# It reads from now on: it waits for messages with its descriptor made.
listens() { find "/proc/$1/fd" -lname '*eventfd*' 2>/dev/null | grep -q . && asleep "$1"; }

# make NAME [TYPE]
make_channel() {
	"$ach" mk "$name-$1" ${2:+--type "$2"} >/dev/null
}

# of TYPE KEY: what the header of every message of that type says: its version, its size
of() {
	"$ach" mk -1 "$name-of" >/dev/null
	"$ach" put "$name-of" --type "$1" --json '{}'
	json "$name-of" "m['header']['$2']"
}

# a sample of a type, in every kind of field it has
sample() {
	case $1 in
	joint-state) echo '{"common":{"lifecycle":"active","bus":[{"name":"larm0","state":"bus-off","sent":7}]},
		"joint":["a","b"],"position":[0.1,-2.5],"velocity":[1e-9,3],"current":[0,0],"temperature":[null,300],
		"age_ns":[-5,5],"status":["homed|moving","-"],"state_word":[4294967295,0]}' ;;
	joint-ref) echo '{"mode":["position","current"],"position":[1,2],"velocity":[0,0],"current":[0,0.5]}' ;;
	imu) echo '{"acceleration":[0,0,9.81],"orientation":[null,null,null,null],"samples":4}' ;;
	force-torque) echo '{"force":[1,2,3],"torque":[4,5,6],"saturated":63}' ;;
	gripper-state) echo '{"grip":"pinch","position":[0.25,1],"current":[0,0],"finger":["arrived","moving"]}' ;;
	gripper-ref) echo '{"grip":"wide","position":[0.5],"speed":[1],"force":[0.125]}' ;;
	battery) echo '{"voltage":48.5,"alarms":"over-current|internal","cell":[3.3,3.4,3.5]}' ;;
	bus-stats) echo '{"name":"torso","interface":"can7","state":"passive","bitrate":1000000,"load":0.75}' ;;
	clock) echo '{"cycle":18446744073709551615,"period_ns":5000000,"bus":[{"name":"x","divider":2,"load":0.5}]}' ;;
	event) printf '%s\n' '{"severity":"fatal","source":"waist","code":"lost",
		"text":"line\nwith \"quotes\" and ü"}' ;;
	estop) echo '{"epoch":3,"level":"hold","seen":[12,13],"who":"me","why":"test"}' ;;
	request) echo '{"id":9,"client_pid":1,"verb":"set","key":"k","value":"v"}' ;;
	balance-state) echo '{"mode":"standing","imu":"fresh","wheels":"predicted","lean":0.01,"current":[1.5,-2]}' ;;
	balance-ref) echo '{"speed":0.25,"turn_rate":-1}' ;;
	mux-state) echo '{"output":"waist","in_charge":"joy","source":["joy","pc"],"state":["in-charge","stale"]}' ;;
	body) echo '{"mode":"fallen","falls":2,"pitch":-0.5,"current":[0.5,1],"push":80}' ;;
	board-param) echo '{"joint":["RHY","RHR"],"t_read_ns":[5,0],"lower":[-180278,null],"kp":[400,-1]}' ;;
	device-info) echo '{"driver":"pciod","joint":["a"],"modes":["position"],"position_min":["-inf"],
		"position_max":["inf"],"velocity":[1],"acceleration":[2],"jerk":["inf"],"current":[3]}' ;;
	reply) echo '{"id":9,"client_pid":1,"result":-22,"error":"no","value":""}' ;;
	esac
}

# ---- every type, there and back ----

test_every_type_goes_through_put_and_echo_as_json() {
	for type in $types; do
		make_channel "json-$type" "$type"
		"$ach" put "$name-json-$type" --type "$type" --json "$(sample "$type")"
		"$ach" echo --json "$name-json-$type" >"$tmp/$type.json"
		same 1 "$(wc -l <"$tmp/$type.json")"
		# All that was given is there; the rest of the message is checked by coming back the same.
		python3 - "$type" "$(sample "$type")" "$tmp/$type.json" <<-'END'
			import json, sys
			def within(a, b):
			    if isinstance(a, dict):
			        return all(k in b and within(v, b[k]) for k, v in a.items())
			    if isinstance(a, list):
			        return len(a) == len(b) and all(within(x, y) for x, y in zip(a, b))
			    return a == b
			given, came = json.loads(sys.argv[2]), json.load(open(sys.argv[3]))
			assert came["type"] == sys.argv[1], came["type"]
			assert within(given, came), came
		END
		"$ach" put "$name-json-$type" --json - <"$tmp/$type.json"
		"$ach" echo --last --json "$name-json-$type" | cmp - "$tmp/$type.json"
	done
}

test_every_type_goes_through_echo_and_put_as_text() {
	for type in $types; do
		make_channel "text-$type" "$type"
		"$ach" put "$name-text-$type" --type "$type" --json "$(sample "$type")"
		"$ach" echo "$name-text-$type" >"$tmp/$type.text"
		"$ach" put "$name-text-$type" --text - <"$tmp/$type.text"
		"$ach" echo --last "$name-text-$type" | sed 1d | cmp - <(sed 1d "$tmp/$type.text")
	done
	grep -qx 'position = 0.1 -2.5 rad' "$tmp/joint-state.text"
	grep -qx 'temperature = nan 300 K' "$tmp/joint-state.text"
	grep -qx 'common.bus\[0\].state = bus-off' "$tmp/joint-state.text"
	grep -qxE '# 1: joint-state, [0-9.]+ (ns|us|ms|s) old' "$tmp/joint-state.text"
}

# ---- echo ----

# five messages with sequence 1 to 5
five() {
	make_channel "$1" imu
	for i in 1 2 3 4 5; do
		"$ach" put "$name-$1" --type imu --json "{\"samples\":$i}"
	done
}
newest_samples_are() { [ "$("$ach" echo --json --last "$2" | samples)" = "$1" ]; }
samples() { grep -o '"samples":[0-9]*' | tr -dc '0-9\n' | paste -sd ' '; }

test_echo_prints_what_is_retained_or_the_newest() {
	five some
	same '1 2 3 4 5' "$("$ach" echo --json "$name-some" | samples)"
	same '5' "$("$ach" echo --json --last "$name-some" | samples)"
	same '3 4 5' "$("$ach" echo --json --count 3 "$name-some" | samples)"
	same '1 2 3 4 5' "$("$ach" echo --json --count 99 "$name-some" | samples)"
	same $'# 4: imu\n# 5: imu' "$("$ach" echo --count 2 "$name-some" | grep '^#' | sed 's/,.*//')"
}

test_echo_of_old_messages_does_not_call_them_missed() {
	five old
	"$ach" put "$name-old" --json '{"samples":6}' --hz 10000 --for 0.1 # overwrites all that were there
	"$ach" echo --json "$name-old" >"$tmp/old.json" 2>"$tmp/old.err"
	same 64 "$(wc -l <"$tmp/old.json")"
	same 0 "$(grep -c missed "$tmp/old.json" "$tmp/old.err" | awk -F: '{ n += $2 } END { print n }')"
}

test_echo_follows_from_now_on() {
	five follow
	start follow "$ach" echo --follow --json --count 2 "$name-follow"
	lib_until listens "$pid"
	same '' "$(cat "$tmp/follow.out")"
	"$ach" put "$name-follow" --json '{"samples":6}'
	lib_until has_lines "$tmp/follow.out" 1 # a message is written at once, not when the buffer is full
	"$ach" put "$name-follow" --json '{"samples":7}'
	wait "$pid"
	same '6 7' "$(samples <"$tmp/follow.out")"
	start follow "$ach" echo --follow --last --json --count 2 "$name-follow"
	lib_until has_lines "$tmp/follow.out" 1
	"$ach" put "$name-follow" --json '{"samples":8}'
	wait "$pid"
	same '7 8' "$(samples <"$tmp/follow.out")"
}

test_echo_says_on_a_terminal_that_it_waits() {
	make_channel silent imu
	start silent script -qec "$ach echo --follow --json --count 1 $name-silent" /dev/null
	lib_until grep -qF "ach echo: $name-silent: no message yet; waiting for the first" "$tmp/silent.out"
	"$ach" put "$name-silent" --type imu --json '{"samples":1}'
	wait "$pid"
	grep -q '"samples":1' "$tmp/silent.out"
}

test_echo_says_how_many_it_missed() {
	five missed
	start json "$ach" echo --follow --json "$name-missed"
	local json_pid=$pid
	start text "$ach" echo --follow --last "$name-missed"
	local text_pid=$pid
	lib_until listens "$json_pid"
	lib_until listens "$text_pid"
	kill -STOP "$json_pid" "$text_pid"
	lib_until in_state "$json_pid" T
	lib_until in_state "$text_pid" T
	for i in $(seq 6 80); do
		"$ach" put "$name-missed" --json "{\"samples\":$i}"
	done
	kill -CONT "$json_pid" "$text_pid"
	lib_until has_lines "$tmp/json.out" 65
	same '{"missed":11}' "$(head -n 1 "$tmp/json.out")"
	same "$(seq -s ' ' 17 80)" "$(samples <"$tmp/json.out")"
	lib_until grep -qx 'samples = 80' "$tmp/text.out"
	same '-- 11 missed --' "$(cat "$tmp/text.err")"
	same '' "$(cat "$tmp/json.err")"
	kill -INT "$json_pid"
	kill -TERM "$text_pid"
	wait "$json_pid"
	wait "$text_pid"
}

has_put() { [ "$(json "$1" 'm["header"]["sequence"]')" -ge "$2" ]; }

test_echo_ends_even_if_its_output_is_not_read() {
	five pipe
	mkfifo "$tmp/pipe"
	exec 7<>"$tmp/pipe"
	setpriv --pdeathsig KILL "$ach" echo --follow --last --json "$name-pipe" >"$tmp/pipe" 2>"$tmp/pipe.err" 7>&- &
	local echo_pid=$!
	start flood "$ach" put "$name-pipe" --json '{}' --hz 5000
	lib_until has_put "$name-pipe" 1000
	lib_until asleep "$echo_pid" # though there is more to read: the pipe is full
	kill -TERM "$echo_pid"
	wait "$echo_pid"
	exec 7>&-
	same '' "$(cat "$tmp/pipe.err")"
}

test_echo_goes_on_with_a_new_channel_of_the_name() {
	five again
	start again "$ach" echo --follow --json --count 1 "$name-again"
	lib_until listens "$pid"
	"$ach" rm "$name-again" >/dev/null
	lib_until has_lines "$tmp/again.err" 1
	make_channel again imu
	"$ach" put "$name-again" --type imu --json '{"samples":42}'
	wait "$pid"
	same 42 "$(samples <"$tmp/again.out")"
	same "ach echo: $name-again was removed; waiting for a new one" "$(cat "$tmp/again.err")"
}

test_echo_shows_what_is_not_ours_in_hex() {
	make_channel hex
	"$ach" put "$name-hex" --hex 48656C6c6f20776f726c64210a00ff7f2A
	same '# 1: 17 bytes
000000   48 65 6c 6c 6f 20 77 6f  72 6c 64 21 0a 00 ff 7f  |Hello world!....|
000010   2a                                                |*|' "$("$ach" echo "$name-hex")"
	same '{"hex":"48656c6c6f20776f726c64210a00ff7f2a"}' "$("$ach" echo --json "$name-hex")"
	"$ach" put "$name-hex" --hex "$(printf '00%.0s' $(seq 100))" # long enough for a header, and of no type
	same "{\"hex\":\"$(printf '00%.0s' $(seq 100))\"}" "$("$ach" echo --last --json "$name-hex")"
}

# estop_bytes VERSION SIZE LEN: in hex, LEN bytes of type 11 (estop) that claim that version and size
estop_bytes() {
	python3 -c 'import struct, sys; v, s, n = map(int, sys.argv[1:])
print(struct.pack("<IHHI", 11, v, 0, s).ljust(n, bytes(1)).hex())' "$@"
}

test_echo_reports_why_it_refuses_a_message() {
	local version size
	version=$(of estop version)
	size=$(of estop size)
	make_channel refused
	"$ach" put "$name-refused" --hex "$(estop_bytes 99 "$size" "$size")"
	"$ach" put "$name-refused" --hex "$(estop_bytes "$version" $((size + 1)) "$size")"
	"$ach" put "$name-refused" --hex "$(estop_bytes "$version" "$size" $((size - 4)))"
	"$ach" echo "$name-refused" | grep '^#' >"$tmp/refused.titles"
	same "# 1: estop of version 99; this program knows version $version
# 2: estop of $size bytes that says it has $((size + 1)); it should have $size
# 3: estop of $((size - 4)) bytes that says it has $size; it should have $size" "$(cat "$tmp/refused.titles")"
	same $(((size - 4 + 15) / 16)) "$("$ach" echo --last "$name-refused" | grep -c '^000[0-9a-f]*0 ')"
	same "{\"refused\":\"estop of version 99; this program knows version $version\",\"hex\":\"0b0000006300" \
		"$("$ach" echo --json "$name-refused" | head -n 1 | cut -c 1-82)"
}

# ---- put ----

test_put_fills_in_the_header() {
	make_channel head imu
	"$ach" put "$name-head" --type imu --json '{}'
	local head
	head="3 $(of imu version) $(of imu size) 0 0 - 1 0"
	same "$head" "$(json "$name-head" '" ".join(str(m["header"][k]) for k in (
		"type", "version", "size", "incarnation", "for_incarnation", "flags", "sequence", "valid_until_ns"))')"
	same 'True True' "$(json "$name-head" 'm["header"]["t_publish_ns"] > 0,
		m["header"]["t_sample_ns"] == m["header"]["t_publish_ns"]' | tr -d '(),')"
	"$ach" put "$name-head" --json '{}' # counts on
	same 2 "$(json "$name-head" 'm["header"]["sequence"]')"
	"$ach" put "$name-head" --json '{}' --valid 50
	same 50000000 "$(json "$name-head" 'm["header"]["valid_until_ns"] - m["header"]["t_publish_ns"]')"
	"$ach" put "$name-head" --json '{}' --valid 2s
	same 2000000000 "$(json "$name-head" 'm["header"]["valid_until_ns"] - m["header"]["t_publish_ns"]')"
}

test_put_keeps_what_the_input_says() {
	local said='{"header":{"incarnation":7,"for_incarnation":0,"flags":"held|simulated","sequence":0,
		"t_sample_ns":5,"t_publish_ns":6,"valid_until_ns":8}}'
	local all='" ".join(str(m["header"][k]) for k in ("incarnation", "for_incarnation", "flags", "sequence",
		"t_sample_ns", "t_publish_ns", "valid_until_ns"))'
	make_channel said-state imu
	make_channel said-ref joint-ref
	"$ach" put "$name-said-state" --type imu --json '{"header":{"incarnation":12}}'
	"$ach" put "$name-said-ref" --json "$said" 2>"$tmp/said.err"
	same '7 0 held|simulated 0 5 6 8' "$(json "$name-said-ref" "$all")"
	same '' "$(cat "$tmp/said.err")"
	"$ach" put "$name-said-ref" --text $'  header.sequence = 0\nheader.t_sample_ns=5\n\theader.t_publish_ns\t= 6'
	same '0 12 - 0 5 6 0' "$(json "$name-said-ref" "$all")"
	"$ach" put "$name-said-ref" --json "$said" --valid 1 # the line wins
	same True "$(json "$name-said-ref" 'm["header"]["valid_until_ns"] > 1000000')"
	refuses 111 "ach put: imu of version 99; this program knows version $(of imu version)" \
		"$ach" put "$name-said-state" --type imu --json '{"header":{"version":99}}'
}

test_put_takes_the_incarnation_from_the_state() {
	make_channel inc-ref joint-ref
	"$ach" put "$name-inc-ref" --json '{}' 2>"$tmp/inc.err"
	same "ach put: $name-inc-ref: no message in $name-inc-state, so for_incarnation is 0: any" \
		"$(cat "$tmp/inc.err")"
	make_channel inc-state joint-state
	"$ach" put "$name-inc-ref" --json '{}' 2>"$tmp/inc.err"
	same 1 "$(wc -l <"$tmp/inc.err")"
	for i in 41 42; do
		"$ach" put "$name-inc-state" --json "{\"header\":{\"incarnation\":$i}}"
	done
	"$ach" put "$name-inc-ref" --json '{}' --valid 20 2>"$tmp/inc.err"
	same '' "$(cat "$tmp/inc.err")"
	same '42 2 3' "$(json "$name-inc-ref" '" ".join(str(m["header"][k]) for k in (
		"for_incarnation", "type", "sequence"))')"
	make_channel inc.joy-ref joint-ref # of a source
	"$ach" put "$name-inc.joy-ref" --json '{}' 2>"$tmp/inc.err"
	same '' "$(cat "$tmp/inc.err")"
	same 42 "$(json "$name-inc.joy-ref" 'm["header"]["for_incarnation"]')"
}

test_put_knows_the_type() {
	for channel in a-event b-req c-rep estop estop-b clock; do
		make_channel "$channel" clock
		"$ach" put "$name-$channel" --json '{}'
	done
	same event "$(json "$name-a-event" 'm["type"]')"
	same request "$(json "$name-b-req" 'm["type"]')"
	same reply "$(json "$name-c-rep" 'm["type"]')"
	same estop "$(json "$name-estop-b" 'm["type"]')"
	same clock "$(json "$name-clock" 'm["type"]')"
	make_channel any imu # which has the size of another type
	refuses 111 "ach put: $name-any: the type of the message is unknown; give it, such as --type joint-ref" \
		"$ach" put "$name-any" --json '{}'
	"$ach" put "$name-any" --json '{"type":"imu"}'
	"$ach" put "$name-any" --json '{"samples":3}' # as the one before
	same 'imu 3' "$(json "$name-any" 'm["type"], m["samples"]' | tr -d "(),'")"
	make_channel size gripper-ref
	"$ach" put "$name-size" --json '{}' # no other type is as long
	same gripper-ref "$(json "$name-size" 'm["type"]')"
	refuses 111 'ach put: is a message of type imu; expected battery' \
		"$ach" put "$name-any" --type battery --json '{"type":"imu"}'
}

test_put_repeats_with_fresh_times() {
	make_channel repeat imu
	local before
	before=$(python3 -c 'import time; print(time.monotonic_ns())')
	"$ach" put "$name-repeat" --type imu --json '{"samples":1}' --hz 500 --for 0.05 --valid 10
	"$ach" echo --json "$name-repeat" >"$tmp/rep.json"
	# As many as fit, fewer if it overslept, and none before its time, counted from the start.
	python3 - "$tmp/rep.json" "$before" <<-'END'
		import json, sys
		h = [json.loads(line)["header"] for line in open(sys.argv[1])]
		before = int(sys.argv[2])
		assert 1 <= len(h) <= 25, len(h)
		assert [x["sequence"] for x in h] == list(range(1, len(h) + 1)), h
		assert all(x["valid_until_ns"] - x["t_publish_ns"] == 10000000 for x in h), h
		assert all(x["t_publish_ns"] >= before + i * 2000000 for i, x in enumerate(h)), h
	END
	start forever "$ach" put "$name-repeat" --json '{"samples":2}' --hz 1000
	lib_until newest_samples_are 2 "$name-repeat"
	kill -INT "$pid"
	wait "$pid"
}

test_put_refuses_in_one_line() {
	make_channel bad imu
	make_channel small gripper-ref
	local c=$name-bad
	refuses 111 "ach put: $name-no-ref: no such channel; make it with: ach mk $name-no-ref --type joint-ref" \
		"$ach" put "$name-no-ref" --json '{}'
	refuses 111 "ach put: $name-no: no such channel; make it with: ach mk $name-no --type imu" \
		"$ach" put "$name-no" --type imu --json '{}'
	refuses 111 "ach put: $name-no: no such channel; make it with: ach mk $name-no" "$ach" put "$name-no" --hex 00
	test ! -e "/dev/shm/achshm-$name-no"
	refuses 111 'ach put: imu has no field x' "$ach" put "$c" --type imu --json '{"x":1}'
	refuses 111 'ach put: acceleration: is a list of at most 3' \
		"$ach" put "$c" --type imu --json '{"acceleration":[1,2,3,4]}'
	refuses 111 'ach put: samples: "-1" is not a whole number of 32 bits' \
		"$ach" put "$c" --type imu --json '{"samples":-1}'
	refuses 111 'ach put: "what" is not field = value' "$ach" put "$c" --type imu --text what
	refuses 111 'ach put: --hex: "ABC" is not pairs of hexadecimal digits such as DEADBEEF' \
		"$ach" put "$c" --hex ABC
	refuses 111 'ach put: --hex: "0g" is not pairs of hexadecimal digits such as DEADBEEF' "$ach" put "$c" --hex 0g
	refuses 111 'ach put: --hex: "" is not pairs of hexadecimal digits such as DEADBEEF' "$ach" put "$c" --hex ''
	refuses 111 "ach put: --type: \"imo\" is not a type of message; did you mean imu?" \
		"$ach" put "$c" --type imo --json '{}'
	refuses 111 "ach put: type: \"imo\" is not a type of message; did you mean imu?" \
		"$ach" put "$c" --json '{"type":"imo"}'
	"$ach" mk -m 1 -n 100 "$name-tiny" >/dev/null
	refuses 111 "ach put: $name-tiny: the message has $(of imu size) bytes, but the channel has room for 100" \
		"$ach" put "$name-tiny" --type imu --json '{}'
	refuses 100 'ach put: say what to publish: one of --json, --text and --hex' "$ach" put "$c"
	refuses 100 'ach put: say what to publish: one of --json, --text and --hex' "$ach" put "$c" --json '{}' --hex 00
	refuses 100 'ach put: --for: how often? say --hz, too' "$ach" put "$c" --type imu --json '{}' --for 1
	refuses 100 'ach put: --valid: "soon" is not a duration such as 5ms' \
		"$ach" put "$c" --type imu --json '{}' --valid soon
	refuses 100 'ach put: --valid: -5 is below the minimum 1ns' "$ach" put "$c" --type imu --json '{}' --valid -5
	# Nothing of all this was put.
	refuses 111 "ach echo: $c: no message yet (--follow waits for the first)" "$ach" echo "$c"
	for text in '{' '[1]' '"x"' '' '{"samples":1}}'; do
		local status=0
		"$ach" put "$c" --type imu --json "$text" >"$tmp/bad.out" 2>"$tmp/bad.err" || status=$?
		same "111 1 $text" "$status $(wc -l <"$tmp/bad.err") $text"
		grep -q '^ach put: ' "$tmp/bad.err"
	done
}

test_put_never_makes_up_a_position() {
	make_channel gap-state joint-state
	make_channel gap-ref joint-ref
	local c=$name-gap-ref
	"$ach" put "$name-gap-state" --json '{"header":{"incarnation":5}}'
	refuses 111 'ach put: mode[0] is position, but there is no position' \
		"$ach" put "$c" --json '{"mode":["position"]}' --valid 20
	refuses 111 'ach put: position has length 1, but mode has length 3' \
		"$ach" put "$c" --json '{"mode":["position","position","position"],"position":[1]}'
	refuses 111 "ach echo: $c: no message yet (--follow waits for the first)" "$ach" echo "$c"
	"$ach" put "$c" --json '{"mode":["position"],"position":[1]}'
	same '[1] [0] [0]' "$(json "$c" 'm["position"], m["velocity"], m["current"]' | tr -d '(),')"
	make_channel gap-grip gripper-ref
	"$ach" put "$name-gap-grip" --json '{"speed":[1]}'
	same '[None] [1] [None]' "$(json "$name-gap-grip" 'm["position"], m["speed"], m["force"]' | tr -d '(),')"
	"$ach" echo --json "$name-gap-grip" >"$tmp/gap.json"
	"$ach" put "$name-gap-grip" --json - <"$tmp/gap.json"
	"$ach" echo --json --last "$name-gap-grip" | cmp - "$tmp/gap.json"
}

test_put_takes_paths_in_json() {
	make_channel path-state joint-state
	make_channel path-ref joint-ref
	local c=$name-path-ref
	"$ach" put "$name-path-state" --json '{"header":{"incarnation":5}}'
	"$ach" put "$c" --json '{"header.for_incarnation":7,"header.sequence":9,"header.t_sample_ns":1,
		"header.t_publish_ns":2}'
	same '7 9 1 2' "$(json "$c" '" ".join(str(m["header"][k]) for k in (
		"for_incarnation", "sequence", "t_sample_ns", "t_publish_ns"))')"
	refuses 111 'ach put: joint-ref has no field header.for_incarnatio; did you mean header.for_incarnation?' \
		"$ach" put "$c" --json '{"header.for_incarnatio":7}'
}

test_put_is_not_misled_by_a_message_of_another_type() {
	make_channel odd-ref joint-ref
	local c=$name-odd-ref line
	line="ach put: $c is for joint-ref, and this is a message of type estop; --type estop puts it all the same"
	refuses 111 "$line" "$ach" put "$c" --json '{"type":"estop","header":{"for_incarnation":1}}'
	"$ach" put "$c" --type estop --json '{"header":{"for_incarnation":1}}'
	"$ach" put "$c" --json '{"header":{"for_incarnation":1},"mode":["none"]}'
	same joint-ref "$(json "$c" 'm["type"]')"
	refuses 111 'ach put: joint-ref has no field x' "$ach" put "$c" --json '{"x":1}'
	# By its name.
	make_channel odd-req clock
	line="ach put: $name-odd-req is for request, and this is a message of type clock"
	refuses 111 "$line; --type clock puts it all the same" "$ach" put "$name-odd-req" --json '{"type":"clock"}'
	# Made for imu, or for another type of that size: the messages in it tell, if they can be meant.
	make_channel odd imu
	line="ach put: $name-odd is for imu or gripper-state, and this is a message of type estop"
	refuses 111 "$line; --type estop puts it all the same" "$ach" put "$name-odd" --json '{"type":"estop"}'
	"$ach" put "$name-odd" --type estop --json '{}'
	refuses 111 "ach put: $name-odd: the type of the message is unknown; give it, such as --type joint-ref" \
		"$ach" put "$name-odd" --json '{}'
	"$ach" put "$name-odd" --json '{"type":"imu"}'
	line="ach put: $name-odd is for imu, and this is a message of type gripper-state"
	refuses 111 "$line; --type gripper-state puts it all the same" \
		"$ach" put "$name-odd" --json '{"type":"gripper-state"}'
	# Made for nothing in particular: the newest message tells.
	make_channel odd-any
	"$ach" put "$name-odd-any" --json '{"type":"estop"}'
	line="ach put: $name-odd-any is for estop, and this is a message of type imu"
	refuses 111 "$line; --type imu puts it all the same" "$ach" put "$name-odd-any" --json '{"type":"imu"}'
	line="ach put: estop has no field mode (the newest message in $name-odd-any is of type estop;"
	refuses 111 "$line --type gives another)" "$ach" put "$name-odd-any" --json '{"mode":["none"]}'
	refuses 111 'ach put: estop has no field mode' "$ach" put "$name-odd-any" --json '{"type":"estop","mode":[]}'
	"$ach" put "$name-odd-any" --type imu --json '{}'
	"$ach" put "$name-odd-any" --json '{"samples":3}'
	same 3 "$(json "$name-odd-any" 'm["samples"]')"
}

# ---- put: a line of standard input each ----

test_put_stream_publishes_each_line_at_once() {
	make_channel lines imu
	mkfifo "$tmp/lines"
	setpriv --pdeathsig KILL "$ach" put "$name-lines" --type imu --json - <"$tmp/lines" 2>"$tmp/lines.err" &
	local put_pid=$!
	exec 7>"$tmp/lines"
	for i in 1 2 3; do
		echo "{\"samples\":$i}" >&7
		lib_until newest_samples_are "$i" "$name-lines" # though its input has not ended
	done
	printf '{"samples":4,"header":{"sequence":40}}\n\n{"samples":5}' >&7
	exec 7>&-
	wait "$put_pid"
	same '' "$(cat "$tmp/lines.err")"
	same '1 2 3 40 41' "$("$ach" echo --json "$name-lines" |
		python3 -c 'import json, sys; print(*(json.loads(l)["header"]["sequence"] for l in sys.stdin))')"
}

# Both ends at once; the channel has room for all, so that a slow machine loses nothing either.
test_streams_lose_nothing_and_keep_the_order() {
	local n=5000
	"$ach" mk -m "$n" -n "$(of joint-ref size)" "$name-flow" >/dev/null
	start flow "$ach" echo --follow --json --count "$n" "$name-flow"
	lib_until listens "$pid"
	python3 - "$n" <<-'END' | "$ach" put "$name-flow" --type joint-ref --json -
		import sys
		for i in range(int(sys.argv[1])):
		    print('{"mode":["position","velocity"],"position":[%r,0],"velocity":[0,%d]}' % (i / 7, i))
	END
	wait "$pid"
	same '' "$(cat "$tmp/flow.err")"
	python3 - "$tmp/flow.out" "$n" <<-'END'
		import json, sys
		n = int(sys.argv[2])
		m = [json.loads(line) for line in open(sys.argv[1])]
		assert len(m) == n and not any("missed" in x for x in m), len(m)
		assert [x["position"] for x in m] == [[i / 7, 0] for i in range(n)]
		assert [x["velocity"] for x in m] == [[0, i] for i in range(n)]
		assert [x["header"]["sequence"] for x in m] == list(range(1, n + 1))
	END
}

test_put_stream_names_bad_lines_and_goes_on() {
	make_channel badline imu
	local c=$name-badline status=0
	printf '%s\n' '{"samples":1}' '{"sample":2}' '{' '{"samples":3}' '{"type":"estop"}' 'a\0b' '{"samples":4}' |
		sed 's/\\0/\x00/' >"$tmp/badline"
	"$ach" put "$c" --type imu --json - <"$tmp/badline" 2>"$tmp/badline.err" || status=$?
	same 111 "$status"
	same 'ach put: line 2: imu has no field sample; did you mean samples?' "$(sed -n 1p "$tmp/badline.err")"
	same 'ach put: line 3: JSON:' "$(sed -n '2s/\(JSON:\).*/\1/p' "$tmp/badline.err")"
	same 'ach put: line 5: is a message of type estop; expected imu' "$(sed -n 3p "$tmp/badline.err")"
	same 'ach put: line 6: is not text' "$(sed -n 4p "$tmp/badline.err")"
	same 4 "$(wc -l <"$tmp/badline.err")"
	same '1 3 4' "$("$ach" echo --json "$c" | samples)"
	# A flood of them does not flood the terminal.
	status=0
	yes '{"x":1}' | head -n 300 | "$ach" put "$c" --type imu --json - 2>"$tmp/badline.err" || status=$?
	same '111 11 ach put: 300 lines were refused' \
		"$status $(wc -l <"$tmp/badline.err") $(tail -n 1 "$tmp/badline.err")"
	refuses 111 'ach put: no message on standard input' "$ach" put "$c" --type imu --json -
	refuses 100 'ach put: --hz repeats one message; --json - publishes each line as it comes' \
		"$ach" put "$c" --json - --hz 5
	status=0
	yes x | tr -d '\n' | head -c 2000000 | "$ach" put "$c" --json - 2>"$tmp/badline.err" || status=$?
	same '111 ach put: line 1 is longer than 1048575 bytes' "$status $(cat "$tmp/badline.err")"
}

# The type that the channel is for, said by the first line, or by each.
test_put_stream_finds_the_type() {
	make_channel kinds imu # which has the size of gripper-state
	local c=$name-kinds
	printf '%s\n' '{"type":"gripper-state"}' '{"activated":1}' | "$ach" put "$c" --json -
	same '0 1' "$("$ach" echo --json "$c" | grep -oE '"activated":[01]' | tr -dc '01\n' | paste -sd ' ')"
}

test_put_stream_ends_on_sigterm_or_when_the_channel_is_removed() {
	make_channel streams imu
	mkfifo "$tmp/streams"
	exec 7<>"$tmp/streams"
	setpriv --pdeathsig KILL "$ach" put "$name-streams" --type imu --json - <"$tmp/streams" 7>&- &
	local put_pid=$!
	echo '{"samples":1}' >&7
	lib_until newest_samples_are 1 "$name-streams"
	kill -TERM "$put_pid"
	wait "$put_pid"
	local status=0
	setpriv --pdeathsig KILL "$ach" put "$name-streams" --type imu --json - <"$tmp/streams" 2>"$tmp/streams.err" \
		7>&- &
	put_pid=$!
	echo '{"samples":2}' >&7
	lib_until newest_samples_are 2 "$name-streams"
	"$ach" rm "$name-streams" >/dev/null
	while kill -0 "$put_pid" 2>/dev/null; do
		echo '{"samples":3}' >&7
		sleep 0.01
	done
	wait "$put_pid" || status=$?
	exec 7>&-
	same "111 ach put: $name-streams was removed" "$status $(cat "$tmp/streams.err")"
}

test_json_keeps_nan_and_infinity() {
	make_channel reals imu
	printf '%s\n' '{"acceleration":[null,"inf","-inf"]}' '{"acceleration":[NaN,Infinity,-Infinity]}' |
		"$ach" put "$name-reals" --type imu --json -
	same $'[null,"inf","-inf"]\n[null,"inf","-inf"]' \
		"$("$ach" echo --json "$name-reals" | grep -o '"acceleration":[^]]*]' | cut -d: -f2)"
	"$ach" echo --json "$name-reals" >"$tmp/reals.json"
	"$ach" put "$name-reals" --json - <"$tmp/reals.json"
	"$ach" echo --json --count 2 "$name-reals" | cmp - "$tmp/reals.json"
}

# ---- types ----

# test/abi/messages.abi is what offsetof and sizeof say: test_msg_layout holds it against the compiler.
test_types_are_as_the_compiler_lays_them_out() {
	"$ach" types --json >"$tmp/types.json"
	python3 - "$tmp/types.json" >"$tmp/types.abi" <<-'END'
		import json, sys
		def show(name, struct):
		    print(name, "size", struct["size"])
		    for f in struct["fields"]:
		        words = f["words"] or []
		        print("%s at %d: %s %s%s, %d bytes%s%s%s" % (
		            name, f["offset"], f["type"], f["name"], "[%d]" % f["count"] if f["count"] else "",
		            f["size"] * (f["count"] or 1),
		            " of which %s count" % f["counted_by"] if f["counted_by"] else "",
		            ", " + f["unit"] if f["unit"] else "", " = " + "|".join(words) if words else ""))
		doc = json.load(open(sys.argv[1]))
		sizes = {group["name"]: group["size"] for group in doc["groups"]}
		for group in doc["groups"]:
		    show(group["name"], group)
		for t in doc["types"]:
		    print("type %d is %s, %s version %d" % (t["number"], t["struct"], t["name"], t["version"]))
		    show(t["struct"], t)
		for struct in doc["groups"] + doc["types"]:
		    for f in struct["fields"]:
		        assert (f["group"] is None) == (f["type"] != "group"), f
		        assert f["group"] is None or sizes[f["group"]] == f["size"], f
	END
	diff "$tmp/types.abi" test/abi/messages.abi
	"$ach" types --json | cmp - "$tmp/types.json"
}

test_types_lists_types_and_fields() {
	same "TYPE $types" "$("$ach" types | awk '{ print $1 }' | paste -sd ' ')"
	same "imu 3 $(of imu version) $(of imu size) 64" "$("$ach" types | grep '^imu ' | xargs)"
	"$ach" types imu reply >"$tmp/types"
	same "# imu: number 3, version $(of imu version), $(of imu size) bytes
# reply: number 13, version 1, 312 bytes" "$(grep '^#' "$tmp/types")"
	grep -qxE ' +[0-9]+ f64   acceleration\[3\]  m/s\^2' "$tmp/types"
	grep -qxE ' +[0-9]+ group common.bus\[bus_count <= 8\]' "$tmp/types"
	grep -qxE ' +[0-9]+ word  common.bus\[\].state  absent, stopped, .*bus-off' "$tmp/types"
	same '["reply"]' "$("$ach" types --json reply |
		python3 -c 'import json, sys; print(json.dumps([t["name"] for t in json.load(sys.stdin)["types"]]))')"
	refuses 111 'ach types: "imo" is not a type of message; did you mean imu?' "$ach" types imo
	refuses 111 'ach types: "what" is not a type of message; there are '"${types// /, }" "$ach" types what
}

# ---- hz ----

# Messages that say when they were published, so nothing here depends on when this test runs:
# 1 ms apart, but the 5th 3 ms after the 4th; the writer left out numbers 7 and 8.
stamped() {
	local t=1000000000 sequence
	for sequence in 1 2 3 4 5 6 9 10; do
		t=$((t + (sequence == 5 ? 3000000 : 1000000)))
		"$ach" put "$1" --type imu --json "{\"header\":{\"sequence\":$sequence,\"t_publish_ns\":$t}}"
	done
}

test_hz_measures() {
	make_channel hz imu
	make_channel idle
	start hz "$ach" hz --count 8 --json "$name-hz" "$name-idle"
	lib_until listens "$pid"
	stamped "$name-hz"
	wait "$pid"
	python3 - "$tmp/hz.out" <<-'END'
		import json, sys
		hz, idle = [json.loads(line) for line in open(sys.argv[1])]
		assert hz["messages"] == 8 and hz["missed"] == 0 and hz["gaps"] == 2, hz
		assert hz["rate_hz"] == 777.778, hz  # 7 intervals in 9 ms
		assert hz["interval_ns"] == {"p50": 1000000, "p99": 3000000, "max": 3000000}, hz
		l = hz["latency_ns"]
		assert 0 < l["p50"] <= l["p99"] <= l["max"], l
		assert idle == {"name": idle["name"], "messages": 0, "rate_hz": None, "missed": 0, "gaps": 0,
		                "interval_ns": None, "latency_ns": None}, idle
	END
}

# stamp CHANNEL N...: a message each that says it was published N ms after the start
stamp() {
	local channel=$1 i
	shift
	for i in "$@"; do
		"$ach" put "$channel" --type imu --json "{\"header\":{\"t_publish_ns\":$((i * 1000000))}}"
	done
}

test_hz_counts_what_it_missed() {
	make_channel hzm imu
	start hzm "$ach" hz --count 65 "$name-hzm"
	lib_until listens "$pid"
	stamp "$name-hzm" 1
	lib_until listens "$pid" # again: it has read that one
	kill -STOP "$pid"
	lib_until in_state "$pid" T
	stamp "$name-hzm" $(seq 2 101) # of which 64 are retained
	kill -CONT "$pid"
	wait "$pid"
	same "channel rate interval p50 p99 max missed gaps latency p50 p99 max" "$(head -n 1 "$tmp/hzm.out" | xargs)"
	same "$name-hzm 1000.0 Hz 1.000 ms 1.000 ms 1.000 ms 36 0" \
		"$(tail -n 1 "$tmp/hzm.out" | xargs | cut -d ' ' -f 1-11)"
	same 2 "$(wc -l <"$tmp/hzm.out")"
}

test_hz_knows_messages_of_others() {
	make_channel hzx
	start hzx "$ach" hz --count 3 --json "$name-hzx"
	lib_until listens "$pid"
	for i in 1 2 3; do
		"$ach" put "$name-hzx" --hex "0$i"
	done
	wait "$pid"
	grep -q '"messages":3,.*"missed":0,"gaps":0,"interval_ns":{.*"latency_ns":null' "$tmp/hzx.out"
}

test_hz_ends() {
	make_channel hze imu
	same 2 "$("$ach" hz --for 0.05 "$name-hze" | wc -l)"
	start hze "$ach" hz "$name-hze"
	lib_until listens "$pid"
	kill -INT "$pid"
	wait "$pid"
	same 2 "$(wc -l <"$tmp/hze.out")"
	refuses 111 "ach hz: $name-0-no-such-thing: no such channel (ach ls lists those there are)" \
		"$ach" hz "$name-0-no-such-thing"
	refuses 100 'ach hz: --for: "long" is not a duration such as 5ms' "$ach" hz --for long "$name-hze"
	refuses 100 'ach hz: CHANNEL... is missing (ach hz --help says more)' "$ach" hz
}

# ---- plot ----

test_plot_prints_columns() {
	make_channel plot imu
	"$ach" put "$name-plot" --type imu --json '{"header":{"t_publish_ns":1500000000},"acceleration":[0.1,2,-3e-9],
		"common":{"lifecycle":"active"},"samples":7}'
	"$ach" put "$name-plot" --json '{"header":{"t_publish_ns":12000000001},"acceleration":[null,1,1]}'
	same '1.500000000 0.1 2 -3e-09
12.000000001 nan 1 1' "$("$ach" plot --count 2 "$name-plot" acceleration)"
	same '1.500000000 7 2 5' "$("$ach" plot --count 1 "$name-plot" samples 'acceleration[1]' common.lifecycle)"
	start plot "$ach" plot --count 3 "$name-plot" samples
	lib_until has_lines "$tmp/plot.out" 2
	"$ach" put "$name-plot" --json '{"samples":99}'
	wait "$pid"
	same 99 "$(sed -n '3s/.* //p' "$tmp/plot.out")"
}

test_plot_takes_the_elements_that_count() {
	make_channel plotj joint-ref
	"$ach" put "$name-plotj" --json '{"header":{"t_publish_ns":0},"position":[1,2],"velocity":[0,0],
		"mode":["velocity","none"]}'
	same '0.000000000 1 2 2 0' "$("$ach" plot --count 1 "$name-plotj" position mode)"
}

test_plot_refuses_in_one_line() {
	make_channel plotr imu
	make_channel plotx
	local c=$name-plotr
	"$ach" put "$c" --type imu --json '{}'
	"$ach" put "$name-plotx" --hex 00
	refuses 111 "ach plot: $c: imu has no field nix (ach echo --last $c shows all)" "$ach" plot "$c" nix
	refuses 111 "ach plot: $c: header is not a number, so there is nothing to draw" "$ach" plot "$c" header
	local why="1 bytes are not an Endplate message; only messages of Endplate's have fields"
	refuses 111 "ach plot: $name-plotx: $why" "$ach" plot "$name-plotx" x
	refuses 111 "ach plot: $name-0-no-such-thing: no such channel (ach ls lists those there are)" \
		"$ach" plot "$name-0-no-such-thing" x
	refuses 100 'ach plot: CHANNEL FIELD... is missing (ach plot --help says more)' "$ach" plot "$c"
	make_channel plotm joint-state
	"$ach" put "$name-plotm" --json "{\"position\":[$(seq -s, 17)]}"
	refuses 111 'ach plot: more than 16 curves; name single elements, such as position[0]' \
		"$ach" plot "$name-plotm" position
}

# On a terminal, that of script(1): it draws, and leaves the terminal as it found it.
test_plot_draws_and_tidies_up() {
	make_channel plott imu
	start sine "$ach" put "$name-plott" --type imu --json '{"acceleration":[1,2,3]}' --hz 100
	TERM=xterm script -qec "stty cols 80 rows 24; stty -a >$tmp/before
		$ach plot --count 30 $name-plott acceleration
		stty -a >$tmp/after" /dev/null >"$tmp/terminal" </dev/null
	cmp "$tmp/before" "$tmp/after"
	python3 - "$tmp/terminal" <<-'END'
		import re, sys
		text = open(sys.argv[1], encoding="utf-8", newline="").read()
		assert text.count("\x1b[?1049h") == 1 and text.count("\x1b[?1049l") == 1, "the other screen, and back"
		assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "the cursor is back"
		assert text.count("\x1b[2J") <= 2, "it is not cleared for every picture"
		last = re.sub("\x1b\\[[?0-9;]*[A-Za-z]", "", text[text.rindex("\x1b[?1049l"):])
		lines = last.replace("\r", "").strip("\n").split("\n")
		assert len(lines) == 22 and all(len(line) <= 80 for line in lines), lines
		assert "imu" in lines[0] and "acceleration[2] 3 m/s^2" in lines[1] + lines[2], lines[:3]
		assert lines[-1].endswith("0 s"), lines[-1]
		assert any("\u2800" < c <= "\u28ff" for c in last), "curves"
	END
}

# ---- run them ----

lib_functions "$tmp/log" "$@"

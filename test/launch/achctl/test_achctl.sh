#!/bin/bash
# test_achctl.sh: achctl(1) against an achstart that says whatever a test wants, and channels made by hand.
# waits: mostly
set -eu
. test/scripts/lib.sh

build=${BUILD:-build}
achctl=$build/achctl
ach=$build/ach
unset NO_COLOR
export SUDO_USER=ann LC_ALL=C
lib_tmp
lib_go_first
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-ctl-$$-
p=$ENDPLATE_PREFIX
server=
cleanup() {
	[ -z "${driver:-}" ] || kill -9 "$driver" 2>/dev/null || true
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
	rm -rf "$lib_folder" /dev/shm/achshm-"$p"* /dev/shm/achbell-"$p"*
}
trap cleanup EXIT
mkdir -p "$ENDPLATE_RUN/log" "$ENDPLATE_RUN/state"

# ---- an achstart that answers to VERB what is in the file VERB; the file VERB.then takes its place afterwards ----

cat >"$lib_folder/server.py" <<'END'
import ctypes, os, socket, sys, time
ctypes.CDLL(None).prctl(1, 9)  # dies with the test
folder = sys.argv[1]
os.chdir(os.environ["ENDPLATE_RUN"])
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind("control")
listener.listen(8)
kept = []
while True:
    client, _ = listener.accept()
    line = client.recv(512)
    if not line:
        continue
    words = line.decode().rstrip("\n").split("\t")
    verb = words[0]
    if verb not in ("status", "raise"):  # until when it counts
        left = int(words.pop(1)) - time.monotonic_ns()
        assert 0 < left <= 3e9, left
    with open(folder + "/asked", "a") as asked:
        asked.write("\t".join(words) + "\n")
    path = folder + "/" + verb
    answer = open(path).read().strip() if os.path.exists(path) else '{"ok":true}'
    if os.path.exists(path + ".then"):
        os.rename(path + ".then", path)
    if answer == "HANG":
        kept.append(client)
        continue
    if answer != "CLOSE":
        try:
            client.sendall(answer.encode() + b"\n")
        except BrokenPipeError:  # a raise does not wait for it
            pass
    client.close()
    if answer == "END" or words == ["stop"]:
        os.unlink("control")
        sys.exit()
END
serve() {
	rm -f "$ENDPLATE_RUN/control"
	python3 "$lib_folder/server.py" "$lib_folder" &
	server=$!
	disown
	lib_until test -S "$ENDPLATE_RUN/control"
}
stop_serving() {
	kill -9 "$server" 2>/dev/null || true
	server=
}
answer() { # VERB ANSWER [ANSWER-AFTERWARDS]
	rm -f "$lib_folder/$1.then"
	printf '%s\n' "$2" >"$lib_folder/$1.new"
	mv "$lib_folder/$1.new" "$lib_folder/$1"
	[ $# -lt 3 ] || printf '%s\n' "$3" >"$lib_folder/$1.then"
}
asked() { tail -n "${1:-1}" "$lib_folder/asked"; }

# daemon NAME STATE READY PID LIFE EPOCH [MORE]
daemon() {
	printf '{"name":"%s","state":"%s","ready":%s,"pid":%s' "$1" "$2" "$3" "$4"
	printf ',"incarnation":3,"uptime_s":12.5,"restarts":0'
	printf ',"late_p99_us":45,"life":%s,"age_ms":3,"rate_hz":200,"epoch":%s,"level":"run"%s}' "$5" "$6" "${7:-}"
}
robot() { # DAEMONS [BUSES] [LEVEL]
	printf '{"ok":true,"robot":"bench","level":"%s","epoch":4,"who":"bob","why":"because","pid":77' "${3:-run}"
	printf ',"uptime_s":60,"stopping":false,"daemons":[%s],"buses":[%s],"clock":null,"channels":[]}' "$1" "${2:-}"
}
fine=$(robot "$(daemon waist ready true 100 '"active"' 4)" \
	'{"name":"torso","interface":"can7","state":"error-active","load":0.5,"stale":0}')

# ---- the command line ----

commands='status top start restart stop log events hold estop arm clear request'
lists_commands() {
	local name
	for name in $commands; do
		"$achctl" --help | grep -qE "^  $name +[a-z]" || { echo "$name is not listed"; return 1; }
		"$achctl" "$name" --help | grep -q -- '--json' || { echo "$name has no --json"; return 1; }
		"$achctl" "$name" --help | head -1 | grep -q "^usage: achctl $name" || return 1
		"$achctl" help "$name" | head -1 | grep -q "^usage: achctl $name" || return 1
		grep -qE "^\.Cm $name" launch/achctl/achctl.1 || { echo "$name is not on the page"; return 1; }
	done
}
lib_case lists_commands lists_commands
lib_case help_short lib_matches 0 'usage: achctl *' "$achctl" -h
lib_case help_short_command lib_matches 0 'usage: achctl start *' "$achctl" start -h
lib_case start_what_nothing lib_matches 100 'achctl start: which daemon? achctl start NAME (*no achstart runs*)' \
	"$achctl" start
lib_case no_command lib_says 100 '' 'achctl: which command? (achctl --help lists them)' "$achctl"
lib_case near_command lib_says 100 '' \
	'achctl: "statsu": unknown command; did you mean status? (achctl --help lists them)' "$achctl" statsu
lib_case far_command lib_says 100 '' 'achctl: "xyz": unknown command (achctl --help lists them)' "$achctl" xyz
lib_case far_option lib_says 100 '' 'achctl: "--xyz": unknown option (achctl --help)' "$achctl" --xyz
wrong_json() { # ERROR ARGUMENT...: stderr stays empty
	lib_says 100 "{\"ok\":false,\"error\":\"$1\"}" '' "$achctl" "${@:2}"
}
lib_case no_command_json wrong_json 'which command? (achctl --help lists them)' --json
lib_case far_command_json wrong_json '\"xyz\": unknown command (achctl --help lists them)' --json xyz
lib_case wrong_option_json wrong_json \
	'achctl status: --jsno: unknown option; did you mean --json? (achctl status --help lists them)' \
	status --jsno --json
which="which daemon? achctl restart NAME (no achstart runs this robot ($ENDPLATE_RUN))"
lib_case no_name_json wrong_json "$which" --json restart
lib_case odd_name_json wrong_json '\"a/b\" is not a valid name of a daemon (achctl status lists them)' \
	restart a/b --json
lib_case wrong_option lib_says 100 '' \
	'achctl status: --jsno: unknown option; did you mean --json? (achctl status --help lists them)' \
	"$achctl" status --jsno
lib_case no_name lib_says 100 '' "achctl restart: $which" "$achctl" restart
lib_case odd_name lib_says 100 '' 'achctl restart: "a/b" is not a valid name of a daemon (achctl status lists them)' \
	"$achctl" restart a/b
lib_case odd_robot lib_says 100 '' 'achctl status: --robot: "a/b" is not a valid name' "$achctl" --robot a/b status
version=$(sed -n 's/.*OPTIONS_VERSION "\(.*\)".*/\1/p' config/settings/options.h)
lib_case version lib_says 0 "achctl $version" '' "$achctl" --version

# ---- without achstart ----

no_achstart="no achstart runs this robot ($ENDPLATE_RUN)"
for verb in 'status' 'restart waist' 'start waist' 'stop waist' stop arm; do
	# shellcheck disable=SC2086 # words
	lib_case "without_${verb% *}" lib_says 111 '' "achctl ${verb% *}: $no_achstart" "$achctl" $verb
done
lib_case without_json lib_says 111 "{\"ok\":false,\"error\":\"$no_achstart\"}" '' "$achctl" --json arm
lib_case without_channels lib_matches 111 '*NOT RAISED: no robot is up here*' "$achctl" estop
touch "$ENDPLATE_RUN/control"
lib_case no_socket lib_says 111 '' "achctl arm: $no_achstart" "$achctl" arm
rm "$ENDPLATE_RUN/control"

# ---- the e-stop, on its channels ----

make_estop() { "$ach" mk --type estop -o 600 -t "$@"; }
make_estop "${p}estop" "${p}estop-b"
last() { # CHANNEL FIELD: of the newest message
	"$ach" echo "$p$1" --last --json |
		python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())[sys.argv[1]])' "$2"
}
newest() { "$ach" info --for 0 --json "$p$1" | sed -n 's/.*"last_seq":\([0-9]*\).*/\1/p'; } # number of the newest
raises() { # LEVEL LEVEL-B: of both channels
	[ "$(last estop level),$(last estop-b level),$(last estop who)" = "$1,$2,ann" ] && return
	echo "estop: $(last estop level), estop-b: $(last estop-b level)"
	return 1
}
# Nothing has been lowered: the level is estop whatever is raised.
lib_case hold lib_says 0 'level estop, epoch 0, by ann' '' "$achctl" hold --why 'a hand in the way'
lib_case hold_raised raises estop hold
lib_case hold_why test "$(last estop-b why)" = 'a hand in the way'
# No $RUN, no home: the channels are enough.
lib_case estop_alone lib_says 0 "level estop, epoch 0, by $(id -un)" '' \
	env -i ENDPLATE_PREFIX="$p" "$achctl" estop
lib_case estop_json lib_says 0 '{"ok":true,"level":"estop","epoch":0}' '' "$achctl" --json estop
lib_case estop_raised raises estop estop
"$ach" rm "${p}estop"
lib_case one_channel lib_matches 0 \
	'achctl estop: warning: channel *estop: ACH_ENOENT*; the other channel has it*level estop, epoch 0, by ann' \
	"$achctl" estop
make_estop "${p}estop"

# ---- whose channels: as achstart left it in the folder ----

keeps() { # NAME PREFIX [FOLDER]
	mkdir -p "${3:-$ENDPLATE_RUN}"
	printf 'name %s\nprefix %s\nchannels \nend\n' "$1" "$2" >"${3:-$ENDPLATE_RUN}/robot"
}
clean() { make_estop "$@"; }
level() { "$ach" echo "$1" --last --json 2>/dev/null | sed -n 's/.*"level":"\([a-z]*\)".*/\1/p'; } # of CHANNEL
q=t-ctlq-$$-
shm=/dev/shm/achshm-
trap 'rm -f /dev/shm/achshm-"$q"* /dev/shm/achbell-"$q"*; cleanup' EXIT
both=("${p}estop" "${p}estop-b" "${q}estop" "${q}estop-b")
levels() { # THEIRS OURS: of robot bench, whose prefix is $q, and of $ENDPLATE_PREFIX
	[ "$(level "${q}estop-b"),$(level "${p}estop-b")" = "$1,$2" ] && return
	echo "levels: $(for c in "${both[@]}"; do echo "$c $(level "$c")"; done)"
	return 1
}
keeps bench "$q"
clean "${both[@]}"
forgotten() { # the prefix: the folder has it
	lib_says 0 'level estop, epoch 0, by ann' '' env -u ENDPLATE_PREFIX "$achctl" estop && levels estop ''
}
lib_case prefix_forgotten forgotten
top_forgotten() {
	clean "${both[@]}"
	env -u ENDPLATE_PREFIX python3 test/scripts/type.py 24 80 'see:q quit' key:h 'see:hold raised by ann' key:q \
		-- "$achctl" top --every 100ms && levels hold ''
}
lib_case prefix_forgotten_top top_forgotten
lib_case prefix_forgotten_request lib_says 111 '' \
	'achctl request: there is no driver waist: no program has made its channel waist-req' \
	env -u ENDPLATE_PREFIX "$achctl" request waist get tick
raises_both() {
	clean "${both[@]}"
	lib_says 0 'level estop, epoch 0, by ann' "achctl estop: warning: ENDPLATE_PREFIX=$p: but the channels of \
robot bench begin with \"$q\": raised on ${q}estop of robot bench, ${p}estop" "$achctl" estop && levels estop estop
}
lib_case prefix_another raises_both
raises_both_json() {
	clean "${both[@]}"
	lib_says 0 '{"ok":true,"level":"estop","epoch":0,"raised":"'"${q}estop of robot bench, ${p}estop\"}" '' \
		"$achctl" hold --json && levels hold hold
}
lib_case prefix_another_json raises_both_json
raises_the_one() { # what ENDPLATE_PREFIX names is not there
	clean "${both[@]}"
	lib_matches 0 "*warning: ENDPLATE_PREFIX=none-: but *: raised on ${q}estop of robot bench*" \
		env ENDPLATE_PREFIX=none- "$achctl" estop && levels estop ''
}
lib_case prefix_none raises_the_one
for verb in status top 'start waist' 'stop' 'log waist' events arm 'clear waist' 'request waist home'; do
	# shellcheck disable=SC2086 # words
	lib_case "prefix_another_${verb% *}" lib_says 100 '' "achctl ${verb%% *}: ENDPLATE_PREFIX=$p: but the \
channels of robot bench ($ENDPLATE_RUN) begin with \"$q\"; unset it, or set ENDPLATE_RUN to the folder of the \
robot that you mean" \
		"$achctl" $verb
done
for verb in status top 'restart waist' stop events arm 'clear waist' 'request waist home'; do
	# shellcheck disable=SC2086 # words
	lib_case "robot_another_${verb% *}" lib_says 100 '' "achctl ${verb%% *}: --robot larry: but \
ENDPLATE_RUN=$ENDPLATE_RUN is the folder of robot bench; unset the one or leave out the other" \
		"$achctl" --robot larry $verb
done
raises_there() {
	clean "${both[@]}"
	lib_says 0 'level estop, epoch 0, by ann' "achctl estop: warning: --robot larry: but ENDPLATE_RUN is the \
folder of robot bench: raised on ${q}estop of robot bench" \
		env -u ENDPLATE_PREFIX "$achctl" --robot larry estop && levels estop ''
}
lib_case robot_another raises_there
lib_case robot_same lib_says 0 'level estop, epoch 0, by ann' '' env -u ENDPLATE_PREFIX "$achctl" --robot bench hold
"$ach" rm "${q}estop" "${q}estop-b"
lib_case robot_away lib_says 111 '' \
	"achctl estop: NOT RAISED: no robot is up here (channel ${q}estop-b: ACH_ENOENT: $shm${q}estop-b: \
no such channel; channel ${q}estop: ACH_ENOENT: $shm${q}estop: no such channel)" \
	env -u ENDPLATE_PREFIX "$achctl" estop
printf 'name bench\nprefix' >"$ENDPLATE_RUN/robot"
lib_case robot_damaged lib_matches 0 'level estop, epoch 0, by ann' "$achctl" estop
keeps bench "$p"
lib_case prefix_same lib_matches 0 'level estop, epoch 0, by ann' "$achctl" estop
rm "$ENDPLATE_RUN/robot"

# ---- what the channels say, without achstart ----

state() { # AGE_S
	python3 - "$1" <<'END'
import json, sys, time
now = time.monotonic_ns() - int(float(sys.argv[1]) * 1e9)
bus = {"name": "torso", "interface": "can7", "state": "passive", "stale": 2}
common = {"lifecycle": "holding", "level": "estop", "epoch": 5, "late_p99_ns": 45000, "bus": [bus]}
print(json.dumps({"header": {"incarnation": 6, "t_publish_ns": now}, "common": common}))
END
}
"$ach" mk --type joint-state -o 600 "${p}waist-state"
"$ach" put --json "$(state 0)" "${p}waist-state"
lib_case channels_people lib_matches 111 \
	"run  estop, epoch 0, by ann: achctl estop*no answer from achstart: *waist *holding*BUS*torso *can7*passive*\
$no_achstart*" \
	"$achctl" status
channels_json() {
	local status=0
	"$achctl" status --json >"$lib_folder/out" || status=$?
	[ $status = 111 ] || return 1
	python3 - "$lib_folder/out" <<'END'
import json, sys
robot = json.load(open(sys.argv[1]))
assert robot["ok"] is False and robot["supervised"] is False and robot["level"] == "estop", robot
waist, = robot["daemons"]
assert waist["name"] == "waist" and waist["life"] == "holding" and waist["incarnation"] == 6, waist
assert waist["late_p99_us"] == 45 and waist["rate_hz"] is None, waist
assert robot["buses"][0]["stale"] == 2, robot
END
}
lib_case channels_json channels_json

# ---- a user without the right ----

as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
may_not() {
	[ ${#as_user[@]} -gt 0 ] || return 0
	local user=("${as_user[@]}" env "$lib_folder/achctl") b=${p}estop-b
	chmod 755 "$lib_folder"
	cp "$achctl" "$lib_folder/achctl"
	clean "${p}estop" "$b"
	lib_says 111 '' "achctl estop: NOT RAISED: channel $b: ACH_EACCES: $shm$b: permission denied" \
		"${user[@]}" estop || return 1
	lib_matches 111 "run  channel ${p}estop: ACH_EACCES: *
no answer*$no_achstart" "${user[@]}" status || return 1
	# A mode that lets anyone in makes the channel as foreign as another owner does.
	"$ach" mk --type estop -o 666 -t "$b"
	lib_matches 111 "*NOT RAISED: channel $b: ACH_EACCES: $b belongs to uid 0, mode 0666, *" \
		"${user[@]}" estop || return 1
	# An operator.
	"$ach" mk --type estop -o 660 --group 65534 -t "$b"
	lib_says 0 'level estop, epoch 0, by nobody' '' "${user[@]}" estop && [ "$(last estop-b uid)" = 65534 ]
}
lib_case may_not may_not
clean "${p}estop" "${p}estop-b"

# ---- status ----

serve
answer status "$fine"
lib_case status_json lib_says 0 "$fine" '' "$achctl" status --json
lib_case status_people lib_matches 0 'bench  run, epoch 4, by bob: because
achstart 77, up 60 s, 1 of 1 ready

DAEMON *
waist   ready  active *
BUS *
torso  can7       error-active  50 %*' "$achctl" status
no_colours() { "$achctl" status | lib_not grep -q "$(printf '\033')"; }
lib_case status_no_colours no_colours
colours() {
	TERM=xterm script -qec "$achctl status" /dev/null | grep -q "$(printf '\033')\[32mready"
}
lib_case status_colours colours
no_color() {
	TERM=xterm NO_COLOR=1 script -qec "$achctl status" /dev/null | lib_not grep -q "$(printf '\033')\[32m"
}
lib_case status_no_color no_color
answer status "$(robot "$(daemon waist backoff false 0 null 4 ',"last_end":"signal 11"')")"
lib_case status_not_fine lib_matches 1 '*backoff*last: signal 11*' "$achctl" status
answer status "$(robot "$(daemon waist ready true 100 '"fault"' 4)")"
lib_case status_fault lib_matches 1 '*fault*' "$achctl" status
answer status "$(robot "$(daemon waist ready true 100 '"disarmed"' 4)" '' estop)"
lib_case status_estop_is_not_a_fault lib_matches 0 'bench  estop*' "$achctl" status
answer status CLOSE "$fine"
lib_case status_asks_again lib_matches 0 'bench*' "$achctl" status
answer status 'nonsense'
lib_case status_nonsense lib_matches 111 '*the answer of achstart makes no sense*' "$achctl" status
answer status HANG
lib_case status_hangs lib_matches 111 "*achctl status: achstart, process $server, does not answer" "$achctl" status
answer status "$fine"

# ---- start, restart, stop NAME ----

answer start '{"ok":true}'
lib_case start lib_says 0 'waist: ready, active, process 100, incarnation 3' '' "$achctl" start waist
lib_case start_asked test "$(asked 2)" = "$(printf 'start\twaist\nstatus')"
answer status "$(robot "$(daemon waist starting false 100 null 4)")" "$fine"
lib_case start_waits lib_says 0 'waist: ready, active, process 100, incarnation 3' '' "$achctl" start waist
answer status "$(robot "$(daemon waist starting false 100 null 4 ',"status":"module 15 is silent"')")"
lib_case start_late lib_says 1 '' 'achctl start: waist: not ready within 0.1 s: starting: module 15 is silent' \
	"$achctl" start waist --within 100ms
lib_case start_no_wait lib_says 0 'waist: asked to start' '' "$achctl" start waist --within 0
answer status "$(robot "$(daemon waist failed false 0 null 4 ',"why":"it died too often"')")"
lib_case start_failed lib_says 1 '' 'achctl start: waist: not started: failed: it died too often' "$achctl" start waist
answer start '{"ok":false,"error":"there is no daemon wasit; did you mean waist?"}'
answer status "$(robot "$(daemon waist ready true 100 null 0),$(daemon larm ready true 101 null 0)")"
lib_case start_what lib_says 100 '' 'achctl start: which daemon? achctl start NAME, where NAME is one of waist, larm' \
	"$achctl" start
lib_case log_what lib_says 100 '' 'achctl log: which daemon? achctl log NAME, where NAME is one of waist, larm' \
	"$achctl" log
lib_case start_what_json lib_says 100 \
	'{"ok":false,"error":"which daemon? achctl clear NAME, where NAME is one of waist, larm"}' '' \
	"$achctl" clear --json
lib_case start_refused lib_says 1 '' 'achctl start: refused: there is no daemon wasit; did you mean waist?' \
	"$achctl" start wasit
lib_case start_refused_json lib_says 1 \
	'{"ok":false,"error":"refused: there is no daemon wasit; did you mean waist?"}' '' "$achctl" start wasit --json
# The old process is still ready when achstart is asked for the first time: that is not the answer.
answer status "$(robot "$(daemon waist ready true 100 '"active"' 4)")"
lib_case restart_late lib_matches 1 '*waist: not ready within 0.2 s: ready' "$achctl" restart waist --within 200ms
answer status "$fine" "$(robot "$(daemon waist ready true 101 '"active"' 4)")"
lib_case restart lib_says 0 '{"ok":true,"name":"waist","state":"ready","ready":true,"pid":101,"incarnation":3}' '' \
	"$achctl" restart waist --json
# Nor is a state that is older than the process.
answer status "$fine" "$(robot "$(daemon waist ready true 101 '"active"' 4 ',"age_ms":13000')" | sed 's/"age_ms":3,//')"
lib_case restart_old_state lib_matches 1 '*not ready within 0.2 s*' "$achctl" restart waist --within 200ms
answer stop '{"ok":true}'
answer status "$(robot "$(daemon waist stopping false 100 null 4)")" "$(robot "$(daemon waist stopped false 0 null 4)")"
lib_case stop_name lib_says 0 'waist: stopped' '' "$achctl" stop waist
lib_case stop_name_asked test "$(asked 3 | head -1)" = "$(printf 'stop\twaist')"
answer status "$(robot "$(daemon waist stopping false 100 null 4)")"
lib_case stop_name_late lib_says 1 '' 'achctl stop: waist: not stopped within 0.1 s: stopping' \
	"$achctl" stop waist --within 100ms
answer restart CLOSE
lib_case not_twice lib_matches 111 '*closed the connection without an answer' "$achctl" restart waist
lib_case not_twice_asked test "$(asked 2 | grep -c restart)" = 1

# ---- arm ----

answer arm '{"ok":true,"epoch":6,"taken":1}'
lib_case arm lib_says 0 'armed: level run, epoch 6, by ann; taken by 1 driver' '' "$achctl" arm
lib_case arm_asked test "$(asked | cut -f1,2)" = "$(printf 'arm\tann')"
lib_case arm_who lib_says 0 '{"ok":true,"level":"run","epoch":6,"taken":1}' '' \
	"$achctl" arm --who 'bob the builder' --json
lib_case arm_who_asked test "$(asked | cut -f1,2)" = "$(printf 'arm\tbob the builder')"
# What was there when it was called: the numbers of the newest messages.
lib_case arm_seen test "$(asked | cut -f4,6)" = "$(printf '%s\t%s' "$(newest estop)" "$(newest estop-b)")"
answer arm '{"ok":false,"error":"waist: not ready"}'
: >"$lib_folder/asked"
lib_case arm_refused lib_says 1 '' 'achctl arm: refused: waist: not ready' "$achctl" arm
lib_case arm_refused_once test "$(grep -c '^arm' "$lib_folder/asked")" = 1
answer arm '{"ok":true}'
lib_case arm_no_epoch lib_matches 111 '*the answer of achstart has no epoch*' "$achctl" arm
# Without an answer the robot may have been armed: it is not, when achctl says so.
no_answer() { # ANSWER WHY
	clean "${p}estop" "${p}estop-b"
	answer arm "$1"
	lib_says 111 '' "achctl arm: not armed, level estop is raised: achstart, process $server, $2" \
		"$achctl" arm --within 500ms && raises estop estop
}
lib_case arm_hangs no_answer HANG 'does not answer; it will not be done later'
lib_case arm_closed no_answer CLOSE 'closed the connection without an answer'
# On a real bus the checks of achdoctor come first; an interface that is not there is not this process's affair.
on_bus() { # INTERFACE
	answer status "$(robot "$(daemon waist ready true 100 '"disarmed"' 4)" \
		'{"name":"torso","interface":"'"$1"'","state":"error-active"}')"
	answer arm '{"ok":true,"epoch":6,"taken":1}'
	rm -f "$lib_folder/asked"
}
armed='armed: level run, epoch 6, by ann; taken by 1 driver'
unfit="robot bench: epoch has mode 0644, not 0600: chmod 600 $ENDPLATE_RUN/epoch"
arm_on_bus() { # INTERFACE STATUS STDOUT STDERR [OPTION]: asks for arm only if it says armed
	on_bus "$1"
	lib_says "$2" "$3" "$4" "$achctl" arm ${5+"$5"} || return
	[ "$(grep -c '^arm' "$lib_folder/asked")" = $((1 - $2)) ]
}
chmod 750 "$ENDPLATE_RUN" "$ENDPLATE_RUN/log"
chmod 700 "$ENDPLATE_RUN/state"
chmod 660 "$ENDPLATE_RUN/control"
(umask 022 && : >"$ENDPLATE_RUN/epoch")
lib_case arm_unfit arm_on_bus nocan7 1 '' "achctl arm: refused: $unfit"
lib_case arm_unfit_json arm_on_bus nocan7 1 "{\"ok\":false,\"error\":\"refused: $unfit\"}" '' --json
lib_case arm_unfit_wire arm_on_bus wire:torso 0 "$armed" ''
chmod 600 "$ENDPLATE_RUN/epoch"
lib_case arm_fit arm_on_bus nocan7 0 "$armed" ''
rm "$ENDPLATE_RUN/epoch"
answer arm HANG
lib_case arm_unsupervised lib_says 1 '' \
	"achctl arm: refused: achstart, process $server, runs this robot: leave out --unsupervised" \
	"$achctl" arm --unsupervised

# ---- clear: a failed daemon is achstart's ----

answer status "$(robot "$(daemon waist failed false 0 null 4)")" "$fine"
lib_case clear_failed lib_says 0 'waist: ready, active, process 100, incarnation 3' '' "$achctl" clear waist
lib_case clear_failed_asked grep -q "^clear	waist$" "$lib_folder/asked"
answer status "$(robot "$(daemon waist stopped false 0 null 4)")"
lib_case clear_stopped lib_matches 1 '*waist is stopped: there is nothing to clear (achctl start waist starts it)' \
	"$achctl" clear waist

# ---- request, through achstart ----

answer request '{"ok":true,"result":0,"value":"4 \"of\" tick","error":""}'
lib_case request_through lib_says 0 '4 "of" tick' '' "$achctl" request waist get tick
lib_case request_through_asked test "$(asked)" = "$(printf 'request\twaist\tget\ttick\t')"
answer request '{"ok":true,"result":-1,"value":"","error":"there is nothing to bias"}'
lib_case request_through_no lib_says 1 '' 'achctl request: refused: waist: there is nothing to bias' \
	"$achctl" request waist bias
answer request '{"ok":false,"error":"request is for others"}'
lib_case request_no_right lib_says 1 '' 'achctl request: refused: request is for others' "$achctl" request waist home
answer request CLOSE
lib_case request_through_lost lib_matches 111 "*closed the connection without an answer; a motion*" \
	"$achctl" request waist home
answer request HANG
lib_case request_through_late lib_matches 111 '*waist has not answered within 0.1 s*' \
	"$achctl" request waist home --within 100ms
stop_serving

# ---- request, and clear of a driver, by its channels, where no achstart runs ----

# A driver that answers each request once, and says what it was; MODE missed: the first answer is overwritten by others.
cat >"$lib_folder/driver.py" <<'END'
import ctypes, struct, sys, time
ctypes.CDLL(None).prctl(1, 9)
lib = ctypes.CDLL(sys.argv[1])
prefix, mode, asked = sys.argv[2:5]
def channel(name):
    chan = ctypes.create_string_buffer(128)
    assert lib.ach_open(chan, (prefix + name).encode(), None) == 0
    return chan
req, rep = channel("waist-req"), channel("waist-rep")
def reply(ident, pid, result, error, value):
    head = struct.pack("<IHHIIIIQqqq", 13, 1, 0, 312, 1, 0, 0, 1, 0, time.monotonic_ns(), 0)
    message = head + struct.pack("<QIi120s120s", ident, pid, result, error, value)
    assert lib.ach_put(rep, message, len(message)) == 0
open(asked, "w").close()
seen = set()
while True:
    buf, size = ctypes.create_string_buffer(1024), ctypes.c_size_t()
    assert lib.ach_get(req, buf, 1024, ctypes.byref(size), None, 1) in (0, 6)
    until, ident, pid, verb, key, value = struct.unpack("<qQII24s120s", buf.raw[48:216])
    key, value = key.rstrip(b"\0"), value.rstrip(b"\0")
    with open(asked, "a") as to:
        to.write(f"{verb} {key.decode()} {value.decode()}{' again' if ident in seen else ''}\n")
    if mode == "ends" and verb == 1 and until:
        time.sleep(max(0, (until - time.monotonic_ns()) / 1e9))
        reply(ident, pid, -110, b"its deadline has passed", b"")
    if mode == "ends" and verb == 8:
        reply(ident, pid, -125, b"cancelled", b"")
        continue
    if verb == 4:
        reply(ident, pid, -1, b"there is nothing to bias", b"")
        continue
    if verb in (1, 2, 8):
        continue
    reply(ident + 1, pid, 0, b"", b"another's")
    reply(ident, pid + 1, 0, b"", b"another's")
    reply(ident, pid, 0, b"", b"%d of %s" % (len(key), key) if verb == 7 else b"")
    if mode == "missed" and ident not in seen:
        for i in range(200):
            reply(ident + 1, pid, 0, b"", b"another's")
    seen.add(ident)
END
"$ach" mk --type request -o 600 "${p}waist-req"
"$ach" mk --type reply -o 600 "${p}waist-rep"
driver=
drive() { # MODE
	[ -z "$driver" ] || kill -9 "$driver" 2>/dev/null || true
	rm -f "$lib_folder/requests"
	python3 "$lib_folder/driver.py" "$build/libach.so" "$p" "$1" "$lib_folder/requests" &
	driver=$!
	disown
	lib_until test -f "$lib_folder/requests"
}
drive plain
lib_case request_get lib_says 0 '4 of tick' '' "$achctl" request waist get tick
lib_case request_set lib_says 0 'done' '' "$achctl" request waist set tick 5ms
lib_case request_set_asked test "$(tail -1 "$lib_folder/requests")" = '6 tick 5ms'
lib_case request_json lib_says 0 '{"ok":true,"value":"4 of tick"}' '' "$achctl" --json request waist get tick
lib_case request_refused lib_says 1 '' 'achctl request: refused: waist: there is nothing to bias' \
	"$achctl" request waist bias
verbs='home, reset, clear, bias, activate, set, get'
lib_case request_verb lib_says 100 '' \
	"achctl request: \"rest\" is not a verb: it is one of $verbs; did you mean reset?" \
	"$achctl" request waist rest
lib_case request_arguments lib_says 100 '' 'achctl request: it is: achctl request waist set KEY VALUE' \
	"$achctl" request waist set tick
lib_case request_near lib_says 1 '' 'achctl request: there is no driver wasit; did you mean waist?' \
	"$achctl" request wasit bias
lib_case request_no_driver lib_says 111 '' \
	'achctl request: there is no driver gripper: no program has made its channel gripper-req' \
	"$achctl" request gripper bias
goes_on='a motion that has begun goes on: achctl hold ends it'
lib_case request_late lib_matches 111 "*waist has not answered within 0.1 s; its last state is * s old; $goes_on" \
	"$achctl" request waist home --within 100ms
lib_case request_late_still lib_matches 111 '*waist has not answered within 0.1 s; its last state is * s old' \
	"$achctl" request waist reset --within 100ms
interrupts() { # SIGNAL STATUS LINE: a signal while it waits
	local status=0 pid
	: >"$lib_folder/requests"
	env --default-signal=INT "$achctl" request waist home >"$lib_folder/out" 2>&1 &
	pid=$!
	lib_until grep -q '^1 ' "$lib_folder/requests"
	kill "-$1" $pid
	wait $pid || status=$?
	[ "$status,$(<"$lib_folder/out")" = "$2,achctl request: $3" ] && grep -q '^8 ' "$lib_folder/requests" && return
	cat "$lib_folder/out"
	return 1
}
lib_case request_not_ended interrupts TERM 111 "cancelled, but waist has not said that it has ended; $goes_on"
drive ends
lib_case request_cancelled interrupts INT 1 'cancelled: waist has ended home'
lib_case request_deadline lib_says 1 '' 'achctl request: not done within 0.3 s: waist has ended home' \
	"$achctl" request waist home --within 300ms
drive plain
lib_case clear_fault lib_says 0 'done' '' "$achctl" clear waist
lib_case clear_fault_asked test "$(tail -1 "$lib_folder/requests")" = '3  '
drive missed
lib_case request_missed lib_says 0 '4 of tick' '' "$achctl" request waist get tick

# ---- top ----

serve
types() { python3 test/scripts/type.py 24 80 "$@" -- "$achctl" top --every 100ms; }
answer status "$fine"
lib_case top types see:bench see:ready see:active 'see:e E-STOP at once' 'see:q quit' 'key:d' 'key:q'
clean "${p}estop" "${p}estop-b"
lib_case top_estop types see:DAEMON key:e 'see:estop raised by ann' key:q
lib_case top_estop_raised test "$(last estop level),$(last estop-b level)" = estop,estop
clean "${p}estop" "${p}estop-b"
lib_case top_hold types see:DAEMON key:h 'see:hold raised by ann' key:q
lib_case top_hold_raised test "$(last estop level),$(last estop-b level)" = estop,hold
answer status HANG
clean "${p}estop" "${p}estop-b"
# An achstart that hangs or dies does not matter.
lib_case top_hang types 'see:no answer from achstart' key:e 'see:estop raised by ann' "run:kill -9 $server" key:d key:q
lib_case top_hang_raised test "$(last estop level)" = estop
stop_serving
serve
answer status "$fine"
lib_case top_resize types see:RESTARTS 'size:24x40' 'key:d' see:DAEMON 'size:1x1' key:q
lib_case top_interrupted types see:DAEMON "key:$(printf '\003')"
lib_case top_no_terminal lib_says 111 '' \
	'achctl top: stdin and stdout must be a terminal (achctl status needs none)' "$achctl" top
# Ctrl-Z gives the terminal back to the shell, and fg takes it again.
cat >"$lib_folder/suspend.py" <<'END'
import os, pty, select, signal, sys, termios, time
pid, tty = pty.fork()
if not pid:  # a shell with job control
    os.environ["TERM"] = "xterm"
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execv(sys.argv[1], [sys.argv[1], "top", "--every", "100ms"])
    _, status = os.waitpid(child, os.WUNTRACED)
    modes = termios.tcgetattr(0)[3]
    cooked = bool(modes & termios.ICANON and modes & termios.ECHO)
    os.write(1, b"stopped %d restored %d\r\n" % (os.WIFSTOPPED(status), cooked))
    os.kill(child, signal.SIGCONT)
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
rest = b""
def see(text):
    global rest
    end = time.monotonic() + 60
    while text not in rest:
        assert time.monotonic() < end and select.select([tty], [], [], 60)[0], (text, rest)
        rest += os.read(tty, 65536)
    before, _, rest = rest.partition(text)
    return before
see(b"quit")
os.write(tty, b"\x1a")
assert b"\x1b[?1049l" in see(b"stopped 1 restored 1")  # the shell's screen
see(b"quit")
assert not termios.tcgetattr(tty)[3] & termios.ICANON
os.write(tty, b"q")
see(b"\x1b[?1049l")
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
END
lib_case top_suspended python3 "$lib_folder/suspend.py" "$achctl"
# A terminal without cursor motion gets the tables of status again and again.
dumb() { # TERM
	python3 test/scripts/type.py 24 80 see:DAEMON see:waist key:"$(printf '\003')" -- \
		env TERM="$1" "$achctl" top --every 50ms
}
lib_case top_dumb dumb dumb
lib_case top_unknown_terminal dumb no-such-terminal
top_json() { # goes on; each line is a status
	"$achctl" top --json --every 50ms | head -3 >"$lib_folder/out"
	[ "$(sort -u "$lib_folder/out")" = "$fine" ] && [ "$(wc -l <"$lib_folder/out")" = 3 ]
}
lib_case top_json top_json

# ---- stop, and who had to be killed ----

cat >"$lib_folder/stopper.py" <<'END'
import ctypes, os, socket, sys
ctypes.CDLL(None).prctl(1, 9)
os.chdir(os.environ["ENDPLATE_RUN"])
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind("control")
listener.listen(8)
while True:
    client, _ = listener.accept()
    line = client.recv(512).decode()
    if not line.startswith("stop"):
        continue
    client.sendall(b'{"ok":true}\n')
    client.close()
    with open("log/events.log", "a") as events:
        events.write(open(sys.argv[1]).read())
    os.unlink("control")
    sys.exit()
END
stop_robot() { # EVENTS STATUS STDOUT STDERR OPTION...
	local events=$1
	shift
	printf '2026-11-15 08:00:00.000001 waist warning killed: an old story\n' >"$ENDPLATE_RUN/log/events.log"
	printf '%b' "$events" >"$lib_folder/more"
	rm -f "$ENDPLATE_RUN/control"
	python3 "$lib_folder/stopper.py" "$lib_folder/more" &
	server=$!
	disown
	lib_until test -S "$ENDPLATE_RUN/control"
	lib_says "$1" "$2" "$3" "$achctl" stop "${@:4}"
}
stop_serving
stamp='2026-11-15 08:00:01.000001'
lib_case stop stop_robot "$stamp achstart info stopping: everything\n" \
	0 'the robot is stopped, and achstart has ended' ''
some="$stamp larm warning killed: x\n$stamp waist info ended: killed: no\n$stamp rarm warning killed: y\n"
lib_case stop_killed stop_robot "$some" \
	\
	0 'the robot is stopped, and achstart has ended' 'achctl stop: warning: had to be killed: larm, rarm'
lib_case stop_killed_json stop_robot "$stamp larm warning killed: x\n" 0 '{"ok":true,"killed":["larm"]}' '' --json
stop_serving

# ---- log and events ----

rm -f "$ENDPLATE_RUN/control"
for i in 1 2 3; do echo "$stamp line $i"; done >"$ENDPLATE_RUN/log/waist.log"
printf '%s waist error silent: module 15: no answer\n%s achstart info ready: x\n' "$stamp" "$stamp" \
	>"$ENDPLATE_RUN/log/events.log"
lib_case log lib_says 0 "$stamp line 1
$stamp line 2
$stamp line 3" '' "$achctl" log waist
lib_case log_lines lib_says 0 "$stamp line 3" '' "$achctl" log waist -n 1
lib_case log_json lib_says 0 "{\"time\":\"$stamp\",\"text\":\"line 3\"}" '' "$achctl" log waist -n1 --json
lib_case log_near lib_says 1 '' 'achctl log: there is no log of wasit; did you mean waist?' "$achctl" log wasit
lib_case log_none lib_says 111 '' "achctl log: there is no log of larm ($ENDPLATE_RUN/log/larm.log)" "$achctl" log larm
lib_case events lib_matches 0 "$stamp waist error silent: module 15: no answer
$stamp achstart info ready: x" "$achctl" events
# Control characters in a log do not reach the terminal.
for name in events waist; do
	printf '%s waist error silent: \033[2J\302\233m\377\tx\303\244\n' "$stamp" >"$ENDPLATE_RUN/log/odd-$name.log"
done
cleaned=$(printf '%s waist error silent: ?[2J??m?\tx\303\244' "$stamp")
lib_case log_clean lib_says 0 "$cleaned" '' "$achctl" log odd-waist
events_clean() {
	local status=0
	mv "$ENDPLATE_RUN/log/events.log" "$lib_folder/events.log"
	mv "$ENDPLATE_RUN/log/odd-events.log" "$ENDPLATE_RUN/log/events.log"
	lib_says 0 "$cleaned" '' "$achctl" events &&
		lib_matches 0 '*"text":"?\[2J??m?\\u0009xä"}' "$achctl" events --json || status=1
	mv "$lib_folder/events.log" "$ENDPLATE_RUN/log/events.log"
	return $status
}
lib_case events_clean events_clean
rm "$ENDPLATE_RUN/log/odd-waist.log"
silent=',"source":"waist","severity":"error","code":"silent","text":"module 15: no answer"}'
ready=',"source":"achstart","severity":"info","code":"ready","text":"x"}'
lib_case events_json lib_says 0 "{\"time\":\"$stamp\"$silent
{\"time\":\"$stamp\"$ready" '' "$achctl" events --json
follows() {
	local pid
	: >"$lib_folder/followed"
	"$achctl" log waist -f -n 0 >"$lib_folder/followed" &
	pid=$!
	# It may not have opened the file yet: lines until one is seen.
	for ((i = 0; i < 400; i++)); do
		echo "$stamp more" >>"$ENDPLATE_RUN/log/waist.log"
		grep -q more "$lib_folder/followed" && break
		sleep 0.05
	done
	mv "$ENDPLATE_RUN/log/waist.log" "$ENDPLATE_RUN/log/waist.log.1"
	echo "$stamp anew" >"$ENDPLATE_RUN/log/waist.log"
	lib_until grep -q anew "$lib_folder/followed" || return 1
	kill -INT $pid
	wait $pid
}
lib_case log_follows follows
ends_with_its_reader() { "$achctl" events -f | head -1 >/dev/null; } # else it hangs
lib_case events_follow_ends ends_with_its_reader

# ---- which robot ----

# As an ordinary user, whose robots are in $XDG_RUNTIME_DIR.
which_robot() {
	local base=$lib_folder/xdg/endplate
	local user=("${as_user[@]}" env -u ENDPLATE_RUN XDG_RUNTIME_DIR="$lib_folder/xdg" "$lib_folder/achctl")

	chmod 755 "$lib_folder"
	cp "$achctl" "$lib_folder/achctl"
	mkdir -p "$base/bench/log"
	echo one >"$base/bench/log/waist.log"
	lib_matches 0 one "${user[@]}" log waist || return 1
	mkdir -p "$base/other/log"
	echo two >"$base/other/log/waist.log"
	lib_matches 100 '*which robot? --robot takes one of *bench*' "${user[@]}" log waist || return 1
	lib_matches 0 two "${user[@]}" --robot other log waist || return 1
	mkdir -p "$base/robot/log"
	echo three >"$base/robot/log/waist.log"
	lib_matches 0 three "${user[@]}" log waist || return 1
	touch "$base/bench/control" # it runs, or did
	lib_matches 0 one "${user[@]}" log waist
}
lib_case which_robot which_robot
# An emergency stop asks no questions.
every_robot() {
	local base=$lib_folder/xdg/endplate
	local user=("${as_user[@]}" env -u ENDPLATE_RUN -u ENDPLATE_PREFIX XDG_RUNTIME_DIR="$lib_folder/xdg"
		"$lib_folder/achctl")
	operators() { "$ach" mk --type estop -o 660 --group "$("${as_user[@]}" id -g)" -t "${p}estop-b" "${q}estop-b"; }

	clean "${both[@]}"
	operators
	rm -r "$base/robot"
	keeps bench "$p" "$base/bench"
	lib_matches 0 'level estop, epoch 0, by nobody' "${user[@]}" hold && levels '' hold || return 1
	touch "$base/other/control"
	keeps other "$q" "$base/other"
	lib_matches 100 '*which robot? --robot takes one of *' "${user[@]}" arm || return 1
	lib_matches 0 '*warning: which robot was not said, and there are *: raised on *estop of robot *, *of robot *' \
		"${user[@]}" estop && levels estop estop || return 1
	operators
	lib_matches 0 'level estop, epoch 0, by nobody' "${user[@]}" --robot other estop && levels estop ''
}
lib_case every_robot every_robot
not_allowed() {
	[ ${#as_user[@]} -gt 0 ] || return 0
	serve
	chmod 600 "$ENDPLATE_RUN/control"
	lib_matches 111 "*only the robot's user and the groups of its launch file may use it" \
		"${as_user[@]}" env "$lib_folder/achctl" arm
}
lib_case not_allowed not_allowed

lib_end

#!/bin/bash
# drvhost: a driver in a shared object runs as its program does; what is refused; several in one process.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
cd "$(dirname "$0")/../../.."
. test/scripts/lib.sh
lib_tmp
PATH=$build:$PATH
export ENDPLATE_RUN=$lib_folder/run XDG_RUNTIME_DIR=$lib_folder ENDPLATE_PREFIX=t$$-
unset NOTIFY_SOCKET
p=$ENDPLATE_PREFIX started=()
finish() {
	kill -KILL "${started[@]}" 2>/dev/null || true
	wait 2>/dev/null
	rm -rf "$lib_folder" /dev/shm/ach*-"$p"*
}
trap finish EXIT
f=$lib_folder

object() { # FILE.so, C on stdin
	"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE= -I. -fPIC -shared -x c -o "$f/$1" -
	chmod 755 "$f/$1"
}

# ---- the same output ----

same() { # OPTION...
	local host=0 program=0

	drvhost exampled.so "$@" >"$f/host.out" 2>"$f/host.err" || host=$?
	exampled "$@" >"$f/program.out" 2>"$f/program.err" || program=$?
	cmp "$f/host.out" "$f/program.out" && cmp "$f/host.err" "$f/program.err" && [ $host = $program ]
}
cat >"$f/lab.yaml" <<'ROBOT'
robot: lab
buses:
  a: {interface: wire:a}
  b: {interface: wire:b}
devices:
  a: {driver: exampled, bus: a, settings: {lock_memory: no}, limits: {velocity: 2, acceleration: 4}}
  b: {driver: exampled, bus: b, settings: {lock_memory: no, node: 2}, limits: {velocity: 2, acceleration: 4}}
  other: {driver: pciod, bus: a}
ROBOT
while read -r line; do
	# shellcheck disable=SC2086 # words
	lib_case "as the program: $line" same $line
done <<LINES
--help
--version
--settings
--name a --config $f/lab.yaml --check
--name a --config $f/lab.yaml --frames
--name b --config $f/lab.yaml --set tick=2ms --frames
--name a --config $f/lab.yaml --set tick=2m --check
--name other --config $f/lab.yaml --check
--name a
--nam a
LINES

# ---- refusals ----

refused() { # LINE ARGUMENT...: status 100, one line
	local line=$1

	shift
	lib_says 100 '' "drvhost: fatal: $line" drvhost "$@"
}
no_driver='not an Endplate driver in a shared object: its source needs DRV_OBJECT, see drvhost(1)'
lib_case "no such file" refused "$f/none.so: No such file or directory" "$f/none.so"
not_here() (
	cd "$f"
	cp "$build/exampled.so" here.so
	refused 'here.so: No such file or directory' here.so
)
lib_case "a name is not searched for in the working directory" not_here
lib_case "a folder" refused "$f: not a regular file" "$f"
mkfifo "$f/fifo.so"
lib_case "a fifo" refused "$f/fifo.so: not a regular file" "$f/fifo.so"
: >"$f/empty.so"
lib_case "an empty file" refused "$f/empty.so: $no_driver" "$f/empty.so"
printf '@(#)endplate-object 1\n' >"$f/text.so"
lib_case "a text with the mark" refused "$f/text.so: $no_driver" "$f/text.so"
lib_case "another library" refused "$build/libach.so: $no_driver" "$build/libach.so"
lib_case "another program" refused "$build/ach: $no_driver" "$build/ach"
lib_case "its own program" refused \
	"$build/exampled: unable to load it: cannot dynamically load position-independent executable" "$build/exampled"

object abi.so <<C
#include <unistd.h>
const char drv_abi[] = "@(#)endplate-object 999\n";
__attribute__((constructor)) static void run(void) { _exit(3); }
C
version=$(sed -n 's/^#define DRV_ABI //p' daemons/drv/drv.h)
mark="$(sed -n 's/^#define DRV_ABI_MARK "\(.*\)"/\1/p' daemons/drv/drv.h)$version"
lib_case "another version, of which no code runs" refused "$f/abi.so: built for version 999 of the driver interface, \
this drvhost has version $version: build it again from the tree, or with the installed headers, of this drvhost" \
	"$f/abi.so"
object half.so <<<"const char drv_abi[] = \"$mark\\n\";"
lib_case "no drv_object" refused "$f/half.so: it exports no drv_object: its source needs DRV_OBJECT, see drvhost(1)" \
	"$f/half.so"
object hidden.so <<<"__attribute__((used)) static const char drv_abi[] = \"$mark\\n\";"
lib_case "no drv_abi" refused "$f/hidden.so: it exports no drv_abi: its source needs DRV_OBJECT, see drvhost(1)" \
	"$f/hidden.so"
object calls.so <<<"void drv_none(void); void drv_some(void); void drv_some(void) { drv_none(); } \
const char drv_abi[] = \"$mark\\n\";"
lib_case "a function that drvhost does not have" refused "$f/calls.so: unable to load it: undefined symbol: drv_none" \
	"$f/calls.so"
head -c 9000 "$build/exampled.so" >"$f/cut.so"
lib_case "half of a file" refused "$f/cut.so: it is incomplete: copy it again" "$f/cut.so"
writable() { # MODE
	cp "$build/exampled.so" "$f/mode.so"
	chmod "$1" "$f/mode.so"
	refused "$f/mode.so: other users may write it, mode 0$1: chmod go-w $f/mode.so" "$f/mode.so"
}
lib_case "others may write it" writable 646
lib_case "a group may write it" writable 664
if [ "$(id -u)" = 0 ]; then
	foreign() {
		chmod 755 "$f/mode.so"
		chown 12345 "$f/mode.so"
		refused "$f/mode.so: it belongs to uid 12345, which is neither root nor uid 0, which would run it: \
install a copy" "$f/mode.so"
	}
	lib_case "it belongs to another user" foreign
else
	chmod 000 "$f/mode.so"
	lib_case "may not be read" refused "$f/mode.so: Permission denied" "$f/mode.so"
fi
lib_case "options first" lib_matches 100 'drvhost: --name: unknown option*' drvhost --name a exampled.so
lib_case "-- at the end" refused '--: a FILE.so goes first, and behind each --; drvhost --help' exampled.so --name a --
lib_case "-- and no file" refused \
	 '--name: a FILE.so goes first, and behind each --; drvhost --help' exampled.so -- --name a
two=(exampled.so --name a --config "$f/lab.yaml" -- exampled.so --name b --config "$f/lab.yaml")
lib_case "several robots" refused \
	'exampled.so: all drivers of a process belong to one robot: give each the same --robot' \
	exampled.so --name a --robot one -- exampled.so --name b --robot=two
lib_case "--check of one of several" refused '--check or --frames for some of the drivers only: give it to all' \
	"${two[@]}" --check
lib_case "--frames of several" cmp <(drvhost "${two[@]:0:5}" --frames "${two[@]:5}" --frames) \
	<(exampled "${two[@]:1:4}" --frames && exampled "${two[@]:7}" --frames)
lib_case "one of several is refused" lib_matches 100 "exampled?b?: fatal: no bus*" \
	drvhost "${two[@]:0:6}" exampled.so --name b

# ---- the same life ----

lib_case "test_exampled.sh" env OBJECT=exampled.so bash test/daemons/example/test_exampled.sh
for part in estop restart; do
	lib_case "test_safety_$part" env SAFETY_DRVHOST=yes "$build/test/daemons/safety/test_safety_$part" exampled
done

# ---- several in one process ----

field() { ach echo "$p$1-state" --last | sed -n "s/^$2 = \(.*\)/\1/p"; }
is() { [ "$(field "$1" "$2")" = "$3" ]; }
more() { [ "$(field "$1" "$2")" -gt "$3" ]; }
all_is() { is a "$1" "$2" && is b "$1" "$2"; }
wait_all() { lib_until all_is "$@"; }
begin() { # the wires, the turntables
	canwire run --outage 0 a b 2>"$f/canwire" &
	started+=($!)
	robotsim run "$f/lab2.yaml" 2>"$f/robotsim" &
	started+=($!)
}
sed '/other/d' "$f/lab.yaml" >"$f/lab2.yaml"
begin
drvhost "${two[@]}" 2>"$f/said" &
host=$!
started+=("$host")
lib_case "each has its channels and its life" wait_all common.lifecycle disarmed
lib_case "one process" [ "$(cat "/proc/$host/task/"*/comm | sort | tr '\n' ' ')" = "a b drvhost " ]
again() { # NAME
	lib_matches 112 "exampled?$1?: fatal: channel $p$1-state is taken by drvhost, process $host of uid *" \
		exampled --name "$1" --config "$f/lab.yaml"
}
lib_case "each claims its device" eval 'again a && again b'
lib_until achctl arm --unsupervised >/dev/null 2>&1
wait_all common.lifecycle holding
for name in a b; do
	ach put "$p$name-ref" --json '{"mode":["velocity"],"velocity":[0.5]}' --valid 20 --hz 200 2>>"$f/said" &
	started+=($!)
done
wait_all common.lifecycle active
stalls() {
	local before

	canwire fault a stuck dominant 60s
	lib_until is a common.lifecycle fault
	before=$(field b common.ticks)
	lib_until more b common.ticks "$((before + 200))"
	is b common.lifecycle active && is a common.lifecycle fault || return
	canwire fault a clear
	canwire link reset a >/dev/null 2>&1 || true
	wait_all common.lifecycle active
}
lib_case "the bus of one stalls: the other goes on" stalls
asked() {
	local status=0

	kill -TERM $host
	wait $host || status=$?
	[ $status = 0 ] && all_is common.lifecycle down
}
lib_case "asked to end, all of them do" asked
fails() { # the second claims what the first has
	local status=0

	timeout 20 drvhost "${two[@]:0:6}" exampled.so --name c --bus wire:a 2>"$f/fails" || status=$?
	cat "$f/fails"
	[ $status = 112 ] && grep -q '211 of wire:a is taken by' "$f/fails"
}
lib_case "one that fails ends the process, with its status" fails

# ---- under achstart ----

sed 's/^\tstruct msg_joint_state \*s = state;/&\n\n\tif (!access(HANGS, F_OK))\n\t\tfor (;;)\n\t\t\tpause();/
	s/^#include <math.h>/&\n#include <unistd.h>/' daemons/example/exampled.c >"$f/hangs.c"
"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE= -I. -fPIC -shared -DHANGS="\"$f/hang\"" -o "$f/hangs.so" "$f/hangs.c" \
	daemons/example/example.c -Wl,--version-script=daemons/drvhost/object.map
chmod 755 "$f/hangs.so"
cat >"$f/both.launch" <<LAUNCH
include: lab2.yaml
clock: none
daemons:
  both:
    program: drvhost
    alive: watchdog
    args: [exampled.so, --name, a, --robot, lab, --config, $f/lab.yaml, --,
      ./hangs.so, --name, b, --robot, lab, --config, $f/lab.yaml, --set, core=0]
LAUNCH
{ kill -KILL "${started[@]}" && wait "${started[@]}"; } 2>/dev/null || true
rm -rf "$f/run" /dev/shm/ach*-"$p"*
begin
(cd "$f" && exec achstart --real both.launch) 2>"$f/achstart" &
started+=($!)
supervisor=$!
said() { [ "$(grep -c "$1" "$f/achstart")" -ge "${2:-1}" ]; }
lib_case "ready when all are" eval "lib_until said 'both.: ready' && wait_all common.lifecycle disarmed"
cores() { # b has core 0, a has all of them
	local pid

	pid=$(sed -n 's/^pid //p' "$f/run/state/both")
	for own in /proc/"$pid"/task/*; do
		echo "$(cat "$own/comm") $(sed -n 's/^Cpus_allowed_list:\t//p' "$own/status")"
	done | sort >"$f/cores"
	grep -qx 'b 0' "$f/cores" && grep -qx "a $(sed -n 's/^Cpus_allowed_list:\t//p' /proc/$$/status)" "$f/cores"
}
lib_case "each thread has its core" cores
hangs() {
	touch "$f/hang"
	lib_until said 'both.: .*killed'
	rm "$f/hang"
	lib_until said 'both.: ready' 2
	lib_until more a header.incarnation 1 && lib_until more b header.incarnation 1
}
lib_case "one that hangs is noticed, and all are started again" hangs
kill "$supervisor"
wait "$supervisor" || true

# ---- on a virtual clock ----

if ! unshare -minpf --mount-proc mount -t tmpfs tmpfs /run 2>/dev/null; then
	lib_ignore "on a virtual clock" "no namespaces here"
	lib_end
	exit
fi
for object in '' exampled.so; do
	printf 'include: lab2.yaml\nclock: none\narm: auto\ndaemons: {canwire: , robotsim: , a: {%s}, b: {%s}}\n' \
		"${object:+object: $object}" "${object:+object: $object}" >"$f/virtual$object.launch"
done
virtual() { # OPTION... FILE
	# shellcheck disable=SC2016 # for the shell inside
	unshare -minpf --kill-child --mount-proc bash -c '
		mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run
		unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR
		timeout -s KILL 300 achstart --virtual --seed 3 --for 4s "$@"' "$build" "$@" 2>"$f/err"
}
kills=(--kill a@1s --kill b@1003ms+2 --kill a@2s)
killed() {
	local program host

	program=$(virtual "${kills[@]}" "$f/virtual.launch") || return
	host=$(virtual "${kills[@]}" "$f/virtualexampled.so.launch") || return
	echo "$program, $host"
	[ "${program%% *}" = hash ] && [ "$program" = "$host" ] &&
		[ "$(grep -c 'signal 9' "$f/err")" = 3 ] && [ "$(grep -c 'a.: ready' "$f/err")" = 3 ]
}
lib_case "killed and restarted as the program is: the same hash" killed
sed -i 's/^  both:/  canwire:\n  robotsim:\n  both:\n    needs: robotsim/' "$f/both.launch"
together() {
	virtual "$f/both.launch" >/dev/null || true
	lib_matches 0 '*several drivers in one process cannot keep to a virtual clock*' cat "$f/err"
}
lib_case "several cannot keep to a virtual clock" together
lib_end

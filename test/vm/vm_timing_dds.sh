#!/bin/bash
# vm_timing_dds.sh: a driver that gets its references from another machine, on a line that loses, delays and is cut: it
# misses no tick, holds when the references end and follows them again without help.  On the virtual clock.
#
# The other machine is a network namespace; netem is at both ends of the line.
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH
unset NOTIFY_SOCKET ENDPLATE_PREFIX XDG_RUNTIME_DIR ROS_DOMAIN_ID CYCLONEDDS_URI
mkdir -m 700 "$lib_folder"/{a,b,run.a,run.b}

on_robot() { ACH_DIR=$lib_folder/a ENDPLATE_RUN=$lib_folder/run.a "$@"; }
elsewhere() { ip netns exec elsewhere env "ACH_DIR=$lib_folder/b" "ENDPLATE_RUN=$lib_folder/run.b" "$@"; }
pass() { read -r -t "$1" -u "$vm_never" _ || true; } # SECONDS
# COMMAND...: as vm_until, which asks so often that most of the emulated work would be asking
soon() {
	local i

	for ((i = 0; i < 120; i++)); do
		"$@" >/dev/null 2>&1 && return
		pass 0.5
	done
	vm_until "$@"
}

cat >"$lib_folder/robot.yaml" <<END
like: $PWD/config/robots/waist.yaml
robot: vm
buses: {torso: {interface: vcan0}}
devices:
  clock: {settings: {tick: 5ms}}
  waist: {settings: {tick: clock/4, ref_max: 200ms, module_watchdog: 1s}}
END
cat >"$lib_folder/robot.launch" <<END
include: robot.yaml
arm: auto
daemons:
  robotsim: {priority: 55}
  clock: {priority: 50}
  waist: {priority: 45, critical: hold}
END
# Half of the round trip is the uncertainty of the other clock.
cat >"$lib_folder/plan.a" <<END
interface: va
peers: [10.77.0.2]
relay: {name: k, send: [waist-state], receive: [waist-ref], who: anyone, valid: 100ms, uncertainty: 30ms}
END
cat >"$lib_folder/plan.b" <<END
interface: vb
peers: [10.77.0.1]
relay: {name: k, send: [waist-ref], receive: [waist-state], uncertainty: 30ms}
END

# ---- how it is ----

state() { on_robot ach echo waist-state --last; }
says() { [[ $(state) == *"$1"* ]]; }
numbers() { # "TICKS SKIPPED TAKEN" of the driver
	state | sed -nE 's/^common\.(ticks|skipped|refs_taken) = ([0-9]+).*/\1 \2/p' |
		awk '{ n[$1] = $2 } END { print n["ticks"], n["skipped"], n["refs_taken"] }'
}
relayed() { # MACHINE KEY: of the first channel that it receives
	grep -A 99 '"receive"' "$lib_folder/state.$1" | grep -oE "\"$2\":-?[0-9]+" | head -n 1 | cut -d: -f2
}
more() { [ "$(relayed "$1" "$2")" -gt "$3" ]; } # MACHINE KEY THAN
taken() { numbers | cut -d' ' -f3; }
has_taken() { [ "$(taken)" -gt "$1" ]; }
pids() { cat "$lib_folder/run.a/state"/* | sed -n 's/^pid //p' | sort | xargs; }

# NAME SECONDS: every tick of this time happens; sets took, the references that the driver takes meanwhile
lasts() {
	local before after ticks

	read -ra before <<<"$(numbers)"
	pass "$2"
	read -ra after <<<"$(numbers)"
	ticks=$((after[0] - before[0])) took=$((after[2] - before[2]))
	echo "$1: $ticks ticks, skipped $((after[1] - before[1])), references taken $took"
	[ "$ticks" -ge $(($2 * 50)) ] && [ "${after[1]}" = "${before[1]}" ]
}

line() { # WORD...: what netem does at both ends
	tc qdisc replace dev va root netem "$@"
	ip netns exec elsewhere tc qdisc replace dev vb root netem "$@"
}

# ---- the test ----

connect() {
	ip netns add elsewhere
	ip link add va type veth peer name vb netns elsewhere
	ip addr add 10.77.0.1/24 dev va
	ip -n elsewhere addr add 10.77.0.2/24 dev vb
	ip link set va up
	ip -n elsewhere link set vb up
}

test_the_robot_does_not_notice_what_its_line_does() {
	local before took seen

	# Pages of the host take any time on this clock: they are all here when it starts.
	ldd "$build/achdds" | grep -o '/[^ ]*' | xargs cat >/dev/null
	soon on_robot achstart --check "$lib_folder/robot.launch"
	soon achdds --check "$lib_folder/plan.a"
	connect
	line delay 0
	# shellcheck disable=SC2016 # at the end
	vm_finally 'cat $lib_folder/said*; pids | xargs -r kill -KILL; ip netns pids elsewhere | xargs -r kill -KILL'
	on_robot achstart "$lib_folder/robot.launch" >"$lib_folder/said" 2>&1 &
	soon says 'common.level = run'
	on_robot achdds --state "$lib_folder/state.a" "$lib_folder/plan.a" 2>"$lib_folder/said.a" &
	elsewhere achdds --state "$lib_folder/state.b" "$lib_folder/plan.b" 2>"$lib_folder/said.b" &
	soon elsewhere ach echo waist-state --last
	elsewhere ach put waist-ref --type joint-ref --valid 100 --hz 25 --for 600 \
		--json '{"mode":["position"],"position":[-0.5],"velocity":[0],"current":[0]}' &
	soon says 'common.lifecycle = active'
	before=$(pids)
	lasts 'a good line' 2
	[ "$took" -ge 45 ]
	says 'common.lifecycle = active'

	line loss 10% delay 20ms
	lasts 'loss 10 %, delay 20 ms' 4
	[ "$took" -ge 65 ] && [ "$took" -lt 100 ]
	says 'common.lifecycle = active'
	soon more a lost 2

	line loss 100%
	soon says 'common.lifecycle = holding'
	lasts 'no line' 5
	[ "$took" = 0 ]
	says 'common.lifecycle = holding'
	seen=$(relayed b received)

	line delay 0
	soon says 'common.lifecycle = active'
	soon more b received "$seen"
	lasts 'a good line again' 2
	[ "$took" -ge 45 ]
	[ "$(pids)" = "$before" ]
}

lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# vm_achdoctor.sh: achdoctor on vcan and on emulated controllers that are set otherwise than the robot file says, and
# achctl arm, which asks it.
# on: rt
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
export PATH=$build:$PATH
unset NOTIFY_SOCKET ENDPLATE_PREFIX ENDPLATE_RUN
queue=$(</sys/class/net/can0/tx_queue_len)
# As after boot.
restore() {
	vm_can_up can0 bitrate 1000000 restart-ms 100
	ip link set can0 txqueuelen "$queue"
}
trap 'restore; rm -rf "$lib_folder"' EXIT
report=$lib_folder/report
ip link set can0 txqueuelen 10

# An emulated machine is slow and may stand still for a while.
robot_file() { # INTERFACE [SETTING...]: of its bus
	local interface=$1

	shift
	cat >"$lib_folder/robot.yaml" <<-END
		robot: doctor
		buses: {torso: {interface: $interface, bitrate: 1000000${*:+, $*}}}
		devices:
		  clock: {driver: hubo-daemon, bus: torso, actuated: no, settings: {tick: 50ms}}
	END
	printf '%s\n' 'include: robot.yaml' 'daemons: {clock: {priority: 50, dead_after: 20s, ready_within: 1min}}' \
		>"$lib_folder/doctor.launch"
}

# STATUS FILE [LINE...]: achdoctor ends so and prints these lines, which are patterns of grep.
says() {
	local status=0 want=$1 file=$2 line

	shift 2
	achdoctor "$lib_folder/$file" >"$report" 2>&1 || status=$?
	cat "$report"
	is "$status" = "$want"
	for line; do
		grep -E -- "$line" "$report" || { echo "missing: $line"; return 1; }
	done
}

test_kernel() {
	robot_file vcan0
	says 0 doctor.launch '^  ok +priority +a thread runs with SCHED_FIFO 50$' '^  ok +memory '
	case ${VM_GUEST:-} in
	rt) grep -E '^  ok +preemption +PREEMPT_RT$' "$report" ;;
	stock) grep -E '^  warn +preemption ' "$report" ;;
	esac
	achdoctor
	achdoctor --json | jq -e '.ok and (.checks | length > 10)'
	lib_not achdoctor --nonsense
}

test_priority_is_refused() {
	local status=0

	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all prlimit --rtprio=0 --memlock=65536 \
		achdoctor >"$report" 2>&1 || status=$?
	cat "$report"
	is "$status" = 1
	grep -E '^  fail +priority +SCHED_FIFO 50 is refused: Operation not permitted; limit 0$' "$report"
	grep -E '^  fail +memory ' "$report"
}

test_vcan_is_skipped() {
	robot_file vcan0
	says 0 robot.yaml '^  skip +interface +vcan: virtual'
	vm_vcan own
	vm_finally vm_away own
	ip link set own down
	robot_file own
	says 1 robot.yaml '^  fail +state +own is down$' '> ip link set own up$'
	says 0 doctor.launch '^  ok +state +down; achstart'
}

test_vcan_without_room_for_fd() {
	ip link add own mtu 16 type vcan
	vm_finally vm_away own
	ip link set own up
	robot_file own 'data_bitrate: 5000000'
	says 1 doctor.launch '^  fail +interface +vcan: mtu 16, not 72: it carries no CAN FD frame$' \
		'> ip link set own down; ip link set own mtu 72 up$'
	# The printed command mends it.
	bash -ec "$(sed -n 's/^ *> \(ip link set own down.*\)/\1/p' "$report")"
	says 0 doctor.launch '^  skip +interface +vcan: virtual'
}

test_missing() {
	robot_file can17
	says 1 doctor.launch '^  fail +interface +can17 does not exist$'
}

test_good() {
	robot_file can0 'restart_ms: 100'
	vm_can_up can0 bitrate 1000000 restart-ms 100
	says 0 doctor.launch '^  (ok|warn) +identity +device 0000:' '^  ok +bit rate +1000000' \
		'^  ok +restart-ms +100$' '^  ok +queue +pfifo_fast, 10 frames$' \
		'^  ok +echo ' '^  ok +state +error-active' '^  ok +modes '
}

test_wrong_bit_rate() {
	robot_file can0 'restart_ms: 100'
	vm_can_up can0 bitrate 500000 restart-ms 100
	says 1 doctor.launch '^  fail +bit rate +bit rate 500000, not 1000000$' \
		'> ip link set can0 down; ip link set can0 up type can bitrate 1000000 restart-ms 100$'
	# The printed command mends it.
	bash -ec "$(sed -n 's/^ *> \(ip link set can0 down.*\)/\1/p' "$report")"
	says 0 doctor.launch '^  ok +bit rate '
}

test_missing_restart() {
	robot_file can0 'restart_ms: 100'
	vm_can_up can0 bitrate 1000000 restart-ms 0
	says 1 robot.yaml '^  fail +restart-ms +0, not 100'
	says 0 doctor.launch '^  warn +restart-ms +0, not 100'
	robot_file can0
	says 0 doctor.launch '^  ok +restart-ms +0, achstart resets it'
}

test_queue() {
	robot_file can0
	vm_can_up can0
	tc qdisc replace dev can0 root fq_codel
	says 0 doctor.launch '^  warn +queue +fq_codel drops' '> tc qdisc replace dev can0 root pfifo_fast$'
	tc qdisc replace dev can0 root netem delay 1ms
	says 1 doctor.launch '^  fail +queue +netem loses'
	tc qdisc replace dev can0 root pfifo_fast
	says 0 doctor.launch '^  ok +queue +pfifo_fast'
	ip link set can0 txqueuelen 1000
	says 0 doctor.launch '^  warn +queue +1000 frames'
	ip link set can0 txqueuelen 10
}

test_modes() {
	robot_file can0
	vm_can_up can0 bitrate 1000000 restart-ms 0 listen-only on
	says 1 doctor.launch '^  fail +modes +listen-only'
	vm_can_up can0 bitrate 1000000 listen-only off
}

test_down() {
	robot_file can0
	ip link set can0 down
	says 1 robot.yaml '^  fail +state +can0 is down$'
	says 0 doctor.launch '^  ok +state +down; achstart'
	vm_can_up can0
}

test_states() {
	[ -z "$(vm_no_faults)" ] || exit 77
	robot_file can0
	vm_can_up can0
	vm_fault can0 warning
	says 0 doctor.launch '^  warn +state +'
	vm_fault can0 passive
	says 1 doctor.launch '^  fail +state +'
	vm_fault can0 busoff
	says 1 doctor.launch '^  fail +state +.*bus-off'
	vm_can_up can0
}

# ---- achctl arm ----

is_fine() { achctl status; }
end_all() {
	awk '$1 == "pid" { print $2 }' "$ENDPLATE_RUN"/state/* 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
}
arms() { # STATUS PATTERN
	local status=0

	achctl arm --within 60s >"$report" 2>&1 || status=$?
	cat "$report"
	is "$status" = "$1"
	grep -E -- "$2" "$report"
}
test_arm() {
	robot_file can0
	vm_can_up can0
	export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=doctor.
	achstart "$lib_folder/doctor.launch" >"$lib_folder/said" 2>&1 &
	vm_finally end_all # daemons outlive their achstart
	vm_until is_fine || { cat "$lib_folder/said"; return 1; }
	arms 0 '^armed: level run'
	tc qdisc replace dev can0 root netem delay 1us
	arms 1 '^achctl arm: refused: bus torso, can0: netem loses.*: tc qdisc replace dev can0 root pfifo_fast$'
	tc qdisc replace dev can0 root pfifo_fast
	arms 0 '^armed: level run'
	achctl --json arm --within 60s | jq -e .ok
	achctl stop
}

if [ "${VM_GUEST:-}" = rt ]; then # what another kernel may change: its name, priorities, how a link looks
	unset -f test_vcan_is_skipped test_vcan_without_room_for_fd test_missing test_wrong_bit_rate \
		test_missing_restart test_queue test_modes test_down test_arm
fi
lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# vm_machine.sh: the virtual machine itself: interfaces, can-utils on them, netem and full queues, controllers' faults.
# on: rt
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
output=$lib_folder/output

frames() { cut -d ' ' -f 3 "${1:-$output}" | tr '\n' ' '; }

test_kernel() {
	local realtime=no

	[ ! -e /sys/kernel/realtime ] || realtime=yes
	case ${VM_GUEST:-} in
	rt) is "$realtime" = yes ;;
	stock) is "$realtime" = no ;;
	esac
	is "$(nproc)" = 2
	is "$(id -u)" = 0
}

# The name makes it the first case.
test_begins_with_these_interfaces() {
	local i

	for i in {0..7}; do
		vm_is_up "vcan$i"
		is "$(<"/sys/class/net/vcan$i/mtu")" = 72
	done
	for i in {0..3}; do
		vm_is_up "can$i"
		is "$(vm_link "can$i")" = 'ERROR-ACTIVE 0 0 100 1000000'
	done
}

# Every form of frame, there as it was sent.
carries() { # FROM TO FRAME...
	local from=$1 to=$2 frame

	shift 2
	vm_reader "$to" "$output" candump -L "$to"
	for frame; do
		cansend "$from" "$frame"
	done
	vm_until vm_lines "$output" $#
	is "$(frames)" = "$(printf '%s ' "$@")"
}
test_vcan() { carries vcan0 vcan0 123#DEADBEEF 1ABCDEF0#0102030405060708 7FF# 001#R 123##500112233445566778899AABB; }
test_controllers() { carries can0 can1 123#DEADBEEF 1ABCDEF0#0102030405060708 7FF# 001#R; }
test_controllers_back() { carries can1 can0 321#11; }

test_wires_are_apart() {
	local other=$lib_folder/other

	vm_reader can2 "$other" candump -L can2
	vm_reader can1 "$output" candump -L can1
	cansend can0 111#
	vm_until vm_lines "$output" 1
	cansend can3 333#
	vm_until vm_lines "$other" 1
	is "$(frames "$other")" = '333# '
}

# Paced: an emulated controller's small buffer overruns where its interrupt is late.
generated() { # FROM TO
	vm_reader "$2" "$output" candump -L -r 4000000 "$2"
	cangen "$1" -n 200 -g 2 -I i -L 8 -D i
	vm_until vm_lines "$output" 200
	is "$(wc -l <"$output")" = 200
	is "$(cut -d ' ' -f 3 "$output" | sort -u | wc -l)" = 200
}
test_cangen_vcan() { generated vcan1 vcan1; }
test_cangen_controllers() { generated can0 can1; }

test_vcan_of_ones_own() {
	vm_vcan own
	vm_finally :
	carries own own 123#
	vm_away own
	[ ! -e /sys/class/net/own ]
	vm_until lib_not kill -0 "$vm_pid" # candump has noticed
}

test_filters_are_counted() {
	local before

	before=$(vm_filters vcan2)
	vm_wanted=5 vm_reader vcan2 "$output" candump 'vcan2,123:C00007FF,92345678:DFFFFFFF,100:700,200~700,#FFFFFFFF'
	is "$(vm_filters vcan2)" = $((before + 5))
	vm_stop "$vm_pid"
	is "$(vm_filters vcan2)" = "$before"
}

# ---- queues: only with echo=1 do the frames of a vcan pass its queue ----

test_netem_loses() {
	vm_vcan_reload echo=1
	vm_finally vm_vcan_reload
	vm_reader vcan0 "$output" candump -L vcan0
	tc qdisc replace dev vcan0 root netem loss 100%
	cansend vcan0 111#
	tc qdisc del dev vcan0 root
	cansend vcan0 222#
	vm_until vm_lines "$output" 1
	vm_stop "$vm_pid"
	is "$(frames)" = '222# '
}

test_netem_without_echo_is_blind() {
	vm_reader vcan0 "$output" candump -L vcan0
	tc qdisc replace dev vcan0 root netem loss 100%
	cansend vcan0 111#
	tc qdisc del dev vcan0 root
	vm_until vm_lines "$output" 1
}

test_full_queue() {
	vm_vcan_reload echo=1
	vm_finally vm_vcan_reload
	tc qdisc replace dev vcan0 root netem delay 100s limit 2
	cansend vcan0 111#
	cansend vcan0 112#
	cansend vcan0 113# >"$output" 2>&1 || true
	grep 'No buffer space available' "$output"
}

# ---- faults ----

faults() {
	trap 'vm_can_up can0 bitrate 1000000 restart-ms 100; rm -rf "$lib_folder"' EXIT # as it was

	ready() { # whatever the last case has left; no restart by itself
		vm_fault can0 resume
		if [[ $(vm_link can0) != 'ERROR-ACTIVE 0 0 0 1000000' ]] || ! vm_is_up can0; then
			vm_can_up can0
		fi
	}

	test_fault_states() {
		ready
		vm_fault can0 warning
		is "$(vm_link can0)" = 'ERROR-WARNING 96 0 0 1000000'
		vm_fault can0 passive
		is "$(vm_link can0)" = 'ERROR-PASSIVE 128 0 0 1000000'
		vm_fault can0 counters 12 99
		is "$(vm_link can0)" = 'ERROR-WARNING 12 99 0 1000000'
		vm_fault can0 counters 12 34
		is "$(vm_link can0)" = 'ERROR-ACTIVE 12 34 0 1000000'
		vm_fault can0 active
		is "$(vm_link can0)" = 'ERROR-ACTIVE 0 0 0 1000000'
		is "$(vm_link can1)" = 'ERROR-ACTIVE 0 0 100 1000000'
		vm_fault can0 counters 12 34
		vm_can_up can0
		is "$(vm_link can0)" = 'ERROR-ACTIVE 0 0 0 1000000'
	}

	test_fault_frames() {
		ready
		vm_wanted=2 vm_reader can0 "$output" candump -L can0,0:0,#FFFFFFFF
		vm_fault can0 warning
		vm_fault can0 counters 0 130
		vm_fault can0 active
		vm_fault can0 busoff
		vm_until vm_lines "$output" 4
		is "$(frames)" = "20000204#0008000000006000 20000204#0010000000000082 \
20000204#0040000000000000 20000040#0000000000000000 "
	}

	test_fault_busoff() {
		ready
		vm_fault can0 busoff
		is "$(vm_link can0)" = 'BUS-OFF 256 0 0 1000000'
		vm_until lib_not vm_is_up can0
		lib_not vm_fault can0 active 2>/dev/null
		ip link set can0 type can restart
		vm_until vm_is_up can0
		is "$(vm_link can0)" = 'ERROR-ACTIVE 0 0 0 1000000'
		carries can0 can1 123#
	}

	test_fault_busoff_restarts_by_itself() {
		ready
		vm_can_up can0 bitrate 1000000 restart-ms 100
		vm_fault can0 busoff
		vm_until vm_in_state can0 ERROR-ACTIVE
		vm_until vm_is_up can0
		carries can0 can1 123#
	}

	# The first frame behind the stall shows that none was before it.
	test_fault_stall() {
		ready
		vm_fault can0 stall
		vm_reader can1 "$output" candump -L can1
		cansend can0 101#
		cansend can0 102#
		cansend can1 001# # its echo comes back behind anything that got out
		vm_until vm_lines "$output" 1
		is "$(frames)" = '001# '
		vm_fault can0 resume
		vm_until vm_lines "$output" 3
		is "$(frames)" = '001# 101# 102# '
	}

	test_fault_stall_and_reset() {
		ready
		vm_fault can0 stall
		vm_reader can1 "$output" candump -L can1
		cansend can0 101#
		vm_can_up can0
		cansend can0 102#
		vm_fault can0 resume
		cansend can0 103#
		vm_until vm_lines "$output" 2
		is "$(frames)" = '102# 103# '
	}

	test_fault_refused() {
		ready
		says() { # ERROR WORD...
			local error=$1

			shift
			lib_not vm_fault "$@" 2>"$output"
			grep "$error" "$output"
		}
		vm_fault can0 resume
		says 'Invalid argument' can0 nonsense
		says 'Invalid argument' can0
		says 'Invalid argument' can0 counters 257 0
		says 'Invalid argument' can0 counters 0 256
		says 'No such device' can9 stall
		says 'not supported' vcan0 stall
		ip link set can0 down
		says 'Network is down' can0 busoff
	}

	test_fault_unloaded() {
		ready
		vm_fault can0 counters 100 0
		vm_fault can0 stall
		rmmod canfault
		is "$(vm_link can0)" = 'ERROR-WARNING 0 0 0 1000000'
		carries can0 can1 123#
	}
}

reason=$(vm_no_faults)
if [ -z "$reason" ]; then
	faults
else
	lib_ignore faults "$reason"
fi
if [ "${VM_GUEST:-}" = rt ]; then # what another kernel may change: interrupts, queues, locks
	unset -f test_vcan test_vcan_of_ones_own test_wires_are_apart test_filters_are_counted test_cangen_vcan \
		test_netem_loses test_netem_without_echo_is_blind test_controllers_back test_fault_frames \
		test_fault_busoff_restarts_by_itself test_fault_stall_and_reset test_fault_refused test_fault_unloaded
fi
lib_functions "$lib_folder/log" "${1:-}"

#!/bin/bash
# A neighbour on the network against achdds: recorded packets of a writer of references, from another network namespace.
#
# Each way in is shown to be open first, by "ear read": a participant on the same library, with the same options, but
# without the filter.  What the neighbour then sends to achdds is the same.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
folder=$(mktemp -d)
lib_folder=$folder
export LC_ALL=C PATH=$build:$build/test/dds:$PATH ACH_DIR=$folder/chan ENDPLATE_RUN=$folder/run
unset NOTIFY_SOCKET ROS_DOMAIN_ID XDG_RUNTIME_DIR CYCLONEDDS_URI ENDPLATE_PREFIX EAR_KEYS EAR_INTERFACE EAR_PEER
robot=fr$$ outside=fn$$
cleanup() {
	for where in "$robot" "$outside"; do
		ip netns pids "$where" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
		ip netns del "$where" 2>/dev/null || true
	done
	lib_remove_channels ''
	rm -rf "$folder"
}
trap cleanup EXIT
mkdir -m 700 "$ACH_DIR" "$ENDPLATE_RUN"

if ! ip netns add $robot 2>/dev/null || ! ip netns add $outside; then
	lib_ignore filter "no namespaces here"
	lib_end
	exit
fi
cable() {
	ip -n $robot link add va type veth peer name vb netns $outside
	ip -n $robot addr add 10.77.0.1/24 dev va
	ip -n $outside addr add 10.77.0.2/24 dev vb
	ip -n $robot link set va up
	ip -n $outside link set vb up
}
cable
ip -n $robot link set lo up
on_robot() { ip netns exec $robot "$@"; } # in the background the process would be that of a shell
set_on_robot() { on_robot sysctl -q "net.ipv4.conf.va.$1" "net.ipv4.conf.all.$1"; } # NAME=VALUE

neighbour=(ip netns exec "$outside" /usr/bin/python3 test/dds/neighbour.py 7)
ways=(address route_localnet accept_local)
by_way() { # WAY: the packets of the neighbour
	local mac rounds=(--rounds 50)
	case $1 in
	address) "${neighbour[@]}" 10.77.0.1 "${rounds[@]}" ;;
	route_localnet)
		set_on_robot route_localnet=1
		mac=$(on_robot cat /sys/class/net/va/address)
		"${neighbour[@]}" 127.0.0.1 "${rounds[@]}" --source 10.77.0.2 --device vb --mac "$mac"
		;;
	accept_local)
		set_on_robot accept_local=1
		mac=$(on_robot cat /sys/class/net/va/address)
		"${neighbour[@]}" 127.0.0.1 "${rounds[@]}" --source 127.0.0.1 --device vb --mac "$mac"
		;;
	esac
}

inputs=$(every inputs | grep -F rt/in/joint)
control() { # its process is $control
	ip netns exec $robot ear 7 read <<<"${inputs/reliable/best}" >"$folder/got" &
	control=$!
	lib_until has_ports 9161
}
has_ports() { on_robot grep -q ":$(printf %04X "$1") " /proc/net/udp; } # PORT
got() { grep -c ^rt "$folder/got" || true; }

# LINE...: a bridge whose plan has these lines; its process is $bridge
bridge() {
	rm -f "$folder/state"
	printf '%s\n' 'domain: 7' "$@" >"$folder/plan"
	printf 'subscribe: {/in/joint: {device: joint, type: sensor_msgs/JointState, who: anyone}}\n' >>"$folder/plan"
	ip netns exec $robot achdds --state "$folder/state" "$folder/plan" 2>"$folder/said" &
	bridge=$!
	lib_until test -s "$folder/state"
}
number() { grep -oE "\"$1\":[0-9]+" "$folder/state" | head -n 1 | cut -d: -f2; } # KEY
end() { kill "$bridge" && wait "$bridge"; } # it writes its state once more
received_nothing() { [ "$(number writers),$(number received)" = 0,0 ] || { cat "$folder/state" && return 1; }; }
received() { [ "$(number received)" -gt 0 ]; }
hears_its_machine() { # [INTERFACE ADDRESS]: of the writer
	EAR_INTERFACE=${1:-} EAR_PEER=${2:-} ip netns exec $robot ear 7 write 50 <<<"$inputs" >/dev/null &
	lib_until received
	kill "$!" && lib_not wait "$!"
}

test_a_neighbour_gets_nothing_in_on_lo() {
	local before
	control
	for way in "${ways[@]}"; do
		before=$(got)
		by_way "$way"
		echo "without the filter, $way: $(($(got) - before)) of 50"
		[ "$(got)" -gt "$before" ]
	done
	kill "$control" && lib_not wait "$control" # its ports are free
	bridge
	for way in "${ways[@]}"; do by_way "$way"; done
	end
	received_nothing
}

test_sockets_on_lo_are_bound_to_it_and_hear_this_machine() {
	bridge
	on_robot cat /proc/net/udp | awk 'NR > 1 { print $2 }' >"$folder/bound"
	[ "$(wc -l <"$folder/bound")" -ge 3 ]
	lib_not grep -v ^0100007F: "$folder/bound"
	hears_its_machine
	end
}

test_only_peers_are_heard_and_programs_of_this_machine() {
	bridge 'interface: va' 'peers: [10.77.0.2]'
	by_way address
	lib_until received
	end
	bridge 'interface: va' 'peers: [10.77.0.9]'
	by_way address
	end
	received_nothing
	bridge 'interface: va' 'peers: [10.77.0.9]'
	hears_its_machine va 10.77.0.1
	end
}

test_a_bridge_with_multicast_and_peers_ends_when_asked() {
	bridge 'interface: va' 'multicast: yes' 'peers: [10.77.0.9]'
	by_way address
	kill "$bridge"
	lib_until lib_not readlink "/proc/$bridge/exe"
	wait "$bridge"
	received_nothing
}

test_a_flood_during_starts_gets_nothing_in() {
	local flood
	set_on_robot route_localnet=1
	"${neighbour[@]}" 127.0.0.1 --source 10.77.0.2 --device vb --mac "$(on_robot cat /sys/class/net/va/address)" &
	flood=$!
	control
	lib_until grep -q matched "$folder/got"
	kill "$control" && lib_not wait "$control"
	for _ in 1 2 3 4 5 6 7 8; do
		bridge
		end
		received_nothing
	done
	kill "$flood"
}

test_a_bare_udp_socket_keeps_achdds_from_starting() {
	printf '%s\n' 'domain: 7' >"$folder/plan"
	lib_matches 111 'achdds: fatal: 1 of ? UDP sockets of the DDS library lack the packet filter; *' on_robot \
		timeout 60 /usr/bin/python3 -c 'import os, socket, sys
bare = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
bare.set_inheritable(True)
os.execvp("achdds", ["achdds", sys.argv[1]])' "$folder/plan"
}

test_an_interface_that_comes_back_ends_the_bridge() {
	local status=0
	bridge 'interface: va' 'peers: [10.77.0.2]'
	ip -n $robot link del va
	cable
	lib_until lib_not readlink "/proc/$bridge/exe"
	wait "$bridge" || status=$?
	[ "$status" = 111 ]
	grep -F 'interface va was removed and came back' "$folder/said"
}

test_the_check_prints_what_the_unit_has_to_allow() {
	printf '%s\n' 'interface: va' 'peers: [10.77.0.2, 10.77.0.3]' >"$folder/plan"
	lib_says 0 '# achdds@.service allows packets of this machine only.  For interface va write these lines with
# systemctl edit achdds@ROBOT
[Service]
IPAddressAllow=10.77.0.1
IPAddressAllow=10.77.0.2
IPAddressAllow=10.77.0.3' '' on_robot achdds --check "$folder/plan"
	echo 'multicast: yes' >>"$folder/plan"
	lib_matches 0 '*10.77.0.3?IPAddressAllow=multicast' on_robot achdds --check "$folder/plan"
	echo 'interface: va' >"$folder/plan"
	lib_matches 0 '*achdds@krang?\[Service\]?IPAddressAllow=any' \
		on_robot achdds --robot krang --check "$folder/plan"
}

lib_functions "$folder/log" "${1:-}"

# shellcheck shell=bash
# For script tests that run in the virtual machine, as root, from the top of the tree.
#
#	. test/vm/lib.sh
#	vm_reader vcan0 log candump -L vcan0	# returns when its socket hears the bus: no sleep
#	cansend vcan0 123#DEADBEEF
#	vm_until grep -q '123#DEADBEEF' log
#
# The machine's clock may be virtual, and its host busy: wait for what must happen, never for a time.
# FIFOs and sockets cannot be made in the tree: lib_tmp's folder ($lib_folder) is in the guest's memory.
# Starting a program takes 50 ms in an emulated machine: functions that are called often start none.
. test/scripts/lib.sh

# Never readable: read -t from it sleeps.
exec {vm_never}<> <(:)

# COMMAND...: until it succeeds, or for so long that only a defect explains it; then its output is shown.  Most commands
# start a program, so the pauses grow, from 50 ms to half a second: what is waited for needs the processor more.
vm_until() {
	local i pause

	for ((i = 0; i < 80; i++)); do
		"$@" >/dev/null 2>&1 && return 0 # in a trap a bare return is the status of before it
		printf -v pause '0.%03d' $((i < 18 ? 50 + 25 * i : 500))
		read -r -t "$pause" -u "$vm_never" _ || true
	done
	echo "timed out: $*"
	"$@" || true
	return 1
}

is() { [ "$@" ] || { echo "not so: $*"; return 1; }; } # CONDITION...: of test(1)

# COMMAND...: run at the end of this case (lib_functions), after its background processes have been killed.
vm_finally() {
	# shellcheck disable=SC2064 # these words
	trap "jobs -p | xargs -r kill -KILL 2>/dev/null || true; $*" EXIT
}

# ---- readers ----

# INTERFACE: how many filters the kernel has there, of error frames too; any: those of sockets bound to all interfaces.
# A socket has them from the moment it is bound.
vm_filters() {
	local list rows row count=0

	for list in /proc/net/can/rcvlist_{all,fil,inv,sff,eff,err}; do
		mapfile -t rows <"$list"
		for row in "${rows[@]}"; do # others are titles, and "(can0: no entry)"
			[[ ! $row =~ ^\ +$1\ +[0-9a-f]+\  ]] || count=$((count + 1))
		done
	done
	echo $count
}

vm_more_filters() { [ "$(vm_filters "$1")" -ge "$2" ]; }

# INTERFACE FILE COMMAND...: starts it in the background with its output to FILE and returns when it hears the
# interface; its process id is in vm_pid.  vm_wanted=N: it binds N filters (default 1).
vm_reader() {
	local interface=$1 file=$2 wanted

	shift 2
	wanted=$(($(vm_filters "$interface") + ${vm_wanted:-1}))
	"$@" >"$file" 2>&1 </dev/null &
	# shellcheck disable=SC2034 # for the caller
	vm_pid=$!
	vm_until vm_more_filters "$interface" "$wanted" && return
	echo "$*: does not listen to $interface: $(cat "$file")"
	return 1
}

# PID [SIGNAL]: ends it, and waits until it has ended.
vm_stop() {
	kill "-${2:-TERM}" "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

vm_lines() { # FILE COUNT: as many whole lines, or more
	local rows

	mapfile rows <"$1"
	[ ${#rows[@]} -ge "$2" ] && [[ ${rows[$2 - 1]} == *$'\n' ]]
}

# ---- interfaces ----

# INTERFACE: up, and the kernel has noticed.  A vcan's state is never "up" but "unknown".
vm_is_up() {
	local flags state

	[ -e "/sys/class/net/$1" ] || return
	read -r flags <"/sys/class/net/$1/flags"
	read -r state <"/sys/class/net/$1/operstate"
	[ $((flags & 1)) -eq 1 ] && [[ $state == up || $state == unknown ]]
}

# NAME: a new vcan, for CAN FD frames too, up.  vm_away NAME removes it.
vm_vcan() {
	ip link add "$1" type vcan
	ip link set "$1" mtu 72 up
	vm_until vm_is_up "$1"
}
vm_away() { ip link del "$1"; }

# INTERFACE [WORD...]: a controller down and up again with these settings (default: bitrate 1000000 restart-ms 0)
# and its default queue.
vm_can_up() {
	local interface=$1

	shift
	[ $# -gt 0 ] || set -- bitrate 1000000 restart-ms 0
	tc qdisc del dev "$interface" root 2>/dev/null || true
	ip link set "$interface" down
	ip link set "$interface" up type can "$@"
	vm_until vm_is_up "$interface"
}

# INTERFACE: a controller as "STATE TX RX RESTART_MS BITRATE", TX and RX being its error counters
vm_link() {
	local text n='([0-9]+)'

	text=$(ip -details link show "$1")
	[[ $text =~ \ state\ ([A-Z-]+)\ \(berr-counter\ tx\ $n\ rx\ $n\)\ restart-ms\ $n.*\ bitrate\ $n ]]
	echo "${BASH_REMATCH[@]:1}"
}
vm_in_state() { [[ $(vm_link "$1") == "$2 "* ]]; }

# [echo=1]: reloads the module vcan and recreates vcan0 to vcan7.  Only with echo=1 do frames pass the interface's queue
# before they come back, so that netem and a full queue can act on them; without it vcan is as after boot.
vm_vcan_reload() {
	local i

	modprobe -r vcan
	modprobe vcan "$@"
	for i in {0..7}; do
		printf 'link add vcan%d type vcan\nlink set vcan%d mtu 72 up\n' "$i" "$i"
	done | ip -batch -
}

# ---- faults of a controller (test/vm/canfault) ----

vm_fault_module=${BUILD:-build}/test/vm/canfault/$(uname -r)/canfault.ko

# Why there are none here, or nothing.
vm_no_faults() {
	[ -e "$vm_fault_module" ] || echo "no fault module: scripts/can-vm --headers has none for $(uname -r)"
}

# INTERFACE WORD...: as canfault.c says.
vm_fault() {
	[ -d /sys/module/canfault ] || insmod "$vm_fault_module"
	echo "$*" >/sys/module/canfault/parameters/inject
}

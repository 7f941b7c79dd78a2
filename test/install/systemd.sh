# shellcheck shell=bash
# For script tests, after test/vm/lib.sh: a systemd of their own, and the robot bench under it.
#
# systemd is process 1 of a namespace of its own, with /run and cgroups of its own and hardly any other unit.  The rest
# of the machine is changed: users, /etc/endplate, /etc/systemd-units.
folder=${lib_folder:?}
units=/etc/systemd-units
cgroup=/sys/fs/cgroup/endplate-test-$$
unset NOTIFY_SOCKET ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR

# ---- systemd ----

target() { # NAME [LINE...]
	printf '%s\n' '[Unit]' 'DefaultDependencies=no' "${@:2}" >"$units/$1"
}

# Starts it with the units of /usr/local.  What it says is in $folder/kmsg.
boot() {
	mkdir -p $units
	find /usr/local/lib/systemd/system -name '*@.*' -exec cp -t $units {} +
	# The robot is a bench; what the unit permits shows in real time.
	sed -i 's|^ExecStart=.*/achstart|& --real|' $units/endplate@.service
	target sysinit.target
	target basic.target Requires=sysinit.target After=sysinit.target
	target shutdown.target
	target sockets.target
	target multi-user.target Requires=basic.target After=basic.target
	unshare='' kmsg=''
	trap halt EXIT
	mkdir "$cgroup"
	mkfifo "$folder/kmsg-fifo"
	cat <>"$folder/kmsg-fifo" >"$folder/kmsg" &
	kmsg=$!
	# shellcheck disable=SC2016 # for the shell inside
	env -i PATH="$PATH" TEST_PLACE="${TEST_PLACE:-}" container=other SYSTEMD_UNIT_PATH=$units \
		SYSTEMD_GENERATOR_PATH=$units setpriv --pdeathsig KILL bash -c '
			echo $$ >"$1/cgroup.procs"
			exec unshare --pid --fork --kill-child --mount --mount-proc --cgroup bash -c "$0" bash "$2"' '
			set -e
			mount --bind "$1" /dev/kmsg
			mount -t tmpfs -o mode=755 run /run
			mount --bind /proc/sys /proc/sys
			mount -o remount,bind,ro /proc/sys
			umount /sys/fs/cgroup
			mount -t cgroup2 cgroup /sys/fs/cgroup
			exec /lib/systemd/systemd --system --unit=multi-user.target --show-status=no \
				--log-target=kmsg' \
			"$cgroup" "$folder/kmsg-fifo" >"$folder/systemd" 2>&1 </dev/null &
	unshare=$!
	vm_until inside systemctl is-active multi-user.target
}
halt() {
	disown -a
	# shellcheck disable=SC2086 # none, one or two
	kill -KILL $unshare $kmsg || true
	vm_until grep -qx 'populated 0' "$cgroup/cgroup.events" || true # what was killed has ended
	find "$cgroup" -depth -type d -exec rmdir {} +
	rm -rf "$lib_folder"
}
inside() { # COMMAND...: where that systemd is
	local init=0

	read -r init _ <"/proc/$unshare/task/$unshare/children" || true # no newline
	nsenter --target "$init" --mount --pid --cgroup --root --wd=/ "$@"
}
ctl() { inside systemctl "$@"; }

# ---- the robot ----

unit=endplate@bench
# PROPERTY...: their values, a line each, in the order of systemctl; a start of it takes long here
value() { ctl show --value --property "$(IFS=,; echo "$*")" "$unit"; }
main() { value MainPID; }
is_another() { # PID: it runs, and is not that one
	local now

	mapfile -t now < <(value MainPID SubState)
	[ "${now[0]}" != "$1" ] && [ "${now[1]}" = running ]
}
events() { inside cat /var/log/endplate/bench/events.log; }
said() { grep -qE -- "$1" <<<"$(events)"; }
has_level() { grep -qF "\"level\":\"$1\"" <<<"$(inside achctl --robot bench status --json)"; }
daemons() { inside grep -r '^pid' /run/endplate/bench/state | sort; }
pids() { daemons | awk '{ print $NF }'; }
until_it() { vm_until "$@" && return; tail -n 50 "$folder/kmsg"; events; return 1; }

# Processes, channels, sockets; claims and the epoch stay.
is_left() {
	inside ps -e -o comm= | grep -xE 'achstart|canwire|robotsim|hubo-daemon|pciod' ||
		compgen -G '/dev/shm/ach*-*' ||
		inside find /run/endplate/bench ! -path '*/log*' ! -name epoch ! -name '.endplate-claims-*' ! -type d |
		grep .
}

starts() { # it is active when all are ready, and not before
	inside timeout 90 systemctl start "$unit" || { tail -n 20 "$folder/kmsg"; events; return 1; }
	is "$(value ActiveState StatusText)" = $'4 of 4 daemons ready\nactive'
	said 'all 4 ready'
}
stops() {
	ctl stop "$unit"
	is "$(value ActiveState Result)" = $'success\ninactive'
	lib_not is_left
}
dies() { # SIGNAL: the main process gets it, and there is another one
	local pid

	pid=$(main)
	inside kill "-$1" "$pid"
	until_it is_another "$pid"
}

# The files of the robot, its user and groups.
make_robot() {
	local group

	mkdir -p /etc/endplate
	# At a pace that an emulated machine can keep.
	sed '/actuated: no/a\    settings: {tick: 50ms}
		s|tick: clock/5.*|tick: clock/2\n      module_watchdog: 10s\n      silent_after: 5s|
		s|module_watchdog|reply_late: 1s\n      reply_lost: 2s\n      &|
		s|type: PRL120|&\n      watchdog: 10s|' config/robots/waist.yaml >/etc/endplate/waist.yaml
	sed 's|\.\./config/robots/||; s|priority:|dead_after: 20s\n    ready_within: 1min\n    &|' launch/waist.launch \
		>/etc/endplate/bench.launch
	printf '%s\n' 'operators: endplate-op' 'arming: endplate-arm' 'moving: endplate-move' \
		>>/etc/endplate/bench.launch
	for group in endplate-op endplate-arm endplate-move; do
		getent group $group >/dev/null || groupadd --system $group
	done
	make_user endplate
}
make_user() { # NAME [GROUP...]
	id -u "$1" >/dev/null 2>&1 || useradd --system --no-create-home --user-group "$1"
	[ $# -eq 1 ] || usermod -a -G "$(IFS=,; echo "${*:2}")" "$1"
}

# ---- the unit's user ----

capabilities() { inside sed -n "s/^Cap\(Eff\|Prm\):\t0*//p" "/proc/$1/status" | tr '\n' ' '; } # PID

# It has one capability, which no daemon has.
own_user() {
	local before pid

	is "$(inside stat -c %U:%G "/proc/$(main)")" = endplate:endplate
	is "$(capabilities "$(main)")" = '1000 1000 '
	before=$(daemons)
	for pid in $(pids); do
		is "$(capabilities "$pid")" = '  '
	done
	dies KILL
	is "$(daemons)" = "$before"
	said adopted
}

# Real-time priorities and locked memory, by the limits of the unit
real_time() {
	local pid

	lib_not said 'higher limit'
	for pid in $(pids); do
		inside grep -E 'VmLck:.* [1-9][0-9]* kB' "/proc/$pid/status"
		inside chrt -p "$pid" | grep SCHED_FIFO
	done
}

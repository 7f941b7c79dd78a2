#!/bin/bash
# vm_systemd.sh: the units endplate@, achdds@ and achweb@, installed as make install does it, under a real systemd.
# limit: 1200 s
#
# systemd is process 1 of a namespace of its own, with /run and cgroups of its own and hardly any other unit.
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
build=$(realpath "${BUILD:-build}")
folder=$lib_folder
tree=$PWD
units=/etc/vm-systemd
unset NOTIFY_SOCKET ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR

# ---- systemd ----

target() { # NAME [LINE...]
	printf '%s\n' '[Unit]' 'DefaultDependencies=no' "${@:2}" >"$units/$1"
}

boot() {
	mkdir -p $units
	cp /usr/local/lib/systemd/system/{endplate,achdds,achweb}@.service $units
	target sysinit.target
	target basic.target Requires=sysinit.target After=sysinit.target
	target shutdown.target
	target multi-user.target Requires=basic.target After=basic.target
	mkdir /sys/fs/cgroup/vm-systemd
	echo on >/proc/sys/kernel/printk_devkmsg # all that systemd says
	# shellcheck disable=SC2016 # for the shell inside
	env -i PATH="$PATH" container=vm SYSTEMD_UNIT_PATH=$units SYSTEMD_GENERATOR_PATH=$units \
		bash -c '
			echo $$ >/sys/fs/cgroup/vm-systemd/cgroup.procs
			exec unshare --pid --fork --kill-child --mount --mount-proc --cgroup bash -c "$0"' '
			set -e
			mount -t tmpfs -o mode=755 run /run
			umount /sys/fs/cgroup
			mount -t cgroup2 cgroup /sys/fs/cgroup
			exec /lib/systemd/systemd --system --unit=multi-user.target --log-target=kmsg' \
		>"$folder/systemd" 2>&1 </dev/null &
	unshare=$!
	trap 'kill -KILL "$unshare"; rm -rf "$lib_folder"' EXIT
	vm_until inside systemctl is-active multi-user.target
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
until_it() { vm_until "$@" && return; dmesg | tail -n 50; events; return 1; }

# Processes, channels, sockets; claims and the epoch stay, and so do channels of the tests before.
of_others=$(compgen -G '/dev/shm/ach*-*' || echo none)
is_left() {
	inside ps -e -o comm= | grep -xE 'achstart|canwire|robotsim|hubo-daemon|pciod' ||
		compgen -G '/dev/shm/ach*-*' | grep -vxF "$of_others" ||
		inside find /run/endplate/bench ! -path '*/log*' ! -name epoch ! -type d | grep .
}

starts() { # it is active when all are ready, and not before
	inside timeout 90 systemctl start "$unit" || { dmesg | tail -n 20; events; return 1; }
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

test_is_clean() {
	systemd-analyze verify "$folder"/{endplate,achdds,achweb}@bench.service
}

test_exposure_is_2() {
	systemd-analyze security --offline=true --threshold=20 "$folder"/{endplate,achdds,achweb}@bench.service
}

test_killed_and_hung() {
	local before

	starts
	grep -F '4 of 4 ready' <<<"$(inside achctl --robot bench status)" # its exit status is 1 on a busy host
	before=$(daemons)
	is "$(wc -l <<<"$before")" = 4
	dies KILL
	dies KILL
	is "$(daemons)" = "$before"
	is "$(value NRestarts StartLimitIntervalUSec)" = $'2\n0' # however often
	dies STOP
	dmesg | grep -F 'Watchdog timeout'
	is "$(daemons)" = "$before"
	lib_not said 'incarnation 2'
	stops
}

test_wrong_files() {
	echo 'daemons: {}' >/etc/endplate/wrong.launch
	unit=endplate@wrong
	lib_not ctl start "$unit"
	is "$(value ActiveState ExecMainStatus NRestarts)" = $'0\n100\nfailed'
	ctl reset-failed "$unit"
}

# USER WORD...: achctl as that user, with the groups that are the user's
as() {
	inside setpriv --reuid="$1" --regid="$1" --init-groups env ENDPLATE_RUN=/run/endplate/bench USER=root \
		achctl "${@:2}"
}
capabilities() { inside sed -n "s/^Cap\(Eff\|Prm\):\t0*//p" "/proc/$1/status" | tr '\n' ' '; } # PID
refused="*is for the robot's user, root and the group arming: of its launch file"

# The unit's user, with one capability, which no daemon has; real-time priorities and locked memory by its limits.
own_user() {
	local before pids pid

	is "$(inside stat -c %U:%G "/proc/$(main)")" = endplate:endplate
	is "$(capabilities "$(main)")" = '1000 1000 '
	lib_not said 'higher limit'
	before=$(daemons)
	mapfile -t pids < <(awk '{ print $NF }' <<<"$before")
	for pid in "${pids[@]}"; do
		is "$(capabilities "$pid")" = '  '
		inside grep -E 'VmLck:.* [1-9][0-9]* kB' "/proc/$pid/status"
	done
	inside chrt -p "$(sed -n '1s/.* //p' <<<"$before")" | grep SCHED_FIFO
	dies KILL
	is "$(daemons)" = "$before"
	said adopted
}

owners() { # PATH...: on one line
	inside stat -c '%a %U:%G' "$@" | xargs
}
is_the_operators() {
	local run=/run/endplate/bench log=/var/log/endplate/bench

	is "$(owners "$run" "$log")" = '711 endplate:endplate 711 endplate:endplate'
	is "$(owners "$run/control" "$run"/{chan,log} "$log"/{events,waist}.log | sed 's/ endplate:endplate-op//g')" = \
		'660 750 750 640 640'
	is "$(owners "$run"/chan/achshm-{waist-state,estop-b,waist-ref})" = \
		'640 endplate:endplate-op 640 endplate:endplate-op 640 endplate:endplate-move'
}
can() { # USER WORD...: ach as that user
	inside setpriv --reuid="$1" --regid="$1" --init-groups env ACH_DIR=/run/endplate/bench/chan ach "${@:2}"
}

# Without any capability for it, and the same after achstart was killed and its unit started again.
movers() {
	local again

	for again in no yes; do
		is_the_operators
		can vm-mover put --hex 00 waist-ref
		can vm-operator echo --last waist-state
		lib_not can vm-operator put --hex 00 waist-ref
		lib_not can vm-mover put --hex 00 estop
		lib_not can vm-stranger echo --last waist-state
		lib_matches 1 "$refused" as vm-mover arm
		lib_matches 0 'level estop*' as vm-mover estop
		[ "$again" = yes ] || dies KILL
	done
}

operators() {
	is_the_operators
	lib_matches 0 'bench *' as vm-operator status
	lib_matches 0 '*all 4 ready*' as vm-operator events
	lib_matches 1 "$refused" as vm-operator arm
	lib_matches 1 "$refused" as vm-operator stop
	lib_matches 1 "$refused" as vm-operator request waist home
	lib_matches 0 'level estop*' as vm-operator estop
	until_it has_level estop
	lib_matches 1 "$refused" as vm-operator arm
	lib_matches 0 'armed: *' as vm-armer arm --within 20s
	said 'armed by vm-armer'
	lib_matches 111 '*Permission denied*' as vm-stranger status
}

bridge_has() { inside grep -F -- "$1" /run/endplate-dds/bench/state; }
is_raised() { # by a participant of the domain
	local hex=00010000010000000400000063617400 # hold, "cat"

	echo "rt/stop endplate_msgs::msg::dds_::EstopRaise_ reliable $hex" | "$build/test/dds/ear" 0 write >/dev/null &
	until_it has_level hold
	kill "$!"
}

# The bridge of a robot that runs: a user of its own without any right but an operator's, back after kill -9.
bridge() {
	local unit=achdds@bench before

	before=$(daemons)
	ctl start "$unit"
	is "$(inside stat -c %U:%G "/proc/$(main)")" = endplate-dds:endplate-dds
	is "$(capabilities "$(main)")" = '  '
	is "$(owners /run/endplate-dds/bench)" = '750 endplate-dds:endplate-dds'
	until_it bridge_has '"channel":"waist-state","open":true'
	dies KILL
	until_it bridge_has "\"pid\":$(main),"
	until_it bridge_has '"channel":"waist-state","open":true'
	lib_matches 0 'armed: *' as vm-armer arm --within 20s
	is_raised
	ctl stop "$unit"
	is "$(value ActiveState Result)" = $'success\ninactive'
	is "$(daemons)" = "$before"
}

test_users() { # a start takes long here
	starts
	own_user
	operators
	movers
	bridge
	stops
}

# PATTERN: with a link for an operator, the page shows a robot that matches it.
shows() { inside python3 -I "$tree/test/web/snapshot.py" "$(as vm-operator web)" "$1"; }

own_page() {
	is "$(value ActiveState)" = active
	is "$(inside stat -c %U:%G "/proc/$(main)")" = endplate-web:endplate-op
	is "$(capabilities "$(main)")" = '  '
	is "$(owners /run/endplate-web/bench /run/endplate-web/bench/web)" = \
		'750 endplate-web:endplate-op 660 endplate-web:endplate-op'
	shows '"supervised":true.*"name":"waist"' | grep -oE '"supervised":[a-z]*'
	lib_matches 1 "$refused" as vm-operator web --act
	lib_not as vm-stranger web
}

# A user of its own, before there is a robot and beside one; killed, it comes back.
test_page() {
	unit=achweb@bench
	inside timeout 60 systemctl start "$unit" || { dmesg | tail -n 20; return 1; }
	unit=endplate@bench starts
	own_page
	dies KILL
	own_page
	is "$(value NRestarts)" = 1
	ctl stop "$unit"
	is "$(value ActiveState Result)" = $'success\ninactive'
	lib_not inside test -e /run/endplate-web/bench
	unit=endplate@bench
	stops
}

[ -x /lib/systemd/systemd ] || { lib_ignore all 'systemd is not installed here'; lib_end; exit; }
cp -r "$build/test/vm/install/usr" / # test/vm/run has made that
mkdir -p /etc/endplate
# At a pace that an emulated machine can keep.
sed '/actuated: no/a\    settings: {tick: 50ms}
	s|tick: clock/5.*|tick: clock/2\n      module_watchdog: 10s\n      silent_after: 5s|
	s|module_watchdog|reply_late: 1s\n      reply_lost: 2s\n      &|
	s|type: PRL120|&\n      watchdog: 10s|' config/robots/waist.yaml >/etc/endplate/waist.yaml
sed 's|\.\./config/robots/||; s|priority:|dead_after: 20s\n    ready_within: 1min\n    &|' launch/waist.launch \
	>/etc/endplate/bench.launch
for service in endplate achdds achweb; do
	cp "/usr/local/lib/systemd/system/$service@.service" "$folder/$service@bench.service"
done
cat >/etc/endplate/bench.dds <<END
publish: {/joint_states: {channel: waist-state, rate: 5}}
subscribe: {/stop: {estop: yes, type: endplate_msgs/EstopRaise, who: local}}
END
printf '%s\n' 'operators: endplate-op' 'arming: endplate-arm' 'moving: endplate-move' >>/etc/endplate/bench.launch
for group in endplate-op endplate-arm endplate-move; do
	getent group $group >/dev/null || groupadd --system $group
done
ip link set lo up
for user in endplate endplate-dds endplate-web vm-operator vm-armer vm-mover vm-stranger; do
	id -u $user >/dev/null 2>&1 || useradd --system --no-create-home --user-group $user
done
usermod -a -G endplate-op endplate-dds
usermod -a -G endplate-op endplate-web
usermod -a -G endplate-op vm-operator
usermod -a -G endplate-op,endplate-arm vm-armer
usermod -a -G endplate-op,endplate-move vm-mover
boot
lib_functions "$folder/log" "${1:-}"

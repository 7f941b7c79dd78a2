#!/bin/bash
# test_systemd.sh: the units endplate@, achdds@ and achweb@, installed as make install does it, under a real systemd.
# waits: mostly
# limit: 600 s
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
. test/install/machine.sh
enter_machine "$@"
shift
lib_tmp
tree=$PWD
. test/install/systemd.sh

test_is_clean() {
	systemd-analyze verify "$folder"/{endplate,achdds,achweb}@bench.service "$folder"/achweb@bench.socket
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
	grep -F 'Watchdog timeout' "$folder/kmsg"
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

# systemd allows no AF_INET there.
test_a_launch_file_with_achweb_is_refused() {
	sed '/^daemons:/a\  page: {program: achweb, listen: 8765}' /etc/endplate/bench.launch >/etc/endplate/page.launch
	mkdir -p "$units/endplate@page.service.d"
	printf '%s\n' '[Service]' 'StandardError=file:/run/page-said' >"$units/endplate@page.service.d/said.conf"
	ctl daemon-reload
	unit=endplate@page
	lib_not ctl start "$unit"
	is "$(value ActiveState ExecMainStatus NRestarts)" = $'0\n100\nfailed'
	inside grep 'page.launch:.*: page: .*: systemctl enable --now achweb@.*.socket (achweb@.service)' /run/page-said
	ctl reset-failed "$unit"
}

# Daemons have higher scores than achstart, by which the kernel chooses what it kills.
test_achstart_is_the_last_that_is_killed_for_memory() {
	local own pid

	starts
	own=$(inside cat "/proc/$(main)/oom_score_adj")
	! choom --adjust -900 -- true || is "$own" = -900 # else root may not lower a score here
	for pid in $(pids); do
		is "$(inside cat "/proc/$pid/oom_score_adj")" -gt "$own"
	done
	is "$(value OOMPolicy)" = continue
	stops
}

# USER WORD...: achctl as that user, with the groups that are the user's
as() {
	inside setpriv --reuid="$1" --regid="$1" --init-groups env ENDPLATE_RUN=/run/endplate/bench USER=root \
		achctl "${@:2}"
}
refused="*is for the robot's user, root and the group arming: of its launch file"

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
		can test-mover put --hex 00 waist-ref
		can test-operator echo --last waist-state
		lib_not can test-operator put --hex 00 waist-ref
		lib_not can test-mover put --hex 00 estop
		lib_not can test-stranger echo --last waist-state
		lib_matches 1 "$refused" as test-mover arm
		lib_matches 0 'level estop*' as test-mover estop
		[ "$again" = yes ] || dies KILL
	done
}

operators() {
	is_the_operators
	lib_matches 0 'bench *' as test-operator status
	lib_matches 0 '*all 4 ready*' as test-operator events
	lib_matches 1 "$refused" as test-operator arm
	lib_matches 1 "$refused" as test-operator stop
	lib_matches 1 "$refused" as test-operator request waist home
	lib_matches 0 'level estop*' as test-operator estop
	until_it has_level estop
	lib_matches 1 "$refused" as test-operator arm
	lib_matches 0 'armed: *' as test-armer arm --within 20s
	said 'armed by test-armer'
	lib_matches 111 '*Permission denied*' as test-stranger status
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
	lib_matches 0 'armed: *' as test-armer arm --within 20s
	is_raised
	ctl stop "$unit"
	is "$(value ActiveState Result)" = $'success\ninactive'
	is "$(daemons)" = "$before"
}

test_users() {
	starts
	own_user
	! prlimit --rtprio=99:99 true || real_time # else in test/vm/vm_systemd.sh alone
	operators
	movers
	bridge
	stops
}

# PATTERN: with a link for an operator, the page shows a robot that matches it.
shows() { inside python3 -I "$tree/test/web/snapshot.py" "$(as test-operator web)" "$1"; }

own_page() {
	is "$(value ActiveState)" = active
	is "$(inside stat -c %U:%G "/proc/$(main)")" = endplate-web:endplate-op
	is "$(capabilities "$(main)")" = '  '
	is "$(owners /run/endplate-web/bench /run/endplate-web/bench/web)" = \
		'750 endplate-web:endplate-op 660 endplate-web:endplate-op'
	shows '"supervised":true.*"name":"waist"' | grep -oE '"supervised":[a-z]*'
	lib_matches 1 "*is for the robot's user and root; achweb --arming adds a group" as test-operator web --act
	lib_not as test-stranger web
}

# A user of its own, before there is a robot and beside one; killed, it comes back.  Its port is below 1024, and no
# other user gets it, also when both units are stopped.
test_page() {
	local taker

	unit=achweb@bench
	inside timeout 60 systemctl start "$unit" || { tail -n 20 "$folder/kmsg"; return 1; }
	unit=endplate@bench starts
	own_page
	rm -f /tmp/enough
	inside setpriv --reuid=test-stranger --regid=test-stranger --clear-groups \
		python3 -I "$tree/test/web/taker.py" 876 /tmp/enough >"$folder/taken" 2>&1 &
	taker=$!
	until_it test -s "$folder/taken"
	dies KILL
	own_page
	is "$(value NRestarts)" = 1
	ctl stop "achweb@bench.socket" "$unit"
	: >/tmp/enough
	lib_not wait "$taker"
	lib_not grep '^taken' "$folder/taken"
	is "$(value ActiveState Result)" = $'success\ninactive'
	lib_not inside test -e /run/endplate-web/bench
	unit=endplate@bench
	stops
}

make -s -o all BUILD="$build" CC="${CC:-gcc}" install PREFIX=/usr/local
make_robot
make_user endplate-dds endplate-op
make_user endplate-web endplate-op
make_user test-operator endplate-op
make_user test-armer endplate-op endplate-arm
make_user test-mover endplate-op endplate-move
make_user test-stranger
cat >/etc/endplate/bench.dds <<END
publish: {/joint_states: {channel: waist-state, rate: 5}}
subscribe: {/stop: {estop: yes, type: endplate_msgs/EstopRaise, who: local}}
END
for service in endplate achdds achweb; do
	cp "/usr/local/lib/systemd/system/$service@.service" "$folder/$service@bench.service"
done
cp /usr/local/lib/systemd/system/achweb@.socket "$folder/achweb@bench.socket"
ip link set lo up
boot
lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# test_files.sh: other users of the machine and the files of a robot.  Each case is an attack, or a mistake, of an
# ordinary user, and what must hold.
# shellcheck disable=SC2317,SC2086 # called by name; users are numbers
set -eu -o pipefail
. test/scripts/lib.sh
robot=23401 stranger=23402 operator=23403 operators=23410
[ "$(id -u)" -eq 0 ] || {
	lib_ignore places "needs root, to be several users"
	lib_end
	exit
}
folder=$(mktemp -d)
chmod 755 "$folder"
export ENDPLATE_PREFIX=plc$$.
unset NOTIFY_SOCKET ENDPLATE_RUN XDG_RUNTIME_DIR ACH_DIR
system=/run/endplate/plc$$

cleanup() {
	local state
	jobs -p | xargs -r kill -TERM 2>/dev/null || true
	wait 2>/dev/null || true
	for state in "$folder"/*/state/* "$folder"/*/*/state/* "$system"/state/*; do
		[ ! -f "$state" ] || awk '$1 == "pid" { print $2 }' "$state" | xargs -r kill -KILL 2>/dev/null || true
	done
	lib_remove_channels "plc$$"
	rm -rf "$folder" "$system"
}
trap cleanup EXIT

# Where every user can read them.
mkdir "$folder/bin"
for program in achstart achctl ach canwire robotsim hubo-daemon pciod; do
	cp "$build/$program" "$folder/bin/"
done
cp config/robots/waist.yaml "$folder/waist.yaml"
printf 'include: %s\ndaemons: {canwire: , robotsim: , clock: , waist: }\n' "$folder/waist.yaml" >"$folder/robot.launch"
printf 'include: %s\nclock: none\ndaemons:\n  one: {program: sleep, args: [1000]}\n' \
	"$folder/waist.yaml" >"$folder/one.launch"
export PATH=$folder/bin:$PATH
install -d -m 1777 "$folder/tmp" # like /tmp: the first user to create a name owns it

as() { # UID [GROUP] COMMAND...: as that user; in the background it is the process itself
	local uid=$1 gid=$1 be=()
	shift
	[[ ! $1 =~ ^[0-9]+$ ]] || { gid=$1 && shift; }
	[ -z "${exec:-}" ] || be=(exec)
	"${be[@]}" setpriv --reuid="$uid" --regid="$gid" --clear-groups "$@"
}

start() { # UID[:GID] RUN LAUNCH: an achstart, which prints to $folder/said
	local uid=${1%:*} gid=${1#*:}
	: >"$folder/said"
	export ENDPLATE_RUN=$2
	[ -e "$2" ] || [ "$folder" != "${2%/*}" ] || install -d -o "$uid" "$2"
	exec=1 as "$uid" "$gid" achstart --real "$folder/$3.launch" 2>>"$folder/said" &
	supervisor=$!
}

said() { grep -qF -- "$1" "$folder/said" || { cat "$folder/said" && return 1; }; }

ready_or_gone() { grep -q 'all . ready' "$folder/said" || gone; }
ready() {
	lib_until ready_or_gone
	said ' ready after'
}

stop() {
	kill -TERM "$supervisor"
	wait "$supervisor"
}

gone() { ! kill -0 "$supervisor"; }
refused() { # UID RUN WORDS [LAUNCH]: an achstart of that user does not start, and prints WORDS
	local status=0
	start "$1" "$2" "${4:-one}"
	lib_until gone
	wait "$supervisor" || status=$?
	[ "$status" -eq 111 ]
	said "$3"
}

field() { awk -v key="$2" '$1 == key { print $2 }' "$1"; }

# ---- the folder ----

# The stranger made it first, and put links to files of the robot's user into it.
test_links_in_a_foreign_folder_are_not_followed() {
	local run=$folder/tmp/first uid name
	for uid in $robot 0; do
		install -o "$uid" -m 600 /dev/null "$folder/precious"
		echo precious >"$folder/precious"
		as $stranger mkdir -m 777 "$run" "$run/state" "$run/log"
		for name in lock robot robot.new .robot.new notify control state/one state/one.new log/one.log; do
			as $stranger ln -s "$folder/precious" "$run/$name"
		done
		refused "$uid" "$run" "$run: it belongs to uid $stranger, not to uid $uid"
		[ "$(cat "$folder/precious")" = precious ]
		rm -r "$run"
	done
}

test_a_folder_that_others_may_write_is_refused() {
	install -d -o $robot -m 777 "$folder/open"
	refused $robot "$folder/open" 'mode 0777'
	said "chmod go-w $folder/open"
}

test_a_link_to_a_folder_is_refused() {
	install -d -o $robot "$folder/real"
	as $stranger ln -s "$folder/real" "$folder/tmp/link"
	refused $robot "$folder/tmp/link" 'symbolic link'
	refused $robot "$folder/tmp/link/deeper" 'symbolic link'
	[ -z "$(ls -A "$folder/real")" ]
}

# Links inside the folder are not followed either, although only its user can have made them.
test_links_in_ones_own_folder_are_not_followed() {
	local run=$folder/own name
	install -d -o $robot "$run"
	for name in lock state; do
		install -o $robot /dev/null "$folder/precious"
		as $robot ln -s "$folder/precious" "$run/$name"
		[ "$name" = state ] || refused $robot "$run" "$run/$name: it is a symbolic link"
		[ "$name" = lock ] || {
			start $robot "$run" one
			lib_until said 'its state cannot be kept'
			stop
		}
		[ ! -s "$folder/precious" ]
		rm -f "$run/$name"
	done
}

# ---- the lock ----

# The stranger takes the lock while no achstart runs, to keep any from starting.
test_a_stranger_cannot_take_the_lock() {
	local run=$folder/lock
	install -d -o $robot -m 755 "$run"
	start $robot "$run" one
	ready
	kill -KILL "$supervisor"
	wait "$supervisor" || true
	chmod 755 "$run" # it would be enough
	lib_not as $stranger flock -n "$run/lock" true
	start $robot "$run" one
	ready
	[ "$(stat -c %a "$run") $(stat -c %a "$run/state") $(stat -c %a "$run/lock")" = '700 700 600' ]
	stop
	# A lock file that an older achstart left.
	install -o $robot -m 644 /dev/null "$run/lock"
	start $robot "$run" one
	ready
	[ "$(stat -c %a "$run/lock")" = 600 ]
	stop
}

# ---- state files ----

victim() { # UID: a process, its number in $victim and its start in $started
	exec=1 as "$1" sleep 1000 &
	victim=$!
	lib_until grep -qx sleep "/proc/$victim/comm"
	started=$(awk '{ print $22 }' "/proc/$victim/stat")
}

# BOOT: $folder/forged/state/one names the victim.
forge() {
	rm -rf "$folder/forged"
	install -d -o $robot "$folder/forged" "$folder/forged/state"
	printf '%s\n' "pid $victim" "started $started" "boot $1" 'incarnation 1' 'hash 0' 'ready 1' 'ready_ns 1' \
		'spawned_ns 1' 'restarts 0' 'left stopped' 'latches 0' end >"$folder/forged/state/one"
	chown $robot "$folder/forged/state/one"
	chmod 600 "$folder/forged/state/one"
}

boot=$(tr -d '\n-' </proc/sys/kernel/random/boot_id)
boot="${boot:0:16} ${boot:16}"

lives() {
	start $robot "$folder/forged" one
	lib_until test -S "$folder/forged/control"
	as $robot achctl start one >/dev/null
	stop
	kill -0 "$victim"
	kill -KILL "$victim"
	wait "$victim" || true
}

test_a_state_of_this_boot_is_adopted() {
	victim $robot
	forge "$boot"
	start $robot "$folder/forged" one
	lib_until grep -q "found running, process $victim" "$folder/said"
	stop
	wait "$victim" || [ $? -eq 143 ]
}

test_a_state_of_another_boot_kills_no_process() {
	victim $robot
	forge '0123456789abcdef 0123456789abcdef'
	lives
	lib_not said 'found running'
}

test_a_number_that_was_given_to_another_process_kills_no_process() {
	victim $robot
	started=$((started + 1))
	forge "$boot"
	lives
	lib_not said 'found running'
}

test_a_process_of_another_user_is_not_adopted() {
	victim $stranger
	forge "$boot"
	lives
	lib_not said 'found running'
}

# The owner of the folder is checked before any file in it is read.
test_a_state_in_a_foreign_folder_kills_no_process() {
	victim $robot
	forge "$boot"
	chown -R $stranger "$folder/forged"
	refused $robot "$folder/forged" "it belongs to uid $stranger"
	kill -0 "$victim"
	kill -KILL "$victim"
}

# ---- operators ----

# As systemd makes it.
system_robot() {
	install -d -m 755 /run/endplate
	install -d -o $robot -g $operators -m 750 "$system"
	printf 'operators: %d\n' $operators | cat - "$folder/one.launch" >"$folder/system.launch"
	start $robot:$operators "$system" system
	unset ENDPLATE_RUN
	ready
}

test_an_operator_reaches_the_robot_of_the_system() {
	system_robot
	as $operator $operators achctl --robot "plc$$" status | grep -q one
	[ "$(as $operator $operators achctl --robot "plc$$" env)" = "export ENDPLATE_RUN='$system'
export ENDPLATE_PREFIX='$ENDPLATE_PREFIX'
unset ACH_DIR" ]
	lib_matches 111 "*$system: Permission denied: only the robot's user and the groups of its launch file *" \
		as $stranger achctl --robot "plc$$" status
	# An operator cannot change anything in it.
	lib_not as $operator $operators flock -n "$system/lock" true
	lib_not as $operator $operators ls "$system/state"
	lib_not as $operator $operators touch "$system/x"
	lib_not as $operator $operators rm "$system/control"
	stop
}

# The stranger creates a folder of the name that the operator uses, and plays achstart in it.
test_a_false_achstart_is_not_believed() {
	local run=$folder/tmp/false
	start $stranger "$run" one
	ready
	chmod -R go+rX "$run"
	chmod 666 "$run/control"
	lib_matches 111 "*$run: it belongs to uid $stranger, not to uid $operator*" as $operator achctl status
	lib_matches 111 "*$run: it belongs to uid $stranger, not to uid $operator*" as $operator achctl arm
	stop
}

# ---- wires and the simulator ----

test_a_wire_is_for_its_user() {
	local run=$folder/wire
	install -d -o $robot -m 755 "$run"
	start $robot "$run" robot
	ready
	(cd "$run" && [ "$(stat -c %a wire wire/torso wire/torso.lock robotsim | xargs)" = '700 600 600 600' ])
	lib_matches 111 '*no permission for*' as $stranger canwire stats torso
	chmod 755 "$run" "$run/wire"
	lib_matches 111 '*is not to be trusted*' as $stranger canwire stats torso
	lib_not as $stranger flock -n "$run/wire/torso.lock" true
	lib_not as $stranger flock -n "$run/robotsim.lock" true
	lib_not as $stranger robotsim report
	as $robot canwire stats torso >/dev/null
	as $robot robotsim report >/dev/null
	stop
}

# The stranger serves a wire of the right name, to get the frames.
test_a_false_wire_is_not_used() {
	export ENDPLATE_RUN=$folder/tmp/wires
	exec=1 as $stranger canwire run torso 2>/dev/null &
	lib_until test -S "$ENDPLATE_RUN/wire/torso"
	chmod -R go+rX "$ENDPLATE_RUN"
	chmod 666 "$ENDPLATE_RUN/wire/torso"
	lib_matches 111 "*is not to be trusted*" as $robot canwire stats torso
	lib_matches 111 "*belongs to uid $stranger*" as $robot canwire run other
}

# ---- channels ----

prefix() { export ENDPLATE_PREFIX=plc$$.$1.; } # channels of its own

# UID NAME: the stranger creates a channel of the robot first, writable by every user.
first() {
	as "$1" ach mk --mode 666 -m 20000 -n 8 "$ENDPLATE_PREFIX$2"
}

owner() { # CHANNEL
	stat -c %u "/dev/shm/achshm-$ENDPLATE_PREFIX$1"
}

# The stranger would own the channel that moves the robot.  An ordinary user cannot remove it: the robot does not start.
test_a_foreign_channel_keeps_a_users_robot_from_starting() {
	local name
	for name in waist-ref waist-state waist-req clock waist-event; do
		prefix "keeps-$name"
		first $stranger "$name"
		refused $robot "$folder/chan" "channel $ENDPLATE_PREFIX$name of uid $stranger: " robot
		said "ach rm $ENDPLATE_PREFIX$name"
		[ "$(owner "$name")" = $stranger ]
		as $stranger ach rm "$ENDPLATE_PREFIX$name"
	done
}

test_roots_achstart_replaces_a_foreign_channel() {
	local name
	prefix root
	for name in waist-ref waist-state waist-req clock; do
		first $stranger "$name"
	done
	start 0 "$folder/root" robot
	ready
	for name in waist-ref waist-state waist-req clock; do
		said "$ENDPLATE_PREFIX$name belongs to uid $stranger, mode 0666"
		[ "$(owner "$name")" = 0 ]
		lib_not as $stranger ach echo --last "$ENDPLATE_PREFIX$name"
	done
	stop
}

# A driver that is started by hand reports it as well.
test_a_driver_refuses_a_foreign_channel() {
	local name
	install -d -o $robot "$folder/hand"
	export ENDPLATE_RUN=$folder/hand
	exec=1 as $robot canwire run torso 2>/dev/null &
	lib_until test -S "$ENDPLATE_RUN/wire/torso"
	for name in waist-ref waist-state; do
		prefix "hand-$name"
		first $stranger "$name"
		lib_matches 111 "*channel $ENDPLATE_PREFIX$name of uid $stranger: *belongs to uid $stranger, *ach rm*" \
			as $robot pciod --name waist --config "$folder/waist.yaml"
		as $stranger ach rm "$ENDPLATE_PREFIX$name"
	done
}

# A channel of the robot's user that others may write: achstart removes it and says so.
test_a_channel_with_a_looser_mode_is_replaced() {
	prefix loose
	first $robot waist-ref
	start $robot "$folder/loose" robot
	ready
	said "waist-ref belongs to uid $robot, mode 0666, expected uid $robot, mode 0660 at most: replaced"
	lib_not as $stranger ach echo --last "${ENDPLATE_PREFIX}waist-ref"
	stop
}

# Without operators only the robot's user has access; operators read, and members of moving write references.
test_groups_of_channels() {
	local moving=23411 name controller=23404
	prefix groups
	printf 'operators: %d\nmoving: %d\n' $operators $moving | cat - "$folder/robot.launch" >"$folder/groups.launch"
	start 0 "$folder/groups" groups
	ready
	for name in waist-state clock waist-rep; do
		as $operator $operators ach echo --last "$ENDPLATE_PREFIX$name" >/dev/null || [ "$name" = waist-rep ]
		lib_not as $operator $operators ach put --json '{}' "$ENDPLATE_PREFIX$name"
	done
	lib_not as $operator $operators ach echo --last "${ENDPLATE_PREFIX}waist-req"
	lib_not as $operator $operators ach put --json '{}' "${ENDPLATE_PREFIX}waist-ref"
	as $controller $moving ach put --json '{}' "${ENDPLATE_PREFIX}waist-ref"
	lib_not as $controller $moving ach put --json '{}' "${ENDPLATE_PREFIX}waist-state"
	lib_not as $stranger ach echo --last "${ENDPLATE_PREFIX}waist-state"
	# The channel is removed, and the driver creates it: achstart gives the group its rights again.
	ach rm "${ENDPLATE_PREFIX}waist-ref"
	lib_until as $controller $moving ach put --json '{}' "${ENDPLATE_PREFIX}waist-ref"
	stop
}

test_without_operators_channels_are_their_users_alone() {
	prefix alone
	start $robot:$operators "$folder/alone" robot
	ready
	lib_not as $operator $operators ach echo --last "${ENDPLATE_PREFIX}waist-state"
	lib_not as $operator $operators ls "$folder/alone"
	stop
}

# ACH_DIR: a folder of channels in the robot's folder, where a stranger cannot create a name first.
test_channels_in_a_folder_of_the_robot() {
	printf 'operators: %d\n' $operators | cat - "$folder/one.launch" >"$folder/dir.launch"
	export ACH_DIR=$folder/dir/chan
	start $robot:$operators "$folder/dir" dir
	ready
	[ "$(stat -c '%u %g %a' "$ACH_DIR")" = "$robot $operators 750" ]
	unset ACH_DIR
	[ "$(ENDPLATE_RUN=$folder/dir as $robot achctl env | tail -1)" = "export ACH_DIR='$folder/dir/chan'" ]
	(eval "$(as $robot achctl env)" && [ "$ACH_DIR" = "$folder/dir/chan" ])
	[[ $(as $robot achctl --json env) == '{"ok":true,'*",\"ACH_DIR\":\"$folder/dir/chan\"}" ]]
	stop
	# Another user's folder is refused.
	as $stranger mkdir -m 777 "$folder/tmp/chan"
	export ACH_DIR=$folder/tmp/chan
	refused $robot "$folder/dir" "$folder/tmp/chan: it belongs to uid $stranger"
	export ACH_DIR=/dev/shm
	start $robot "$folder/dir" one
	ready
	stop
}

lib_functions "$folder/log" "${1:-}"

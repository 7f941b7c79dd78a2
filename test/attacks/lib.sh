# shellcheck shell=bash disable=SC2119,SC2120 # arguments are optional
# lib.sh: a robot to attack, and the users who attack it.
#
# The robot is that of launch/waist.launch: canwire, robotsim, hubo-daemon and pciod under achstart.  It belongs to the
# user "robot", not to root.  Folder, channels and programs are in $folder; every user may write the folder of channels,
# as with /dev/shm.  Each case starts a robot of its own.  It is on the real clock, as the users are.  On a loaded
# machine no daemon is killed for being late, and an arm command or a raise that a driver has not taken in time is
# repeated or waited for.
#
#	robot_up; robot_armed			# it would follow references now
#	denied stranger ach put ...		# the attack
#	level_is run; still_alive		# what must hold

. test/scripts/lib.sh
lib_go_first

[ "$(id -u)" -eq 0 ] || {
	lib_ignore all "needs root, to be several users"
	lib_end
	exit
}

# ---- users ----

declare -A uids=([root]=0 [robot]=23501 [other]=23502 [stranger]=23503 [operator]=23504 [armer]=23505 [mover]=23506)
operators=23510 arming=23511 moving=23512

# The robot's user has no capability.  Its own group is private; it is a member of the groups that it gives rights to.
be() { # USER: sets be to a command that becomes that user; other is the user of another robot
	local groups=--clear-groups
	case $1 in
	robot) groups=--groups=$operators,$moving ;;
	operator) groups=--groups=$operators ;;
	armer) groups=--groups=$operators,$arming ;;
	mover) groups=--groups=$operators,$moving ;;
	esac
	be=(setpriv --reuid="${uids[$1]}" --regid="${uids[$1]}" "$groups")
}

as() { # USER COMMAND...
	local be
	be "$1"
	"${be[@]}" env HOME=/ USER=root "${@:2}"
}

denied() { # USER COMMAND...: it fails because the user lacks the permission
	local output
	output=$(as "$@" 2>&1) && echo "not denied: $*" && return 1
	[[ $output == *[Pp]'ermission denied'* || $output == *'not permitted'* ]] || { echo "$*: $output" && return 1; }
}

spawn() { # USER COMMAND...: in the background; its process is $spawned
	local be
	be "$1"
	"${be[@]}" env HOME=/ USER=root "${@:2}" &
	spawned=$!
}

end() { # [SIGNAL]: ends the spawned process
	kill "-${1:-TERM}" "$spawned"
	wait "$spawned" || true
}

# The groups of the armer in the user database from now on, where his processes have others.
#
# The script has a mount namespace of its own, and says so with ATTACKS_MOUNTS=yes.
database() { # [GROUP...]
	[ -n "${ATTACKS_MOUNTS:-}" ] || exit 77
	if [ ! -e "$folder/passwd" ]; then
		cp /etc/passwd "$folder/passwd"
		echo "armer:x:${uids[armer]}:${uids[armer]}::/:/bin/false" >>"$folder/passwd"
		cp /etc/group "$folder/group"
		echo "arming$$:x:$arming:" >>"$folder/group"
		cp "$folder/group" "$folder/groups"
		mount --bind "$folder/passwd" /etc/passwd
		mount --bind "$folder/group" /etc/group
	fi
	# In place: that file is mounted.
	awk -F: -v OFS=: -v groups=" $* " '
		index(groups, " " $1 " ") || index(groups, " " $3 " ") { $4 = $4 ($4 == "" ? "" : ",") "armer" }
		{ print }' "$folder/groups" >"$folder/group"
}

# ---- the place ----

set -E
# A case that fails says where.
trap '[ "$BASH_SUBSHELL" -eq 0 ] || echo "${BASH_SOURCE[0]}:$LINENO: $BASH_COMMAND"' ERR

folder=$(mktemp -d)
chmod 755 "$folder"
install -d -m 1777 "$folder/shm" "$folder/tmp"
install -d "$folder/bin"
for program in achstart achctl ach canwire robotsim hubo-daemon pciod; do
	cp "$build/$program" "$folder/bin/"
done
cp "$build/test/attacks/scribble" "$folder/bin/"
cp config/robots/waist.yaml "$folder/waist.yaml"
export PATH=$folder/bin:$PATH LC_ALL=C
export ENDPLATE_RUN=$folder/run ENDPLATE_PREFIX=atk$$. ACH_DIR=$folder/shm
unset NOTIFY_SOCKET XDG_RUNTIME_DIR NO_COLOR SUDO_USER
p=$ENDPLATE_PREFIX

pid_of() { sed -n 's/^pid //p' "$ENDPLATE_RUN/state/$1"; } # DAEMON
pids() { sed -n 's/^pid //p' "$ENDPLATE_RUN"/state/* 2>/dev/null || true; }

lib_cleanup() {
	local plate
	[ ! -s "$folder/achstart" ] || kill -KILL "$(<"$folder/achstart")" 2>/dev/null || true
	pids | xargs -r kill -KILL 2>/dev/null || true
	for plate in "$ACH_DIR"/achshm-*; do
		[ ! -e "$plate" ] || ach rm "${plate#*/achshm-}" 2>/dev/null || rm -f "$plate"
	done
	rm -rf "$ENDPLATE_RUN" "$folder/achstart" "$folder/said"
}
trap 'lib_cleanup; rm -rf "$folder"' EXIT

# ---- the robot ----

launch() { # LINE...: the launch file, with these lines
	local late='dead_after: 9s'
	printf '%s\n' "include: $folder/waist.yaml" "operators: $operators" "arming: $arming" "moving: $moving" "$@" \
		"daemons: {canwire: {$late}, robotsim: {$late}, clock: {$late}, waist: {$late, critical: hold}}" \
		>"$folder/waist.launch"
}

start() { # [USER]: achstart, which prints to $folder/said
	local be
	be "${1:-robot}"
	[ -e "$ENDPLATE_RUN" ] || install -d -o "${uids[${1:-robot}]}" "$ENDPLATE_RUN"
	: >"$folder/said"
	"${be[@]}" achstart --real "$folder/waist.launch" 2>>"$folder/said" &
	echo $! >"$folder/achstart"
	disown
}

said() { grep -qF -- "$1" "$folder/said" || { cat "$folder/said" && return 1; }; }
ready_or_gone() { grep -q 'all . ready' "$folder/said" || ! kill -0 "$(<"$folder/achstart")"; }
ready() {
	lib_until ready_or_gone
	said ' ready after'
	pids | sort >"$folder/pids"
}

robot_up() { # LINE...: of a new robot, with these lines in its launch file
	lib_cleanup
	launch "$@"
	start
	ready
}

robot_armed() {
	lib_until as robot achctl arm # on a loaded machine a driver may be late and refuse for a moment
	level_is run
}

# A new robot with arm: auto; another one if a driver was too late to take the level.
robot_auto() {
	for _ in {1..5}; do
		robot_up 'arm: auto'
		lib_until auto_decided
		! said 'arm: auto, and all are ready' >/dev/null || break
	done
	level_is run
}
auto_decided() { grep -qE 'arm: auto, and all are ready|arm: auto: .* has not taken it' "$folder/said"; }

kill_all() { # -KILL of achstart and all daemons
	{ cat "$folder/achstart" && pids; } | xargs kill -KILL
	lib_until all_gone
}
all_gone() { ! { cat "$folder/achstart" && pids; } | xargs -n 1 kill -0; }

# ---- what must hold ----

state() { as robot ach echo --json "$@" "${p}waist-state"; }
state_has() { [[ $(state --last) == *"$1"* ]]; } # JSON
levels() { grep -oE '"level":"[a-z]*"' | cut -d'"' -f4 | sort -u | xargs; }
status_has() { # LEVEL: of the robot and of all its drivers
	as robot achctl --json status >"$folder/status" || true # 1 if a loaded machine is late
	[ "$(levels <"$folder/status")" = "$1" ] || { cat "$folder/status" && return 1; }
}

level_is() { # LEVEL: the waist comes to show it, then does in 50 states in a row; so do achctl and the other drivers
	lib_until state_has "\"level\":\"$1\""
	state --follow --count 50 >"$folder/states"
	[ "$(levels <"$folder/states")" = "$1" ] || { tail -n 9 "$ENDPLATE_RUN/log/events.log" && return 1; }
	lib_until status_has "$1"
}

still_alive() { # the same processes as before
	kill -0 "$(<"$folder/achstart")"
	pids | sort | cmp - "$folder/pids"
	xargs -n 1 kill -0 <"$folder/pids"
}

died_and_ready() { # DAEMON TIMES
	[ "$(grep -cF "achstart[$1]: ready after" "$folder/said")" -gt "$2" ]
}
killed_and_back() { # DAEMON: kill -9; the next process is ready
	local times
	times=$(grep -cF "achstart[$1]: ready after" "$folder/said")
	kill -KILL "$(pid_of "$1")"
	lib_until died_and_ready "$1" "$times"
	pids | sort >"$folder/pids"
}

# USER ARGUMENT...: achctl, which raises the level; a driver that shows it only after achctl has given up is late, and
# level_is waits for it.
raise_as() {
	as "$1" achctl "${@:2}" >"$folder/raised" 2>&1 || grep -qF 'NOT CONFIRMED' "$folder/raised" ||
		{ cat "$folder/raised" && return 1; }
}

raises() { # USER: estop, and every driver shows it
	raise_as "$1" estop --why "$1 pressed the button"
	level_is estop
}

logged() { grep -qF -- "$1" "$ENDPLATE_RUN/log/events.log"; } # WORDS
count() { grep -cF -- "$1" "$ENDPLATE_RUN/log/events.log" || true; } # WORDS: lines about it

messages() { # CHANNEL: put so far
	as robot ach info --json --for 0 "$p$1" | grep -oE '"last_seq":[0-9]+' | grep -oE '[0-9]+'
}

lowering() { # [FIELD VALUE]: a message that would arm, with the right ids and numbers except in that field
	local first
	declare -A field=([kind]='"lower"' [level]='"run"' [epoch]=99 [until_ns]=9223372036854775807)
	first=$(as robot ach echo --json "${p}estop" | sed -n 1p) # achstart's own
	field[boot]=$(grep -oE '"boot":[^]]*]' <<<"$first" | cut -d: -f2)
	field[chan]=$(grep -oE '"chan":[^]]*]' <<<"$first" | cut -d: -f2)
	field[seen]="[$(messages estop),$(messages estop-b)]"
	[ $# -eq 0 ] || field[$1]=$2
	for name in "${!field[@]}"; do
		printf '"%s":%s,' "$name" "${field[$name]}"
	done | sed 's/.*/{&"who":"x"}/'
}

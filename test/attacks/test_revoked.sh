#!/bin/bash
# test_revoked.sh: a user who was removed from the groups operators, moving or arming while the robot runs.
#
# The kernel gives groups to a process, not to a user: processes that he started before keep their rights, and those
# that he starts later have none.  Ending his processes ends the rights.
#
# A session of achweb is no process: whether it may act is looked up in the user database with each action.
# waits: mostly
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
# The user database is one of its own.
if [ -z "${ATTACKS_MOUNTS:-}" ] && unshare --mount true 2>/dev/null; then
	ATTACKS_MOUNTS=yes exec unshare --mount bash "$0" "$@"
fi
. test/attacks/lib.sh

former() { # USER COMMAND...: with the same user id, in no group
	setpriv --reuid="${uids[$1]}" --regid="${uids[$1]}" --clear-groups env HOME=/ USER=root "${@:2}"
}
refused() { lib_not former "$@" >/dev/null 2>&1; }
moves() { [ "$(taken)" -gt "${1:-0}" ]; }
taken() { state --last | grep -oE '"refs_taken":[0-9]+' | cut -d: -f2; }
stays() { local before; before=$(taken) && sleep 0.1 && [ "$(taken)" = "$before" ]; }

test_a_former_member_gets_nothing_new() {
	local user
	robot_up
	robot_armed
	for user in operator armer mover; do
		refused "$user" achctl status
		refused "$user" achctl estop
		refused "$user" achctl arm
		refused "$user" achctl stop
		refused "$user" ach echo --last "${p}waist-state"
		refused "$user" ach put --json '{"kind":"raise","level":"estop"}' "${p}estop-b"
		refused "$user" ach put --json '{"mode":["position"],"position":[-1]}' --valid 20 "${p}waist-ref"
	done
	level_is run
	still_alive
}

# What a process of his has open stays open, until it ends.
test_a_process_of_a_former_mover_moves_until_it_is_ended() {
	local before
	robot_up
	robot_armed
	spawn mover ach put --json '{"mode":["position"],"position":[-1]}' --valid 20 --hz 100 "${p}waist-ref"
	lib_until moves
	refused mover ach put --json '{"mode":["position"],"position":[-1]}' --valid 20 "${p}waist-ref"
	before=$(taken)
	lib_until moves "$before"
	end KILL
	lib_until stays
	level_is run
	still_alive
}

# ---- sessions of achweb ----

web() { # [GROUP]: achweb of the robot's user, on a local socket of the operators
	local arming=${1:+ENDPLATE_ARMING=$1}
	rm -f "$folder/web/web"
	setpriv --reuid="${uids[robot]}" --regid="$operators" --groups="$operators" env HOME=/ ${arming:+"$arming"} \
		achweb --folder "$folder/web" --listen "unix:$folder/web/page" &
	web=$!
	lib_until test -S "$folder/web/web"
}
web_ends() { # [SIGNAL]
	kill "-${1:-TERM}" "$web"
	wait "$web" || true
}
armers_link() {
	as armer /usr/bin/python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(60)
s.connect(sys.argv[1])
s.send(b"token act")
print(s.recv(300).decode())' "$folder/web/web"
}
armer_logs_in() {
	local link
	link=$(armers_link)
	as armer /usr/bin/python3 "$folder/armer.py" "$folder/tmp/session" "${link#ok }" "$folder/web/page"
}
# PATTERN: what the web session of the armer shows, and the answer when it asks to arm; this process lacks that group
# shellcheck disable=SC2053 # a pattern
web_says() {
	local said
	said=$(setpriv --reuid="${uids[armer]}" --regid="${uids[armer]}" --groups="$operators" \
		/usr/bin/python3 "$folder/armer.py" "$folder/tmp/session" 2>&1) || true
	echo "$said"
	[[ $said == $1 ]]
}

test_a_web_session_of_a_former_armer_does_not_act() {
	cp "$build/achweb" "$folder/bin/"
	cp test/web/session.py test/web/armer.py "$folder"
	database "$arming"
	robot_up
	rm -rf "$folder/web"
	install -d -m 750 -o "${uids[robot]}" -g "$operators" "$folder/web"
	web "$arming"
	armer_logs_in
	lib_until web_says 'estop armed: *' # on a loaded machine a driver may be late and refuse for a moment
	level_is run
	raise_as robot estop
	level_is estop
	# Removed from the group.  A shell of his has it still, and gets no link to act.
	database
	web_says 'estop refused: your user may not act any more: *'
	[[ $(armers_link) == 'error acting is for '*'; this process has that group, but the user database '* ]]
	# A member again, without a new link.
	database "$arming"
	lib_until web_says 'estop armed: *'
	raise_as robot estop
	level_is estop
	# Removed while there is no achweb: the next one has his session, which looks.
	lib_until test -s "$folder/web/web.sessions"
	web_ends KILL
	database
	web "$arming"
	web_says 'estop * not proven: *401*'
	# A member, of a group to which achweb gives that right no more.
	database "$arming"
	armer_logs_in
	lib_until test -s "$folder/web/web.sessions"
	web_ends
	web
	web_says 'estop * not proven: *401*'
	level_is estop
	web_ends
	still_alive
}

lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# test_groups.sh: rights of each group, for a robot whose user has no capability and a private group.
# shellcheck disable=SC2317 # called by name
set -eu -o pipefail
. test/attacks/lib.sh

may() { # yes|no USER COMMAND...
	case $1 in
	yes) as "${@:2}" ;;
	no) lib_not as "${@:2}" ;;
	esac
}

# For each user: may look, raise by the channel, write references, write the robot's own channels, arm.
test_each_group_has_its_rights() {
	local user looks raises moves arms request
	robot_up
	while read -r user looks raises moves arms; do
		echo "$user:"
		may "$looks" "$user" ach echo --last "${p}waist-state" >/dev/null
		may "$looks" "$user" achctl log waist >/dev/null
		may "$looks" "$user" achctl request waist get tick
		may "$raises" "$user" ach put --json '{"kind":"raise","level":"estop"}' "${p}estop-b"
		may "$raises" "$user" achctl estop
		may "$moves" "$user" ach put --hex 00 "${p}waist-ref"
		for request in estop waist-req waist-state; do
			may no "$user" ach put --hex 00 "$p$request"
		done
		may "$arms" "$user" achctl arm
	done <<-TABLE
		operator yes yes no  no
		mover    yes yes yes no
		armer    yes yes no  yes
		stranger no  no  no  no
	TABLE
	still_alive
}

groups() { stat -c '%a %g' "$@" | xargs; }

test_what_the_operators_may_read_is_theirs() {
	robot_up
	[ "$(cd "$ENDPLATE_RUN" && groups . control robot log log/events.log log/waist.log)" = \
		"750 $operators 660 $operators 640 $operators 750 $operators 640 $operators 640 $operators" ]
	[ "$(cd "$ACH_DIR" && groups "achshm-${p}waist-state" "achshm-${p}estop-b" "achshm-${p}waist-ref")" = \
		"640 $operators 640 $operators 640 $moving" ]
}

# As systemd makes it: another group would make it take all that lies there away from the operators.
test_a_folder_that_all_may_enter_stays() {
	lib_cleanup
	launch
	install -d -m 711 -o "${uids[robot]}" -g "${uids[robot]}" "$ENDPLATE_RUN"
	ACH_DIR=$ENDPLATE_RUN/chan
	start
	ready
	[ "$(groups "$ENDPLATE_RUN" "$ENDPLATE_RUN/chan")" = "711 ${uids[robot]} 750 $operators" ]
	as operator achctl request waist get tick
	as operator achctl estop
	lib_matches 111 '*Permission denied*' as stranger achctl status
	lib_not as stranger ls "$ENDPLATE_RUN"
	lib_cleanup # of channels in that place
}

# The group of the process keeps rights to all that it makes; 1 is that of another user, daemon.
test_a_group_with_other_users_is_refused() {
	local group groups line
	lib_cleanup
	launch
	while read -r group groups line; do
		echo "group $group, besides $groups:"
		rm -rf "$ENDPLATE_RUN"
		install -d -o "${uids[robot]}" "$ENDPLATE_RUN"
		lib_matches 111 "achstart: fatal: $line" setpriv --reuid="${uids[robot]}" --regid="$group" \
			--groups="$groups" achstart --real "$folder/waist.launch"
	done <<-TABLE
		$operators $moving moving: other users are in group $operators, *
		$arming $operators,$moving moving: other users are in group $arming, *
		1 $operators,$moving operators: other users are in group 1, *
		${uids[robot]} $moving operators: this process is not in the group $operators: *
		${uids[robot]} $operators moving: this process is not in the group $moving: *
	TABLE
}

lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# test_claims.sh: a stranger who takes, or squats, the claims of a robot's devices and channels.
#
# Claims of channels and soft wires are locks on files that he cannot open.  He can bind the abstract sockets that older
# versions used for them; that keeps no driver and no achstart from starting.  On a SocketCAN interface, which he can
# use anyway, he can hold a claim, and is named.
# waits: mostly
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

claims=.endplate-claims-${uids[robot]}

old_names() { grep -oE "@endplate/dev/.*$folder.*" /proc/net/unix | sort -u | cut -c2-; }

# As USER: binds each name on stdin as soon as it is free, with a queue of one that is full; prints how many it has.
squat='import socket, sys, time
names, held = sys.stdin.read().split(), []
for n in range(int(sys.argv[1])):
    for name in list(names):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            s.bind("\0" + name)
        except OSError:
            continue
        s.listen(0)
        held.append(s)
        names.remove(name)
        for _ in range(4):
            c = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
            held.append(c)
            try:
                c.connect("\0" + name)
            except OSError:
                pass
    print(len(names), flush=True)
    time.sleep(0.001)
time.sleep(600)'
squatted() { [ "$(tail -n 1 "$folder/squat")" = 0 ]; }

test_a_stranger_with_every_old_name_keeps_no_robot_from_starting() {
	robot_up
	old_names >"$folder/names"
	[ "$(wc -l <"$folder/names")" -ge 5 ] # estop, the states, identifiers of the torso
	kill_all
	rm -rf "$ENDPLATE_RUN/state"
	spawn stranger python3 -c "$squat" 1 <"$folder/names" >"$folder/squat"
	lib_until squatted
	start
	ready
	said "estop: a process of uid ${uids[stranger]} has bound its old name, which holds nothing"
	grep -qF "a process of uid ${uids[stranger]} has bound its old name" "$ENDPLATE_RUN/log/waist.log"
	[ "$(grep -cF 'has bound its old name' "$ENDPLATE_RUN/log/waist.log")" -eq 1 ]
	robot_armed
	# The robot's own claims hold beside that.
	lib_matches 111 '*achstart*already*' as robot achstart "$folder/waist.launch"
	lib_matches 112 '*is taken by pciod, process *' as robot pciod --name waist --config "$folder/waist.yaml"
	level_is run
	still_alive
	end
}

# He waits for the moment in which a driver, its spare and achstart die.
test_a_stranger_takes_nothing_when_drivers_die() {
	robot_up
	spawn stranger python3 -c "$squat" 60000 < <(old_names) >"$folder/squat"
	killed_and_back waist
	killed_and_back clock
	kill -KILL "$(<"$folder/achstart")"
	start
	ready
	robot_armed
	end
}

# In a folder that every user may write.
test_a_foreign_file_of_claims_is_refused_and_root_replaces_it() {
	lib_cleanup
	launch
	rm -f "$ACH_DIR"/.endplate-claims-*
	as stranger touch "$ACH_DIR/$claims" "$ACH_DIR/.endplate-claims-0"
	start
	lib_until gone
	said "$claims: it belongs to uid ${uids[stranger]}, not to uid ${uids[robot]}: let root remove it"
	rm -rf "$ENDPLATE_RUN"
	start root
	ready
	[ "$(stat -c '%u %a' "$ACH_DIR/.endplate-claims-0")" = '0 600' ]
	lib_cleanup
	rm -f "$ACH_DIR"/.endplate-claims-*
}
gone() { ! kill -0 "$(<"$folder/achstart")"; }

test_a_stranger_opens_no_file_of_claims() {
	local user file
	robot_up
	chmod 755 "$ENDPLATE_RUN" # by mistake
	for user in stranger operator mover; do
		for file in "$ENDPLATE_RUN/$claims" "$ACH_DIR/$claims"; do
			denied "$user" cat "$file"
			denied "$user" rm -f "$file"
			denied "$user" mv "$file" "$ACH_DIR/x"
			denied "$user" python3 -c "open('$file', 'r+')"
		done
	done
	still_alive
}

# Two robots of one user with one prefix, in two folders, on wires of their own.
test_two_robots_of_one_user_with_one_prefix_meet() {
	robot_up
	robot_armed
	install -d -o "${uids[robot]}" "$folder/second"
	ENDPLATE_RUN=$folder/second lib_matches 111 "*${p}estop is taken by achstart, process *set ENDPLATE_PREFIX*" \
		as robot achstart "$folder/waist.launch"
	rm -r "$folder/second"
	level_is run
	still_alive
}

# The robot's user removes the file by mistake: within a second the drivers hold their claims in a new one.
test_a_removed_file_of_claims_is_made_again() {
	robot_up
	rm "$ENDPLATE_RUN/$claims"
	lib_until test -e "$ENDPLATE_RUN/$claims"
	[ "$(stat -c '%u %a' "$ENDPLATE_RUN/$claims")" = "${uids[robot]} 600" ]
	# And that of the channels, with the claim of achstart.
	rm "$ACH_DIR/$claims"
	lib_until as robot python3 -c "$is_locked" "$ACH_DIR/$claims" "channel:${ENDPLATE_PREFIX:-}estop"
	still_alive
}
# FILE NAME: the claim of that name is held.
is_locked='import fcntl, struct, sys
h = 0xcbf29ce484222325
for byte in sys.argv[2].encode():
    h = (h ^ byte) * 0x100000001b3 % (1 << 64)
flock = struct.pack("hhqqi", fcntl.F_WRLCK, 0, h >> 2, 1, 0)
with open(sys.argv[1], "r+b") as claims:
    got = fcntl.fcntl(claims, 36, flock) # F_OFD_GETLK
sys.exit(struct.unpack("hhqqi", got)[0] == fcntl.F_UNLCK)'

test_a_stranger_who_holds_an_interface_is_named() {
	lib_cleanup
	spawn stranger python3 -c "$squat" 1 <<<"endplate/dev/no$$.pcio" >"$folder/squat"
	lib_until squatted
	lib_matches 112 "*pcio of no$$ is taken by a process of uid ${uids[stranger]}" in_a_folder_of_its_own robot
	lib_matches 112 "*pcio of no$$ is taken by python3, process $spawned of uid ${uids[stranger]}" \
		in_a_folder_of_its_own root
	end
}
in_a_folder_of_its_own() { # USER
	rm -rf "$folder/own"
	install -d -o "${uids[$1]}" "$folder/own"
	ENDPLATE_RUN=$folder/own as "$1" pciod --name waist --config "$folder/waist.yaml" --bus "torso=no$$"
}

lib_functions "$folder/log" "${1:-}"

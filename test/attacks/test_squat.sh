#!/bin/bash
# test_squat.sh: a stranger, an operator or a mover puts something under the names that a robot will use, before it
# starts, and between the files of a robot that runs.
#
# In a folder that every user may write, as /dev/shm is, he keeps an ordinary user's robot from starting, with a line
# that names him.  Nothing is read, written or removed through a link.  Root's achstart takes the names back.  In RUN he
# makes, replaces and removes nothing.  test_names.sh has the same for channels, test_claims.sh for claims.
# waits: mostly
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh

kinds=(garbage empty link dangling folder fifo socket)
all=(estop estop-b waist-ref waist-state waist-req waist-rep waist-event clock achstart-event bus-torso)

squat() { # USER KIND CHANNEL
	local path=$ACH_DIR/achshm-$p$3
	case $2 in
	garbage) as "$1" sh -c "head -c 300 /dev/urandom >$path; chmod 666 $path" ;;
	empty) as "$1" touch "$path" ;;
	link) as "$1" ln -s "$folder/precious" "$path" ;;
	dangling) as "$1" ln -s "$folder/tmp/made" "$path" ;;
	folder) as "$1" mkdir -p "$path/deeper" ;;
	fifo) as "$1" mkfifo -m 666 "$path" ;;
	socket) as "$1" python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('$path')" ;;
	esac
}
clean() { # OWNER: of a file that links lead to
	find "$ACH_DIR" -mindepth 1 -maxdepth 1 ! -type f -exec rm -rf {} +
	lib_cleanup
	launch
	install -o "${uids[$1]}" -m 600 /dev/null "$folder/precious"
	echo precious >"$folder/precious"
}
untouched() { [ "$(<"$folder/precious")" = precious ] && [ ! -e "$folder/tmp/made" ]; }
gone() { ! kill -0 "$(<"$folder/achstart")"; }

test_a_squatted_name_is_refused_and_names_its_user() {
	local user kind name i=0
	for user in stranger operator mover; do
		for kind in "${kinds[@]}"; do
			[ "$user" = stranger ] || [ "$kind" = link ] || [ "$kind" = folder ] || continue
			name=${all[$((i++ % ${#all[@]}))]}
			echo "$user, $kind, $name:"
			clean robot
			squat "$user" "$kind" "$name"
			start
			lib_until gone
			said "channel $p$name of uid ${uids[$user]}: "
			said "remove it with ach rm $p$name, or set ENDPLATE_PREFIX"
			untouched
			[ -z "$(pids)" ]
		done
	done
	clean robot
}

test_root_takes_squatted_names_back() {
	local kind name
	for kind in "${kinds[@]}"; do
		echo "$kind:"
		clean root
		for name in "${all[@]}"; do
			squat stranger "$kind" "$name"
		done
		start root
		ready
		untouched
		for name in "${all[@]}"; do
			[ "$(stat -c '%u %F' "$ACH_DIR/achshm-$p$name")" = '0 regular file' ]
		done
	done
}

# An operator may read the plate of a state.  His copy of it, under another name, leads to the robot's memory.
test_a_copied_plate_removes_no_memory() {
	local user
	robot_up
	robot_armed
	for user in operator root; do # who removes it
		as operator cp "$ACH_DIR/achshm-${p}waist-state" "$ACH_DIR/achshm-${p}copy"
		lib_not as operator ach echo --last "${p}copy"
		lib_not as operator ach put --hex 00 "${p}copy"
		as "$user" ach rm "${p}copy"
	done
	level_is run
	still_alive
}

# While it runs, with folders that he may enter by mistake.
test_in_the_folder_of_a_robot_no_other_user_makes_or_takes_a_name() {
	local user place file
	robot_up
	robot_armed
	chmod 755 "$ENDPLATE_RUN"{,/state,/log,/wire}
	for user in stranger operator mover; do
		for place in "$ENDPLATE_RUN"{,/state,/log,/wire}; do
			denied "$user" ln -s "$folder/precious" "$place/x"
			denied "$user" mkdir "$place/x"
			for file in "$place"/*; do
				denied "$user" mv "$file" "$folder/tmp/x"
				denied "$user" ln -sfn "$folder/precious" "$file"
			done
		done
		denied "$user" mv "$ENDPLATE_RUN" "$folder/x"
	done
	level_is run
	still_alive
}

# RUN lies in a folder of the stranger, as $XDG_RUNTIME_DIR/endplate would if he had made it first.  He puts another
# folder in its place.
test_a_false_folder_in_place_of_run_is_not_believed() {
	lib_cleanup # of the robot in another folder, which has the same channels
	export ENDPLATE_RUN=$folder/tmp/up/run
	rm -rf "$folder/tmp/up"
	as stranger mkdir "$folder/tmp/up"
	chmod 777 "$folder/tmp/up"
	robot_up
	robot_armed
	as stranger mv "$ENDPLATE_RUN" "$folder/tmp/up/away"
	as stranger mkdir -m 777 "$ENDPLATE_RUN" "$ENDPLATE_RUN/state" "$ENDPLATE_RUN/wire"
	spawn stranger python3 -c 'import os, socket, time
os.chdir(os.environ["ENDPLATE_RUN"])
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("control")
os.chmod("control", 0o777)
s.listen(8)
c, _ = s.accept()
c.send(b"{\"ok\":true}\n")
time.sleep(600)'
	lib_until test -S "$ENDPLATE_RUN/control"
	lib_not as robot achctl status
	as robot achctl estop || true
	lib_until state_has '"level":"estop"'
	end
	kill -KILL "$(<"$folder/achstart")"
	ENDPLATE_RUN=$folder/tmp/up/away pids | xargs -r kill -KILL
	rm -rf "$folder/tmp/up"
}

lib_functions "$folder/log" "${1:-}"

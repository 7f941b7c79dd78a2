#!/bin/bash
# test_web.sh: local users, and an achweb that is a user of its own.
#
# It is an operator, has a folder of its own, and listens on a local socket.  Who may open that socket reaches the page;
# who may open the one in the folder gets a link; acting takes the group of --arming.
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
. test/attacks/lib.sh
cp "$build/achweb" "$folder/bin/"
group=games # of the system: --arming takes a name
page=$folder/web/page

web_up() { # OPTION...: achweb of the user operator, in the group of the operators
	rm -rf "$folder/web"
	install -d -m 750 -o "${uids[operator]}" -g "$operators" "$folder/web"
	setpriv --reuid="${uids[operator]}" --regid="$operators" --groups="$operators" env HOME=/ \
		achweb --folder "$folder/web" "$@" &
	spawned=$!
	lib_until test -S "$folder/web/web"
}

# USER QUESTION: what the socket in the folder answers; in_group is a group more
asks() {
	local be
	be "$1"
	[ -z "${in_group:-}" ] ||
		be=(setpriv --reuid="${uids[$1]}" --regid="${uids[$1]}" --groups="$operators,$in_group")
	"${be[@]}" /usr/bin/python3 - "$folder/web/web" "$2" <<'ASK'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.settimeout(60)
s.connect(sys.argv[1])
s.send(sys.argv[2].encode())
print(s.recv(300).decode())
ASK
}
# shellcheck disable=SC2053 # a pattern
asked() { [[ $(asks "$1" "$2" 2>&1) == $3 ]] || { asks "$1" "$2" && return 1; }; } # USER QUESTION PATTERN

status() { # USER HOST PATH: of the answer on the local socket
	as "$1" /usr/bin/python3 - "$page" "$2" "$3" <<'GET'
import http.client, socket, sys
path, host, target = sys.argv[1:]
one = http.client.HTTPConnection(host, timeout=60)
one.sock = socket.socket(socket.AF_UNIX)
try:
    one.sock.connect(path)
except PermissionError:
    sys.exit("000")
one.request("GET", target, headers={"Host": host})
print(one.getresponse().status, end="")
GET
}

test_a_local_socket_is_for_its_group() {
	robot_up
	web_up --listen "unix:$page" --host robot.lan
	[ "$(stat -c '%a %u %g' "$page")" = "660 ${uids[operator]} $operators" ]
	[ "$(status operator robot.lan /)" = 200 ]
	[ "$(status operator robot.lan /session)" = 401 ]
	[ "$(status operator robot.lan /../../etc/passwd)" = 404 ]
	[ "$(status operator evil.example /)" = 421 ]
	[ "$(status stranger robot.lan / 2>&1 || true)" = 000 ]
	asked operator 'token look' 'ok http://robot.lan/#*'
	end
	[ ! -e "$page" ]
}

test_a_socket_that_was_left_is_replaced_and_another_file_is_not() {
	robot_up
	web_up --listen "unix:$page"
	kill -KILL "$spawned"
	wait "$spawned" || true
	[ -S "$page" ]
	rm -f "$folder/web/web"
	setpriv --reuid="${uids[operator]}" --regid="$operators" --groups="$operators" \
		achweb --folder "$folder/web" --listen "unix:$page" &
	spawned=$!
	lib_until test -S "$folder/web/web"
	[ "$(status operator 127.0.0.1:8765 /)" = 200 ]
	end
	echo precious >"$folder/web/file"
	chown "${uids[operator]}" "$folder/web/file"
	lib_matches 111 "*$folder/web/file*" as operator achweb --folder "$folder/web" --listen "unix:$folder/web/file"
	[ "$(<"$folder/web/file")" = precious ]
}

test_every_local_socket_is_removed_at_the_end() {
	robot_up
	web_up --listen "unix:$page" --listen "unix:$page-2" --listen 127.0.0.1 --port 0
	[ -S "$page" ] && [ -S "$page-2" ]
	lib_matches 111 "*$page: another process serves there*" \
		as operator achweb --folder "$folder/web" --listen "unix:$page-3" --listen "unix:$page"
	[ -S "$page" ] && [ ! -e "$page-3" ]
	end
	[ ! -e "$page" ] && [ ! -e "$page-2" ]
}

# PATTERN: a snapshot of the robot matches it
shows() {
	local link
	link=$(asks operator 'token look')
	as operator /usr/bin/python3 "$folder/snapshot.py" "${link#ok }" "$1" "$page"
}

# It begins with no robot at all, whose user it cannot know then.
test_a_robot_that_comes_later_is_shown() {
	cp test/web/snapshot.py "$folder"
	lib_cleanup
	web_up --listen "unix:$page"
	shows '"supervised":false'
	robot_up
	robot_armed
	shows '"supervised":true[^[]*"level":"run"'
	kill -TERM "$(<"$folder/achstart")"
	lib_until all_gone
	shows '"supervised":false'
	start
	ready
	shows '"supervised":true[^[]*"level":"estop"'
	robot_armed
	shows '"supervised":true[^[]*"level":"run".*"name":"waist"'
	kill -0 "$spawned"
	end
}

test_the_folder_gives_links_by_group() {
	robot_up
	web_up --listen "unix:$page" --arming "$group"
	asked operator 'token look' 'ok http://*/#*'
	asked operator 'token act' 'error acting is for *'
	asked armer 'token act' 'error acting is for *' # of the robot's group: this one has another
	asked stranger 'token look' '*Permission denied*'
	in_group=$(getent group "$group" | cut -d: -f3)
	asked armer 'token act' 'ok http://*/#*'
	asked armer 'key act' 'ok ws://*/foxglove?key=*'
	end
}

lib_functions "$folder/log" "${1:-}"

#!/bin/bash
# test_web.sh: local users, and an achweb that is a user of its own.
#
# It is an operator, has a folder of its own, and listens on a local socket.  Who may open that socket reaches the page;
# who may open the one in the folder gets a link; acting takes the group of --arming.
# shellcheck disable=SC2317,SC2119 # called by name; arguments are optional
set -eu -o pipefail
# Ports are those of a network of its own.
if [ -z "${WEB_INSIDE:-}" ] && unshare --net --mount ip -6 address show dev lo >/dev/null 2>&1; then
	WEB_INSIDE=yes ATTACKS_MOUNTS=yes exec unshare --net --mount bash "$0" "$@"
fi
[ -z "${WEB_INSIDE:-}" ] || ip link set lo up
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
	[ "$(status operator robot.lan /stop)" = 405 ]
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
	lib_matches 112 "*$folder/web/file*" as operator achweb --folder "$folder/web" --listen "unix:$folder/web/file"
	[ "$(<"$folder/web/file")" = precious ]
}

test_every_local_socket_is_removed_at_the_end() {
	robot_up
	web_up --listen "unix:$page" --listen "unix:$page-2" --listen 127.0.0.1 --port 0
	[ -S "$page" ] && [ -S "$page-2" ]
	lib_matches 112 "*$page: another process serves there*" \
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
	cp test/web/snapshot.py test/web/session.py "$folder"
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
	asked armer 'token act' 'error acting is for *; this process has that group, but the user database *'
	database "$group"
	asked armer 'token act' 'ok http://*/#*'
	asked armer 'key act' 'ok ws://*/foxglove?key=*'
	end
}

# As a daemon of the robot: achstart tells it the group.
test_members_of_arming_get_links_to_act() {
	local line
	database "$arming"
	robot_up
	rm -rf "$folder/web"
	install -d -m 750 -o "${uids[robot]}" -g "$operators" "$folder/web"
	line=(setpriv --reuid="${uids[robot]}" --regid="$operators" --groups="$operators" env HOME=/)
	"${line[@]}" ENDPLATE_ARMING="$arming" achweb --folder "$folder/web" --listen "unix:$page" &
	spawned=$!
	lib_until test -S "$folder/web/web"
	asked armer 'token act' 'ok http://*/#*'
	asked armer 'key act' 'ok ws://*/foxglove?key=*'
	asked operator 'token act' "error acting is for the robot's user, root and the group arming: of its launch file"
	asked operator 'token look' 'ok http://*/#*'
	end
	"${line[@]}" achweb --folder "$folder/web" --listen "unix:$page" &
	spawned=$!
	lib_until socket_is_served
	asked armer 'token act' "error acting is for the robot's user and root; achweb --arming adds a group"
	end
	# what achstart leaves in the environment of its daemons
	grep -qz "^ENDPLATE_ARMING=$arming\$" "/proc/$(pid_of waist)/environ"
}
socket_is_served() { asks operator 'token look' >/dev/null 2>&1; }

test_an_operator_pushes_no_link_of_others_out() {
	local link
	cp test/web/snapshot.py test/web/session.py "$folder"
	robot_up
	web_up --listen "unix:$page"
	link=$(asks mover 'token look')
	for _ in {1..20}; do
		asked operator 'token look' 'ok http://*/#*'
	done
	as mover /usr/bin/python3 "$folder/snapshot.py" "${link#ok }" '"op":"robot"' "$page"
	end
}

# ---- the port ----

port=8765
watched='alive: watchdog, dead_after: 9s, restart: {budget: 100, backoff: 1ms, backoff_max: 10ms}'

# A robot whose achstart listens for achweb; without "listen: N" achweb does so itself.
listening_up() { # [KEYS]
	[ -n "${WEB_INSIDE:-}" ] || exit 77 # the port may be in use
	cp test/web/taker.py test/web/queued_stop.py "$folder"
	rm -f "$folder"/{enough,taken,sent,answer}
	lib_cleanup
	launch 'arm: auto'
	sed -i "s/^daemons: {/&achweb: {program: achweb, ${1:-listen: $port}, $watched}, /" \
		"$folder/waist.launch"
	start
	ready
}
stranger_tries() { # until $folder/enough
	as stranger /usr/bin/python3 "$folder/taker.py" "$port" "$folder/enough" >"$folder/taken" 2>&1 &
	taker=$!
	lib_until test -s "$folder/taken"
}
# PROCESS: it has ended, or is a zombie
is_gone() { [[ $(ps -o stat= -p "$1") == '' || $(ps -o stat= -p "$1") == Z* ]]; }
another_than() { # PROCESS: an achweb is ready that is another one
	[ "$(pid_of achweb)" != "$1" ] && grep -q '^ready 1' "$ENDPLATE_RUN/state/achweb"
}
answers() { # the page
	as robot /usr/bin/python3 -c 'import sys, urllib.request
for host in "127.0.0.1", "[::1]":
    assert urllib.request.urlopen(f"http://{host}:{sys.argv[1]}/", timeout=60).status == 200' "$port"
}

# The same stranger gets the port of an achweb that listens by itself.
test_a_stranger_never_gets_the_port_that_achstart_keeps() {
	local before
	listening_up "args: [--port, '$port']"
	as robot achctl stop achweb
	stranger_tries
	grep -q '^taken' "$folder/taken"
	: >"$folder/enough"
	wait "$taker"
	listening_up
	stranger_tries
	for _ in {1..20}; do
		before=$(pid_of achweb)
		kill -KILL "$before"
		lib_until another_than "$before"
	done
	as robot achctl stop achweb
	as robot achctl start achweb
	answers
	: >"$folder/enough"
	lib_not wait "$taker"
	lib_not grep '^taken' "$folder/taken"
	grep -q '^not once in' "$folder/taken"
}

test_the_port_outlives_achstart_or_achweb() {
	local before
	listening_up
	before=$(pid_of achweb)
	stranger_tries
	kill -KILL "$(<"$folder/achstart")"
	lib_until is_gone "$(<"$folder/achstart")"
	start
	lib_until said 'achstart[achweb]: found running'
	answers
	lib_until keeps_sockets
	kill -KILL "$before"
	lib_until another_than "$before"
	answers
	: >"$folder/enough"
	lib_not wait "$taker"
	lib_not grep '^taken' "$folder/taken"
}
keeps_sockets() { # achstart has those of both addresses again
	[ "$(ss -Hltnp "sport = :$port" | grep -c "pid=$(<"$folder/achstart"),")" = 2 ]
}

test_a_port_that_another_user_has_is_an_error_that_names_him() {
	local pattern="*127.0.0.1 port $port is held by user uid ${uids[stranger]}: give another --port"
	listening_up
	{ cat "$folder/achstart" && pid_of achweb; } | xargs kill -KILL
	stranger_tries
	grep -q '^taken' "$folder/taken"
	start
	lib_until said "listen: 127.0.0.1 port $port is held by user uid ${uids[stranger]}: end that process"
	lib_matches 111 '*waist.launch:*held by user uid *' as robot achstart --check "$folder/waist.launch"
	lib_matches 112 "$pattern" as robot achweb --folder "$folder/tmp"
	lib_matches 112 "$pattern" as robot achweb --folder "$folder/tmp" --port "$port"
	: >"$folder/enough"
	wait "$taker"
	lib_until answers
}

# The kernel names no owner of such a socket.
test_a_port_that_is_bound_but_not_listened_on_is_named_as_such() {
	[ -n "${WEB_INSIDE:-}" ] || exit 77
	robot_up
	rm -f "$folder/taken"
	spawn stranger /usr/bin/python3 -c 'import socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", int(sys.argv[1])))
print(flush=True)
time.sleep(60)' 9000 >"$folder/taken"
	lib_until test -s "$folder/taken"
	lib_matches 112 "*127.0.0.1 port 9000 is taken by a program that does not listen there: give another --port" \
		as robot timeout 60 achweb --port 9000
	end
}

# achstart listens while there is no achweb at all.
test_a_stop_waits_for_the_next_achweb_and_is_confirmed() {
	local link
	listening_up
	lib_until status_has run
	link=$(as robot achctl web --foxglove)
	as robot achctl stop achweb
	as robot /usr/bin/python3 "$folder/queued_stop.py" "$link" "$folder/tmp/sent" >"$folder/answer" 2>&1 &
	lib_until test -e "$folder/tmp/sent"
	status_has run
	as robot achctl start achweb
	wait $! || { cat "$folder/answer" && return 1; }
	grep -q '"ok":true' "$folder/answer" || { cat "$folder/answer" && return 1; }
	level_is estop
}

test_listen_fds_are_refused_beside_addresses() {
	local option
	for option in --port=1 --listen=127.0.0.1; do
		# shellcheck disable=SC2016 # for the shell inside
		lib_matches 100 "achweb: fatal: ${option%=*}: the sockets are those of LISTEN_FDS: *" \
			bash -c 'LISTEN_PID=$$ LISTEN_FDS=1 exec achweb "$0"' "$option"
	done
	# shellcheck disable=SC2016 # for the shell inside
	lib_matches 111 '*LISTEN_FDS: descriptor 3 does not listen' \
		bash -c 'LISTEN_PID=$$ LISTEN_FDS=1 exec achweb 3</dev/null'
}

# ---- names of links ----

links_begin() { # PATTERN OPTION...: those of achweb with these options
	web_up "${@:2}"
	asked operator 'token look' "ok $1/#*"
	end
}

# With one of the two free, the link of another name could be opened at a stranger who listens there.
test_links_have_names_of_their_own_only_if_both_loopback_addresses_are_held() {
	local name='http://????????????????.localhost'
	[ -n "${WEB_INSIDE:-}" ] || exit 77
	robot_up
	links_begin "$name:$port"
	links_begin "$name:9000" --port 9000
	links_begin "$name:$port" --listen ::1 --listen 127.0.0.1
	links_begin "$name:$port" --listen 0.0.0.0 --listen ::
	links_begin "http://127.0.0.1:$port" --listen 127.0.0.1
	links_begin "http://127.0.0.1:$port" --listen 127.0.0.2 --listen 127.0.0.1
	links_begin "http://127.0.0.1:$port" --listen 0.0.0.0
	links_begin "http://[[]::1]:$port" --listen ::1
	links_begin "http://[[]::1]:$port" --listen ::
	links_begin "http://127.0.0.2:$port" --listen 127.0.0.2
	links_begin "http://127.0.0.1:8765" --listen "unix:$page"
	links_begin "http://robot.lan:$port" --host "robot.lan:$port"
}

given() { # PATTERN ADDRESS OPTION: links of an achweb that is given this socket, with IPV6_V6ONLY, of an interface
	rm -rf "$folder/web"
	install -d -m 750 -o "${uids[operator]}" -g "$operators" "$folder/web"
	/usr/bin/python3 -c 'import os, socket, sys
address, option, port, folder, uid, gid = sys.argv[1:]
s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
if ":" in address:
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, option == "only")
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
if option == "lo":
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
s.bind((address, int(port)))
s.listen()
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.setgroups([int(gid)])
os.setgid(int(gid))
os.setuid(int(uid))
os.execvpe("achweb", ["achweb", "--folder", folder],
           os.environ | {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1", "HOME": "/"})' \
		"$2" "$3" "$port" "$folder/web" "${uids[operator]}" "$operators" &
	spawned=$!
	lib_until test -S "$folder/web/web"
	asked operator 'token look' "ok $1/#*"
}

test_given_sockets_count_for_the_addresses_that_they_hold() {
	[ -n "${WEB_INSIDE:-}" ] || exit 77
	robot_up
	given "http://127.0.0.1:$port" 127.0.0.1 -
	end
	given "http://127.0.0.1:$port" 0.0.0.0 -
	end
	given "http://[[]::1]:$port" :: only
	end
	given "http://[[]::]:$port" :: lo
	end
	given "http://????????????????.localhost:$port" :: both
	# nor does a more specific address, with any option, help a stranger
	cp test/web/taker.py "$folder"
	rm -f "$folder"/{enough,taken}
	stranger_tries
	: >"$folder/enough"
	lib_not wait "$taker"
	grep -q '^not once in' "$folder/taken"
	end
}

lib_functions "$folder/log" "${1:-}"

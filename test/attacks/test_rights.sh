#!/bin/bash
# test_rights.sh: rights of each group at the control socket of the robot of launch/waist.launch.
set -eu
. test/scripts/lib.sh

export LC_ALL=C
unset NO_COLOR SUDO_USER
[ "$(id -u)" = 0 ] || { lib_ignore all 'other users take root'; lib_end; exit; }
lib_tmp
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-right-$$-
p=$ENDPLATE_PREFIX
achstart=
cleanup() {
	local file
	[ -z "$achstart" ] || kill -9 "$achstart" 2>/dev/null || true
	for file in "$ENDPLATE_RUN"/state/*; do
		[ -f "$file" ] && kill -9 "$(sed -n 's/^pid //p' "$file")" 2>/dev/null
	done || true
	lib_remove_channels "$p"
	rm -rf "$lib_folder"
}
trap cleanup EXIT

# Files that a stranger can read; the programs are copied, since the tree may not be readable by all.
chmod 755 "$lib_folder"
cp "$build/achctl" "$lib_folder"
sed "s|\.\./config|$(realpath config)|" launch/waist.launch >"$lib_folder/closed.launch"
{ cat "$lib_folder/closed.launch"; printf 'operators: 7001\narming: 7002\nmoving: 7003\n'; } >"$lib_folder/open.launch"

as() { # GROUPS COMMAND...: a user of these groups, with USER=root; with exec=1 in place of this shell
	local groups=--groups=$1 be=()
	shift
	[ "$groups" != --groups=none ] || groups=--clear-groups
	[ -z "${exec:-}" ] || be=(exec)
	"${be[@]}" setpriv --reuid=7100 --regid=7100 "$groups" env USER=root "$@"
}
ctl() { # GROUPS WORD...
	local groups=$1
	shift
	as "$groups" "$lib_folder/achctl" "$@"
}
ask() { # GROUPS WORD...: a request to the control socket, without achctl's own checks
	local groups=$1
	shift
	as "$groups" python3 -c 'import os, socket, sys
os.chdir(os.environ["ENDPLATE_RUN"])
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect("control")
s.sendall(("\t".join(sys.argv[1:]) + "\n").encode())
print(s.recv(65536).decode().strip())' "$@"
}
start() { # FILE
	: >"$lib_folder/said" # or the words of the one before may be found
	"$build/achstart" --real "$lib_folder/$1.launch" 2>>"$lib_folder/said" &
	achstart=$!
	lib_until grep -q 'all 4 ready' "$lib_folder/said" || { cat "$lib_folder/said"; return 1; }
}
stop() {
	kill -TERM "$achstart"
	wait "$achstart"
	achstart=
}
said() { grep -qF -- "$1" "$ENDPLATE_RUN/log/events.log"; }
always=18446744073709551615

start open
no_right="*is for the robot's user, root and the group arming: *"

for groups in 7001 7001,7003; do
	lib_case "looks_$groups" lib_matches 0 'bench *' ctl "$groups" status
	lib_case "reads_events_$groups" lib_matches 0 '*all 4 ready*' ctl "$groups" events
	lib_case "gets_$groups" lib_matches 0 'clock/5' ctl "$groups" request waist get tick
	lib_case "raises_$groups" lib_matches 0 '{"ok":true}' ask "$groups" raise hold 'a hand'
	lib_case "raises_by_user_id_$groups" said 'level hold by uid 7100: a hand'
	lib_case "does_not_arm_$groups" lib_matches 1 "$no_right" ctl "$groups" arm
	for words in 'restart waist' 'stop waist' 'start waist' stop 'request waist home' 'request waist clear'; do
		# shellcheck disable=SC2086 # words
		lib_case "does_not_${words// /_}_$groups" lib_matches 1 "$no_right" ctl "$groups" $words
	done
	lib_case "does_not_arm_by_hand_$groups" lib_matches 0 "*\"ok\":false*" ask "$groups" arm $always root 1 1 1 1
done
lib_case raised test "$("$build/achctl" status --json | grep -o '"level":"[a-z]*"' | head -1)" = '"level":"hold"'

lib_case arms lib_matches 0 'armed: *' ctl 7001,7002 arm --who root
lib_case arms_by_user_id said 'armed by uid 7100 (root)'
lib_case restarts lib_matches 0 'waist: ready*' ctl 7001,7002 restart waist
lib_case restarts_by_user_id said 'restart, asked by uid 7100'
lib_case configures lib_matches 1 'achctl request: refused: waist: *' ctl 7001,7002 request waist set tick 1s
lib_case configures_by_user_id said 'set tick, asked by uid 7100'
lib_case no_such_driver lib_matches 1 '*there is no driver wasit; did you mean waist?' \
	ctl 7001,7002 request wasit home

for groups in none 7004 7002 7003; do
	lib_case "a_stranger_does_not_reach_it_$groups" lib_matches 111 '*Permission denied*' ctl "$groups" status
done
lib_case folder_mode test "$(stat -c %a,%g "$ENDPLATE_RUN" "$ENDPLATE_RUN/control" "$ENDPLATE_RUN/log/events.log" |
	tr '\n' ' ')" = '750,7001 660,7001 640,7001 '

# One user cannot take all connections.
crowd() {
	exec=1 as 7001 python3 -c 'import os, socket, time
os.chdir(os.environ["ENDPLATE_RUN"])
kept = []
for i in range(30):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("control")
    kept.append(s)
print("connected", flush=True)
time.sleep(60)' >"$lib_folder/crowd" &
	lib_until grep -q connected "$lib_folder/crowd"
	"$build/achctl" status --json | grep -q '"ok":true'
	kill -9 $!
}
lib_case a_crowd_of_one_user_keeps_no_other_user_out crowd
lib_case stops stop

rm -rf "$ENDPLATE_RUN"
start closed
lib_case without_groups_only_the_owner lib_matches 111 '*Permission denied*' ctl 0,7001 status
lib_case without_groups_modes test "$(cd "$ENDPLATE_RUN" && stat -c %a . control log/events.log | tr '\n' ' ')" = \
	'700 600 600 '
lib_case stops_closed stop

# achctl does not trust a socket that another user serves.
foreign() {
	local status=0
	mkdir -m 777 "$lib_folder/foreign"
	exec=1 ENDPLATE_RUN=$lib_folder/foreign as none python3 -c 'import os, socket
os.chdir(os.environ["ENDPLATE_RUN"])
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("control")
s.listen()
while True:
    client, _ = s.accept()
    client.recv(512)
    client.sendall(b"{\"ok\":true,\"level\":\"run\"}\n")' &
	lib_until test -S "$lib_folder/foreign/control"
	chmod 755 "$lib_folder/foreign" # else the folder itself would be refused
	lib_matches 111 "*the process there belongs neither to the owner of the folder nor to root*" \
		env ENDPLATE_RUN="$lib_folder/foreign" "$build/achctl" restart waist || status=$?
	kill -9 $!
	return $status
}
lib_case a_foreign_server_is_not_believed foreign
lib_end

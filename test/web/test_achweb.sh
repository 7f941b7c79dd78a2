#!/bin/bash
# achweb: the page in a real browser, requests of others, a crowd that does not read, Foxglove's own client.
# limit: 280 s
# waits: mostly
set -eu
. test/scripts/lib.sh
lib_go_first
lib_folder=$(mktemp -d)
export LC_ALL=C PATH=$build:$PATH ENDPLATE_PREFIX=achweb$$- ENDPLATE_RUN=$lib_folder/run
export NPM_FOLDER=$PWD/.deps/npm HOME=$lib_folder
unset NOTIFY_SOCKET LOGS_DIRECTORY
supervisor=
cleanup() {
	local state
	[ -z "$supervisor" ] || kill -TERM "$supervisor" 2>/dev/null || true
	[ -z "$supervisor" ] || wait "$supervisor" 2>/dev/null || true
	for state in "$ENDPLATE_RUN"/state/*; do
		[ ! -f "$state" ] || kill -9 "$(sed -n 's/^pid //p' "$state")" 2>/dev/null || true
	done
	lib_remove_channels "$ENDPLATE_PREFIX"
	rm -rf "$lib_folder"
}
trap cleanup EXIT
mkdir -m 700 "$ENDPLATE_RUN"

is_armed() { achctl status --json | grep -q '"level":"run"'; }
pid_of() { achctl status --json | python3 -c 'import json, sys
print(next(d["pid"] for d in json.load(sys.stdin)["daemons"] if d["name"] == sys.argv[1]))' "$1"; }
rss_kb() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(pid_of achweb)/status"; }
# SCRIPT: runs its cases; their lines are looked up by passed.
run_script() { timeout 100 node "test/web/$1" >>"$lib_folder/cases" 2>&1 || tail -n 20 "$lib_folder/cases"; }
passed() {
	grep -q "^$1:PASS$" "$lib_folder/cases" && return
	grep "^$1:" "$lib_folder/cases" || tail -n 5 "$lib_folder/cases"
	return 1
}

# A port that is free, and the same one after a restart.
port=$(python3 -c 'import socket
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    print(s.getsockname()[1])')
sed "s|include: \.\./\.\./|include: $PWD/|; s|\"0\"|\"$port\"|" test/web/web.launch >"$lib_folder/web.launch"
achstart --virtual --rate 1 "$lib_folder/web.launch" 2>"$lib_folder/achstart" &
supervisor=$!
lib_until is_armed

# ---- what needs neither a browser nor npm ----

clients_that_do_not_read_cost_nothing() {
	local before after alive dropped
	before=$(rss_kb)
	read -r alive dropped < <(python3 test/web/crowd.py "$(achctl web)" 200 16)
	after=$(rss_kb)
	echo "crowd: $alive of 100 readers served, $dropped of 100 others dropped, $before kB before, $after kB after"
	[ "$alive" -eq 100 ] && [ "$dropped" -eq 100 ] && [ $((after - before)) -lt 20000 ]
}
asks_for_achweb() {
	lib_matches 111 "achctl web: no achweb serves this robot*" env ENDPLATE_RUN="$lib_folder" achctl web
}
lib_case clients_that_do_not_read_cost_nothing clients_that_do_not_read_cost_nothing
lib_case a_robot_without_achweb_says_so asks_for_achweb
lib_case an_unknown_group_is_refused lib_matches 100 "*there is no group no-such*" achweb --arming no-such
lib_case an_address_is_numeric lib_matches 100 "*is not an address such as*" achweb --listen robot.lan

# Ports are those of a network of its own.
other_port() {
	# shellcheck disable=SC2016 # for the shell inside
	unshare -n bash -euc '
		ip link set lo up
		python3 -c "import socket, time
s = socket.socket(socket.AF_INET6)
s.bind((\"::1\", 8765))
s.listen()
time.sleep(60)" &
		taken=$!
		for i in {1..600}; do ! ss -ltn | grep -q "\[::1\]:8765" || break; sleep 0.05; done
		mkdir -m 700 "$0"
		env -u NOTIFY_SOCKET achweb --folder "$0" &
		mine=$!
		trap "kill $taken $mine" EXIT
		for i in {1..600}; do [ ! -S "$0/web" ] || break; sleep 0.05; done
		port=$(ss -ltn | sed -n "s/.* 127.0.0.1:\([0-9]*\) .*/\1/p")
		[ "$port" != 8765 ]
		for host in 127.0.0.1 "[::1]" localhost; do
			python3 -c "import sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=60)" "http://$host:$port/"
		done' "$lib_folder/ports"
}
if unshare -n ip -6 addr show dev lo >/dev/null 2>&1; then
	lib_case a_port_that_is_taken_on_one_address_is_left_alone other_port
else
	lib_ignore a_port_that_is_taken_on_one_address_is_left_alone "no namespaces or no IPv6 here"
fi

# ---- with npm's packages ----

if [ -d "$NPM_FOLDER/node_modules/ws" ] && command -v node >/dev/null; then
	run_script http.mjs
	lib_case foreign_origins_and_hosts_are_refused passed foreign_origins_and_hosts_are_refused
	lib_case looking_and_acting_are_two_rights passed looking_and_acting_are_two_rights
	lib_case a_request_is_good_once passed a_request_is_good_once
	lib_case a_page_that_sends_frames_is_closed passed a_page_that_sends_frames_is_closed
	run_script studio.mjs
	lib_case both_subprotocols_show_the_robot passed both_subprotocols_show_the_robot
	lib_case every_schema_is_understood passed every_schema_is_understood
	lib_case other_subprotocols_and_keys_are_refused passed other_subprotocols_and_keys_are_refused
	lib_case services_stop_and_with_the_right_to_act_arm passed services_stop_and_with_the_right_to_act_arm
	lib_case a_3d_panel_shows_the_robot passed a_3d_panel_shows_the_robot
	lib_case the_layout_shows_what_there_is passed the_layout_shows_what_there_is
else
	lib_ignore studio "npm's packages are not in .deps/npm: run scripts/setup where npm's registry can be reached"
fi

# ---- with a browser ----

CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v chromium-headless-shell || true)
export CHROMIUM
if [ -n "$CHROMIUM" ] && [ -d "$NPM_FOLDER/node_modules/playwright-core" ]; then
	run_script page.mjs
	grep -o 'a killed waist was seen after.*' "$lib_folder/cases" || true
	while read -r name; do
		lib_case "$name" passed "$name"
	done < <(sed -n 's/^\tasync \([a-z_]*\)() {$/\1/p' test/web/page.mjs)
	# named by endplate-security(7)
	lib_case a_link_works_once passed a_link_works_once
	lib_case arming_is_for_what_was_seen_at_the_first_press passed arming_is_for_what_was_seen_at_the_first_press
	lib_case a_killed_server_comes_back_and_the_stop_of_an_open_page_works \
		passed a_killed_server_comes_back_and_the_stop_of_an_open_page_works
	run_script impostor.mjs
	while read -r name; do
		lib_case "$name" passed "$name"
	done < <(sed -n 's/^\tasync \([a-z_]*\)() {$/\1/p' test/web/impostor.mjs)
	# named by endplate-security(7)
	lib_case stop_and_arm_at_an_impostor_are_not_confirmed passed stop_and_arm_at_an_impostor_are_not_confirmed
	lib_case what_an_impostor_collected_is_worth_nothing passed what_an_impostor_collected_is_worth_nothing
	lib_case an_open_page_recovers_without_a_reload passed an_open_page_recovers_without_a_reload
	lib_case a_reload_at_an_impostor_gives_no_key_to_act passed a_reload_at_an_impostor_gives_no_key_to_act
	lib_case a_new_link_has_a_name_that_no_impostor_had passed a_new_link_has_a_name_that_no_impostor_had
	lib_case words_of_an_impostor_are_not_shown passed words_of_an_impostor_are_not_shown
	lib_case a_link_leads_to_no_address_that_achweb_does_not_hold \
		passed a_link_leads_to_no_address_that_achweb_does_not_hold
	lib_case a_reload_looks_and_stops_and_does_not_act passed a_reload_looks_and_stops_and_does_not_act
	lib_case texts_of_the_robot_are_never_markup passed texts_of_the_robot_are_never_markup
	lib_case a_script_that_is_not_achwebs_is_not_run passed a_script_that_is_not_achwebs_is_not_run
else
	lib_ignore page "chromium or playwright-core is not there: run scripts/setup"
fi
# Last: it leaves no login for a while.
if [ -d "$NPM_FOLDER/node_modules/ws" ]; then
	lib_case too_many_logins_are_slowed_down passed too_many_logins_are_slowed_down
fi
lib_end

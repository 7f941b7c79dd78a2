#!/bin/bash
# What drivers in shared objects and drvhost agree on is in drv.abi, under the version in daemons/drv/drv.h.
#	bash test/abi/test_drv_abi.sh write	takes the present interface over, once DRV_ABI has another number
# shellcheck disable=SC2317 # called by name
set -eu -o pipefail
. test/scripts/lib.sh
lib_tmp
recorded=$PWD/test/abi/drv.abi
show=$PWD/test/abi/show

only=
part() { # HEADER PATTERN: the lines that count; the rest is the loop's own
	[ -z "$only" ] || [ "$only" = "$1" ] || return 0
	HEADER=$1 "$show" | grep -E "$2"
}
interface() {
	sed -n 's/^#define \(DRV_ABI [0-9].*\)/\1/p' daemons/drv/drv.h
	part daemons/drv/drv.h '^(struct|constant) |^function drv_' || return
	part daemons/drv/drv_ask.h '^struct (drv_question|drv_ask_answer) ' || return
	part daemons/drv/drv_ref.h '^struct (drv_ref_limits|drv_ref_command) |^constant ' || return
	part can/slots/slots.h '^struct slots_row |^constant SLOTS_(URGENT|LATEST|COMMAND|QUEUE)' || return
	part can/bus/bus.h '^struct (bus_frame|bus_stats) |^constant ' || return
	part can/bus/frame.h '^struct ' || return
	part config/settings/settings.h '^struct settings_row |^constant ' || return
	part config/base/error.h '^struct error_sink ' || return
}
interface >"$lib_folder/now"

if [ "${1:-}" = write ]; then
	if ! diff -q "$recorded" "$lib_folder/now" >/dev/null 2>&1 && [ -e "$recorded" ] &&
		[ "$(head -n 1 "$recorded")" = "$(head -n 1 "$lib_folder/now")" ]; then
		echo "The interface has changed: add 1 to DRV_ABI in daemons/drv/drv.h first"
		exit 1
	fi
	cp "$lib_folder/now" "$recorded"
	exit 0
fi

same() {
	diff -u --label drv.abi "$recorded" --label now "$lib_folder/now" && return
	echo "If the interface was meant to change: add 1 to DRV_ABI in daemons/drv/drv.h, then" \
		"bash test/abi/test_drv_abi.sh write"
	return 1
}
lib_case "the interface has not changed under its version" same

differs() { # FILE SED
	rm -rf "$lib_folder/tree"
	mkdir "$lib_folder/tree"
	cp -r --parents can config channels daemons/drv daemons/hubo "$lib_folder/tree"
	sed -i -E "$2" "$lib_folder/tree/$1"
	cmp -s "$1" "$lib_folder/tree/$1" && { echo "the header was not changed"; return 1; }
	(cd "$lib_folder/tree" && only=$1 && interface >"$lib_folder/changed") || return
	grep -qvxFf "$recorded" "$lib_folder/changed"
}
lib_case "found: a callback moved" differs daemons/drv/drv.h 's/^(\t)(void \(\*close\).*)/\1int added;\n\1\2/'
lib_case "found: a larger frame" differs can/bus/bus.h 's/^struct bus_frame \{/&\n\tint added;/'
lib_case "found: a setting with one more member" differs config/settings/settings.h \
	's/^(\t)(const char \*key;)/\1int added;\n\1\2/'
lib_end

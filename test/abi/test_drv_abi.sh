#!/bin/bash
# What drivers in shared objects and drvhost agree on is in drv.abi, under the version in daemons/drv/drv.h; simulated
# devices and robotsim, in sim.abi, under that in daemons/robotsim/sim.h.
#	bash test/abi/test_drv_abi.sh write	takes the present interfaces over, once DRV_ABI or SIM_ABI is another
# shellcheck disable=SC2317 # called by name
set -eu -o pipefail
. test/scripts/lib.sh
lib_tmp
show=$PWD/test/abi/show

only=
part() { # HEADER PATTERN: the lines that count; the rest is the loop's own
	[ -z "$only" ] || [ "$only" = "$1" ] || return 0
	HEADER=$1 "$show" | grep -E "$2"
}
drv() {
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
sim() { # drv.abi has frames and settings
	sed -n 's/^#define \(SIM_ABI [0-9].*\)/\1/p' daemons/robotsim/sim.h
	part daemons/robotsim/sim.h '^(struct|constant) |^function sim_(find_bus|add|add_node|share_ear)\b' || return
	part daemons/robotsim/sim_base.h '^(struct|function) ' || return
	part daemons/robotsim/sim_queue.h '^(struct|function) ' || return
	part daemons/robotsim/joint.h '^(struct|function|constant) ' || return
	part daemons/robotsim/body.h '^struct ' || return
	part config/settings/robot.h '^struct robot_(bus|role|device) ' || return
}
for interface in drv sim; do
	$interface >"$lib_folder/$interface"
done

if [ "${1:-}" = write ]; then
	for interface in drv sim; do
		recorded=test/abi/$interface.abi
		if [ -e $recorded ] && ! diff -q $recorded "$lib_folder/$interface" >/dev/null &&
			[ "$(head -n 1 $recorded)" = "$(head -n 1 "$lib_folder/$interface")" ]; then
			echo "The interface has changed: add 1 to ${interface^^}_ABI first"
			exit 1
		fi
		cp "$lib_folder/$interface" $recorded
	done
	exit 0
fi

same() { # drv or sim
	diff -u --label "$1.abi" "test/abi/$1.abi" --label now "$lib_folder/$1" && return
	echo "If the interface was meant to change: add 1 to ${1^^}_ABI, then bash test/abi/test_drv_abi.sh write"
	return 1
}
lib_case "the interface has not changed under its version" same drv
lib_case "nor that of simulated devices" same sim

differs() { # drv or sim, FILE SED
	local interface=$1
	shift
	rm -rf "$lib_folder/tree"
	mkdir "$lib_folder/tree"
	cp -r --parents can config channels daemons/drv daemons/hubo daemons/robotsim "$lib_folder/tree"
	sed -i -E "$2" "$lib_folder/tree/$1"
	cmp -s "$1" "$lib_folder/tree/$1" && { echo "the header was not changed"; return 1; }
	(cd "$lib_folder/tree" && only=$1 && $interface >"$lib_folder/changed") || return
	grep -qvxFf "test/abi/$interface.abi" "$lib_folder/changed"
}
lib_case "found: a callback moved" differs drv daemons/drv/drv.h 's/^(\t)(void \(\*close\).*)/\1int added;\n\1\2/'
lib_case "found: a larger frame" differs drv can/bus/bus.h 's/^struct bus_frame \{/&\n\tint added;/'
lib_case "found: a setting with one more member" differs drv config/settings/settings.h \
	's/^(\t)(const char \*key;)/\1int added;\n\1\2/'
lib_case "found: a callback of a device moved" differs sim daemons/robotsim/sim.h \
	's/^(\t)(int64_t \(\*next_ns\).*)/\1int added;\n\1\2/'
lib_end

#!/bin/bash
# A driver outside the tree: the kit is installed once, under a path with a space, and used by a plain user.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. test/scripts/lib.sh
lib_tmp
top=$PWD f=$lib_folder kit="$lib_folder/a kit" work="$lib_folder/my work"
finish() {
	rm -rf "$f" /dev/shm/ach*-"t$$-"*
}
trap finish EXIT
# With DESTDIR the linker's cache is left alone.
make -s BUILD="$build" CC="${CC:-gcc}" install DESTDIR=/ PREFIX="$kit" >"$f/said" 2>&1 || { cat "$f/said"; exit 1; }
chmod 755 "$f"
mkdir "$work"
unset BUILD ENDPLATE_RUN NOTIFY_SOCKET PKG_CONFIG_PATH
export PATH="$kit/bin:$PATH" ENDPLATE_PREFIX=t$$- XDG_RUNTIME_DIR="$work" HOME="$work"
[ "$(id -u)" != 0 ] || chown 65534:65534 "$work"

plain() { # COMMAND...: as a plain user, in the folder of his work
	local user=()
	[ "$(id -u)" != 0 ] || user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	(cd "$work" && "${user[@]}" "$@")
}
refuses() { # LINE COMMAND...: that line alone, status 100
	lib_says 100 '' "$1" plain "${@:2}"
}
pc() { PKG_CONFIG_PATH="$kit/lib/pkgconfig" pkg-config "$@" endplate-driver; }

plain endplate-new-driver knee >/dev/null
plain make -s -C knee

# ---- the kit ----

test_pkg_config_has_flags_and_versions() {
	[ "$(pc --variable=templatedir)" = "$kit/share/endplate/driver" ]
	[ "$(pc --variable=drv_abi)" = "$(sed -n 's/^#define DRV_ABI //p' daemons/drv/drv.h)" ]
	[ "$(pc --variable=sim_abi)" = "$(sed -n 's/^#define SIM_ABI //p' daemons/robotsim/sim.h)" ]
	[ "$(eval "printf '%s\n' $(pc --cflags-only-I)")" = "-I$kit/share/endplate/include" ]
}
test_every_header_of_the_kit_stands_alone() {
	cd /
	find "$kit/share/endplate/include" -name '*.h' ! -name endplate.h -printf '#include "%P"\n' |
		eval "${CC:-gcc} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only $(pc --cflags) -x c -"
}

# ---- a new driver ----

test_it_builds_and_passes_its_tests_at_once() {
	plain make -s -C knee check >"$f/check" 2>&1 || { cat "$f/check"; return 1; }
	grep -qx '2 Tests 0 Failures 0 Ignored' "$f/check"
	grep -qx '11 Tests 0 Failures 0 Ignored' "$f/check"
	lib_not grep -rIlF -e "$top" -e example "$work/knee" # of the tree, or of the driver that it was made of
}
test_it_compiles_with_clang_from_a_tree_that_is_not_installed() {
	plain endplate-new-driver hip
	lib_not grep -F "$kit" <(plain env PKG_CONFIG_PATH="$build" make -n -C hip all)
	plain env PKG_CONFIG_PATH="$build" make -s -C hip CC=clang CFLAGS='-Wall -Wextra -Werror' hipd hipd-sim.so
	plain hip/hipd --version
}
test_pkg_config_path_of_the_command_line_counts() {
	plain endplate-new-driver elbow
	lib_not grep -F "$kit" <(plain make -n -C elbow PKG_CONFIG_PATH="$build" all)
	mkdir "$f/none"
	lib_matches 2 'Makefile:*: \*\*\* there is no program pkg-config: install the package pkg-config.  Stop.' \
		plain "$(command -v env)" PATH="$f/none" "$(command -v make)" -s -C elbow
}
test_a_folder_above_the_installation_is_not_the_kit() {
	mkdir -p "$f/daemons/example" "$f/daemons/kit"
	: >"$f/daemons/kit/driver.mk"
	plain endplate-new-driver wrist
	rm -r "$f/daemons"
	[ -s "$work/wrist/Makefile" ]
}
test_names_are_refused_in_one_line() {
	local long=a234567890123456789012
	local name

	for name in '' 9a A a-b a/b ../a "a b" "$long"; do
		refuses "endplate-new-driver: $name is not a valid name: 1 to 20 of a-z 0-9 _, a letter first" \
			endplate-new-driver "$name"
	done
	refuses 'endplate-new-driver: which name? endplate-new-driver --help' endplate-new-driver
	refuses 'endplate-new-driver: while is a word of C: take another name' endplate-new-driver while
	refuses "endplate-new-driver: imud is a program already ($kit/bin/imud): take another name" \
		endplate-new-driver imu
	refuses "endplate-new-driver: frame: Endplate's own names begin so (frame.h): take another name" \
		endplate-new-driver frame
	plain mkdir here
	plain ln -s nowhere link
	for name in here link; do
		refuses "endplate-new-driver: $name is here already: take another name, or another folder" \
			endplate-new-driver "$name"
	done
	[ -z "$(ls -A "$work/here")" ]
}
test_page_and_help_agree() {
	lib_says 0 "$(sed -n '/^usage: /,/^USAGE/p' daemons/kit/endplate-new-driver | sed '$d')" '' \
		plain endplate-new-driver --help
}

# ---- simulated devices in shared objects ----

plays() { # COMMAND...: robotsim --check of the plain user's file, as that command runs it
	(cd "$work" && "$@" robotsim run --check sims/knee.yaml)
}
refused() { # PATTERN [COMMAND...]: status 100
	lib_matches 100 "$1" plays "${@:2}"
}
test_the_object_of_a_simulated_device_is_trusted_or_refused() {
	local so=sims/kneed-sim.so

	plain mkdir sims
	plain cp knee/knee.yaml sims
	refused "robotsim: fatal: sims/knee.yaml:5: knee: not played: robotsim has no device for kneed, \
and there is no kneed-sim.so in sims, $kit/bin or $kit/bin/../lib/endplate*" plain
	plain cp knee/kneed-sim.so sims
	lib_says 0 'knee.1 on wire:knee' '' plays plain
	plain chmod 664 "$so"
	refused "robotsim: fatal: $so: other users may write it, mode 0664: chmod go-w $so" plain
	plain chmod 755 "$so"
	if [ "$(id -u)" = 0 ]; then # root would run what a plain user wrote
		refused "robotsim: fatal: $so: it belongs to uid 65534, which is neither root nor uid 0*"
	fi
	sed 's/kneed/hipd/' "$work/knee/knee.yaml" >"$work/sims/knee.yaml"
	plain mv "$so" sims/hipd-sim.so
	refused "robotsim: fatal: sims/hipd-sim.so: it plays devices of kneed, not of hipd: correct SIM_DRIVER" plain
	"${CC:-gcc}" -fPIC -shared -x c -o "$work/sims/hipd-sim.so" - <<-'C'
		#include <unistd.h>
		const char sim_abi[] = "@(#)endplate-sim-object 999\n";
		__attribute__((constructor)) static void run(void) { _exit(3); }
	C
	refused "robotsim: fatal: sims/hipd-sim.so: built for version 999 of the simulator's interface, *" \
		plain
	plain cp --remove-destination knee/kneed.so sims/hipd-sim.so
	refused "robotsim: fatal: sims/hipd-sim.so: not an Endplate device for robotsim in a shared object: *" plain
}

test_more_objects_than_robotsim_has_room_for_are_refused() {
	local i many=$work/many

	mkdir "$many"
	head -n 4 "$work/knee/knee.yaml" >"$many/knee.yaml"
	for i in {100..196}; do # the same object under names that are as long
		sed "s/kneed/k${i}d/g" "$work/knee/kneed-sim.so" >"$many/k${i}d-sim.so"
		sed "1,4d; s/^  knee:/  m$i:/; s/kneed/k${i}d/" "$work/knee/knee.yaml" >>"$many/knee.yaml"
	done
	chown -R "$(stat -c %u:%g "$work")" "$many"
	chmod -R go-w "$many"
	lib_matches 100 '*many/k196d-sim.so: there are too many drivers: robotsim plays 96 at most*' \
		plain robotsim run --check many/knee.yaml
	lib_not grep -q 'k195d-sim.so' <(plain robotsim run --check many/knee.yaml 2>&1)
}

# ---- under achstart ----

test_achstart_and_its_tools_know_it() {
	plain achstart --check knee/knee.launch >"$f/check"
	grep -qE '^knee +drvhost ' "$f/check"
	grep -qE '^knee +wire:knee ' "$f/check"
	plain canbudget knee/knee.launch | grep -q '^211 *knee '
	plain achstart --virtual --kill knee@1s --for 3s knee/knee.launch >"$f/run" 2>&1 || { cat "$f/run"; return 1; }
	grep -q '\[knee\]: ready after .*, process .*, incarnation 2' "$f/run"
}

# ---- a real one ----

odrive() { # the driver of test/outside/odrive, in what the template made
	[ ! -e "$work/odrive" ] || return 0
	plain endplate-new-driver odrive >/dev/null
	rm "$work/odrive/odrived.1" "$work"/odrive/test/*
	cp -r "$top"/test/outside/odrive/. "$work/odrive"
	plain make -s -C odrive CFLAGS='-O1 -Wall -Wextra -Werror'
}

test_odrive() {
	odrive
	plain make -s -C odrive check >"$f/check" 2>&1 || { cat "$f/check"; return 1; }
	grep -qx '1 Tests 0 Failures 0 Ignored' "$f/check"
	grep -qx '12 Tests 0 Failures 0 Ignored' "$f/check"
}

# Findings of a driver are printed in each run, not only in the first.
test_events_of_every_run_on_a_virtual_clock() {
	odrive
	sed 's/watchdog: 300ms/watchdog: 0/' "$work/odrive/odrive.yaml" >"$work/odrive/off.yaml"
	sed 's/odrive.yaml/off.yaml/' "$work/odrive/odrive.launch" >"$work/odrive/off.launch"
	for _ in 1 2; do
		plain achstart --virtual --for 1s odrive/off.launch 2>&1 |
			grep -qxF 'achstart[odrive]: error: its watchdog is off: set axis0.config.enable_watchdog'
	done
}

lib_functions "$f/log" "${1:-}"

#!/bin/bash
# test_endplate.sh: libendplate as its users have it: examples on the bench robot, and programs built from what make
# install puts down.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh

examples=$build/channels/client/examples
export LC_ALL=C PATH=$build:$PATH
lib_tmp
root=$lib_folder/root
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-ep-$$-
p=$ENDPLATE_PREFIX
achstart='' controllers=''
kill_daemons() {
	local file
	[ -z "$achstart" ] || kill -9 "$achstart" 2>/dev/null || true
	for file in "$lib_folder"/*/state/*; do
		[ ! -f "$file" ] || kill -9 "$(sed -n 's/^pid //p' "$file")" 2>/dev/null || true
	done
}
cleanup() {
	# shellcheck disable=SC2086 # several
	[ -z "$controllers" ] || kill -9 $controllers 2>/dev/null || true
	kill_daemons
	rm -rf "$lib_folder" /dev/shm/achshm-"$p"* /dev/shm/achbell-"$p"*
}
trap cleanup EXIT

ready() { achctl status --json | python3 -c 'import json, sys
r = json.load(sys.stdin)
sys.exit(r["level"] != "run" or not all(d["ready"] for d in r["daemons"]))'; }
start() { # LAUNCH-FILE
	achstart --real "$1" 2>"$lib_folder/achstart" &
	achstart=$!
	lib_until ready || { cat "$lib_folder/achstart"; return 1; }
}
stop() {
	achctl stop >/dev/null && wait "$achstart"
	achstart=
}
pid() { sed -n 's/^pid //p' "$ENDPLATE_RUN/state/waist"; }

# ---- on the bench robot ----

lib_case start start launch/waist.launch

for wrong in '' 'waist' 'waist 0 1 1'; do
	# shellcheck disable=SC2086 # words
	lib_case "sine $wrong: wrong arguments" lib_matches 100 'sine: usage: *' "$examples/sine" $wrong
done
for wrong in '' 'waist 0 1 1 1' 'waist 0 1 0 1 1' 'waist 0 nan 1 1 1' 'waist 0 1 1 1 0'; do
	# shellcheck disable=SC2086 # words
	lib_case "coordinate $wrong: wrong arguments" lib_matches 100 'coordinate: usage: *' \
		"$examples/coordinate" $wrong
done
for joint in 99 elbow -1; do
	lib_case "sine: no joint $joint" lib_matches 100 "sine: waist has no joint \"$joint\"; its joints: 15" \
		"$examples/sine" waist "$joint" 0.05 1 0.3
done
lib_case "coordinate: a device with one joint" lib_matches 100 'coordinate: waist has no joint "1"; its joints: 15' \
	"$examples/coordinate" waist 0 -1 1 -1 1
lib_case "logger: wrong arguments" lib_matches 100 'logger: usage: *' "$examples/logger" waist 0
lib_case "sine: another robot" lib_matches 111 'sine: waist: unable to open the robot: *begin with*' \
	env ENDPLATE_PREFIX=other- "$examples/sine" waist 0 0.1 1 1
lib_case "sine: a device that is not there" lib_matches 111 'sine: waits: wiast: no state; is its driver running[?]
sine: wiast: no state; is its driver running[?]' "$examples/sine" wiast 0 0.05 1 0.3
lib_case "sine: ends by itself" "$examples/sine" waist 0 0.05 1 0.3
lib_case "sine: a joint by its name" "$examples/sine" waist 15 0.05 1 0.3

"$examples/logger" waist 100 >"$lib_folder/log.csv" 2>"$lib_folder/logger" &
controllers+=" $!"
"$examples/sine" waist 0 0.2 4 600 2>"$lib_folder/sine" &
controllers+=" $!"
moved() { # INCARNATION RAD: so far, in the log, under that incarnation
	awk -F, -v inc="$1" -v rad="$2" '$3 == inc && $6 !~ /nan/ {
		if (!n++ || $6 < low) low = $6
		if (n == 1 || $6 > high) high = $6
	} END { print n, low, high; exit !(n && high - low > rad) }' "$lib_folder/log.csv"
}
lib_case "sine moves the joint, logger logs it" lib_until moved 1 0.1
killed=$(pid)
kill -9 "$killed"
lib_case "sine sees the new incarnation" lib_until grep -q 'incarnation 2: goes on' "$lib_folder/sine"
lib_case "sine goes on after the restart, logger too" lib_until moved 2 0.1
ach rm "${p}waist-state"
lines=$(wc -l <"$lib_folder/log.csv")
more() { [ "$(wc -l <"$lib_folder/log.csv")" -gt $((lines + 50)) ]; }
lib_case "logger goes on after the channel was removed" lib_until more
ordered() {
	awk -F, 'NR > 1 && $1 > 0 { bad += $1 < last; last = $1 } END { exit bad > 0 }' "$lib_folder/log.csv"
}
lib_case "states are logged in order" ordered
# shellcheck disable=SC2086 # several
kill $controllers
controllers=

# ---- as installed ----

config() { PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config "$@"; }
installed() { make -s BUILD="${BUILD:-build}" CC="${CC:-gcc}" install DESTDIR="$root" PREFIX=/usr; }
compile() { # SOURCE COMPILER...: with pkg-config's words
	# shellcheck disable=SC2046 # words of pkg-config
	"${@:2}" -Wall -Wextra -pedantic -Werror $(config --cflags endplate) -o "$lib_folder/program" "$1" -x none \
		$(config "${kind[@]}" --libs endplate) -lm
}
run() { LD_LIBRARY_PATH=$root/usr/lib "$lib_folder/program" "$@"; }
needs() { # LIBRARY
	objdump -p "$lib_folder/program" | grep -q "NEEDED *$1\$"
}

lib_case "make install" installed
lib_case "only what is needed is installed" test \
	"$(cd "$root/usr/include/endplate" && find . -type f | LC_ALL=C sort | xargs)" = \
	"./channels/msg/types.h ./endplate.h"
lib_case "examples are not installed" lib_not test -e "$root/usr/bin/sine"
lib_case "pkg-config: version" test "$(config --modversion endplate)" = 1.0.0
lib_case "pkg-config: needs libach" test "$(config --print-requires endplate)" = "ach = 2.0.0"
interface=$(sed -n 's/^\t\(.*[^*]\);$/\1/p' channels/client/endplate.map | xargs)
defines() { # NM-OPTION FILE: its global functions and data
	nm "$1" --defined-only "$root/usr/lib/$2" | sed -nE 's/.* [A-Z] ([a-z]\w*)(@@ENDPLATE_1)?$/\1/p' | sort | xargs
}
lib_case "only the interface is exported" test "$(defines -D libendplate.so)" = "$interface"
lib_case "the static library defines nothing else" test "$(defines -g libendplate.a)" = "$interface"
pages() {
	local name
	for name in $interface; do
		[ -f "$root/usr/share/man/man3/$name.3" ] || { echo "$name has no page"; return 1; }
	done
}
lib_case "every function has a page" pages

kind=(--shared)
for compiler in 'gcc -std=c99' 'gcc -std=gnu17' 'clang -std=c99' 'g++ -x c++ -std=c++11' 'clang++ -x c++ -std=c++17'; do
	# shellcheck disable=SC2086 # words
	lib_case "$compiler" compile test/install/controller.c $compiler
	lib_case "$compiler: runs" lib_matches 0 '10000 * *' run waist versions
done
lib_case "shared: needs libendplate.so.1" needs libendplate.so.1
for example in sine coordinate logger twoarms; do
	lib_case "$example is built from what is installed" compile "channels/client/examples/$example.c" gcc -std=gnu99
done
kind=(--static)
lib_case "static" compile test/install/controller.c gcc -std=c99 -static
kind=(--shared)
lib_case "shared" compile test/install/controller.c gcc -std=c99
lib_case "asks a driver through achstart" lib_matches 0 \
	$'1 joints, level 0\nclock/5\nrefused: with a reason' run waist ask
lib_case "raises the level" lib_matches 0 '1 joints, level 0' run waist raise
level() { achctl status --json | grep -q "\"level\":\"$1\".*by a controller"; }
lib_case "drivers obey it" lib_until level hold
lib_case "no such device" lib_matches 1 'no such robot, driver or channel: ' run wiast ask
lib_case "sine: not armed" lib_matches 111 '*
sine: waist: level hold: achctl arm' "$examples/sine" waist 0 0.05 1 0.3
lib_case stop stop

# ---- two joints ----

export ENDPLATE_RUN=$lib_folder/pair ENDPLATE_PREFIX=${p}pair- # a robot whose e-stop was not raised
lib_case "a robot with two joints" start test/launch/pair.launch
arrives() { # both joints, wherever they stood
	timeout 60 "$examples/coordinate" waist 0 -1.3 1 -1.6 2 >"$lib_folder/arrived" || return
	cat "$lib_folder/arrived"
	awk '{ exit !(($1 + 1.3) ^ 2 < 0.0025 && ($2 + 1.6) ^ 2 < 0.0025) }' "$lib_folder/arrived"
}
lib_case "coordinate brings both to their targets" arrives
lib_case stop_pair stop

lib_end

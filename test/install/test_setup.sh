#!/bin/bash
# scripts/run installs what building and running takes and no more; scripts/test installs the rest.
set -eu
. test/scripts/lib.sh
lib_tmp

# All packages that are then installed: these, their dependencies and the essential ones.
with() { # PACKAGE...
	{
		dpkg-query -W -f '${Essential} ${Package}\n' | sed -n 's/^yes //p'
		apt-cache depends --recurse --installed "$@" \
			--no-{recommends,suggests,conflicts,breaks,replaces,enhances}
	} | sed -n 's/^\( *|\?[A-Za-z]*: \)\?\([a-z0-9][^ :]*\).*/\2/p' | sort -u
}
# Each file comes with the packages for building.  dpkg knows it by its path with /usr, or without.
covered() { # FILE...
	realpath "$@" | sed 's|^/usr||' | sort -u >"$lib_folder/files"
	{ sed 's|^|/usr|' "$lib_folder/files"; cat "$lib_folder/files"; } | xargs dpkg-query -S 2>/dev/null |
		sed 's/[,:].* / /; s| /usr/| /|' >"$lib_folder/owners"
	awk 'NR == FNR { closure[$1]; next } $1 in closure { print $2 }' "$lib_folder"/{closure,owners} | sort -u |
		diff - "$lib_folder/files"
}
headers() {
	grep -rhoE '^#include <[^>]*>' config channels can daemons launch --include='*.[ch]' | sort -u |
		sed 's/#include \(.*\)/#if __has_include(\1)\n&\n#endif/' |
		gcc -D_GNU_SOURCE -M -x c - | grep -oE '/usr/[^ ]*'
}
libraries() { ldd "$BUILD"/{achctl,achstart,ach,canwire,robotsim,pciod} | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p'; }
usage() {
	local said status=0
	said=$(scripts/setup --list everything 2>&1) || status=$?
	[ "$status,$said" = "1,setup: usage: setup [--list] [build|test]" ] || { echo "$status $said"; return 1; }
}

BUILD=${BUILD:-build}
mapfile -t build < <(scripts/setup --list build)
scripts/setup --list test | sort >"$lib_folder/test"
with "${build[@]}" >"$lib_folder/closure"

lib_case "the packages for building are among those for testing" \
	diff /dev/null <(printf '%s\n' "${build[@]}" | sort | comm -23 - "$lib_folder/test")
lib_case "virtual machine, second compiler and tools of the tests come with scripts/test only" \
	lib_not grep -E 'qemu|cross|clang|spin|gnuplot|cppcheck|shellcheck|mandoc|graphviz|numpy|busybox|^g\+\+' \
	<(printf '%s\n' "${build[@]}")
lib_case "the test knows what scripts/test installs" grep -q qemu "$lib_folder/test"
lib_case "scripts/run installs the first list" grep -qx './scripts/setup build' scripts/run
lib_case "scripts/test installs the second" grep -q '^./scripts/setup test ' scripts/test
# shellcheck disable=SC2046 # file names
lib_case "every header of the system that the sources include is in the list" covered $(headers)
# shellcheck disable=SC2046
lib_case "every library that the programs use is in the list" covered $(libraries)
lib_case "every program that make runs is in the list" covered \
	/usr/bin/{make,gcc,ar,ld,objcopy,bash,grep,sed,cmp,install,mkdir,ln,cp,setsid,flock,pkg-config}
lib_case "usage" usage
lib_end

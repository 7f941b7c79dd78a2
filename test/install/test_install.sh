#!/bin/bash
# make install installs all that a compiler, pkg-config and man need.
set -eu
. test/scripts/lib.sh
lib_tmp
root=$lib_folder/root

installed() { # PREFIX MAKE-VARIABLE...
	rm -rf "$root"
	make -s BUILD="${BUILD:-build}" CC="${CC:-gcc}" install DESTDIR="$root" PREFIX="$1" "${@:2}"
}
there() { # FILE...: plain files or links that lead somewhere, writable by their owner only
	local file
	for file in "$@"; do
		[ -s "$root/usr/$file" ] || { echo "$file is missing"; return 1; }
		[[ $(stat -L -c %A "$root/usr/$file") == -rw?r-?r-? ]] || { ls -lL "$root/usr/$file"; return 1; }
	done
}
config() { PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config "$@"; }

# COMPILER...: builds the user's program against the installed library and runs it
works() {
	local program=$lib_folder/program
	rm -f "$program"
	# shellcheck disable=SC2046 # words of pkg-config
	"$@" -Wall -Wextra -Werror $(config --cflags ach) -o "$program" "${language[@]}" "test/install/$source" \
		-x none $(config "--$kind" --libs ach) || return 1
	case $kind in
	static) lib_not grep -q libach.so <(objdump -p "$program") || return 1 ;;
	*) grep -q 'NEEDED *libach.so.2$' <(objdump -p "$program") || return 1 ;;
	esac
	LD_LIBRARY_PATH=$root/usr/lib "$program" "install-$$"
}
# Every name of the interface compiles in every supported language, without a warning.
compiles() { # FILE COMPILER...
	"${@:2}" -Wall -Wextra -pedantic -Werror -I"$root/usr/include" -c -o /dev/null "test/install/$1"
}

by_name() ( # PROGRAM ARGUMENT...: in a folder without launch files
	cd "$root"
	"usr/bin/$1" "${@:2}" | tee /dev/stderr | grep -q '^hubo$\|^torso '
)
by_no_name() ( # PROGRAM...
	local program said tried='"none"; looked for none.launch, none, launch/none.launch, '
	cd "$root"
	for program; do
		said=$("usr/bin/$program" none 2>&1) && return 1
		echo "$said"
		[[ $said == *"there is no launch file $tried"*/usr/share/endplate/launch/none.launch ]] || return 1
	done
)

lib_case "make install" installed /usr
lib_case "the files are there" there include/ach.h include/Ach.hpp lib/libach.a lib/libach.so lib/libach.so.2 \
	lib/libach.so.2.0.0 lib/pkgconfig/ach.pc
pages=()
for page in channels/ach/*.[37]; do
	pages+=("share/man/man${page##*.}/${page##*/}")
done
lib_case "every page is there" there "${pages[@]}"
lib_case "launch files are found by their names" by_name achstart --name hubo
lib_case "also with the suffix" by_name achstart --name hubo.launch
lib_case "also by canbudget" by_name canbudget waist
lib_case "one line says where no launch file is" by_no_name achstart canbudget achdoctor
lib_case "only the public headers" test "$(LC_ALL=C ls -m "$root/usr/include")" = "Ach.hpp, ach.h, endplate"
lib_case "the links lead to each other" test "$(readlink "$root"/usr/lib/libach.so{,.2} | xargs)" = \
	"libach.so.2 libach.so.2.0.0"
lib_case "pkg-config knows the version" test "$(config --modversion ach)" = 2.0.0
for std in gnu89 gnu99 gnu11 gnu17; do
	lib_case "ach.h in $std" compiles words.c gcc -std=$std
	lib_case "ach.h in $std by clang" compiles words.c clang -std=$std
done
for std in c89 c99 c11 c17; do
	lib_case "ach.h in strict $std" compiles words.c gcc -std=$std -D_POSIX_C_SOURCE=200809L
done
for std in 98 03 11 14 17 20; do
	lib_case "ach.h in C++$std" compiles words.c g++ -x c++ -std=c++$std
	lib_case "Ach.hpp in C++$std" compiles user.cpp g++ -std=c++$std
	lib_case "Ach.hpp in C++$std by clang" compiles user.cpp clang++ -std=c++$std
done
dies() { # an error ends a program with CerrChannel, a warning does not
	local said status=0
	said=$(LD_LIBRARY_PATH=$root/usr/lib "$lib_folder/program" none die 2>&1) || status=$?
	[[ $status = 1 && $said = "warning: ach_open: ACH_ENOENT: "*$'\n'"error: ach_open: ACH_ENOENT: "* ]] ||
		{ echo "$status $said"; return 1; }
}
for kind in shared static; do
	link=() source=user.c
	[ $kind = shared ] || link=(-static)
	language=(-x c)
	lib_case "a C program with the $kind library" works gcc -std=gnu11 "${link[@]}"
	lib_case "strict C with the $kind library" works gcc -std=c11 -D_POSIX_C_SOURCE=200809L "${link[@]}"
	lib_case "a C program by clang with the $kind library" works clang "${link[@]}"
	language=(-x c++)
	lib_case "a C++ program with the $kind library" works g++ -std=c++11 "${link[@]}"
	source=user.cpp
	lib_case "classes with the $kind library" works g++ -std=c++11 "${link[@]}"
	lib_case "CerrChannel with the $kind library" dies
	lib_case "classes by clang with the $kind library" works clang++ -std=c++17 "${link[@]}"
done

upgrade() { make -s -o all BUILD="${BUILD:-build}" CC="${CC:-gcc}" install DESTDIR="$root" PREFIX=/usr; }
again() { # an upgrade: what an older version had is still known
	echo /usr/share/endplate/old >>"$root/usr/share/endplate/manifest"
	: >"$root/usr/share/endplate/old"
	: >"$root/usr/share/endplate/launch/mine.launch"
	upgrade
}
uninstalled() {
	make -s uninstall DESTDIR="$root" PREFIX=/usr
	[ "$(cd "$root" && find . ! -type d)" = ./usr/share/endplate/launch/mine.launch ]
	rm "$root/usr/share/endplate/launch/mine.launch"
	(cd "$root" && rmdir -p usr/share/endplate/launch)
	[ ! -e "$root/usr" ]
}
distrusted() { # nothing is removed, and install takes no line of it
	local kept=$root/usr/share/endplate/manifest before
	before=$(find "$root" | sort)
	lib_matches 2 "make uninstall: $kept: $1; nothing is removed: *" make -s uninstall DESTDIR="$root" PREFIX=/usr
	[ "$(find "$root" | sort)" = "$before" ]
}
distrusts() ( # each in turn, with the manifest as it was in between
	set -e
	local kept=$root/usr/share/endplate/manifest mine=$lib_folder/mine line
	local rule='it must be a file, no link, of root or uid *, that only its owner may write'
	cp -p "$kept" "$mine"
	ln -sf "$mine" "$kept"
	distrusted "$rule" || exit 1
	cp -p --remove-destination "$mine" "$kept"
	for mode in 664 646; do
		chmod $mode "$kept"
		distrusted "$rule" || exit 1
	done
	chmod 644 "$kept"
	if [ "$(id -u)" = 0 ]; then
		chown 65534 "$kept"
		distrusted "$rule" || exit 1
		chown 0 "$kept"
	fi
	for line in /usr/../x /usr/lib/.. /x usr/x /usrx /x/ ''; do
		{ echo "$line"; cat "$mine"; } >"$kept"
		distrusted "$line is not below one of *" || exit 1
	done
	cp "$mine" "$kept"
)
replaces_a_link() {
	local kept=$root/usr/share/endplate/manifest
	cp "$kept" "$lib_folder/mine"
	echo /usr/planted >"$lib_folder/elsewhere"
	ln -sf "$lib_folder/elsewhere" "$kept"
	upgrade
	[ "$(cat "$lib_folder/elsewhere")" = /usr/planted ] && [ ! -L "$kept" ] &&
		lib_not grep -q planted "$kept" || return 1
	sort -u "$lib_folder/mine" "$kept" | cmp - "$lib_folder/mine" && cp "$lib_folder/mine" "$kept"
}
lib_case "make uninstall refuses a manifest that others may have written" distrusts
lib_case "make install replaces a link in the place of the manifest" replaces_a_link
lib_case "an upgrade" again
lib_case "make uninstall removes what was put down and nothing else" uninstalled
lib_case "make uninstall says where nothing is" lib_matches 2 "make uninstall: no $root/usr/share/endplate/manifest*" \
	make -s uninstall DESTDIR="$root" PREFIX=/usr

root="$lib_folder/ro*t" # as a regular expression it does not match itself
lib_case "another prefix" installed /opt/ach
lib_case "the manifest has paths without DESTDIR" test "$(grep -cx '/opt/ach/include/ach\.h\|/opt/ach/share/' \
	"$root/opt/ach/share/endplate/manifest")" = 2
lib_case "pkg-config follows the prefix" grep -qx 'prefix=/opt/ach' "$root/opt/ach/lib/pkgconfig/ach.pc"
lib_case "nothing beside the prefix" test "$(ls "$root")" = opt
lib_case "another library folder" installed /usr LIBDIR=/usr/lib64
lib_case "pkg-config follows it" grep -qx 'libdir=/usr/lib64' "$root/usr/lib64/pkgconfig/ach.pc"

lib_end

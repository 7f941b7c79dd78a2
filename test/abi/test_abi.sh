#!/bin/bash
# The binary interface of libach is the one in ach.abi: programs built against an older header go on working.
#	bash test/abi/test_abi.sh write		takes the present interface over, when it was meant to change
set -eu
. test/scripts/lib.sh
lib_tmp
build=${BUILD:-build}
recorded=$PWD/test/abi/ach.abi
show=$PWD/test/abi/show
case $(uname -m) in
aarch64) other=x86_64-linux-gnu ;;
*) other=aarch64-linux-gnu ;;
esac

symbols() {
	objdump -p "$build/libach.so" | sed -n 's/^ *SONAME */soname /p'
	nm -D --defined-only "$build/libach.so" | sed -n 's/^[0-9a-f]* [^A] /symbol /p' | LC_ALL=C sort
}

if [ "${1:-}" = write ]; then
	{ "$show"; symbols; } >"$lib_folder/abi"
	cp "$lib_folder/abi" "$recorded"
	exit 0
fi

same() { # LINES COMMAND...: prints what ach.abi has in those lines
	local lines=$1
	shift
	"$@" >"$lib_folder/now"
	grep -E "$lines" "$recorded" | diff -u --label ach.abi - --label now "$lib_folder/now" && return
	echo "If the interface was meant to change: bash test/abi/test_abi.sh write"
	return 1
}
header_lines='^(struct|constant|#define|(inline )?function|typedef) '
lib_case "sizes, offsets, constants and prototypes" same "$header_lines" "$show"
lib_case "the same on $other" same "$header_lines" "$show" $other
lib_case "symbols of libach.so" same '^(soname|symbol) ' symbols
private=$(sed -n 's|^\t\(.*\); /\* private.*|\1@|p' channels/ach/ach.map)
lib_case "what the header declares is what libach.so exports" diff \
	<(sed -n 's/^function \(.*\): .*/symbol \1@@ACH_2/p' "$recorded" | LC_ALL=C sort) \
	<(grep '^symbol' "$recorded" | grep -vF "$private")

# clang lays out what show prints; these are the compilers that people use.
assertions() {
	echo '#include <stddef.h>'
	echo '#include "channels/ach/ach.h"'
	local whole='CHECK(sizeof(struct \1) == \2); CHECK(ALIGN(struct \1) == \3);'
	sed -nE -e "s/^struct (\w+) size (.*) alignment (.*)/$whole/p" \
		-e 's/^struct (\w+) at ([0-9]+): .* (\w+)$/CHECK(offsetof(struct \1, \3) == \2);/p' \
		-e 's/^constant (\w+) = (.*)/CHECK((unsigned)\1 == \2u);/p' "$recorded"
}
agrees() { assertions | "$@" -fsyntax-only -Wall -Wextra -Werror -I. -; }
c=(-std=gnu11 '-DCHECK(x)=_Static_assert(x, #x)' '-DALIGN(x)=_Alignof(x)' -x c)
cxx=(-std=gnu++17 '-DCHECK(x)=static_assert(x, #x)' '-DALIGN(x)=alignof(x)' -x c++)
lib_case "gcc agrees" agrees gcc "${c[@]}"
lib_case "g++ agrees" agrees g++ "${cxx[@]}"
lib_case "$other-gcc agrees" agrees $other-gcc "${c[@]}"

# A header with one change is another interface.
differs() { # SED
	mkdir -p "$lib_folder/channels"
	sed -E "$1" channels/ach/ach.h >"$lib_folder/channels/ach/ach.h"
	cmp -s channels/ach/ach.h "$lib_folder/channels/ach/ach.h" && { echo "the header was not changed"; return 1; }
	(cd "$lib_folder" && "$show") >"$lib_folder/now"
	grep -E "$header_lines" "$recorded" | lib_not cmp -s - "$lib_folder/now"
}
bites() { lib_case "found: $1" differs "$2"; }
bites "a member moved" 's/^(\t*)(struct ach_handle \*handle;)/\1int new_member;\n\1\2/'
bites "a larger struct" 's/reserved\[16\]/reserved[17]/'
bites "a bit moved" 's/(unsigned int )lock_source : 1/\1first : 1;\n\1lock_source : 1/'
bites "another value" 's/ACH_CORRUPT = 13/ACH_CORRUPT = 23/'
bites "another argument" 's/ach_commit\(ach_channel_t \*chan, size_t len/ach_commit(ach_channel_t *chan, int len/'
bites "a new function" 's/^(enum ach_status )ach_flush/\1ach_new(void);\n&/'

lib_end

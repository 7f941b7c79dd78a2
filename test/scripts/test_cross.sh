#!/bin/bash
# Everything is correct for the other architecture, without a warning, what has assembly in it compiles, and libach.so
# links.  What gcc warns of only where it generates code, the build for this architecture has shown.
# limit: 900 s
set -eu
. test/scripts/lib.sh
build=${BUILD:-build}/cross

case $(uname -m) in
aarch64) other=x86_64 machine=X86-64 ;;
*) other=aarch64 machine=AArch64 ;;
esac

make_other() { # TARGET
	# yaml.h is the same for all
	make -s CC=$other-linux-gnu-gcc BUILD="$build" CFLAGS="-O2 -idirafter /usr/include" "$1"
}
lib_case "$other" make_other syntax
lib_case "assembly of $other" make_other assembly
lib_case "libach.so is of $other" grep -q "Machine:.*$machine" <(readelf -h "$build/libach.so")
lib_case "libach.so exports what ach.abi says" diff <(grep '^symbol ' test/abi/ach.abi) \
	<(nm -D --defined-only "$build/libach.so" | sed -n 's/^[0-9a-f]* [^A] /symbol /p' | LC_ALL=C sort)
lib_end

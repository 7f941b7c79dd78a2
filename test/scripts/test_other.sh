#!/bin/bash
# For the other compiler and the other architecture everything is correct without a warning, which clang says of both
# at once; what has assembly in it compiles, a program of clang links, and so does libach.so of the other architecture.
# What clang makes of the channels runs in test_tsan.sh.
# limit: 900 s
set -eu
. test/scripts/lib.sh
build=${BUILD:-build}

case $(uname -m) in
aarch64) other=x86_64 machine=X86-64 ;;
*) other=aarch64 machine=AArch64 ;;
esac

lib_tmp

make_other() { # COMPILER TARGET
	# yaml.h is the same for all
	make -s CC="$1" BUILD="$build/cross" CFLAGS="-O2 -Wtype-limits -idirafter /usr/include" "$2"
}
finds_a_warning_in_the_second_file() {
	echo 'int a;' >"$lib_folder/a.c"
	echo 'static int b;' >"$lib_folder/b.c"
	lib_not test/scripts/clang_once -Wall -Werror -fsyntax-only "$lib_folder"/{a,b}.c &&
		test/scripts/clang_once -Wall -Werror -fsyntax-only "$lib_folder"/{a,a}.c
}
lib_case "clang of many files" finds_a_warning_in_the_second_file
lib_case "clang, and $other" make_other "test/scripts/clang_once --target=$other-linux-gnu" syntax
lib_case "assembly and a program of clang" make -s CC=clang BUILD="$build/clang" CFLAGS=-O0 \
	assembly "$build/clang/channels/examples/publish"
lib_case "assembly of $other" make_other $other-linux-gnu-gcc assembly
lib_case "libach.so is of $other" grep -q "Machine:.*$machine" <(readelf -h "$build/cross/libach.so")
lib_case "libach.so exports what ach.abi says" diff <(grep '^symbol ' test/abi/ach.abi) \
	<(nm -D --defined-only "$build/cross/libach.so" | sed -n 's/^[0-9a-f]* [^A] /symbol /p' | LC_ALL=C sort)
lib_end

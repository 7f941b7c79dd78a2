#!/bin/bash
# Everything is correct for clang too, without a warning, what has assembly compiles, and a program links; what clang
# makes of the channels runs in test_tsan_clang.sh.
# limit: 900 s
set -eu
. test/scripts/lib.sh
build=${BUILD:-build}/clang

lib_case "clang" make -s CC=clang syntax
lib_case "assembly and a program of clang" make -s CC=clang BUILD="$build" CFLAGS=-O0 \
	assembly "$build/channels/examples/publish"
lib_end

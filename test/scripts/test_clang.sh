#!/bin/bash
# Everything compiles with clang too, without a warning, and a program links.  Nothing here is run, and clang's warnings
# do not depend on optimization, so there is none.
# limit: 900 s
set -eu
. test/scripts/lib.sh
build=${BUILD:-build}/clang

lib_case "clang" make -s CC=clang BUILD="$build" CFLAGS=-O0 objects "$build/pciod"
lib_end

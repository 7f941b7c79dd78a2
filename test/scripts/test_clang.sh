#!/bin/bash
# Everything compiles and links with clang too, without a warning.  Nothing here is run, and clang's warnings do not
# depend on optimization, so there is none.
# limit: 900 s
set -eu
. test/scripts/lib.sh

lib_case "clang" make -s CC=clang BUILD="${BUILD:-build}/clang" CFLAGS=-O0 tests
lib_end

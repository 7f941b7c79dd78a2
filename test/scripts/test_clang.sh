#!/bin/bash
# Everything compiles with clang too, without a warning.
set -eu
. test/scripts/lib.sh

lib_case "clang" make -s CC=clang BUILD="${BUILD:-build}/clang" tests
lib_end

#!/bin/bash
# Everything is correct for clang too, without a warning; test_tsan_clang.sh generates code, and runs it.
# limit: 900 s
set -eu
. test/scripts/lib.sh

lib_case "clang" make -s CC=clang syntax
lib_end

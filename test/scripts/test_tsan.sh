#!/bin/bash
# The test programs written for the thread sanitizer (test_*tsan*.c), by clang.  Its last line is test/run's.
# limit: 900 s
set -eu
# Without address space randomization, which on some kernels leaves this sanitizer no room.
still=()
setarch -R true 2>/dev/null && still=(setarch -R)
exec "${still[@]}" make -s CC=clang SAN=thread BUILD="${BUILD:-build}/san-thread-clang" test

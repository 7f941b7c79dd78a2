#!/bin/bash
# test_fuzz.sh: every fuzz target runs its seeds, among them the project's own files and inputs that broke something
# once, and then new inputs for five seconds, or 20,000 of them if that is sooner.
#
# limit: 600 s
cd "$(dirname "$0")/../.." || exit 1
FUZZ_SECONDS=5 FUZZ_RUNS=20000 FUZZ_FRESH=yes exec test/fuzz/run

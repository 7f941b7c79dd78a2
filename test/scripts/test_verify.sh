#!/bin/bash
# The model of the channels holds, and every mutation of it is found.
# limit: 900 s
set -eu
. test/scripts/lib.sh

lib_case "verify" channels/model/verify -j "${JOBS:-$(nproc)}" # one processor beside other tests
lib_end

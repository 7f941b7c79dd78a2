#!/bin/bash
# The model of the channels holds, and every mutation of it is found.
set -eu
. test/scripts/lib.sh

lib_case "make verify" make -s verify
lib_end

#!/bin/bash
# The test programs under the address and undefined behaviour sanitizers.  Its last line is test/run's.
set -eu
exec make -s CC=gcc SAN=address,undefined BUILD="${BUILD:-build}/san-address-undefined" test

#!/bin/bash
# vm_timing_stall.sh: the cases of vm_stall.c on the virtual clock: the machine is never late, and stamps are exact.
set -eu

exec "${BUILD:-build}/test/vm/vm_stall"

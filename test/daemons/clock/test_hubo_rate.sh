#!/bin/bash
# The table of rates in hw-docs/devices/hubo.md is what scripts/hubo-rate computes from hubod's frames.
set -eu
. test/scripts/lib.sh

lib_case "the page has the table" scripts/hubo-rate --check
lib_end

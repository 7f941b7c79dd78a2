#!/bin/bash
# The tests of the real kernel (test/vm/run) as a part of all tests: each guest by itself, so that they run at once.
# limit: 1800 s
set -eu

exec test/vm/run --timing

#!/bin/bash
# Until there is a robot to run, scripts/run says so and fails.
set -eu
. test/scripts/lib.sh

honest() {
	local said
	said=$(scripts/run 2>&1 >/dev/null) && return 1
	[ "$(wc -l <<<"$said")" -eq 1 ] && [[ $said == *scripts/test* ]]
}
lib_case "scripts/run does not pretend" honest
lib_end

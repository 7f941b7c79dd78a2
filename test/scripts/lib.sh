# shellcheck shell=bash
# For script tests: cases are counted, their output is shown, lib_end prints the sum as Unity does.

lib_cases=0 lib_failures=0 lib_ignored=0

lib_case() { # NAME COMMAND...: passes if the command succeeds
	local name=$1 result=FAIL
	shift
	lib_cases=$((lib_cases + 1))
	if "$@"; then
		result=PASS
	else
		lib_failures=$((lib_failures + 1))
	fi
	echo "$0:$name:$result"
}

lib_ignore() { # NAME REASON
	lib_cases=$((lib_cases + 1)) lib_ignored=$((lib_ignored + 1))
	echo "$0:$1:IGNORE: $2"
}

lib_not() { ! "$@"; }

lib_end() {
	echo "$lib_cases Tests $lib_failures Failures $lib_ignored Ignored"
	[ $lib_failures -eq 0 ]
}

# A folder that is gone at the end of the test.
lib_tmp() {
	lib_folder=$(mktemp -d)
	trap 'rm -rf "$lib_folder"' EXIT
}

# LOG [PART]: every function test_* (whose name holds PART), each in a shell of its own with its output in LOG, which is
# shown if it fails; status 77: ignored.  What it left running is killed.  Ends the script.
lib_functions() {
	local lib_log=$1 part=${2:-} test status

	for test in $(declare -F | awk '$3 ~ /^test_/ { print $3 }'); do
		[[ $test == *$part* ]] || continue
		lib_cases=$((lib_cases + 1))
		set +e # "if (...)" would switch it off inside as well
		(
			set -e
			trap 'jobs -p | xargs -r kill -KILL 2>/dev/null || true' EXIT
			"$test"
		) >"$lib_log" 2>&1 </dev/null
		status=$?
		set -e
		if [ $status -eq 0 ]; then
			echo "$0:$test:PASS"
		elif [ $status -eq 77 ]; then
			lib_ignored=$((lib_ignored + 1))
			echo "$0:$test:IGNORE"
		else
			lib_failures=$((lib_failures + 1))
			echo "$0:$test:FAIL: $(cat "$lib_log")"
		fi
	done
	lib_end || exit 1
	exit 0
}

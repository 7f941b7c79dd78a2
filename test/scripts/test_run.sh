#!/bin/bash
# test/run counts right: a test that fails, dies, hangs, says nothing or leaves a case out is never "passed".
set -eu
. test/scripts/lib.sh
lib_tmp

plant() { # NAME TEXT
	printf '%s\n' "$2" >"$lib_folder/$1.sh"
}
plant good 'echo x:1:a:PASS; echo "3 Tests 0 Failures 0 Ignored "; echo OK'
plant bad 'echo reason; echo "3 Tests 2 Failures 0 Ignored"; exit 2'
plant liar 'echo "3 Tests 1 Failures 0 Ignored"'
plant crash 'echo half; kill -SEGV $$'
plant late 'echo "3 Tests 0 Failures 0 Ignored"; exit 7'
plant hang 'echo "3 Tests 0 Failures 0 Ignored"; sleep 600'
# shellcheck disable=SC2016 # the text of a script
plant orphan 'sleep 600 & echo $! >"$PID_FILE"; wait'
plant silent 'true'
plant none 'echo "0 Tests 0 Failures 0 Ignored"'
plant skip 'echo "x:1:a:IGNORE: no bus"; echo "3 Tests 0 Failures 2 Ignored"'
plant nested 'echo "9 Tests 9 Failures 0 Ignored"; echo "4 passed, 0 failed, 1 skipped"'
plant nested_good 'echo "3 passed, 0 failed"'
plant nested_bad 'echo "4 passed, 2 failed"; exit 1'
plant binary 'printf "\0\377\n"; echo "1 Tests 0 Failures 0 Ignored"'
# shellcheck disable=SC2016
plant jobs '[ "$JOBS" = 1 ] && [ -z "${MAKEFLAGS:-}" ] && echo "1 Tests 0 Failures 0 Ignored"'

# What takes 50 % of the processors away, and fails until it has run so many times.
robbed() { # NAME TIMES
	plant "$1" "echo >>\"\$TEST_STAT.$1\"; runs=\$(wc -l <\"\$TEST_STAT.$1\")
		echo \"cpu \$((runs * 50)) 0 0 0 0 0 0 \$((runs * 50)) 0 0\" >\"\$TEST_STAT\"
		[ \$runs -le $2 ] || { echo '2 Tests 0 Failures 0 Ignored'; exit; }
		echo '2 Tests 1 Failures 0 Ignored'; exit 1"
}
robbed robbed_once 1
robbed robbed_always 9

# STATUS SUMMARY PATTERN NAME...: what test/run says of these tests
says() {
	local status=$1 summary=$2 pattern=$3 said got=0 name tests=()
	shift 3
	for name in "$@"; do
		tests+=("$lib_folder/$name.sh")
	done
	rm -f "$lib_folder"/stat.*
	echo "cpu 0 0 0 0 0 0 0 0 0 0" >"$lib_folder/stat"
	said=$(TEST_STAT=$lib_folder/stat BUILD=$lib_folder/build MAKEFLAGS=-j2 TEST_TIMEOUT=${limit:-60} \
		PID_FILE=$lib_folder/pid test/run "${tests[@]}" 2>&1) || got=$?
	[ $got -eq "$status" ] && [ "$(tail -n 1 <<<"$said")" = "$summary" ] && grep -qE -- "$pattern" <<<"$said" &&
		[ "$(cat "$lib_folder/build/summary")" = "$summary" ] && return
	echo "status $got: $said"
	return 1
}
gone() { # or dead and not yet collected, where nobody collects
	for _ in {1..100}; do
		grep -qE '^State:\s+[^Z]' "/proc/$(cat "$lib_folder/pid")/status" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

lib_case "good" says 0 "3 passed, 0 failed" 'good.sh +ok, 3 passed' good
lib_case "good tests are not shown" lib_not says 0 "3 passed, 0 failed" 'x:1:a:PASS' good
lib_case "bad, with its output" says 1 "1 passed, 2 failed" '    \| reason' bad
lib_case "what failed, once more at the end" says 1 "4 passed, 2 failed" '^failed: .*/bad.sh$' bad good
lib_case "only that" lib_not says 1 "4 passed, 2 failed" '^failed: .*/good.sh$' bad good
lib_case "failures despite exit status 0" says 1 "2 passed, 1 failed" FAILED liar
lib_case "a crash, with its output" says 1 "0 passed, 1 failed" '    \| half' crash
lib_case "an exit status despite no failures" says 1 "3 passed, 1 failed" 'exit status 7' late
lib_case "no summary" says 1 "0 passed, 1 failed" FAILED silent
lib_case "no cases" says 1 "0 passed, 1 failed" FAILED none
lib_case "a test that is not there" says 1 "0 passed, 1 failed" FAILED missing
lib_case "skipped, with the reason" says 0 "1 passed, 0 failed, 2 skipped" 'no bus' skip
lib_case "a run inside a test" says 0 "4 passed, 0 failed, 1 skipped" ok nested
lib_case "a bad run inside a test" says 1 "4 passed, 2 failed" FAILED nested_bad
lib_case "output that is no text" says 0 "1 passed, 0 failed" ok binary
lib_case "a test is told to run one job and has no make above it" says 0 "1 passed, 0 failed" ok jobs
lib_case "all together" says 1 "11 passed, 4 failed, 2 skipped" ok good nested_good bad crash skip late
lib_case "it fails while the host takes time, and passes alone" says 0 "2 passed, 0 failed" '^again:' robbed_once
lib_case "it fails each time" says 0 "1 passed, 0 failed, 1 skipped" ':IGNORE: it failed three times' robbed_always
lib_case "a host that takes nothing" lib_not says 1 "1 passed, 2 failed" '^again:' bad
limit=1
lib_case "a hang" says 1 "3 passed, 1 failed" 'out of time after 3 s' hang
lib_case "a hang with a child" says 1 "0 passed, 1 failed" 'out of time' orphan
lib_case "which does not outlive it" gone
lib_end

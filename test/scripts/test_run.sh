#!/bin/bash
# test/run counts right: a test that fails, dies, hangs, says nothing or leaves a case out is never "passed".
# waits: mostly
set -eu
. test/scripts/lib.sh
lib_tmp
ach=$(realpath "${BUILD:-build}")/ach
mkdir "$lib_folder/build"
ln -s "$ach" "$lib_folder/build/ach"

plant() { # NAME TEXT
	printf '%s\n' "$2" >"$lib_folder/$1.sh"
}
plant good 'echo x:1:a:PASS; echo "3 Tests 0 Failures 0 Ignored "; echo OK'
plant bad 'echo reason; echo "3 Tests 2 Failures 0 Ignored"; exit 2'
plant liar 'echo "3 Tests 1 Failures 0 Ignored"'
plant crash 'echo half; kill -SEGV $$'
plant late 'echo "3 Tests 0 Failures 0 Ignored"; exit 7'
plant hang 'echo "3 Tests 0 Failures 0 Ignored"; sleep 600'
plant hang_longer '# limit: 2 s
	echo "3 Tests 0 Failures 0 Ignored"; sleep 600'
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

# Leaves behind what a test can: a daemon, a folder, a file in /dev/shm, a channel; and is killed.
# shellcheck disable=SC2016
plant leaves 'setsid sleep 600 & echo $! >"$PID_FILE"
	folder=$(mktemp -d); echo "$folder" >"$PID_FILE.folder"
	ipcs -m -p >"$PID_FILE.segments"; "$ACH" mk "t-run-$$-left" & wait $!
	ipcs -m -p | grep -vxFf "$PID_FILE.segments" | awk -v maker=$! "\$3 == maker { print \$1 }" >"$PID_FILE.memory"
	"$ACH" file "t-run-$$-left" >"$PID_FILE.channel"
	echo x >>"/dev/shm/achshm-t-run-$$-file"
	kill -KILL $$'
# shellcheck disable=SC2016
plant finding 'echo "x.c:1:2: runtime error: shift"; echo "2 Tests 1 Failures 0 Ignored"
	echo "cpu 50 0 0 0 0 0 0 50 0 0" >"$TEST_STAT"; exit 1'
# shellcheck disable=SC2016
plant lost 'for i in {1..40}; do echo "line $i"; done; echo "inner FAILED, 1 failed"; echo "the reason"; exit 99'

# What takes 50 % of the processors away, and fails until it has run so many times.
robbed() { # NAME TIMES
	plant "$1" "echo >>\"\$TEST_STAT.$1\"; runs=\$(wc -l <\"\$TEST_STAT.$1\")
		echo \"cpu \$((runs * 50)) 0 0 0 0 0 0 \$((runs * 50)) 0 0\" >\"\$TEST_STAT\"
		[ \$runs -le $2 ] || { echo '2 Tests 0 Failures 0 Ignored'; exit; }
		echo '2 Tests 1 Failures 0 Ignored'; exit 1"
}
# Fails the first time.
# shellcheck disable=SC2016
plant unsteady 'echo >>"$TEST_STAT.unsteady"; [ "$(wc -l <"$TEST_STAT.unsteady")" -eq 1 ] || {
		echo "1 Tests 0 Failures 0 Ignored"; exit; }
	echo "the first time"; echo "1 Tests 1 Failures 0 Ignored"; exit 1'
# Passes if three are there at once, at most 20 s.
# shellcheck disable=SC2016
meets='echo >"$TEST_STAT.$BASHPID"; for i in {1..200}; do
		[ "$(ls "$TEST_STAT".* | wc -l)" -lt 3 ] || { echo "1 Tests 0 Failures 0 Ignored"; exit; }
		sleep 0.1
	done; echo "1 Tests 1 Failures 0 Ignored"'
plant meets1 "$meets"
plant meets2 "$meets"
plant meets_waiting "# waits: mostly
$meets"
plant robot 'mkdir /run/endplate/t-run && echo "1 Tests 0 Failures 0 Ignored"'
plant robot_seen 'test ! -e /run/endplate/t-run && echo "1 Tests 0 Failures 0 Ignored"'
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
	said=$(ACH=$ach TEST_STAT=$lib_folder/stat BUILD=$lib_folder/build MAKEFLAGS=-j2 JOBS=${jobs:-1} \
		TEST_BESIDE='' TEST_TIMEOUT=${limit:-60} TEST_BUDGET=${budget:-600} PID_FILE=$lib_folder/pid \
		test/run "${tests[@]}" 2>&1) || got=$?
	[ $got -eq "$status" ] && [ "$(tail -n 1 <<<"$said")" = "$summary" ] && grep -qE -- "$pattern" <<<"$said" &&
		[ "$(cat "$lib_folder/build/summary")" = "$summary" ] && return
	echo "status $got: $said"
	return 1
}
gone() { # or a zombie, where no process reaps it
	for _ in {1..100}; do
		grep -qE '^State:\s+[^Z]' "/proc/$(cat "$lib_folder/pid")/status" 2>/dev/null || return 0
		sleep 0.1
	done
	return 1
}

nothing_left() {
	gone && [ -s "$lib_folder/pid.folder" ] && [ ! -e "$(sed 's|/[^/]*/[^/]*$||' "$lib_folder/pid.folder")" ] &&
		[ -s "$lib_folder/pid.channel" ] && [ ! -e "$(cat "$lib_folder/pid.channel")" ] &&
		[ ! -e "$(sed 's/-left$/-file/' "$lib_folder/pid.channel")" ]
}
leaves_nothing() {
	rm -f "$lib_folder"/pid*
	says 1 "0 passed, 1 failed" 'killed, or out of time' leaves && nothing_left
}
without_namespaces() {
	mkdir -p "$lib_folder/bin"
	printf '#!/bin/sh\nexit 1\n' >"$lib_folder/bin/unshare"
	chmod 755 "$lib_folder/bin/unshare"
	PATH=$lib_folder/bin:$PATH leaves_nothing && [ -s "$lib_folder/pid.memory" ] &&
		! ipcs -m | awk '{ print $2 }' | grep -xFf "$lib_folder/pid.memory"
}
costs() {
	says 0 "6 passed, 0 failed" '^ +[0-9.]+ /' good nested_good &&
		grep -q 'test .*/nested_good.sh' "$lib_folder/build/costs"
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
lib_case "binary output" says 0 "1 passed, 0 failed" ok binary
lib_case "a test runs with JOBS=1 and without MAKEFLAGS" says 0 "1 passed, 0 failed" ok jobs
lib_case "all together" says 1 "11 passed, 4 failed, 2 skipped" ok good nested_good bad crash skip late
lib_case "it fails while the host takes time, and passes alone" says 0 "2 passed, 0 failed" '^again:' robbed_once
lib_case "it fails each time" says 0 "1 passed, 0 failed, 1 skipped" ':IGNORE: it failed three times' robbed_always
lib_case "a host that takes nothing" lib_not says 1 "1 passed, 2 failed" '^again:' bad
lib_case "it fails alone" lib_not says 1 "0 passed, 1 failed" '^again:' unsteady
jobs=2
lib_case "it fails beside others, passes alone" says 0 "4 passed, 0 failed" '^unsteady: .*/unsteady.sh' unsteady good
lib_case "what it said at first" says 0 "4 passed, 0 failed" '^    \| the first time$' unsteady good
lib_case "a test that mostly waits runs beside the others" says 0 "3 passed, 0 failed" ok meets1 meets2 meets_waiting
jobs=1
lib_case "a finding of a sanitizer is not excused" lib_not says 1 "1 passed, 1 failed" '^again:' finding
lib_case "the reason behind the last word" says 1 "0 passed, 1 failed" '^    \| the reason$' lost
lib_case "a killed test leaves nothing" leaves_nothing
lib_case "nor where every test has the same /dev/shm" without_namespaces
if unshare --mount true 2>/dev/null; then
	lib_case "a robot of the machine is seen by its own test only" says 0 "2 passed, 0 failed" ok robot robot_seen
fi
lib_case "what it costs" costs
limit=1
lib_case "a hang" says 1 "3 passed, 1 failed" 'out of time after 1 s' hang
lib_case "a hang of a test with a limit of its own" says 1 "3 passed, 1 failed" 'out of time after 2 s' hang_longer
lib_case "a hang with a child" says 1 "0 passed, 1 failed" 'out of time' orphan
lib_case "which does not outlive it" gone
budget=0
lib_case "no time is left" says 1 "0 passed, 2 failed" '^    .*bad.sh: not begun: all tests together had 0 s' good bad
lib_end

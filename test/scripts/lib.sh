# shellcheck shell=bash
# For script tests: cases are counted, their output is shown, lib_end prints the sum as Unity does.

lib_cases=0 lib_failures=0 lib_ignored=0
build=$(realpath -m "${BUILD:-build}")

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

lib_until() { # COMMAND...: until it succeeds, at most 60 s
	local lib_begun=$SECONDS
	while ((SECONDS - lib_begun < 60)); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.05
	done
	echo "timed out waiting for: $*"
	"$@"
}

lib_says() { # STATUS STDOUT STDERR COMMAND...: exactly that
	local lib_status=$1 lib_out=$2 lib_err=$3 lib_got=0 lib_got_out lib_got_err
	shift 3
	lib_got_out=$("$@" 2>"$lib_folder/lib_stderr" </dev/null) || lib_got=$?
	lib_got_err=$(<"$lib_folder/lib_stderr")
	[ "$lib_got,$lib_got_out,$lib_got_err" = "$lib_status,$lib_out,$lib_err" ] && return
	printf '%s\n' "$*" "expected $lib_status: $lib_out" "$lib_err" "got $lib_got: $lib_got_out" "$lib_got_err"
	return 1
}

lib_matches() { # STATUS PATTERN COMMAND...: all that it prints matches the shell pattern
	local lib_status=$1 lib_pattern=$2 lib_got_status=0 lib_got
	shift 2
	lib_got=$("$@" 2>&1) || lib_got_status=$?
	# shellcheck disable=SC2053 # a pattern
	[ "$lib_got_status" = "$lib_status" ] && [[ $lib_got == $lib_pattern ]] && return
	printf '%s\n' "$*" "expected $lib_status: $lib_pattern" "got $lib_got_status: $lib_got"
	return 1
}

lib_end() {
	echo "$lib_cases Tests $lib_failures Failures $lib_ignored Ignored"
	[ $lib_failures -eq 0 ]
}

# If it may: this script and what it starts go before all that has no real-time priority, so that a loaded machine does
# not hold them up.
lib_go_first() { chrt --rr --pid 1 $$ >/dev/null 2>&1 || true; }

lib_remove_channels() { # PREFIX
	find "${ACH_DIR:-/dev/shm}" -maxdepth 1 -name "achshm-$1*" -printf '%f\n' | sed 's/^achshm-//' |
		xargs -r "$build/ach" rm || true
}

# A folder that is gone at the end of the test; lib_says needs it.
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
			! declare -F lib_left >/dev/null || lib_left # of the script: ends what the test has left behind
		fi
	done
	lib_end || exit 1
	exit 0
}

# ---- a machine of one's own ----

# CASE: without namespaces here the whole script is this one ignored case.
lib_need_namespaces() {
	! unshare -minpf --mount-proc mount -t tmpfs tmpfs /run 2>/dev/null || return 0
	lib_ignore "$1" "no namespaces here"
	lib_end
	exit
}

# COMMANDS: with a /dev/shm, /run and processes of its own; what is printed is in $lib_folder/said.
lib_alone() {
	unshare -minpf --kill-child --mount-proc bash -euc "
		mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run
		unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR NOTIFY_SOCKET
		$1" >"$lib_folder/said" 2>&1 || { cat "$lib_folder/said"; return 1; }
}

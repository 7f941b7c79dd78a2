# shellcheck shell=bash
# For tests of programs that run beside each other; their output is in $tmp.

# NAME COMMAND...: in the background, into $tmp/NAME.out and .err, its pid in $pid; it does not outlive this test
start() {
	local to=${tmp:?}/$1
	shift
	setpriv --pdeathsig KILL "$@" <&0 >"$to.out" 2>"$to.err" &
	# shellcheck disable=SC2034 # for the test
	pid=$!
}

same() { # EXPECTED ACTUAL
	[ "$1" = "$2" ] || { printf 'expected:\n%s\nbut was:\n%s\n' "$1" "$2"; return 1; }
}

has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }
in_state() { [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")" = "$2" ]; }

# A loop that never blocks is never seen asleep, let alone 20 times in a row.
asleep() {
	for _ in $(seq 20); do
		in_state "$1" S || return 1
		sleep 0.002
	done
}

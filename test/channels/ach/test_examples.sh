#!/bin/bash
# The examples do what they say: publish and subscribe, and pollcat.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
. test/lib/processes.sh

examples=${BUILD:-build}/channels/examples
name=test-examples-$$
tmp=$(mktemp -d)
trap 'rm -rf "$tmp" /dev/shm/achshm-"$name"-*' EXIT

# ---- tools ----

has_samples() { [ "$(stat -c %s "$1")" -ge $(($2 * 16)) ]; }

# counters FILE: those of the samples in it, one a line
counters() { od -v -An -w16 -t u8 "$1" | awk '{ print $1 }'; }

# ---- publish and subscribe ----

test_subscriber_prints_the_newest_and_how_many_it_missed() {
	"$examples/publish" "$name-newest" 1000 10
	"$examples/subscribe" "$name-newest" 1 >"$tmp/newest"
	same '10: _ us old, 9 missed' "$(sed 's/[0-9]* us/_ us/' "$tmp/newest")"
}

test_subscriber_waits_asleep_for_the_next() {
	"$examples/publish" "$name-next" 1000 7
	start next "$examples/subscribe" "$name-next" 2
	lib_until has_lines "$tmp/next.out" 1
	lib_until asleep "$pid"
	"$examples/publish" "$name-next" 1000 1
	wait "$pid"
	same $'7: _ us old, 6 missed\n1: _ us old, 0 missed' "$(sed 's/[0-9]* us/_ us/' "$tmp/next.out")"
}

test_subscriber_accounts_for_every_message() {
	start forever "$examples/publish" "$name-all" 2000
	lib_until test -e "/dev/shm/achshm-$name-all"
	"$examples/subscribe" "$name-all" 200 >"$tmp/all"
	awk '{ seq += $5 + 1; if ($1 + 0 != seq) wrong++ } END { exit NR != 200 || wrong > 0 }' "$tmp/all"
}

test_publishers_may_be_killed() {
	"$examples/publish" "$name-kill" 1000 1
	start subscriber "$examples/subscribe" "$name-kill"
	local subscriber=$pid
	for _ in $(seq 20); do
		start victim "$examples/publish" "$name-kill" 20000
		lib_until has_lines "$tmp/subscriber.out" $(($(wc -l <"$tmp/subscriber.out") + 1))
		kill -KILL "$pid"
		wait "$pid" || same 137 $?
		same '' "$(cat "$tmp/victim.err")"
	done
	lib_until asleep "$subscriber"
	same '' "$(cat "$tmp/subscriber.err")"
	same 0 "$(grep -c -v -E '^[0-9]+: [0-9]+ us old, [0-9]+ missed$' "$tmp/subscriber.out" || true)"
}

test_errors_are_one_sentence() {
	local status

	status=0
	"$examples/subscribe" "$name-none" 2>"$tmp/err" || status=$?
	same "1 subscribe: cannot open $name-none: ACH_ENOENT" "$status $(cat "$tmp/err")"

	status=0
	"$examples/publish" a/b 100 2>"$tmp/err" || status=$?
	same "1 publish: cannot open a/b: ACH_INVALID_NAME" "$status $(cat "$tmp/err")"

	status=0
	"$examples/pollcat" "$name-none" "$name-none" 2>"$tmp/err" </dev/null || status=$?
	same "1 pollcat: cannot open $name-none: ACH_ENOENT" "$status $(cat "$tmp/err")"

	for arguments in publish subscribe pollcat "publish $name-none" "publish $name-none 0" "pollcat $name-none"; do
		status=0
		# shellcheck disable=SC2086 # a program and its arguments
		"$examples"/$arguments 2>"$tmp/err" </dev/null || status=$?
		same 2 "$status"
		grep -q "^${arguments%% *}: usage: ${arguments%% *} " "$tmp/err"
	done
}

# ---- pollcat ----

# Two channels and standard input, before and after the end of the latter.
test_pollcat() {
	local a=$name-pollcat-a b=$name-pollcat-b out=$tmp/pollcat.out
	"$examples/publish" "$a" 1000 5
	"$examples/publish" "$b" 1000 7
	mkfifo "$tmp/pollcat.in"
	exec 7<>"$tmp/pollcat.in"
	start pollcat "$examples/pollcat" "$a" "$b" <"$tmp/pollcat.in" 7>&-

	# What was there before it came, and then one source at a time, each when it has nothing else to do.
	lib_until has_samples "$out" 12
	echo "fifteen letters" >&7 # as long as a sample, with the newline
	lib_until has_samples "$out" 13
	"$examples/publish" "$b" 1000 3
	lib_until has_samples "$out" 16
	"$examples/publish" "$a" 1000 1
	lib_until has_samples "$out" 17
	lib_until asleep "$pid"

	# Standard input ends; the channels go on, and it does not spin.
	exec 7>&-
	lib_until asleep "$pid"
	"$examples/publish" "$a" 1000 2
	lib_until has_samples "$out" 19
	"$examples/publish" "$b" 1000 1
	lib_until has_samples "$out" 20
	lib_until asleep "$pid"
	same '' "$(cat "$tmp/pollcat.err")"

	# While it is stopped a channel that retains 64 messages gets 200.
	kill -STOP "$pid"
	lib_until in_state "$pid" T
	"$examples/publish" "$b" 20000 200
	kill -CONT "$pid"
	lib_until has_samples "$out" 84
	lib_until asleep "$pid"
	same "pollcat: $b: missed 136" "$(cat "$tmp/pollcat.err")"

	# Everything once, whole and in order.
	same 'fifteen letters' "$(dd if="$out" bs=16 skip=12 count=1 status=none)"
	same "$(seq 5; seq 7; seq 3; seq 1; seq 2; seq 1; seq 137 200)" "$(counters "$out" | sed 13d)"
}

# ---- run them ----

lib_functions "$tmp/log" "$@"

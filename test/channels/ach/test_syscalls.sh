#!/bin/bash
# test_syscalls.sh: put makes no system call without waiters and one with waiters; reading makes none.
set -eu

build=${BUILD:-build}
program=$build/test/channels/ach/syscalls
repeat=20
tests=0 failures=0
trace=$(mktemp)
trap 'rm -f "$trace"' EXIT

# expect CALLS WHAT [WAITERS]: system calls of one repetition, all of them futex wakes
expect() {
	local calls=$1 counted marks other
	shift
	tests=$((tests + 1))
	if ! strace -e signal=none -o "$trace" "$program" "$@"; then
		failures=$((failures + 1))
		echo "test_syscalls.sh:$*:FAIL: the program failed"
		return
	fi
	marks=$(grep -c '^getppid' "$trace" || true)
	# between an odd getppid and the even one after it
	counted=$(awk '/^getppid/ { inside = !inside; next } inside' "$trace" | wc -l)
	other=$(awk '/^getppid/ { inside = !inside; next } inside && !/^futex\(.*FUTEX_WAKE/' "$trace")
	if [ "$marks" -ne $((2 * repeat)) ] || [ "$counted" -ne $((calls * repeat)) ] || [ -n "$other" ]; then
		failures=$((failures + 1))
		echo "test_syscalls.sh:$*:FAIL: $counted system calls in $repeat repetitions," \
			"instead of $((calls * repeat))"
		awk '/^getppid/ { inside = !inside; next } inside' "$trace" | sort | uniq -c | head
	else
		echo "test_syscalls.sh:$*:PASS"
	fi
}

if ! strace -e signal=none -o /dev/null true 2>/dev/null; then
	echo "test_syscalls.sh:all:IGNORE: strace is missing or may not trace here"
	echo "1 Tests 0 Failures 1 Ignored"
	exit 0
fi

expect 0 put
expect 0 reserve
expect 0 get
expect 0 peek
expect 0 copy
expect 0 wait
expect 1 put-waiters 1
expect 1 put-waiters 4

echo "$tests Tests $failures Failures 0 Ignored"
[ "$failures" -eq 0 ]

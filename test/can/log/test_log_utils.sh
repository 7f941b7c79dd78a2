#!/bin/bash
# test_log_utils.sh: our reader and writer of logs against log2asc and asc2log of can-utils, on random frames of all
# kinds.
set -eu
. test/scripts/lib.sh

export LC_ALL=C TZ=UTC
lib_tmp
logcat=${BUILD:-build}/test/can/log/logcat
log=$lib_folder/random.log

if ! command -v log2asc >/dev/null || ! command -v asc2log >/dev/null; then
	lib_ignore log_utils "can-utils is not installed"
	lib_end
	exit
fi

# As candump -L writes it, with a comment of ours here and there.
python3 - "${TEST_SEED:-$RANDOM}" >"$log" <<'END'
import random, sys
print(f"# random frames, TEST_SEED={sys.argv[1]}")
random.seed(int(sys.argv[1]))
us = 1436509052249713
for n in range(4000):
    us += random.choice([1, 100, 12345, 3456789])
    ident = f"{random.randrange(0x800):03X}" if random.random() < .5 else f"{random.randrange(1 << 29):08X}"
    kind = random.choice(["data", "data", "fd", "remote", "error"])
    if kind == "data":
        frame = f"{ident}#" + random.randbytes(random.randrange(9)).hex().upper()
    elif kind == "fd":
        size = random.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64])
        frame = f"{ident}##{random.randrange(4, 8)}" + random.randbytes(size).hex().upper()
    elif kind == "remote":
        frame = f"{ident}#R" + str(random.randrange(9)).replace("0", "")
    else:
        frame = f"{0x20000000 | random.randrange(1 << 29):08X}#" + random.randbytes(8).hex().upper()
    print(f"({us // 1000000:010}.{us % 1000000:06}) can{random.randrange(2)} {frame}")
    if n % 500 == 0:
        print(f"# can0: {n + 1} frames lost")
END

# since_first: times count from the first line's, in microseconds.
since_first() {
	awk '{ split(substr($1, 2, length($1) - 2), t, "."); us = t[1] * 1000000 + t[2]
		if (NR == 1) first = us
		$1 = sprintf("%.0f", us - first); print }'
}

# ASC does not say which error it was.
as_asc() {
	grep -v '^#' "$log" | sed -E 's/ [23][0-9A-F]{7}#[0-9A-F]*$/ 20000080#0000000000000000/' | since_first
}

same() { # A B, said what differs
	diff "$1" "$2" >"$lib_folder/diff" && [ -s "$1" ] && return
	head -n 10 "$lib_folder/diff"
	return 1
}

there_and_back() {
	"$logcat" --strict "$log" >"$lib_folder/back" 2>"$lib_folder/stderr" || return 1
	[ "$(<"$lib_folder/stderr")" = "14008 lost, 0 backward" ] || return 1
	grep -v '^#' "$log" >"$lib_folder/plain"
	same "$lib_folder/plain" "$lib_folder/back"
}

from_log2asc() { # OPTION...
	log2asc -I "$log" -O "$lib_folder/random.asc" "$@" can0 can1
	"$logcat" --strict "$lib_folder/random.asc" | since_first >"$lib_folder/ours"
}

log2asc_plain() {
	from_log2asc || return 1
	as_asc >"$lib_folder/expected"
	same "$lib_folder/expected" "$lib_folder/ours"
}

log2asc_crlf() {
	from_log2asc -n || return 1
	as_asc >"$lib_folder/expected"
	same "$lib_folder/expected" "$lib_folder/ours"
}

log2asc_four_places() {
	from_log2asc -4 || return 1
	as_asc | sed -E 's/^[0-9]{1,2} /000 /; s/^([0-9]*)[0-9]{2} /\100 /; s/^0+ /0 /' >"$lib_folder/expected"
	same "$lib_folder/expected" "$lib_folder/ours"
}

# Every frame as a CANFD event, in which an error frame is not one any more.
log2asc_all_canfd() {
	grep -vE ' [23][0-9A-F]{7}#' "$log" >"$lib_folder/no-errors.log"
	log=$lib_folder/no-errors.log from_log2asc -f || return 1
	[ "$(grep -c CANFD "$lib_folder/random.asc")" -eq "$(grep -c '^(' "$lib_folder/no-errors.log")" ] || return 1
	log=$lib_folder/no-errors.log as_asc >"$lib_folder/expected"
	same "$lib_folder/expected" "$lib_folder/ours"
}

log2asc_no_remote_length() {
	from_log2asc -r || return 1
	as_asc | sed -E 's/#R[0-9]$/#R/' >"$lib_folder/expected"
	same "$lib_folder/expected" "$lib_folder/ours"
}

# The start is in whole seconds there.
log2asc_start() {
	from_log2asc || return 1
	local first
	first=$(grep -m 1 '^(' "$log")
	"$logcat" "$lib_folder/random.asc" | head -n 1 | grep -q "^${first%%.*}\.000000) can"
}

# asc2log does not set the 4 of CAN FD.
from_asc2log() {
	from_log2asc || return 1
	asc2log -I "$lib_folder/random.asc" 2>/dev/null | since_first |
		sed -E 's/##0/##4/; s/##1/##5/; s/##2/##6/; s/##3/##7/' >"$lib_folder/theirs"
	"$logcat" --direction "$lib_folder/random.asc" | since_first >"$lib_folder/ours"
	same "$lib_folder/theirs" "$lib_folder/ours"
}

# We read the output of asc2log.
asc2log_read() {
	from_log2asc || return 1
	asc2log -I "$lib_folder/random.asc" >"$lib_folder/theirs.log" 2>/dev/null
	"$logcat" --strict --direction "$lib_folder/theirs.log" | since_first >"$lib_folder/ours"
	since_first <"$lib_folder/theirs.log" |
		sed -E 's/##0/##4/; s/##1/##5/; s/##2/##6/; s/##3/##7/' >"$lib_folder/theirs"
	same "$lib_folder/theirs" "$lib_folder/ours"
}

# log2asc reads our output like that of candump.
log2asc_of_ours() {
	from_log2asc || return 1
	"$logcat" "$log" 2>/dev/null | log2asc can0 can1 >"$lib_folder/ours.asc"
	same "$lib_folder/random.asc" "$lib_folder/ours.asc"
}

head -n 1 "$log"
for case in there_and_back log2asc_plain log2asc_crlf log2asc_four_places log2asc_all_canfd log2asc_no_remote_length \
	log2asc_start from_asc2log asc2log_read log2asc_of_ours; do
	lib_case $case $case
done
lib_end

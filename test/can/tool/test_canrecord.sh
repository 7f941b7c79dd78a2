#!/bin/bash
# test_canrecord.sh: canrecord(1) on a machine without CAN: order, names, filters, files, disks, and what it refuses.
# The buses are logs, which play at the pace at which they were recorded.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
lib_tmp
record=$build/canrecord
replay=$build/canreplay
page=$PWD/can/tool/canrecord.1
export LC_ALL=C TZ=UTC
cd "$lib_folder"
trap 'mountpoint -q "$lib_folder/small" && umount "$lib_folder/small"; rm -rf "$lib_folder"' EXIT

wrong() { # LINE OPTION...: a usage error, and no file is made
	local line=$1
	shift
	rm -rf out*
	lib_says 100 '' "canrecord: $line" "$record" "$@" && lib_not compgen -G 'out*' >/dev/null
}
status_of() { # COMMAND...: sets status
	status=0
	"$@" >stdout 2>stderr || status=$?
}
frames() { grep -v '^#' "$@" | cut -d' ' -f2-; } # without their stamps
frames_log() { # NAME COUNT US: that many frames, so many microseconds apart
	awk -v n="$2" -v us="$3" -v name="$1" 'BEGIN {
		for (i = 0; i < n; i++)
			printf "(1700000%03d.%06d) %s 123#%08X\n", int(i * us / 1000000), i * us % 1000000, name, i
	}'
}
until_true() { # COMMAND...: while the process $pid is there; a hang ends with the test's own time limit
	until "$@"; do
		kill -0 "$pid" 2>/dev/null || { echo "it has ended:"; cat stderr; return 1; }
		sleep 0.02
	done
}
has_lines() { [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE COUNT
start() { # COMMAND...: in the background, its pid in $pid
	"$@" >stdout 2>stderr &
	pid=$!
}
ended() { # STATUS
	local got=0
	wait "$pid" || got=$?
	[ "$got" -eq "$1" ] || { echo "exit status $got instead of $1"; cat stdout stderr; return 1; }
}

cat >trace.log <<'END'
(1700000000.000000) can0 123#DEADBEEF
(1700000000.020000) can1 00000123#
(1700000000.040000) can0 123#R4
(1700000000.060000) can1 7FF##511
(1700000000.080000) can1 20000040#0000000000000000
(1700000000.100000) can0 200#1122334455667788_C
(1700000000.120000) can1 00000123#R
END

# ---- frames ----

# Two buses with frames by turns come out in the order of the file, with the times between them.
test_order() {
	"$record" log:trace.log@can1 log:trace.log@can0 --errors -o out.log >stdout
	diff <(frames trace.log) <(frames out.log)
	paste -d' ' trace.log <(grep -v '^#' out.log) | tr -d '(.)' |
		awk '{ d = $4 - $1 } NR > 1 && (d - first > 2000 || first - d > 2000) { exit 1 } NR == 1 { first = d }'
	grep -qE '^7 frames in [0-9.]+ m?s, 0.0 MB, 0 lost$' stdout
	grep -qE '^can1 +4 frames +0 lost$' stdout
	grep -qE '^can0 +3 frames +0 lost$' stdout
	grep -qx '# can1: bus-off' out.log # what the error frame says
}

# The stamps are of today.
test_stamps() {
	local before after stamp
	before=$(date +%s)
	"$record" log:trace.log --count 1 -o out.log >stdout
	after=$(date +%s)
	stamp=$(sed -nE 's/^\(([0-9]+)\.[0-9]{6}\) .*/\1/p' out.log)
	[ "$stamp" -ge "$before" ]
	[ "$stamp" -le "$after" ]
}

test_no_error_frames() {
	"$record" log:trace.log@can1 -o out.log >stdout
	diff <(grep can1 trace.log | grep -v 20000040 | frames) <(frames out.log)
}
test_names() {
	"$record" left=log:trace.log@can0 log:trace.log -o out.log >stdout
	[ "$(grep -c ' left ' out.log)" -eq 3 ]
	[ "$(grep -c ' log ' out.log)" -eq 6 ]
}
test_only() {
	"$record" log:trace.log --only 120-12F,00000000-1FFFFFFF -o out.log >stdout
	[ "$(frames out.log)" = 'log 123#DEADBEEF
log 00000123#
log 123#R4
log 00000123#R' ]
}
test_not() {
	"$record" log:trace.log --not 123 --not 00000123 -o out.log >stdout
	[ "$(frames out.log)" = 'log 7FF##511
log 200#1122334455667788_C' ]
}
# More than the kernel has room for.
test_many_filters() {
	"$record" log:trace.log --not "$(printf '%08X,' {1..1999..3})00000123" -o out.log >stdout
	[ "$(frames out.log | xargs)" = 'log 123#DEADBEEF log 123#R4 log 7FF##511 log 200#1122334455667788_C' ]
}
test_count() {
	"$record" can0=log:trace.log --count 2 -o out.log >stdout
	[ "$(frames out.log)" = 'can0 123#DEADBEEF
can0 00000123#' ]
	grep -q '^2 frames in ' stdout
}
test_stdout() {
	"$record" can0=log:trace.log --count 2 -o - >stdout 2>stderr
	[ "$(frames stdout)" = 'can0 123#DEADBEEF
can0 00000123#' ]
	grep -q '^2 frames in ' stderr
}
# Formats are converted on the way, and what is written can be read.
test_replayed() {
	"$record" can0=log:trace.log -o out.log >stdout
	"$replay" --dry-run out.log >again
	diff <(grep -v '^#' out.log) again
}

# ---- its end ----

printf '(1700000000.000000) can0 123#\n(1700003600.000000) can0 124#\n' >hour.log
test_for() {
	"$record" log:hour.log --for 200ms -o out.log >stdout
	[ "$(frames out.log)" = 'log 123#' ]
}
interrupted() { # SIGNAL: an orderly end, with all that came
	start "$record" log:hour.log -o out.log
	until_true test -s out.log # it is handed over while nothing else comes
	kill "-$1" "$pid"
	ended 0
	[ "$(frames out.log)" = 'log 123#' ]
	grep -q '^1 frame in ' stdout
}
test_int() { interrupted INT; }
test_term() { interrupted TERM; }

test_kill() {
	local lines
	frames_log can0 20000 500 >long.log
	start "$record" can0=log:long.log -o out.log
	until_true has_lines out.log 100
	kill -KILL "$pid"
	wait "$pid" || true
	lines=$(wc -l <out.log)
	[ "$(tail -c 1 out.log | od -An -c | tr -d ' ')" = '\n' ]
	diff <(head -n "$lines" long.log | frames) <(frames out.log)
}

# ---- files ----

test_there() {
	echo mine >out.log
	lib_says 111 '' 'canrecord: out.log: exists already (--force replaces it)' "$record" log:trace.log -o out.log
	[ "$(<out.log)" = mine ]
	"$record" can0=log:trace.log --count 1 --force -o out.log >stdout
	[ "$(frames out.log)" = 'can0 123#DEADBEEF' ]
	rm out.log
	: >out.log # an empty one belongs to no recorder
	"$record" can0=log:trace.log --count 1 -o out.log >stdout
}
# A bus that cannot be opened makes no file.
test_no_bus() {
	status_of "$record" nosuchcan0 -o out.log
	[ "$status" -eq 111 ]
	[ "$(grep -c '^canrecord: nosuchcan0' stderr)" -eq 1 ]
	[ "$(wc -l <stderr)" -eq 1 ]
	[ ! -e out.log ]
	status_of "$record" log:none.log -o out.log
	[ "$status" -eq 111 ]
	grep -q '^canrecord: .*none.log.*No such file' stderr
	[ ! -e out.log ]
}

# 60 lines of 38 bytes, 26 of them in a kilobyte.
test_rotate() {
	local i
	frames_log can0 60 1000 >long.log
	"$record" can0=log:long.log --rotate 1k -o out.log >stdout
	[ "$(echo out*)" = 'out-0001.log out-0002.log out-0003.log' ]
	[ "$(wc -l <out-0001.log) $(wc -l <out-0002.log) $(wc -l <out-0003.log)" = '26 26 8' ]
	diff <(frames long.log) <(frames -h out-*.log)
	grep -qE '^60 frames in .* MB in 3 files, 0 lost$' stdout
	# A second recording goes on behind it.
	"$record" can0=log:long.log --rotate 100k -o out.log >stdout
	[ "$(echo out*)" = 'out-0001.log out-0002.log out-0003.log out-0004.log' ]
	[ "$(wc -l <out-0004.log)" -eq 60 ]
	# The newest two stay, and what only looks like one.
	for i in out-1.log out-0000.log out-0001.txt out-0001x.log aout-0001.log; do echo >"$i"; done
	"$record" can0=log:long.log --rotate 1k --keep 2 -o "$lib_folder/out.log" >stdout
	[ "$(echo out*)" = 'out-0000.log out-0001.txt out-0001x.log out-0006.log out-0007.log out-1.log' ]
	[ -e aout-0001.log ]
}
test_no_suffix() {
	mkdir folder.d
	"$record" can0=log:trace.log --rotate 110 -o folder.d/out >stdout
	[ "$(cd folder.d && echo *)" = 'out-0001 out-0002 out-0003' ]
	diff <(grep -v 20000040 trace.log | frames | sed 's/can1/can0/') <(frames -h folder.d/*)
}
# 0, 20 and 40 ms; 60 and 80 ms; 100 and 120 ms; 530 and 540 ms, for time without frames makes no file.
test_every() {
	{ frames_log can0 7 20000; printf '(1700000000.5%s0000) can0 7FF#\n' 3 4; } >long.log
	"$record" can0=log:long.log --every 50ms -o out.log >stdout
	[ "$(echo out*)" = 'out-0001.log out-0002.log out-0003.log out-0004.log' ]
	[ "$(wc -l <out-0001.log) $(wc -l <out-0002.log) $(wc -l <out-0003.log)" = '3 2 2' ]
	[ "$(frames out-0004.log)" = $'can0 7FF#\ncan0 7FF#' ]
}

# ---- disks ----

# NAME: what is there is the beginning of the log, in whole lines, and the summary says how much.
cut_off() {
	local lines
	lines=$(wc -l <"$1")
	[ "$lines" -gt 0 ]
	[ "$lines" -lt "$(wc -l <long.log)" ]
	[ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ]
	diff <(head -n "$lines" long.log | frames) <(frames "$1")
	grep -q "^$lines frames in " stdout
}
test_full_disk() {
	mkdir -p small
	mount -t tmpfs -o size=64k none small 2>/dev/null || exit 77
	frames_log can0 5000 20 >long.log
	status_of "$record" can0=log:long.log -o small/out.log
	[ "$status" -eq 111 ]
	[ "$(<stderr)" = 'canrecord: small/out.log: No space left on device; what is written can be replayed' ]
	cut_off small/out.log
	"$replay" --dry-run small/out.log >/dev/null
	umount small
}
test_file_too_large() {
	frames_log can0 5000 20 >long.log
	status_of bash -c 'ulimit -f 64 && exec "$@"' _ "$record" can0=log:long.log -o out.log
	[ "$status" -eq 111 ]
	[ "$(<stderr)" = 'canrecord: out.log: File too large; what is written can be replayed' ]
	cut_off out.log
}
test_dev_full() {
	status_of "$record" can0=log:trace.log -o /dev/full
	[ "$status" -eq 111 ]
	grep -qx 'canrecord: /dev/full: No space left on device' stderr
	grep -q '^0 frames in .*, 0 lost, [1-9][0-9]* not written$' stdout
}
test_closed_pipe() {
	"$record" can0=log:hour.log -o - 2>stderr | true
	[ "${PIPESTATUS[0]}" -eq 111 ]
	grep -q '^canrecord: standard output: Broken pipe' stderr
}

# The FIFO is read only after the log is over: what found no room is counted in the file.
test_slow_disk() {
	local lost
	frames_log can0 60000 2 >long.log
	mkfifo fifo
	exec 9<>fifo
	start "$record" can0=log:long.log --buffer 1 -o fifo
	until_true grep -q '^canrecord: fifo is slow; ^C gives up what is not written yet$' stderr
	cat fifo >out.log 9>&- &
	exec 9>&-
	ended 0
	wait
	lost=$(sed -nE 's/^# can0: ([0-9]+) frames lost$/\1/p' out.log | awk '{ n += $1 } END { print n + 0 }')
	[ "$lost" -gt 0 ]
	[ $((lost + $(frames out.log | wc -l))) -eq 60000 ]
	grep -q "^can0 .* $lost lost\$" stdout
	[ "$("$replay" --json out.log --only 555 | grep -o '"lost":[0-9]*')" = "\"lost\":$lost" ]
}
test_given_up() {
	frames_log can0 60000 2 >long.log
	mkfifo fifo
	exec 9<>fifo
	start "$record" can0=log:long.log --buffer 1 -o fifo
	until_true grep -q 'is slow' stderr
	kill -INT "$pid"
	ended 111
	grep -q '^canrecord: fifo: given up' stderr
}
test_fifo_without_reader() {
	mkfifo fifo
	lib_says 111 '' 'canrecord: fifo: no process reads from it' "$record" log:trace.log -o fifo
}

# Not even with --force: it would be empty before it is read.
test_own_log() {
	cp trace.log own.log
	lib_says 100 '' 'canrecord: own.log: it is read as log:own.log: name another file' \
		"$record" log:own.log -o own.log --force
	cmp trace.log own.log
}

# ---- what is wrong with the command line ----

lib_case no_output wrong '--output FILE is missing: the file; - is standard output' log:trace.log
lib_case no_bus_named wrong '[NAME=]BUS... is missing (canrecord --help says more)' -o out
lib_case unknown_option wrong '--rotat: unknown option; did you mean --rotate? (canrecord --help lists them)' can0 \
	-o out --rotat
lib_case rotate_word wrong '--rotate: "big" is not a number of bytes such as 100M' can0 -o out --rotate big
lib_case rotate_zero wrong '--rotate: "0k" is not a number of bytes such as 100M' can0 -o out --rotate 0k
lib_case rotate_minus wrong '--rotate: "-5" is not a number of bytes such as 100M' can0 -o out --rotate=-5
lib_case rotate_huge wrong '--rotate: "99999999999G" is not a number of bytes such as 100M' can0 -o out \
	--rotate 99999999999G
lib_case every_word wrong '--every: "often" is not a time such as 10s or 5min' can0 -o out --every often
lib_case for_zero wrong '--for: "0" is not a time such as 10s or 5min' can0 -o out --for 0
lib_case keep_alone wrong '--keep: needs --rotate or --every' can0 -o out --keep 3
lib_case keep_zero wrong '--keep: 0 is below the minimum 1' can0 -o out --keep 0 --every 10m
lib_case rotate_stdout wrong '--rotate: standard output is one file' can0 -o - --rotate 1M
lib_case every_force wrong '--force: numbered files never replace an existing file' can0 -o out --every 1h --force
lib_case count_zero wrong '--count: 0 is below the minimum 1' can0 -o out --count 0
lib_case only_word wrong \
	'--only: "1" is not an identifier such as 123 (3 digits, or 8 for 29 bits) or a range such as 200-2FF' \
	can0 -o out --only 1
lib_case twice wrong 'can0: there are two buses of that name: NAME=log:x@can0' can0 log:x@can0 -o out
lib_case bad_bus wrong 'a/b: the name of an interface has no blanks and no slashes' a/b -o out
lib_case long_name wrong 'much-too-long-name=can0: its name in the file has to have 1 to 15 letters: NAME=can0' \
	much-too-long-name=can0 -o out
lib_case no_name wrong '=can0: its name in the file has to have 1 to 15 letters: NAME=can0' =can0 -o out
lib_case bad_name wrong 'a b=can0: its name in the file has letters, digits, _ . and -: NAME=can0' 'a b=can0' -o out

# ---- its help and its page ----

# The page names the options that there are, and no others.
test_page() {
	diff <("$record" --help | grep -oE '^  (-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort) \
		<(grep -oE '\bFl -[a-z-]+' "$page" | sed 's/Fl /-/' | sort -u)
}
test_version() { [[ $("$record" --version) == "canrecord "* ]]; }

# Each with an empty slate.
for test in $(declare -F | awk '$3 ~ /^test_/ { print $3 }'); do
	eval "inner_$(declare -f "$test")"
	eval "$test() { rm -rf out* fifo folder.d; inner_$test; }"
done
lib_functions "$lib_folder/log" "${1:-}"

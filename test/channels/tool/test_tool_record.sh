#!/bin/bash
# test_tool_record.sh: ach record and ach play: every byte, slow and full disks, cut files, and what writers notice.
# waits: mostly
set -eu
. test/scripts/lib.sh
lib_tmp
ach=$build/ach
feed=$build/test/channels/tool/feed
dump=$build/test/channels/rec/recdump
work=$lib_folder
name=t-record-$$ # of all channels, with something behind it

# What we start ends with us, and what we made goes.
started=()
start() { # COMMAND...: in the background; its output in $work/out and $work/err, its pid in $pid
	"$@" >"$work/out" 2>"$work/err" &
	pid=$!
	started+=("$pid")
}
leave() {
	local p
	for p in "${started[@]}"; do kill -KILL "$p" 2>/dev/null || true; done
	wait 2>/dev/null || true
	exec 9>&- || true
	mountpoint -q "$work/small" && umount "$work/small"
	find /dev/shm -maxdepth 1 -name "achshm-$name*" -printf '%f\n' | sed 's/^achshm-//' | xargs -r "$ach" rm
	rm -rf "$work"
}
trap leave EXIT

until_true() { # COMMAND...: a hang ends with the test's own time limit
	until "$@"; do
		kill -0 "$pid" 2>/dev/null || { echo "it has ended:"; cat "$work/err"; return 1; }
		sleep 0.02
	done
}
# They retain all that a case puts, so that a recorder that gets no time does not lose any.
mk() { local c; for c; do "$ach" mk "$name-$c" -m "${count:-4000}" -n "${size:-1000}"; done; }
rm_channels() { local c; for c; do "$ach" rm "$name-$c"; done; }
# A recording has a first byte when the recorder has its place in every channel.
record() { start "$ach" record "$@"; until_true test -s "$work/rec"; }
end() { # STATUS: ^C and the exit status
	local r=0
	kill -INT "$pid" 2>/dev/null || true
	wait "$pid" || r=$?
	[ "$r" -eq "$1" ] || { echo "exit status $r instead of $1"; cat "$work/out" "$work/err"; return 1; }
}
recorded_exactly() { "$dump" "$work/rec" | diff -q "$work/fed" - || { echo "other bytes"; return 1; }; }

# ---- bytes ----

bytes() {
	mk a
	record "$name-a" -o "$work/rec"
	"$feed" "$name-a" 2000 4000 >"$work/fed"
	end 0
	recorded_exactly
	"$ach" play "$work/rec" --list | grep -q "$name-a .* 2000 messages"
	rm_channels a
}

# Recorded, played into a channel that play makes, and recorded from there.
played() { # PLAY OPTIONS...
	rm -f "$work"/rec*
	mk a
	record "$name-a" -o "$work/rec"
	"$feed" "$name-a" 1000 2000 >"$work/fed"
	end 0
	recorded_exactly
	rm_channels a
	mv "$work/rec" "$work/first"
	record "$name-a" --wait -o "$work/rec"
	"$ach" play "$@" "$work/first" >"$work/played"
	grep -q "1000 messages of 1 channel in .*; late p50 .*, p99 .*, max " "$work/played"
	end 0
	recorded_exactly
	"$ach" info "$name-a" --json | grep -q '"count":4000,"size":1000'
	rm_channels a
}

mapped() {
	rm -f "$work"/rec*
	mk a b
	record "$name-a" "$name-b" -o "$work/rec"
	"$feed" "$name-a" 20 1000 >"$work/fed"
	"$feed" "$name-b" 10 1000 >/dev/null
	end 0
	"$ach" play "$work/rec" --map "$name-a=$name-c" --only "$name-a" --loop 3 --speed 2 >"$work/played"
	grep -q "60 messages of 1 channel" "$work/played"
	"$ach" info "$name-c" --json | grep -q '"last_seq":60'
	"$ach" info "$name-b" --json | grep -q '"last_seq":10'
	rm_channels a b c
}

as_replay() {
	rm -f "$work"/rec*
	mk state
	record "$name-state" -o "$work/rec"
	"$ach" put "$name-state" --json '{"type":"estop","level":"hold"}'
	end 0
	"$ach" play "$work/rec" >/dev/null
	"$ach" echo "$name-state" --last --json >"$work/json"
	grep -q '"flags":"-"' "$work/json"
	"$ach" echo "$name-state" --json | sort -u | wc -l | grep -qx 1 # byte for byte the same as before
	"$ach" play --as-replay "$work/rec" >/dev/null
	"$ach" echo "$name-state" --last --json >"$work/json2"
	grep -q '"flags":"replayed"' "$work/json2"
	local before after
	before=$(grep -o '"t_publish_ns":[0-9]*' "$work/json") after=$(grep -o '"t_publish_ns":[0-9]*' "$work/json2")
	[ "${before#*:}" -lt "${after#*:}" ]
	rm_channels state
}

# ---- channels that come and go ----

later() {
	rm -f "$work"/rec*
	"$ach" record "$name-a" -o "$work/rec" 2>"$work/err" && return 1
	grep -q "^ach record: $name-a: no such channel" "$work/err"
	[ ! -e "$work/rec" ]
	record "$name-a" --wait -o "$work/rec"
	mk a
	"$feed" "$name-a" 50 >"$work/fed"
	end 0
	recorded_exactly
	rm_channels a
}

# All messages of the old one and of the new one.
recreated() {
	rm -f "$work"/rec*
	mk a
	record "$name-a" -o "$work/rec"
	"$feed" "$name-a" 30 >"$work/fed"
	rm_channels a
	until_true grep -q "$name-a was removed; waiting for a new one" "$work/err"
	mk a
	"$feed" "$name-a" 40 >>"$work/fed"
	end 0
	recorded_exactly
	rm_channels a
}

many() {
	local c names=()
	rm -f "$work"/rec*
	for c in {1..100}; do names+=("$name-m$c"); done
	for c in "${names[@]}"; do "$ach" mk "$c" -m 64 -n 100; done
	record "${names[@]}" -o "$work/rec"
	for c in "${names[@]}"; do "$feed" --quiet "$c" 20 0 100; done
	end 0
	"$dump" --counts "$work/rec" | grep -c ' 20 0 20$' | grep -qx 100
	"$ach" rm "${names[@]}"
}

# ---- disks ----

# No process reads the FIFO: puts go on, the oldest messages are lost, and the file says how many.
slow() {
	rm -f "$work"/rec* "$work/fifo"
	mkfifo "$work/fifo"
	exec 9<>"$work/fifo"
	count=20000 mk a
	start "$ach" record "$name-a" -o "$work/fifo" --buffer 1
	until_true awaits_fifo
	"$feed" "$name-a" 20000 >"$work/fed" # ends although the recorder cannot write
	kill -INT "$pid"
	until_true grep -q "is slow; ^C gives up" "$work/err"
	cat "$work/fifo" >"$work/rec" 9>&- &
	local cat=$!
	started+=("$cat")
	wait "$pid"
	exec 9>&-
	wait "$cat"
	"$dump" --counts "$work/rec" >"$work/counts"
	awk '{ exit !($2 + $3 == 20000 && $3 > 1000 && $4 == 20000) }' "$work/counts" ||
		{ cat "$work/counts"; return 1; }
	grep -qx "$name-a: $(awk '{ print $3 }' "$work/counts") messages lost" "$work/err"
	"$dump" "$work/rec" >"$work/got"
	grep -vxFf "$work/fed" "$work/got" && return 1 # those that are there are as they were
	rm_channels a
}
# The first bytes are there.
awaits_fifo() { read -r -t 0 -u 9; }

given_up() {
	rm -f "$work"/rec* "$work/fifo"
	mkfifo "$work/fifo"
	"$ach" record "$name-a" --wait -o "$work/fifo" 2>"$work/err" && return 1
	grep -qx "ach record: $work/fifo: no process reads from it" "$work/err"
	exec 9<>"$work/fifo"
	mk a
	start "$ach" record "$name-a" -o "$work/fifo"
	until_true awaits_fifo
	"$feed" --quiet "$name-a" 2000 8000
	kill -INT "$pid"
	until_true grep -q "is slow; ^C gives up" "$work/err"
	end 111
	grep -q "$work/fifo: given up; what is written can be played" "$work/err"
	exec 9>&-
	rm_channels a
}

full_at_once() {
	mk a
	"$ach" record "$name-a" -o /dev/full >"$work/out" 2>"$work/err" && return 1
	diff - "$work/err" <<<"ach record: /dev/full: No space left on device; what is written can be played"
	rm_channels a
}

# It ends by itself, with a file that is whole up to its end.
fills() { # FILE EXPECTED
	local r=0
	rm -f "$work"/rec*
	mk a
	start "${limit[@]}" "$ach" record "$name-a" -o "$1"
	until_true test -s "$1"
	"$feed" "$name-a" 2000 >"$work/fed"
	wait "$pid" || r=$?
	[ $r -eq 111 ]
	grep -qx "ach record: $1: $2; what is written can be played" "$work/err"
	"$dump" "$1" >"$work/got"
	head -n "$(wc -l <"$work/got")" "$work/fed" | cmp - "$work/got"
	[ "$(wc -l <"$work/got")" -gt 100 ]
	[ "$(wc -l <"$work/got")" -lt 2000 ]
	rm_channels a
}
too_large() { limit=(bash -c 'ulimit -f 300; exec "$@"' bash); fills "$work/rec" "File too large"; }
full() {
	mkdir "$work/small"
	mount -t tmpfs -o size=300k none "$work/small"
	limit=()
	fills "$work/small/rec" "No space left on device"
}

there_already() {
	mk a
	echo precious >"$work/rec"
	"$ach" record "$name-a" -o "$work/rec" 2>"$work/err" && return 1
	diff - "$work/err" <<<"ach record: $work/rec: exists already (--force replaces it)"
	grep -qx precious "$work/rec"
	start "$ach" record "$name-a" -o "$work/rec" --force
	until_true grep -q achrec1 "$work/rec"
	end 0
	rm_channels a
}

has_lines() { [ "$("$dump" "$work/rec" | wc -l)" = "$1" ]; }
killed() {
	rm -f "$work"/rec*
	mk a
	record "$name-a" -o "$work/rec"
	"$feed" "$name-a" 500 4000 >"$work/fed"
	until_true has_lines 500
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null || true
	recorded_exactly
	"$ach" play "$work/rec" --list | grep -q 'not ended in order'
	# and cut anywhere, it plays up to there
	head -c 100001 "$work/rec" >"$work/cut"
	"$ach" play --speed 1000 "$work/cut" >"$work/out" 2>"$work/err"
	grep -qE "^ach play: $work/cut: is cut off at [0-9]+; all before it is whole$" "$work/err"
	grep -qE '^1[0-9]{2} messages of 1 channel' "$work/out" || grep -qE '^2[0-9]{2} messages' "$work/out"
	# a damaged byte costs its message
	printf '\252' | dd of="$work/rec" bs=1 seek=50000 conv=notrunc status=none
	"$ach" play --speed 1000 "$work/rec" >"$work/out" 2>"$work/err" && return 1
	grep -qE "^ach play: $work/rec: [0-9]+ bytes at [0-9]+ are damaged and left out$" "$work/err"
	grep -q '^499 messages' "$work/out"
	rm_channels a
}

# ---- ends and errors ----

has_put() { "$ach" info "$name-a" --json | grep -q "\"last_seq\":$1,"; }
stopped() {
	rm -f "$work"/rec*
	mk a
	record "$name-a" -o "$work/rec"
	"$feed" --quiet "$name-a" 2 2
	end 0
	start "$ach" play --speed 0.001 "$work/rec"
	until_true has_put 3
	end 0
	grep -q '^1 messages of 1 channel' "$work/out"
	rm_channels a
}

said() { # LINE COMMAND...: exactly that on stderr
	local line=$1
	shift
	"$@" 2>"$work/err" && return 1
	diff - "$work/err" <<<"$line"
}
errors() {
	mk a
	size=10 count=1 mk small
	rm -f "$work"/rec*
	record "$name-a" -o "$work/rec"
	"$feed" --quiet "$name-a" 5
	end 0
	echo text >"$work/text"
	said "ach play: $work/none: No such file or directory" "$ach" play "$work/none"
	said "ach play: $work: is a folder" "$ach" play "$work"
	said "ach play: $work/text: is not a recording of ach record, and not MCAP" "$ach" play "$work/text"
	said "ach play: --only: $work/rec has no channel nope (--list lists them)" "$ach" play "$work/rec" --only nope
	said "ach play: --map: $work/rec has no channel nope (--list lists them)" "$ach" play "$work/rec" --map nope=x
	said "ach play: --map: x is not OLD=NEW" "$ach" play "$work/rec" --map x
	"$ach" play "$work/rec" --map "$name-a=$name-small" 2>"$work/err" && return 1
	grep -qE "^ach play: $name-small: a message of [0-9]+ bytes does not fit into the channel, which takes 10$" \
		"$work/err"
	said "ach record: $name-a: named twice" "$ach" record "$name-a" "$name-a" -o "$work/twice"
	rm_channels a small
}

# On a terminal, and only for what takes longer than two seconds.
bar() {
	rm -f "$work"/rec*
	mk a
	record "$name-a" -o "$work/rec"
	"$feed" --quiet "$name-a" 3 1
	end 0
	script -qec "$ach play $work/rec --speed 0.8" /dev/null >"$work/out"
	grep -q '\[####*\.\.*\]' "$work/out"
	script -qec "$ach play $work/rec --speed 1000" /dev/null >"$work/out"
	grep '\[' "$work/out" && return 1
	"$ach" play "$work/rec" >"$work/out" 2>"$work/err"
	[ ! -s "$work/err" ]
	rm_channels a
}

# ---- what a writer notices ----

# At most one system call per put, a wake-up, whatever tools run.  Between two puts the writer sleeps once.
writer() {
	rm -f "$work"/rec*
	mk a
	start "$ach" record "$name-a" -o "$work/rec"
	until_true test -s "$work/rec"
	"$ach" echo "$name-a" --follow >"$work/echoed" 2>/dev/null &
	started+=($!)
	"$ach" echo "$name-a" --follow --json >/dev/null 2>&1 &
	started+=($!)
	"$ach" hz "$name-a" >/dev/null 2>&1 &
	started+=($!)
	(while "$ach" ls >/dev/null && "$ach" info "$name-a" >/dev/null; do :; done) &
	started+=($!)
	until_true echo_reads
	strace -e signal=none -o "$work/trace" "$feed" --quiet "$name-a" 8000 8000 100
	awk '/^getppid/ { inside = !inside; next }
		!inside { next }
		/^clock_nanosleep/ { if (calls > 1) many++; calls = 0; puts++; next }
		/^futex\(.*FUTEX_WAKE/ { calls++; wakes++; next }
		{ other++; print }
		END { if (calls > 1) many++
			print puts " puts, " wakes + 0 " wake-ups, " other + 0 " other calls"
			exit !(puts == 7999 && wakes > 0 && !many && !other) }' "$work/trace"
	end 0
	"$dump" --counts "$work/rec" | awk '{ exit !($2 + $3 >= 8000 && $4 >= 8000) }'
	rm_channels a
}
echo_reads() { "$feed" --quiet "$name-a" 1 && [ -s "$work/echoed" ]; }

# Each case is a process of its own, so that it ends with its first line that fails.
if [ $# -gt 0 ]; then
	"$@"
	exit
fi
run() { lib_case "$1" bash -eu "$0" "${@:2}"; } # NAME FUNCTION [ARGUMENT...]

run "every byte" bytes
run "played and recorded again" played
run "played twice as fast" played --speed 2
run "other names, some channels, several times" mapped
run "as replay" as_replay
run "a channel that comes later" later
run "a channel that is recreated" recreated
run "a hundred channels" many
run "a disk that is too slow" slow
run "a disk that does not answer" given_up
run "a full disk from the start" full_at_once
run "a file that may not grow" too_large
mkdir "$work/small"
if mount -t tmpfs -o size=300k none "$work/small" 2>/dev/null; then
	umount "$work/small"
	run "a full disk" full
else
	lib_ignore "a full disk" "no file system can be mounted here"
fi
run "a file that is there already" there_already
run "killed, cut, damaged" killed
run "^C ends a play" stopped
run "errors" errors
run "the bar" bar
if strace -e signal=none -o /dev/null true 2>/dev/null; then
	run "one system call per put, whatever tools run" writer
else
	lib_ignore "one system call per put, whatever tools run" "strace is missing or may not trace here"
fi
lib_end

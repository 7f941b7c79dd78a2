#!/bin/bash
# ach(1) with files, names and links of another user: no memory is taken on their word, no terminal is commanded,
# no other file is touched.
# shellcheck disable=SC2317 # the tests are called by their names
set -eu
. test/scripts/lib.sh
ach=$build/ach
p=t-untrusted-$$
lib_folder=$(mktemp -d)
tmp=$lib_folder
leave() {
	jobs -p | xargs -r kill -KILL 2>/dev/null || true
	find /dev/shm -maxdepth 1 -name "achshm-$p*" -printf '%f\n' | sed 's/^achshm-//' | xargs -r "$ach" rm
	rm -rf "$tmp"
}
trap leave EXIT

make() { # FILE PYTHON: records for a recording
	python3 - "$tmp/$1" "$2" <<-'END'
		import struct, sys, zlib
		sys.dont_write_bytecode = True
		sys.path.insert(0, "test/lib")
		from recording import recording, channel, record
		recording(sys.argv[1], *eval(sys.argv[2]))
	END
}
little() { # COMMAND...: with 256 MiB
	(
		ulimit -v 262144
		"$@"
	)
}

# ---- memory ----

test_a_channel_of_gigabytes_is_not_made() {
	local shape
	for shape in '1000000, 1000000' '4294967295, 4294967295' '2, 2147483648' '268435457, 1'; do
		make huge "[channel(0, b'$p-huge', $shape, 0), record(3, 0, 2000, 1, b'x')]"
		lib_says 111 '' \
			"ach play: $p-huge: the recording asks for a channel of ${shape/, / x } bytes, more than \
256 MiB (ach mk makes one of any size)" "$ach" play "$tmp/huge"
		[ ! -e "/dev/shm/achshm-$p-huge" ]
	done
	make large "[channel(0, b'$p-large', 16, 1 << 20, 0), record(3, 0, 2000, 1, b'x')]"
	"$ach" play "$tmp/large" >/dev/null
	"$ach" rm "$p-large"
}

# A head vouches for itself, and the file really has the bytes, though no disk holds them.
test_a_record_of_gigabytes_is_not_read() {
	local command
	make body "[channel(0, b'$p-body', 4, 100, 0)]"
	python3 - "$tmp/body" <<-'END'
		import struct, sys, zlib
		head = struct.pack("<IIHHqQ", 2000000000, 0, 3, 0, 5, 1)
		with open(sys.argv[1], "r+b") as f:
		    f.seek(-32, 2)
		    f.write(struct.pack("<I", zlib.crc32(head)) + head)
		    f.truncate(f.tell() + 2000000000)
	END
	for command in "play $tmp/body" "play --list $tmp/body" "echo $tmp/body"; do
		# shellcheck disable=SC2086 # words
		lib_matches 111 "ach ${command%% *}: $tmp/body: the record at * asks for 2000000000 bytes; one has at \
most 67108864" little "$ach" $command
	done
}

# ---- terminals ----

# Not one byte that a terminal obeys, no mark that turns text around, all of it UTF-8.
harmless() { # FILE...
	python3 -c '
import sys
for path in sys.argv[1:]:
    text = open(path, "rb").read().decode("utf-8")
    for c in text.replace("\n", ""):
        odd = ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or c in "\u061c\u200e\u200f\u2028\u2029\ufeff"
        assert not odd and not 0x202a <= ord(c) <= 0x202e and not 0x2066 <= ord(c) <= 0x2069, (path, text)' "$@"
}

test_names_in_recordings_are_harmless() {
	local name command n=0 names
	names=('\x1b[31mred' '\x9b31m' '\xff\xfe' '\xe2\x80\xae' '\xe2\x80\xa8x' '\xc2\x85' '\xe2\x81\xa6' '\r\nx'
		'"},{\\"' '\x7f')
	for name in "${names[@]}"; do
		make names "[channel(0, b'$name', 4, 100, 0), record(3, 0, 2000, 1, b'x')]"
		for command in 'play --list' play echo 'echo --json' 'echo --only x' 'play --only x' \
			'play --map x=y'; do
			n=$((n + 1))
			# shellcheck disable=SC2086 # words
			"$ach" $command "$tmp/names" >"$tmp/$n.out" 2>"$tmp/$n.err" || true
			[ -s "$tmp/$n.out" ] || [ -s "$tmp/$n.err" ]
		done
		"$ach" echo --json "$tmp/names" | python3 -c 'import json, sys; json.loads(sys.stdin.read())'
	done
	harmless "$tmp"/*.out "$tmp"/*.err
}

test_arguments_are_harmless() {
	local name command n=0
	for name in $'\e[31mred' $'\x9b31m' $'\xff\xfe' $'\u202e' $'\u2028' $'\u0085'; do
		for command in info echo hz play rm file 'mk -m1 -n1' 'chmod 600' dump 'record -o/dev/null' \
			'put --hex 00'; do
			n=$((n + 1))
			# shellcheck disable=SC2086 # words
			LC_ALL=C "$ach" $command "$name" >"$tmp/$n.out" 2>"$tmp/$n.err" && return 1
			[ -s "$tmp/$n.err" ]
		done
	done
	harmless "$tmp"/*.out "$tmp"/*.err
}

# A process chooses its name.
test_names_of_writers_are_harmless() {
	"$ach" mk "$p-comm"
	python3 - "$build/libach.so" "$p-comm" <<-'END' &
		import ctypes, os, sys, time
		libc, ach = ctypes.CDLL(None), ctypes.CDLL(sys.argv[1])
		libc.prctl(1, 9)
		libc.prctl(15, b"\x1b[31m\xe2\x80\xaered")
		chan = ctypes.create_string_buffer(128)
		assert ach.ach_open(chan, sys.argv[2].encode(), None) == 0 and ach.ach_put(chan, b"x", 1) == 0
		time.sleep(60)
	END
	has_writer() { "$ach" info "$p-comm" --for 0 | grep -q 'alive: '; }
	lib_until has_writer
	"$ach" info "$p-comm" --for 0 >"$tmp/comm"
	harmless "$tmp/comm"
	grep -q 'alive: ?\[31m???red' "$tmp/comm"
	"$ach" rm "$p-comm"
}

# ---- links ----

# Whatever lies in the place of a channel's files, no other file gets another mode.
test_chmod_follows_no_link() {
	: >"$tmp/precious"
	chmod 600 "$tmp/precious"
	"$ach" mk -o 640 "$p-link"
	# between opening the channel and changing its mode
	python3 - "$build/libach.so" "$p-link" "$tmp/precious" <<-'END'
		import ctypes, glob, os, sys
		lib, name, precious = ctypes.CDLL(sys.argv[1]), sys.argv[2], sys.argv[3]
		chan = ctypes.create_string_buffer(128)
		assert lib.ach_open(chan, name.encode(), None) == 0
		for path in glob.glob(f"/dev/shm/ach*-{name}*"):
		    os.unlink(path)
		    os.symlink(precious, path)
		lib.ach_chmod(chan, 0o666)
	END
	[ "$(stat -c %a "$tmp/precious")" = 600 ]
	rm -f /dev/shm/achshm-"$p-link" /dev/shm/ach*-"$p-link"*
	"$ach" mk -o 600 "$p-goal"
	ln -s "/dev/shm/achshm-$p-goal" "/dev/shm/achshm-$p-link"
	"$ach" chmod 666 "$p-link" 2>"$tmp/err" && return 1
	[ "$(stat -c %a "/dev/shm/achshm-$p-goal")" = 600 ]
	ln -sf "$tmp/precious" "/dev/shm/achshm-$p-link"
	"$ach" chmod 666 "$p-link" 2>"$tmp/err" && return 1
	[ "$(stat -c %a "$tmp/precious")" = 600 ]
}

lib_functions "$tmp/log" "$@"

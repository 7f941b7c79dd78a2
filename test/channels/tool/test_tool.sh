#!/bin/bash
# test_tool.sh: ach(1): commands and their help, old spellings, mk rm chmod dump file ls info, completion.
set -eu
. test/scripts/lib.sh

build=${BUILD:-build}
export LC_ALL=C
unset NO_COLOR
umask 022
lib_tmp
p=t-tool-$$
writers=()
cleanup() {
	local pid
	for pid in "${writers[@]}"; do { kill -9 "$pid" && wait "$pid"; } 2>/dev/null || true; done
	find /dev/shm -maxdepth 1 -name "achshm-$p-*" -printf '%f\n' | sed 's/^achshm-//' | xargs -r "$ach" rm
	rm -rf "$lib_folder"
}
trap cleanup EXIT
# Where another user can run it.
chmod 755 "$lib_folder"
cp "$build/ach" "$lib_folder/ach"
ach=$lib_folder/ach
me=$(id -un):$(id -gn)

# A program that uses channels: client.py put NAME COUNT HZ [TEXT] | wait NAME | scribble NAME OFFSET.
# Without a text: messages of type imu.
cat >"$lib_folder/client.py" <<'END'
import ctypes, os, struct, sys, time
ctypes.CDLL(None).prctl(1, 9)  # dies with the test
lib = ctypes.CDLL(os.path.abspath(sys.argv[1]))
verb, name = sys.argv[2:4]
chan = ctypes.create_string_buffer(128)
assert lib.ach_open(chan, name.encode(), None) == 0
if verb == "wait":
    lib.ach_get(chan, ctypes.create_string_buffer(65536), 65536, None, None, 1)
    sys.exit()
if verb == "scribble":
    ctypes.memset(struct.unpack_from("Q", chan)[0] + int(sys.argv[4]), 0xff, 8)
    sys.exit()
count, hz = int(sys.argv[4]), float(sys.argv[5])
for i in range(count):
    if len(sys.argv) > 6:
        message = sys.argv[6].encode()
    else:
        version, size = int(os.environ["IMU_VERSION"]), int(os.environ["IMU_SIZE"])
        message = struct.pack("<IHHIIIIQqqq", 3, version, 0, size, 1, 0, 0, i + 1, 0, time.monotonic_ns(), 0)
        message = message.ljust(size, b"\0")
    assert lib.ach_put(chan, message, len(message)) == 0
    if hz:
        time.sleep(1 / hz)
END
client() { python3 "$lib_folder/client.py" "$build/libach.so" "$@"; }
client_start() { # in the background; its pid is $client
	python3 "$lib_folder/client.py" "$build/libach.so" "$@" &
	client=$!
	writers+=("$client")
}

field() { # CHANNEL NAME: of its info
	"$ach" info "$1" --json --for 0 |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$2"
}
mode_of() { echo "$(field "$1" mode):$(stat -c %G "/dev/shm/achshm-$1")"; }

# What every message of type imu says of itself.
"$ach" mk --type imu "$p-like"
"$ach" put "$p-like" --type imu --json '{}'
like() { "$ach" echo "$p-like" | sed -n "s/^header.$1 = \\([0-9]*\\).*/\\1/p"; }
IMU_VERSION=$(like version)
IMU_SIZE=$(like size)
export IMU_VERSION IMU_SIZE
"$ach" rm "$p-like"

# ---- commands and help ----

commands='ls info echo hz plot put record play convert types mk rm chmod dump file'

listed() { # COMMAND...: prints all commands, one line each
	local name list
	list=$("$@")
	for name in $commands; do
		[ "$(grep -cE "^  $name +[a-z]" <<<"$list")" = 1 ] || { echo "$*: $name is not there"; return 1; }
	done
	[ "$(grep -c '^  [a-z]' <<<"$list")" = "$(wc -w <<<"$commands")" ]
}
lib_case list listed "$ach"
lib_case list_help listed "$ach" help
lib_case list_dashes listed "$ach" --help
lib_case list_old listed "$ach" '-?'

every_help() {
	local name
	for name in $commands; do
		lib_matches 0 "usage: ach $name *--help *" "$ach" "$name" --help || return 1
		[ "$("$ach" help "$name")" = "$("$ach" "$name" --help)" ] || return 1
	done
}
lib_case help_of_each every_help
in_page() {
	local name
	for name in $commands; do
		sed -n "/^\.\\\\\" BEGIN $name\$/,/^\.\\\\\" END $name\$/p" channels/tool/ach.1 | grep -q '^\.Ss ' ||
			{ echo "ach.1 has no section $name"; return 1; }
	done
}
lib_case page in_page

version=$(sed -n 's/^VERSION = //p' Makefile)
lib_case version lib_says 0 "ach $version" '' "$ach" --version
lib_case version_old lib_says 0 "ach $version" '' "$ach" -V
lib_case unknown lib_says 100 '' 'ach: "lss": unknown command; did you mean ls? (ach help lists them)' "$ach" lss
lib_case unknown_far lib_says 100 '' 'ach: "frobnicate": unknown command (ach help lists them)' "$ach" frobnicate
lib_case unknown_help lib_says 100 '' 'ach: "recrod": unknown command; did you mean record? (ach help lists them)' \
	"$ach" help recrod
lib_case unknown_lines lib_says 100 '' 'ach: "a?b": unknown command (ach help lists them)' "$ach" $'a\nb'
lib_case unknown_option lib_says 100 '' \
	'ach mk: --cout: unknown option; did you mean --count? (ach mk --help lists them)' "$ach" mk --cout 3 "$p-a"
full_disk() { "$ach" "$@" >/dev/full; }
if [ -e /dev/full ]; then
	lib_case full_disk lib_says 111 '' 'ach: cannot write: No space left on device' full_disk help
	lib_case full_disk_command lib_says 111 '' 'ach file: cannot write: No space left on device' \
		full_disk file "$p-a"
fi

# ---- mk, rm, file ----

lib_case file lib_says 0 "/dev/shm/achshm-$p-a" '' "$ach" file "$p-a"
lib_case file_name lib_says 111 '' \
	'ach file: "a/b": a channel name has 1 to 63 of A-Z a-z 0-9 _ . - and no dot first' "$ach" file a/b
lib_case mk lib_says 0 '' '' "$ach" mk "$p-a"
lib_case mk_defaults [ "$(field "$p-a" count) $(field "$p-a" size) $(mode_of "$p-a")" = "16 512 0644:$(id -gn)" ]
lib_case mk_exists lib_says 111 '' "ach mk: $p-a: exists already (-1 accepts that, -t replaces it)" "$ach" mk "$p-a"
lib_case mk_once lib_says 0 '' '' "$ach" mk -1 "$p-a"
lib_case mk_once_smaller lib_says 0 '' \
	"ach mk: warning: $p-a exists with 16 messages of 512 bytes, less than asked for (-t replaces it)" \
	"$ach" mk -1 "$p-a" -n 513
lib_case mk_once_kept [ "$(field "$p-a" size)" = 512 ]
client put "$p-a" 3 0 hello
lib_case mk_once_messages [ "$(field "$p-a" last_seq)" = 3 ]
lib_case mk_truncate lib_says 0 '' '' "$ach" mk -t "$p-a" -m 10 -n 64
lib_case mk_truncated [ "$(field "$p-a" count) $(field "$p-a" size) $(field "$p-a" last_seq)" = '10 64 0' ]
mk_umask() { (umask 077 && "$ach" mk "$@"); }
lib_case mk_mode lib_says 0 '' '' mk_umask "$p-mode" -o 664
lib_case mk_mode_exact [ "$(mode_of "$p-mode")" = "0664:$(id -gn)" ]
lib_case mk_umask lib_says 0 '' '' mk_umask "$p-umask" --group "$(id -gn)"
lib_case mk_umask_kept [ "$(mode_of "$p-umask")" = "0600:$(id -gn)" ]
lib_case mk_type lib_says 0 "$p-imu: 64 messages of $IMU_SIZE bytes" '' "$ach" mk -v --type imu "$p-imu"
lib_case mk_type_count lib_says 0 "$p-imu: 5 messages of $IMU_SIZE bytes" '' "$ach" mk -tv --type imu -m5 "$p-imu"
lib_case mk_type_size lib_says 100 '' \
	"ach mk: -n: $((IMU_SIZE - 1)) bytes are too few for a message of type imu: $IMU_SIZE" \
	"$ach" mk -t --type imu -n $((IMU_SIZE - 1)) "$p-imu"
lib_case mk_type_unknown lib_says 100 '' 'ach mk: --type: "imo" is not a type of message; did you mean imu?' \
	"$ach" mk --type imo "$p-b"
lib_case mk_type_far lib_matches 100 \
	'ach mk: --type: "quaternion" is not a type of message; there are joint-state, *, reply, *' \
	"$ach" mk --type quaternion "$p-b"
lib_case mk_realtime lib_says 0 '' '' "$ach" mk --realtime "$p-real"
lib_case mk_realtime_clock lib_matches 0 $'*\nclock     realtime\n*' "$ach" info --for 0 "$p-real"
lib_case mk_group lib_says 111 '' 'ach mk: --group: there is no group "no such"' "$ach" mk --group 'no such' "$p-b"
lib_case mk_group_first lib_not [ -e "/dev/shm/achshm-$p-b" ]
lib_case mk_bad_mode lib_says 100 '' 'ach mk: -o: "888" is not a mode in octal, 0 to 0777, such as 640' \
	"$ach" mk -o 888 "$p-b"
lib_case mk_bad_count lib_matches 100 'ach mk: -m: *' "$ach" mk -m many "$p-b"
lib_case mk_huge lib_says 111 '' \
	"ach mk: $p-b: 16777216 messages of 512 bytes: at most 16777216, and less than 2 GiB in all" \
	"$ach" mk -m 16777216 "$p-b"
lib_case mk_none lib_matches 100 'ach mk: NAME... is missing *' "$ach" mk
lib_case mk_name lib_says 111 '' 'ach mk: ".x": a channel name has 1 to 63 of A-Z a-z 0-9 _ . - and no dot first' \
	"$ach" mk .x
lib_case mk_several lib_says 111 '' "ach mk: $p-a: exists already (-1 accepts that, -t replaces it)" \
	"$ach" mk "$p-s1" "$p-a" "$p-s2"
lib_case rm_several lib_says 111 "$p-s1: removed
$p-s2: removed" "ach rm: $p-none-such: no such channel (ach ls lists those there are)" \
	"$ach" rm -v "$p-s1" "$p-none-such" "$p-s2"
lib_case rm_gone [ "$(compgen -G "/dev/shm/ach*-$p-s*" | wc -l)" = 0 ]
abandoned() { # a bare rm leaves the memory; --orphans takes it, but nothing that is younger than ten seconds
	"$ach" mk "$p-bare"
	rm "/dev/shm/achshm-$p-bare"
	lib_matches 0 'abandoned segments and files removed: [0-9]*' "$ach" rm -v --orphans
}
lib_case rm_orphans abandoned
lib_case rm_none lib_says 100 '' 'ach rm: which channel? give its NAME, or --orphans' "$ach" rm
lib_case rm_near lib_says 111 '' \
	"ach rm: $p-moed: no such channel; did you mean $p-mode? (ach ls lists those there are)" \
	"$ach" rm "$p-moed"
lib_case info_near lib_says 111 '' \
	"ach info: $p-moed: no such channel; did you mean $p-mode? (ach ls lists those there are)" \
	"$ach" info "$p-moed"
prefixed() { # with the prefix of its robot, which is proposed if it is not known
	"$ach" mk "$p-two-waist-state"
	lib_says 111 '' "ach echo: waist-state-$p: no such channel (ach ls lists those there are)" \
		"$ach" echo "waist-state-$p"
	lib_says 111 '' "ach echo: two-waist-state: no such channel; did you mean $p-two-waist-state? (ach ls lists \
those there are)" "$ach" echo two-waist-state
	"$ach" mk "$p-one-waist-state"
	lib_says 111 '' "ach echo: $p-one-waist-state: no message yet (--follow waits for the first)" \
		env ENDPLATE_PREFIX="$p-one-" "$ach" echo waist-state
	"$ach" rm "$p-one-waist-state" "$p-two-waist-state"
}
lib_case echo_prefixed prefixed
other_folder() { # ACH_DIR of the robot is not that of the user
	mkdir -m 700 "$lib_folder/run" "$lib_folder/channels"
	printf 'name bench\nprefix \nchannels %s\nend\n' "$lib_folder/channels" >"$lib_folder/run/robot"
	chmod 600 "$lib_folder/run/robot"
	ACH_DIR=$lib_folder/channels "$ach" mk "$p-hip-state"
	lib_says 111 '' "ach echo: $p-hip-state: no message yet (--follow waits for the first)" \
		env ENDPLATE_RUN="$lib_folder/run" "$ach" echo "$p-hip-state"
}
lib_case echo_other_folder other_folder

# ---- chmod ----

lib_case chmod lib_says 0 '' '' "$ach" chmod 640 "$p-a"
lib_case chmod_memory [ "$(mode_of "$p-a")" = "0640:$(id -gn)" ]
lib_case chmod_plate [ "$(stat -c %a "/dev/shm/achshm-$p-a")" = 640 ]
lib_case chmod_several lib_says 0 "$p-a: 0600
$p-imu: 0600" '' "$ach" chmod -v 600 "$p-a" "$p-imu"
lib_case chmod_bad lib_says 100 '' 'ach chmod: "1777" is not a mode in octal, 0 to 0777, such as 640' \
	"$ach" chmod 1777 "$p-a"
lib_case chmod_symbolic lib_says 100 '' 'ach chmod: "u+w" is not a mode in octal, 0 to 0777, such as 640' \
	"$ach" chmod u+w "$p-a"
lib_case chmod_missing lib_matches 100 'ach chmod: MODE NAME... is missing *' "$ach" chmod 600

# ---- the original's spellings ----

lib_case old_create lib_says 0 '' '' "$ach" -C "$p-old" -m 7 -n 80 -o 660
lib_case old_created [ "$(field "$p-old" count) $(field "$p-old" size) $(field "$p-old" mode)" = '7 80 0660' ]
lib_case old_exists lib_says 111 '' "ach mk: $p-old: exists already (-1 accepts that, -t replaces it)" \
	"$ach" -C "$p-old"
lib_case old_once lib_says 0 '' '' "$ach" -1C "$p-old"
lib_case old_truncate lib_says 0 '' '' "$ach" -m 8 -t -C "$p-old"
lib_case old_truncated [ "$(field "$p-old" count) $(field "$p-old" size)" = '8 512' ]
lib_case old_file lib_says 0 "/dev/shm/achshm-$p-old" '' "$ach" -F "$p-old"
lib_case old_dump [ "$("$ach" -D "$p-old" 2>/dev/null)" = "$("$ach" dump "$p-old")" ]
lib_case old_before lib_says 0 "$p-old: 3 messages of 512 bytes" '' "$ach" -v -t -m 3 mk "$p-old"
lib_case old_two lib_says 100 '' 'ach: one command at a time (ach help lists the commands)' \
	"$ach" -U "$p-old" -D "$p-old"
lib_case old_kept [ -e "/dev/shm/achshm-$p-old" ]
lib_case old_unlink lib_says 0 '' '' "$ach" -U "$p-old"
lib_case old_unlinked lib_not [ -e "/dev/shm/achshm-$p-old" ]
lib_case old_none lib_says 100 '' 'ach: what to do is missing (ach help lists the commands)' "$ach" -m 3
for name in create make MK Make CREATE; do
	lib_case "old_$name" lib_says 0 "$p-old: 7 messages of 512 bytes" '' "$ach" "$name" -v -m 7 "$p-old"
	lib_case "old_${name}_made" [ "$(field "$p-old" count)" = 7 ]
	"$ach" rm "$p-old"
done
for name in unlink remove RM Unlink; do
	"$ach" mk "$p-old"
	lib_case "old_$name" lib_says 0 "$p-old: removed" '' "$ach" "$name" -v "$p-old"
	lib_case "old_${name}_gone" lib_not [ -e "/dev/shm/achshm-$p-old" ]
done
for letter in k u a p; do
	lib_case "old_-$letter" lib_says 0 '' '' "$ach" "-$letter" mk "$p-old"
	lib_case "old_mk_-$letter" lib_says 0 '' '' "$ach" mk "-t$letter" "$p-old"
	lib_case "old_-C_-$letter" lib_says 0 '' '' "$ach" -C "$p-old" "-t$letter"
	"$ach" rm "$p-old"
done
for letter in h H '?'; do
	lib_case "old_-$letter" listed "$ach" "-$letter"
	lib_case "old_mk_-$letter" lib_matches 0 'usage: ach mk *' "$ach" mk "-$letter"
	lib_case "old_DUMP_-$letter" lib_matches 0 'usage: ach dump *' "$ach" DUMP "-$letter"
done
lib_case old_alias_help lib_matches 0 'usage: ach rm *' "$ach" help unlink
"$ach" mk "$p-old" -o 600
lib_case old_once_mode lib_says 0 '' '' "$ach" -1 -C "$p-old" -o 666
lib_case old_once_mode_changed [ "$(field "$p-old" mode)" = 0666 ]
lib_case mk_once_mode lib_says 0 '' '' "$ach" mk -1 -o 640 "$p-old"
lib_case mk_once_mode_changed [ "$(field "$p-old" mode)" = 0640 ]
lib_case mk_once_no_mode lib_says 0 '' '' "$ach" mk -1 "$p-old"
lib_case mk_once_no_mode_kept [ "$(field "$p-old" mode)" = 0640 ]
for letter in m n; do
	for zero in 0 -1; do
		refused="ach mk: -$letter: $zero is below the minimum 1*"
		lib_case "mk_-${letter}_$zero" lib_matches 100 "$refused" "$ach" mk "-$letter" "$zero" "$p-zero0"
		lib_case "old_-${letter}_$zero" lib_matches 100 "$refused" "$ach" -C "$p-zero0" "-$letter" "$zero"
	done
done
lib_case mk_zero_none lib_not [ -e "/dev/shm/achshm-$p-zero0" ]
lib_case old_unknown lib_says 100 '' 'ach mk: -Z: unknown option (ach mk --help lists them)' "$ach" -Z -C "$p-a"

# ---- dump ----

dumped() { "$ach" dump "$1" 2>/dev/null | sed 's/^id: .*/id/'; }
"$ach" mk "$p-dump" -m 4 -n 8
client put "$p-dump" 6 0 hello
lib_case dump lib_matches 0 'magic:    33656e6972486341
id
count:    4
size:     8
retained: 32 bytes
*
newest:   6
*
writer:   *' dumped "$p-dump"
lib_case dump_none lib_says 111 '' "ach dump: $p-frobnicate: no such channel (ach ls lists those there are)" \
	"$ach" dump "$p-frobnicate"

# ---- ls and info ----

"$ach" mk -t "$p-a"
"$ach" mk -t "$p-imu" --type imu -o 640
"$ach" mk "$p-foreign" -m 4 -n 8
client put "$p-foreign" 9 0 'nothing of ours'
foreign_writer=$(field "$p-foreign" writer_pid)
head -c 5000 /dev/zero >"/dev/shm/achshm-$p-zero"
"$ach" mk "$p-corrupt"
client put "$p-corrupt" 2 0 hello
# the index entry of message 2: behind 384 bytes of header, 32 bytes each; its place in the data
client scribble "$p-corrupt" $((384 + 2 * 32 + 8))

info() { "$ach" info --for 0 "$@"; }
lib_case info_empty lib_says 0 "name      $p-a
file      /dev/shm/achshm-$p-a
type      -
size      16 x 512 bytes
mode      0644 $me
messages  0, 0 retained
writer    none yet
lock      free
waiting   no
clock     monotonic
you may   read and write" '' info "$p-a"
lib_case info_foreign lib_says 0 "name      $p-foreign
file      /dev/shm/achshm-$p-foreign
type      - (15 bytes are not an Endplate message)
size      4 x 8 bytes
mode      0644 $me
messages  9, 2 retained
newest    15 bytes
writer    $foreign_writer, dead
lock      free
waiting   no
clock     monotonic
you may   read and write" '' info "$p-foreign"
lib_case info_empty_json lib_says 0 "{\"name\":\"$p-a\",\"count\":16,\"size\":512,\"mode\":\"0644\",\"type\":null,\
\"last_seq\":0,\"age_ns\":null,\"rate_hz\":0,\"writer_pid\":null}" '' "$ach" info "$p-a" --json --for 1ms
lib_case info_foreign_json lib_says 0 "{\"name\":\"$p-foreign\",\"count\":4,\"size\":8,\"mode\":\"0644\",\"type\":null,\
\"last_seq\":9,\"age_ns\":null,\"rate_hz\":null,\"writer_pid\":$foreign_writer}" '' info "$p-foreign" --json
lib_case info_zero lib_says 111 '' "ach info: /dev/shm/achshm-$p-zero is not a channel, or not a whole one" \
	info "$p-zero"
lib_case info_corrupt lib_says 111 '' "ach info: $p-corrupt: corrupt: an index entry is not sound" info "$p-corrupt"
lib_case info_two lib_matches 100 'ach info: * one argument too many' "$ach" info "$p-a" "$p-imu"
lib_case info_for lib_says 100 '' 'ach info: --for: "long" is not a duration such as 5ms' "$ach" info "$p-a" --for long

# What is stable of the table: blanks folded.
fold() { "$@" | tr -s ' ' | sed 's/ $//'; }
lib_case ls lib_says 0 "NAME TYPE SIZE MODE OWNER MESSAGES RATE AGE WRITER ALIVE
$p-a - 16 x 512 0644 $me 0 - - - -
$p-corrupt - - 0644 $me corrupt: an index entry is not sound
$p-foreign - 4 x 8 0644 $me 9 - - $foreign_writer no
$p-zero - - 0644 $me not a channel, or not a whole one" '' \
	fold "$ach" ls --for 0 "$p-[acfz]*"
lib_case ls_rate_zero lib_says 0 "NAME TYPE SIZE MODE OWNER MESSAGES RATE AGE WRITER ALIVE
$p-a - 16 x 512 0644 $me 0 0 Hz - - -" '' fold "$ach" ls --for 1ms "$p-a"
aligned() { # every line of the table of good channels has its last column at the same place
	local table
	table=$("$ach" ls --for 0 "$p-a" "$p-foreign" "$p-imu")
	[ "$(awk '{ print match($0, /(ALIVE|yes|no|-)$/) }' <<<"$table" | sort -u | wc -l)" = 1 ] &&
		[ "$(wc -l <<<"$table")" = 4 ]
}
lib_case ls_aligned aligned
lib_case ls_plain lib_not grep -q $'\033' <("$ach" ls --for 0 "$p-*")
lib_case ls_none lib_says 111 '' "ach ls: $p-nil*: no channel of that name" "$ach" ls --for 0 "$p-nil*"
lib_case ls_none_json lib_says 111 '[]' "ach ls: $p-nil*: no channel of that name" "$ach" ls --json --for 0 "$p-nil*"
lib_case ls_one_none lib_matches 111 "*: no channel of that name*$p-a *" "$ach" ls --for 0 "$p-nil" "$p-a"
lib_case ls_json lib_says 0 "[{\"name\":\"$p-corrupt\",\"mode\":\"0644\",\
\"error\":\"corrupt: an index entry is not sound\"},
 {\"name\":\"$p-foreign\",\"count\":4,\"size\":8,\"mode\":\"0644\",\"type\":null,\"last_seq\":9,\"age_ns\":null,\
\"rate_hz\":null,\"writer_pid\":$foreign_writer,\"writer_alive\":false}]" '' "$ach" ls --json --for 0 "$p-[cf]*"
all_of_them() { # without a pattern, names in order
	"$ach" ls --for 0 >"$lib_folder/all"
	for name in a corrupt foreign imu zero; do
		grep -q "^$p-$name " "$lib_folder/all" || return 1
	done
	grep "^$p" "$lib_folder/all" | cut -d' ' -f1 | sort -c
}
lib_case ls_all all_of_them

# a live writer of messages of ours
client_start put "$p-imu" 1000000 100
writer=$client
published() { [ "$(field "$p-imu" last_seq)" -gt 0 ]; }
lib_case live lib_until published
lib_case live_ls lib_matches 0 "*
$p-imu imu 64 x $IMU_SIZE 0640 $me [0-9]* [0-9]* Hz [0-9]* [mun]s $writer yes" fold "$ach" ls "$p-imu"
lib_case live_info lib_matches 0 "*
type      imu, version $IMU_VERSION
size      64 x $IMU_SIZE bytes
mode      0640 $me
messages  *
newest    $IMU_SIZE bytes
rate      [1-9]* Hz
age       [0-9]*s
writer    $writer, alive: python3
*" "$ach" info "$p-imu"
live_json() {
	"$ach" info "$p-imu" --json | python3 -c '
import json, sys
got = json.load(sys.stdin)
assert list(got) == "name count size mode type last_seq age_ns rate_hz writer_pid".split(), got
assert (got["type"], got["count"], got["size"], got["mode"]) == ("imu", 64, int(sys.argv[2]), "0640"), got
assert got["writer_pid"] == int(sys.argv[1]) and got["last_seq"] > 0, got
assert 0 <= got["age_ns"] < 20e9 and 0 < got["rate_hz"] <= 110, got
' "$writer" "$IMU_SIZE"
}
lib_case live_json live_json
lib_case looking_wakes_no_waiter lib_matches 0 $'*\nwaiting   no\n*' info "$p-imu"
{ kill -9 "$writer" && wait "$writer"; } 2>/dev/null || true
lib_case dead lib_matches 0 "*
writer    $writer, dead
*" info "$p-imu"

client_start wait "$p-a"
waited_for() { info "$p-a" | grep -q "^waiting   yes$"; }
lib_case waiting lib_until waited_for
client put "$p-a" 1 0 hello
lib_case waiting_no_more lib_not waited_for

# ---- who may not ----

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	stranger() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	refused="permission denied: the channel is 0640 $me"
	lib_case stranger_info lib_says 111 '' "ach info: $p-imu: $refused" stranger "$ach" info "$p-imu"
	lib_case stranger_dump lib_says 111 '' "ach dump: $p-imu: $refused" stranger "$ach" dump "$p-imu"
	lib_case stranger_rm lib_says 111 '' "ach rm: $p-imu: $refused" stranger "$ach" rm "$p-imu"
	lib_case stranger_chmod lib_says 111 '' "ach chmod: $p-a: permission denied: the channel is 0644 $me" \
		stranger "$ach" chmod 666 "$p-a"
	lib_case stranger_mk lib_says 111 '' "ach mk: $p-g: you may not make a channel of group root" \
		stranger "$ach" mk "$p-g" --group root
	lib_case stranger_reads lib_matches 0 $'*\nyou may   read' stranger "$ach" info --for 0 "$p-a"
	client_start put "$p-a" 1000000 20 hello
	foreign_alive() { stranger "$ach" info --for 0 "$p-a" | grep -q "^writer    $client, alive"; }
	lib_case stranger_alive lib_until foreign_alive
	lib_case stranger_ls lib_says 0 "NAME TYPE SIZE MODE OWNER MESSAGES RATE AGE WRITER ALIVE
$p-imu - - 0640 $me permission denied" '' fold stranger "$ach" ls --for 0 "$p-imu"
else
	lib_ignore strangers 'needs root and setpriv'
fi

# ---- a terminal ----

on_terminal() { # COLUMNS COMMAND...: what it prints on a terminal that wide
	local columns=$1
	shift
	TERM=xterm script -qec "stty cols $columns; $*" /dev/null </dev/null | tr -d '\r'
}
if command -v script >/dev/null; then
	colours() { on_terminal 200 "$ach ls --for 0 $p-foreign"; }
	lib_case colours lib_matches 0 $'*\033\\[4mNAME\033\\[0m*\033\\[31mno\033\\[0m*' colours
	no_colours() { NO_COLOR=1 colours | grep -q $'\033'; }
	lib_case no_colours lib_not no_colours
	dumb() { on_terminal 200 "TERM=dumb $ach ls --for 0 $p-foreign" | grep -q $'\033'; }
	lib_case dumb lib_not dumb
	narrow() { # no line is longer than the terminal, the rest is as good as it gets
		local lines
		lines=$(NO_COLOR=1 on_terminal "$1" "$ach ls --for 0 $p-foreign")
		[ "$(head -1 <<<"$lines" | tr -s ' ')" = "$2" ] && [ "$(wc -L <<<"$lines")" -le "$1" ] && return
		echo "$lines"
		return 1
	}
	name=${#p}
	lib_case wide narrow $((name + 100)) 'NAME TYPE SIZE MODE OWNER MESSAGES RATE AGE WRITER ALIVE'
	owner() { NO_COLOR=1 on_terminal "$1" "$ach ls --for 0 $p-foreign" | grep -q " $me "; }
	lib_case wide_owner owner $((name + 100))
	lib_case narrow_owner lib_not owner $((name + 70))
	lib_case narrow_mode narrow $((name + 64)) 'NAME TYPE SIZE MODE MESSAGES RATE AGE WRITER ALIVE'
	lib_case narrower narrow $((name + 57)) 'NAME TYPE SIZE MESSAGES RATE AGE WRITER ALIVE'
else
	lib_ignore terminal 'needs script(1)'
fi

# ---- completion ----

completes() { # EXPECTED WORD...: the words for the last one
	local expected=$1 got
	shift
	got=$(
		PATH=$lib_folder:$PATH
		# shellcheck disable=SC2317 # by the file below
		complete() { :; }
		. channels/tool/ach.bash
		COMP_WORDS=(ach "$@")
		COMP_CWORD=$#
		_ach
		echo "${COMPREPLY[*]}"
	)
	[ "$got" = "$expected" ] && return
	echo "$*: $got"
	return 1
}
lib_case complete_command completes 'record rm' r
lib_case complete_commands completes "$commands help" ''
lib_case complete_help completes 'convert chmod' help c
lib_case complete_channel completes "$p-foreign" info "$p-f"
lib_case complete_second completes "$p-foreign" rm "$p-a" "$p-f"
lib_case complete_option completes '--type --truncate' mk --t
lib_case complete_type completes 'joint-state joint-ref' mk --type j
lib_case complete_types completes 'joint-state joint-ref' types j
lib_case complete_types_option completes '--json' types --j
lib_case complete_chmod completes '' chmod "$p"
lib_case complete_chmod_name completes "$p-foreign" chmod 600 "$p-f"
lib_case complete_file completes "$lib_folder/ach" play "$lib_folder/ac"
registered() { bash -c '. channels/tool/ach.bash && complete -p ach'; }
lib_case registered lib_says 0 'complete -F _ach ach' '' registered

lib_end

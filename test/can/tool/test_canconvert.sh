#!/bin/bash
# test_canconvert.sh: what canconvert refuses, leaves out and says; test_log_python.sh has its formats.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh

export LC_ALL=C TZ=UTC
lib_tmp
convert=$build/canconvert
page=$PWD/can/tool/canconvert.1
cd "$lib_folder"

# What becomes of a frame: LINE SUFFIX TEXT BACK
refused_unless_lenient() {
	local name='' file=out.$2
	case $2 in
	asc) name='Vector ASC' ;;
	trc) name='PCAN TRC' ;;
	blf) name='Vector BLF' ;;
	csv) name='CSV of python-can' ;;
	ixxat.csv) name='CSV of IXXAT' ;;
	pcap) name='pcap of SocketCAN' ;;
	esac
	rm -f "$file"
	printf '(1700000000.000000) can0 123#11\n%s\n' "$1" >in.log
	lib_matches 111 "canconvert: $file: $name has no place for $3: choose another format, or --lenient *" \
		"$convert" in.log "$file" || return 1
	[ ! -e "$file" ] || return 1
	lib_matches 0 "canconvert: $file: $name has no place for $3: *
canconvert: * frames written, * left out: 0 damaged, *" "$convert" --lenient in.log "$file" || return 1
	[ "$("$convert" "$file" - | sed 1d | cut -d' ' -f2-)" = "$4" ]
}

# ---- what a format has no place for ----

details='which error an error frame is about'
for suffix in asc trc blf csv; do
	for frame in 20000004#0004000000000000 20000080#0000020000000000; do
		lib_case "details_${suffix}_$frame" refused_unless_lenient "(1700000000.000001) can0 $frame" $suffix \
			"$details" 'can0 20000080#0000000000000000'
	done
	printf '(1700000000.000000) can0 20000080#0000000000000000\n(1700000000.000000) can0 20000080#\n' >plain.log
	lib_case "error_without_details_$suffix" lib_says 0 '' '' "$convert" plain.log plain.$suffix
done
for suffix in pcap pcapng log; do
	printf '(1700000000.000000) can0 20000004#0004000000000000\n' >kept.log
	lib_case "details_kept_$suffix" lib_says 0 '' '' "$convert" --force kept.log again.$suffix
	lib_case "details_read_$suffix" lib_says 0 "$(<kept.log)" '' "$convert" again.$suffix -
done
for suffix in csv ixxat.csv; do
	lib_case "fd_$suffix" refused_unless_lenient '(1700000000.000001) can0 123##511' $suffix 'CAN FD frames' ''
done
lib_case errors_ixxat refused_unless_lenient '(1700000000.000001) can0 20000080#0000000000000000' ixxat.csv \
	'error frames' ''
for suffix in csv ixxat.csv pcap; do
	lib_case "second_bus_$suffix" refused_unless_lenient '(1700000000.000001) can1 124#' $suffix \
		'more than one bus' 'can0 124#'
	lib_case "sent_$suffix" refused_unless_lenient '(1700000000.000001) can0 124# T' $suffix \
		'frames that were sent' 'can0 124#'
done
for suffix in asc trc blf; do
	lib_case "past_$suffix" refused_unless_lenient '(1699999998.000000) can0 124# R' $suffix \
		'times before that of the first frame' 'can0 124# R'
done

# Everything that a frame loses is said, not only the first of it.
printf '(1.0) can0 100#\n(2.0) can1 101# T\n(3.0) can1 20000004#0000000000000000\n' >much.log
lossy='canconvert: much.csv: CSV of python-can has no place for'
without='the frames are written without'
lib_case all_losses lib_says 0 '' "$lossy more than one bus: $without
$lossy frames that were sent: $without
$lossy $details: $without
canconvert: 3 frames written, 2 of them incomplete; left out: 0 damaged, 0 without a place" \
	"$convert" --lenient much.log much.csv

# Names.
printf '(1.0) vcan0 100#\n(2.0) can0 101#\n' >names.log
lib_case names lib_says 0 '' 'canconvert: names.blf: Vector BLF has no names of buses: vcan0 is its channel 1
canconvert: names.blf: Vector BLF has no names of buses: can0 is its channel 2' \
	"$convert" names.log names.blf
printf '(1.0) vcan7 100#\n' >name.log
lib_case name lib_says 0 '' 'canconvert: name.csv: CSV of python-can has no names of buses: vcan7 is written without' \
	"$convert" name.log name.csv

# ---- damage ----

printf '(1.0) can0 100#\n(x) can0 101#\n(3.0) can0 102#\n(y) can0 103#\n' >damaged.log
damage='canconvert: damaged.log:2: *
canconvert: damaged.log:4: *
canconvert: damaged.log: damaged in 2 places: --lenient leaves those out'
test_damage_writes_nothing() {
	lib_matches 111 "$damage" "$convert" damaged.log out.log
	[ ! -e out.log ]
}
# All damage is reported, but no frame behind it is written.
test_damage_ends_standard_output() {
	local status=0
	"$convert" damaged.log - >stdout 2>stderr || status=$?
	[ "$status" -eq 111 ]
	# shellcheck disable=SC2053 # a pattern
	[[ $(<stderr) == $damage ]]
	[ "$(<stdout)" = '(0000000001.000000) can0 100#' ]
}
test_lenient() {
	lib_matches 0 '*canconvert: 2 frames written, 0 of them incomplete; left out: 2 damaged, 0 without a place' \
		"$convert" --lenient damaged.log lenient.log
	[ "$(cut -d' ' -f3 lenient.log)" = $'100#\n102#' ]
}

# Containers are larger than the buffers: a damaged one gives none of its frames, one that is cut off those it has.
test_damaged_container() {
	python3 -c '
import random
random.seed(1)
for n in range(4000):
    print(f"(17000{n:05}.000000) can0 {n % 0x800:03X}#{random.randbytes(8).hex().upper()} R")' >many.log
	"$convert" many.log many.blf
	for part in 3 10 33 50 80 95; do
		python3 - "$part" <<-'PYTHON'
			import sys
			data = bytearray(open("many.blf", "rb").read())
			packed = int.from_bytes(data[152:156], "little") - 32
			at = 176 + packed * int(sys.argv[1]) // 100
			open("cut.blf", "wb").write(data[:at])
			data[at] ^= 0x10
			open("bad.blf", "wb").write(data)
		PYTHON
		lib_matches 0 'canconvert: bad.blf: record 1: the compressed data of a container is damaged: what *
canconvert: 0 frames written, 0 of them incomplete; left out: 1 damaged, 0 without a place' \
			"$convert" --lenient --force bad.blf bad.log
		lib_matches 0 'canconvert: cut.blf: record *: a container is cut off: what follows is lost*' \
			"$convert" --lenient --force cut.blf cut.log
		[ "$(wc -l <cut.log)" -ge $((part * 20)) ]
		head -n "$(wc -l <cut.log)" many.log | cmp - cut.log
	done
}

# ---- the files ----

test_existing_file_is_refused() {
	echo old >exists.log
	lib_says 111 '' 'canconvert: exists.log: the file exists: remove it, or --force replaces it' \
		"$convert" plain.log exists.log
	[ "$(<exists.log)" = old ]
}
test_force_replaces() {
	echo old >exists.log
	"$convert" --force plain.log exists.log
	[ "$(cut -d' ' -f3 exists.log | cut -d'#' -f1)" = $'20000080\n20000080' ]
	[ ! -e exists.log.new ]
}
# A conversion that fails leaves the old file.
test_force_keeps_the_old_file() {
	echo old >exists.log
	lib_not "$convert" --force damaged.log exists.log
	[ "$(<exists.log)" = old ]
	[ ! -e exists.log.new ]
}
test_full_disk() {
	local status=0
	"$convert" plain.log - >/dev/full 2>stderr || status=$?
	[ "$status $(<stderr)" = '111 canconvert: standard output: unable to write: No space left on device' ]
}
lib_case same_file lib_says 100 '' 'canconvert: plain.log: IN and OUT are the same file' "$convert" plain.log plain.log
lib_case suffix lib_matches 100 \
	'canconvert: x.mp3: the suffix decides the format: use one of .log, .asc, .trc, .csv, *' \
	"$convert" plain.log x.mp3

test_page() {
	diff <("$convert" --help | grep -oE '^  (-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort) \
		<(grep -oE '\bFl -[a-z-]+' "$page" | sed 's/Fl /-/' | sort -u)
}
lib_functions "$lib_folder/log" "${1:-}"

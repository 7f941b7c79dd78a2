#!/bin/bash
# test_log_python.sh: our readers and writers of logs against those of python-can, gzip, zstd and tshark, on thousands
# of random frames of every kind.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh

export LC_ALL=C TZ=UTC
lib_tmp
convert=$build/canconvert
seed=${TEST_SEED:-$RANDOM}
python() { /usr/bin/python3 test/can/log/log_python.py "$@"; }

# That of Debian has its packages; not in this folder, whose can/ is another one.
if ! (cd / && /usr/bin/python3 -c "import can; can.Logger") 2>/dev/null; then
	lib_ignore log_python "python3-can is not installed"
	lib_end
	exit
fi
echo "TEST_SEED=$seed"

# As log_python.py prints frames.
since_first() { # [SAME]: same directions and buses, else - stands for them
	python3 -c 'import sys
first = None
for line in sys.stdin:
    word = line.split()
    us = int(word[0][1:-1].replace(".", ""))
    first = us if first is None else first
    print(us - first, word[1], word[2], word[3] if len(word) > 3 else "-")'
}

# Times of python-can are floats, which differ by a microsecond.
same() { # EXPECTED GOT
	python3 - "$1" "$2" <<-'PYTHON'
		import sys
		a, b = ([line.split() for line in open(name)] for name in sys.argv[1:])
		for n, (x, y) in enumerate(zip(a, b), 1):
		    if x[1:] != y[1:] or abs(int(x[0]) - int(y[0])) > 1:
		        sys.exit(f"frame {n}: expected {' '.join(x)}, got {' '.join(y)}")
		if len(a) != len(b) or not a:
		    sys.exit(f"expected {len(a)} frames, got {len(b)}")
	PYTHON
}

read_theirs() { # FORMAT SUFFIX
	python make "$1" "$lib_folder/theirs.$2" "$seed" >"$lib_folder/expected" || return 1
	"$convert" "$lib_folder/theirs.$2" - >"$lib_folder/ours" || return 1
	since_first <"$lib_folder/ours" >"$lib_folder/got"
	same "$lib_folder/expected" "$lib_folder/got"
}

# They drop frames of ours: in a TRC all but data frames, in ASC the kind of a CAN FD frame without data.
write_ours() { # FORMAT
	python frames "$1" "$seed" >"$lib_folder/frames.log"
	[ "$1" != csv ] || sed -i -E 's/\) can[0-9]/) can0/; s/ [RT]$//' "$lib_folder/frames.log"
	[ "$1" != asc ] || sed -i -E '/##[0-7]( [RT])?$/d' "$lib_folder/frames.log"
	"$convert" --force "$lib_folder/frames.log" "$lib_folder/ours.$1" || return 1
	since_first <"$lib_folder/frames.log" >"$lib_folder/expected"
	case $1 in
	log) sed -i -E 's/ can[0-9] (20000080#.*)/ - \1/' "$lib_folder/expected" ;;
	csv) sed -i -E 's/ can0 (.*) -$/ - \1 R/; s/(20000080#.*) R$/\1 -/' "$lib_folder/expected" ;;
	asc) sed -i -E 's/ can[0-9] (.*##)/ - \1/; s/ - (.*##)/ - \1/' "$lib_folder/expected" ;;
	esac
	python read "$lib_folder/ours.$1" >"$lib_folder/got" || return 1
	[ "$1" != asc ] || sed -i -E 's/ can[0-9] (.*##)/ - \1/' "$lib_folder/got"
	same "$lib_folder/expected" "$lib_folder/got"
}

# To any format that keeps everything, and back: the same file.
there_and_back() { # SUFFIX
	python frames log "$seed" >"$lib_folder/frames.log"
	"$convert" --force "$lib_folder/frames.log" "$lib_folder/there.$1" || return 1
	"$convert" "$lib_folder/there.$1" - >"$lib_folder/back.log" || return 1
	cmp "$lib_folder/frames.log" "$lib_folder/back.log"
}

# One bus, nothing known of directions.
pcap_there_and_back() {
	python frames log "$seed" | sed -E 's/\) can[0-9]/) can0/; s/ [RT]$//' >"$lib_folder/one.log"
	"$convert" --force "$lib_folder/one.log" "$lib_folder/one.pcap" || return 1
	"$convert" "$lib_folder/one.pcap" - | cmp "$lib_folder/one.log"
}

# IXXAT's CSV has no date either; remote and data frames only.
ixxat_there_and_back() {
	python frames log "$seed" | sed -E '/##|20000080#/d; s/\) can[0-9]/) can0/; s/ [RT]$//' >"$lib_folder/one.log"
	"$convert" --force "$lib_folder/one.log" "$lib_folder/one.ixxat.csv" || return 1
	"$convert" "$lib_folder/one.ixxat.csv" - | since_first >"$lib_folder/got"
	since_first <"$lib_folder/one.log" >"$lib_folder/expected"
	[ "$(wc -l <"$lib_folder/got")" -gt 1000 ] && cmp "$lib_folder/expected" "$lib_folder/got"
}

gzip_reads_ours() {
	there_and_back log.gz && gzip -dc "$lib_folder/there.log.gz" | cmp "$lib_folder/frames.log"
}
zstd_reads_ours() {
	there_and_back log.zst && zstd -qdc "$lib_folder/there.log.zst" | cmp "$lib_folder/frames.log"
}
# Several members, as rotated logs that were put together.
gzip_members() {
	python frames log "$seed" >"$lib_folder/frames.log"
	{ head -n 1000 "$lib_folder/frames.log" | gzip -c; tail -n +1001 "$lib_folder/frames.log" | gzip -c; } \
		>"$lib_folder/two.log.gz"
	"$convert" "$lib_folder/two.log.gz" - | cmp "$lib_folder/frames.log"
}

# A byte less than there should be is said, and is an error.
cut_short() { # SUFFIX TEXT
	local status=0
	there_and_back "$1" || return 1
	head -c -"${3:-9}" "$lib_folder/there.$1" >"$lib_folder/cut.$1"
	"$convert" --force "$lib_folder/cut.$1" "$lib_folder/out.log" 2>"$lib_folder/stderr" || status=$?
	[ "$status" -eq 111 ] && [ ! -e "$lib_folder/out.log" ] || return 1
	grep -q "^canconvert: $lib_folder/cut.$1.*$2" "$lib_folder/stderr" || { cat "$lib_folder/stderr"; return 1; }
	"$convert" --lenient "$lib_folder/cut.$1" "$lib_folder/out.log" 2>/dev/null || return 1
	head -n "$(wc -l <"$lib_folder/out.log")" "$lib_folder/frames.log" | cmp - "$lib_folder/out.log"
	rm "$lib_folder/out.log"
}

tshark_reads_ours() { # SUFFIX
	local file=$lib_folder/one.$1
	python frames log "$seed" | sed -E 's/\) can[0-9]/) can0/; s/ [RT]$//; /20000080#/d' >"$lib_folder/one.log"
	"$convert" --force "$lib_folder/one.log" "$file" || return 1
	tshark -r "$file" -T fields -e frame.time_epoch -e can.id -e can.flags.xtd -e can.flags.rtr -e can.len \
		>"$lib_folder/theirs" 2>/dev/null || return 1
	python3 - "$lib_folder/one.log" "$lib_folder/theirs" <<-'PYTHON'
		import re, sys
		ours = [line.split() for line in open(sys.argv[1])]
		theirs = [line.split() for line in open(sys.argv[2])]
		assert len(ours) == len(theirs) > 1000, (len(ours), len(theirs))
		for (t, _, text), row in zip(ours, theirs):
		    ident, rest = text.split("#", 1)
		    remote = rest.startswith("R")
		    size = int(rest[1:] or 0) if remote else len(rest[2:] if rest.startswith("#") else rest) // 2
		    want = [float(t[1:-1]), int(ident, 16), len(ident) == 8, size]
		    fd = rest.startswith("#")
		    got = [float(row[0]), int(row[1], 0), row[2] in ("1", "True"), int(row[-1])]
		    assert abs(want[0] - got[0]) < 1e-6 and want[1:] == got[1:], (want, row)
	PYTHON
}

for form in log asc blf trc csv; do
	lib_case "read_$form" read_theirs $form $form
	lib_case "write_$form" write_ours $form
done
lib_case read_trc_1.0 read_theirs trc1 trc
for form in asc blf trc pcapng mcap; do
	lib_case "${form}_there_and_back" there_and_back $form
done
lib_case pcap_there_and_back pcap_there_and_back
lib_case ixxat_there_and_back ixxat_there_and_back
lib_case gzip_reads_ours gzip_reads_ours
lib_case zstd_reads_ours zstd_reads_ours
lib_case gzip_members gzip_members
lib_case pcapng_zst there_and_back pcapng.zst
lib_case cut_gzip cut_short log.gz 'the gzip data is cut off'
lib_case cut_zstd cut_short log.zst 'the zstd data is '
lib_case cut_pcapng cut_short pcapng 'record [0-9]*: the block is cut off'
if command -v tshark >/dev/null; then
	lib_case tshark_pcap tshark_reads_ours pcap
	lib_case tshark_pcapng tshark_reads_ours pcapng
fi
lib_end

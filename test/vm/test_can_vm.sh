#!/bin/bash
# test_can_vm.sh: scripts/can-vm and test/vm/run themselves: what they say when they cannot, what they fetch and how
# often, how they end, what counts as failed and what as skipped.  Mostly with a QEMU and an apt that are not real.
# shellcheck disable=SC2317 # called by name
# limit: 600 s
set -eu
. test/scripts/lib.sh
lib_tmp
can_vm=$PWD/scripts/can-vm
runner=$PWD/test/vm/run
fake=$lib_folder/fake cache=$lib_folder/cache
unset XDG_CACHE_HOME
mkdir "$fake" "$lib_folder/here"

plant() { # NAME: a program, from standard input, found before the real one
	{ echo '#!/bin/bash'; cat; } >"$lib_folder/planted"
	chmod +x "$lib_folder/planted"
	mv "$lib_folder/planted" "$fake/$1"
}
with_fakes() { PATH=$fake:$PATH "$@"; }

# STATUS PATTERN COMMAND...: that, and one line that matches on standard error, nothing on standard output
refuses() {
	local status=$1 pattern=$2 got=0 out err

	shift 2
	out=$("$@" 2>"$lib_folder/err") || got=$?
	err=$(<"$lib_folder/err")
	# shellcheck disable=SC2053 # a pattern
	[[ $got == "$status" && -z $out && $err == $pattern && $(wc -l <"$lib_folder/err") == 1 ]] && return
	printf '%s\n' "expected $status: $pattern" "got $got: $out" "$err"
	return 1
}

# STATUS LINE COMMAND...: the last line of what it prints
ends() {
	local status=$1 line=$2 got=0 out

	shift 2
	out=$("$@" 2>&1) || got=$?
	[ "$got" -eq "$status" ] && [ "$(tail -n 1 <<<"$out")" = "$line" ] && return
	printf '%s\n' "expected $status: $line" "got $got: $out"
	return 1
}

# ---- what it refuses ----

test_no_command() { refuses 125 'can-vm: no command to run; try --help' "$can_vm"; }
test_no_option() { refuses 125 'can-vm: there is no option --fast; try --help' "$can_vm" --fast -- true; }
test_no_value() { refuses 125 'can-vm: --smp wants a value; try --help' "$can_vm" --smp; }
test_no_number() { refuses 125 "can-vm: --timeout wants a number, not 'soon'" "$can_vm" --timeout soon -- true; }
test_zero() { refuses 125 "can-vm: --smp wants a number, not '0'" "$can_vm" --smp=0 -- true; }
test_no_share() { refuses 125 'can-vm: --share: there is no directory /no/such' "$can_vm" --share /no/such -- true; }
test_root() { refuses 125 'can-vm: / cannot be shared for writing*' "$can_vm" --share / -- true; }

test_help() {
	local option

	"$can_vm" --help >"$lib_folder/help"
	grep -oE '^	+(--[a-z-]+( \| )?)+' "$can_vm" | grep -oE -- '--[a-z-]+' | sort -u >"$lib_folder/options"
	[ "$(wc -l <"$lib_folder/options")" -ge 15 ]
	while read -r option; do
		grep -qE -- "^  $option\b" "$lib_folder/help" || { echo "$option is not in --help"; return 1; }
	done <"$lib_folder/options"
	[ "$(wc -L <"$lib_folder/help")" -le 110 ]
}

test_other_machine() {
	rm -f "$fake"/*
	plant uname <<<'echo riscv64'
	refuses 125 'can-vm: knows aarch64 and x86_64, not riscv64' with_fakes "$can_vm" -- true
}

# ---- what it fetches ----

# An apt with one kernel of version 1.2.3, which notes what is fetched.
plant_apt() {
	rm -f "$fake"/*
	plant apt-cache <<'END'
case $3 in
linux-image-*) echo "  Depends: linux-image-1.2.3" ;;
linux-headers-*) printf '  Depends: %s\n' linux-headers-1.2.3-common linux-kbuild-1.2 gcc ;;
esac
END
	plant apt-get <<END
echo "\$*" >>"$lib_folder/fetched"
for name; do
	case \$name in linux-*) touch "\$name.deb"; sleep 0.1 ;; esac
done
END
	plant dpkg-deb <<'END'
case $2 in
*image*) mkdir -p "$3"/{boot,lib/modules/1.2.3/kernel/sound} && echo kernel >"$3/boot/vmlinuz-1.2.3" ;;
*headers-1.2.3.deb) mkdir -p "$3/usr/src/linux-headers-1.2.3" &&
	echo 'include /usr/src/linux-headers-1.2.3-common/Makefile' >"$3/usr/src/linux-headers-1.2.3/Makefile" ;;
*common.deb) mkdir -p "$3/usr/src/linux-headers-1.2.3-common" &&
	echo 'all: ; @echo the other half' >"$3/usr/src/linux-headers-1.2.3-common/Makefile" ;;
esac
END
	for name in depmod modprobe "qemu-system-$(uname -m)"; do
		plant "$name" </dev/null
	done
	rm -rf "$cache" "$lib_folder/fetched"
}

test_fetched_once() {
	local i pids=()

	plant_apt
	for i in 1 2 3; do
		with_fakes "$can_vm" --cache "$cache" --prepare >"$lib_folder/version$i" &
		pids+=($!)
	done
	wait "${pids[@]}"
	[ "$(cat "$lib_folder"/version?)" = $'1.2.3\n1.2.3\n1.2.3' ]
	cat "$lib_folder/fetched"
	[ "$(grep -c linux-image "$lib_folder/fetched")" = 1 ]
	[ "$(grep -c linux-headers "$lib_folder/fetched")" = 1 ]
	[ -z "$(ls -d "$cache"/new.* 2>/dev/null)" ]
}

# PACKER: a kernel as it comes from Debian, a bzImage, but packed with that.
plant_bzimage() {
	plant_apt
	echo 'the kernel' | "$1" | python3 -c '
import struct, sys
packed = sys.stdin.buffer.read() + bytes(4)
head = bytearray(1040)
head[0x1f1] = 1
head[0x202:0x206] = b"HdrS"
struct.pack_into("<II", head, 0x248, 16, len(packed))
sys.stdout.buffer.write(head + packed + b"more")' >"$lib_folder/bzImage"
	plant dpkg-deb <<<"mkdir -p \$3/{boot,lib/modules/1.2.3/kernel}; cp $lib_folder/bzImage \$3/boot/vmlinuz-1.2.3"
	with_fakes "$can_vm" --cache "$cache" --prepare
}

test_kernel_is_unpacked() {
	plant_bzimage xz
	[ "$(cat "$cache"/*/vmlinux)" = 'the kernel' ]
	plant_bzimage gzip # it unpacks itself, as before
	[ -e "$(echo "$cache"/*/vmlinuz)" ] && [ ! -e "$(echo "$cache"/*/vmlinux)" ]
}

# The half that the package includes from where it would be installed is found.
test_headers() {
	local folder

	plant_apt
	folder=$(with_fakes "$can_vm" --cache "$cache" --headers)
	[ "$(make -sC "$folder")" = 'the other half' ]
}

test_cached_goes_on() {
	plant_apt
	with_fakes "$can_vm" --cache "$cache" --prepare >/dev/null
	plant apt-cache <<<'echo "  Depends: linux-image-9.9.9"'
	plant apt-get <<<'exit 100'
	ends 0 1.2.3 with_fakes "$can_vm" --cache "$cache" --prepare
	with_fakes "$can_vm" --cache "$cache" --headers
}

test_no_headers() {
	plant_apt
	with_fakes "$can_vm" --cache "$cache" --prepare >/dev/null
	rm -r "$cache"/*/headers
	plant apt-get <<<'echo "E: Unable to locate package" >&2; exit 100'
	refuses 125 'can-vm: cannot fetch linux-headers-1.2.3: E: Unable to locate package; if apt has moved on, *' \
		with_fakes "$can_vm" --cache "$cache" --headers
	ends 0 1.2.3 with_fakes "$can_vm" --cache "$cache" --prepare
}

test_no_network() {
	plant_apt
	plant apt-get <<<'echo "E: Failed to fetch it" >&2; exit 100'
	refuses 125 "can-vm: cannot fetch linux-image-1.2.3 into $cache: E: Failed to fetch it" \
		with_fakes "$can_vm" --cache "$cache" --prepare
	plant apt-cache </dev/null
	refuses 125 'can-vm: apt knows no linux-image-*' with_fakes "$can_vm" --cache "$cache" --prepare
}

test_no_qemu() {
	local name

	plant_apt
	rm "$fake"/qemu-*
	plant apt-get <<<'exit 100'
	for name in cat env id realpath uname; do # no other program is found
		plant "$name" <<<"exec $(command -v "$name") \"\$@\""
	done
	refuses 125 'can-vm: cannot install what it needs; as root: apt-get install qemu-system-*' \
		env "PATH=$fake" "$can_vm" --cache "$cache" --prepare
}

# ---- how it ends ----

# A machine that never comes up; that it does not under KVM is known, else can-vm would try that for 20 s.
start_machine() {
	plant_apt
	mkdir -p "$cache"
	echo no >"$cache/kvm-$(</proc/sys/kernel/random/boot_id)"
	plant "qemu-system-$(uname -m)" <<<"cd '$lib_folder'; echo \$\$ >pid.new; mv pid.new pid; exec sleep 600"
	rm -rf "$lib_folder/pid" "$lib_folder/here"
	mkdir "$lib_folder/here"
	(cd "$lib_folder/here" && TMPDIR=$lib_folder/here PATH=$fake:$PATH exec "$can_vm" --cache "$cache" "$@") &
	machine=$!
	until_true test -e "$lib_folder/pid"
}
until_true() { # COMMAND...: at most a minute
	local i

	for ((i = 0; i < 600; i++)); do
		"$@" && return
		sleep 0.1
	done
	return 1
}
gone() { ! grep -qE '^State:\s+[^Z]' "/proc/$(<"$lib_folder/pid")/status" 2>/dev/null; }
ended() { # STATUS
	local status=0

	wait "$machine" 2>/dev/null || status=$?
	[ "$status" -eq "$1" ]
	until_true gone
}

test_terminated() {
	start_machine -- true
	kill "$machine"
	ended 143
	[ -z "$(ls "$lib_folder/here")" ]
}
test_killed() {
	start_machine -- true
	kill -KILL "$machine"
	ended 137
}
test_timed_out() {
	start_machine --timeout 1 -- true
	ended 124
	[ -z "$(ls "$lib_folder/here")" ]
}
test_machine_broken() {
	plant_apt
	plant "qemu-system-$(uname -m)" <<<'echo no such device; exit 1'
	ends 125 'can-vm: the machine stopped without a status (QEMU 1)' with_fakes "$can_vm" --cache "$cache" -- true
}

# ---- what test/vm/run counts, with a machine that is not there ----

runs() { # STATUS LAST_LINE, the machine from standard input
	plant can-vm
	echo "cpu 0 0 0 0 0 0 0 0 0 0" >"$lib_folder/stat"
	ends "$1" "$2" env BUILD="$lib_folder/build" CAN_VM="$fake/can-vm" TEST_STAT="$lib_folder/stat" \
		"$runner" --stock --timing vm_machine vm_timing_machine
}
no_headers='case "$*" in --prepare) echo 1.2.3; exit ;; --headers) exit 125 ;; esac'
test_run_counts() {
	runs 1 '6 passed, 2 failed, 4 skipped' <<<"$no_headers; echo 3 passed, 1 failed, 2 skipped; exit 1"
}
test_run_good() { runs 0 '6 passed, 0 failed' <<<"$no_headers; echo 3 passed, 0 failed"; }
test_run_late() { runs 1 '6 passed, 2 failed' <<<"$no_headers; echo 3 passed, 0 failed; exit 124"; }
test_run_dies() { runs 1 '0 passed, 2 failed' <<<"$no_headers; echo half; exit 125"; }
# A host that takes half of the processor time: a failed test runs again, and its passed cases count once.
# shellcheck disable=SC2016 # the text of a script
stolen='echo "cpu $(wc -l <"$TEST_STAT")0 0 0 0 0 0 0 $(wc -l <"$TEST_STAT")0" >"$TEST_STAT.new"
	cat "$TEST_STAT" >>"$TEST_STAT.new"; mv "$TEST_STAT.new" "$TEST_STAT"
	echo "vm_a.sh  FAILED, 2 passed, 1 failed"; echo "failed: vm_a.sh"'
test_run_with_stolen_time() {
	runs 0 '10 passed, 0 failed' <<<"$no_headers
		case \$* in *vm_a.sh) echo 4 passed, 0 failed; exit ;; esac; $stolen; echo 3 passed, 1 failed; exit 1"
}
test_run_with_time_always_stolen() {
	runs 0 '0 passed, 0 failed, 2 skipped' <<<"$no_headers; $stolen; echo 2 passed, 1 failed; exit 1"
}
test_run_skips() { runs 0 '0 passed, 0 failed, 2 skipped' <<<'echo "can-vm: install it" >&2; exit 125'; }
test_run_skips_loudly() {
	plant can-vm <<<'echo "can-vm: install it" >&2; exit 125'
	env BUILD="$lib_folder/build" CAN_VM="$fake/can-vm" "$runner" --stock machine >"$lib_folder/out" 2>&1
	grep -x 'test/vm/run:vm_machine.sh (stock):IGNORE: can-vm: install it' "$lib_folder/out"
	grep -x 'test/vm/run: SKIPPED 1 tests of the real kernel (stock): can-vm: install it' "$lib_folder/out"
}

# ---- the real machine ----

test_real() {
	local status=0 folder=$lib_folder/here

	"$can_vm" --prepare || exit 77
	cd "$folder"
	# shellcheck disable=SC2016 # for the shell over there
	SEEN="a 'quoted' word" "$can_vm" --timeout=300 -- bash -c '
		printf "%s\n" "$SEEN" "$@"
		printf "\0\377" >bytes
		echo to the other >&2
		echo lost >/etc/can-vm-was-here
		exit 7' name 'two words' '$x' '' >"$lib_folder/out" 2>"$lib_folder/err" || status=$?
	cat "$lib_folder"/{out,err}
	[ "$status" -eq 7 ]
	[ "$(<"$lib_folder/out")" = "a 'quoted' word"$'\ntwo words\n$x' ]
	[ "$(<"$lib_folder/err")" = 'to the other' ]
	[ "$(od -An -tx1 bytes)" = ' 00 ff' ]
	[ ! -e /etc/can-vm-was-here ]
}

lib_functions "$lib_folder/log" "${1:-}"

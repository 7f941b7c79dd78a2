#!/bin/bash
# test_robot_pc.sh: the commands of hw-docs/guides/robot-pc.md, in a machine that may be changed, under a real systemd.
# waits: mostly
# limit: 300 s
#
# Commands and what they print are taken from the page; lines are compared as in test/scripts/test_readme.sh: without
# numbers, units and the width of columns.
set -eu
. test/vm/lib.sh
. test/install/machine.sh
enter_machine "$@"
shift
lib_tmp
tree=$PWD
. test/install/systemd.sh
page=hw-docs/guides/robot-pc.md

# ---- the machine ----

# The tree is built already, and the lines of a unit are in a file, as there is no journal.
shims() {
	mkdir "$folder/bin"
	cat >"$folder/bin/make" <<-END
		#!/bin/sh
		cd '$tree' && exec /usr/bin/make -s -o all BUILD='$build' CC='${CC:-gcc}' "\$@"
	END
	cat >"$folder/bin/journalctl" <<-'END'
		#!/bin/sh
		grep -v '^achstart\[' "/run/said-${2#endplate@}" | tail -n "$4"
	END
	chmod +x "$folder/bin"/*
	PATH=$folder/bin:$PATH
}
start_systemd() {
	boot
	sed -i 's/ --real$//' "$units/endplate@.service"
	mkdir "$units/endplate@.service.d"
	printf '%s\n' '[Service]' 'StandardError=append:/run/said-%i' >"$units/endplate@.service.d/said.conf"
	ctl daemon-reload
}

# ---- the page ----

plain() { # without numbers, units and the width of columns
	sed -E 's/-?[0-9][0-9.x:A-Fa-f-]*/N/g; s/#.*/#/; s/N (ns|us|ms|s)\b/N/g; s/ +/ /g; s/^ | $//g' "$@"
}
step() { # COMMAND EXPECTED
	local where=(bash -c "$1") lacking
	case $1 in
	systemctl*) [ -n "${unshare:-}" ] || start_systemd ;;
	*'achctl --robot bench arm') lib_until has_level run || return ;; # by arm: auto, which is under way until then
	esac
	[ -z "${unshare:-}" ] || where=(inside "${where[@]}")
	# A check of achdoctor may fail on this machine.
	"${where[@]}" >"$folder/out" 2>&1 </dev/null || [[ $1 == *achdoctor* ]] || { cat "$folder/out"; return 1; }
	lacking=$(plain <<<"$2" | grep -v '^$' | grep -vxFf <(plain "$folder/out")) || return 0
	printf '%s\n' "not seen: $lacking; but:" "$(plain "$folder/out")"
	return 1
}
walk() {
	local line command='' expected='' end=$'\n'
	while IFS= read -r line <&3; do
		case $line in
		'    # '* | [!\ ]*)
			[ -z "$command" ] || lib_case "$command" step "$command" "${expected%"$end"}"
			command='' expected=''
			[[ $line != '    # '* ]] || command=${line#*\# }
			;;
		*) expected+=${line#    }$end ;;
		esac
	done 3< <(cat $page && echo end)
}

# The file of the adapter's name has no key that systemd does not know.
link_file() {
	local file
	# shellcheck disable=SC2016 # the fence of a block
	sed -n '/^```ini/,/^```$/ { /^```/! p }' $page >"$folder/link"
	file=$(sed -n '1s/^# //p' "$folder/link")
	mkdir -p "${file%/*}"
	cp "$folder/link" "$file"
	udevadm test-builtin net_setup_link /sys/class/net/lo >"$folder/udev" 2>&1 || true
	cat "$folder/udev"
	grep -q "${file##*/}\|net_setup_link" "$folder/udev"
	lib_not grep -iE "${file##*/}.*(unknown|invalid|failed|ignor)" "$folder/udev"
}

placed() { find /usr/local | sort; }
nothing_is_left() {
	diff "$folder/before" <(placed) || return 1
	lib_not getent passwd endplate endplate-web || return 1
	lib_not getent group endplate endplate-op endplate-arm endplate-move || return 1
	lib_not grep . <(inside find /etc/systemd/network -name '*.link') || return 1
	lib_not grep . <(inside find /etc /var /run /usr/lib -xdev -path "$units" -prune -o -name '*endplate*' -print)
}

shims
placed >"$folder/before"
useradd ana
ip link set lo up
if [ -x "$(command -v udevadm)" ]; then
	lib_case "the file of a name is valid" link_file
else
	lib_ignore "the file of a name is valid" "no udevadm here"
fi
walk
lib_case "nothing is left" nothing_is_left
lib_end

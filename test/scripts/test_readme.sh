#!/bin/bash
# README.md and the other pages: links lead somewhere, and the commands of the two walks do what the pages say.
#
# The walks run in namespaces of their own, as on a machine without another robot.  Expected lines are compared without
# numbers and units, and may come from a program in the background.  A command is repeated until they are there.
# waits: mostly
set -eu
. test/scripts/lib.sh
if [ $$ != 1 ] && unshare -minpf --mount-proc true 2>/dev/null; then
	exec unshare -minpf --kill-child --mount-proc bash "$0" # as process 1
fi
lib_tmp
tree=$PWD

short() { [ "$(wc -l <README.md)" -le 150 ]; }
links() { # of all pages: the files are there, and so are the headings
	git ls-files '*.md' | xargs python3 -c '
import os, re, sys

def anchors(page):
    titles = re.findall(r"^#+ (.*)$", open(page, encoding="utf-8").read(), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}

broken = []
for page in sys.argv[1:]:
    for link in re.findall(r"\]\(([^)\s]+)\)", open(page, encoding="utf-8").read()):
        path, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if "://" not in link and (not os.path.exists(path) or anchor and anchor not in anchors(path)):
            broken.append(f"{page}: {link}")
sys.exit("\n".join(broken) or 0)'
}

# ---- the walks ----

pid() { achctl status | awk -v name="$1" '$1 == name { sub(",", ""); print name == "achstart" ? $2 : $NF }'; }
plain() { # without numbers, units and the width of columns
	sed -E 's/-?[0-9][0-9.x:A-Fa-f-]*/N/g; s/N (ns|us|ms|s)\b/N/g; s/ +/ /g; s/^ | $//g' "$@"
}
said() { # COMMAND EXPECTED: runs the command once; programs in the background may print a little later
	local lacking
	eval "$1" >out 2>&1 || { echo "$1: status $?" && cat out && return 1; }
	for _ in {1..10}; do
		lacking=$(plain <<<"$2" | grep -v '^$' | grep -vxFf <(plain out background)) || return 0
		sleep 0.1
	done
	echo "$1: not seen: $lacking; but:" && plain out
	return 1
}
# A command of a page.  Its processes are those of another day, and its interpreter has no terminal here.
step() { # COMMAND EXPECTED
	local command
	# shellcheck disable=SC2016 # for eval
	command=$(sed -E 's/  +#.*//; s/-9 27647 28218/-9 $(pid achstart) $(pid waist)/; s/-9 [0-9]+/-9 $(pid waist)/' \
		<<<"$1")
	case $command in
	*' &' | *' & '*)
		eval "$command" >>background 2>&1
		command=:
		;;
	PATH=* | export*)
		eval "$command"
		return
		;;
	'cat sine.py') echo "$2" >sine.py ;;
	/usr/bin/python3)
		sed -n 's/^>>> //p' <<<"$2" >recording.py
		set -- "$1" "$(grep -v '^>>>' <<<"$2")"
		command+=' recording.py'
		;;
	esac
	for _ in {1..20}; do
		said "$command" "$2" >why && return
		sleep 0.5
	done
	cat why
	return 1
}
walk() { # PAGE
	local line command='' expected='' end=$'\n'
	while IFS= read -r line <&3; do
		case $line in
		'    $ '* | [!\ ]*)
			[ -z "$command" ] || lib_case "${1##*/}: $command" step "$command" "${expected%"$end"}"
			command='' expected=''
			[[ $line != '    $ '* ]] || command=${line#*\$ }
			;;
		*) expected+=${line#    }$end ;;
		esac
	done 3< <(cat "$tree/$1" && echo end)
}

lib_case "README.md has at most 150 lines" short
lib_case "links lead somewhere" links
if [ $$ != 1 ]; then
	lib_ignore "walks" "namespaces need root"
	lib_end
	exit
fi
mount -t tmpfs shm /dev/shm
mount -t tmpfs run /run
ip link set lo up
unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR NOTIFY_SOCKET ACH_DIR
PATH=$build:$PATH
cd "$lib_folder"
ln -s "$tree"/{launch,config} .
ln -s "$build" build
: >background
achstart launch/robot.launch 2>>background &
lib_until achctl status
walk README.md
achctl stop >/dev/null
: >background
walk hw-docs/guides/walk.md
lib_end

#!/bin/bash
# hw-docs/guides/write-a-driver.md: its code is that of the tree, and its commands do what it says they do.
# waits: mostly
#
# A command with nothing below it must succeed, one with lines below it must say them; each is tried until it does,
# since what it looks at takes its time.  Channels get a prefix of this test's own.
# shellcheck disable=SC2317 # called by name
set -eu
cd "$(dirname "$0")/../../.."
. test/scripts/lib.sh
lib_tmp
page=$PWD/hw-docs/guides/write-a-driver.md
export ENDPLATE_RUN=$lib_folder/run XDG_RUNTIME_DIR=$lib_folder ENDPLATE_PREFIX=t$$-
export PATH=$build:$PWD/daemons/kit:$PATH PKG_CONFIG_PATH=$build # of what a new driver is built with
unset NOTIFY_SOCKET
p=$ENDPLATE_PREFIX
started=()
trap 'kill -KILL "${started[@]}" 2>/dev/null || true; wait 2>/dev/null
	rm -rf "$lib_folder" /dev/shm/ach*-"$p"*' EXIT

# ---- code ----

code_is_of_the_tree() {
	python3 - "$page" daemons/{example,gauge}/*.[ch] test/outside/odrive/*.[ch] <<'PYTHON'
import re
import sys

blocks = re.findall(r"```c\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S)
files = [open(path, encoding="utf-8").read() for path in sys.argv[2:]]
for block in blocks:
    if not any(block in text for text in files):
        sys.exit("not in daemons/example, daemons/gauge or test/outside/odrive:\n" + block)
sys.exit(len(blocks) < 5)
PYTHON
}

links_lead_somewhere() {
	local link
	grep -o '](\([^)]*\))' "$page" | tr -d '])(' | while read -r link; do
		[ -e "hw-docs/guides/$link" ] || { echo "$link"; exit 1; }
	done
}

# ---- commands ----

files() { # the page's files, in the folder where its commands run
	python3 - "$page" "$lib_folder" <<'PYTHON'
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
for name, body in re.findall(r"`(table\.(?:yaml|launch))`:\n\n```yaml\n(.*?)```", text, re.S):
    open(f"{sys.argv[2]}/{name}", "w").write(body)
PYTHON
	cmp daemons/example/table.yaml "$lib_folder/table.yaml" &&
		cmp daemons/example/table.launch "$lib_folder/table.launch"
}

# What stands in the page, with the channels' prefix and this build's folder.
ours() {
	sed -E "s,\b(ach (put|echo) )(estop|table),\1$p\3,; s,\bbuild/,$build/,g" <<<"$1"
}

# Already built before the tests run: the files must exist.
made() {
	local word
	for word in ${1%%&&*}; do
		[[ $word != build/* ]] || [ -x "$build/${word#build/}" ] || { echo "$word is not there"; return 1; }
	done
}

try() { # COMMAND EXPECTED
	local i said status where=$lib_folder
	[[ $1 != */test/* ]] || where=. # a test runs from the top
	for ((i = 0; i < 1500; i++)); do
		status=0
		said=$(cd "$where" && eval "$1" 2>"$lib_folder/stderr") || status=$?
		if [ "$status" -eq 0 ] && [ "$said" = "$2" ]; then
			return 0
		fi
		sleep 0.02
	done
	echo "$1: status $status: $said" && cat "$lib_folder/stderr"
	return 1
}

run_one() { # COMMAND EXPECTED
	local command
	command=$(ours "$1")
	case $1 in
	make*)
		made "$1" || return 1
		command=${command#*&& }
		[[ $command != PATH=* ]] || return 0
		try "$command" "$2"
		;;
	*'&')
		eval "(cd $lib_folder && exec ${command%&} 2>>$lib_folder/stderr.${command%% *}) &"
		started+=($!)
		;;
	*) try "$command" "$2" ;;
	esac
}

command='' expected='' inside=false
finish() {
	[ -z "$command" ] || lib_case "$command" run_one "$command" "$expected"
	command='' expected=''
}

lib_case 'the code is that of the tree' code_is_of_the_tree
lib_case 'the links lead somewhere' links_lead_somewhere
lib_case 'the files are there' files
while IFS= read -r line <&3; do
	case $inside:$line in
	*:'```console') inside=true ;;
	true:'```') finish && inside=false ;;
	true:'$ '*) finish && command=${line#'$ '} ;;
	true:*) expected+=${expected:+$'\n'}$line ;;
	esac
done 3<"$page"
lib_end

#!/bin/bash
# scripts/run brings the bench robot up, shows it, and stops it when asked, with and without a terminal.
# waits: mostly
#
# The robot is up when achstart says that all are ready and armed; on a busy machine the screen may be there before.
set -eu
. test/scripts/lib.sh
lib_tmp
export ENDPLATE_RUN=$lib_folder/run ENDPLATE_PREFIX=t-run-$$-
unset BUILD # it builds for people

nothing_left() { # neither process nor channel
	! grep -lsazF "ENDPLATE_PREFIX=$ENDPLATE_PREFIX" /proc/[0-9]*/environ &&
		! compgen -G "/dev/shm/ach*-$ENDPLATE_PREFIX*"
}
is_up() { # LOG
	grep -q 'all 10 ready' "$1" && grep -q 'arm: auto, and all are ready' "$1"
}
screen() { # KEY: a robot that is up is seen, the key stops it
	rm -f build/run.log
	python3 test/scripts/type.py 24 80 see:bench see:waist 'see:k kill' \
		'run:timeout 60 sh -c "until grep -q \"arm: auto, and\" build/run.log; do sleep 0.1; done"' \
		"key:$1" 'see:the robot is stopped' -- scripts/run
}
shows_status() { grep -q '^torso ' "$lib_folder/out" && is_up "$lib_folder/out"; } # to its end
no_terminal() {
	local run status=0
	scripts/run >"$lib_folder/out" 2>&1 </dev/null &
	run=$!
	lib_until shows_status || true
	kill "$run"
	wait "$run" || status=$?
	shows_status && grep -q '^waist ' "$lib_folder/out" && [ "$status" = 0 ] &&
		grep -q 'the robot is stopped' "$lib_folder/out" && return
	echo "status $status:"
	cat "$lib_folder/out"
	return 1
}
refused() { # PATTERN ARGUMENT
	local said status=0
	said=$(scripts/run "$2" 2>&1 >/dev/null) || status=$?
	# shellcheck disable=SC2053 # a pattern
	[ $status = 100 ] && [[ $said == $1 ]] && return
	echo "status $status: $said"
	return 1
}

# Help costs nothing: it neither installs nor builds.
helps() { # SCRIPT WORD...
	local word said
	said=$(cd / && PATH=$lib_folder/tools "$tree/scripts/$1" --help) || { echo "status $?"; return 1; }
	for word in "usage: scripts/$1" 'Exit status: 0' "${@:2}"; do
		grep -qF -- "$word" <<<"$said" || { echo "$1 --help lacks $word"; return 1; }
	done
	! grep -E '^.{81}' <<<"$said"
}
tools() { # what --help may call
	local tool
	mkdir "$lib_folder/tools"
	for tool in bash cat dirname sed; do
		ln -s "$(command -v $tool)" "$lib_folder/tools"
	done
}
lists_files() { # each with the text of its first line
	local file
	for file in launch/*.launch; do
		scripts/run --help | grep -qxF "    $(sed '1!d; s/^# [^ ]*: //' "$file")" || { echo "$file"; return 1; }
	done
}
tree=$PWD
tools
lib_case "run --help" helps run q k j 'achctl top' bench-krang
lib_case "run --help has every launch file" lists_files
lib_case "test --help" helps test 'N passed, N failed' build/log
lib_case "setup --help" helps setup build test --list
lib_case "an option that run lacks" refused 'run: --halp: unknown option (scripts/run --help)' --halp
lib_case "one file too many" lib_says 100 '' 'run: one launch file at a time, not 2 (scripts/run --help)' \
	scripts/run robot waist
lib_case "an argument that test lacks" lib_says 100 '0 passed, 1 failed' \
	'test: can: it takes no arguments; one test alone: scripts/test --help' scripts/test can
lib_case "an option that setup lacks" lib_says 100 '' 'setup: --fix: unknown option (scripts/setup --help)' \
	scripts/setup --fix
lib_case "it is built" make -s -j"$(nproc)" all
lib_case "q stops the robot" screen q
lib_case "achstart leaves the screen to achctl top" is_up build/run.log
lib_case "nothing is left" nothing_left
lib_case "Ctrl-C stops the robot" screen $'\003'
lib_case "nothing is left after Ctrl-C" nothing_left
lib_case "without a terminal, until SIGTERM" no_terminal
lib_case "nothing is left after SIGTERM" nothing_left
lib_case "no such file" refused '*none.launch: there is no such launch file' "$lib_folder/none.launch"
lib_case "no such name" refused '*: there is no launch file "endplate-none"; looked for endplate-none.launch, *' \
	endplate-none
printf 'robot: {file: x.yaml}\nroboot: 1\n' >"$lib_folder/bad.launch"
lib_case "a bad file" refused '*bad.launch:2:*roboot*' "$lib_folder/bad.launch"
lib_end

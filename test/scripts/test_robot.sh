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

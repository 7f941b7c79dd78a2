#!/bin/bash
# Logs through the real drivers: what they send and publish is what was looked at once; see golden/README.
set -eu
. test/scripts/lib.sh
lib_tmp
here=test/daemons/golden

play() { # NAME LOG: what comes of it is in $lib_folder/NAME.sent and NAME.states
	local program line to=$lib_folder/$1
	read -r program line <"$here/$1.play"
	# shellcheck disable=SC2086 # words
	"$build/test/daemons/golden/$program" ${line/LOG/$2} "$to.sent" "$to.states" </dev/null
}
same() { # NAME
	local file
	play "$1" "$here/$1.log" || return 1
	for file in "$1.states" $(cd $here && echo "$1".sent*); do # a file for each bus
		diff "$here/$file" "$lib_folder/$file" | head -n 20
		cmp "$here/$file" "$lib_folder/$file" || return 1
	done
}
another_differs() { # NAME SED-COMMAND
	sed "$2" "$here/$1.log" >"$lib_folder/other.log"
	[ ! -e "$here/$1.log-2" ] || cp "$here/$1.log-2" "$lib_folder/other.log-2"
	play "$1" "$lib_folder/other.log" && ! cmp -s "$here/$1.states" "$lib_folder/$1.states"
}

for file in "$here"/*.play; do
	name=$(basename "$file" .play)
	lib_case "$name: every frame and state" same "$name"
	lib_case "$name: another log gives another result" another_differs "$name" "$(sed -n 2p "$file")"
done
lib_end

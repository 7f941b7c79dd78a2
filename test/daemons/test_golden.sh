#!/bin/bash
# Logs through the real drivers: what they send and publish is what was looked at once; see golden/README.
set -eu
. test/scripts/lib.sh
lib_tmp
here=test/daemons/golden

play() { # NAME LOG: what comes of it is in $lib_folder/NAME.sent and NAME.states
	local to=$lib_folder/$1
	case $1 in
	waist) set -- golden "$2" $here/waist.script ;;
	dmu | mti) set -- golden_imu "$1" "$2" ;;
	*) set -- "golden_$1" "$2" ;;
	esac
	"$build/test/daemons/golden/$1" "${@:2}" "$to.sent" "$to.states" </dev/null
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

while read -r name change; do
	lib_case "$name: every frame and state" same "$name"
	lib_case "$name: another log gives another result" another_differs "$name" "$change"
done <<'END'
waist s/0A3C\(......\)BF/0A3C\1BE/
dmu s/ 050#\(..\)../ 050#\101/
mti s/ 032#\(..\)../ 032#\101/
ft s/ 201#\(..\)../ 201#\101/
bms s/ 356#\(..\)../ 356#\110/
robotiq s/ 58B#4F0020053C/ 58B#4F0020053D/
hubo s/ 060#E8030000/ 060#E9030000/
END
lib_end

#!/bin/bash
# stopd's and joyd's settings: what they refuse, before anything is opened, and the frames that stopd declares.
set -eu
. test/scripts/lib.sh

check() { "$BUILD/$1" --name x --check "${@:2}" 2>&1; } # PROGRAM OPTION...
refuses() { # WORDS PROGRAM OPTION...
	local words=$1 said

	shift
	if said=$(check "$@") || ! grep -qF -- "$words" <<<"$said"; then
		echo "$said"
		return 1
	fi
}
frames() { "$BUILD/stopd" --name x --bus wire:io --set input=frame --frames "$@"; }
has() { # TEXT COMMAND...
	local text=$1 said

	shift
	said=$("$@")
	grep -qF -- "$text" <<<"$said" || { echo "$said"; return 1; }
}
frame=(stopd --bus wire:io --set input=frame)
gpio=(stopd --set input=gpio)
joy=(joyd --set output=waist --set device=/dev/input/event0 --set axes=waist=ABS_Y*0.5)

lib_case 'it has to be said which input' refuses 'input is missing' stopd
lib_case 'lines without a bus' check "${gpio[@]}" --set 'lines=[17,27]'
lib_case 'lines and a bus' refuses 'gpio needs no bus' "${gpio[@]}" --bus wire:io
lib_case 'a line twice' refuses 'two channels need two lines' "${gpio[@]}" --set 'lines=[17,17]'
lib_case 'no line' refuses 'it is empty' "${gpio[@]}" --set 'lines=[]'
lib_case 'a frame' check "${frame[@]}"
lib_case 'a frame without a bus' refuses 'frame needs one bus' stopd --set input=frame
lib_case 'a bit twice' refuses 'two channels need two bits' "${frame[@]}" --set 'bits=[3,3]'
lib_case 'a long identifier' refuses 'write extended: yes' "${frame[@]}" --set id=0x18FF1234
lib_case 'silence within two periods' refuses 'at least two periods' "${frame[@]}" --set period=100ms
lib_case 'silence within two ticks' refuses 'it must be at least 2 ticks' "${gpio[@]}" --set tick=10ms \
	--set silent_after=15ms
lib_case 'a slow tick' refuses 'at most 10ms' "${gpio[@]}" --set tick=20ms
lib_case 'its frame' has '"id":"181"' frames
lib_case 'its long frame' has '"id":"18FF1234"' frames --set id=0x18FF1234 --set extended=yes

lib_case 'a joystick' check "${joy[@]}"
lib_case 'without axes' refuses 'axes is missing' joyd --set output=waist --set device=x
for axes in waist waist=ABS_Y waist=ABS_Q*1 waist=ABS_Y*x =ABS_Y*1 waist=ABS_Y*1e999 waist=ABS_Y*1,waist=ABS_X*1; do
	lib_case "axes $axes" refuses 'the axis and the value at its end' "${joy[@]}" --set "axes=$axes"
done
lib_case 'two axes' check "${joy[@]}" --set axes=waist=ABS_Y*-0.5,neck=ABS_X*1
lib_case 'speed and turn' check "${joy[@]}" --set type=balance --set axes=speed=ABS_Y*-0.5,turn=ABS_X*1
lib_case 'a joint of a balance' refuses 'there are speed and turn' "${joy[@]}" --set type=balance
lib_case 'a button that does not exist' refuses 'the name of a button' "${joy[@]}" --set deadman=BTN_NOWHERE
lib_case 'no dead-man switch' refuses 'the name of a button' "${joy[@]}" --set deadman=none
lib_case 'no stop button' check "${joy[@]}" --set stop=none
lib_case 'one button for both' refuses 'the dead-man switch already' "${joy[@]}" --set stop=BTN_TL
lib_case 'frozen within two ticks' refuses 'it must be at least 2 ticks' "${joy[@]}" --set tick=10ms --set frozen=15ms
lib_end

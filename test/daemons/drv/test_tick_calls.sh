#!/bin/bash
# How many system calls a tick of pciod makes, with one module on a soft wire: a wait for an echo that makes room, for
# the time at which the four answers can be there, for the last of them and for the tick, and little else.
set -eu
. test/scripts/lib.sh
lib_tmp
export ENDPLATE_PREFIX="calls$$." ENDPLATE_RUN=$lib_folder
calls_max=8
ticks_wanted=200

if ! strace -e signal=none -o /dev/null true 2>/dev/null; then
	lib_ignore all "strace is missing or may not trace here"
	lib_end
	exit
fi

attached() { "$build/canwire" stats torso | grep 'controller waist.15:' >/dev/null; }
ticks() { "$build/ach" echo --last --json "${ENDPLATE_PREFIX}waist-state" | grep -o '"ticks":[0-9]*' | cut -d: -f2; }
ticks_are() { [ "$(ticks)" -ge "$1" ]; } # N
tracing() { [ -s "$lib_folder/trace" ]; }
end() {
	jobs -p | xargs -r kill -KILL 2>/dev/null || true
	wait 2>/dev/null
	"$build/ach" rm "${ENDPLATE_PREFIX}"{estop,estop-b,waist-{state,req,rep,ref,event}} >/dev/null 2>&1 || true
	rm -rf "$lib_folder"
}
trap end EXIT

"$build/canwire" run --outage 0 torso >"$lib_folder/served" 2>&1 &
lib_until "$build/canwire" stats torso
"$build/robotsim" run config/robots/waist.yaml >"$lib_folder/played" 2>&1 &
lib_until attached
"$build/pciod" --name waist --config config/robots/waist.yaml --set tick=5ms --set lock_memory=no \
	>"$lib_folder/said" 2>&1 &
driver=$!
lib_until ticks_are 100

few_calls() {
	local from to calls others
	strace -f -qq -e signal=none -o "$lib_folder/trace" -p $driver &
	lib_until tracing
	from=$(ticks)
	lib_until ticks_are $((from + ticks_wanted))
	to=$(ticks)
	kill -INT $!
	wait $! || true
	calls=$(($(wc -l <"$lib_folder/trace") / (to - from)))
	awk '{ sub(/\(.*/, "", $2); n[$2]++ } END { for (c in n) print n[c], c }' "$lib_folder/trace" | sort -rn
	# Files are looked at once a second, and the first trace line may be the end of a call.
	others=$(grep -vcE '^[0-9]+ +(epoll_pwait2|write|futex|<\.\.\.)' "$lib_folder/trace" || true)
	echo "$calls system calls a tick, $others that neither wait nor wake, in $((to - from)) ticks"
	[ $calls -le $calls_max ] && [ $((others * 4)) -le $((to - from)) ]
}
lib_case "a tick makes at most $calls_max system calls" few_calls 2>/dev/null
lib_end

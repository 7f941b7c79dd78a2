#!/bin/bash
# The pendulum as two processes on a virtual clock, and in lockstep.
set -eu
. test/scripts/lib.sh
if [ "${1:-}" != inside ] && unshare -minpf --mount-proc true 2>/dev/null; then
	exec unshare -minpf --kill-child --mount-proc bash "$0" inside
fi
lib_tmp
PATH=$build:$PATH
export ACH_DIR=$lib_folder ENDPLATE_RUN=$lib_folder/run
unset ENDPLATE_PREFIX NOTIFY_SOCKET

launch() { # CYCLES WORK
	local line="[--cycles, $1, --work, $2, --output, $lib_folder/out.csv]"
	sed -e "s|\.\./config|$PWD/config|; s|\[--cycles, .*|$line|" \
		launch/pendulum.launch >"$lib_folder/pendulum.launch"
}
run() { # NAME CYCLES WORK [OPTION...]: its cycles in NAME.csv, its last line in NAME.said
	launch "$2" "$3"
	rm -rf "$ENDPLATE_RUN"
	achstart --virtual --for "$(($2 + 250))ms" "${@:4}" "$lib_folder/pendulum.launch" >"$lib_folder/log" 2>&1 || {
		cat "$lib_folder/log"
		return 1
	}
	mv "$lib_folder/out.csv" "$lib_folder/$1.csv"
	cp "$ENDPLATE_RUN/log/ctl.log" "$lib_folder/$1.said"
}
path() { # NAME [CYCLES]: the trajectory, without the controller's clock
	awk -F, -v n="${2:-1000000}" 'NR == 2 { t = $3 } NR > 1 && $1 < n { print $1, $3 - t, $4, $5, $6 }' \
		"$lib_folder/$1.csv"
}
same_path() { # NAME NAME CYCLES
	[ "$(path "$1" "$3" | wc -l)" -eq "$3" ] && cmp <(path "$1" "$3") <(path "$2" "$3")
}
is_exact() { # NAME: each period is 1 ms by both clocks, and computing takes no time
	awk -F, 'NR > 2 && ($2 - clock != 1000000 || $3 - stamp != 1000000 || $7 != $2) { wrong = 1; print }
		{ clock = $2; stamp = $3 } END { exit wrong || NR < 3 }' "$lib_folder/$1.csv"
}
says() { grep -q "$2" "$lib_folder/$1.said" || { cat "$lib_folder/$1.said"; return 1; }; } # NAME WORDS
slow() { # NAME WORDS [OPTION...]: of a controller that needs 1.3 ms for its period of 1 ms
	run "$1" 1500 1300us "${@:3}" && says "$1" "$2"
}
slow_in_lockstep() {
	pendulumctl --lockstep --cycles 1500 --work 1300us >"$lib_folder/slow.said"
	says slow 'upright: 1500 cycles, 0 missed'
}
is_charged() { # NAME: the time on the clock is the processor time, to 1 %
	sed -n 's/.*took \([0-9.]*\) s by the clock, \([0-9.]*\) s.*/\1 \2/p' "$lib_folder/$1.said" |
		awk '{ print; good = $1 > 0.99 * $2 && $1 < 1.01 * $2 } END { exit !good }'
}

page_is_of_the_tree() { # its code is that of the program and of the launch file, and its links lead somewhere
	python3 - hw-docs/guides/simulator.md daemons/demo/pendulumsim.c launch/pendulum.launch <<'PYTHON'
import os
import re
import sys

page, *files = [open(path, encoding="utf-8").read() for path in sys.argv[1:]]
blocks = re.findall(r"```(?:c|yaml)\n(.*?)```", page, re.S)
wrong = [block for block in blocks if not any(block in text for text in files)]
wrong += [link for link in re.findall(r"]\(([^)]*)\)", page) if not os.path.exists("hw-docs/guides/" + link)]
print(*wrong, sep="\n", end="")
sys.exit(len(blocks) < 5 or bool(wrong))
PYTHON
}

lib_case 'hw-docs/guides/simulator.md is as the tree is' page_is_of_the_tree
lib_case 'a launch file runs simulator and controller on a virtual clock' run max 2000 50us
lib_case 'the pendulum is swung up, and stands' says max 'upright: 2000 cycles, 0 missed'
lib_case 'no period has an error, and the clocks do not drift' is_exact max
lib_case 'the same at twice the speed of life' run two 300 50us --rate 2
lib_case 'the trajectory is the same at both rates' same_path max two 300
pendulumctl --lockstep --cycles 2000 --output "$lib_folder/lockstep.csv" >/dev/null
lib_case 'in lockstep the trajectory is the same' same_path max lockstep 2000
lib_case 'lockstep does not notice that a controller is too slow' slow_in_lockstep
lib_case 'nor does the virtual clock' slow free 'upright: 1500 cycles, 0 missed'
lib_case 'unless computing is charged: then the pendulum falls' slow charged 'fell: [0-9]* cycles, [67]' --charge 1
lib_case 'the processor time that was used is charged' is_charged charged
lib_case 'the launch file is right' lib_matches 0 '*' achstart --check launch/pendulum.launch
lib_case 'the experiment takes its cycles' lib_matches 0 '*--cycles N*' scripts/experiment-pendulum --help
lib_end

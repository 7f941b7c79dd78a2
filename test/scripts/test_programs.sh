#!/bin/bash
# endplate-programs(7): every program with the line of its own page and three commands that it takes.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
lib_tmp
list=daemons/endplate-programs.7
tree=$PWD
# No robot is there, and none is found.
unset ENDPLATE_PREFIX ACH_DIR NOTIFY_SOCKET
export ENDPLATE_RUN=$lib_folder/run PATH=$build:$tree/daemons/kit:$PATH
touch "$lib_folder"/{left.trc,run.log,run.blf}
echo 'publish: {/imu: {channel: imu-state}}' >"$lib_folder/robot.dds"
ln -s "$tree"/{launch,config} "$lib_folder"

listed() { sed -nE 's/^\.It Xr ([^ ]+) [0-9]$/\1/p' $list; }
made() { # programs, and pages of commands
	# shellcheck disable=SC2016 # for make
	make -s --eval='made: ; @printf "%s\n" $(notdir $(TOOLS))' made
	find config channels can daemons launch -name '*.1' -printf '%f\n' | sed 's/\.1$//'
}
lists_all() { diff <(made | sort -u) <(listed | sort); }
line_of() { sed -n "/^\.It Xr $1 [0-9]\$/{n;p}" $list; }
commands_of() { sed -n "/^\.It Xr $1 [0-9]\$/,/^\.Ed/p" $list | sed '1,/^\.Bd/d; /^\.Ed/d'; }
has_line_of_page() { # PROGRAM
	diff <(line_of "$1") <(sed -n 's/^\.Nd //p' ./*/*/"$1".1)
}

help_of() { # WORD...: the help that says which options it has
	case $1 in
	ach | achctl | canwire | robotsim) "$1" "$2" --help ;;
	drvhost) "$(basename "$2" .so)" --help ;;
	*) "$1" --help ;;
	esac
}
has_options() { # WORD...
	local word help
	case $1 in make | scripts/*) return ;; esac
	help=$(help_of "$@") || { echo "$1: status $?"; return 1; }
	for word in "${@:2}"; do
		[[ $word != -?* || $word = -- ]] || grep -qE -- "(^|[ ,])$word([ ,]|\$)" <<<"$help" ||
			{ echo "$1 has no $word"; return 1; }
	done
}
has_files() { # WORD...
	local word
	for word in "$@"; do
		[[ ! $word =~ ^(launch|config|scripts)/ || -e $tree/$word ]] || { echo "$word is not there"; return 1; }
	done
}
ends_by_itself() { # COMMAND
	case $1 in
	*--check* | *--settings | *--frames | *--verbs | *--help) ;;
	ach* | can* | hubo-console* | robotsim*)
		case $1 in achdds* | achlogd* | achstart* | achweb* | *' run '*) return 1 ;; esac
		;;
	*) return 1 ;;
	esac
}
# It has to understand what is asked; a robot, a bus and what is in the file are not there.
is_understood() { # COMMAND
	local words status=0
	eval "words=($1)"
	has_options "${words[@]}" && has_files "${words[@]}" || return 1
	ends_by_itself "$1" || return 0
	(cd "$lib_folder" && timeout 20 "${words[@]}" </dev/null >out 2>&1) || status=$?
	case $status in
	0 | 1 | 2 | 111) ;;
	*) echo "$1: status $status" && cat "$lib_folder/out" && return 1 ;;
	esac
}
three_commands() { # PROGRAM
	local command n=0
	while IFS= read -r command; do
		is_understood "$command" || return 1
		n=$((n + 1))
	done < <(commands_of "$1")
	[ $n -eq 3 ] || { echo "$1: $n commands"; return 1; }
	commands_of "$1" | grep -qw -- "$1" || { echo "no command of $1 itself"; return 1; }
}

lib_case "no program is missing, and none is too many" lists_all
for program in $(listed); do
	lib_case "$program: the line of its page" has_line_of_page "$program"
	lib_case "$program: three commands" three_commands "$program"
done
lib_end

# shellcheck shell=bash
# Completion for ach(1): commands, channels, options, and the values some of them take.

_ach_channels() {
	local path
	for path in /dev/shm/achshm-*; do
		[ -e "$path" ] && echo "${path#/dev/shm/achshm-}"
	done
}

_ach() {
	local ach=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]-} words=

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$command" = help ]; }; then
		words=$("$ach" help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
		[ "$COMP_CWORD" -ne 1 ] || words+=' help'
	else
		case $command,$before in
		*,--type) words=$("$ach" types 2>/dev/null | sed '1d; s/ .*//') ;;
		types,*) [[ $cur == -* ]] || words=$("$ach" types 2>/dev/null | sed '1d; s/ .*//') ;;
		*,--robot) words=$(ls /run/endplate "${XDG_RUNTIME_DIR:-/run}/endplate" 2>/dev/null | grep -v ':$') ;;
		*,--group) words=$(getent group 2>/dev/null | cut -d: -f1) ;;
		record,-o | record,--output | play,* | convert,*)
			case $cur in
			-*) ;;
			*)
				mapfile -t COMPREPLY < <(compgen -f -- "$cur")
				return
				;;
			esac
			;;
		*,-m | *,-n | *,-o | *,--count | *,--size | *,--mode | *,--for | chmod,chmod) return ;;
		esac
		case $words,$cur in
		,-*) words=$("$ach" "$command" --help 2>/dev/null | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+') ;;
		,*) words=$(_ach_channels) ;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _ach ach

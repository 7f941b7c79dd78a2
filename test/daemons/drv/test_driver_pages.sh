#!/bin/bash
# What a driver's --help and --settings name is in its man page, or in endplate-driver(7) if all drivers have it.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
shared=daemons/drv/endplate-driver.7

items() { # MACRO PAGE...: the words of its items, one in a line
	sed -n "s/^\.It $1 //p" "${@:2}" | tr -s ' ,' '\n'
}
names_options() { # PROGRAM
	local option options
	options=$("$build/$1" --help | grep -oE '^  --[a-z]+' | tr -d ' -')
	[ -n "$options" ] || { echo "$1 --help names none"; return 1; }
	for option in $options; do
		items Fl $shared | grep -qx -- "-$option" || { echo "$shared has no --$option"; return 1; }
	done
}
names_settings() { # PROGRAM PAGE
	local key keys
	keys=$("$build/$1" --settings | sed -nE '1d; s/^([a-z][a-z0-9_]*) .*/\1/p')
	grep -qx tick <<<"$keys" || { echo "$1 --settings has no tick"; return 1; }
	for key in $keys; do
		items Cm $shared "$2" | grep -qx "$key" || { echo "$2 has no $key"; return 1; }
	done
	for key in $(items Cm "$2"); do # a default of tick is a driver's own
		[ "$key" = tick ] || ! items Cm $shared | grep -qx "$key" ||
			{ echo "$2: $key is in $shared"; return 1; }
	done
	grep -q '^\.Xr endplate-driver 7' "$2" || { echo "$2 does not lead to $shared"; return 1; }
}

# shellcheck disable=SC2013 # a path is a word
for source in $(grep -l '^static const struct drv_driver driver = {' daemons/*/*.c); do
	program=$(basename "$source" .c)
	lib_case "$program --help" names_options "$program"
	lib_case "$program --settings" names_settings "$program" "${source%.c}.1"
done
lib_end

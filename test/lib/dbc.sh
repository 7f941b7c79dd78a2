# shellcheck shell=bash
# For tests of a DBC file of hw-docs/devices (sourced with its name): the vectors of the page, decoded by canmatrix,
# which shares nothing with the codec.  The comparison is Python that begins with dbc.py; the script puts it into
# $dbc_comparison.
. test/scripts/lib.sh
lib_tmp
dbc_page=hw-docs/devices/$1.md dbc_file=hw-docs/devices/$1.dbc dbc_comparison=''

agrees() { # DBC
	# Debian's own interpreter: the package is for that one.
	/usr/bin/python3 -B -W ignore - "$dbc_page" "$1" < <(cat test/lib/dbc.py - <<<"$dbc_comparison")
}

differs() { # SED-COMMAND: the comparison notices this change of the file
	sed "$1" "$dbc_file" >"$lib_folder/changed.dbc"
	! cmp -s "$dbc_file" "$lib_folder/changed.dbc" && ! agrees "$lib_folder/changed.dbc" 2>"$lib_folder/said"
}

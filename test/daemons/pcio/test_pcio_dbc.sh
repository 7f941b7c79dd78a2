#!/bin/bash
# hw-docs/devices/powercube.dbc, read by canmatrix, says the same of every frame as the page's tables and vectors.
set -eu
cd "$(dirname "$0")/../../.."
. test/scripts/lib.sh
lib_tmp

page=hw-docs/devices/powercube.md
dbc=hw-docs/devices/powercube.dbc

# Debian's own interpreter: the package is for that one.
canmatrix() { # DBC MODULE...
	/usr/bin/python3 -B -W ignore test/daemons/pcio/test_pcio_dbc.py "$page" "$@" 2>"$lib_folder/stderr"
}

agrees() { # DBC MODULE...
	if ! canmatrix "$@" >"$lib_folder/out" || grep 'error with line' "$lib_folder/out"; then
		tail -n 20 "$lib_folder/out" "$lib_folder/stderr"
		return 1
	fi
	tail -n 1 "$lib_folder/out"
}

differs() { # SED: the file with one thing wrong in it
	sed "$1" "$lib_folder/all.dbc" >"$lib_folder/wrong.dbc"
	lib_not cmp -s "$lib_folder/all.dbc" "$lib_folder/wrong.dbc" || return 1
	lib_not canmatrix "$lib_folder/wrong.dbc" {1..31} >"$lib_folder/out" &&
		grep -q ': the page says ' "$lib_folder/out"
}

if ! /usr/bin/python3 -W ignore -c 'import canmatrix.formats' 2>"$lib_folder/stderr"; then
	echo "this test needs python3-canmatrix: run scripts/setup"
fi

# The command that the page gives, with other modules.
# shellcheck disable=SC2016 # those are fences
sed -n '/^```sh$/,/^```$/{/^```/d;p}' "$page" >"$lib_folder/command"
modules() { # MODULES
	sed "s/modules='[0-9 ]*'/modules='$*'/" "$lib_folder/command" | bash
}

modules {1..31} >"$lib_folder/all.dbc"
modules 1 >"$lib_folder/one.dbc"
modules 4 13 >"$lib_folder/two.dbc"

lib_case 'module 1, as the file has it' agrees "$dbc" 1
lib_case 'all modules, with the vectors' agrees "$lib_folder/all.dbc" {1..31}
lib_case 'two modules' agrees "$lib_folder/two.dbc" 4 13
lib_case 'the command for module 1 gives the file' diff -B "$dbc" "$lib_folder/one.dbc"

# The comparison notices what it is for.
lib_case 'another byte order' differs 's/SG_ ActualPosition m60 : 16|32@1-/SG_ ActualPosition m60 : 23|32@0-/'
lib_case 'an integer instead of a real' differs '/SIG_VALTYPE_ 165 ActualVelocity /d'
lib_case 'a real one byte further' differs 's/SG_ MoveCurrent m8 : 16|32/SG_ MoveCurrent m8 : 24|32/'
lib_case 'no sign' differs 's/SG_ RawCurrent m53 : 16|16@1-/SG_ RawCurrent m53 : 16|16@1+/'
lib_case 'another parameter' differs 's/MaxCurrent GetParameter 76-76/MaxCurrent GetParameter 77-77/'
lib_case 'another bit' differs 's/SG_ StateTowError m39 : 20|1/SG_ StateTowError m39 : 21|1/'
lib_case 'another unit of time' differs 's/(0.001,0)/(0.01,0)/'
lib_case 'another unit' differs 's/\(SG_ BusVoltage .*\)"V"/\1"A"/'
lib_case 'a motion too few' differs 's/MoveStatus Motion 4-4, 6-6, 7-7, 8-8/MoveStatus Motion 4-4, 6-6, 7-7/'
lib_case 'an identifier' differs 's/^BO_ 170 /BO_ 1700 /'
lib_end

#!/bin/bash
# test_page.sh: each test that endplate-security(7) names exists, and it names every file of this folder.
set -eu
. test/scripts/lib.sh
page=daemons/endplate-security.7

defines() { # FILE CASE: as a function, or as the name of a case
	grep -qE "^test_$2\(\)|lib_case $2 |^(static void |TEST\()(test_)?$2\>" "$1" ||
		{ echo "$1 has no $2" && return 1; }
}
exists() { # FILE [CASE]
	[ -f "$1" ] || { echo "$1 is not there" && return 1; }
	[ $# -eq 1 ] || defines "$1" "$2"
}

while read -r file name; do
	# shellcheck disable=SC2086 # none or one
	lib_case "$file:$name" exists "$file" $name
done < <(sed -n 's/^\.Bq Pa //p' "$page")

for file in test/attacks/test_*.sh; do
	[ "$file" = test/attacks/test_page.sh ] || lib_case "names_$file" grep -q "^\.Bq Pa $file " "$page"
done
lib_case names_many test "$lib_cases" -gt 40
lib_case begins_with_the_bus grep -q -A1 '^\.Sh DESCRIPTION' <(grep -B1 '^SocketCAN checks no permission' "$page")
lib_end

# shellcheck shell=bash
# For tests of a driver's settings (sourced with PROGRAM OPTION...): what it refuses, before anything is opened, and the
# frames that it declares.  KEY=VALUE of these functions are settings.
. test/scripts/lib.sh
settings_line=("$build/$1" "${@:2}")

check() { "${settings_line[@]}" --check "${@/#/--set=}" 2>&1; } # [KEY=VALUE]...
refuses() { # WORDS [KEY=VALUE]...
	local said status=0
	said=$(check "${@:2}") || status=$?
	[[ $status -eq 100 && $said == *"$1"* ]] || { echo "$status: $said"; return 1; }
}
frames() { "${settings_line[@]}" --frames "${@/#/--set=}"; } # [KEY=VALUE]...
ids() { # tx|rx [KEY=VALUE]...
	frames "${@:2}" | grep -o "\"id\":\"[0-9A-F]*\"[^}]*\"dir\":\"$1\"" | cut -d'"' -f4 | sort -u | tr '\n' ' '
}
is() { [ "$1" = "$2" ] || { echo "$1"; return 1; }; }

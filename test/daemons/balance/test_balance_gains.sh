#!/bin/bash
# The gains that balanced computes are those of scripts/balance-gains, which computes them in another way.
set -eu
. test/scripts/lib.sh
lib_tmp

same() { # WAIST
	BUILD=$build scripts/balance-gains --waist "$1" >"$lib_folder/script"
	"$build/test/daemons/balance/balance_gains_print" | awk -v waist="$1" '
		NR == FNR { for (i = 5; i <= 8; i++) want[i - 3] = $i; next }
		$1 == waist { found = 1; for (i = 2; i <= 5; i++) if (($i / want[i] - 1) ^ 2 > 1e-10) wrong = 1 }
		END { exit !found || wrong }' "$lib_folder/script" -
}
for waist in 0.300 1.200 2.800; do
	lib_case "gains at waist $waist" same "$waist"
done
lib_case 'an unknown setting is refused' lib_matches 2 '*upper_mas: balanced has no such number*' \
	env BUILD="$build" scripts/balance-gains upper_mas=3
lib_end

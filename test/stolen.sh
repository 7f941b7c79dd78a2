# shellcheck shell=bash
# Processor time that the host of a virtual machine took for itself (steal in proc(5)).  Sourced by what runs tests: a
# robot whose processors are taken away for tens of milliseconds rightly reports faults, and its test then fails.

export STOLEN_PERCENT=5 # from here on a failed test says little

# "ALL STOLEN": the processors' time so far, in ticks.  TEST_STAT: another /proc/stat.
stolen_times() {
	awk '$1 == "cpu" { print $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9, $9 + 0; exit }' "${TEST_STAT:-/proc/stat}"
}

# "ALL STOLEN" as it was: how many percent were taken since.
stolen_percent() {
	echo "$1 $(stolen_times)" | awk '{ all = $3 - $1; print (all > 0 ? int(100 * ($4 - $2) / all) : 0) }'
}

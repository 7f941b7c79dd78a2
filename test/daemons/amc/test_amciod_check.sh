#!/bin/bash
# test_amciod_check.sh: what amciod says before it opens a bus: settings, load of the bus, the data sheet of the drive.
# shellcheck disable=SC2317 # called by name
set -eu
. test/daemons/drv/settings.sh amciod --name wheels --bus wire:base '--set=drives=0x20 left, 0x21 right -'
lib_tmp
sheet=$lib_folder/drive.eds

# Objects of the set-up: index, type (5 is a byte, 6 two, 7 four) and sub-indices.
write_sheet() {
	local index type subs sub
	while read -r index type subs; do
		for sub in $subs; do
			printf '[%ssub%s]\nParameterName=object %s\nDataType=0x%04X\n' "$index" "$sub" "$index" "$type"
		done
	done >"$sheet" <<-END
		20D8 6 9 C
		20D8 7 24
		2032 6 8
		6061 5 0
		1016 7 1
		1017 6 0
		2121 6 0
		2124 6 0
		1402 7 1
		1402 5 2
		1403 7 1
		1403 5 2
		1404 7 1
		1404 5 2
		1819 7 1
		1819 5 2
		1A19 5 0
		1A19 7 1 2 3
	END
}

test_a_data_sheet_with_every_object_is_accepted() {
	write_sheet
	check "eds=$sheet"
}
test_an_object_that_is_missing_is_named() {
	write_sheet
	sed -i 's/1A19sub2/1A19sub4/' "$sheet"
	refuses 'no object 0x1A19.02' "eds=$sheet"
}
test_an_object_of_another_size_is_named() {
	write_sheet
	sed -i '/\[2032sub8\]/,/DataType/s/0x0006/0x0007/' "$sheet"
	refuses 'object 0x2032.08, object 2032, has 4 bytes, not 2' "eds=$sheet"
}
test_a_data_sheet_that_is_not_there() {
	refuses 'No such file' "eds=$lib_folder/nothing.eds"
}
test_a_heartbeat_that_is_too_slow() {
	refuses 'at most half of guard_time' heartbeat=150ms
}
test_a_node_twice() {
	refuses 'this node is in the list already' 'drives=1 left, 1 right'
}
# The identifiers of the drives, and one RPDO of three with a period.
test_frames() {
	python3 - "$(frames)" <<-'END'
		import json, sys
		frames = json.loads(sys.argv[1])["frames"]
		periodic = {f["id"] for f in frames if f["period_us"]}
		assert periodic == {"2E2", "2E3", "2E9", "2EA", "77F"}, periodic
		moving = {f["id"] for f in frames if f["moves"]}
		assert moving == {"2E0", "2E1", "2E2", "2E7", "2E8", "2E9"}, moving
		assert [f["shared"] for f in frames if f["id"] in ("080", "000")] == [True] * 3
	END
}

lib_functions "$lib_folder/log" "${1:-}"

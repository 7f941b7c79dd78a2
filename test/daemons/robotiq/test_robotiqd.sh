#!/bin/bash
# robotiqd's settings: what it refuses, before anything is opened, and the frames that it declares.
set -eu
. test/daemons/drv/settings.sh robotiqd --name grip --bus wire:hand

lib_case 'as it is' check
lib_case 'another command of a read' check upload=0x4F
lib_case 'but not any' refuses 'upload: it must be 0x40 or 0x4F' upload=0x41
lib_case 'a range of positions' refuses 'position_min: it is above position_max' position_min=0.5 position_max=0.4
lib_case 'a force within its range' refuses 'above the maximum 1' force_max=1.5
lib_case 'registers refresh 200 times a second' refuses 'below the minimum 5ms' refresh=2ms
lib_case 'silence is longer than a tick' refuses 'silent_after: it must be at least 2 ticks and twice' \
	silent_after=100ms
lib_case 'it sends NMT and SDO' is "$(ids tx)" '000 60B '
lib_case 'and hears SDO and NMT' is "$(ids rx)" '58B 70B '
lib_case 'with PDOs RPDO 1' is "$(ids tx pdo=yes)" '000 20B 60B '
lib_case 'and TPDO 1 and 2' is "$(ids rx pdo=yes)" '18B 28B 58B 70B '
lib_case 'of another node' is "$(ids tx node=5)" '000 605 '
lib_end

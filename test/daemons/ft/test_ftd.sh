#!/bin/bash
# ftd's settings: what it refuses, before anything is opened, and the frames that it declares.
set -eu
. test/daemons/drv/settings.sh ftd --name ft --bus wire:wrist

lib_case 'the defaults' check
lib_case 'a mounting of three angles' refuses 'mounting: 2 values, 3 are needed, such as' mounting=[0,45]
lib_case 'a centre of three lengths' refuses 'tool_center: 1 values, 3 are needed' tool_center=[0.1]
lib_case 'gravity of three numbers' refuses 'gravity: 2 values, 3 are needed, such as' gravity=[0,-1]
lib_case 'gravity that points somewhere' refuses 'gravity: a direction' 'gravity=[0,0,0]'
lib_case 'lost is not sooner than late' refuses 'reply_lost: it must be at least' reply_late=20ms
lib_case 'silence is longer than three ticks' refuses 'silent_after: it must be at least 3 ticks' tick=20ms
lib_case 'a reset waits 10 ms' refuses 'reset_wait' reset_wait=9ms
lib_case 'a base of 7 bits' refuses 'base' base=0x80
lib_case 'it sends' is "$(ids tx)" '200 202 205 206 207 208 20C 20F '
lib_case 'it receives' is "$(ids rx)" '200 201 202 205 206 207 208 20F '
lib_case 'with another base' is "$(ids tx base=0x21)" '210 212 215 216 217 218 21C 21F '
lib_end

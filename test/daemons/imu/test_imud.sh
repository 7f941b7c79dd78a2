#!/bin/bash
# imud's settings: what it refuses, before anything is opened, and the frames that it declares.
set -eu
. test/daemons/drv/settings.sh imud --name imu --bus wire:base

lib_case 'it has to be said which one it is' refuses 'kind is missing' rate=200
lib_case 'a mounting of three angles' refuses 'mounting: 2 values, 3 are needed, such as' kind=dmu mounting=[0,45]
lib_case 'silence is longer than a few samples' refuses 'silent_after: with rate 10 Hz' kind=mti rate=10
lib_case 'so is the time to listen' refuses 'listen: with rate 50 Hz' kind=dmu rate=50 silent_after=1s
lib_case 'and it is longer than two ticks' refuses 'listen: it must be at least two ticks' kind=dmu tick=50ms
lib_case 'a retry is at least as long' refuses 'retry: it must be at least listen' kind=dmu retry=20ms
lib_case 'two identifiers' refuses 'acceleration_id: it must differ' kind=mti rate_id=0x61 acceleration_id=0x61
lib_case 'a DMU' check kind=dmu
lib_case 'an MTi of 10 Hz, which is not toggled' check kind=mti rate=10 silent_after=1s
lib_case 'a DMU is sent its toggle' is "$(ids tx kind=dmu)" '090 '
lib_case 'and hears two identifiers' is "$(ids rx kind=dmu)" '040 050 '
lib_case 'an MTi is sent nothing' is "$(ids tx kind=mti)" ''
lib_end

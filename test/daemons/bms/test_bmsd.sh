#!/bin/bash
# bmsd's settings: what it refuses, before anything is opened, and the frames that it declares.
set -eu
. test/daemons/drv/settings.sh bmsd --name battery --bus wire:torso
tick() { frames "$@" | grep -o '"tick_us":[0-9]*'; }

lib_case 'a keep-alive is at least a tick' refuses 'keep_alive: it must be at least 1 tick' keep_alive=100ms
lib_case 'critical is below low' refuses 'charge_critical: it must not be above charge_low' charge_critical=0.3
lib_case 'cold is below hot' refuses 'temperature_low: it must be below' temperature_low=60
lib_case 'low is below high' refuses 'voltage_low: it must be below' voltage_low=60 voltage_high=50
lib_case 'cells have an identifier of their own' refuses 'the pack itself sends 0x356' cells=15 cell_id=0x356
lib_case 'nor that of the keep-alive' refuses '0x305 is the keep-alive' cells=15 cell_id=0x305
lib_case 'at most 128 cells' refuses 'above the maximum 128' cells=129
lib_case 'equal thresholds' check charge_low=0.1
lib_case 'an identifier without cells' check cell_id=0x356
lib_case 'a low voltage alone' check voltage_low=44
lib_case 'a keep-alive as long as a tick' check keep_alive=250ms
lib_case 'it sends a keep-alive' is "$(ids tx)" '305 '
lib_case 'or nothing' is "$(ids tx keep_alive=0s)" ''
lib_case 'a pack' is "$(ids rx)" '351 355 356 359 35C '
lib_case 'and cells' is "$(ids rx cells=15)" '036 351 355 356 359 35C '
lib_case 'its tick is slow' is "$(tick)" '"tick_us":250000'
lib_case 'or another' is "$(tick tick=1s)" '"tick_us":1000000'
lib_end

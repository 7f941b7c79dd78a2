#!/bin/bash
# The driver that asks, and a simulated force gauge on a soft wire.
# shellcheck disable=SC2317 # called by name
set -eu
. test/lib/device.sh
device_robot gauge wrist <<'ROBOT'
robot: lab
buses:
  wrist: {interface: wire:wrist}
devices:
  gauge:
    driver: gauged
    bus: wrist
    settings: {lock_memory: no}
    sim: {z: 12}
ROBOT

# ---- words for the tests ----

asked() { robotsim report gauge.1 | grep -o 'asked [0-9]*' | tr -dc 0-9; }
request() { # WORDS VERB: it says so
	achctl request gauge "$2" 2>&1 | grep -qF "$1"
}

# ---- one life, in order ----

begin 'asks for its factors and the stream, and measures'
start gauged
lib_until is force '0 0 12 N'
lib_until is common.lifecycle active
lib_until is header.flags simulated
is torque 'nan nan nan N m'
is saturated 0

begin 'a bias is answered when the gauge has answered'
request biased bias
lib_until is force '0 0 0 N'
robotsim set gauge.1 z=14
lib_until is force '0 0 2 N'
robotsim set gauge.1 x=900
lib_until is saturated 1

begin 'a verb that it does not have is refused'
request 'gauged does not do that' home

begin 'three tries, then no answer is reported'
robotsim fault gauge.1 deaf
before=$(asked)
request 'the gauge did not answer, or refused' bias
[ "$(asked)" -eq $((before + 3)) ]
is common.lifecycle active # it streams all the same
robotsim fault --clear gauge.1 deaf
robotsim set gauge.1 x=0
lib_until request biased bias # once its reply is no longer owed

begin 'a refusal is an answer'
robotsim fault gauge.1 refuses
before=$(asked)
request 'the gauge did not answer, or refused' bias
[ "$(asked)" -eq $((before + 1)) ]
robotsim fault --clear gauge.1 refuses

begin 'silence is a fault, and afterwards it is asked again'
robotsim fault gauge.1 silent
lib_until is common.lifecycle fault
lib_until logged 'the gauge has been silent'
robotsim fault --clear gauge.1 silent
lib_until is common.lifecycle active
lib_until is force '0 0 14 N' # it has forgotten the bias

begin 'no answer at the start is a fault until there is one'
stop
: >"$lib_folder/driver"
robotsim fault gauge.1 deaf
start gauged
lib_until logged 'no answer in 3 tries'
lib_until is common.lifecycle fault
robotsim fault --clear gauge.1 deaf
lib_until is common.lifecycle active
lib_until logged 'no-answer is over'
stop
begin end

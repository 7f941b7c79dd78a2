#!/bin/bash
# achdds with DDS Security: a participant without keys gets nothing, and moves the robot only if its permissions say so.
# waits: mostly
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
folder=$(mktemp -d)
export LC_ALL=C PATH=$build:$build/test/dds:$PATH ENDPLATE_PREFIX=sec$$- ENDPLATE_RUN=$folder/run
unset NOTIFY_SOCKET ROS_DOMAIN_ID XDG_RUNTIME_DIR CYCLONEDDS_URI EAR_KEYS
p=$ENDPLATE_PREFIX
domain=$(($$ % 100 + 1))
trap 'lib_remove_channels "$p"; rm -rf "$folder"' EXIT
mkdir -m 700 "$ENDPLATE_RUN"

scripts/dds-keys "$folder/keys" robot
scripts/dds-keys "$folder/keys" reader publish=ros_discovery_info
scripts/dds-keys "$folder/keys" mover 'publish=rt/waist/*,ros_discovery_info'
# Keys of another authority.
scripts/dds-keys "$folder/others" mover
{
	printf '%s\n' "domain: $domain" security:
	for file in identity_ca certificate key permissions_ca; do echo "  $file: $folder/keys/robot/$file.pem"; done
	for file in governance permissions; do echo "  $file: $folder/keys/robot/$file.p7s"; done
	printf '%s\n' 'publish: {/joint_states: {channel: joint-state}}' 'subscribe:' \
		'  /waist/command: {device: joint, type: sensor_msgs/JointState, who: secured}'
} >"$folder/plan"

start() {
	rm -f "$folder"/state "$folder"/got*
	every drive 100 &
	achdds --state "$folder/state" "$folder/plan" 2>>"$folder/said" &
	lib_until test -s "$folder/state"
}
ear_as() { # [KEYS] COMMAND...: ear, with these keys; instead of this shell
	EAR_KEYS=${1:+$folder/$1} exec ear "$domain" "${@:2}"
}
topic='rt/joint_states sensor_msgs::msg::dds_::JointState_ best'
reference=$(every inputs | sed -n 's|rt/in/joint |rt/waist/command |p')
lines() { [ "$(grep -c "$1" "$2")" -ge "$3" ]; } # PATTERN FILE N
taken() { sed 's/.*"taken":\([0-9]*\).*/\1/; t; d' "$folder/state"; }
more_taken() { [ "$(taken)" -gt "$1" ]; }

test_a_participant_without_keys_gets_nothing() {
	start
	ear_as '' read <<<"$topic" >"$folder/got.bare" &
	ear_as others/mover read <<<"$topic" >"$folder/got.others" &
	ear_as keys/reader read <<<"$topic" >"$folder/got" &
	# One with keys gets a hundred samples meanwhile.
	lib_until lines '^rt' "$folder/got" 100
	[ ! -s "$folder/got.bare" ]
	[ ! -s "$folder/got.others" ]
}

test_only_permissions_let_references_in() {
	start
	ear_as '' write 50 <<<"$reference" >"$folder/got.bare" &
	ear_as others/mover write 50 <<<"$reference" >"$folder/got.others" &
	ear_as keys/reader read <<<"$topic" >"$folder/got" &
	lib_until lines '^rt' "$folder/got" 100
	# The library does not make a writer that its own permissions forbid.
	lib_not env EAR_KEYS="$folder/keys/reader" timeout 60 ear "$domain" write 50 <<<"$reference"
	[ "$(taken)" = 0 ]
	lib_not "$build/ach" echo --last "${p}joint-ref"
	ear_as keys/mover write 50 <<<"$reference" >"$folder/got.mover" &
	lib_until more_taken 10
}

lib_functions "$folder/log" "${1:-}"

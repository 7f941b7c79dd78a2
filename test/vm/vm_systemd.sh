#!/bin/bash
# vm_systemd.sh: the limits of endplate@, which a test machine may not be allowed to raise; the rest of the unit is in
# test/install/test_systemd.sh.
# shellcheck disable=SC2317 # called by name
set -eu
. test/vm/lib.sh
lib_tmp
. test/install/systemd.sh

test_real_time() {
	starts
	own_user
	real_time
	stops
}

[ -x /lib/systemd/systemd ] || { lib_ignore all 'systemd is not installed here'; lib_end; exit; }
mkdir -p /usr/local/bin /usr/local/lib/systemd/system
cp "$build"/{achstart,achctl,canwire,robotsim,hubo-daemon,pciod} /usr/local/bin
sed 's|@PREFIX@|/usr/local|g' launch/systemd/endplate@.service >/usr/local/lib/systemd/system/endplate@.service
make_robot
boot
lib_functions "$folder/log" "${1:-}"

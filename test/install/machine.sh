# shellcheck shell=bash
# For script tests, after test/vm/lib.sh: a machine that may be changed.
#
# The machine is this one, but nothing that is written is kept: its root is an overlay.

# shellcheck disable=SC2016 # for the shell inside
machine='set -eu
	place=$1 tree=$2 build=$3
	mount --make-rprivate /
	mount -t tmpfs place "$place"
	cd "$place"
	mkdir upper work root
	mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work root root
	mount --rbind /proc root/proc
	mount -t tmpfs -o mode=755 dev root/dev
	mkdir root/dev/shm root/dev/pts
	mount -t tmpfs shm root/dev/shm
	mount -t devpts -o newinstance,ptmxmode=666 pts root/dev/pts
	ln -s pts/ptmx root/dev/ptmx
	ln -s /proc/self/fd root/dev/fd
	for device in null zero full random urandom tty; do
		touch root/dev/$device
		mount --bind /dev/$device root/dev/$device
	done
	touch root/dev/kmsg
	mount -t tmpfs tmp root/tmp
	mount -t sysfs sys root/sys
	mount -t cgroup2 cgroup root/sys/fs/cgroup
	for folder in "$tree" "$build"; do
		mkdir -p "root$folder"
		mount --bind "$folder" "root$folder"
	done
	rm -rf root/etc/systemd/system.conf root/etc/systemd/system.conf.d # of this machine: a watchdog, for one
	exec chroot root "${@:4}"'

alone() { # COMMAND...
	unshare --mount --net --ipc --uts --cgroup bash -c "$machine" bash "$lib_folder" "$(pwd -P)" "$build" "$@"
}

# "$@" of the script: runs it again inside, with --inside in front, and ends it.
enter_machine() {
	[ "${1:-}" != --inside ] || return 0
	lib_tmp
	if [ ! -x /lib/systemd/systemd ]; then
		lib_ignore all 'systemd is not installed here'
	elif ! alone true 2>"$lib_folder/why"; then
		lib_ignore all "no overlay or cgroups here: $(tail -n 1 "$lib_folder/why")"
	else
		# shellcheck disable=SC2016 # for the shell inside
		alone env TMPDIR=/tmp bash -c 'cd "$0" && exec bash "$@"' "$(pwd -P)" "$0" --inside "$@"
		exit
	fi
	lib_end
	exit
}

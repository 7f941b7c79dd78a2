# shellcheck shell=bash
# Sourced by make and test_replay_live.sh: a case in a folder of its own, and a robot on the virtual clock.

# CASE FOLDER: all files of the case, those of its likes first.
loop_copy() {
	local from=test/launch/loop/$1
	[ ! -e "$from/like" ] || loop_copy "$(<"$from/like")" "$2"
	find "$from" -maxdepth 1 -type f ! -name like -exec cp -t "$2" {} +
}

loop_name() { sed 's/.*--name \([^ ]*\).*/\1/' driver; } # of the driver's daemon

# Runs achstart in the present folder with a /dev/shm, /run and processes of its own.
loop_achstart() { # OPTION... FILE
	# shellcheck disable=SC2016 # for the shell inside
	unshare -minpf --kill-child --mount-proc bash -c '
		mount -t tmpfs shm /dev/shm && mount -t tmpfs run /run
		unset ENDPLATE_RUN ENDPLATE_PREFIX XDG_RUNTIME_DIR NOTIFY_SOCKET
		timeout -s KILL 100 achstart --virtual --startup 2ms "$@"
		status=$?
		cp -r /run/endplate/loop/log log 2>/dev/null
		exit $status' achstart "$@"
}

# Plays the recording in the present folder: report is what canreplay says, and its status.
loop_play() {
	local name bus args word status
	name=$(loop_name)
	bus=$(sed -n '/^buses:/{n;s/^  *\([^:]*\):.*/\1/p}' robot.yaml)
	# shellcheck disable=SC2046 # a command line
	$(<driver) --frames >frames.json
	[ ! -e change ] || bash -e change
	args="$(echo bus.*), --closed-loop, --frames, frames.json, --map, '*=wire:$bus', --diff, --report, report"
	[ ! -e refs.rec ] || args+=", --channels, refs.rec"
	for word in $([ ! -e options ] || cat options); do args+=", '$word'"; done
	cat >replay.launch <<-EOF
		include: robot.yaml
		clock: none
		arm: auto
		daemons:
		  canwire:
		  devices:
		    program: canreplay
		    args: [$args]
		    needs: canwire
		    alive: watchdog
		    restart: never
		  $name: {needs: $([ -e needs ] && cat needs || echo devices)}
	EOF
	rm -rf report log
	loop_achstart --for "${LOOP_FOR:-2s}" replay.launch >said 2>&1 || { cat said && return 1; }
	status=$(sed -n 's/.*achstart\[devices\]: .*exit status \([0-9]*\).*/\1/p' said | head -n 1)
	[ -e report ] || { cat said log/devices.log && return 1; }
	sed -n 's/^[-0-9:. ]*canreplay: /canreplay: /p' log/devices.log >>report
	echo "exit status $status" >>report
}

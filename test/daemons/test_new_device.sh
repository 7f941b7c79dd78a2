#!/bin/bash
# A device that is copied under another name is found by make, lint, coverage, simulator and safety suite, though no
# file that is not its own was changed; lint says which rows README.md, hw-docs/README.md and robotsim(1) lack.
# shellcheck disable=SC2317 # called by name
set -eu
. test/scripts/lib.sh
lib_tmp
case $build in /*) ;; *) build=$PWD/$build ;; esac
tree=$lib_folder/tree
mkdir "$tree"
cp -r Makefile NEWS ./*.md config channels can daemons hw-docs launch test "$tree"
cd "$tree"

copy() { # FROM TO: the example's file as that of the new device
	mkdir -p "${2%/*}"
	sed 's/example/novel/g; s/EXAMPLE/NOVEL/g; s/turntable/novelty/g' "$1" >"$2"
}
for page in md dbc; do
	copy hw-docs/devices/example.$page hw-docs/devices/novel.$page
done
copy daemons/robotsim/turntable.c daemons/robotsim/novelty.c
copy test/daemons/safety/safety_exampled.c test/daemons/safety/safety_noveld.c
for file in daemons/example/* test/daemons/example/*; do
	copy "$file" "${file//example/novel}"
done

said() { # PATTERN COMMAND...: its output has the pattern
	grep -qE -- "$1" <<<"$("${@:2}" 2>&1)" || { "${@:2}" 2>&1 | tail -n 5; return 1; }
}
silent() { # PATTERN COMMAND...: it has not
	! "${@:2}" 2>&1 | grep -E -- "$1"
}
made() { # TARGET...
	make -s BUILD=made "$@"
}

objects_of_its_own() {
	made made/daemons/novel/{novel,noveld}.o made/daemons/robotsim/{novelty,sim_kinds}.o
}
simulator_knows_it() {
	gcc -o made/robotsim "$build/daemons/robotsim/robotsim.o" made/daemons/robotsim/{novelty,sim_kinds}.o \
		-Wl,--start-group "$build"/daemons/robotsim.a "$build/sim_settings.a" \
		"$build"/{can,channels,config}/*.a \
		-Wl,--end-group -lyaml -l:libz.a -l:libzstd.a -l:liblz4.a -lm -pthread &&
		said 'with driver: noveld' made/robotsim run --settings
}
driver_runs() {
	gcc -o made/noveld made/daemons/novel/{novel,noveld}.o -Wl,--start-group "$build/daemons/drv.a" \
		"$build"/{can,channels,config}/*.a -Wl,--end-group \
		-lyaml -l:libz.a -l:libzstd.a -l:liblz4.a -lm -pthread &&
		said '"driver":"noveld"' made/noveld --name new --bus can0 --frames
}

lib_case "it is compiled" objects_of_its_own
lib_case "the simulator plays it" simulator_knows_it
lib_case "the driver runs" driver_runs
lib_case "make builds its program and its shared object" said 'LD made/noveld' \
	make -n BUILD=made made/noveld made/noveld.so
lib_case "every line of its codec is to be run" said '^daemons/novel/novel.c test/daemons/novel/test_novel.c' \
	test/coverage/units
lib_case "its codec is to be pure" silent novel env BUILD=made test/lint/codecs
lib_case "its includes are checked" silent novel test/lint/includes
lib_case "libFuzzer gets it" said 'daemons/novel/novel\.c' make -n -p BUILD=made syntax
lib_case "the safety suite runs for it" silent novel test/lint/actuators
safety_lists_it() {
	made made/test/daemons/safety/safety_actuators.c &&
		grep -q '&safety_noveld' made/test/daemons/safety/safety_actuators.c
}
lib_case "the safety suite has its table" safety_lists_it
rm test/daemons/safety/safety_noveld.c
lib_case "it needs one" said 'noveld takes references; describe it' test/lint/actuators
sed -i 's/Checked: pure, covered/Nothing is checked/' daemons/novel/novel.c
lib_case "it needs a codec" said 'daemons/novel: no codec' env BUILD=made test/lint/codecs
pages=$(test/lint/pages 2>&1) || true
# shellcheck disable=SC2016 # as Markdown has it
for row in 'README.md: lacks `noveld`; write: |' 'robotsim.1: lacks .Xr noveld 1' \
	'README.md: lacks (devices/novel.dbc)'; do
	lib_case "lint pages: $row" grep -qF "$row" <<<"$pages"
done
lib_end

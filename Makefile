# Endplate.  make, make test, make test-vm, make bench, make bench-peers, make bench-starts, make verify, make fuzz,
# make coverage, make mutate, make lint, make soak, make install, make clean
#
#	CC=gcc|clang   CFLAGS=...   SAN=address,undefined|thread   PREFIX=/usr/local DESTDIR=   V=1 shows commands
#
# Everything made lies under $(BUILD), laid out as the sources are; SAN has a build folder of its own.

ROOMS = config channels can daemons launch

ifeq ($(origin CC),default)
CC = gcc
endif
comma := ,
BUILD = build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
ifeq ($(BUILD),)
$(error BUILD is empty, and everything would be made in /: give a folder, or leave it out)
endif
# Less to compile: sanitizers find the same with less optimization and less debugging data.  Tests need none, but for
# what they include; what they test has its own.  Both are linked by the faster linker, if it is there.
QUICK = -O1 -g1
TEST_CFLAGS = -O0 -g1
FULL = $(if $(SAN),$(QUICK),-O2 -g)
CFLAGS = $(FULL)
QUICK_LINK := $(if $(shell command -v ld.lld),-fuse-ld=lld)
WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wold-style-definition -Wmissing-prototypes \
	-Wmissing-declarations -Wpointer-arith -Wwrite-strings -Wundef -Wvla -Wformat=2 -Winit-self
# Empty, not 1, so that a file may say #define _GNU_SOURCE too.  No contraction: the same arithmetic everywhere.
ALL_CFLAGS = -std=gnu11 -ffp-contract=off -I. -D_GNU_SOURCE= -fPIC -pthread $(WARNINGS) $(CFLAGS) $(SANITIZE)
# With less optimization gcc knows less of what a format may print, and warns.
SANITIZE = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer \
	$(if $(findstring clang,$(CC)),,-Wno-format-truncation))
LINK = $(CC) -pthread $(CFLAGS) $(SANITIZE) $(if $(SAN)$(filter $(TEST_PROGRAMS),$@),$(QUICK_LINK)) $(LDFLAGS)

PREFIX = /usr/local
BINDIR = $(PREFIX)/bin
LIBDIR = $(PREFIX)/lib
INCLUDEDIR = $(PREFIX)/include
MANDIR = $(PREFIX)/share/man
MANIFEST = $(PREFIX)/share/endplate/manifest
HEADERSDIR = $(PREFIX)/share/endplate/include
KITDIR = $(PREFIX)/share/endplate/driver
# Where Debian's python3 looks.
PYTHONDIR = $(PREFIX)/lib/python$(if $(filter /usr,$(PREFIX)),3,$(PYTHON_VERSION))/dist-packages
PYTHON_VERSION = $(shell /usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')

VERSION = 2.0.0
SONAME = libach.so.2
LIBACH = $(BUILD)/libach.a
LIBACH_SO = $(BUILD)/libach.so.$(VERSION)
ENDPLATE_VERSION = 1.0.0
ENDPLATE_SONAME = libendplate.so.1
LIBENDPLATE = $(BUILD)/libendplate.a
LIBENDPLATE_SO = $(BUILD)/libendplate.so.$(ENDPLATE_VERSION)

# ---- what there is ----

# A device has a folder of its own.  No device sees another, so that their order is of no importance.
DEVICES := $(sort $(filter-out $(addprefix daemons/,drv drvhost kit clock balance demo robotsim),\
	$(patsubst %/,%,$(wildcard daemons/*/))))
# The ladder: each folder is a library, and uses those above it in this list only.  NAME.c with a main is the program
# NAME.
LADDER = config/base config/settings \
	channels/plan channels/ach channels/msg channels/clock channels/port channels/estop channels/ros channels/rec \
	channels/client channels/tool \
	can/bus can/canopen can/slots can/log can/load can/replay can/wire can/tool \
	daemons/drv daemons/drvhost daemons/clock $(DEVICES) daemons/balance daemons/demo daemons/robotsim \
	launch/file launch/view launch/check launch/record launch/achdoctor launch/achctl launch/achweb launch/achdds \
	launch/achstart launch/hubo

object = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)))
program = $(patsubst %.c,$(BUILD)/%,$(wildcard $(1)))

SOURCES := $(wildcard $(LADDER:=/*.c))
MAINS := $(shell grep -l '^int main\>' $(SOURCES) /dev/null)
TOOLS = $(patsubst %.c,$(BUILD)/%,$(notdir $(MAINS)))
main = $(patsubst %.c,$(BUILD)/%.o,$(filter %/$(1).c,$(MAINS)))
# All of a folder but its programs.
parts = $(filter-out $(MAINS:%.c=$(BUILD)/%.o),$(call object,$(1)/*.c))
# As the linker wants it, the top first.
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
library = $(patsubst %,$(BUILD)/%.a,$(call reverse,$(filter $(1),$(LADDER))))
LIBS := $(call library,%)
LIBRARIES = -lyaml -l:libz.a -l:libzstd.a -l:liblz4.a -lm

ACH_OBJECTS = $(call object,channels/ach/ach*.c)
ENDPLATE_OBJECTS = $(call object,channels/client/endplate*.c)
# The simulator is linked without the code of drivers, so that the two can disagree; what reads settings is in both.
SIM_LIBS = $(BUILD)/daemons/robotsim.a $(BUILD)/sim_settings.a $(call library,can/% channels/% config/%)
SETTINGS_OBJECTS = $(call object,daemons/drv/setup_rows.c daemons/drv/drv_tick_parse.c daemons/drv/drv_ref_ramp.c \
	$(addsuffix /*_list.c,$(DEVICES)) $(addsuffix /*_table.c,$(DEVICES)))
# Drivers with a DRV_OBJECT are shared objects for drvhost, too.
OBJECT_MAINS := $(shell grep -l '^DRV_OBJECT\>' $(SOURCES) /dev/null)
DRIVER_OBJECTS = $(patsubst %.c,$(BUILD)/%.so,$(notdir $(OBJECT_MAINS)))
# The files in the folder of a driver.
driver_parts = $(call object,$(dir $(filter %/$(1).c,$(OBJECT_MAINS)))*.c)
# All that a driver may call, and all that a simulated device may; as one library each for those outside the tree.
HOST_ROOMS = $(filter daemons/drv can/bus can/slots can/canopen can/log channels/ach channels/msg channels/clock \
	channels/port channels/estop config/%,$(LADDER))
HOST_LIBS = $(call library,$(HOST_ROOMS))
SIM_ROOMS = $(filter daemons/robotsim can/bus channels/ach channels/msg channels/clock channels/port config/%,$(LADDER))
SIM_HOST_LIBS = $(call library,$(SIM_ROOMS))
LIBDRIVER = $(BUILD)/libendplate-driver.a
LIBSIM = $(BUILD)/libendplate-sim.a
# What a driver or a simulated device includes, with all that these include.
KIT_INCLUDES = $(addsuffix .h,config/base/base config/settings/settings channels/msg/msg channels/clock/vt_clock \
	can/bus/frame_text $(addprefix can/canopen/,cia402 eds emcy nmt pdo sdo) \
	$(addprefix daemons/drv/,drv drv_missed drv_output drv_refused drv_unheard mounting mounting_settings refmux) \
	$(addprefix daemons/robotsim/,body joint sim_base sim_random))
KIT_HEADERS = $(filter %.h,$(shell $(CC) $(ALL_CFLAGS) $(addprefix -include ,$(KIT_INCLUDES)) -MM -x c /dev/null))
# The files of a new driver, laid out as here: daemons/kit/endplate-new-driver.
KIT_FILES = $(wildcard daemons/example/*.* daemons/kit/*.mk test/lib/unity/unity.h test/lib/device.sh \
	test/lib/testcase.[ch] test/scripts/lib.sh test/daemons/drv/page_lib.[ch]) \
	$(addprefix test/daemons/example/,test_example.c test_exampled.sh) daemons/robotsim/turntable.c \
	$(addprefix hw-docs/,devices/example.md devices/example.dbc guides/write-a-driver.md) daemons/drvhost/object.map
EXAMPLES = $(call program,channels/examples/*.c)
CONTROLLERS = $(call program,channels/client/examples/*.c)
HEADERS = channels/ach/ach.h channels/ach/Ach.hpp
# The module of Python: its files, and the layouts that the tool prints, so that an import starts no process.
PYTHON_MODULE = $(patsubst channels/%,$(BUILD)/%,$(wildcard channels/python/endplate/*.*)) \
	$(BUILD)/python/endplate/types.json
PAGES = $(foreach room,$(ROOMS),$(wildcard $(room)/*.[1-8] $(room)/*/*.[1-8]))

# Tests are test_*.c and test_*.sh.  Other .c files under test with a main, or with cases, are programs that a script
# runs; the others are in a library, from which each program takes what it uses.
# test/fuzz, test/install, test/outside and test/bench/peers build their own.
TEST_SOURCES = $(filter-out test/fuzz/% test/install/% test/outside/% test/bench/peers/%,\
	$(wildcard test/*/*.c test/*/*/*.c)) $(wildcard test/fuzz/test_*.c)
TEST_MAINS := $(shell grep -lE '^(int main|TEST)\>' $(TEST_SOURCES) /dev/null)
TEST_SHARED := $(filter-out $(TEST_MAINS),$(TEST_SOURCES))
TEST_PROGRAMS = $(TEST_MAINS:%.c=$(BUILD)/%)
TEST_LIB = $(BUILD)/test/libtest.a
# An array of every constant of a type, wherever it is defined, with NULL at its end: a new one is written in no list.
ARRAYS = $(BUILD)/daemons/robotsim/sim_kinds.c $(BUILD)/test/daemons/safety/safety_actuators.c
TEST_SCRIPTS = $(wildcard test/*/test_*.sh test/*/*/test_*.sh)
UNIT_TESTS = $(foreach test,$(TEST_PROGRAMS),$(if $(filter test_%,$(notdir $(test))),$(test)))
# A sanitizer build tests programs only, and for threads those written for it.
TSAN_TESTS = $(foreach test,$(UNIT_TESTS),$(if $(findstring tsan,$(notdir $(test))),$(test)))
# make test also runs every program under these sanitizers, each as a test of its own.
ASAN_BUILD = $(BUILD)/san-address-undefined
ASAN_TESTS = $(UNIT_TESTS:$(BUILD)/%=$(ASAN_BUILD)/%)
# Tests of threads are tests of channels: no more is built for them.
TEST_LIBS = $(if $(findstring thread,$(SAN)),$(call library,channels/ach config/base),$(LIBS) $(BUILD)/sim_settings.a)
# The virtual machines take longest: they are first, and beside them what computes and does not depend on time.
FIRST_TESTS = test/vm/test_vm.sh $(patsubst %,test/scripts/test_%.sh,verify other tsan) \
	$(filter test/lint/% test/coverage/% test/mutate/% test/fuzz/% test/vm/%,\
	$(filter-out test/vm/test_vm.sh,$(TEST_SCRIPTS)))
ALL_TESTS = $(FIRST_TESTS) $(UNIT_TESTS) $(filter-out $(FIRST_TESTS),$(TEST_SCRIPTS)) $(ASAN_TESTS)
TESTS = $(if $(findstring thread,$(SAN)),$(TSAN_TESTS),$(if $(SAN),$(UNIT_TESTS),$(ALL_TESTS)))

# What reads input from others, for test/fuzz/run, which gives CC, SAN and BUILD.  The sources are compiled once for all
# targets, and only those that one of them needs.
FUZZ_TARGETS = $(call program,test/fuzz/fuzz_*.c)
LIBFUZZ = $(BUILD)/libfuzz.a
FUZZ_OBJECTS = $(foreach folder,config/base config/settings channels/ach channels/msg channels/ros channels/rec \
	can/canopen can/log launch/file,$(call parts,$(folder))) $(call object,$(PURE) can/bus/frame*.c \
	daemons/drv/drv_tick_parse.c daemons/hubo/hubo_table.c launch/achweb/client.c launch/achweb/request_check.c \
	launch/achweb/fresh.c launch/achweb/handshake.c launch/achweb/http.c launch/achweb/post_body.c \
	launch/achweb/proof.c launch/achweb/studio*.c launch/achweb/token.c launch/achweb/wsock.c)
# Codecs, and what is written as they are: test/lint/codecs.
PURE := $(filter daemons/%,$(shell grep -l ' Checked: pure\>' $(SOURCES) /dev/null))

PROGRAMS = $(EXAMPLES) $(CONTROLLERS) $(TEST_PROGRAMS)
OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o) $(PROGRAMS:=.o) $(TEST_SHARED:%.c=$(BUILD)/%.o) $(BUILD)/test/unity.o

# ---- commands ----

.PHONY: all syntax assembly tests tests-asan test test-vm bench bench-hashes bench-peers bench-starts verify fuzz \
	fuzz-targets coverage mutate lint soak install uninstall put-down clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(LIBACH) $(LIBACH_SO) $(LIBENDPLATE) $(LIBENDPLATE_SO) $(LIBDRIVER) $(LIBSIM) $(LIBS) $(EXAMPLES) \
	$(CONTROLLERS) $(TOOLS) $(DRIVER_OBJECTS) $(BUILD)/endplate-driver.pc $(if $(SAN),,$(PYTHON_MODULE))

# All that a compiler warns of without generating code.  It is started once for all files, which is faster.
syntax:
	@$(CC) $(ALL_CFLAGS) $(EVDEV) $(DDS) $(UNITY) -Ichannels/client -fsyntax-only \
		$(patsubst $(BUILD)/%.o,%.c,$(filter-out %/unity.o,$(OBJECTS)))

# For the other architecture, of which only the C library is here to link with: what has assembly in it.
assembly: $(LIBACH_SO) $(BUILD)/launch/achweb/page.o

tests: all $(TEST_PROGRAMS) $(if $(SAN),,$(BUILD)/test/dds/fast)

tests-asan:
	@$(MAKE) CC=gcc SAN=address,undefined BUILD=$(ASAN_BUILD) all $(ASAN_TESTS)

# Scripts get the build folder and the compiler from the environment.
test: $(if $(findstring thread,$(SAN)),,all) $(if $(SAN),$(TESTS),tests tests-asan)
	@BUILD=$(BUILD) CC='$(CC)' SAN='$(SAN)' test/run $(TESTS)

# What make test runs in virtual machines, alone; VM_TESTS= names some of them.
test-vm: tests
	@BUILD=$(BUILD) test/vm/run $(VM_TESTS)

bench: tests
	@BUILD=$(BUILD) test/bench/run

# Is every run on the virtual clock the same?  N= runs of FILE=, each FOR= of the robot's time.
bench-hashes: all
	@BUILD=$(BUILD) N='$(N)' FILE='$(FILE)' FOR='$(FOR)' test/bench/hashes.sh

# Beside other libraries, which it installs; PEERS= has options of the script.
bench-peers: all $(BUILD)/test/bench/bench_latency
	@BUILD=$(BUILD) test/bench/peers/run $(PEERS)

# Starts of the bench robots beside load; FILE=, USER= and N= choose a part, REAL=1 has them in real time.
bench-starts: all
	@BUILD=$(BUILD) test/bench/starts.sh $(addprefix --file ,$(FILE)) $(if $(N),--n $(N)) $(if $(REAL),--real) \
		$(if $(filter command,$(origin USER)),$(addprefix --user ,$(USER)))

verify:
	@BUILD=$(BUILD) channels/model/verify

# A minute for each target; FUZZ_SECONDS= is another time, TARGETS= names some of them.
fuzz:
	@BUILD=$(BUILD) test/fuzz/run $(TARGETS)

fuzz-targets: $(FUZZ_TARGETS)

soak: tests
	@BUILD=$(BUILD) test/channels/ach/soak.sh
	@BUILD=$(BUILD) test/launch/soak.sh
	@RESPONSE_SETS=3000 $(BUILD)/test/can/load/test_response_wire

# Every line of the codecs and of the loop's pure parts is run by their tests; UNITS= names some of them.
coverage: tests
	@BUILD=$(BUILD) test/coverage/run $(UNITS)

# Do those tests notice when a line is changed?
mutate: tests
	@BUILD=$(BUILD) test/mutate/run $(UNITS) $(if $(SAMPLE),--sample $(SAMPLE))

lint: all
	@BUILD=$(BUILD) test/lint/run

# Of the version given; @ACH@ is libach's.
config = sed 's|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(LIBDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|; s|@BINDIR@|$(BINDIR)|; \
	s|@HEADERSDIR@|$(HEADERSDIR)|; s|@KITDIR@|$(KITDIR)|; s|@DRV_ABI@|$(call abi,DRV,daemons/drv/drv.h)|; \
	s|@SIM_ABI@|$(call abi,SIM,daemons/robotsim/sim.h)|; s|@ACH@|$(VERSION)|; s|@VERSION@|$(1)|'
# That of a file, at its place.
place_config = $(call config,$(1)) $(2) >"$(DESTDIR)$(strip $(3))" && echo "-> '$(DESTDIR)$(strip $(3))'"
abi = $(shell sed -n 's/^.define $(1)_ABI \([0-9]*\)$$/\1/p' $(2))
# FOLDER FILES: into that folder, where they lie as here
place = $(foreach file,$(2),install -v -D -m 644 $(file) "$(DESTDIR)$(1)/$(file)" &&) :

install: all $(PYTHON_MODULE)
	@set -e; kept="$(DESTDIR)$(MANIFEST)"; said=$$(mktemp); new=; trap 'rm -f "$$said" "$$new"' EXIT; \
	trap 'exit 1' HUP INT TERM; $(MAKE) -s --no-print-directory put-down >"$$said"; \
	$(if $(findstring n,$(firstword -$(MAKEFLAGS))),exit;) new=$$(mktemp "$$kept.XXXXXX"); \
	{ if [ -f "$$kept" ] && [ -z "$$($(distrusted))" ]; then cat "$$kept"; fi; echo "$(MANIFEST)"; \
		DEST="$(DESTDIR)" LC_ALL=C awk "$$put_down_paths" "$$said"; } | sort -u >"$$new"; \
	chmod 644 "$$new"; mv -fT "$$new" "$$kept"
	$(if $(DESTDIR),,-ldconfig)

# Paths from what put-down says.
define put_down_paths
function path(words) {
	return (at = index($0, words ENVIRON["DEST"] "/")) ? substr($0, at + length(words ENVIRON["DEST"])) : ""
}
sub(/'$/, "") && ((file = path("-> '")) || (folder = path("creating directory '"))) {
	print file ? file : folder "/"
}
endef
install: export put_down_paths := $(value put_down_paths)

# Prints the manifest if anybody but root and the caller may have written it.
distrusted = find "$(DESTDIR)$(MANIFEST)" -maxdepth 0 \
	! '(' -type f '(' -uid 0 -o -uid "$$(id -u)" ')' ! -perm /022 ')'

INSTALL_FOLDERS = PREFIX BINDIR LIBDIR INCLUDEDIR MANDIR PYTHONDIR
# What make install has put down there, as listed, and folders that it has made and that are empty then.
uninstall:
	@kept="$(DESTDIR)$(MANIFEST)"; refuse() { echo "make uninstall: $$*" >&2; exit 1; }; \
	[ -f "$$kept" ] || [ -L "$$kept" ] || refuse "no $$kept: give the PREFIX and DESTDIR of make install"; \
	[ -z "$$($(distrusted))" ] || refuse "$$kept: it must be a file, no link, of root or uid $$(id -u), that only" \
		"its owner may write; nothing is removed: see what it lists, then chown or chmod go-w it"; \
	while IFS= read -r path; do \
		good=; \
		for folder in $(foreach name,$(INSTALL_FOLDERS),"$($(name))"); do case $$path in \
			*/../* | */..) ;; \
			"$$folder"/*) good=1 ;; \
			*/) case $$folder/ in "$$path"*) good=1 ;; esac ;; \
		esac; done; \
		[ "$$good" ] || refuse "$$kept: $$path is not below one of $(INSTALL_FOLDERS); nothing is removed:" \
			"give those of make install, or take the line out"; \
	done <"$$kept"
	@rm -rf "$(DESTDIR)$(PYTHONDIR)/endplate/__pycache__"
	@sort -r "$(DESTDIR)$(MANIFEST)" | while IFS= read -r path; do case $$path in \
		*/) rmdir "$(DESTDIR)$$path" 2>/dev/null || : ;; *) rm -f "$(DESTDIR)$$path" ;; esac; done
	$(if $(DESTDIR),,-ldconfig)

# Says where each file and each new folder is.
put-down: export LC_ALL = C
put-down:
	install -v -d "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(INCLUDEDIR)" "$(DESTDIR)$(LIBDIR)/pkgconfig"
	install -v -m 644 $(HEADERS) "$(DESTDIR)$(INCLUDEDIR)"
	install -v -m 644 $(LIBACH) "$(DESTDIR)$(LIBDIR)"
	install -v -m 755 $(LIBACH_SO) "$(DESTDIR)$(LIBDIR)"
	cp -Pv $(BUILD)/$(SONAME) $(BUILD)/libach.so "$(DESTDIR)$(LIBDIR)"
	$(call place_config,$(VERSION),channels/ach/ach.pc.in,$(LIBDIR)/pkgconfig/ach.pc)
	install -v -D -m 644 -t "$(DESTDIR)$(INCLUDEDIR)/endplate" channels/client/endplate.h
	install -v -D -m 644 -t "$(DESTDIR)$(INCLUDEDIR)/endplate/channels/msg" channels/msg/types.h
	install -v -m 644 $(LIBENDPLATE) "$(DESTDIR)$(LIBDIR)"
	install -v -m 755 $(LIBENDPLATE_SO) "$(DESTDIR)$(LIBDIR)"
	cp -Pv $(BUILD)/$(ENDPLATE_SONAME) $(BUILD)/libendplate.so "$(DESTDIR)$(LIBDIR)"
	$(call place_config,$(ENDPLATE_VERSION),channels/client/endplate.pc.in,$(LIBDIR)/pkgconfig/endplate.pc)
	$(call place,$(HEADERSDIR),$(KIT_HEADERS))
	$(call place,$(KITDIR),$(KIT_FILES))
	install -v -m 644 $(LIBDRIVER) $(LIBSIM) "$(DESTDIR)$(LIBDIR)"
	$(call place_config,$(ENDPLATE_VERSION),daemons/kit/endplate-driver.pc.in,\
		$(LIBDIR)/pkgconfig/endplate-driver.pc)
	install -v -m 755 $(TOOLS) daemons/kit/endplate-new-driver "$(DESTDIR)$(BINDIR)"
	install -v -D -m 755 -t "$(DESTDIR)$(LIBDIR)/endplate" $(DRIVER_OBJECTS)
	install -v -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/endplate/launch" \
		$(wildcard launch/*.launch launch/achweb/*.layout.json)
	install -v -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/endplate/config/robots" $(wildcard config/robots/*)
	install -v -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/endplate/config/hubo" $(wildcard config/hubo/*)
	install -v -d "$(DESTDIR)$(PREFIX)/lib/systemd/system"
	$(foreach unit,$(wildcard launch/systemd/*),\
		$(call place_config,,$(unit),$(PREFIX)/lib/systemd/system/$(notdir $(unit))) &&) :
	install -v -D -m 644 -t "$(DESTDIR)$(PYTHONDIR)/endplate" $(PYTHON_MODULE)
	install -v -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/endplate_msgs" $(wildcard channels/ros/endplate_msgs/*.*)
	install -v -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/endplate_msgs/msg" \
		$(wildcard channels/ros/endplate_msgs/msg/*)
	install -v -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/endplate_msgs/idl" \
		$(wildcard channels/ros/endplate_msgs/idl/*)
	install -v -D -m 644 channels/tool/ach.bash "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/ach"
	$(foreach page,$(PAGES),install -v -D -m 644 $(page) \
		"$(DESTDIR)$(MANDIR)/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page))" &&) :

clean:
	rm -rf build $(BUILD)

# ---- how things are made ----

say = $(if $(V),,@echo "$(1) $@"; )

# Changes whenever the compiler or its flags do, so objects of two kinds never mix.
FLAGS = $(CC) $(ALL_CFLAGS) $(TEST_CFLAGS) $(LDFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D); echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(INCLUDES) -MMD -MP -c -o $@ $<

# The file is that of the array, in the folder of the constants; HEADER declares the array of that TYPE.
$(BUILD)/daemons/robotsim/sim_kinds.c: TYPE = struct sim_kind
$(BUILD)/daemons/robotsim/sim_kinds.c: HEADER = daemons/robotsim/sim.h
$(BUILD)/test/daemons/safety/safety_actuators.c: TYPE = struct safety_actuator
$(BUILD)/test/daemons/safety/safety_actuators.c: HEADER = test/daemons/safety/safety_lib.h
$(ARRAYS): $(BUILD)/%.c: FORCE
	@mkdir -p $(@D)
	@names=$$(sed -n 's/^const $(TYPE) \(\w*\) = {$$/\1/p' $(sort $(wildcard $(*D)/*.c))); \
	{ echo '#include "$(HEADER)"'; printf 'extern const $(TYPE) %s;\n' $$names; \
		echo 'const $(TYPE) *const $(*F)[] = {'; printf '\t&%s,\n' $$names; \
		echo '	NULL,'; echo '};'; } >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(ARRAYS:.c=.o): %.o: %.c $(BUILD)/flags
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(INCLUDES) -MMD -MP -c -o $@ $<

EVDEV = -isystem /usr/include/libevdev-1.0
$(BUILD)/daemons/joy/joy_device.o: INCLUDES = $(EVDEV)
# The files of the page are part of this object.
$(BUILD)/launch/achweb/page.o: $(wildcard launch/achweb/page/*)
# dds/features.h is the same for all.
DDS = $(addprefix -idirafter ,$(wildcard /usr/include/*-linux-gnu))
$(BUILD)/launch/achdds/%.o: INCLUDES = $(DDS)
UNITY = -isystem .deps/unity -DUNITY_INCLUDE_DOUBLE -DUNITY_USE_FLUSH_STDOUT
$(BUILD)/test/%.o: INCLUDES = $(UNITY)
$(BUILD)/test/%.o: private CFLAGS = $(TEST_CFLAGS)
$(BUILD)/test/bench/%.o: private CFLAGS = $(FULL)
$(BUILD)/test/fuzz/%.o: private CFLAGS = $(QUICK)
# They compute much themselves, or are stepped through.
$(patsubst %,$(BUILD)/test/%.o,channels/ach/test_kill_sweep channels/ach/test_mixed_sizes channels/clock/test_vt_core \
	can/slots/test_slots_model can/bus/test_bits can/bus/test_bits_fd can/wire/test_engine_bitwise): \
	private CFLAGS = $(QUICK)

$(BUILD)/test/unity.o: .deps/unity/unity.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(filter-out $(WARNINGS),$(ALL_CFLAGS)) $(INCLUDES) -w -MMD -MP -c -o $@ $<

.deps/unity/unity.c:
	@echo 'The tests need Unity: run scripts/setup first.' >&2; exit 1

%.a:
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $(filter %.o,$^)

$(LIBACH): $(ACH_OBJECTS)
.SECONDEXPANSION:
$(LIBS): $(BUILD)/%.a: $$(call parts,$$*)
$(BUILD)/sim_settings.a: $(SETTINGS_OBJECTS)
$(LIBDRIVER): $(foreach room,$(HOST_ROOMS),$(call parts,$(room)))
$(LIBSIM): $(foreach room,$(SIM_ROOMS),$(call parts,$(room))) $(SETTINGS_OBJECTS) $(BUILD)/daemons/robotsim/sim_kinds.o
# The Makefile has the list, which may grow by a file that is older than the library.
$(LIBFUZZ): $(FUZZ_OBJECTS) Makefile
$(TEST_LIB): $(BUILD)/test/unity.o $(TEST_SHARED:%.c=$(BUILD)/%.o) $(BUILD)/test/daemons/safety/safety_actuators.o
$(BUILD)/daemons/robotsim.a: $(BUILD)/daemons/robotsim/sim_kinds.o

$(LIBACH_SO): $(ACH_OBJECTS) channels/ach/ach.map
	$(call say,LD)$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=channels/ach/ach.map \
		-Wl,-Bsymbolic-functions,-z,relro,-z,now$(if $(SAN),,$(comma)-z$(comma)defs) -o $@ $(ACH_OBJECTS)
	@ln -sf $(@F) $(BUILD)/$(SONAME); ln -sf $(SONAME) $(BUILD)/libach.so

# libendplate is one object with what it needs of the rooms, in which only its own interface is global.
OBJCOPY = $(shell $(CC) -print-prog-name=objcopy)
$(BUILD)/channels/client/all.o: $(ENDPLATE_OBJECTS) $(LIBS) channels/client/endplate.map
	$(call say,LD)$(CC) -r -nostdlib -o $@ $(ENDPLATE_OBJECTS) $(filter-out %/ach.a,$(LIBS)) \
		$(BUILD)/channels/ach/ach_file_path.o
	@sed -n 's/^\t\(endplate_.*\);$$/\1/p' channels/client/endplate.map >$(@D)/symbols
	@$(OBJCOPY) --keep-global-symbols=$(@D)/symbols $@
$(LIBENDPLATE): $(BUILD)/channels/client/all.o
$(LIBENDPLATE_SO): $(BUILD)/channels/client/all.o $(LIBACH_SO)
	$(call say,LD)$(LINK) -shared -Wl,-soname,$(ENDPLATE_SONAME) -Wl,--version-script=channels/client/endplate.map \
		-Wl,-Bsymbolic-functions,-z,relro,-z,now$(if $(SAN),,$(comma)-z$(comma)defs) -o $@ $^ -lyaml -lm
	@ln -sf $(@F) $(BUILD)/$(ENDPLATE_SONAME); ln -sf $(ENDPLATE_SONAME) $(BUILD)/libendplate.so

# For drivers outside the tree that are built with this build instead of an installation.
$(BUILD)/endplate-driver.pc: override LIBDIR = $(abspath $(BUILD))
$(BUILD)/endplate-driver.pc: override BINDIR = $(LIBDIR)
$(BUILD)/endplate-driver.pc: override HEADERSDIR = $(CURDIR)
$(BUILD)/endplate-driver.pc: override KITDIR = $(CURDIR)
$(BUILD)/endplate-driver.pc: daemons/kit/endplate-driver.pc.in daemons/drv/drv.h daemons/robotsim/sim.h
	@$(call config,$(ENDPLATE_VERSION)) $< >$@

$(EXAMPLES): $(LIBACH)
# As a program outside of the tree is compiled, and linked.
$(CONTROLLERS): $(LIBENDPLATE) $(LIBACH)
$(CONTROLLERS:=.o): INCLUDES = -Ichannels/client
$(BUILD)/python/endplate/types.json: $(BUILD)/ach
	@mkdir -p $(@D)
	$(call say,GEN)$< types --json >$@
$(filter-out %.json,$(PYTHON_MODULE)): $(BUILD)/%: channels/%
	@mkdir -p $(@D)
	@cp $< $@
$(BUILD)/robotsim: $(SIM_LIBS)
$(filter-out $(BUILD)/robotsim,$(TOOLS)): $(LIBS)
$(BUILD)/achctl: LIBRARIES += -lncursesw
$(BUILD)/hubo-console: LIBRARIES += -ledit
$(BUILD)/drvhost: HOSTED = $(HOST_LIBS)
$(BUILD)/robotsim: HOSTED = $(SIM_HOST_LIBS)
$(BUILD)/drvhost $(BUILD)/robotsim: WHOLE = -Wl,--export-dynamic,--whole-archive $(HOSTED) -Wl,--no-whole-archive
$(BUILD)/achdds $(BUILD)/test/dds/ear $(BUILD)/test/bench/bench_dds: LIBRARIES += -lddsc
$(BUILD)/joyd: LIBRARIES += -levdev
$(BUILD)/stopd: LIBRARIES += -lgpiod
$(TOOLS): $$(call main,$$(@F))
	$(call say,LD)$(LINK) -o $@ $(filter %.o,$^) $(WHOLE) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBRARIES)
$(DRIVER_OBJECTS): $$(call driver_parts,$$(basename $$(@F))) daemons/drvhost/object.map
	$(call say,LD)$(LINK) -shared -Wl,--version-script=daemons/drvhost/object.map -Wl,-z,relro,-z,now \
		-o $@ $(filter %.o,$^) -lm
$(TEST_PROGRAMS): $(BUILD)/test/lib/children.o $(TEST_LIB) $(TEST_LIBS)
$(filter $(BUILD)/test/daemons/% $(BUILD)/test/launch/%,$(TEST_PROGRAMS)): $(BUILD)/test/lib/no_leaks.o
$(filter $(BUILD)/test/launch/%,$(filter-out %/fake,$(TEST_PROGRAMS))): | $(BUILD)/test/launch/fake/fake
$(filter $(BUILD)/test/daemons/safety/test_safety_%,$(TEST_PROGRAMS)): | $(BUILD)/test/daemons/careless/exampled
# The second vendor of DDS, in C++.
$(BUILD)/test/dds/fast: test/dds/fast.cc
	@mkdir -p $(@D)
	$(call say,CXX)$(CXX) -std=c++17 -Wall -Wextra -pthread -o $@ $< -lfastrtps -lfastcdr
$(PROGRAMS): %: %.o
	$(call say,LD)$(LINK) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
		$(if $(filter %/config/base.a $(LIBENDPLATE),$^),$(LIBRARIES))
$(FUZZ_TARGETS): %: %.o $(LIBFUZZ)
	$(call say,LD)$(LINK) -fsanitize=fuzzer -o $@ $^ $(LIBRARIES)

-include $(OBJECTS:.o=.d) $(ARRAYS:.c=.d) $(FUZZ_TARGETS:=.d)

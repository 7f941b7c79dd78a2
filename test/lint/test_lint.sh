#!/bin/bash
# The tree obeys its rules, and each rule bites: small trees that break it once are rejected.
# limit: 900 s
set -eu
. test/scripts/lib.sh
lib_tmp
export BUILD=${BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$PWD/$BUILD ;; esac
CC=${CC:-gcc}
lint=$PWD/test/lint
tree=$lib_folder/tree

plant() { # PATH TEXT: one file of the small tree
	mkdir -p "$tree/$(dirname "$1")"
	case $1 in
	channels/ach/ach.h | channels/client/endplate.h | *.c | test/* | [!a-z]*) ;;
	*.h) set -- "$1" $'#pragma once\n'"$2" ;;
	esac
	printf '%s\n' "$2" >"$tree/$1"
}
fresh() { rm -rf "$tree"; mkdir -p "$tree"; }

accepts() { lib_case "$1 accepts $2" "$lint/$1" "$tree"; }

# RULE WHAT PATTERN: the rule fails and says so with the pattern
rejected() {
	local said
	said=$("$1" "$tree" 2>&1) && { echo "accepted"; return 1; }
	grep -qE -- "$2" <<<"$said" || { echo "said: $said"; return 1; }
}
rejects() { lib_case "$1 rejects $2" rejected "$lint/$1" "$3"; }

# one bad file in an otherwise good tree: RULE WHAT PATTERN PATH TEXT
rejects_file() {
	fresh
	plant "$4" "$5"
	rejects "$1" "$2" "$3"
}

for rule in includes layers codecs clocks actuators words format shell cppcheck pages; do
	lib_case "the tree obeys $rule" test/lint/$rule
done
lib_case "run knows every rule" test "$(find test/lint -type f -perm -100 ! -name '*.sh' ! -name run | wc -l)" = \
	"$(grep -oP '(?<=set -- ).*' test/lint/run | wc -w)"

# ---- includes ----
fresh
plant config/settings/settings.h ''
plant can/bus/bus.h '#include "channels/ach/ach.h"'
plant can/canopen/nmt.h '#include "can/bus/bus.h"'
plant channels/clock/clock.c '#include "config/settings/settings.h"'
plant daemons/drv/drv.h '#include "can/canopen/nmt.h"'
plant daemons/ft/ft.h '#include "can/bus/bus.h"'
plant daemons/ft/ftd.c $'#include <stdio.h>\n#include "daemons/ft/ft.h"\n#include "daemons/drv/drv.h"'
plant daemons/robotsim/sim.c $'#include "can/bus/bus.h"\n#include "daemons/robotsim/sim.h"'
plant launch/achstart/achstart.c '#include "daemons/drv/drv.h"'
plant test/can/bus/test_bus.c $'#include "unity.h"\n#include "daemons/ft/ft.h"\n#include "test/can/lib.h"'
accepts includes "the ladder climbed upwards"
rejects_file includes "a step down the ladder" 'can.*before daemons' can/bus/bus.c '#include "daemons/drv/drv.h"'
rejects_file includes "channels including can" 'channels/msg.*before can' channels/msg/y.c '# include "can/bus/bus.h"'
rejects_file includes "test from outside" 'nothing includes test' launch/file/a.c '#include "test/can/lib.h"'
rejects_file includes "a path from the folder" 'top of the tree' channels/ach/ach.c '#include "ach.h"'
rejects_file includes "a path upwards" 'top of the tree' can/bus/bus.c '#include "can/../channels/ach/ach.h"'
rejects_file includes "own files in angle brackets" 'with quotes' can/bus/bus.c '#include <channels/ach/ach.h>'
rejects_file includes "one device seeing another" 'own files' daemons/ft/ft.c '#include "daemons/imu/imu.h"'
rejects_file includes "a device seeing inside the loop" 'own files' daemons/ft/ft.c '#include "daemons/drv/drv_ref.h"'
rejects_file includes "unity outside test" 'top of the tree' can/bus/bus.c '#include "unity.h"'
rejects_file includes "an installed header with #pragma once" 'installed header' channels/msg/types.h ''
fresh
mkdir -p "$tree/can/bus"
echo '#include "can/bus/link.h"' >"$tree/can/bus/bus.h"
rejects includes "a header without #pragma once" 'bus.h:1: no #pragma once'
fresh
plant config/base/base.h '#include <stdio.h>'
plant can/bus/bus.c $'#include "config/base/base.h"\n#include <stdio.h>'
rejects includes "a second include of what base.h has" 'bus.c:2: config/base/base.h has it: stdio.h'
fresh
plant can/bus/bus.h $'/* bus.h: a bus\n *\n * Offered to other folders:\n *\tlink.h\n */'
plant can/bus/link.h '#include "can/bus/bits.h"'
plant can/wire/hub.c $'#include "can/bus/bus.h"\n#include "can/bus/link.h"'
accepts includes "headers that are offered"
plant can/slots/slots.c '#include "can/bus/bits.h"'
rejects includes "a header that is not offered" 'slots.c:1: can/bus/bits.h is not offered .* can/bus/bus.h'
plant can/bus/bus.h $'/* bus.h: a bus\n *\n * Offered to other folders:\n *\tlink.h bits.h bare.h\n */'
rejects includes "an offered header that nobody includes" 'bus.h:1: offered, .* can/bus/bare.h'
plant can/bus/bus.h ''
rejects includes "two headers of a folder without a list" 'other folders include 3 headers of can/bus'
fresh
plant daemons/robotsim/sim.c '#include "daemons/robotsim/sim.h"'
plant daemons/robotsim/sim.h '#include "can/bus/bus.h"'
plant can/bus/bus.h '#include "can/canopen/nmt.h"'
plant can/canopen/nmt.h ''
rejects includes "CANopen code seen by robotsim through other headers" 'sim.c.*may not see can/canopen/nmt.h'
fresh
plant daemons/robotsim/sim.c '#include "daemons/ft/ft.h"'
plant daemons/ft/ft.h ''
rejects includes "robotsim seeing a device" 'may not see daemons/ft/ft.h'
fresh
plant daemons/robotsim/sim.c '#include "daemons/ft/ftd_settings.h"'
plant daemons/ft/ftd_settings.h '#include "config/settings/settings.h"'
plant config/settings/settings.h ''
accepts includes "robotsim seeing the settings of a device"
plant daemons/ft/ftd_settings.h '#include "daemons/ft/ft.h"'
plant daemons/ft/ft.h ''
rejects includes "robotsim seeing a device through its settings" 'may not see daemons/ft/ft.h'
fresh
plant daemons/robotsim/sim.c '#include "daemons/drv/drv.h"'
plant daemons/drv/drv.h ''
rejects includes "robotsim seeing the driver loop" 'may not see daemons/drv/drv.h'

fresh
plant daemons/balance/balanced.c '#include "channels/client/endplate.h"'
plant channels/client/endplate.h ''
accepts includes "a controller that uses libendplate"
rejects_file includes "a folder that is not on the ladder" 'not in LADDER' \
	launch/new/new.c '#include "can/bus/bus.h"'
fresh
plant daemons/new/new.c '#include "can/bus/bus.h"'
accepts includes "a device that is new"
rejects_file includes "the loop seeing a device" 'daemons/drv comes before daemons/new' \
	daemons/drv/drv.c '#include "daemons/new/new.h"'
rejects_file includes "a step down inside a room" 'can/bus comes before can/log' \
	can/bus/bus.c '#include "can/log/log.h"'

# ---- layers: compiled here, as the Makefile would ----
layers() { # TOP BOTTOM [HUB]: the text of engine.c, which stands above engine_time.c; of hub_frames.c, below hub.c
	local below=${3:-'int c(void) { return 0; }'}

	fresh
	plant can/wire/engine_inner.h $'/*\n *\tengine.c\tcommands\n *\tengine_time.c\ttime\n */'
	plant can/wire/engine.c "$1"
	plant can/wire/engine_time.c "$2"
	plant can/wire/hub.h $'/*\n *\thub.c\t\tthe turn\n *\thub_frames.c\tframes\n */'
	plant can/wire/hub.c 'int c(void); int turn(void) { return c(); }'
	plant can/wire/hub_frames.c "$below"
	mkdir -p "$tree/build/can/wire"
	for name in engine engine_time hub hub_frames; do
		"$CC" -w -c -o "$tree/build/can/wire/$name.o" "$tree/can/wire/$name.c"
	done
}
layers 'int b(void); int a(void) { return b(); }' 'int b(void) { return 0; }'
BUILD=build accepts layers "a call to a file below"
plant can/wire/engine_new.c ''
BUILD=build rejects layers "a file that the list lacks" 'lacks engine_new.c'
layers 'int b(void); int a(void) { return b(); }' 'int a(void); int b(void) { return a(); }'
BUILD=build rejects layers "two files that call each other" 'engine_time.c: calls a of engine.c'
layers 'int a(void) { return 0; }' 'int b(void) { return 0; }' 'int turn(void); int c(void) { return turn(); }'
BUILD=build rejects layers "two files of the hub that call each other" 'hub_frames.c: calls turn of hub.c'

# ---- codecs: compiled here, as the Makefile would ----
codec() { # TEXT
	fresh
	plant daemons/ft/ft.c "/* ft.c: a codec.  Checked: pure, covered. */$1"
	plant daemons/ft/scale.c '/* Checked: pure. */ double ft_scale(const void *p) { return 1; }'
	plant daemons/drv/mount.c '/* mount.c: of the loop.  Checked: pure. */ double mount(void) { return 1; }'
	plant daemons/imu/imu.c 'int imu_scale(int x) { return x; } int imu_table[3];'
	for name in ft/ft ft/scale drv/mount imu/imu; do
		mkdir -p "$tree/build/daemons/${name%/*}"
		"$CC" -w -O2 -fPIC -fno-builtin -c -o "$tree/build/daemons/$name.o" "$tree/daemons/$name.c"
	done
}
codec_rejects() { # WHAT PATTERN TEXT
	codec "$3"
	BUILD=build rejects codecs "$1" "$2"
}
codec '#include <math.h>
#include <string.h>
double ft_scale(const void *), mount(void); int ft_decode(double *x, const void *p, char *s)
{ memcpy(x, p, 8); *x = sin(*x) + hypot(ft_scale(p), mount()) + sqrtf(*x); return strcmp(s, "a") + strlen(s); }'
BUILD=build accepts codecs "mem, str, libm and names of pure sources"
codec_rejects "a clock" 'refers to clock_gettime' '#include <time.h>
int ft_decode(struct timespec *t) { return clock_gettime(CLOCK_MONOTONIC, t); }'
codec_rejects "a print" 'refers to printf' '#include <stdio.h>
int ft_decode(int x) { return printf("%d", x); }'
codec_rejects "the heap" 'refers to malloc' '#include <stdlib.h>
void *ft_decode(int x) { return malloc(x); }'
codec_rejects "the heap behind str" 'refers to strdup' '#include <string.h>
void *ft_decode(char *x) { return strdup(x); }'
codec_rejects "another part's function" 'refers to imu_scale' '
int imu_scale(int); int ft_decode(int x) { return imu_scale(x); }'
codec_rejects "another part's data" 'refers to imu_table' '
extern int imu_table[]; int ft_decode(int x) { return imu_table[x]; }'
codec 'int ft_decode(void) { return 0; }'
rm "$tree/build/daemons/ft/ft.o"
BUILD=build rejects codecs "a codec that was not built" 'not built'
codec 'int ft_decode(void) { return 0; }'
plant daemons/ft/ftd.c 'int main(void) { return puts("drivers may"); }'
BUILD=build accepts codecs "a driver beside the codec"
plant daemons/arm/armd.c 'static const struct drv_driver driver = { .program = "armd" };'
BUILD=build rejects codecs "a driver without a codec" 'daemons/arm: no codec'
plant daemons/arm/armd.c 'static const struct drv_driver driver = { .program = "armd", .no_bus = true };'
BUILD=build accepts codecs "a driver that has no bus, and no codec"

# ---- clocks ----
fresh
plant channels/clock/clock.c 'int a(void) { return clock_gettime(0, 0) + poll(0, 0, 0); }'
plant channels/examples/a.c 'int a(void) { return poll(0, 0, 0); }'
plant test/can/bus/test_bus.c 'int a(void) { return nanosleep(0, 0); }'
plant can/bus/bus.c '/* poll(), select() */ // sleep(1)
int bus_poll(void); int a(struct ops *o) { signalfd(-1, 0, 0); return bus_poll() + o->poll(1) + o->ops.time(2) +
	puts("clock_gettime(1)") + epoll_ctl(0, 0, 0, 0) + runtime(2); }'
accepts clocks "clocks in channels and test, and names that look alike"
for call in 'clock_gettime(0, &t)' 'timerfd_create(0, 0)' 'poll (fds, 1, -1)' 'epoll_wait(e, v, 1, 5)' \
	'select(1, r, 0, 0, t)' 'nanosleep(&t, 0)' 'clock_nanosleep(0, 0, &t, 0)' 'usleep(5)' 'sleep(1)' \
	'gettimeofday(&v, 0)' 'time(NULL)' 'setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &v, 8)' \
	'syscall(SYS_futex, w, FUTEX_WAIT, 0, t)' \
	'syscall(__NR_ppoll, f)' 'pthread_cond_timedwait(c, m, t)' \
	'sem_timedwait(s, t)' 'alarm(1)' 'sigtimedwait(s, i, t)'; do
	rejects_file clocks "${call%%(*}${call#*(}" 'daemons/ft/ftd.c:2: .*belongs in channels' daemons/ft/ftd.c "
int a(void) { return $call; }"
done
for room in config can launch/achstart; do
	rejects_file clocks "a clock in $room" 'clock_gettime' $room/x.c 'int a(void) { return clock_gettime(0, 0); }'
done

# ---- actuators ----
actuated() { # TABLE: what it says; a driver with references, and one without
	fresh
	plant daemons/hand/handd.c $'\t.program = "hand-d",\n\t.ref = msg_joint_ref_number,'
	plant daemons/imu/imud.c $'\t.program = "imud",\n\t.state = msg_imu_number,'
	plant test/daemons/safety/safety_hand_d.c "$1"
}
actuated '	.program = "hand-d",'
accepts actuators "a driver with its table, and a sensor without"
actuated '	.program = "handd",'
rejects actuators "a table of another program" 'handd.c: .*describe it in test/daemons/safety/safety_hand_d.c'
rm "$tree/test/daemons/safety/safety_hand_d.c"
rejects actuators "a driver without a table" 'describe it in test/daemons/safety/safety_hand_d.c'

actuated ''
rm "$tree/test/daemons/safety/safety_hand_d.c"
plant daemons/hand/handd.c $'\t.program = "hand-d",\n\t.ref = msg_joint_ref_number,\n\t.no_bus = true,'
accepts actuators "a controller without a table: it moves nothing itself"
plant daemons/hand/handd.c $'\t.program = "hand-d",\n\t.ref = msg_gripper_ref_number,'
rejects actuators "a gripper without cases of its own" 'test_hand-d.c has no case of estop'
plant test/daemons/hand/test_hand-d.c "$(printf 'TEST(a_%s_b)\n' estop hold expired_reference bad_reference \
	restarted_driver dead power)"
accepts actuators "a gripper with cases of its own"
plant test/daemons/hand/test_hand-d.c "$(printf 'TEST(a_%s_b)\n' estop hold expired_reference bad_reference dead power)"
rejects actuators "a gripper of which no restart is tested" 'has no case of restarted_driver'
plant daemons/hand/handd.c $'\t.program = "hand-d",\n\t.ref = msg_joint_ref_number,'
rejects actuators "joints with cases of their own, but for a restart" 'has no case of restarted_driver'
plant test/daemons/hand/test_hand-d.c "$(printf 'TEST(a_%s_b)\n' estop hold expired_reference bad_reference \
	restarted_driver dead power)"
accepts actuators "joints with cases of their own"

# ---- words: spelled in halves, for this file is read too ----
fresh
plant README 'A shared workshop, issues and work.'
accepts words "ordinary words"
rejects_file words "a path beside the project" 'README:1' README "see ../""shared/x.md"
rejects_file words "a path of one machine" 'a.c:1' can/a.c "/* /wo""rk/main */"
rejects_file words "a number from a tracker" 'a.sh:1' test/a.sh "# for iss""ue 12"
rejects_file words "a hidden file" 'ci/run:1' .ci/run "fetch from deb"".debian.org"
rejects_file words "a comment without a subject" 'a.c:1' can/a.c "/* O""f all frames. */"
rejects_file words "a quantity without a name" 'a.c:1' can/a.c "\"waits for s""o long\""
plant can/a.c '/* The sum of all frames. */'
accepts words "a comment with a subject"

# ---- format ----
fresh
plant channels/a.c 'int a(int x)
{
	return x;
}'
plant build/channels/made.c 'int a(int x) { return x; }'
accepts format "kernel style, and does not look into build"
rejects_file format "spaces for tabs" 'clang-format -i channels/a.c' channels/a.c 'int a(int x)
{
        return x;
}'
rejects_file format "a brace on the wrong line" 'not formatted' can/a.h 'static int a(int x) {
	return x;
}'
rejects_file format "a long comment" 'a.c:1: more than 120' can/a.c "/* $(printf '%0125d' 0) */"
rejects_file format "a long line of a script" 'x:2: more than 120' scripts/x "#!/bin/bash
# $(printf '%0125d' 0)"
rejects_file format "blanks at the end" 'Makefile:1:.*blanks' Makefile 'all: '

# ---- shell, cppcheck ----
# shellcheck disable=SC2016 # the text of a script
rejects_file shell "an unquoted variable in a file without .sh" SC2086 scripts/x '#!/bin/bash
rm $1'
# shellcheck disable=SC2016
rejects_file shell "an unquoted variable in a file with .sh" SC2086 test/x.sh '#!/bin/bash
rm $1'
# shellcheck disable=SC2016
plant test/lib.sh '# shellcheck shell=bash
x_folder=/tmp
mkdir "$x_folder/${x_wanted:-}"'
# shellcheck disable=SC2016
plant test/x.sh '#!/bin/bash
x_wanted=1
. test/lib.sh
cd "$x_folder" || exit'
accepts shell "variables of a sourced file"
# shellcheck disable=SC2016
plant test/x.sh '#!/bin/bash
. test/lib.sh
cd "$x_floder" || exit'
rejects shell "a variable without a value" 'x_floder is referenced but not assigned'
# shellcheck disable=SC2016
rejects_file shell "one in a sourced file" 'x_floder is referenced but' test/lib.sh '# shellcheck shell=bash
ls "$x_floder"'
rejects_file cppcheck "an index out of bounds" 'can/a.c.*arrayIndexOutOfBounds' can/a.c '
int a(void)
{
	int x[2] = { 0, 1 };

	return x[2];
}'
rejects_file cppcheck "a leak of memory in a deeper folder" 'memleak' daemons/ft/ftd.c '#include <stdlib.h>
int a(void)
{
	char *p = malloc(4);

	if (!p)
		return 1;
	return 0;
}'

# ---- pages ----
page='.Dd January 1, 2026
.Dt ACH_PUT 3
.Os
.Sh NAME
.Nm ach_put
.Nd writes
.Sh DESCRIPTION
It writes.'
fresh
plant channels/ach/ach.map 'ACH_2 { global: ach_put; ach_get; local: *; };'
plant channels/ach/ach_put.3 "$page"
plant channels/ach/ach_get.3 '.so man3/ach_put.3'
accepts pages "pages and links to pages"
rm "$tree/channels/ach/ach_get.3"
rejects pages "an exported function without a page" 'ach_get has no page'
plant channels/ach/ach_get.3 '.so man3/ach_gone.3'
rejects pages "a link to nowhere" 'which is not there'
rejects_file pages "a page with a warning" 'WARNING' daemons/ft/ftd.8 "$page
.Pp"
fresh
plant channels/ach/ach_put.3 "$page
.Bd -literal
$(printf '%075d' 0)
.Ed"
accepts pages "a display of 80 columns"
rejects_file pages "a display of 81" 'ach_put.3: too wide: *0' channels/ach/ach_put.3 "$page
.Bd -literal
$(printf '%076d' 0)
.Ed"
rejects_file pages "a table of 81" 'ach_put.3: too wide: *0' channels/ach/ach_put.3 "$page
.Bl -column \"$(printf '%035d' 0)\" \"$(printf '%037d' 0)\"
.It $(printf '%035d' 0) Ta $(printf '%037d' 0)
.El"
fresh
plant hw-docs/README.md 'See [the sensor](devices/gauge.md), [its bus](devices/gauge.md#bus), [below](#below)
and [the net](https://example.org/x).'
plant hw-docs/devices/gauge.md ''
# shellcheck disable=SC2016 # Markdown
plant README.md '| force gauge | `gauged` | simulator | never run |'
plant daemons/gauge/gauged.c 'static const struct drv_driver driver = {'
plant daemons/gauge/gauge.h '/* hw-docs/devices/gauge.md is the page. */'
accepts pages "links between Markdown files"
rejects_file pages "a Markdown link to nowhere" 'a.md: links to gauge.md' launch/a.md '[the sensor](gauge.md)'
rejects_file pages "a path of a page that has moved" 'gauge.c: names hw-docs' daemons/gauge/gauge.c \
	'/* hw-docs/''gauge.md is the page. */'
fresh
# shellcheck disable=SC2016 # Markdown
plant README.md '| force gauge | `gauged` | simulator | never run |'
plant hw-docs/README.md '| force gauge | |'
plant daemons/robotsim/robotsim.1 "${page/ACH_PUT 3/ROBOTSIM 1}"
accepts pages "documents that list no device"
plant daemons/new/newd.c 'static const struct drv_driver driver = {'
rejects pages "a device that README lacks" 'README.md: lacks .newd.; write: '
plant daemons/robotsim/new.c '	SIM_DRIVER(newd), .rows = rows'
rejects pages "a simulated device that its page lacks" 'robotsim.1: lacks .Xr newd 1'
plant hw-docs/''devices/new.dbc ''
rejects pages "a page that hw-docs/README lacks" 'README.md: lacks .devices/new.dbc.'

lib_end

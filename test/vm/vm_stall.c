/* vm_stall.c: a link of the real kernel that stands for a second under two drivers at 1 kHz, in every way it can; and
 * what was on the wire when it came back.  can2 and can3 are emulated controllers on one wire.
 *
 * In the guest with the virtual clock (vm_timing_stall.sh) the machine is never late, and stamps are exact.
 */
#include <fcntl.h>
#include <sys/utsname.h>

#include "test/lib/testcase.h"

#include "can/bus/link.h"
#include "test/can/slots/stall_lib.h"

#define SECOND_NS 1000000000
#define HEARD 100 /* references of each driver after it */
#define FAULTS "/sys/module/canfault/parameters/inject"
#define CARDS "/sys/bus/pci/drivers/kvaser_pci/"

static const struct link_settings usual = { .bitrate = 1000000, .restart_ms = 0, .queue = 10 };

/* ---- the machine ---- */

static void run(const char *command)
{
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, system(command), command);
}

static void write_to(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	TEST_ASSERT_TRUE_MESSAGE(fd >= 0, path);
	TEST_ASSERT_EQUAL_INT_MESSAGE((int)strlen(text), (int)write(fd, text, strlen(text)), text);
	close(fd);
}

static struct stall_bus bus = { .near = "can2", .far = "can3" };

static void link_is_up(const char *name)
{
	struct error_sink errors = { .line = error_to_stderr };

	TEST_ASSERT_EQUAL_INT(0, link_up(name, &usual, &errors));
}

static bool have_faults(void)
{
	static char command[512];
	const char *build = getenv("BUILD");
	struct utsname u;

	if (access(FAULTS, F_OK)) {
		uname(&u);
		snprintf(command, sizeof(command), "insmod %s/test/vm/canfault/%s/canfault.ko 2>/dev/null",
			 build ? build : "build", u.release);
		(void)!system(command);
	}
	return !access(FAULTS, F_OK);
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	if (!have_faults())
		TEST_IGNORE_MESSAGE("no fault module for this kernel: scripts/can-vm --headers has none");
	run("for i in can2 can3; do ip link set $i down; done");
	link_is_up("can2");
	link_is_up("can3");
}

void tearDown(void)
{
	stall_clean();
	if (!access(FAULTS, F_OK))
		write_to(FAULTS, "can2 resume");
}

static void stop(void)
{
	write_to(FAULTS, "can2 stall");
	stall_broke();
}

static void go_on(void)
{
	stall_back();
	write_to(FAULTS, "can2 resume");
	stall_until_heard(HEARD);
	stall_end();
}

/* ---- stalled ---- */

TEST(stalled_and_reset)
{
	stall_begin(&bus, STALL_RESETS);
	stop();
	stall_for(SECOND_NS);
	stall_until_reset();
	go_on();
	stall_check(0, 0);
}

TEST(a_stall_without_a_reset_sends_at_most_two_stale_frames)
{
	stall_begin(&bus, 0);
	stop();
	stall_for(SECOND_NS);
	stall_until_state(SLOTS_STALLED);
	go_on();
	stall_check(1, 2);
}

/* ---- power ---- */

/* Without power the adapter is gone, and comes back as a new one. */
TEST(adapter_without_power)
{
	char card[256];
	ssize_t n = readlink("/sys/class/net/can2/device", card, sizeof(card) - 1);
	const char *slot;

	TEST_ASSERT_TRUE(n > 0);
	card[n] = 0;
	slot = strrchr(card, '/') + 1;
	stall_begin(&bus, 0);
	stop();
	stall_until_full();
	write_to(CARDS "unbind", slot);
	stall_for(SECOND_NS);
	stall_until_state(SLOTS_DOWN);
	write_to(CARDS "bind", slot);
	stall_back();
	link_is_up("can2");
	stall_until_heard(HEARD);
	stall_end();
	stall_check(0, 0);
}

/* ---- bus-off ---- */

/* Twice within a second: the kernel acts upon a carrier that is gone once a second only, and until then keeps what
 * waits before the controller, over the restart too. */
static void off_twice(unsigned int by_owner)
{
	stall_begin(&bus, by_owner);
	write_to(FAULTS, "can2 busoff");
	stall_broke();
	stall_until_reset();
	stall_back();
	stall_until_heard(HEARD);
	stop();
	stall_until_full();
	write_to(FAULTS, "can2 busoff");
	stall_broke();
	stall_until_reset();
	stall_for(SECOND_NS);
	go_on();
}

TEST(bus_off_and_reset)
{
	off_twice(STALL_RESETS | STALL_RESETS_OFF);
	stall_check(0, 0);
}

TEST(bus_off_and_restarted)
{
	off_twice(STALL_RESTARTS);
	TEST_ASSERT_EQUAL_UINT(2, stall_restarts());
	stall_check(0, 2);
}

/* ---- death ---- */

TEST(driver_killed_and_reset)
{
	stall_begin(&bus, STALL_RESETS);
	stop();
	stall_until_full();
	stall_kill(0);
	stall_for(SECOND_NS);
	stall_until_reset();
	go_on();
	stall_check(0, 0);
}

TEST(a_killed_driver_without_a_reset_leaves_at_most_two_stale_frames)
{
	stall_begin(&bus, 0);
	stop();
	stall_for(SECOND_NS);
	stall_until_state(SLOTS_STALLED);
	stall_kill(0);
	go_on();
	stall_check(1, 2);
}

int main(void)
{
	const char *guest = getenv("VM_GUEST");

	bus.exact = guest && !strcmp(guest, "timing");
	bus.deadline_ns = bus.exact ? 5000000 : 20000000;
	UNITY_BEGIN();
	testcase_run_all();
	return UNITY_END();
}

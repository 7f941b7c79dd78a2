/* stall_lib.c: the run: two drivers, the owner of their link, and what is waited for. */
#include "test/can/slots/stall_lib.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "unity.h"

#include "can/bus/attach.h"
#include "can/bus/link.h"
#include "channels/clock/clock.h"

#define DRIVERS_SIZE (STALL_DRIVERS * sizeof(struct stall_driver))
#define HANG_NS 60000000000ll
#define LOOK_NS 500000 /* how often the owner looks */

struct stall_run stall_run;

static unsigned int owner;
static int64_t owner_ns, acted_ns; /* when the owner last began to act, and had done so */
static char said_wrong[ERROR_LINE_MAX];

/* ---- the owner of the link ---- */

/* Since then no driver has confirmed or received a frame, and each has run a turn. */
static bool no_traffic_since(const struct stall_said said[], unsigned int n, int64_t since_ns)
{
	for (unsigned int i = 0; i < n; i++)
		if (said[i].turn_ns < since_ns || said[i].confirmed_ns > since_ns || said[i].received_ns > since_ns)
			return false;
	return true;
}

/* A driver reports it, and no driver contradicts. */
static bool stands(const struct stall_said said[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (said[i].state == SLOTS_STALLED && said[i].since_ns > owner_ns &&
		    no_traffic_since(said, n, said[i].since_ns))
			return true;
	return false;
}

static bool all_off(const struct stall_said said[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (said[i].link != BUS_OFF || said[i].turn_ns <= owner_ns)
			return false;
	return n;
}

unsigned int stall_living(struct stall_said said[STALL_DRIVERS])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < STALL_DRIVERS; i++)
		if (!stall_run.drivers[i].dead)
			stall_driver_said(&stall_run.drivers[i], &said[n++]);
	return n;
}

/* -EBUSY: the controller is not bus-off any more. */
static int restart(const char *name, struct error_sink *errors)
{
	char text[256];
	int r;

	if (strncmp(name, "wire:", 5) != 0) {
		snprintf(text, sizeof(text), "ip link set %s type can restart 2>/dev/null", name);
		return system(text) ? -EBUSY : 0;
	}
	r = attach_question(name, "link restart host", text, sizeof(text), errors);
	return r == -EINVAL ? -EBUSY : r;
}

/* -EBUSY: it is back already, and the drivers did not know yet. */
static void act(int (*command)(const char *name, struct error_sink *errors), unsigned int *times)
{
	struct error_sink errors = { error_keep_last, said_wrong, 0 };
	int r;

	owner_ns = clock_now_ns();
	r = command(stall_run.bus.near, &errors);
	TEST_ASSERT_TRUE_MESSAGE(!r || r == -EBUSY, said_wrong);
	*times += !r;
	acted_ns = clock_now_ns();
}

static void own(void)
{
	struct stall_said said[STALL_DRIVERS];
	const unsigned int n = stall_living(said);

	if (owner & STALL_RESETS && stands(said, n))
		act(link_reset, &stall_run.resets);
	else if (owner & STALL_RESETS_OFF && all_off(said, n))
		act(link_reset, &stall_run.resets);
	else if (owner & STALL_RESTARTS && all_off(said, n))
		act(restart, &stall_run.restarts);
}

unsigned int stall_resets(void)
{
	return stall_run.resets;
}

unsigned int stall_restarts(void)
{
	return stall_run.restarts;
}

/* ---- the run ---- */

static void turn(int64_t until_ns)
{
	const int64_t look_ns = clock_now_ns() + LOOK_NS;

	stall_trace_listen(look_ns < until_ns ? look_ns : until_ns);
	if (owner)
		own();
}

void stall_for(int64_t ns)
{
	const int64_t until_ns = clock_now_ns() + ns;

	while (clock_now_ns() < until_ns)
		turn(until_ns);
}

void stall_until(bool (*happened)(void), const char *what)
{
	const int64_t hang_ns = clock_now_ns() + HANG_NS;

	while (!happened()) {
		TEST_ASSERT_TRUE_MESSAGE(clock_now_ns() < hang_ns, what);
		turn(hang_ns);
	}
}

static unsigned int wanted;

static bool all_heard(void)
{
	for (unsigned int i = 0; i < STALL_DRIVERS; i++)
		if (!stall_run.drivers[i].dead && stall_trace_fresh(i) < wanted)
			return false;
	return true;
}

void stall_until_heard(unsigned int n)
{
	wanted = n;
	stall_until(all_heard, "references after the stall");
}

static bool all_full(void)
{
	struct stall_said said[STALL_DRIVERS];

	for (unsigned int i = stall_living(said); i-- > 0;)
		if (said[i].in_flight < 2 || said[i].turn_ns < stall_run.broke_ns)
			return false;
	return true;
}

void stall_until_full(void)
{
	stall_until(all_full, "two frames of each in flight");
}

static bool all_in_state(void)
{
	struct stall_said said[STALL_DRIVERS];

	for (unsigned int i = stall_living(said); i-- > 0;)
		if (said[i].state != wanted || said[i].turn_ns < stall_run.broke_ns)
			return false;
	return true;
}

void stall_until_state(enum slots_state state)
{
	wanted = state;
	stall_until(all_in_state, "the wanted state");
}

static bool all_reset(void)
{
	struct stall_said said[STALL_DRIVERS];

	for (unsigned int i = stall_living(said); i-- > 0;)
		if (owner_ns < stall_run.broke_ns || said[i].turn_ns <= acted_ns)
			return false;
	return true;
}

void stall_until_reset(void)
{
	stall_until(all_reset, "a reset by the owner");
}

void stall_broke(void)
{
	stall_run.broke_ns = clock_now_ns();
}

void stall_unheard(void)
{
	stall_run.unheard = 1;
}

void stall_back(void)
{
	stall_trace_listen(0); /* all that was on the wire before */
	stall_run.back_ns = clock_now_ns();
	stall_trace_mark();
}

void stall_kill(unsigned int driver)
{
	lib_kill(stall_run.drivers[driver].pid);
	stall_run.drivers[driver].dead = true;
}

void stall_begin(const struct stall_bus *bus, unsigned int by_owner)
{
	struct error_sink errors = { error_keep_last, said_wrong, 0 };

	stall_run = (struct stall_run){ .bus = *bus };
	owner = by_owner;
	owner_ns = acted_ns = 0;
	stall_trace_begin();
	stall_run.drivers = mmap(NULL, DRIVERS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	TEST_ASSERT_TRUE(stall_run.drivers != MAP_FAILED);
	stall_run.start_ns = clock_now_ns();
	for (unsigned int i = 0; i < STALL_DRIVERS; i++) {
		stall_run.drivers[i].index = i;
		stall_run.drivers[i].bus = &stall_run.bus;
		stall_run.drivers[i].start_ns = stall_run.start_ns;
		stall_run.drivers[i].pid = lib_child(stall_driver, &stall_run.drivers[i]);
	}
	/* Only now, or they would have copies of its descriptors. */
	if (bus_open(&stall_run.far, bus->far, &(struct bus_options){ .receive_buffer = 4 << 20 }, &errors))
		TEST_FAIL_MESSAGE(said_wrong);
	for (unsigned int i = 0; i < STALL_DRIVERS; i++)
		lib_gate_set(&stall_run.drivers[i].go, 1);
	stall_until_heard(20);
}

static bool all_done(void)
{
	for (unsigned int i = 0; i < STALL_DRIVERS; i++)
		if (!stall_run.drivers[i].dead &&
		    !atomic_load_explicit(&stall_run.drivers[i].done, memory_order_relaxed))
			return false;
	return true;
}

void stall_end(void)
{
	for (unsigned int i = 0; i < STALL_DRIVERS; i++)
		atomic_store_explicit(&stall_run.drivers[i].stop, true, memory_order_relaxed);
	stall_until(all_done, "drivers that end");
	for (unsigned int i = 0; i < STALL_DRIVERS; i++)
		if (!stall_run.drivers[i].dead) {
			const pid_t pid = stall_run.drivers[i].pid;

			stall_run.drivers[i].pid = 0;
			TEST_ASSERT_EQUAL_INT(0, lib_join(pid));
		}
	stall_run.end_ns = clock_now_ns();
	stall_until(stall_trace_whole, "on the wire what is confirmed");
}

void stall_clean(void)
{
	if (!stall_run.drivers)
		return;
	if (Unity.CurrentTestFailed)
		stall_trace_show();
	for (unsigned int i = 0; i < STALL_DRIVERS; i++)
		if (stall_run.drivers[i].pid && !stall_run.drivers[i].dead)
			lib_kill(stall_run.drivers[i].pid);
	bus_close(stall_run.far);
	munmap(stall_run.drivers, DRIVERS_SIZE);
	stall_run = (struct stall_run){ 0 };
}

/* test_safety_latches.c: what waits for a person keeps waiting: for each latch and each way in which a driver can end,
 * its successor moves nothing and resets nothing until a person asks for it. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "config/base/run.h"
#include "test/daemons/safety/safety_lib.h"
#include "unity.h"

#define ALL_LATCHES \
	(MSG_LATCH_POSITION_UNKNOWN | MSG_LATCH_HOMING_ABORTED | MSG_LATCH_HALTED_BY_OTHER | MSG_LATCH_WAITS_FOR_PERSON)

static const char *in_run(const char *name)
{
	static char path[RUN_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", getenv("ENDPLATE_RUN"), name);
	return path;
}

static void moving(void)
{
	unlink(in_run("state/" SAFETY_DEVICE));
	safety_start(&(struct safety_set){ .silent_ms = 100, .sim = safety_on->sim_boots_fast });
	safety_arm();
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, INT64_MIN));
}

/* ---- causes ---- */

static void loses_its_power(void)
{
	moving();
	safety_fault("power-off");
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_fault("power-on");
	SAFETY_UNTIL(safety_said(safety_on->event_power));
}

static void homing(void)
{
	moving();
	safety_quiet();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOMING && safety_last(SAFETY_HOME) && safety_sim_speed() > 0.05);
}

static void is_stopped_while_homing(void)
{
	homing();
	safety_raise(MSG_LEVEL_ESTOP);
	SAFETY_UNTIL(safety.replies_n && safety_sim_has(safety_on->word_halted));
}

static void stalls_while_homing(void)
{
	homing();
	safety_wire("fault stuck 60s");
	SAFETY_UNTIL(safety.replies_n);
	safety_wire("fault stuck off");
	SAFETY_UNTIL(!safety_state()->common.bus[0].stalled_since_ns);
}

static void loses_its_driver_while_homing(void)
{
	homing();
}

static void is_halted_by_another(void)
{
	moving();
	safety_fault(safety_on->fault_halted);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
}

static void has_a_fault(void)
{
	moving();
	safety_fault(safety_on->fault_waits);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	TEST_ASSERT_TRUE(safety_said(safety_on->event_waits));
}

/* From here on the device itself looks as if nothing had happened. */
static void forgets_it(void)
{
	for (unsigned int i = 0; i < 4 && safety_on->forgets[i]; i++)
		safety_fault(safety_on->forgets[i]);
}

/* It is as it should be, but what its driver last published cannot be read. */
static void stands(void)
{
	moving();
	safety_quiet();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING && safety_sim_speed() < 1e-3);
}

static const struct cause {
	const char *name;
	void (*happen)(void);
	uint32_t latch; /* 0: none, before its driver ended */
	bool forgotten;
	unsigned int needs;
} causes[] = {
	{ "nothing", stands, 0, false, 0 },
	{ "power lost", loses_its_power, MSG_LATCH_POSITION_UNKNOWN, false, SAFETY_LOSES_POWER },
	{ "power lost, homed by another", loses_its_power, MSG_LATCH_POSITION_UNKNOWN, true, SAFETY_LOSES_POWER },
	{ "e-stop while homing", is_stopped_while_homing, MSG_LATCH_HOMING_ABORTED, false, SAFETY_HOMES },
	{ "stall while homing", stalls_while_homing, MSG_LATCH_HOMING_ABORTED, true, SAFETY_HOMES },
	{ "driver killed while homing", loses_its_driver_while_homing, MSG_LATCH_HOMING_ABORTED, false, SAFETY_HOMES },
	{ "halted by another", is_halted_by_another, MSG_LATCH_HALTED_BY_OTHER, false, SAFETY_HALTED_BY_OTHERS },
	{ "fault", has_a_fault, MSG_LATCH_WAITS_FOR_PERSON, false, SAFETY_FAULTS },
	{ "fault, gone by itself", has_a_fault, MSG_LATCH_WAITS_FOR_PERSON, true, SAFETY_FAULTS },
};
#define CAUSES (sizeof(causes) / sizeof(*causes))

/* ---- ends ---- */

static void killed(void)
{
	safety_end_driver(SIGKILL);
}

static void asked_to_stop(void)
{
	safety_end_driver(SIGTERM);
}

/* As achstart would have left it. */
static void keep_state_file(void)
{
	FILE *file;

	mkdir(in_run("state"), 0700);
	file = fopen(in_run("state/" SAFETY_DEVICE), "w");
	TEST_ASSERT_NOT_NULL(file);
	fprintf(file, "pid 1\nstarted 1\nincarnation 1\nlatches 0\nend\n");
	fclose(file);
}

static void killed_and_its_channel_removed(void)
{
	safety_end_driver(SIGKILL);
	keep_state_file();
	ach_close(&safety.state_channel);
	TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(safety_channel(SAFETY_DEVICE "-state")));
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(safety_channel(SAFETY_DEVICE "-state"), 2048,
					     sizeof(struct msg_joint_state), NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&safety.state_channel, safety_channel(SAFETY_DEVICE "-state"), NULL));
}

static void killed_and_garbage_last(void)
{
	safety_end_driver(SIGKILL);
	safety_put(SAFETY_DEVICE "-state", "abc", 4);
}

static void killed_and_another_type_last(void)
{
	struct msg_event event;

	safety_end_driver(SIGKILL);
	msg_init(&event, msg_type_by_number(msg_event_number));
	safety_put(SAFETY_DEVICE "-state", &event, sizeof(event));
}

static const struct way {
	const char *name;
	void (*end)(void);
	bool lost; /* what the predecessor published cannot be read */
} ways[] = {
	{ "killed", killed, false },
	{ "asked to stop", asked_to_stop, false },
	{ "killed, state channel removed", killed_and_its_channel_removed, true },
	{ "killed, garbage in the state channel", killed_and_garbage_last, true },
	{ "killed, a foreign message in the state channel", killed_and_another_type_last, true },
};
#define WAYS (sizeof(ways) / sizeof(*ways))

/* ---- what holds ---- */

static char text[160];

static void check_nothing_happens(const struct cause *cause, uint32_t latches, int64_t from_ns)
{
	const double at_rad = safety_sim_number("position");

	safety_arm();
	safety_velocity(-SAFETY_CRUISE);
	safety_ticks(60);
	TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_FAULT, safety_life(), text);
	TEST_ASSERT_EQUAL_HEX32_MESSAGE(latches, safety_state()->common.latches & latches, text);
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_RESET, from_ns), text);
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_HOME, from_ns), text);
	safety_check_still(from_ns, 0.001);
	if (cause->happen != loses_its_driver_while_homing)
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(0.002, at_rad, safety_sim_number("position"), text);
}

/* A person ends it: the state that says so was published before the first command. */
static void check_clear_ends_it(int64_t from_ns)
{
	unsigned int free = 0;

	safety_clear();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, from_ns));
	while (safety.states[free].common.latches || safety.states[free].header.t_publish_ns <= from_ns)
		free++;
	for (unsigned int i = 0; i < safety.frames_n; i++) {
		const struct bus_frame *f = &safety.frames[i];

		if (f->t_ns <= from_ns || safety_on->kind(&f->frame) != SAFETY_MOVE ||
		    fabs(safety_on->value(&f->frame)) <= 0.001)
			continue;
		TEST_ASSERT_TRUE_MESSAGE(f->t_ns > safety.states[free].header.t_publish_ns, text);
		break;
	}
	TEST_ASSERT_EQUAL_HEX32(0, safety_state()->common.latches);
}

static struct testcase cases[CAUSES * WAYS];

static void a_latch_outlives_its_driver(void)
{
	const struct cause *cause = &causes[(safety_case - cases) / WAYS];
	const struct way *way = &ways[(safety_case - cases) % WAYS];
	uint32_t incarnation;
	int64_t from_ns;

	snprintf(text, sizeof(text), "%s; %s", cause->name, way->name);
	cause->happen();
	if (cause->latch &&
	    cause->happen != loses_its_driver_while_homing) /* without a latch it holds, and regulates */
		SAFETY_UNTIL(safety_state()->common.latches == cause->latch && safety_sim_speed() < 1e-6);
	incarnation = safety_state()->header.incarnation;
	way->end();
	if (cause->forgotten)
		forgets_it();
	from_ns = clock_now_ns();
	safety_driver();
	TEST_ASSERT_GREATER_THAN_UINT32_MESSAGE(incarnation, safety_state()->header.incarnation, text);
	check_nothing_happens(cause, way->lost ? ALL_LATCHES : cause->latch, from_ns);
	check_clear_ends_it(from_ns);
}

static void add(unsigned int number)
{
	static char names[CAUSES * WAYS][128];
	const struct cause *cause = &causes[number / WAYS];

	snprintf(names[number], sizeof(names[number]), "a_latch_outlives_its_driver (%s; %s)", cause->name,
		 ways[number % WAYS].name);
	cases[number] = (struct testcase){ .body = a_latch_outlives_its_driver,
					   .name = names[number],
					   .file = __FILE__,
					   .line = __LINE__,
					   .needs = SAFETY_VELOCITIES | cause->needs };
	testcase_add(&cases[number]);
}

/* Where nothing was latched, something is only if nothing is known. */
static bool applies(unsigned int number)
{
	return causes[number / WAYS].latch || ways[number % WAYS].lost;
}

int main(int argc, char **argv)
{
	for (unsigned int i = 0; i < CAUSES * WAYS; i++)
		if (applies(i))
			add(i);
	return safety_main(argc, argv);
}

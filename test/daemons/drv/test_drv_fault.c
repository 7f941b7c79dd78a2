/* test_drv_fault.c: which joints a fault stops: its own, those of its group, those on its bus, or all. */
#include "channels/clock/clock.h"
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

#define JOINTS 4
#define MS (int64_t) DRV_LIB_MS

void setUp(void)
{
	drv_lib_begin();
}

void tearDown(void)
{
	drv_lib_end();
}

/* ---- the set ---- */

static struct drv_bus buses[3];
static struct drv drv;

/* Joints 0 and 1 are a group on bus 0, joint 2 is one on bus 1, joint 3 hangs on none. */
static void make(void)
{
	static const struct drv_driver driver = { .program = "faked" };

	memset(&drv, 0, sizeof(drv));
	memset(buses, 0, sizeof(buses));
	drv.buses = buses;
	drv.driver = &driver;
	drv.report.port.type = msg_type_by_number(msg_event_number); /* events go nowhere */
	drv.joints_n = JOINTS;
	drv.buses_n = 2;
	for (unsigned int i = 0; i < 2; i++) {
		drv.buses[i].slots.state = SLOTS_RUNNING;
		drv.buses[i].receives_n = 1;
	}
	for (unsigned int i = 0; i < JOINTS; i++)
		drv_joint_group(&drv, i, i < 2 ? 0 : i);
	drv_joint_bus(&drv, 0, 0);
	drv_joint_bus(&drv, 1, 0);
	drv_joint_bus(&drv, 2, 1);
	/* Behind the last of each lies something that would matter. */
	drv.buses[2].slots.state = SLOTS_STALLED;
	drv.buses[2].receives_n = 1;
	drv.buses[2].receives[0].silent = true;
	drv.joint_buses[JOINTS] = 3;
}

static const char *faulty(void)
{
	static char text[JOINTS + 1];

	drv_fault_spread(&drv);
	TEST_ASSERT_FALSE(drv.joint_faulty[JOINTS]);
	for (unsigned int i = 0; i < JOINTS; i++)
		text[i] = drv.joint_faulty[i] ? 'x' : '.';
	return text;
}

static const char *reported(const char *code)
{
	for (unsigned int i = 0; i < drv.report.codes_n; i++)
		if (!strcmp(drv.report.codes[i].code, code))
			return drv.report.codes[i].text;
	return "none";
}

TEST(a_machine_without_time_is_reported_as_the_cause_of_silence)
{
	const char guess[] = "module 15 does not answer; is it powered, on this bus, and of this bit rate?";

	make();
	drv_fault(&drv, 0, "silent-14", "%s", guess);
	drv.skips = (struct drv_skips){ .cycles = { 500, 500 }, .skipped = { 240, 400 } };
	drv_fault(&drv, 0, "silent-15", "%s", guess);
	drv_fault(&drv, 0, "hot", "%s", guess);
	drv_fault(&drv, 0, "no-answer", "%0200d", 0);
	TEST_ASSERT_EQUAL_STRING(guess, reported("silent-14"));
	TEST_ASSERT_EQUAL_STRING("module 15 does not answer; this machine skipped 640 of the last 1000 cycles",
				 reported("silent-15"));
	TEST_ASSERT_EQUAL_STRING(guess, reported("hot"));
	TEST_ASSERT_EQUAL(MSG_TEXT_SIZE - 1, strlen(reported("no-answer")));
	TEST_ASSERT_NOT_NULL(strstr(reported("no-answer"), "0; this machine skipped 640 of the last 1000 cycles"));
}

TEST(a_joint_takes_its_group)
{
	make();
	TEST_ASSERT_EQUAL_STRING("....", faulty());
	TEST_ASSERT_NULL(drv_fault_device(&drv));
	drv_fault(&drv, 1, "hot", "it is hot");
	TEST_ASSERT_EQUAL_STRING("xx..", faulty());
	drv_fault(&drv, 2, "hot", "it is hot");
	TEST_ASSERT_EQUAL_STRING("xxx.", faulty());
	TEST_ASSERT_NULL(drv_fault_device(&drv));
	drv_fault_clear(&drv, 1, "wet"); /* which it is not */
	TEST_ASSERT_EQUAL_STRING("xxx.", faulty());
	drv_fault_clear(&drv, 1, "hot");
	TEST_ASSERT_EQUAL_STRING("..x.", faulty());
	drv.setup.joint_independent = true;
	drv_fault(&drv, 0, "hot", "it is hot");
	TEST_ASSERT_EQUAL_STRING("x.x.", faulty());
}

TEST(when_all_have_failed_the_device_has)
{
	make();
	drv_fault(&drv, 0, "hot", "it is hot");
	drv_fault(&drv, 2, "wet", "it is wet");
	drv_fault(&drv, 3, "old", "it is old");
	TEST_ASSERT_EQUAL_STRING("xxxx", faulty());
	TEST_ASSERT_EQUAL_STRING("hot", drv_fault_device(&drv));
	drv_fault_clear(&drv, 3, NULL);
	faulty();
	TEST_ASSERT_NULL(drv_fault_device(&drv));
	drv.joints_n = 0;
	TEST_ASSERT_NULL(drv_fault_device(&drv));
	drv.joints_n = JOINTS;
	drv_fault_clear(&drv, 0, NULL);
	drv_fault_clear(&drv, 2, NULL);
	drv_joint_bus(&drv, 3, 1);
	drv.buses[0].slots.state = drv.buses[1].slots.state = SLOTS_DOWN;
	TEST_ASSERT_EQUAL_STRING("xxxx", faulty());
	TEST_ASSERT_EQUAL_STRING("its bus is dead", drv_fault_device(&drv));
}

/* What is not there is not well either. */
TEST(absent_joints_do_not_count)
{
	make();
	for (unsigned int i = 1; i < drv.joints_n; i++)
		drv_joint_absent(&drv, i);
	drv_fault_spread(&drv);
	TEST_ASSERT_NULL(drv_fault_device(&drv));
	drv_fault(&drv, 0, "jam", "it jams");
	drv_fault_spread(&drv);
	TEST_ASSERT_NOT_NULL(drv_fault_device(&drv));
	drv_fault_clear(&drv, 0, NULL);
	drv_joint_absent(&drv, 0);
	drv_fault_spread(&drv);
	TEST_ASSERT_NULL(drv_fault_device(&drv));
}

TEST(a_fault_of_the_device_ends_by_its_own_code)
{
	make();
	drv_fault(&drv, DRV_ALL, "a-code-that-is-longer-than-a-name", "it is long");
	TEST_ASSERT_EQUAL_STRING("....", faulty());
	TEST_ASSERT_EQUAL_STRING("a-code-that-is-longer-t", drv_fault_device(&drv));
	TEST_ASSERT_TRUE(drv_fault_active(&drv, "a-code-that-is-longer-t"));
	TEST_ASSERT_FALSE(drv_fault_active(&drv, "hot"));
	drv_fault_clear(&drv, 0, NULL);
	TEST_ASSERT_NOT_NULL(drv_fault_device(&drv));
	drv_fault(&drv, 0, "hot", "it is hot");
	TEST_ASSERT_TRUE(drv_fault_active(&drv, "hot"));
	drv_fault_clear(&drv, DRV_ALL, "a-code-that-is-longer-than-a-name");
	TEST_ASSERT_NULL(drv_fault_device(&drv));
	drv_fault(&drv, DRV_ALL, "old", "it is old");
	TEST_ASSERT_EQUAL_STRING("old", drv_fault_device(&drv));
	drv_fault_clear(&drv, 0, NULL);
	drv_fault_clear(&drv, DRV_ALL, NULL);
	TEST_ASSERT_FALSE(drv_fault_active(&drv, "old"));
}

TEST(a_dead_bus_takes_what_hangs_on_it)
{
	static const struct drv_driver outlives = { .program = "faked", .outlives_buses = true };

	make();
	drv.buses[1].slots.state = SLOTS_STALLED;
	TEST_ASSERT_EQUAL_STRING("..x.", faulty());
	TEST_ASSERT_NULL(drv_fault_device(&drv));
	drv.buses[0].slots.state = SLOTS_DOWN;
	TEST_ASSERT_EQUAL_STRING("xxx.", faulty());
	drv.setup.joint_independent = true;
	TEST_ASSERT_EQUAL_STRING("xxx.", faulty());
	drv.driver = &outlives;
	TEST_ASSERT_EQUAL_STRING("....", faulty());
	/* or the device, if nothing does */
	make();
	drv.buses[1].joints = false;
	drv.joint_buses[2] = 0;
	drv.buses[1].slots.state = SLOTS_STALLED;
	TEST_ASSERT_EQUAL_STRING("....", faulty());
	TEST_ASSERT_EQUAL_STRING("its bus is dead", drv_fault_device(&drv));
	drv.driver = &outlives;
	TEST_ASSERT_NULL(drv_fault_device(&drv));
}

TEST(a_silent_row_takes_the_device)
{
	make();
	drv.buses[1].receives[1].silent = true; /* counts once it is there */
	TEST_ASSERT_EQUAL_STRING("....", faulty());
	TEST_ASSERT_NULL(drv_fault_device(&drv));
	drv.buses[1].receives_n = 2;
	TEST_ASSERT_EQUAL_STRING("it is silent", drv_fault_device(&drv));
}

TEST(as_many_joints_as_there_may_be)
{
	make();
	drv.setup.joint_independent = true;
	drv.joint_buses[JOINTS] = 0;
	drv.joints_n = MSG_JOINTS;
	drv_fault(&drv, MSG_JOINTS - 1, "jam", "it jams");
	drv_fault_spread(&drv);
	for (unsigned int i = 0; i < MSG_JOINTS; i++)
		TEST_ASSERT_EQUAL(i == MSG_JOINTS - 1, drv.joint_faulty[i]);
}

TEST(more_than_there_is_room_for)
{
	char code[16];

	make();
	for (int i = 0; i < DRV_FAULTS_MAX; i++) {
		snprintf(code, sizeof(code), "code-%d", i);
		drv_fault(&drv, 3, code, "one of many");
	}
	TEST_ASSERT_NULL((faulty(), drv_fault_device(&drv)));
	drv_fault(&drv, 3, "code-1", "known");
	TEST_ASSERT_NULL((faulty(), drv_fault_device(&drv)));
	drv_fault(&drv, 0, "one-more", "too many");
	drv_fault(&drv, 0, "another", "too many");
	TEST_ASSERT_EQUAL_STRING("too many faults", (faulty(), drv_fault_device(&drv)));
	drv_fault_clear(&drv, 3, "code-0");
	TEST_ASSERT_NULL((faulty(), drv_fault_device(&drv)));
	TEST_ASSERT_EQUAL(DRV_FAULTS_MAX - 1, drv.faults_n);
	drv_fault_clear(&drv, 3, NULL);
	TEST_ASSERT_EQUAL_STRING("....", faulty());
	TEST_ASSERT_EQUAL(0, drv.faults_n);
}

/* ---- in the loop ---- */

static enum msg_life lives[64][2];
static bool stops[64][2];

static int add_finger(struct drv *d, struct error_sink *errors)
{
	if (drv_add_joint(d, "finger", errors) != 1)
		return -1;
	drv_joint_group(d, 1, 1);
	return 0;
}

static void note_lives(void)
{
	const struct drv_orders *orders = &fake.ticks[fake.ticks_n - 1].orders;

	for (unsigned int i = 0; i < 2; i++) {
		lives[fake.ticks_n][i] = orders->joint_life[i];
		stops[fake.ticks_n][i] = orders->joint[i].stops;
	}
}

DRV_LIB_HOOK(break_finger, drv_fault(fake.drv, 1, "torn", "a tendon is torn"));
DRV_LIB_HOOK(mend_finger, drv_fault_clear(fake.drv, 1, "torn"));

static void move_both(void)
{
	struct msg_joint_ref ref;

	note_lives();
	msg_init(&ref, msg_type_by_number(msg_joint_ref_number));
	ref.header.for_incarnation = 1;
	ref.header.valid_until_ns = clock_now_ns() + 20 * MS;
	ref.count = 2;
	ref.mode[0] = ref.mode[1] = MSG_MODE_VELOCITY;
	ref.velocity[0] = ref.velocity[1] = 0.1;
	drv_lib_put("arm-ref", &ref, sizeof(ref));
}

static int64_t fill_both(void *self, struct drv *d, void *state, int64_t now_ns)
{
	struct msg_joint_state *s = state;

	(void)self;
	(void)d;
	for (unsigned int i = 0; i < 2; i++)
		s->position[i] = s->velocity[i] = s->age_ns[i] = 0;
	return now_ns;
}

/* The elbow follows on; the finger holds, and begins again with a tick of holding. */
TEST(one_broken_joint_does_not_stop_the_others)
{
	fake.declare = add_finger;
	drv_lib_driver.fill = fill_both;
	drv_lib_always(move_both);
	drv_lib_at(1, drv_lib_arm);
	drv_lib_at(8, break_finger);
	drv_lib_at(14, mend_finger);
	TEST_ASSERT_EQUAL(0, drv_lib_run(99, ""));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, lives[8][1]);
	TEST_ASSERT_FALSE(stops[8][1]);
	for (unsigned int tick = 9; tick <= 14; tick++) {
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, lives[tick][0]);
		TEST_ASSERT_FALSE(stops[tick][0]);
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, lives[tick][1]);
		TEST_ASSERT_TRUE(stops[tick][1]);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, fake.ticks[tick - 1].orders.life);
	}
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, lives[15][1]);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, lives[16][1]);
	TEST_ASSERT_FALSE(stops[16][1]);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, drv_lib.states[11].lifecycle[1]);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, drv_lib.states[11].lifecycle[0]);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, drv_lib.states[11].common.lifecycle);
	TEST_ASSERT_EQUAL(MSG_LIFE_DOWN, drv_lib.states[drv_lib.states_n - 1].lifecycle[0]);
}

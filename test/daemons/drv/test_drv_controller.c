/* test_drv_controller.c: a driver without a bus: the same life, and references without joints.
 *
 * Also for drv_calls.c drv_declare.c drv_frames.c drv_open.c drv_read.c
 */
#include <math.h>

#include "channels/clock/clock.h"
#include "daemons/drv/claim.h"
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

#define RUN "--name arm --set lock_memory=no "
#define LIFE(tick) (fake.ticks[(tick)-1].orders.life)

void setUp(void)
{
	drv_lib_begin();
	drv_lib_driver.no_bus = true;
}

void tearDown(void)
{
	drv_lib_end();
}

/* ---- what it is given ---- */

#define ROBOT(device)                                             \
	drv_lib_file("lab.yaml", "robot: lab\n"                   \
				 "buses:\n"                       \
				 "  lab: {interface: wire:lab}\n" \
				 "devices:\n"                     \
				 "  arm: {driver: faked" device "}\n")

static int with_file(const char *file, const char *more)
{
	char line[256];

	snprintf(line, sizeof(line), "--name arm --config %s %s", file, more);
	return drv_lib_main(line);
}

TEST(a_controller_needs_no_bus_and_takes_none)
{
	TEST_ASSERT_EQUAL(0, drv_lib_main(RUN "--check"));
	TEST_ASSERT_EQUAL(100, drv_lib_main(RUN "--check --bus wire:lab"));
	TEST_ASSERT_EQUAL_STRING("faked[arm]: fatal: --bus: faked uses no bus\n", drv_lib.said);
	TEST_ASSERT_EQUAL(0, with_file(ROBOT(""), "--check"));
	TEST_ASSERT_EQUAL(100, with_file(ROBOT(", bus: lab"), "--check"));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib.said, "lab.yaml:5: bus: faked uses no bus: take this out\n"));
	drv_lib_driver.no_bus = false;
	TEST_ASSERT_EQUAL(100, with_file(ROBOT(""), "--check"));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib.said, "lab.yaml:5: arm: no bus: write bus: NAME\n"));
}

TEST(its_tick_is_not_a_frame)
{
	TEST_ASSERT_EQUAL(100, drv_lib_main(RUN "--check --set tick=frame~0x123~5ms"));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib.said, "tick: there is no bus"));
}

static int opened, closed, result;
static const struct robot *robot;

static int open_it(void *self, struct drv *drv, struct error_sink *errors)
{
	(void)self;
	robot = drv_robot(drv);
	opened++;
	if (result)
		error_add(errors, "not there");
	return result;
}

static void close_it(void *self)
{
	(void)self;
	closed++;
}

TEST(what_it_uses_is_opened_before_the_loop_runs_and_closed_at_the_end)
{
	drv_lib_driver.open = open_it;
	drv_lib_driver.close = close_it;
	result = -ENOENT;
	TEST_ASSERT_EQUAL(111, drv_lib_main(RUN));
	TEST_ASSERT_EQUAL_STRING("faked[arm]: fatal: not there\n", drv_lib.said);
	TEST_ASSERT_EQUAL(1, closed);
	TEST_ASSERT_NULL(robot);
	result = 0;
	drv_lib_at(2, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, with_file(ROBOT(""), "--set lock_memory=no"));
	TEST_ASSERT_EQUAL(2, opened);
	TEST_ASSERT_NOT_NULL(robot);
	TEST_ASSERT_EQUAL(2, closed);
}

static int claim_a_channel(struct drv *drv, struct error_sink *errors)
{
	return drv_add_claim(drv, DRV_CHANNEL, "waist-ref", errors) == 0 ? 0 : -EINVAL;
}

TEST(its_frames_are_an_empty_list)
{
	fake.declare = claim_a_channel;
	TEST_ASSERT_EQUAL(0, drv_lib_main(RUN "--frames"));
	TEST_ASSERT_EQUAL_STRING("{\"driver\":\"faked\",\"name\":\"arm\",\"tick_us\":5000,\"frames\":[],"
				 "\"claims\":[{\"bus\":null,\"what\":\"waist-ref\"}],\"channels\":[]}\n",
				 drv_lib.printed);
}

static struct claim_set set;
static int claimed;

static void try_claim(void)
{
	struct error_sink quiet = { 0 };

	claimed = claim_channel(&set, drv_lib_channel("waist-ref"), &quiet, &quiet);
}

TEST(a_channel_has_one_writer)
{
	fake.declare = claim_a_channel;
	drv_lib_at(2, try_claim);
	drv_lib_at(3, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main(RUN));
	TEST_ASSERT_EQUAL(-EBUSY, claimed);
	try_claim();
	TEST_ASSERT_EQUAL(0, claimed);
	TEST_ASSERT_EQUAL(112, drv_lib_main(RUN));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib.said, "waist-ref"));
	claim_release(&set);
}

/* ---- its life ---- */

static void fall_ill(void)
{
	drv_fault(fake.drv, DRV_ALL, "blind", "no state of the waist");
}

static void be_well(void)
{
	drv_fault_clear(fake.drv, DRV_ALL, "blind");
}

TEST(a_controller_lives_as_a_sensor_does)
{
	drv_lib_driver.ref = 0;
	fake.starts_wanted = 3;
	drv_lib_at(6, fall_ill);
	drv_lib_at(8, be_well);
	drv_lib_at(12, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main(RUN));
	TEST_ASSERT_EQUAL(MSG_LIFE_STARTING, LIFE(3));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE(4));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, LIFE(7));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE(9));
	TEST_ASSERT_EQUAL(0, drv_lib_last()->common.bus_count);
	TEST_ASSERT_TRUE(drv_lib_reported("blind"));
}

static void tell_clock(void)
{
	struct msg_clock msg;

	msg_init(&msg, msg_type_by_number(msg_clock_number));
	msg.cycle = 100 + fake.ticks_n;
	msg.t_cycle_ns = clock_now_ns() / DRV_LIB_MS * DRV_LIB_MS + DRV_LIB_MS / 4;
	msg.period_ns = DRV_LIB_MS;
	drv_lib_put("clock", &msg, sizeof(msg));
}

TEST(it_ticks_on_the_clock_by_its_channel)
{
	drv_lib_always(tell_clock);
	drv_lib_at(60, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main(RUN "--set tick=clock"));
	TEST_ASSERT_FALSE(fake.ticks[50].orders.freerun);
	TEST_ASSERT_GREATER_THAN(0, fake.ticks[50].orders.cycle);
	TEST_ASSERT_EQUAL(DRV_LIB_MS / 4, fake.ticks[50].orders.tick_ns % DRV_LIB_MS);
}

/* ---- references ---- */

static void put_balance(double speed)
{
	struct msg_balance_ref ref;

	msg_init(&ref, msg_type_by_number(msg_balance_ref_number));
	ref.header.for_incarnation = 1;
	ref.header.valid_until_ns = clock_now_ns() + 20 * (int64_t)DRV_LIB_MS;
	ref.speed = speed;
	drv_lib_put("arm-ref", &ref, sizeof(ref));
}

DRV_LIB_HOOK(walk, put_balance(0.5));
DRV_LIB_HOOK(stumble, put_balance(NAN));

TEST(references_of_a_balance_have_no_joints)
{
	drv_lib_driver.ref = msg_balance_ref_number;
	drv_lib_at(2, drv_lib_arm);
	drv_lib_at(4, walk);
	drv_lib_at(10, stumble);
	drv_lib_at(14, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main(RUN));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, LIFE(4));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, LIFE(5));
	TEST_ASSERT_NOT_NULL(fake.ticks[4].orders.ref);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, LIFE(10));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, LIFE(11));
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_taken);
	TEST_ASSERT_EQUAL(1, drv_lib_last()->common.refs_refused.not_finite);
}

/* ---- inputs ---- */

static int read_two(struct drv *drv, struct error_sink *errors)
{
	char line[64] = "";
	struct error_sink full = { error_keep_last, line, 0 };

	TEST_ASSERT_EQUAL(0, drv_add_input(drv, "waist.joy-ref", msg_joint_ref_number, errors));
	for (int i = 1; i < DRV_INPUTS_MAX; i++)
		TEST_ASSERT_EQUAL(i, drv_add_input(drv, "waist.control-ref", msg_joint_ref_number, errors));
	TEST_ASSERT_EQUAL(-ENOSPC, drv_add_input(drv, "more", msg_joint_ref_number, &full));
	TEST_ASSERT_EQUAL_STRING("more than 12 channels of references", line);
	return 0;
}

static size_t got_len[3];

static void read_inputs(void)
{
	static union drv_message msg;
	struct msg_joint_ref ref = drv_lib_ref(MSG_MODE_POSITION, 1, 20);

	got_len[0] = drv_newest(fake.drv, 0, &msg, sizeof(msg));
	drv_lib_put("waist.joy-ref", &ref, sizeof(ref));
	drv_lib_put("waist.joy-ref", "short", 5);
	got_len[1] = drv_newest(fake.drv, 0, &msg, sizeof(msg));
	drv_lib_put("waist.joy-ref", &ref, sizeof(ref));
	got_len[2] = drv_newest(fake.drv, 0, &msg, sizeof(msg));
}

DRV_LIB_HOOK(remove_input, drv_lib_remove("waist.joy-ref"));

TEST(the_newest_message_of_an_input_is_read_once)
{
	fake.declare = read_two;
	drv_lib_at(2, read_inputs);
	drv_lib_at(3, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main(RUN));
	TEST_ASSERT_EQUAL(0, got_len[0]);
	TEST_ASSERT_EQUAL(5, got_len[1]);
	TEST_ASSERT_EQUAL(sizeof(struct msg_joint_ref), got_len[2]);
}

TEST(an_input_that_was_removed_is_reopened)
{
	fake.declare = read_two;
	drv_lib_at(2, remove_input);
	drv_lib_at(220, read_inputs);
	drv_lib_at(221, drv_lib_stop);
	TEST_ASSERT_EQUAL(0, drv_lib_main(RUN));
	TEST_ASSERT_EQUAL(sizeof(struct msg_joint_ref), got_len[2]);
}

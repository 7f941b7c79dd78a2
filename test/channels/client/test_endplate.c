/* test_endplate.c: libendplate against a driver made by hand, on a virtual clock. */
#include <math.h>
#include <pthread.h>
#include <sys/stat.h>

#include "test/lib/clock_virtual.h"
#include "test/lib/testcase.h"

#include "channels/ach/ach.h"
#include "channels/client/endplate.h"
#include "channels/client/endplate_inside.h"
#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/launch/file/launch_lib.h"

#define MS 1000000
#define START 100000000000
#define VALID (20 * MS)

static char prefix[32], folder[LAUNCH_LIB_PATH], run[LAUNCH_LIB_PATH + 8];
static struct endplate *robot;
static struct endplate_device *waist;
static struct endplate_view view;
static struct msg_joint_state state, seen;
static struct msg_joint_ref ref;
static struct estop estop;

/* ---- a driver made by hand ---- */

static const char *full(const char *channel)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s%s", prefix, channel);
	return name;
}

static void make_as(const char *channel, size_t size, mode_t mode)
{
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, mode, (gid_t)-1);
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_create(full(channel), 64, size, &attr));
}

static void make(const char *channel, size_t size)
{
	make_as(channel, size, 0600);
}

static void put(const char *channel, const void *msg, size_t size)
{
	ach_channel_t chan;

	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_open(&chan, full(channel), NULL));
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_put(&chan, msg, size));
	ach_close(&chan);
}

/* `state` as a driver would put it now. */
static void publish(void)
{
	state.header.sequence++;
	state.header.t_sample_ns = state.header.t_publish_ns = clock_now_ns();
	put("waist-state", &state, sizeof(state));
}

static void begin_state(void)
{
	msg_init(&state, msg_type_by_number(msg_joint_state_number));
	state.header.incarnation = 3;
	state.common.lifecycle = MSG_LIFE_HOLDING;
	state.common.level = MSG_LEVEL_RUN;
	memcpy(state.common.boot, estop.boot, sizeof(state.common.boot));
	state.count = 1;
	state.position[0] = -0.5;
	memset(&ref, 0, sizeof(ref));
	ref.count = 1;
	ref.mode[0] = MSG_MODE_POSITION;
	ref.position[0] = -0.4;
}

static void put_clock(uint64_t cycle, int64_t t_cycle_ns, int64_t period_ns)
{
	struct msg_clock msg;

	msg_init(&msg, msg_type_by_number(msg_clock_number));
	msg.header.t_publish_ns = clock_now_ns();
	msg.cycle = cycle;
	msg.t_cycle_ns = t_cycle_ns;
	msg.period_ns = period_ns;
	put("clock", &msg, sizeof(msg));
}

static void pass(int64_t ns)
{
	clock_wait(NULL, 0, clock_now_ns() + ns);
}

static int read_state(void)
{
	memset(&seen, 0xee, sizeof(seen));
	return endplate_state(waist, &seen, sizeof(seen), &view);
}

static int put_ref(void)
{
	return endplate_put(waist, &ref, sizeof(ref), VALID);
}

/* The newest reference that a driver would read, or none: 0. */
static int take_ref_of(const char *channel, struct msg_joint_ref *taken)
{
	ach_channel_t chan;
	size_t len;
	enum ach_status status;

	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_open(&chan, full(channel), NULL));
	status = ach_get(&chan, taken, sizeof(*taken), &len, NULL, ACH_O_LAST);
	ach_close(&chan);
	return status == ACH_OK || status == ACH_MISSED_FRAME ? (int)len : 0;
}

static int take_ref(struct msg_joint_ref *taken)
{
	return take_ref_of("waist-ref", taken);
}

/* ---- opening ---- */

TEST(test_robots_are_found_by_name_and_environment)
{
	static const struct {
		const char *run, *prefix, *name; /* of the environment; asked for */
		int status;
	} cases[] = {
		{ "here", NULL, NULL, 0 },	     { "here", NULL, "bench", 0 },
		{ "here", NULL, "other", -EINVAL },  /* ENDPLATE_RUN is another robot's */
		{ "here", "wrong-", NULL, -EINVAL }, /* the folder says another prefix */
		{ "none", "mine-", NULL, 0 },	     /* drivers started by hand */
		{ "none", NULL, "bench", -ENOENT },  { "here", NULL, "not a name", -EINVAL },
		{ "here", NULL, "", -EINVAL },
	};
	char text[128], path[LAUNCH_LIB_PATH];

	snprintf(text, sizeof(text), "name bench\nprefix %s\nchannels \nend\n", prefix);
	launch_lib_write(path, run, "robot", 0640, text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct endplate *other;

		snprintf(text, sizeof(text), "case %zu", i);
		setenv("ENDPLATE_RUN", strcmp(cases[i].run, "here") ? "/nonexistent/run" : run, 1);
		if (cases[i].prefix)
			setenv("ENDPLATE_PREFIX", cases[i].prefix, 1);
		else
			unsetenv("ENDPLATE_PREFIX");
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].status, endplate_open(&other, cases[i].name), text);
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].status != 0, *endplate_errstr() != 0, text);
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].status != 0, !other, text);
		if (!cases[i].status && !cases[i].prefix)
			TEST_ASSERT_EQUAL_STRING(prefix, getenv("ENDPLATE_PREFIX"));
		endplate_close(other);
	}
}

TEST(test_devices_need_a_name_and_a_type)
{
	struct endplate_device *d;

	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_device_open(robot, "../x", msg_joint_state_number, &d));
	TEST_ASSERT_NULL(d);
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_device_open(robot, "arm", 4711, &d));
	TEST_ASSERT_EQUAL_INT(0, endplate_device_open(robot, "arm", 0, &d));
	TEST_ASSERT_EQUAL_INT(-ENOENT, endplate_state(d, &seen, sizeof(seen), &view));
	TEST_ASSERT_EQUAL_UINT32(ENDPLATE_SILENT, view.doubts);
	/* A wrong name leaves no channel behind. */
	ach_channel_t chan;
	TEST_ASSERT_EQUAL_INT(ACH_ENOENT, ach_open(&chan, full("arm-state"), NULL));
	TEST_ASSERT_EQUAL_INT(ACH_ENOENT, ach_open(&chan, full("arm-ref"), NULL));
}

TEST(test_every_status_has_words)
{
	static const int all[] = { 0,	   -ENOENT, -EACCES, -ENODATA, -EPROTO, -ESTALE,    -EHOSTDOWN,
				   -ETIME, -EDOM,   -ERANGE, -EIO,     -EPERM,	-ETIMEDOUT, -EINVAL };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (size_t j = 0; j < i; j++)
			TEST_ASSERT_TRUE(strcmp(endplate_strerror(all[i]), endplate_strerror(all[j])) != 0);
}

/* ---- states ---- */

TEST(test_what_makes_a_state_doubtful)
{
	static const struct {
		const char *name;
		uint32_t life, level, flags;
		int64_t sample_ms, publish_ms; /* before it is looked at; -1: never */
		uint32_t doubts, follows;
	} cases[] = {
		{ "holding", MSG_LIFE_HOLDING, MSG_LEVEL_RUN, MSG_FLAG_HELD, 2, 1, 0, 1 },
		{ "active", MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, MSG_FLAG_SIMULATED, 2, 1, 0, 1 },
		{ "100 ms", MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, 0, 100, 100, 0, 1 },
		{ "old", MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, 0, 101, 1, ENDPLATE_OLD, 1 },
		{ "never measured", MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, 0, -1, 1, ENDPLATE_OLD, 1 },
		{ "silent", MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, 0, 101, 101, ENDPLATE_OLD | ENDPLATE_SILENT, 1 },
		{ "partial", MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, MSG_FLAG_PARTIAL, 2, 1, ENDPLATE_PARTIAL, 1 },
		{ "replayed", MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, MSG_FLAG_REPLAYED, 2, 1, ENDPLATE_REPLAYED, 1 },
		{ "down", MSG_LIFE_DOWN, MSG_LEVEL_RUN, 0, 2, 1, ENDPLATE_NOT_UP, 0 },
		{ "starting", MSG_LIFE_STARTING, MSG_LEVEL_RUN, 0, 2, 1, ENDPLATE_NOT_UP, 0 },
		{ "fault", MSG_LIFE_FAULT, MSG_LEVEL_RUN, 0, 2, 1, ENDPLATE_NOT_UP, 0 },
		{ "stopping", MSG_LIFE_STOPPING, MSG_LEVEL_RUN, 0, 2, 1, ENDPLATE_NOT_UP, 0 },
		{ "of the future", 99, MSG_LEVEL_RUN, 0, 2, 1, ENDPLATE_NOT_UP, 0 },
		{ "disarmed", MSG_LIFE_DISARMED, MSG_LEVEL_ESTOP, 0, 2, 1, 0, 0 },
		{ "homing", MSG_LIFE_HOMING, MSG_LEVEL_RUN, 0, 2, 1, 0, 0 },
		{ "at level hold", MSG_LIFE_HOLDING, MSG_LEVEL_HOLD, MSG_FLAG_HELD, 2, 1, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *name = cases[i].name;
		const int64_t now_ns = clock_now_ns();

		state.common.lifecycle = cases[i].life;
		state.common.level = cases[i].level;
		state.header.flags = cases[i].flags;
		state.header.t_publish_ns = now_ns - cases[i].publish_ms * MS;
		state.header.t_sample_ns = cases[i].sample_ms < 0 ? 0 : now_ns - cases[i].sample_ms * MS;
		put("waist-state", &state, sizeof(state));
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, read_state(), name);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(cases[i].doubts, view.doubts, name);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(cases[i].follows, view.follows, name);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(cases[i].sample_ms < 0 ? INT64_MAX : cases[i].sample_ms * MS,
						view.age_ns, name);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(cases[i].publish_ms * MS, view.silent_ns, name);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(cases[i].life, view.lifecycle, name);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(cases[i].level, view.level, name);
		TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&state, &seen, sizeof(seen), name);
	}
}

TEST(test_stamps_that_make_no_sense_are_silence)
{
	static const int64_t stamps[] = { 0, -1, INT64_MIN };

	publish();
	read_state();
	for (size_t i = 0; i < sizeof(stamps) / sizeof(*stamps); i++) {
		state.header.t_publish_ns = state.header.t_sample_ns = stamps[i];
		put("waist-state", &state, sizeof(state));
		TEST_ASSERT_EQUAL_INT(-ETIME, put_ref());
		TEST_ASSERT_EQUAL_INT(0, read_state());
		TEST_ASSERT_EQUAL_HEX32(ENDPLATE_SILENT | ENDPLATE_OLD, view.doubts);
		TEST_ASSERT_EQUAL_INT64(INT64_MAX, view.age_ns);
		TEST_ASSERT_EQUAL_INT(MSG_LEVEL_ESTOP, endplate_level(robot));
	}
}

TEST(test_the_maximum_age_can_be_set)
{
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_max_age(waist, 0));
	TEST_ASSERT_EQUAL_INT(0, endplate_max_age(waist, 3000 * (int64_t)MS));
	publish();
	pass(2000 * (int64_t)MS);
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_HEX32(0, view.doubts);
}

TEST(test_the_newest_is_there_again_and_what_was_missed_is_counted)
{
	TEST_ASSERT_EQUAL_INT(-ENODATA, read_state());
	for (int i = 0; i < 3; i++)
		publish();
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_UINT32(1, view.is_new);
	TEST_ASSERT_EQUAL_UINT64(0, view.missed); /* from before it was opened */
	TEST_ASSERT_EQUAL_UINT64(3, seen.header.sequence);
	pass(7 * MS);
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_UINT32(0, view.is_new);
	TEST_ASSERT_EQUAL_INT64(7 * MS, view.age_ns);
	TEST_ASSERT_EQUAL_UINT64(3, seen.header.sequence);
	for (int i = 0; i < 4; i++)
		publish();
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_UINT32(1, view.is_new);
	TEST_ASSERT_EQUAL_UINT64(3, view.missed);
	/* A put in between looks at the state, too, and hides nothing from the next look. */
	publish();
	TEST_ASSERT_EQUAL_INT(0, put_ref());
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_UINT32(1, view.is_new);
}

TEST(test_other_messages_are_refused)
{
	struct msg_imu imu;
	struct msg_event event;
	char much[sizeof(state) + 1] = { 0 };

	msg_init(&imu, msg_type_by_number(msg_imu_number));
	put("waist-state", &imu, sizeof(imu));
	TEST_ASSERT_EQUAL_INT(-EPROTO, read_state());
	msg_init(&event, msg_type_by_number(msg_event_number));
	put("waist-state", &event, sizeof(event));
	TEST_ASSERT_EQUAL_INT(-EPROTO, read_state());
	put("waist-state", "x", 1);
	TEST_ASSERT_EQUAL_INT(-EPROTO, read_state());
	put("waist-state", much, sizeof(much));
	TEST_ASSERT_EQUAL_INT(-EPROTO, read_state());
	state.header.version++;
	publish();
	TEST_ASSERT_EQUAL_INT(-EPROTO, read_state());
	state.header.version--;
	publish();
	TEST_ASSERT_EQUAL_INT(-EPROTO, endplate_state(waist, &imu, sizeof(imu), &view));
	TEST_ASSERT_EQUAL_INT(0, read_state());
}

TEST(test_any_type_of_state)
{
	struct endplate_device *d;
	struct msg_imu imu;
	char bytes[MSG_SIZE_MAX] __attribute__((aligned(8)));

	TEST_ASSERT_EQUAL_INT(0, endplate_device_open(robot, "head", 0, &d));
	make("head-state", sizeof(imu));
	msg_init(&imu, msg_type_by_number(msg_imu_number));
	imu.common.lifecycle = MSG_LIFE_ACTIVE;
	imu.header.t_sample_ns = imu.header.t_publish_ns = clock_now_ns() + 20 * MS;
	put("head-state", &imu, sizeof(imu));
	pass(20 * MS);
	TEST_ASSERT_EQUAL_INT(0, endplate_state(d, bytes, sizeof(bytes), &view));
	TEST_ASSERT_EQUAL_HEX32(0, view.doubts);
	TEST_ASSERT_EQUAL_UINT32(0, view.follows); /* a sensor takes no references */
	TEST_ASSERT_EQUAL_MEMORY(&imu, bytes, sizeof(imu));
	TEST_ASSERT_EQUAL_INT(-EPROTO, endplate_put(d, &ref, sizeof(ref), VALID));
}

TEST(test_a_strangers_channel_is_refused)
{
	ach_unlink(full("waist-state"));
	make_as("waist-state", sizeof(state), 0666);
	publish();
	pass(20 * MS);
	read_state();
	pass(20 * MS);
	TEST_ASSERT_EQUAL_INT(-EACCES, read_state());
}

/* ---- restarts and removal ---- */

TEST(test_a_restart_is_reported_once_and_refuses_references_until_it_was_seen)
{
	struct msg_joint_ref taken;

	publish();
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_HEX32(0, view.doubts); /* the first is not a restart */
	TEST_ASSERT_EQUAL_INT(0, put_ref());
	state.header.incarnation = 4;
	publish();
	TEST_ASSERT_EQUAL_INT(-ESTALE, put_ref());
	TEST_ASSERT_EQUAL_INT(-ESTALE, put_ref());
	TEST_ASSERT_EQUAL_INT((int)sizeof(taken), take_ref(&taken));
	TEST_ASSERT_EQUAL_UINT32(3, taken.header.for_incarnation);
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_HEX32(ENDPLATE_RESTARTED, view.doubts);
	TEST_ASSERT_EQUAL_UINT32(4, view.incarnation);
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_HEX32(0, view.doubts);
	TEST_ASSERT_EQUAL_INT(0, put_ref());
	TEST_ASSERT_EQUAL_INT((int)sizeof(taken), take_ref(&taken));
	TEST_ASSERT_EQUAL_UINT32(4, taken.header.for_incarnation);
}

TEST(test_removed_channels_are_reopened)
{
	struct msg_joint_ref taken;

	publish();
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_INT(0, put_ref());
	ach_unlink(full("waist-state"));
	ach_unlink(full("waist-ref"));
	pass(200 * MS);
	TEST_ASSERT_EQUAL_INT(-ENOENT, read_state());
	TEST_ASSERT_EQUAL_INT(-ENOENT, put_ref());
	make("waist-state", sizeof(state));
	make("waist-ref", sizeof(ref));
	state.header.incarnation = 5;
	pass(200 * MS);
	publish();
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_HEX32(ENDPLATE_RESTARTED, view.doubts);
	TEST_ASSERT_EQUAL_INT(0, put_ref());
	TEST_ASSERT_EQUAL_INT((int)sizeof(taken), take_ref(&taken));
	TEST_ASSERT_EQUAL_UINT32(5, taken.header.for_incarnation);
}

/* As a spare does, which opens it long before it is needed */
TEST(test_a_channel_that_was_replaced_before_it_was_read_is_reopened)
{
	publish();
	ach_unlink(full("waist-state"));
	make("waist-state", sizeof(state));
	state.header.incarnation = 5;
	pass(200 * MS);
	publish();
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_UINT32(5, view.incarnation);
}

TEST(test_a_condemned_channel_is_reopened_once_it_was_made_again)
{
	ach_channel_t chan;

	publish();
	TEST_ASSERT_EQUAL_INT(0, read_state());
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_open(&chan, full("waist-state"), NULL));
	ach_condemn(&chan);
	ach_close(&chan);
	TEST_ASSERT_EQUAL_INT(-EIO, read_state());
	ach_unlink(full("waist-state"));
	make("waist-state", sizeof(state));
	pass(200 * MS);
	publish();
	TEST_ASSERT_EQUAL_INT(0, read_state());
}

/* ---- references ---- */

TEST(test_the_header_is_filled_in)
{
	struct msg_joint_ref taken;

	publish();
	read_state();
	pass(3 * MS);
	memset(&ref.header, 0xaa, sizeof(ref.header));
	TEST_ASSERT_EQUAL_INT(0, put_ref());
	TEST_ASSERT_EQUAL_INT((int)sizeof(taken), take_ref(&taken));
	TEST_ASSERT_EQUAL_INT(MSG_FINE,
			      msg_check(&taken, sizeof(taken), msg_type_by_number(msg_joint_ref_number), NULL));
	TEST_ASSERT_EQUAL_UINT32(msg_joint_ref_version, taken.header.version);
	TEST_ASSERT_EQUAL_UINT32(3, taken.header.for_incarnation);
	TEST_ASSERT_EQUAL_INT64(clock_now_ns(), taken.header.t_publish_ns);
	TEST_ASSERT_EQUAL_INT64(clock_now_ns() + VALID, taken.header.valid_until_ns);
	TEST_ASSERT_EQUAL_UINT64(1, taken.header.sequence);
	TEST_ASSERT_EQUAL_INT(0, put_ref());
	take_ref(&taken);
	TEST_ASSERT_EQUAL_UINT64(2, taken.header.sequence);
}

TEST(test_references_that_a_driver_would_refuse_are_not_put)
{
	static const struct {
		const char *name;
		double position, velocity;
		uint32_t count, mode;
		int64_t valid_ns;
		size_t size;
		int status;
	} cases[] = {
		{ "NaN", NAN, 0, 1, MSG_MODE_POSITION, VALID, sizeof(ref), -EDOM },
		{ "infinite", -INFINITY, 0, 1, MSG_MODE_POSITION, VALID, sizeof(ref), -EDOM },
		{ "NaN elsewhere", 0, NAN, 1, MSG_MODE_POSITION, VALID, sizeof(ref), -EDOM },
		{ "two joints", 0, 0, 2, MSG_MODE_POSITION, VALID, sizeof(ref), -EPROTO },
		{ "no joints", 0, 0, 0, MSG_MODE_POSITION, VALID, sizeof(ref), -EPROTO },
		{ "too many joints", 0, 0, MSG_JOINTS + 1, MSG_MODE_POSITION, VALID, sizeof(ref), -EPROTO },
		{ "no such mode", 0, 0, 1, 17, VALID, sizeof(ref), -EPROTO },
		{ "no validity", 0, 0, 1, MSG_MODE_POSITION, 0, sizeof(ref), -ERANGE },
		{ "negative validity", 0, 0, 1, MSG_MODE_POSITION, -1, sizeof(ref), -ERANGE },
		{ "too far", 0, 0, 1, MSG_MODE_POSITION, 200 * MS + 1, sizeof(ref), -ERANGE },
		{ "another struct", 0, 0, 1, MSG_MODE_POSITION, VALID, sizeof(struct msg_gripper_ref), -EPROTO },
		{ "longest validity", 0, 0, 1, MSG_MODE_POSITION, 200 * MS, sizeof(ref), 0 },
	};
	struct msg_joint_ref taken;

	publish();
	read_state();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ref.position[0] = cases[i].position;
		ref.velocity[0] = cases[i].velocity;
		ref.count = cases[i].count;
		ref.mode[0] = cases[i].mode;
		TEST_ASSERT_EQUAL_INT_MESSAGE(
			cases[i].status, endplate_put(waist, &ref, cases[i].size, cases[i].valid_ns), cases[i].name);
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].status ? 0 : (int)sizeof(taken), take_ref(&taken),
					      cases[i].name);
	}
}

TEST(test_a_source_has_a_channel_of_its_own)
{
	struct msg_joint_ref taken;

	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_source(waist, "a b"));
	make("waist.control-ref", sizeof(ref));
	publish();
	read_state();
	TEST_ASSERT_EQUAL_INT(0, endplate_source(waist, "control"));
	TEST_ASSERT_EQUAL_INT(0, put_ref());
	TEST_ASSERT_EQUAL_INT(0, take_ref(&taken));
	TEST_ASSERT_EQUAL_INT((int)sizeof(taken), take_ref_of("waist.control-ref", &taken));
	TEST_ASSERT_EQUAL_UINT32(3, taken.header.for_incarnation);
	TEST_ASSERT_EQUAL_INT(0, endplate_source(waist, "joy"));
	TEST_ASSERT_EQUAL_INT(-ENOENT, put_ref());
	TEST_ASSERT_EQUAL_INT(0, endplate_source(waist, NULL));
	TEST_ASSERT_EQUAL_INT(0, put_ref());
	TEST_ASSERT_EQUAL_INT((int)sizeof(taken), take_ref(&taken));
}

TEST(test_a_balance_takes_references_without_joints)
{
	struct endplate_device *d;
	struct msg_balance_state balance, got;
	struct msg_balance_ref want = { .speed = 0.2 };

	TEST_ASSERT_EQUAL_INT(0, endplate_device_open(robot, "balance", msg_balance_state_number, &d));
	make("balance-state", sizeof(balance));
	make("balance-ref", sizeof(want));
	msg_init(&balance, msg_type_by_number(msg_balance_state_number));
	balance.header.incarnation = 3;
	balance.common.lifecycle = MSG_LIFE_HOLDING;
	balance.header.t_sample_ns = balance.header.t_publish_ns = clock_now_ns() + 20 * MS;
	put("balance-state", &balance, sizeof(balance));
	pass(20 * MS);
	TEST_ASSERT_EQUAL_INT(0, endplate_state(d, &got, sizeof(got), &view));
	TEST_ASSERT_EQUAL_UINT32(1, view.follows);
	TEST_ASSERT_EQUAL_INT(0, endplate_put(d, &want, sizeof(want), VALID));
	TEST_ASSERT_EQUAL_INT(-EPROTO, endplate_put(d, &ref, sizeof(ref), VALID));
	want.turn_rate = NAN;
	TEST_ASSERT_EQUAL_INT(-EDOM, endplate_put(d, &want, sizeof(want), VALID));
}

TEST(test_references_need_a_driver_that_takes_them)
{
	static const struct {
		uint32_t life;
		int64_t silent_ms;
		int status;
	} cases[] = {
		{ MSG_LIFE_HOLDING, 0, 0 },	      { MSG_LIFE_ACTIVE, 100, 0 },
		{ MSG_LIFE_ACTIVE, 101, -ETIME },     { MSG_LIFE_DOWN, 0, -EHOSTDOWN },
		{ MSG_LIFE_STARTING, 0, -EHOSTDOWN }, { MSG_LIFE_DISARMED, 0, -EHOSTDOWN },
		{ MSG_LIFE_HOMING, 0, -EHOSTDOWN },   { MSG_LIFE_FAULT, 0, -EHOSTDOWN },
		{ MSG_LIFE_STOPPING, 0, -EHOSTDOWN },
	};

	TEST_ASSERT_EQUAL_INT(-ENODATA, put_ref()); /* nothing was published */
	publish();
	TEST_ASSERT_EQUAL_INT(-ENODATA, put_ref()); /* nothing was looked at */
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		state.common.lifecycle = MSG_LIFE_ACTIVE;
		publish();
		TEST_ASSERT_EQUAL_INT(0, read_state());
		state.common.lifecycle = cases[i].life;
		publish();
		pass(cases[i].silent_ms * MS);
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].status, put_ref(), msg_life_word(cases[i].life));
	}
}

TEST(test_a_refusal_of_the_driver_is_reported)
{
	publish();
	state.common.refs_refused.too_far = 5; /* of others, before the first look */
	publish();
	read_state();
	TEST_ASSERT_EQUAL_UINT64(0, view.refused);
	state.common.refs_refused.too_far = 7;
	state.common.refs_refused.other_incarnation = 1;
	publish();
	read_state();
	TEST_ASSERT_EQUAL_UINT64(3, view.refused);
	read_state();
	TEST_ASSERT_EQUAL_UINT64(0, view.refused);
	memset(&state.common.refs_refused, 0, sizeof(state.common.refs_refused));
	state.header.incarnation++;
	publish();
	read_state();
	TEST_ASSERT_EQUAL_UINT64(0, view.refused);
}

/* ---- ticks ---- */

TEST(test_ticks_without_a_clock_are_whole_periods)
{
	struct endplate_tick tick;

	pass(1);
	for (int i = 1; i <= 5; i++) {
		TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 5 * MS, &tick));
		TEST_ASSERT_EQUAL_INT64(START + i * 5 * MS, tick.t_ns);
		TEST_ASSERT_EQUAL_INT64(clock_now_ns(), tick.t_ns);
		TEST_ASSERT_EQUAL_UINT64(0, tick.skipped);
		TEST_ASSERT_EQUAL_UINT32(0, tick.clock);
		pass(i * MS / 2);
	}
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_wait(robot, 0, &tick));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_wait(robot, -1, NULL));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_wait(robot, 11000000000, NULL));
}

TEST(test_ticks_are_in_step_with_the_clock)
{
	struct endplate_tick tick;

	make("clock", sizeof(struct msg_clock));
	pass(200 * MS);
	/* Cycle 1002 began 0.3 ms ago; every fifth cycle, 1005 first. */
	put_clock(1002, clock_now_ns() - 300000, MS);
	TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 5 * MS, &tick));
	TEST_ASSERT_EQUAL_INT64(START + 200 * MS - 300000 + 3 * MS, tick.t_ns);
	TEST_ASSERT_EQUAL_UINT32(1, tick.clock);
	/* 2.6 cycles are three: 1008 is next, not 1006. */
	TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 26 * MS / 10, &tick));
	TEST_ASSERT_EQUAL_INT64(3 * MS, tick.period_ns);
	TEST_ASSERT_EQUAL_INT64(START + 200 * MS - 300000 + 6 * MS, tick.t_ns);
	/* A period below the clock's is one cycle. */
	TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, MS / 4, &tick));
	TEST_ASSERT_EQUAL_INT64(MS, tick.period_ns);
}

TEST(test_ticks_go_on_when_the_clock_is_gone)
{
	struct endplate_tick tick;
	int64_t last_ns;

	make("clock", sizeof(struct msg_clock));
	pass(200 * MS);
	put_clock(1000, clock_now_ns() - 300000, MS);
	endplate_wait(robot, 5 * MS, &tick);
	last_ns = tick.t_ns;
	ach_unlink(full("clock"));
	for (int i = 0; i < 40; i++) {
		TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 5 * MS, &tick));
		TEST_ASSERT_EQUAL_INT64(last_ns + 5 * MS, tick.t_ns);
		TEST_ASSERT_EQUAL_UINT64(0, tick.skipped);
		last_ns = tick.t_ns;
	}
	TEST_ASSERT_EQUAL_UINT32(0, tick.clock);
	/* It comes back, 0.2 ms later than it was: one tick comes that much later, none is lost or doubled. */
	make("clock", sizeof(struct msg_clock));
	put_clock(5000, last_ns + 200000, MS);
	for (int i = 0; i < 10; i++) {
		const int64_t before_ns = tick.t_ns;

		TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 5 * MS, &tick));
		TEST_ASSERT_TRUE(tick.t_ns - before_ns == 5 * MS || tick.t_ns - before_ns == 5 * MS + 200000);
		TEST_ASSERT_EQUAL_UINT64(0, tick.skipped);
	}
	TEST_ASSERT_EQUAL_INT64(last_ns + 50 * MS + 200000, tick.t_ns);
	TEST_ASSERT_EQUAL_UINT32(1, tick.clock);
}

TEST(test_late_ticks_are_skipped_and_counted)
{
	struct endplate_tick tick;

	TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 5 * MS, &tick));
	pass(6 * MS); /* the next is 1 ms late: returned at once */
	TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 5 * MS, &tick));
	TEST_ASSERT_EQUAL_INT64(START + 10 * MS, tick.t_ns);
	TEST_ASSERT_EQUAL_INT64(1 * MS, tick.late_ns);
	TEST_ASSERT_EQUAL_UINT64(0, tick.skipped);
	pass(17 * MS); /* to 28: those of 15 and 20 are left out */
	TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 5 * MS, &tick));
	TEST_ASSERT_EQUAL_INT64(START + 25 * MS, tick.t_ns);
	TEST_ASSERT_EQUAL_UINT64(2, tick.skipped);
	TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 5 * MS, &tick));
	TEST_ASSERT_EQUAL_INT64(START + 30 * MS, tick.t_ns);
	TEST_ASSERT_EQUAL_INT64(0, tick.late_ns);
	TEST_ASSERT_EQUAL_UINT64(0, tick.skipped);
}

TEST(test_a_clock_that_makes_no_sense_is_left_alone)
{
	static const struct {
		int64_t t_cycle_ns, period_ns;
	} cases[] = { { 0, 0 }, { 0, -1 }, { 0, INT64_MAX }, { INT64_MAX, MS }, { INT64_MIN, MS }, { 0, 1 } };
	struct endplate_tick tick;

	make("clock", sizeof(struct msg_clock));
	pass(200 * MS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		put_clock(1, cases[i].t_cycle_ns, cases[i].period_ns);
		TEST_ASSERT_EQUAL_INT(0, endplate_wait(robot, 5 * MS, &tick));
		TEST_ASSERT_EQUAL_INT64(START + (200 + 5 * (int64_t)(i + 1)) * MS, tick.t_ns);
	}
}

/* ---- e-stop ---- */

/* Arms as achstart does, and the driver obeys it. */
static void arm(void)
{
	struct estop_seen now;
	uint64_t base;

	estop_read(&estop, clock_now_ns());
	now = estop_seen(&estop);
	TEST_ASSERT_EQUAL_INT(0, estop_lower(&estop, &now, MSG_LEVEL_RUN, clock_now_ns() + ESTOP_LOWER_NS, 1, "test", 0,
					     "", &base, &(struct error_sink){ 0 }));
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_RUN, estop_read(&estop, clock_now_ns()));
	state.common.base_chan = now.id[0];
	state.common.base_seq = base;
	state.common.base_level = MSG_LEVEL_RUN;
}

TEST(test_the_level_is_the_drivers_and_is_only_raised)
{
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_ESTOP, endplate_level(robot));
	arm();
	pass(1000 * (int64_t)MS); /* too late to take the lowering by itself */
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_ESTOP, endplate_level(robot));
	publish();
	read_state();
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_RUN, endplate_level(robot));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_raise(robot, MSG_LEVEL_RUN, "no"));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_raise(robot, (enum msg_level)9, "no"));
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_RUN, estop_read(&estop, clock_now_ns()));
	TEST_ASSERT_EQUAL_INT(0, endplate_raise(robot, MSG_LEVEL_HOLD, "too near"));
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_HOLD, endplate_level(robot));
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_HOLD, estop_read(&estop, clock_now_ns()));
	TEST_ASSERT_EQUAL_STRING("too near", estop.why);
	TEST_ASSERT_EQUAL_STRING("test_endplate", estop.who);
	TEST_ASSERT_EQUAL_INT(0, endplate_raise(robot, MSG_LEVEL_ESTOP, NULL));
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_ESTOP, estop_read(&estop, clock_now_ns()));
	TEST_ASSERT_EQUAL_INT(0, endplate_raise(robot, MSG_LEVEL_HOLD, "lower?"));
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_ESTOP, estop_read(&estop, clock_now_ns()));
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_ESTOP, endplate_level(robot));
}

/* As in a request that takes long. */
TEST(test_the_level_is_that_of_states_that_were_not_read)
{
	publish();
	read_state();
	arm();
	publish();
	for (int i = 0; i < 30; i++) {
		pass(1000 * (int64_t)MS);
		publish();
	}
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_RUN, endplate_level(robot));
	TEST_ASSERT_EQUAL_INT(0, estop_raise(&estop, MSG_LEVEL_HOLD, "test", 0, "stop", &(struct error_sink){ 0 }));
	pass(1000 * (int64_t)MS);
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_HOLD, endplate_level(robot));
	pass(1000 * (int64_t)MS); /* it is silent now, and what was said goes on */
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_HOLD, endplate_level(robot));
}

TEST(test_without_channels_a_raise_fails)
{
	ach_unlink(full("estop"));
	ach_unlink(full("estop-b"));
	pass(20 * MS);
	TEST_ASSERT_EQUAL_INT(MSG_LEVEL_ESTOP, endplate_level(robot));
	TEST_ASSERT_EQUAL_INT(-EIO, endplate_raise(robot, MSG_LEVEL_ESTOP, ""));
}

/* ---- requests ---- */

TEST(test_requests_that_cannot_be_made)
{
	struct msg_reply reply;

	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_ask(robot, "a b", MSG_VERB_GET, "x", NULL, MS, &reply));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_ask(robot, "waist", MSG_VERB_NONE, NULL, NULL, MS, &reply));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_ask(robot, "waist", (enum msg_verb)99, NULL, NULL, MS, &reply));
	TEST_ASSERT_EQUAL_INT(-EINVAL, endplate_ask(robot, "waist", MSG_VERB_HOME, NULL, NULL, 0, NULL));
	TEST_ASSERT_EQUAL_INT(-ENOENT, endplate_ask(robot, "waist", MSG_VERB_HOME, NULL, NULL, MS, NULL));
	TEST_ASSERT_NOT_NULL(strstr(endplate_errstr(), "no driver waist"));
	make("waist-req", sizeof(struct msg_request));
	TEST_ASSERT_EQUAL_INT(-ETIMEDOUT, endplate_ask(robot, "waist", MSG_VERB_HOME, NULL, NULL, 50 * MS, NULL));
	TEST_ASSERT_NOT_NULL(strstr(endplate_errstr(), "goes on"));
}

/* A driver that answers one request. */
static void *answer(void *arg)
{
	struct msg_request request;
	struct msg_reply reply;
	ach_channel_t req, rep;
	size_t len;

	(void)arg;
	ach_open(&req, full("waist-req"), NULL);
	ach_open(&rep, full("waist-rep"), NULL);
	ach_get(&req, &request, sizeof(request), &len, NULL, ACH_O_WAIT);
	msg_init(&reply, msg_type_by_number(msg_reply_number));
	reply.id = request.id;
	reply.client_pid = request.client_pid;
	reply.result = request.verb == MSG_VERB_GET ? 0 : -EBUSY;
	strcpy(request.verb == MSG_VERB_GET ? reply.value : reply.error, request.key);
	ach_put(&rep, &reply, sizeof(reply));
	ach_close(&req);
	ach_close(&rep);
	return NULL;
}

TEST(test_a_driver_answers)
{
	static const struct {
		enum msg_verb verb;
		int status;
	} cases[] = { { MSG_VERB_GET, 0 }, { MSG_VERB_SET, -EBUSY } };
	struct msg_reply reply;
	pthread_t driver;

	clock_use(&clock_real);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ach_unlink(full("waist-req"));
		ach_unlink(full("waist-rep"));
		make("waist-req", sizeof(struct msg_request));
		make("waist-rep", sizeof(struct msg_reply));
		pthread_create(&driver, NULL, answer, NULL);
		TEST_ASSERT_EQUAL_INT(cases[i].status,
				      endplate_ask(robot, "waist", cases[i].verb, "speed", "1", 60000000000, &reply));
		pthread_join(driver, NULL);
		TEST_ASSERT_EQUAL_STRING("speed", cases[i].status ? reply.error : reply.value);
		TEST_ASSERT_EQUAL_STRING(cases[i].status ? "speed" : "", endplate_errstr());
	}
}

/* A driver that takes a request, cancels it by itself if asked to, and ends it when it is cancelled or too late. */
static void *end_request(void *arg)
{
	struct msg_request request, next = { 0 };
	struct msg_reply reply;
	ach_channel_t req, rep;
	size_t len;

	ach_open(&req, full("waist-req"), NULL);
	ach_open(&rep, full("waist-rep"), NULL);
	ach_get(&req, &request, sizeof(request), &len, NULL, ACH_O_WAIT);
	if (arg) {
		endplate_cancel(arg);
		ach_get(&req, &next, sizeof(next), &len, NULL, ACH_O_WAIT);
	} else {
		clock_wait(NULL, 0, request.header.valid_until_ns);
	}
	msg_init(&reply, msg_type_by_number(msg_reply_number));
	reply.id = arg ? next.id : request.id;
	reply.client_pid = request.client_pid;
	reply.result = !arg ? -ETIMEDOUT : next.verb == MSG_VERB_CANCEL ? -ECANCELED : -EBADMSG;
	ach_put(&rep, &reply, sizeof(reply));
	ach_close(&req);
	ach_close(&rep);
	return NULL;
}

TEST(test_requests_are_cancelled_and_have_deadlines)
{
	struct msg_reply reply = { 0 };
	pthread_t driver;

	clock_use(&clock_real);
	make("waist-req", sizeof(struct msg_request));
	make("waist-rep", sizeof(struct msg_reply));
	TEST_ASSERT_EQUAL_INT(0, endplate_cancel(robot)); /* nothing to cancel */
	pthread_create(&driver, NULL, end_request, robot);
	TEST_ASSERT_EQUAL_INT(-ECANCELED, endplate_ask(robot, "waist", MSG_VERB_HOME, NULL, NULL, 60000000000, &reply));
	pthread_join(driver, NULL);
	TEST_ASSERT_EQUAL_INT(-ECANCELED, reply.result);
	pthread_create(&driver, NULL, end_request, NULL);
	TEST_ASSERT_EQUAL_INT(-ETIMEDOUT,
			      endplate_ask_deadline(robot, "waist", MSG_VERB_HOME, NULL, NULL, 20 * MS, &reply));
	pthread_join(driver, NULL);
}

/* ---- what there is ---- */

static struct msg_device_info info;

/* A driver's: two joints, references valid for at most 25 ms. */
static void put_info(void)
{
	msg_init(&info, msg_type_by_number(msg_device_info_number));
	info.header.incarnation = state.header.incarnation;
	strcpy(info.ref_type, "joint-ref");
	info.valid_max_ns = 25 * MS;
	info.count = 2;
	strcpy(info.joint[0], "lower");
	strcpy(info.joint[1], "upper");
	info.modes[0] = info.modes[1] = MSG_MODE_BIT_POSITION | MSG_MODE_BIT_VELOCITY;
	info.velocity[1] = 0.4;
	make("waist-info", sizeof(info));
	put("waist-info", &info, sizeof(info));
}

TEST(test_what_a_device_has)
{
	struct msg_device_info got;

	TEST_ASSERT_EQUAL_INT(-ENOENT, endplate_device_info(waist, &got));
	TEST_ASSERT_EQUAL_INT(-ENODATA, endplate_joint(waist, "upper"));
	TEST_ASSERT_EQUAL_STRING("waist: its joints are not known: is its driver running?", endplate_errstr());
	make("waist-info", sizeof(info));
	TEST_ASSERT_EQUAL_INT(-ENODATA, endplate_device_info(waist, &got));
	put("waist-info", "nothing", 8);
	TEST_ASSERT_EQUAL_INT(-EPROTO, endplate_device_info(waist, &got));
	ach_unlink(full("waist-info"));
	put_info();
	TEST_ASSERT_EQUAL_INT(0, endplate_device_info(waist, &got));
	TEST_ASSERT_EQUAL_MEMORY(&info, &got, sizeof(got));
	TEST_ASSERT_EQUAL_INT(1, endplate_joint(waist, "upper"));
	TEST_ASSERT_EQUAL_INT(0, endplate_joint(waist, "0"));
	TEST_ASSERT_EQUAL_INT(-ENOENT, endplate_joint(waist, "2"));
	TEST_ASSERT_EQUAL_INT(-ENOENT, endplate_joint(waist, "-1"));
	TEST_ASSERT_EQUAL_INT(-ENOENT, endplate_joint(waist, "elbow"));
	TEST_ASSERT_EQUAL_STRING("waist has no joint \"elbow\"; its joints: lower, upper", endplate_errstr());
	info.count = MSG_JOINTS + 1;
	put("waist-info", &info, sizeof(info));
	TEST_ASSERT_EQUAL_INT(-EPROTO, endplate_device_info(waist, &got));
}

TEST(test_a_driver_says_what_references_it_takes)
{
	state.count = ref.count = 2;
	publish();
	read_state();
	TEST_ASSERT_EQUAL_INT(0, endplate_put(waist, &ref, sizeof(ref), 30 * MS)); /* it has not said it */
	put_info();
	pass(100 * MS);
	publish();
	TEST_ASSERT_EQUAL_INT(-ERANGE, endplate_put(waist, &ref, sizeof(ref), 30 * MS));
	TEST_ASSERT_EQUAL_STRING("waist: valid for 30 ms, at most 25 ms: give it less", endplate_errstr());
	TEST_ASSERT_EQUAL_INT(0, endplate_put(waist, &ref, sizeof(ref), 25 * MS));
	ref.velocity[1] = NAN;
	TEST_ASSERT_EQUAL_INT(-EDOM, put_ref());
	TEST_ASSERT_EQUAL_STRING("waist: velocity[1] (upper) is nan: give a finite number", endplate_errstr());
	ref.count = 6;
	TEST_ASSERT_EQUAL_INT(-EPROTO, put_ref());
	TEST_ASSERT_EQUAL_STRING("waist: 6 joints, the device has 2: give one value for each", endplate_errstr());
	/* The next incarnation takes more. */
	ref.velocity[1] = 0;
	ref.count = 2;
	state.header.incarnation = info.header.incarnation = 4;
	info.valid_max_ns = 50 * MS;
	put("waist-info", &info, sizeof(info));
	publish();
	TEST_ASSERT_EQUAL_INT(-ESTALE, put_ref());
	TEST_ASSERT_EQUAL_STRING("waist: for incarnation 3, the driver is 4: read its state again", endplate_errstr());
	read_state();
	TEST_ASSERT_EQUAL_INT(0, endplate_put(waist, &ref, sizeof(ref), 30 * MS));
	/* Behind a refmuxd a validity may be longer. */
	make("waist.control-ref", sizeof(ref));
	TEST_ASSERT_EQUAL_INT(0, endplate_source(waist, "control"));
	TEST_ASSERT_EQUAL_INT(0, endplate_put(waist, &ref, sizeof(ref), 200 * MS));
}

TEST(test_doubts_have_words)
{
	TEST_ASSERT_EQUAL_STRING("", endplate_doubt_text(0));
	TEST_ASSERT_EQUAL_STRING("silent, old", endplate_doubt_text(ENDPLATE_SILENT | ENDPLATE_OLD));
	TEST_ASSERT_EQUAL_STRING("restarted, silent, old, partial, not up, replayed", endplate_doubt_text(~0u));
}

/* ---- readiness ---- */

static int be_ready(void)
{
	return endplate_ready(&waist, 1, 50 * MS);
}

static void put_event(const char *code, enum msg_severity severity, const char *text)
{
	struct msg_event event;

	msg_init(&event, msg_type_by_number(msg_event_number));
	event.header.incarnation = state.header.incarnation;
	event.header.t_publish_ns = clock_now_ns();
	event.severity = severity;
	strcpy(event.code, code);
	strcpy(event.text, text);
	put("waist-event", &event, sizeof(event));
}

#define NOT_READY(why)                                                           \
	do {                                                                     \
		TEST_ASSERT_EQUAL_INT(-ETIMEDOUT, endplate_ready(&waist, 1, 0)); \
		TEST_ASSERT_EQUAL_STRING(why, endplate_errstr());                \
	} while (0)

TEST(test_a_device_that_is_not_ready_says_why)
{
	const int64_t began_ns = clock_now_ns();

	NOT_READY("waist: no state; is its driver running?");
	TEST_ASSERT_EQUAL_INT(-ETIMEDOUT, be_ready());
	TEST_ASSERT_EQUAL_INT64(began_ns + 50 * MS, clock_now_ns());
	publish();
	TEST_ASSERT_EQUAL_INT(0, be_ready());
	pass(300 * MS);
	NOT_READY("waist: silent for 0.3 s; is its driver running?");
	state.common.level = MSG_LEVEL_ESTOP;
	state.common.lifecycle = MSG_LIFE_DISARMED;
	publish();
	NOT_READY("waist: level estop: achctl arm");
	state.common.lifecycle = MSG_LIFE_FAULT;
	publish();
	NOT_READY("waist: lifecycle fault: see its events");
	make("waist-event", sizeof(struct msg_event));
	put_event("silent", MSG_SEVERITY_ERROR, "module 15 does not answer");
	put_event("level-estop", MSG_SEVERITY_WARNING, "level estop");
	NOT_READY("waist: lifecycle fault: module 15 does not answer");
	state.header.incarnation = 4; /* what its predecessor said is void */
	publish();
	NOT_READY("waist: lifecycle fault: see its events");
	state.common.level = MSG_LEVEL_RUN;
	state.common.lifecycle = MSG_LIFE_HOMING;
	publish();
	NOT_READY("waist: follows no references: lifecycle homing");
	state.common.lifecycle = MSG_LIFE_STARTING;
	publish();
	NOT_READY("waist: its state is in doubt: not up; lifecycle starting");
	state.common.lifecycle = MSG_LIFE_ACTIVE;
	publish();
	TEST_ASSERT_EQUAL_INT(0, be_ready());
}

/* A device that takes no references is ready at any level. */
TEST(test_a_sensor_is_ready_without_being_armed)
{
	put_info();
	*info.ref_type = 0;
	put("waist-info", &info, sizeof(info));
	state.common.level = MSG_LEVEL_ESTOP;
	state.common.lifecycle = MSG_LIFE_DISARMED;
	publish();
	TEST_ASSERT_EQUAL_INT(0, be_ready());
}

/* ---- refusals ---- */

TEST(test_a_refusal_of_the_driver_has_words)
{
	static const char words[] = "process 4711: valid for 900 ms, at most 25 ms: give it less";

	publish();
	read_state();
	TEST_ASSERT_EQUAL_STRING("", endplate_refusal(waist));
	state.common.refs_refused.too_far = 1;
	publish();
	read_state();
	TEST_ASSERT_EQUAL_STRING("valid for too long: give it less", endplate_refusal(waist)); /* no event is there */
	make("waist-event", sizeof(struct msg_event));
	put_event(REF_REFUSED, MSG_SEVERITY_WARNING, words);
	put_event("holding", MSG_SEVERITY_INFO, "holding");
	TEST_ASSERT_EQUAL_STRING(words, endplate_refusal(waist));
	TEST_ASSERT_EQUAL_STRING(words, endplate_refusal(waist));
	pass(2000 * MS); /* an event of that age is about another one */
	state.common.refs_refused.not_finite = 1;
	publish();
	read_state();
	TEST_ASSERT_EQUAL_STRING("not a finite number", endplate_refusal(waist));
	state.header.incarnation = 4;
	publish();
	read_state();
	TEST_ASSERT_EQUAL_STRING("", endplate_refusal(waist));
}

/* ---- all ---- */

void setUp(void)
{
	static int n;

	snprintf(prefix, sizeof(prefix), "t-ep-%d-%d-", (int)getpid(), n++);
	launch_lib_folder(folder);
	snprintf(run, sizeof(run), "%s/run", folder);
	mkdir(run, 0700);
	setenv("ENDPLATE_RUN", run, 1);
	setenv("ENDPLATE_PREFIX", prefix, 1);
	unsetenv("ACH_DIR");
	clock_use_virtual(START);
	TEST_ASSERT_EQUAL_INT(0, estop_open(&estop,
					    &(struct estop_options){
						    .owner = geteuid(), .make = true, .group = (gid_t)-1, .name = "t" },
					    &(struct error_sink){ 0 }));
	make("waist-state", sizeof(state));
	make("waist-ref", sizeof(ref));
	begin_state();
	TEST_ASSERT_EQUAL_INT(0, endplate_open(&robot, NULL));
	TEST_ASSERT_EQUAL_INT(0, endplate_device_open(robot, "waist", msg_joint_state_number, &waist));
}

void tearDown(void)
{
	static const char *const channels[] = {
		"waist-state",	     "waist-ref",  "waist-req", "waist-rep", "waist-info", "waist-event",
		"waist.control-ref", "head-state", "clock",	"estop",     "estop-b"
	};

	endplate_close(robot);
	estop_close(&estop);
	for (size_t i = 0; i < sizeof(channels) / sizeof(*channels); i++)
		ach_unlink(full(channels[i]));
	launch_lib_remove(folder);
	clock_use(&clock_real);
}

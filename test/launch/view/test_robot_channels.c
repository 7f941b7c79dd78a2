/* test_robot_channels.c: the channels of a robot as achctl sees them: which, how fast, how old, in which phase. */
#include <math.h>
#include <sys/stat.h>

#include "test/lib/clock_virtual.h"
#include "test/lib/testcase.h"

#include "channels/client/daemon_state.h"
#include "channels/clock/clock.h"
#include "launch/view/observe.h"
#include "launch/view/robot_channels.h"

#define SECOND 1000000000
#define START (100 * (int64_t)SECOND)

static char prefix[32];
static struct robot_channels channels;

/* ---- a robot made by hand ---- */

static const char *full(const char *channel)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s%s", prefix, channel);
	return name;
}

static void make(const char *channel, enum msg_number number)
{
	const struct msg_type *type = msg_type_by_number(number);

	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_create(full(channel), type->retained, type->body->size, NULL));
}

static void put(const char *channel, const void *msg, size_t size)
{
	ach_channel_t chan;

	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_open(&chan, full(channel), NULL));
	TEST_ASSERT_EQUAL_INT(ACH_OK, ach_put(&chan, msg, size));
	ach_close(&chan);
}

static void put_state(const char *channel, int64_t t_ns)
{
	struct msg_imu msg;

	msg_init(&msg, msg_type_by_number(msg_imu_number));
	msg.header.t_publish_ns = t_ns;
	msg.header.incarnation = 4;
	msg.common.lifecycle = MSG_LIFE_ACTIVE;
	msg.common.level = MSG_LEVEL_HOLD;
	msg.common.epoch = 9;
	put(channel, &msg, sizeof(msg));
}

static void put_clock(int64_t cycle_ns)
{
	struct msg_clock msg;

	msg_init(&msg, msg_type_by_number(msg_clock_number));
	msg.header.t_publish_ns = msg.t_cycle_ns = cycle_ns;
	msg.period_ns = 1000000;
	put("clock", &msg, sizeof(msg));
}

static void pass(int64_t ns)
{
	clock_wait(NULL, 0, clock_now_ns() + ns);
}

static const struct robot_channel *find_channel(const char *channel)
{
	robot_channels_read(&channels);
	for (size_t i = 0; i < channels.n; i++)
		if (!strcmp(channels.at[i]->name, channel))
			return channels.at[i];
	return NULL;
}

/* ---- tests ---- */

TEST(test_finds_those_of_the_robot)
{
	make("imu-state", msg_imu_number);
	make("estop", msg_estop_number);
	robot_channels_read(&channels);
	TEST_ASSERT_EQUAL_size_t(2, channels.n);
	TEST_ASSERT_EQUAL_STRING("estop", channels.at[0]->name);
	TEST_ASSERT_EQUAL_STRING("imu-state", channels.at[1]->name);
	setenv("ENDPLATE_PREFIX", "another robot's", 1);
	robot_channels_close(&channels);
	channels = (struct robot_channels){ 0 };
	robot_channels_read(&channels);
	TEST_ASSERT_EQUAL_size_t(0, channels.n);
}

/* Of every name, before the robot's user makes one: it is neither shown nor believed. */
TEST(test_a_strangers_channel)
{
	struct daemon_state published;

	if (geteuid())
		TEST_IGNORE_MESSAGE("needs root");
	daemon_state_init(&published, "imu-state");
	for (int own = 0; own < 2; own++) {
		TEST_ASSERT_EQUAL(0, own ? 0 : seteuid(65534));
		umask(own ? 0077 : 0);
		make("imu-state", msg_imu_number);
		put_state("imu-state", START);
		umask(0022);
		TEST_ASSERT_EQUAL(0, seteuid(0));
		daemon_state_update_now(&published, START);
		TEST_ASSERT_EQUAL(own, published.there);
		TEST_ASSERT_EQUAL(own, find_channel("imu-state") != NULL);
		TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(full("imu-state")));
		pass(SECOND);
	}
	daemon_state_close(&published);
}

TEST(test_comes_and_goes)
{
	TEST_ASSERT_NULL(find_channel("imu-state"));
	make("imu-state", msg_imu_number);
	pass(SECOND);
	TEST_ASSERT_NOT_NULL(find_channel("imu-state"));
	ach_unlink(full("imu-state"));
	pass(SECOND);
	TEST_ASSERT_NULL(find_channel("imu-state"));
	make("imu-state", msg_imu_number);
	put_state("imu-state", START);
	pass(SECOND);
	TEST_ASSERT_TRUE(find_channel("imu-state")->state);
	/* Another file under the same name. */
	ach_unlink(full("imu-state"));
	make("imu-state", msg_imu_number);
	pass(SECOND);
	TEST_ASSERT_FALSE(find_channel("imu-state")->state);
}

TEST(test_rate_and_age)
{
	const struct robot_channel *one;

	make("imu-state", msg_imu_number);
	one = find_channel("imu-state");
	TEST_ASSERT_TRUE(isnan(one->rate_hz));
	TEST_ASSERT_TRUE(isnan(robot_channel_age_ms(one)));
	for (int i = 0; i < 300; i++)
		put_state("imu-state", clock_now_ns());
	pass(SECOND / 2);
	TEST_ASSERT_TRUE(isnan(find_channel("imu-state")->rate_hz)); /* too early to tell */
	pass(SECOND);
	one = find_channel("imu-state");
	TEST_ASSERT_EQUAL_DOUBLE(200, one->rate_hz); /* 300 in 1.5 s */
	TEST_ASSERT_EQUAL_DOUBLE(1500, robot_channel_age_ms(one));
	pass(SECOND);
	TEST_ASSERT_EQUAL_DOUBLE(0, find_channel("imu-state")->rate_hz);
}

TEST(test_phase)
{
	make("imu-state", msg_imu_number);
	put_state("imu-state", START + 3400000);
	TEST_ASSERT_TRUE(isnan(find_channel("imu-state")->phase_us)); /* no clock */
	make("clock", msg_clock_number);
	put_clock(START + 5000000);
	pass(SECOND);
	TEST_ASSERT_EQUAL_DOUBLE(400, find_channel("imu-state")->phase_us); /* 3.4 ms: 0.4 ms behind a cycle of 1 ms */
	put_clock(START + 2000000);
	TEST_ASSERT_EQUAL_DOUBLE(400, find_channel("imu-state")->phase_us);
	TEST_ASSERT_TRUE(isnan(find_channel("clock")->phase_us));
	ach_unlink(full("clock"));
	pass(SECOND);
	TEST_ASSERT_TRUE(isnan(find_channel("imu-state")->phase_us));
}

TEST(test_bears_what_is_not_ours)
{
	char bytes[64] = "not a message of ours";

	make("imu-state", msg_imu_number);
	put("imu-state", bytes, sizeof(bytes));
	TEST_ASSERT_FALSE(find_channel("imu-state")->ours);
	put_state("imu-state", START);
	TEST_ASSERT_TRUE(find_channel("imu-state")->ours);
	put("imu-state", bytes, sizeof(bytes));
	TEST_ASSERT_FALSE(find_channel("imu-state")->ours);
}

TEST(test_view_of_what_they_say)
{
	static struct status view;
	const struct status_daemon *d;

	setenv("ENDPLATE_RUN", "/nonexistent/there", 1);
	make("imu-state", msg_imu_number);
	make("odd-state", msg_estop_number);
	put_state("imu-state", START);
	robot_channels_read(&channels);
	TEST_ASSERT_EQUAL_size_t(1, observe_robot(&view, &channels));
	TEST_ASSERT_FALSE(view.supervised);
	TEST_ASSERT_EQUAL_STRING("", view.level); /* there is no e-stop channel */
	d = status_find_daemon(&view, "imu");
	TEST_ASSERT_NOT_NULL(d);
	TEST_ASSERT_EQUAL_STRING("running", d->state);
	TEST_ASSERT_EQUAL_STRING("active", d->life);
	TEST_ASSERT_EQUAL_STRING("hold", d->level);
	TEST_ASSERT_EQUAL_INT64(9, d->epoch);
	TEST_ASSERT_EQUAL_INT64(4, d->incarnation);
	TEST_ASSERT_TRUE(d->ready);
	pass(2 * (int64_t)SECOND);
	robot_channels_read(&channels);
	observe_robot(&view, &channels);
	d = status_find_daemon(&view, "imu");
	TEST_ASSERT_EQUAL_STRING("silent", d->state);
	TEST_ASSERT_FALSE(d->ready);
	TEST_ASSERT_EQUAL_INT(STATUS_BAD, status_daemon_rank(d));
}

static void put_event(const char *code, uint32_t incarnation, const char *text)
{
	struct msg_event msg;

	msg_init(&msg, msg_type_by_number(msg_event_number));
	msg.header.incarnation = incarnation;
	strcpy(msg.code, code);
	strcpy(msg.text, text);
	put("imu-event", &msg, sizeof(msg));
}

/* Whatever came after it; but not what a former process of the driver said. */
TEST(test_view_has_the_newest_refusal)
{
	static struct status view;

	setenv("ENDPLATE_RUN", "/nonexistent/there", 1);
	make("imu-state", msg_imu_number);
	make("imu-event", msg_event_number);
	put_state("imu-state", START);
	put_event("ref-refused", 3, "of another");
	robot_channels_read(&channels);
	observe_robot(&view, &channels);
	TEST_ASSERT_EQUAL_STRING("", status_find_daemon(&view, "imu")->refusal);
	put_event("ref-refused", 4, "process 4711: valid for 900 ms");
	put_event("ref-refused", 4, "process 4712: valid for 90 ms");
	put_event("holding", 4, "holding");
	robot_channels_read(&channels);
	observe_robot(&view, &channels);
	TEST_ASSERT_EQUAL_STRING("process 4712: valid for 90 ms", status_find_daemon(&view, "imu")->refusal);
	put_event("holding", 4, "holding");
	robot_channels_read(&channels);
	observe_robot(&view, &channels);
	TEST_ASSERT_EQUAL_STRING("process 4712: valid for 90 ms", status_find_daemon(&view, "imu")->refusal);
}

void setUp(void)
{
	snprintf(prefix, sizeof(prefix), "t-channels-%d-", (int)getpid());
	setenv("ENDPLATE_PREFIX", prefix, 1);
	channels = (struct robot_channels){ 0 };
	clock_use_virtual(START);
}

void tearDown(void)
{
	static const char *const names[] = { "imu-state", "odd-state", "estop", "clock", "imu-event" };

	robot_channels_close(&channels);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		ach_unlink(full(names[i]));
	clock_use(&clock_real);
}

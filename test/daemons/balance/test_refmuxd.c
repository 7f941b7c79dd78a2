/* test_refmuxd.c: refmuxd as a process, on the virtual clock; the test plays the device and the sources. */
#include <math.h>
#include <signal.h>

#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "test/daemons/drv/controller_lib.h"
#include "test/lib/testcase.h"

#define MS CONTROLLER_LIB_MS
#define JOY "waist.joy-ref"
#define CONTROL "waist.control-ref"

static struct msg_joint_ref ref;
static struct msg_mux_state state;

void setUp(void)
{
	controller_lib_begin();
	controller_lib_start("refmuxd", "--name mux --set output=waist --set sources=joy,control");
}

void tearDown(void)
{
	controller_lib_end();
}

static void read_state(void)
{
	controller_lib_newest("mux-state", &state, sizeof(state));
}

/* Both sources for so many ms, each as long as it is on, every 5 ms and valid for 20. */
static void sources(bool joy, bool control, int ms)
{
	for (int i = 0; i < ms; i++) {
		if (joy && i % 5 == 0)
			controller_lib_put(JOY, 1, 20);
		if (control && i % 5 == 0)
			controller_lib_put(CONTROL, 2, 20);
		controller_lib_ms(1);
	}
}

TEST(it_is_ready_with_the_output_and_ends_when_asked)
{
	read_state();
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, state.common.lifecycle);
	TEST_ASSERT_EQUAL_STRING("waist", state.output);
	TEST_ASSERT_EQUAL_STRING("", state.in_charge);
	TEST_ASSERT_EQUAL(2, state.source_count);
	TEST_ASSERT_EQUAL_STRING("joy", state.source[0]);
	TEST_ASSERT_EQUAL(MSG_SOURCE_ABSENT, state.state[0]);
	TEST_ASSERT_EQUAL(2, state.joint_count);
	TEST_ASSERT_EQUAL(-1, state.author[0]);
	TEST_ASSERT_EQUAL(0, controller_lib_stop(SIGTERM));
}

TEST(the_source_of_the_highest_priority_wins_until_it_dies)
{
	sources(false, true, 30);
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
	TEST_ASSERT_EQUAL_DOUBLE(2, ref.position[0]);
	sources(true, true, 30);
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
	TEST_ASSERT_EQUAL_DOUBLE(1, ref.position[0]);
	read_state();
	TEST_ASSERT_EQUAL_STRING("joy", state.in_charge);
	TEST_ASSERT_EQUAL(MSG_SOURCE_READY, state.state[1]);
	TEST_ASSERT_EQUAL(0, state.author[1]);
	/* Its last was put 5 ms ago and is valid for 15 ms more; at no time is there no reference. */
	for (int i = 0; i < 30; i++) {
		sources(false, true, 1);
		TEST_ASSERT_TRUE(controller_lib_ref(&ref));
		TEST_ASSERT_EQUAL_DOUBLE(i < 15 ? 1 : 2, ref.position[0]);
	}
	read_state();
	TEST_ASSERT_EQUAL_STRING("control", state.in_charge);
	TEST_ASSERT_EQUAL(MSG_SOURCE_STALE, state.state[0]);
	TEST_ASSERT_EQUAL_UINT64(3, state.handovers);
}

TEST(a_reference_is_not_valid_for_longer_than_its_source_said)
{
	struct msg_joint_ref given;

	controller_lib_put(CONTROL, 2, 20);
	controller_lib_newest(CONTROL, &given, sizeof(given));
	controller_lib_ms(5);
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
	TEST_ASSERT_LESS_OR_EQUAL_INT64(given.header.valid_until_ns, ref.header.valid_until_ns);
	TEST_ASSERT_GREATER_THAN_INT64(given.header.valid_until_ns - MS, ref.header.valid_until_ns);
	controller_lib_ms(20);
	TEST_ASSERT_FALSE(controller_lib_ref(&ref));
}

static void put_bad(int kind)
{
	struct msg_joint_ref bad;

	controller_lib_put(JOY, 1, 20);
	controller_lib_newest(JOY, &bad, sizeof(bad));
	if (kind == 0)
		bad.position[1] = NAN;
	else if (kind == 1)
		bad.header.for_incarnation = 7;
	else if (kind == 2)
		bad.header.valid_until_ns = clock_now_ns() - 1;
	else if (kind == 3)
		bad.count = 1;
	else
		bad.header.valid_until_ns = 0;
	ach_channel_t chan;

	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, controller_lib_channel(JOY), NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, &bad, sizeof(bad)));
	ach_close(&chan);
}

TEST(a_source_whose_references_are_wrong_is_passed_over)
{
	for (int kind = 0; kind < 5; kind++) {
		put_bad(kind);
		sources(false, true, 5);
		TEST_ASSERT_TRUE(controller_lib_ref(&ref));
		TEST_ASSERT_EQUAL_DOUBLE(2, ref.position[0]);
	}
	read_state();
	TEST_ASSERT_EQUAL_STRING("control", state.in_charge);
	TEST_ASSERT_EQUAL(MSG_SOURCE_REFUSED, state.state[0]);
	TEST_ASSERT_EQUAL_UINT64(0, state.taken[0]);
	TEST_ASSERT_EQUAL_UINT64(5, state.refused[0]);
}

static void newest_event(const char *code, struct msg_event *found)
{
	ach_channel_t chan;
	struct msg_event event;
	size_t len;

	memset(found, 0, sizeof(*found));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, controller_lib_channel("mux-event"), NULL));
	while (ach_get(&chan, &event, sizeof(event), &len, NULL, 0) == ACH_OK)
		if (!strcmp(event.code, code))
			*found = event;
	ach_close(&chan);
}

TEST(a_refusal_is_reported_with_the_source)
{
	struct msg_event event;

	controller_lib_ms(20);
	put_bad(3);
	controller_lib_ms(10);
	newest_event("ref-refused", &event);
	TEST_ASSERT_EQUAL_STRING("joy: a reference: 1 joints, the device has 2: give one value for each", event.text);
}

/* References that the device would refuse are refused where their writer is known. */
TEST(a_source_is_valid_for_no_longer_than_the_device_takes)
{
	struct msg_device_info info;
	ach_create_attr_t attr;
	ach_channel_t chan;
	struct msg_event event;

	msg_init(&info, msg_type_by_number(msg_device_info_number));
	info.header.incarnation = 2;
	info.valid_max_ns = 25 * MS;
	info.count = 2;
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0600, (gid_t)-1);
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(controller_lib_channel("waist-info"), 2, sizeof(info), &attr));
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, controller_lib_channel("waist-info"), NULL));
	TEST_ASSERT_EQUAL(ACH_OK, ach_put(&chan, &info, sizeof(info)));
	ach_close(&chan);
	controller_lib_restart();
	controller_lib_ms(40);
	controller_lib_put(JOY, 1, 100);
	controller_lib_ms(10);
	TEST_ASSERT_FALSE(controller_lib_ref(&ref));
	newest_event("ref-refused", &event);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(event.text, "ms, at most 25 ms: give it less"), event.text);
	controller_lib_put(JOY, 1, 20);
	controller_lib_ms(10);
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
}

TEST(a_restarted_output_gets_references_that_were_meant_for_it)
{
	controller_lib_put(CONTROL, 2, 100);
	controller_lib_ms(5);
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
	controller_lib_restart();
	controller_lib_ms(40);
	TEST_ASSERT_FALSE(controller_lib_ref(&ref)); /* the old one is void, though it would be valid */
	sources(false, true, 5);
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
	TEST_ASSERT_EQUAL_UINT32(2, ref.header.for_incarnation);
}

TEST(without_the_output_it_is_in_fault)
{
	controller_lib.silent = true;
	controller_lib_ms(200);
	read_state();
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, state.common.lifecycle);
	controller_lib.silent = false;
	controller_lib_ms(20);
	read_state();
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, state.common.lifecycle);
}

TEST(killed_and_started_again_it_goes_on)
{
	sources(true, true, 20);
	controller_lib_stop(SIGKILL);
	controller_lib_start("refmuxd", "--name mux --set output=waist --set sources=joy,control");
	sources(true, true, 10);
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
	TEST_ASSERT_EQUAL_DOUBLE(1, ref.position[0]);
}

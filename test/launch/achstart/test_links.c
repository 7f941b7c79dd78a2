/* test_links.c: what is done about a link, by what the drivers on it say. */
#include "test/lib/testcase.h"

#include "launch/achstart/links.h"

static struct msg_bus buses[3];
static struct links_report words[3];
static const char *why;

void setUp(void)
{
	memset(buses, 0, sizeof(buses));
	for (size_t i = 0; i < 3; i++) {
		buses[i].state = MSG_LINK_ERROR_ACTIVE;
		words[i] = (struct links_report){ &buses[i], MSG_LIFE_HOLDING, false };
	}
	why = "";
}

static void expect(enum links_action verdict, const char *reason)
{
	TEST_ASSERT_EQUAL_INT(verdict, links_decide(words, 3, &why));
	TEST_ASSERT_EQUAL_STRING(reason, why);
}

TEST(a_link_that_is_well_is_left_alone)
{
	expect(LINKS_FINE, "");
	words[1].life = MSG_LIFE_ACTIVE;
	buses[2].state = MSG_LINK_PASSIVE;
	expect(LINKS_FINE, "");
}

/* All drivers may be waiting for it. */
TEST(a_link_without_reports_is_brought_up)
{
	TEST_ASSERT_EQUAL_INT(LINKS_UP, links_decide(words, 0, &why));
}

TEST(a_link_that_is_down_or_absent_is_brought_up)
{
	buses[1].state = MSG_LINK_ABSENT;
	expect(LINKS_UP, "");
	buses[1].state = MSG_LINK_STOPPED;
	words[0].life = MSG_LIFE_ACTIVE;
	expect(LINKS_UP, "");
}

TEST(bus_off_is_reset_when_all_drivers_rest)
{
	static const bool rests[] = {
		[MSG_LIFE_DOWN] = false,   [MSG_LIFE_STARTING] = true,	[MSG_LIFE_DISARMED] = true,
		[MSG_LIFE_HOLDING] = true, [MSG_LIFE_HOMING] = false,	[MSG_LIFE_ACTIVE] = false,
		[MSG_LIFE_FAULT] = true,   [MSG_LIFE_STOPPING] = false,
	};

	buses[0].state = MSG_LINK_BUS_OFF;
	for (enum msg_life life = MSG_LIFE_DOWN; life <= MSG_LIFE_STOPPING; life++) {
		words[2].life = life;
		expect(rests[life] ? LINKS_RESET : LINKS_WAIT, "bus-off");
	}
}

TEST(a_silent_driver_delays_a_reset)
{
	buses[0].state = MSG_LINK_BUS_OFF;
	words[2].silent = true;
	expect(LINKS_WAIT, "bus-off");
	words[2].silent = false;
	expect(LINKS_RESET, "bus-off");
}

TEST(the_report_of_a_silent_driver_does_not_count)
{
	buses[2].state = MSG_LINK_BUS_OFF;
	buses[2].stalled_since_ns = 100;
	words[2].silent = true;
	expect(LINKS_FINE, "");
	words[0].silent = words[1].silent = true;
	expect(LINKS_UP, "");
}

TEST(bus_off_goes_before_a_stall)
{
	buses[0].state = MSG_LINK_BUS_OFF;
	buses[1].stalled_since_ns = 100;
	words[2].life = MSG_LIFE_ACTIVE;
	expect(LINKS_WAIT, "bus-off");
}

TEST(a_stall_is_reset_if_nothing_was_received_since)
{
	buses[0].stalled_since_ns = 100;
	buses[1].last_confirmed_ns = 100;
	buses[2].last_received_ns = 99;
	expect(LINKS_RESET, "stalled");
	buses[1].last_confirmed_ns = 101;
	expect(LINKS_WAIT, "stalled");
	buses[1].last_confirmed_ns = 0;
	buses[2].last_received_ns = 101;
	expect(LINKS_WAIT, "stalled");
	/* The first of them to stall. */
	buses[1].stalled_since_ns = 102;
	expect(LINKS_WAIT, "stalled");
	buses[0].stalled_since_ns = 0;
	expect(LINKS_RESET, "stalled");
}

/* Every driver there may be, each with a message that is full of the same bus. */
TEST(a_bus_may_be_named_as_often_as_messages_have_room)
{
	static const struct robot_bus bus = { .name = "torso", .interface = "wire:torso" };
	const int64_t now_ns = 1000000000;
	struct links_driver drivers[LAUNCH_DAEMONS_MAX];
	struct links links = { .one = { { .bus = &bus, .pause_ns = 7, .next_ns = now_ns } }, .n = 1 };
	struct launch launch = { .links = true };
	static struct events events;
	static struct daemon_state published;

	published.there = true;
	published.header.t_publish_ns = now_ns;
	published.common.lifecycle = MSG_LIFE_ACTIVE;
	published.common.bus_count = MSG_BUSES;
	for (size_t i = 0; i < MSG_BUSES; i++) {
		strcpy(published.common.bus[i].name, bus.name);
		published.common.bus[i].state = MSG_LINK_ERROR_ACTIVE;
	}
	for (size_t i = 0; i < LAUNCH_DAEMONS_MAX; i++)
		drivers[i] = (struct links_driver){ &published, true };
	links_update(&links, &launch, drivers, LAUNCH_DAEMONS_MAX, &events, now_ns);
	TEST_ASSERT_EQUAL_INT64(50000000, links.one[0].pause_ns); /* measured, and fine */
}

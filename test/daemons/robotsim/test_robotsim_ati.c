/* test_robotsim_ati.c: the simulated ATI force/torque sensor says what its page says. */
#include "can/bus/frame_text.h"
#include "test/daemons/robotsim/robotsim_unit.h"
#include "test/lib/testcase.h"

#define MS ((int64_t)1000000)

void tearDown(void)
{
	unit_unload();
}

static int load(const char *settings, const char *rows)
{
	return unit_load("robot: test\nbuses: {b: {interface: wire:b, bitrate: 1000000}}\n"
			 "devices: {ft: {driver: ftd, bus: b, settings: {%s}, sim: {%s}}}\n",
			 settings, rows);
}

static void start(const char *settings, const char *rows)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, load(settings, rows), said);
	unit_start(0);
	now_ns = 100 * MS;
}

/* What it answers within 10 ms. */
static const char *ask(const char *text)
{
	const struct sim_kind *kind = sim.units[0].kind;
	void *state = sim.units[0].state;
	struct frame frame;

	*said = 0;
	TEST_ASSERT_NULL(frame_text_read(&frame, text, strlen(text)));
	kind->frame(state, &frame, now_ns);
	now_ns += 10 * MS;
	while (kind->next_ns(state) <= now_ns && kind->send(state, now_ns, &frame)) {
		strcat(said, *said ? " " : "");
		frame_text_write(said + strlen(said), &frame);
	}
	return said;
}

TEST(each_request_has_the_reply_of_the_page)
{
	static const struct {
		const char *rows, *request, *reply;
	} cases[] = {
		{ "", "200#", "200#0000000000000000 201#000000000000" },
		/* the matrix times these gauges is -100 N along z */
		{ "force: [0, 0, -100]", "200#", "200#0000FF67EAAE00E5 201#0131FFB4FE82" },
		{ "status: 0x4001", "200#", "200#4001000000000000 201#000000000000" },
		{ "", "202#00", "202#461F600042C80000 203#C396000043C80000 204#C2C8000043160000" },
		{ "", "205#", "205#4654313233343500" },
		{ "", "206#0F", "206#0F" },
		{ "", "206#10", "" },
		{ "torque_counts: 500", "207#", "207#000F4240000001F4" },
		{ "force_code: 5", "208#", "208#0503" },
		{ "", "20F#", "20F#02010061" },
		{ "", "20C#", "" },
		{ "", "202#06", "" },
		{ "", "202#", "" },
		{ "", "200#00", "" },
		{ "", "201#", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char rows[128];

		snprintf(rows, sizeof(rows), "noise: 0%s%s", *cases[i].rows ? ", " : "", cases[i].rows);
		start("", rows);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cases[i].reply, ask(cases[i].request), cases[i].request);
	}
}

TEST(rows_of_the_matrix_have_one_identifier_or_three)
{
	start("base: 0x7F", "");
	TEST_ASSERT_EQUAL_STRING_LEN("7F2#", ask("7F2#05"), 4);
	TEST_ASSERT_NOT_NULL(strstr(said, " 7F3#"));
	TEST_ASSERT_NOT_NULL(strstr(said, " 7F4#"));
	start("base: 0x7F", "same_ids: yes");
	ask("7F2#05");
	TEST_ASSERT_NULL(strstr(said, "7F3#"));
	TEST_ASSERT_EQUAL(3 * 20 + 2, strlen(said));
}

TEST(faults)
{
	static const struct {
		const char *word, *reply;
	} cases[] = {
		{ "silent", "" },
		{ "no-first", "201#000000000000" },
		{ "no-second", "200#0000000000000000" },
		{ "can-error", "200#4000000000000000 201#000000000000" },
		{ "twice", "200#0000000000000000 200#0000000000000000 201#000000000000 201#000000000000" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start("", "noise: 0");
		unit_fault(cases[i].word, false);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cases[i].reply, ask("200#"), cases[i].word);
		unit_fault(cases[i].word, true);
		TEST_ASSERT_EQUAL_STRING_MESSAGE("200#0000000000000000 201#000000000000", ask("200#"), cases[i].word);
	}
	start("", "noise: 0");
	unit_fault("wrong-length", false);
	for (unsigned int i = 0; i < 20; i++)
		TEST_ASSERT_NOT_EQUAL(0, strcmp("205#4654313233343500", ask("205#")));
	unit_fault("garbage", false);
	TEST_ASSERT_NOT_EQUAL(0, strcmp("205#4654313233343500", ask("205#")));
	TEST_ASSERT_EQUAL(-EINVAL,
			  sim_fault(&sim.units[0], "hot", false, now_ns, &(struct rpc_text){ said, 0, sizeof(said) }));
}

/* Power-off and reset make it forget calibration and error; it hears again after its boot time. */
TEST(it_forgets)
{
	start("", "noise: 0, boot: 15ms");
	for (unsigned int reset = 0; reset < 2; reset++) {
		ask("206#03");
		TEST_ASSERT_EQUAL_STRING_LEN("202#464F", ask("202#00"), 8);
		unit_fault("can-error", false);
		if (reset) {
			ask("20C#");
		} else {
			unit_fault("power-off", false);
			TEST_ASSERT_FALSE(sim.units[0].kind->has_power(sim.units[0].state));
			TEST_ASSERT_EQUAL_STRING("", ask("200#"));
			unit_fault("power-on", false);
		}
		TEST_ASSERT_EQUAL_STRING("", ask("200#"));
		now_ns += 15 * MS;
		TEST_ASSERT_EQUAL_STRING_LEN("202#461F", ask("202#00"), 8);
		TEST_ASSERT_EQUAL_STRING("200#0000000000000000 201#000000000000", ask("200#"));
	}
	sim.units[0].kind->report(sim.units[0].state, &(struct rpc_text){ said, 0, sizeof(said) });
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "calibration 0 "), said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "resets 1 early 0"), said);
}

TEST(what_the_driver_refuses_the_simulator_refuses)
{
	TEST_ASSERT_NOT_EQUAL(0, load("base: 0x80", ""));
	TEST_ASSERT_NOT_EQUAL(0, load("", "nois: 1"));
}

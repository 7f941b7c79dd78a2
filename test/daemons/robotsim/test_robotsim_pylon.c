/* test_robotsim_pylon.c: the simulated battery. */
#include <errno.h>

#include "can/bus/frame_text.h"
#include "daemons/robotsim/sim_pylon.h"
#include "test/daemons/robotsim/robotsim_unit.h"
#include "test/lib/testcase.h"

#define S ((int64_t)1000000000)
#define MANUFACTURER " 35E#50594C4F4E202020"

void tearDown(void)
{
	unit_unload();
}

static struct pylon_unit *start(const char *settings, const char *rows)
{
	TEST_ASSERT_EQUAL_MESSAGE(0,
				  unit_load("robot: test\nbuses: {b: {interface: wire:b, bitrate: 500000}}\n"
					    "devices: {pack: {driver: bmsd, bus: b, settings: {%s}, sim: {%s}}}\n",
					    settings, rows),
				  said);
	unit_start(0);
	return sim.units[0].state;
}

static void passes(int64_t ns)
{
	while (now_ns < ns)
		unit_sends(now_ns + S);
}

TEST(a_pack_sends_the_frames_of_its_page)
{
	start("period: 1s", "charge: 0.6, load: 0, spread: 0, ambient: 22");
	TEST_ASSERT_EQUAL_STRING("pack.1", sim.units[0].name);
	TEST_ASSERT_EQUAL_HEX32(0x305, sim.units[0].filters[0].id);
	TEST_ASSERT_EQUAL_STRING("", unit_sends(S));			      /* the first after a period */
	TEST_ASSERT_EQUAL_STRING("351#1402FA00FA00E001 355#3C006300 356#2913" /* 49.05 V */
				 "0000DC00 35C#C000" MANUFACTURER " 359#0000000001504E",
				 unit_sends(2 * S));
}

TEST(the_optional_parts_and_the_order)
{
	start("period: 2s", "charge: 0.1406, load: 2.5, spread: 0, ambient: -1, heat: 0, short: yes, fine: yes, "
			    "permits: no, begins_with_alarms: yes, capacity: 10000, limit: 25");
	TEST_ASSERT_EQUAL_STRING("", unit_sends(2 * S));
	TEST_ASSERT_EQUAL_STRING("359#0000000001504E 351#1402FA0006FF 355#0E0063007E05 356#EA11E7FFF6FF" MANUFACTURER,
				 unit_sends(4 * S)); /* 45.86 V */
}

TEST(cells_are_broadcast_one_after_the_other)
{
	start("cells: 3", "series: 3, charge: 0.66667, load: 0, spread: 0.02, cell_period: 300ms, capacity: 10000");
	TEST_ASSERT_EQUAL_STRING("", unit_sends(3 * S / 10));
	TEST_ASSERT_EQUAL_STRING("036#00808400FA808440", unit_sends(6 * S / 10));
	TEST_ASSERT_EQUAL_STRING("036#0180E800FA80E809", unit_sends(9 * S / 10));
	unit_fault("checksum", false);
	TEST_ASSERT_EQUAL_STRING("036#02814C00FA814C81", unit_sends(S)); /* instead of D4 */
}

TEST(a_load_discharges_and_warms_it_and_its_cells_diverge)
{
	struct pylon_unit *u = start("cells: 15", "charge: 0.5, capacity: 1, load: 3.6, heat: 1, ambient: 20, "
						  "warms_in: 10s, diverge: 3.6, spread: 0");

	passes(100 * S);
	TEST_ASSERT_DOUBLE_WITHIN(0.001, 0.4, u->charge); /* 3.6 A for 100 s are 0.1 Ah */
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 20 + 3.6 * 3.6, u->temperature_c);
	TEST_ASSERT_DOUBLE_WITHIN(0.001, 0.1, pylon_cell_v(u, 14) - pylon_cell_v(u, 0));
	u->load_a = 360;
	passes(110 * S);
	TEST_ASSERT_EQUAL_DOUBLE(0, u->charge);
	TEST_ASSERT_NOT_NULL(strstr(unit_sends(112 * S), "35C#8000")); /* empty: no discharge */
	TEST_ASSERT_NOT_NULL(strstr(said, "359#04"));
	u->load_a = -3600;
	passes(120 * S);
	TEST_ASSERT_EQUAL_DOUBLE(1, u->charge);
}

TEST(alarms_on_command)
{
	static const struct {
		const char *word, *frame;
	} rows[] = {
		{ "over-voltage", "359#02000000" },	{ "under-voltage", "359#04000000" },
		{ "over-temperature", "359#08000000" }, { "under-temperature", "359#10000000" },
		{ "over-current", "359#80000000" },	{ "charge-current", "359#00010000" },
		{ "system", "359#00080000" },		{ "warn-over-voltage", "359#00000200" },
		{ "warn-system", "359#00000008" },	{ "charge-refused", "35C#4000" },
		{ "discharge-refused", "35C#8000" },	{ "charge-wanted", "35C#E000" },
	};

	start("period: 1s", "permits: yes");
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unit_fault(rows[i].word, false);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(unit_sends(now_ns + 2 * S), rows[i].frame), rows[i].word);
		unit_fault(rows[i].word, true);
		TEST_ASSERT_NULL_MESSAGE(strstr(unit_sends(now_ns + 2 * S), rows[i].frame), rows[i].word);
	}
}

TEST(other_faults)
{
	struct rpc_text to = { said, 0, sizeof(said) };
	const struct sim_kind *kind;

	start("period: 1s", "permits: yes");
	kind = sim.units[0].kind;
	unit_fault("half", false);
	TEST_ASSERT_NULL(strstr(unit_sends(2 * S), "359#"));
	unit_fault("half", true);
	unit_fault("short", false);
	TEST_ASSERT_NOT_NULL(strstr(unit_sends(4 * S), "355#4F0063 "));
	unit_fault("short", true);
	unit_fault("silent", false);
	TEST_ASSERT_EQUAL_STRING("", unit_sends(6 * S));
	unit_fault("silent", true);
	unit_fault("power-off", false);
	TEST_ASSERT_FALSE(kind->has_power(sim.units[0].state));
	TEST_ASSERT_EQUAL_STRING("", unit_sends(8 * S));
	unit_fault("power-on", false);
	TEST_ASSERT_TRUE(kind->has_power(sim.units[0].state));
	TEST_ASSERT_EQUAL_STRING_LEN("351#", unit_sends(10 * S), 4);
	TEST_ASSERT_EQUAL(-EINVAL, sim_fault(&sim.units[0], "sad", false, now_ns, &to));
	TEST_ASSERT_NOT_NULL(strstr(said, "sad: no such fault: there are cut, power-off, power-on, silent, garbage"));
}

TEST(without_a_keep_alive_it_is_silent_if_it_needs_one)
{
	start("period: 1s", "deaf_after: 1500ms");
	TEST_ASSERT_EQUAL_STRING_LEN("351#", unit_sends(3 * S / 2), 4);
	TEST_ASSERT_EQUAL_STRING("", unit_sends(5 * S));
	unit_hear("305#00");
	TEST_ASSERT_EQUAL_STRING("", unit_sends(6 * S + 1));
	unit_hear("305#0000000000000000");
	TEST_ASSERT_EQUAL_STRING_LEN("351#", unit_sends(7 * S + 1), 4);
}

TEST(what_was_not_sent_in_time_is_left_out)
{
	struct pylon_unit *u = start("period: 1s", "permits: yes");
	struct frame frame;

	now_ns = 21 * S / 2; /* this process stood still */
	TEST_ASSERT_FALSE(sim.units[0].kind->send(u, now_ns, &frame));
	TEST_ASSERT_EQUAL_INT64(11 * S, sim.units[0].kind->next_ns(u));
}

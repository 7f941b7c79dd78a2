/* test_bmsd.c: bmsd and a simulated battery on a soft wire, on a virtual clock. */
#include <math.h>
#include <signal.h>

#include "test/lib/device_lib.h"
#include "test/lib/testcase.h"

#define RIG_STATES_MAX 400
#define CELLS "cells: 15"

static struct {
	struct msg_battery states[RIG_STATES_MAX];
	unsigned int states_n;
} rig;

static const struct device_lib_what what = {
	.driver = "bmsd",
	.name = "battery",
	.bus = "base",
	.step_ms = 10,
	.frames_max = 20000,
	.events_max = 200,
	.state = msg_battery_number,
	.states = rig.states,
	.states_n = &rig.states_n,
	.states_max = RIG_STATES_MAX,
};

static unsigned int complete_since(unsigned int from)
{
	unsigned int n = 0;

	for (unsigned int i = from; i < rig.states_n; i++)
		n += !(rig.states[i].header.flags & MSG_FLAG_PARTIAL);
	return n;
}

static unsigned int keep_alives(void)
{
	return device_lib_sent(0x305);
}

void tearDown(void)
{
	device_lib_end();
}

static void up(const char *settings, const char *sim)
{
	device_lib_begin(&what, settings, sim, "");
	device_lib_driver();
	device_lib_pass(2600);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
}

static const struct msg_battery *newest(void)
{
	return &rig.states[rig.states_n - 1];
}

/* ---- telegrams ---- */

/* Whatever a pack sends of what is optional. */
TEST(each_telegram_is_published_once_when_it_is_complete)
{
	static const struct {
		const char *settings, *sim;
		unsigned int period_ms;
	} packs[] = {
		{ "period: 1s", "short: no", 1000 },
		{ "period: 1s", "short: yes, fine: yes", 1000 },
		{ "period: 1s", "permits: no", 1000 },
		{ "period: 1s", "begins_with_alarms: yes", 1000 },
		{ "period: 2s", "permits: no", 2000 },
		{ "period: 2s, tick: 1s", "short: no", 2000 },
		{ "period: 100ms, tick: 10ms, keep_alive: 100ms", "begins_with_alarms: yes, permits: no", 100 },
		{ "period: 1s", "period: 2s", 2000 }, /* slower than it is set up */
	};

	for (unsigned int i = 0; i < sizeof(packs) / sizeof(*packs); i++) {
		unsigned int telegrams = 0;
		int64_t last_ns = 0;

		if (i)
			device_lib_end();
		device_lib_begin(&what, packs[i].settings, packs[i].sim, "");
		device_lib_driver();
		device_lib_pass((int)(20 * packs[i].period_ms) + 50);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_ACTIVE, device_lib_life(), packs[i].sim);
		for (unsigned int j = 0; j < device_lib.frames_n; j++)
			telegrams += device_lib.frames[j].frame.id == 0x351;
		TEST_ASSERT_UINT_WITHIN_MESSAGE(1, 20, telegrams, packs[i].sim);
		TEST_ASSERT_UINT_WITHIN_MESSAGE(1, telegrams, complete_since(0), packs[i].sim);
		for (unsigned int j = 0; j < rig.states_n; j++) {
			const struct msg_battery *s = &rig.states[j];

			if (s->header.flags & MSG_FLAG_PARTIAL)
				continue;
			TEST_ASSERT(s->header.t_sample_ns > last_ns);
			last_ns = s->header.t_sample_ns;
			TEST_ASSERT_EQUAL_INT64(s->header.t_publish_ns - s->header.t_sample_ns, s->age_ns);
		}
		TEST_ASSERT_EQUAL_MESSAGE(0, device_lib_events("no-telegram"), packs[i].sim);
		TEST_ASSERT_EQUAL_MESSAGE(0, device_lib_events("telegrams-lost"), packs[i].sim);
	}
}

TEST(the_state_is_what_the_battery_measures)
{
	up(CELLS,
	   "charge: 0.503, load: 10, ambient: 30, heat: 0, spread: 0.014, capacity: 1000, limit: 40, short: yes");
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5, newest()->charge);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.99, newest()->health);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 15 * (3 + 0.45 * 0.503 - 0.025), newest()->voltage);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -10, newest()->current);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 303.15, newest()->temperature);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 40, newest()->current_limit);
	TEST_ASSERT_EQUAL_HEX(0, newest()->alarms);
	TEST_ASSERT_EQUAL(15, newest()->cell_count);
	TEST_ASSERT_DOUBLE_WITHIN(0.001, 0.014, newest()->cell[14] - newest()->cell[0]);
	TEST_ASSERT_EQUAL(MSG_FLAG_SIMULATED, newest()->header.flags & ~(uint32_t)MSG_FLAG_PARTIAL);
}

TEST(a_value_never_measured_is_not_a_number)
{
	device_lib_begin(&what, "cells: 16", "permits: yes", "");
	device_lib_driver();
	device_lib_pass(500);
	TEST_ASSERT_TRUE(isnan(newest()->voltage) && isnan(newest()->charge) && isnan(newest()->health));
	TEST_ASSERT_TRUE(isnan(newest()->temperature) && isnan(newest()->current) && isnan(newest()->current_limit));
	TEST_ASSERT_EQUAL_INT64(0, newest()->header.t_sample_ns);
	TEST_ASSERT_TRUE(newest()->header.flags & MSG_FLAG_PARTIAL);
	device_lib_pass(15000);
	TEST_ASSERT_FALSE(isnan(newest()->voltage) || isnan(newest()->cell[14]));
	TEST_ASSERT_TRUE(isnan(newest()->cell[15])); /* the battery has 15 */
	TEST_ASSERT_EQUAL(1, device_lib_events("cells-missing"));
}

TEST(a_keep_alive_leaves_every_second_from_the_start_on_also_to_a_silent_pack)
{
	int64_t last_ns = 0;

	device_lib_begin(&what, "period: 1s", "permits: yes", "");
	device_lib_sim("fault battery.1 silent");
	device_lib_driver();
	device_lib_pass(10100);
	TEST_ASSERT_UINT_WITHIN(1, 11, keep_alives());
	for (unsigned int i = 0; i < device_lib.frames_n; i++) {
		const struct bus_frame *f = &device_lib.frames[i];

		if (f->frame.id != 0x305 || f->flags & BUS_QUEUED)
			continue;
		TEST_ASSERT_EQUAL(8, f->frame.len);
		TEST_ASSERT(!last_ns || llabs(f->t_ns - last_ns - 1000 * DEVICE_LIB_MS) < 20 * DEVICE_LIB_MS);
		last_ns = f->t_ns;
	}
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
}

TEST(keep_alive_0s_sends_nothing)
{
	up("keep_alive: 0s", "permits: yes");
	device_lib_pass(5000);
	TEST_ASSERT_EQUAL(0, keep_alives());
}

TEST(a_pack_that_needs_its_keep_alive_gets_it)
{
	up("period: 1s", "deaf_after: 1500ms");
	device_lib_pass(10000);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	device_lib_signal(SIGKILL);
	device_lib_pass(3000);
	device_lib_driver();
	device_lib_pass(2600);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
}

/* ---- life ---- */

TEST(ready_needs_one_telegram)
{
	device_lib_begin(&what, "period: 1s", "permits: yes", "");
	device_lib_sim("fault battery.1 half");
	device_lib_driver();
	device_lib_pass(2500);
	TEST_ASSERT_EQUAL(MSG_LIFE_STARTING, device_lib_life());
	device_lib_sim("fault battery.1 half clear");
	device_lib_pass(1600);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
}

TEST(a_telegram_without_permits_is_complete_after_a_pause)
{
	device_lib_begin(&what, "period: 1s", "permits: no", "");
	device_lib_driver();
	device_lib_pass(1300);
	TEST_ASSERT_EQUAL(0, complete_since(0)); /* they may still come */
	device_lib_pass(600);
	TEST_ASSERT_EQUAL(1, complete_since(0));
}

TEST(silence_is_measured_in_periods_of_the_pack)
{
	static const char *const settings[] = { "period: 1s", "period: 2s" };

	for (unsigned int i = 0; i < 2; i++) {
		if (i)
			device_lib_end();
		device_lib_begin(&what, settings[i], "permits: yes", "");
		device_lib_driver();
		device_lib_pass(4600);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
		device_lib_sim("fault battery.1 silent");
		device_lib_pass(i ? 5000 : 2000);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
		device_lib_pass(2200);
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
		TEST_ASSERT_EQUAL(1, device_lib_events("no-telegram"));
		TEST_ASSERT_TRUE(newest()->header.flags & MSG_FLAG_PARTIAL); /* and its numbers are old */
		TEST_ASSERT_FALSE(isnan(newest()->voltage));
		TEST_ASSERT_GREATER_THAN(1000 * DEVICE_LIB_MS, newest()->age_ns);
		device_lib_sim("fault battery.1 silent clear");
		device_lib_pass(2700);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	}
}

/* Faults of the device: none of them publishes a telegram, each ends by itself. */
TEST(a_broken_device_is_a_fault_until_it_is_well)
{
	static const struct {
		const char *fault, *clear, *event;
	} faults[] = { { "half", "fault battery.1 half clear", "telegrams-lost" },
		       { "short", "fault battery.1 short clear", "no-telegram" },
		       { "cut", "fault battery.1 cut clear", "no-telegram" },
		       { "power-off", "fault battery.1 power-on", "no-telegram" } };

	up(CELLS, "permits: yes");
	for (unsigned int i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		const unsigned int events = device_lib_events(faults[i].event);
		unsigned int before;
		char question[64];

		snprintf(question, sizeof(question), "fault battery.1 %s", faults[i].fault);
		device_lib_sim(question);
		device_lib_pass(50);
		before = rig.states_n;
		device_lib_pass(4500);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_FAULT, device_lib_life(), faults[i].fault);
		TEST_ASSERT_EQUAL_MESSAGE(0, complete_since(before), faults[i].fault);
		TEST_ASSERT_GREATER_THAN_MESSAGE(events, device_lib_events(faults[i].event), faults[i].fault);
		device_lib_sim(faults[i].clear);
		device_lib_pass(2700);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_ACTIVE, device_lib_life(), faults[i].fault);
	}
}

TEST(the_fault_names_the_frame_that_is_missing)
{
	up("period: 1s", "permits: yes");
	device_lib_sim("fault battery.1 half");
	device_lib_pass(4500);
	for (unsigned int i = 0; i < device_lib.events_n; i++)
		if (!strcmp(device_lib.events[i].code, "no-telegram")) {
			TEST_ASSERT_NOT_NULL(strstr(device_lib.events[i].text, "0x359 is missing"));
			return;
		}
	TEST_FAIL_MESSAGE("no event");
}

/* Random bytes of the right length look like a telegram, but nothing breaks, and it recovers. */
TEST(garbage_does_no_harm)
{
	up(CELLS, "permits: yes");
	device_lib_sim("fault battery.1 garbage");
	device_lib_pass(20000);
	for (unsigned int i = 0; i < rig.states_n; i++)
		TEST_ASSERT_FALSE(rig.states[i].charge > 1);
	TEST_ASSERT_GREATER_THAN(0, device_lib_events("checksum"));
	device_lib_sim("fault battery.1 garbage clear");
	device_lib_pass(3000);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.79, newest()->charge);
}

TEST(a_new_process_publishes_a_telegram_within_two)
{
	up(CELLS, "permits: no");
	for (unsigned int i = 0; i < 10; i++) {
		unsigned int before;

		device_lib_signal(SIGKILL);
		device_lib_pass(10 + (int)i * 97);
		before = rig.states_n;
		device_lib_driver();
		device_lib_pass(50);
		TEST_ASSERT_GREATER_THAN(before, rig.states_n); /* that it lives it says at once */
		device_lib_pass(1950);
		TEST_ASSERT_GREATER_THAN(0, complete_since(before));
		TEST_ASSERT_NOT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	}
	TEST_ASSERT_EQUAL(0, device_lib_events("no-telegram"));
}

/* ---- cells ---- */

TEST(a_cell_with_a_wrong_checksum_is_dropped_counted_and_reported)
{
	const double before = (up(CELLS, "cell_period: 10ms, diverge: 3600, spread: 0"), newest()->cell[14]);

	device_lib_sim("fault battery.1 checksum");
	device_lib_pass(1500);
	TEST_ASSERT_DOUBLE_WITHIN(1, before, newest()->cell[14]);
	device_lib_pass(8000);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());	      /* cells are optional */
	TEST_ASSERT_UINT_WITHIN(2, 9, device_lib_events("checksum")); /* once in a second, whatever comes */
	device_lib_pass(5000);
	for (unsigned int i = 0; i < 15; i++)
		TEST_ASSERT_TRUE(isnan(newest()->cell[i])); /* too old */
	TEST_ASSERT_EQUAL(1, device_lib_events("cells-missing"));
	device_lib_sim("fault battery.1 checksum clear");
	device_lib_pass(2000);
	TEST_ASSERT_EQUAL(1, device_lib_events("cells-missing-clear"));
	TEST_ASSERT_FALSE(isnan(newest()->cell[14]));
}

TEST(cells_are_of_the_identifier_and_number_that_are_set)
{
	up("cells: 4, cell_id: 0x123", "series: 4");
	TEST_ASSERT_EQUAL(0, device_lib_events("cell-unknown"));
	TEST_ASSERT_FALSE(isnan(newest()->cell[3]));
	device_lib_hear("123#0480E80100812C45");
	device_lib_hear("036#0082F180FA8340EE"); /* another BMS */
	device_lib_pass(1000);
	TEST_ASSERT_EQUAL(1, device_lib_events("cell-unknown"));
	TEST_ASSERT_EQUAL(0, device_lib_events("checksum"));
}

/* ---- thresholds ---- */

TEST(each_threshold_is_reported_once_and_cleared_once)
{
	static const struct {
		const char *code, *crosses, *clears;
	} rows[] = {
		{ "imbalance", "spread=0.12", "spread=0.01" },	     { "over-voltage", "load=-40", "load=5" },
		{ "under-voltage", "load=24", "load=-20" },	     { "charge-low", "charge=0.195", "charge=0.24" },
		{ "charge-critical", "charge=0.09", "charge=0.8" },  { "over-temperature", "ambient=56", "ambient=25" },
		{ "under-temperature", "ambient=-3", "ambient=25" }, { "over-current", "load=27", "load=5" },
	};

	up(CELLS ", voltage_high: 51.5, voltage_low: 49.8", "capacity: 10000, heat: 0, warms_in: 1s");
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char clear[32], question[128];

		snprintf(clear, sizeof(clear), "%s-clear", rows[i].code);
		TEST_ASSERT_EQUAL_MESSAGE(0, device_lib_events(rows[i].code), rows[i].code);
		snprintf(question, sizeof(question), "set battery.1 %s", rows[i].crosses);
		device_lib_sim(question);
		device_lib_pass(8000);
		TEST_ASSERT_EQUAL_MESSAGE(1, device_lib_events(rows[i].code), rows[i].code);
		TEST_ASSERT_EQUAL_MESSAGE(0, device_lib_events(clear), rows[i].code);
		snprintf(question, sizeof(question), "set battery.1 %s", rows[i].clears);
		device_lib_sim(question);
		device_lib_pass(8000);
		TEST_ASSERT_EQUAL_MESSAGE(1, device_lib_events(rows[i].code), rows[i].code);
		TEST_ASSERT_EQUAL_MESSAGE(1, device_lib_events(clear), rows[i].code);
	}
}

TEST(a_load_empties_the_battery_and_is_reported_on_the_way)
{
	up(CELLS, "charge: 0.25, capacity: 0.1, load: 9");
	device_lib_pass(10000);
	TEST_ASSERT_EQUAL(1, device_lib_events("charge-low"));
	TEST_ASSERT_EQUAL(1, device_lib_events("charge-critical"));
	TEST_ASSERT_EQUAL(1, device_lib_events("protection"));
	TEST_ASSERT_EQUAL_HEX(MSG_ALARM_UNDER_VOLTAGE | MSG_ALARM_DISCHARGE_REFUSED, newest()->alarms);
}

TEST(alarms_of_the_pack_are_published_and_reported)
{
	static const struct {
		const char *word;
		uint32_t alarms;
		const char *code;
	} rows[] = { { "over-voltage", MSG_ALARM_OVER_VOLTAGE, "protection" },
		     { "system", MSG_ALARM_INTERNAL, "protection" },
		     { "warn-over-temperature", MSG_ALARM_OVER_TEMPERATURE, "pack-warning" },
		     { "charge-refused", MSG_ALARM_CHARGE_REFUSED, "refused" },
		     { "discharge-refused", MSG_ALARM_DISCHARGE_REFUSED, "refused" },
		     { "charge-wanted", 0, "charge-wanted" } };

	up("period: 1s", "permits: yes");
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const unsigned int before = device_lib_events(rows[i].code);
		unsigned int clears;
		char clear[32], question[64];

		snprintf(clear, sizeof(clear), "%s-clear", rows[i].code);
		clears = device_lib_events(clear);
		snprintf(question, sizeof(question), "fault battery.1 %s", rows[i].word);
		device_lib_sim(question);
		device_lib_pass(3000);
		TEST_ASSERT_EQUAL_HEX_MESSAGE(rows[i].alarms, newest()->alarms, rows[i].word);
		TEST_ASSERT_EQUAL_MESSAGE(before + 1, device_lib_events(rows[i].code), rows[i].word);
		snprintf(question, sizeof(question), "fault battery.1 %s clear", rows[i].word);
		device_lib_sim(question);
		device_lib_pass(3000);
		TEST_ASSERT_EQUAL_HEX_MESSAGE(0, newest()->alarms, rows[i].word);
		TEST_ASSERT_EQUAL_MESSAGE(clears + 1, device_lib_events(clear), rows[i].word);
	}
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life()); /* none of them is a fault of the driver */
}
